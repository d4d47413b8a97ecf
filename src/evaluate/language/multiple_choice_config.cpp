#include "evaluate/language/multiple_choice.h"
#include "text/tokenizer.h"
#include "util/error.h"

namespace difflab {
namespace {
constexpr std::uint64_t kGeneratedItems = 0;  // one set for all runs
}

std::vector<ChoiceItem> MultipleChoiceConfig::items() const {
  if (!file.given()) return generated_choice_items(generated, kGeneratedItems);
  return parse_choice_items(file.read(), file.path);
}

std::vector<ChoiceTokens> MultipleChoiceConfig::encode(const std::vector<ChoiceItem>& items,
                                                       const Tokenizer& tokenizer,
                                                       std::int64_t length) const {
  std::vector<ChoiceTokens> all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto item = concat(file.given() ? file.path : "generated items", ", item ", i + 1);
    all.push_back(encode_choices(items[i], delimiter, tokenizer, item));
    for (const auto& whole : all.back().whole) {
      const auto size = static_cast<std::int64_t>(whole.size()) - all.back().context;
      if (size > length) {
        throw UserError(concat(item, ": has a choice of ", size,
                               " tokens; expected at most the task's length, ", length));
      }
    }
  }
  return all;
}

}  // namespace difflab
