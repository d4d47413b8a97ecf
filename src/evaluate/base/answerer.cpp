#include "evaluate/base/answerer.h"

#include <algorithm>

#include "evaluate/base/score_batches.h"
#include "model/generate/generate.h"

namespace difflab {
namespace {

// The end of the model is computed where something is asked, not for every token.
at::Tensor answer(LanguageModel& model, const at::Tensor& inputs, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  const auto device = model.parameters().front().device();
  const auto where = at::nonzero(targets.flatten() != kIgnore).squeeze(-1);  // [n]
  const auto states = model.hidden_at(inputs.to(device), where.to(device));
  const auto said = model.head(states).argmax(-1).cpu();
  return at::full_like(targets, kIgnore).flatten().index_copy_(0, where, said).view_as(targets);
}

/// The results of work(begin, count) on parts of `rows` rows of `length` tokens, one below the
/// other.
template <class Work>
at::Tensor in_parts(LanguageModel& model, int lanes, std::int64_t rows, std::int64_t length,
                    Work work) {
  const auto size = sequences_per_batch(length);
  std::vector<at::Tensor> parts(static_cast<std::size_t>((rows + size - 1) / size));
  model.reserve_positions(length);  // lanes only read the table
  side_by_side(lanes, static_cast<std::int64_t>(parts.size()), [&](std::int64_t part) {
    const auto begin = part * size;
    parts[static_cast<std::size_t>(part)] = work(begin, std::min(size, rows - begin));
  });
  return at::cat(parts);
}

}  // namespace

Answerer answerer(LanguageModel& model, int lanes) {
  return {.answer =
              [&model, lanes](const Batch& batch) {
                const auto answer_part = [&](auto begin, auto count) {
                  return answer(model, batch.inputs.narrow(0, begin, count),
                                batch.targets.narrow(0, begin, count));
                };
                return in_parts(model, lanes, batch.inputs.size(0), batch.inputs.size(1),
                                answer_part);
              },
          .go_on =
              [&model, lanes](const at::Tensor& prompts, std::int64_t tokens) {
                const auto write_part = [&](auto begin, auto count) {
                  return generate_greedily(model, prompts.narrow(0, begin, count), tokens);
                };
                const auto length = prompts.size(1) + tokens;
                return in_parts(model, lanes, prompts.size(0), length, write_part);
              }};
}

}  // namespace difflab
