#include "evaluate/speed/decoding.h"

#include <ATen/ATen.h>

#include "evaluate/speed/read_context.h"
#include "evaluate/speed/timing.h"
#include "model/generate/generate.h"
#include "task/base/task.h"

namespace difflab {

ReadContext::ReadContext(LanguageModel& model, const at::Tensor& tokens)
    : model_(&model), last_(continue_greedily(model, tokens, state_, 1).to(tokens.device())) {}

at::Tensor ReadContext::decode(std::int64_t tokens) {
  struct Forget {  // also if decoding throws
    DecodingState& state;
    std::int64_t read;
    ~Forget() { state.keep(read); }
  } const forget{state_, state_.tokens()};
  return continue_greedily(*model_, last_, state_, tokens);
}

std::int64_t ReadContext::cache_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& layer : state_.layers) bytes += layer.bytes();
  return bytes;
}

EvaluationResult DecodingConfig::run(const EvaluationContext& context) const {
  struct Case {
    std::int64_t length, sequences;
    ReadContext read;
    std::vector<double> seconds = {};
  };
  const auto like = context.model.parameters().front().options().dtype(at::kLong);
  std::vector<Case> cases;
  for (const auto T : contexts) {
    for (const auto B : batches) {
      cases.push_back(
          {T, B, ReadContext(context.model, at::randint(context.task.vocab_size(), {B, T}, like))});
    }
  }
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (auto& one : cases) {
      one.read.decode(this->tokens);  // until the caches hold this case and not the one before it
      one.seconds.push_back(seconds_of([&] { one.read.decode(this->tokens); }));
    }
  }
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  constexpr double kMib = 1 << 20;
  for (const auto& one : cases) {
    const auto seconds = spread_of(one.seconds);
    const auto written = static_cast<double>(one.sequences * this->tokens);
    const double mib = static_cast<double>(one.read.cache_bytes()) / kMib;
    cells.push_back({{"length", one.length},
                     {"sequences", one.sequences},
                     {"tokens_per_second", written / seconds.median},
                     {"tokens_per_second_low", written / seconds.high},
                     {"tokens_per_second_high", written / seconds.low},
                     {"cache_mib", mib}});
    result.metrics[concat("decoding_tokens_per_second_t", one.length, "_b", one.sequences)] =
        written / seconds.median;
    result.metrics[concat("cache_mib_t", one.length)] = mib / static_cast<double>(one.sequences);
  }
  return result;
}

}  // namespace difflab
