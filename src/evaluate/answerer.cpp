#include "evaluate/answerer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "evaluate/score_batches.h"
#include "model/generate.h"
#include "model/language_model.h"

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

/// The results of work(begin, count) on parts of `rows` rows, one below the other.
template <class Work>
at::Tensor in_parts(std::int64_t rows, std::int64_t length, Work work) {
  const auto size = sequences_per_batch(length);
  std::vector<at::Tensor> parts;
  for (std::int64_t done = 0; done < rows; done += size) {
    parts.push_back(work(done, std::min(size, rows - done)));
  }
  return at::cat(parts);
}

}  // namespace

Answerer answerer(LanguageModel& model) {
  return {.answer =
              [&model](const Batch& batch) {
                const auto& [inputs, targets, parts] = batch;
                return in_parts(inputs.size(0), inputs.size(1), [&](auto begin, auto count) {
                  return answer(model, inputs.narrow(0, begin, count),
                                targets.narrow(0, begin, count));
                });
              },
          .go_on =
              [&model](const at::Tensor& prompts, std::int64_t tokens) {
                const auto length = prompts.size(1) + tokens;
                return in_parts(prompts.size(0), length, [&](auto begin, auto count) {
                  return generate_greedily(model, prompts.narrow(0, begin, count), tokens);
                });
              }};
}

}  // namespace difflab
