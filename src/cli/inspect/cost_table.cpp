#include "cli/inspect/cost_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/cost.h"
#include "util/json.h"

namespace difflab::cli {
namespace {

/// Rows of cells, the first left-aligned and the others right-aligned, with a heading.
class Grid {
 public:
  explicit Grid(std::vector<std::string> heading) { add(std::move(heading)); }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        text += i == 0 ? fmt::format("{:<{}}", row[i], widths[i])
                       : fmt::format("  {:>{}}", row[i], widths[i]);
      }
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// 128714721460224 -> "128,714,721,460,224"
std::string grouped(std::int64_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

struct Part {
  const char* name;
  std::int64_t count;
};

std::vector<Part> parts_of(const ParameterCounts& counts) {
  return {{"embedding", counts.embedding}, {"positions", counts.positions},
          {"attention", counts.attention}, {"feed_forward", counts.feed_forward},
          {"norms", counts.norms},         {"head", counts.head},
          {"total", counts.total()}};
}

std::vector<Part> parts_of(const ForwardFlops& flops) {
  return {
      {"projections", flops.projections},   {"scores", flops.scores}, {"values", flops.values},
      {"feed_forward", flops.feed_forward}, {"head", flops.head},     {"forward", flops.total()},
      {"backward", 2 * flops.total()}};
}

std::vector<Part> parts_of(const DiffusionTransformer& model) {
  return {
      {"patches", model.patch_parameters()},          {"positions", model.position_parameters()},
      {"layers", model.layer_parameters()},           {"output", model.output_parameters()},
      {"projections", model.projection_parameters()}, {"total", model.total()}};
}

Json to_json(const std::vector<Part>& parts) {
  Json json = Json::object();
  for (const auto& part : parts) json[part.name] = part.count;
  return json;
}

// Every weight read once and the keys and values written once: an upper bound for one sequence.
double intensity(const CostSubject& subject, std::int64_t bytes) {
  const auto flops = count_flops(subject.model, subject.vocab, subject.tokens, Masking::kCausal);
  const auto moved = bytes * count_parameters(subject.model, subject.vocab).total() +
                     cache_bytes(subject.model, subject.tokens, bytes);
  return static_cast<double>(flops.total()) / static_cast<double>(moved);
}

}  // namespace

std::string params_table(const std::vector<CostSubject>& subjects, bool json) {
  Json list = Json::array();
  Grid grid(
      {"model", "embedding", "positions", "attention", "feed-forward", "norms", "head", "total"});
  for (const auto& subject : subjects) {
    const auto parts = parts_of(count_parameters(subject.model, subject.vocab));
    list.push_back({{"model", subject.name}, {"parameters", to_json(parts)}});
    std::vector<std::string> cells{subject.name};
    for (const auto& part : parts) cells.push_back(grouped(part.count));
    grid.add(std::move(cells));
  }
  return json ? list.dump(1) + "\n" : grid.text();
}

std::string flops_table(const std::vector<CostSubject>& subjects, std::int64_t bytes, bool json) {
  Json list = Json::array();
  Grid grid({"model", "tokens", "masking", "projections", "scores", "values", "feed-forward",
             "head", "forward", "backward"});
  std::string notes;
  for (const auto& subject : subjects) {
    Json entry = {{"model", subject.name}, {"tokens", subject.tokens}};
    for (const auto masking : {Masking::kFull, Masking::kCausal}) {
      const char* name = masking == Masking::kFull ? "full" : "causal";
      const auto parts =
          parts_of(count_flops(subject.model, subject.vocab, subject.tokens, masking));
      entry[name] = to_json(parts);
      std::vector<std::string> cells{subject.name, std::to_string(subject.tokens), name};
      for (const auto& part : parts) cells.push_back(grouped(part.count));
      grid.add(std::move(cells));
    }
    const auto cache = cache_bytes(subject.model, subject.tokens, bytes);
    entry["cache_bytes"] = cache;
    entry["flops_per_byte"] = intensity(subject, bytes);
    notes += fmt::format(
        "{}: key/value cache {} bytes, {:.1f} operations per byte of weights and "
        "cache ({} bytes a number, causal, one sequence)\n",
        subject.name, grouped(cache), intensity(subject, bytes), bytes);
    list.push_back(std::move(entry));
  }
  if (json) return list.dump(1) + "\n";
  return grid.text() +
         "\nOperations of one sequence; multiplication and addition count as two; norms, softmax "
         "and biases are left out.\n" +
         notes;
}

std::string dit_table(const DiffusionTransformer& model, bool json) {
  const auto parts = parts_of(model);
  if (json) return to_json(parts).dump(1) + "\n";
  Grid grid({"part", "parameters"});
  for (const auto& part : parts) grid.add({part.name, grouped(part.count)});
  return grid.text();
}

}  // namespace difflab::cli
