#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "report/figure/style.h"

namespace difflab::report {
namespace {

constexpr int kInkSlot = 0;
constexpr int kChosen = 9;  // by name or hash; the others when these are taken
constexpr int kSlots = 14;

// Ink, then Okabe and Ito 2008; their yellow, too pale for lines on white paper, is replaced by
// Tol's olive, and Tol's wine makes nine. Tol's indigo, a grey, Tol's purple, brown and green
// follow.
const std::array<Look, kSlots>& slot_looks() {
  static const std::array<Look, kSlots> looks = {
      {{std::string(kInk), "circle", Json::array({1, 0})},
       {"#0072B2", "square", Json::array({6, 2})},
       {"#D55E00", "triangle-up", Json::array({2, 2})},
       {"#009E73", "diamond", Json::array({8, 2, 2, 2})},
       {"#CC79A7", "triangle-down", Json::array({4, 1})},
       {"#56B4E9", "cross", Json::array({10, 3})},
       {"#E69F00", "triangle-right", Json::array({1, 1.5})},
       {"#999933", "triangle-left", Json::array({12, 2, 1, 2, 1, 2})},
       {"#882255", "M0,-1.2L.38,-.38L1.2,0L.38,.38L0,1.2L-.38,.38L-1.2,0L-.38,-.38Z",
        Json::array({5, 4})},
       {"#332288", "M-1,-1L1,-1L-1,1L1,1Z", Json::array({3, 1, 1, 1})},
       {"#888888", "M-1,-1L-1,1L1,-1L1,1Z", Json::array({8, 4, 1, 4})},
       {"#AA4499", "M-.5,-.87L.5,-.87L1,0L.5,.87L-.5,.87L-1,0Z", Json::array({14, 4})},
       {"#661100", "wedge", Json::array({2, 4})},
       {"#117733", "arrow", Json::array({6, 2, 2, 2, 2, 2})}}};
  return looks;
}

// Models that meet in one experiment have different slots.
std::optional<int> own_slot(const std::string& value) {
  static const std::map<std::string_view, int> slots = {{"transformer", kInkSlot},
                                                        {"nano_gpt", kInkSlot},
                                                        {"diff", 1},
                                                        {"diff_nano_gpt", 1},
                                                        {"diff_v2", 2},
                                                        {"diff_symmetry", 2},
                                                        {"transformer_head_norm", 3},
                                                        {"transformer_more_heads", 3},
                                                        {"transformer_half_heads", 4},
                                                        {"diff_lambda_0.8", 5},
                                                        {"diff_no_norm", 6},
                                                        {"diff_v2_no_lambda", 6},
                                                        {"diff_lambda_0.5", 7},
                                                        {"diff_v2_no_sigmoid", 7},
                                                        {"diff_v2_across_groups", 8}};
  const auto found = slots.find(value);
  return found == slots.end() ? std::nullopt : std::optional(found->second);
}

// FNV-1a: the same on every machine, unlike std::hash.
std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return hash;
}

}  // namespace

std::vector<Look> looks_of(const std::vector<std::string>& values, const std::string& baseline) {
  const auto& all = slot_looks();
  std::map<std::string, int> slots;
  std::set<int> taken;
  const auto take = [&](const std::string& value, int slot) {
    slots[value] = slot;
    taken.insert(slot);
  };
  for (const std::string& value : values) {
    const auto own = own_slot(value);
    if (own && taken.count(*own) == 0) take(value, *own);
  }
  for (const std::string& value : values) {
    if (slots.count(value) > 0) continue;
    if (is_same_value(value, baseline) && taken.count(kInkSlot) == 0) {
      take(value, kInkSlot);
      continue;
    }
    // Ink is nobody's by chance, unless it alone is left.
    const int wished = 1 + static_cast<int>(hash_of(value) % (kChosen - 1));
    int slot = wished;
    for (int tries = 1; tries < kChosen - 1 && taken.count(slot) > 0; ++tries) {
      slot = slot == kChosen - 1 ? 1 : slot + 1;
    }
    for (int spare = kChosen; spare < kSlots && taken.count(slot) > 0; ++spare) slot = spare;
    if (taken.count(slot) > 0) slot = taken.count(kInkSlot) > 0 ? wished : kInkSlot;
    take(value, slot);
  }
  std::vector<Look> looks;
  for (const auto& value : values) looks.push_back(all[static_cast<std::size_t>(slots.at(value))]);
  return looks;
}

}  // namespace difflab::report
