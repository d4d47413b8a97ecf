#include "cli/inspect/cost_table.h"

#include <set>

#include "cli/commands.h"
#include "model/cost.h"
#include "util/json.h"

namespace difflab::cli {
namespace {

using Grid = std::vector<std::vector<std::string>>;  // the first row is the heading

std::string text_of(const Grid& grid) { return aligned(grid, /*left=*/1); }

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

// 10^6 bytes.
double megabytes(std::int64_t parameters) {
  constexpr double kBytes = 4;  // float32
  return static_cast<double>(parameters) * kBytes / 1e6;
}

constexpr const char* kAboutMegabytes = "MB: 10^6 bytes; a parameter has 4 (float32).\n";

// Notes on the numbers of these subjects, each once.
std::string notes_on(const std::vector<CostSubject>& subjects) {
  std::set<std::string> told{""};
  std::string text;
  for (const auto& subject : subjects) {
    if (told.insert(subject.note).second) text += subject.note + "\n";
  }
  return text;
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

// Layers that are alike, and what each of them multiplies.
struct LayerGroup {
  std::int64_t first, last;
  std::vector<Product> products;
};

std::vector<LayerGroup> layer_groups(const CostSubject& subject) {
  std::vector<LayerGroup> groups;
  for (std::int64_t layer = 0; layer < subject.model.layers; ++layer) {
    auto products = layer_products(subject.model, layer, subject.tokens);
    if (!groups.empty() && groups.back().products == products) {
      groups.back().last = layer;
    } else {
      groups.push_back({layer, layer, std::move(products)});
    }
  }
  return groups;
}

/// Operations of a sequence. Every count is a multiple of its tokens.
struct Operations {
  std::int64_t full = 0, causal = 0;

  static Operations of(const Product& product) {
    return {product.operations(Masking::kFull), product.operations(Masking::kCausal)};
  }
  void add(const Operations& more) { full += more.full, causal += more.causal; }
  Operations times(std::int64_t n) const { return {n * full, n * causal}; }

  std::vector<std::string> cells(std::int64_t tokens) const {
    return {grouped(full), grouped(causal), grouped(full / tokens), grouped(causal / tokens)};
  }
  Json json(std::int64_t tokens) const {
    return {{"full", {{"sequence", full}, {"token", full / tokens}}},
            {"causal", {{"sequence", causal}, {"token", causal / tokens}}}};
  }
};

std::string layers_text(const LayerGroup& group) {
  return group.first == group.last ? concat("layer ", group.first)
                                   : concat("each of the layers ", group.first, " to ", group.last);
}

std::vector<std::string> with_numbers(std::vector<std::string> cells, const Operations& operations,
                                      std::int64_t tokens) {
  const auto numbers = operations.cells(tokens);
  cells.insert(cells.end(), numbers.begin(), numbers.end());
  return cells;
}

std::vector<std::string> row_of(const Product& product) {
  return with_numbers({product.name, std::to_string(product.times), std::to_string(product.m),
                       product.k > 0 ? std::to_string(product.k) : "-", std::to_string(product.n)},
                      Operations::of(product), product.m);
}

// Each product of a layer with its shape, a line for layers that are alike; then what they make.
std::string products_table(const CostSubject& subject) {
  const auto T = subject.tokens;
  Grid grid{{concat(subject.name, ", ", T, " tokens"), "times", "m", "k", "n", "full", "causal",
             "full/token", "causal/token"}};
  const auto add_sum = [&](const std::string& name, const Operations& sum) {
    grid.push_back(with_numbers({name, "", "", "", ""}, sum, T));
  };
  Operations all;
  for (const auto& group : layer_groups(subject)) {
    Operations layer;
    for (const auto& product : group.products) {
      grid.push_back(row_of(product));
      layer.add(Operations::of(product));
    }
    add_sum(layers_text(group), layer);
    all.add(layer.times(group.last - group.first + 1));
  }
  add_sum("all layers", all);
  const auto head = head_product(subject.model, subject.vocab, T);
  grid.push_back(row_of(head));
  all.add(Operations::of(head));
  add_sum("forward", all);
  add_sum("backward", all.times(2));
  return text_of(grid) +
         "m x k by k x n takes 2mkn operations; times: products of this shape in a layer.\n";
}

Json products_json(const CostSubject& subject) {
  Json list = Json::array();
  const auto add = [&](const Product& product, const Json& layers) {
    auto entry = Operations::of(product).json(subject.tokens);
    entry.update({{"name", product.name},
                  {"layers", layers},
                  {"times", product.times},
                  {"m", product.m},
                  {"k", product.k},
                  {"n", product.n}});
    list.push_back(std::move(entry));
  };
  for (const auto& group : layer_groups(subject)) {
    for (const auto& product : group.products) add(product, {group.first, group.last});
  }
  add(head_product(subject.model, subject.vocab, subject.tokens), nullptr);
  return list;
}

}  // namespace

std::string params_table(const std::vector<CostSubject>& subjects, bool json) {
  Json list = Json::array();
  Grid grid{{"model", "embedding", "positions", "attention", "feed-forward", "norms", "head",
             "total", "MB"}};
  for (const auto& subject : subjects) {
    const auto parts = parts_of(count_parameters(subject.model, subject.vocab));
    const auto size = megabytes(parts.back().count);
    list.push_back({{"model", subject.name},
                    {"vocabulary", subject.vocab},
                    {"parameters", to_json(parts)},
                    {"megabytes", size}});
    std::vector<std::string> cells{subject.name};
    for (const auto& part : parts) cells.push_back(grouped(part.count));
    cells.push_back(fmt::format("{:.2f}", size));
    grid.push_back(std::move(cells));
  }
  if (json) return list.dump(1) + "\n";
  return concat(text_of(grid), "\n", kAboutMegabytes, notes_on(subjects));
}

std::string flops_table(const std::vector<CostSubject>& subjects, std::int64_t bytes, bool products,
                        bool json) {
  Json list = Json::array();
  Grid grid{{"model", "tokens", "masking", "projections", "scores", "values", "feed-forward",
             "head", "forward", "backward"}};
  std::string notes, tables;
  for (const auto& subject : subjects) {
    Json entry = {{"model", subject.name}, {"tokens", subject.tokens}};
    for (const auto masking : {Masking::kFull, Masking::kCausal}) {
      const char* name = masking == Masking::kFull ? "full" : "causal";
      const auto parts =
          parts_of(count_flops(subject.model, subject.vocab, subject.tokens, masking));
      entry[name] = to_json(parts);
      std::vector<std::string> cells{subject.name, std::to_string(subject.tokens), name};
      for (const auto& part : parts) cells.push_back(grouped(part.count));
      grid.push_back(std::move(cells));
    }
    const auto cache = cache_bytes(subject.model, subject.tokens, bytes);
    entry["cache_bytes"] = cache;
    entry["flops_per_byte"] = intensity(subject, bytes);
    if (products) {
      entry["products"] = products_json(subject);
      tables += concat("\n", products_table(subject));
    }
    notes += fmt::format(
        "{}: key/value cache {} bytes, {:.1f} operations per byte of weights and "
        "cache ({} bytes a number, causal, one sequence)\n",
        subject.name, grouped(cache), intensity(subject, bytes), bytes);
    list.push_back(std::move(entry));
  }
  if (json) return list.dump(1) + "\n";
  return text_of(grid) +
         "\nOperations of one sequence; multiplication and addition count as two; norms, softmax "
         "and biases are left out.\n" +
         notes + notes_on(subjects) + tables;
}

}  // namespace difflab::cli
