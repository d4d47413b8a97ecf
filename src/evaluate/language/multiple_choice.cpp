#include "evaluate/language/multiple_choice.h"

#include <map>

#include "evaluate/base/score_batches.h"
#include "text/tokenizer.h"

namespace difflab {
namespace {

/// A context with one choice behind it, at most T + 1 tokens, of which the last `asked` are the
/// choice.
struct ChoiceRow {
  std::vector<std::int64_t> tokens;
  std::int64_t asked;

  ChoiceRow(std::vector<std::int64_t> whole, std::int64_t context, std::int64_t length)
      : tokens(std::move(whole)), asked(static_cast<std::int64_t>(tokens.size()) - context) {
    const auto most = static_cast<std::size_t>(length + 1);
    if (tokens.size() > most) tokens.erase(tokens.begin(), tokens.end() - length - 1);
  }
};

// Rows as a batch. Those that are shorter are filled up at the end, where nothing is asked and
// what stands there reaches nothing before it.
Batch batch_of(const std::vector<ChoiceRow>& rows) {
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.tokens.size() - 1);
  const auto B = static_cast<std::int64_t>(rows.size()), T = static_cast<std::int64_t>(longest);
  auto inputs = at::zeros({B, T}, at::kLong), targets = at::full({B, T}, kIgnore, at::kLong);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& [tokens, asked] = rows[row];
    auto* input = inputs.data_ptr<std::int64_t>() + row * longest;
    auto* target = targets.data_ptr<std::int64_t>() + row * longest;
    std::copy(tokens.begin(), tokens.end() - 1, input);
    std::copy(tokens.end() - asked, tokens.end(),
              target + static_cast<std::int64_t>(tokens.size()) - 1 - asked);
  }
  return {inputs, targets};
}

// log p(choice | context) of every row.
std::vector<double> log_likelihoods(const EvaluationContext& context,
                                    const std::vector<ChoiceRow>& rows) {
  auto& model = context.model;
  const auto length = context.task.sequence_length();
  const auto size = static_cast<std::size_t>(sequences_per_batch(length));
  const auto device = model.parameters().front().device();
  std::vector<double> all(rows.size());
  model.reserve_positions(length);  // lanes only read the table
  const auto batches = (rows.size() + size - 1) / size;
  side_by_side(context.lanes, static_cast<std::int64_t>(batches), [&](std::int64_t index) {
    const at::NoGradGuard no_grad;
    const auto begin = static_cast<std::size_t>(index) * size;
    const auto end = std::min(begin + size, rows.size());
    const auto batch = batch_of({rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                 rows.begin() + static_cast<std::ptrdiff_t>(end)});
    const auto losses =
        token_losses(model.forward(batch.inputs.to(device)), batch.targets.to(device));
    const auto sums = losses.to(at::kDouble).sum(1).cpu().contiguous();
    for (auto row = begin; row < end; ++row) all[row] = -sums.data_ptr<double>()[row - begin];
  });
  return all;
}

struct ChoiceCount {
  std::int64_t n = 0, correct = 0;
  double chance = 0;  // a sum

  void add(std::size_t choices, bool is_right) {
    ++n;
    correct += is_right ? 1 : 0;
    chance += 1 / static_cast<double>(choices);
  }
  Json cell(const std::string& group, const char* score) const {
    Json cell = {{"group", group}, {"score", score}, {"n", n}, {"correct", correct}};
    add_accuracy(cell, correct, n);
    cell["chance"] = chance / static_cast<double>(n);
    return cell;
  }
};

std::int64_t characters_of(std::string_view text) {
  return Tokenizer::count(TokenizerKind::kCharacter, text);
}

}  // namespace

EvaluationResult MultipleChoiceConfig::judge(const std::vector<ChoiceItem>& items,
                                             const std::vector<double>& log_likelihoods) const {
  constexpr const char* kAll = "all";
  std::map<std::string, std::array<ChoiceCount, 2>> groups;
  auto each = Json::array();
  double loss = 0;
  std::size_t row = 0;
  for (const auto& item : items) {
    Json chosen = {{"answer", item.answer}};
    std::array<std::vector<double>, 2> scores;  // sum, per character
    for (const auto& choice : item.choices) {
      scores[0].push_back(log_likelihoods.at(row));
      scores[1].push_back(log_likelihoods.at(row++) / static_cast<double>(characters_of(choice)));
    }
    const auto right = static_cast<std::size_t>(item.answer);
    loss -= scores[0][right] / static_cast<double>(items.size());
    for (std::size_t by = 0; by < scores.size(); ++by) {
      const auto best = std::max_element(scores[by].begin(), scores[by].end());  // the first one
      const bool is_right = best == scores[by].begin() + item.answer;
      chosen[by == 0 ? "sum" : "per_character"] = best - scores[by].begin();
      groups[kAll][by].add(item.choices.size(), is_right);
      if (!item.group.empty()) groups[item.group][by].add(item.choices.size(), is_right);
    }
    each.push_back(std::move(chosen));
  }
  EvaluationResult result;
  auto& cells = result.details["cells"] = Json::array();
  for (const auto& [group, counts] : groups) {
    cells.push_back(counts[0].cell(group, "sum"));
    cells.push_back(counts[1].cell(group, "per_character"));
    if (group != kAll) continue;
    const auto& sum = cells[cells.size() - 2];
    const auto& per_character = cells[cells.size() - 1];
    result.metrics["choice_accuracy"] = sum["accuracy"];
    result.metrics["choice_accuracy_chance"] = sum["chance"];
    result.metrics["choice_accuracy_per_character"] = per_character["accuracy"];
    result.metrics["choice_accuracy_per_character_chance"] = per_character["chance"];
  }
  result.metrics["choice_loss"] = loss;
  result.details["items"] = std::move(each);
  return result;
}

EvaluationResult MultipleChoiceConfig::run(const EvaluationContext& context) const {
  const auto all = items();
  const auto length = context.task.sequence_length();
  std::vector<ChoiceRow> rows;
  std::int64_t cut = 0;
  for (const auto& item : encode(all, *read_tokenizer(context.task_config), length)) {
    bool is_cut = false;
    for (const auto& whole : item.whole) {
      is_cut = is_cut || static_cast<std::int64_t>(whole.size()) > length + 1;
      rows.emplace_back(whole, item.context, length);
    }
    cut += is_cut ? 1 : 0;
  }
  auto result = judge(all, log_likelihoods(context, rows));
  result.details["cut_contexts"] = cut;
  return result;
}

}  // namespace difflab
