#include "evaluate/language/sample_text.h"

#include "model/generate/generate.h"

namespace difflab {
EvaluationResult SampleTextConfig::run(const EvaluationContext& context) const {
  const auto& text = std::get<TextConfig>(context.task_config);
  const auto tokenizer = load_corpus(text).tokenizer;
  const auto start = tokenizer.encode(prompt);
  EvaluationResult result;
  result.details["samples"] = Json::array();
  for (std::int64_t i = 0; i < samples; ++i) {
    auto own = sampling;
    own.seed += i;
    const auto tokens = generate(context.model, start, own, text.length);
    result.details["samples"].push_back(
        {{"prompt", prompt}, {"text", readable_json(tokenizer.decode(tokens))}});
  }
  return result;
}

}  // namespace difflab
