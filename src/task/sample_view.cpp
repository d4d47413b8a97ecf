#include "task/sample_view.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>

#include "util/text.h"

namespace difflab {
namespace {

constexpr std::size_t kWidth = 96;  // columns of a line of symbols

using Targets = std::map<std::int64_t, std::string>;  // position -> what is to be predicted

Json sample_json(const Task& task, const TaskPart& part, const Batch& batch, std::int64_t index) {
  const auto* inputs = batch.inputs[index].const_data_ptr<std::int64_t>();
  const auto* targets = batch.targets[index].const_data_ptr<std::int64_t>();
  Json sample = {{"part", part.name},       {"share", part.share},   {"index", index},
                 {"tokens", Json::array()}, {"text", Json::array()}, {"scored", Json::array()}};
  for (std::int64_t t = 0; t < batch.inputs.size(1); ++t) {
    sample["tokens"].push_back(inputs[t]);
    sample["text"].push_back(readable_json(task.token_text(inputs[t])));
    if (targets[t] == kIgnore) continue;
    sample["scored"].push_back({{"position", t},
                                {"target", targets[t]},
                                {"text", readable_json(task.token_text(targets[t]))}});
  }
  return sample;
}

Targets targets_of(const Json& sample) {
  Targets targets;
  for (const Json& scored : sample["scored"]) {
    targets[scored["position"]] = scored["text"].get<std::string>();
  }
  return targets;
}

std::string symbols_text(const Json& sample) {
  const auto targets = targets_of(sample);
  std::string out;
  std::size_t column = kWidth;  // the first word begins a line
  for (std::int64_t t = 0; const Json& token : sample["text"]) {
    auto word = token.get<std::string>();
    if (const auto target = targets.find(t++); target != targets.end()) {
      word += concat("→", target->second);
    }
    if (column + 1 + word.size() > kWidth) {
      out += out.empty() ? "  " : "\n  ";
      column = 2;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

// Neighbouring positions in one line: what is to be predicted there, one behind the other.
std::string text_text(const Json& sample) {
  std::string out = "  ";
  for (const Json& token : sample["text"]) {
    const auto text = token.get<std::string>();
    out += text == "\n" ? "\n  " : text;
  }
  out += '\n';
  const auto targets = targets_of(sample);
  if (targets.size() == sample["text"].size()) {
    return out + "  scored: everywhere, the next token\n";
  }
  for (auto begin = targets.begin(); begin != targets.end();) {
    auto end = begin;
    std::string answer;
    std::int64_t next = begin->first;
    for (; end != targets.end() && end->first == next; ++end, ++next) answer += end->second;
    out += fmt::format("  scored: after token {} comes {}\n", begin->first, Json(answer).dump());
    begin = end;
  }
  return out;
}

}  // namespace

Json samples_json(const Task& task, std::uint64_t seed, Split split, std::int64_t samples) {
  const auto entropy = task.entropy();
  Json view = {{"vocab_size", task.vocab_size()},  {"length", task.sequence_length()},
               {"chance", task.chance_accuracy()}, {"entropy", entropy ? Json(*entropy) : Json()},
               {"is_text", task.is_text()},        {"samples", Json::array()}};
  for (const auto& part : task.parts()) {
    if (part.share == 0) continue;
    const auto batch = part.task->batch(seed, split, 0, samples);
    for (std::int64_t i = 0; i < samples; ++i) {
      view["samples"].push_back(sample_json(task, part, batch, i));
    }
  }
  return view;
}

std::string samples_text(const Json& view) {
  std::string out =
      fmt::format("T = {} tokens, V = {}, chance {:.1f} %\n", view["length"].get<std::int64_t>(),
                  view["vocab_size"].get<std::int64_t>(), 100 * view["chance"].get<double>());
  const bool is_text = view["is_text"];
  if (const auto& entropy = view["entropy"]; !entropy.is_null()) {
    out += fmt::format("entropy {:.4f} nats a token\n", entropy.get<double>());
  }
  if (!is_text) out += "a→b: b is to be predicted after a\n";
  for (const Json& sample : view["samples"]) {
    out += fmt::format("\n{}, {:.0f} % of a batch, sample {}\n", sample["part"].get<std::string>(),
                       100 * sample["share"].get<double>(), sample["index"].get<std::int64_t>());
    out += is_text ? text_text(sample) : symbols_text(sample);
  }
  return out;
}

}  // namespace difflab
