#include "model/generate/generate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/language_model.h"
#include "util/random.h"

namespace difflab {
namespace {

/// Logits of the token after the text, computing as little as the decoding allows.
class NextLogits {
 public:
  NextLogits(LanguageModel& model, std::int64_t window, Decoding decoding)
      : model_(model), window_(window), decoding_(decoding) {}

  /// The text so far, of which only the last token is new since the last call -> [V] in float64.
  std::vector<double> operator()(const std::vector<std::int64_t>& text) {
    const auto length = static_cast<std::int64_t>(text.size());
    const bool fits = length <= window_;
    const bool cached = fits && decoding_ == Decoding::kCached;
    const auto begin = cached ? state_.tokens() : fits ? 0 : length - window_;
    const auto device = model_.parameters().front().device();
    const auto tokens =
        at::tensor(at::ArrayRef<std::int64_t>(text).slice(static_cast<std::size_t>(begin)),
                   at::kLong)
            .unsqueeze(0)
            .to(device);  // [1, new tokens]
    const auto states = model_.hidden(tokens, cached ? &state_ : nullptr);
    const auto logits = model_.head(states.select(1, -1)).flatten().to(at::kCPU, at::kDouble);
    return {logits.const_data_ptr<double>(), logits.const_data_ptr<double>() + logits.numel()};
  }

 private:
  LanguageModel& model_;
  std::int64_t window_;
  Decoding decoding_;
  DecodingState state_;
};

std::int64_t draw(const std::vector<double>& logits, const Sampling& sampling, Random random) {
  const auto most_likely = std::max_element(logits.begin(), logits.end());
  if (sampling.temperature == 0) return most_likely - logits.begin();
  std::vector<std::int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](std::int64_t token) { return logits[static_cast<std::size_t>(token)]; };
  // Ties in the order of tokens, so that the draw is the same everywhere.
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return at(a) > at(b); });
  if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < order.size()) {
    order.resize(static_cast<std::size_t>(sampling.top_k));
  }
  std::vector<double> weights;
  for (const auto token : order) {
    weights.push_back(std::exp((at(token) - *most_likely) / sampling.temperature));
  }
  double left = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order.back();
}

}  // namespace

std::vector<std::int64_t> generate(LanguageModel& model, const std::vector<std::int64_t>& prompt,
                                   const Sampling& sampling, std::int64_t window, Decoding decoding,
                                   const std::function<void(std::int64_t)>& on_token) {
  TORCH_CHECK(!prompt.empty() && window >= 1, "generate needs a prompt and a window");
  const at::NoGradGuard no_grad;
  NextLogits next(model, window, decoding);
  auto text = prompt;
  for (std::int64_t i = 0; i < sampling.tokens; ++i) {
    const Random random{static_cast<std::uint64_t>(sampling.seed), stream_key("generate"),
                        static_cast<std::uint64_t>(i)};
    text.push_back(draw(next(text), sampling, random));
    if (on_token) on_token(text.back());
  }
  text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prompt.size()));
  return text;
}

at::Tensor generate_greedily(LanguageModel& model, const at::Tensor& prompts, std::int64_t tokens) {
  DecodingState state;
  return continue_greedily(model, prompts, state, tokens);
}

at::Tensor continue_greedily(LanguageModel& model, const at::Tensor& begin, DecodingState& state,
                             std::int64_t tokens) {
  const at::NoGradGuard no_grad;
  auto next = begin.to(model.parameters().front().device());  // [B, new tokens]
  std::vector<at::Tensor> drawn;
  for (std::int64_t i = 0; i < tokens; ++i) {
    const auto states = model.hidden(next, &state);
    next = model.head(states.select(1, -1)).argmax(-1, /*keepdim=*/true);
    drawn.push_back(next);
  }
  return at::cat(drawn, 1).cpu();
}

}  // namespace difflab
