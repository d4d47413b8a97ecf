// Fields that structs of a run may get one day: with the value that stands for what runs did before
// they move no id.
#include <type_traits>

#include "config/value/value.h"
#include "run/metrics.h"
#include "support/small_runs.h"

namespace difflab {
namespace {

struct FutureTrain : TrainConfig {
  double throw_away = 0.5;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    TrainConfig::visit_fields(visit);
    visit("throw_away", throw_away, "");
  }
};

struct FutureAttention : DifferentialAttentionConfig {
  std::int64_t throw_away = 0;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    DifferentialAttentionConfig::visit_fields(visit);
    visit("throw_away", throw_away, "");
  }
};

struct FutureHeldout : HeldoutConfig {
  bool throw_away = false;

  template <class Visitor>
  void visit_fields(Visitor& visit) {
    HeldoutConfig::visit_fields(visit);
    visit("throw_away", throw_away, "");
  }
};

// What a later version would write for the same run.
config::Value written_later(const RunConfig& config, const FutureTrain& train,
                            const FutureAttention& attention, const FutureHeldout& heldout) {
  auto value = config::write(config);
  value.set("train", config::write(train));
  value.set_path("model.attention", config::write(attention));
  value.find("evaluate")->mutable_items().at(0) = config::write(heldout);
  return value;
}

CATCH_TEST_CASE("a field added to training, an attention and an evaluation moves no id") {
  auto config = testing::smallest_run();
  const HeldoutConfig heldout{.samples = 16};
  config.evaluate = {heldout, NeedleGridConfig{}};
  FutureTrain train;
  static_cast<TrainConfig&>(train) = config.train;
  FutureAttention attention;
  static_cast<DifferentialAttentionConfig&>(attention) =
      std::get<DifferentialAttentionConfig>(config.model.attention);
  FutureHeldout asked;
  static_cast<HeldoutConfig&>(asked) = heldout;

  const std::vector<LaterKey> keys{{"train.throw_away", "0.5"},
                                   {"model.attention:diff_v1.throw_away", "0"},
                                   {"evaluate:heldout.throw_away", "false"}};
  const auto name = [&] {
    auto value = written_later(config, train, attention, asked);
    forget_later_keys(value, keys);
    return config::canonical_json(value);
  };
  const auto today = config::canonical_json(config::write(config));
  CATCH_CHECK(name() == today);
  train.throw_away = 0.25;
  CATCH_CHECK(name() != today);
  train.throw_away = 0.5;
  attention.throw_away = 1;
  CATCH_CHECK(name() != today);
  attention.throw_away = 0;
  asked.throw_away = true;
  CATCH_CHECK(name() != today);
}

// Runs of defaults in which every kind of task, attention and evaluation occurs.
std::vector<RunConfig> runs_of_all_kinds() {
  auto config = testing::smallest_run();
  const auto each = [](auto variant, const auto& visit) {
    [&]<class... Kinds>(std::type_identity<std::variant<Kinds...>>) {
      (visit(Kinds{}), ...);
    }(std::type_identity<decltype(variant)>{});
  };
  each(EvaluationConfig{}, [&](const auto& kind) { config.evaluate.push_back(kind); });
  std::vector<RunConfig> runs;
  each(TaskConfig{}, [&](const auto& kind) { runs.emplace_back(config).task = kind; });
  each(AttentionConfig{},
       [&](const auto& kind) { runs.emplace_back(config).model.attention = kind; });
  runs.emplace_back(config).train.groups = {{.lr_scale = 0.5}};
  return runs;
}

// Whether the i-th later key is in this run, when those before it are forgotten, and has the value
// that stands for before.
bool is_forgotten(std::size_t i, const RunConfig& config) {
  auto value = config::write(config);
  forget_later_keys(value, later_keys().first(i));
  const auto whole = config::canonical_json(value);
  forget_later_keys(value, later_keys().subspan(i, 1));
  return config::canonical_json(value) != whole;
}

CATCH_TEST_CASE("every later key has by default the value that it had before it was there") {
  const auto runs = runs_of_all_kinds();
  CATCH_REQUIRE(later_keys().size() > 15);
  for (std::size_t i = 0; i < later_keys().size(); ++i) {
    CATCH_INFO(later_keys()[i].path);
    CATCH_CHECK(std::any_of(runs.begin(), runs.end(),
                            [&](const auto& run) { return is_forgotten(i, run); }));
  }
}

CATCH_TEST_CASE("a kind of evaluation that had a name of its own keeps it in ids and results") {
  constexpr const char* kSymbols = "{kind: needle_recall}";
  constexpr const char* kText = "{kind: text_needle, length: 700}";
  struct Former {
    const char *task, *before, *now, *result;
  };
  for (const auto& [task, before, now, result] :
       {Former{kSymbols, "{kind: logit_quantization}",
               "{kind: quantization, of: logits, bits: [16, 8, 6, 4]}", "logit_quantization"},
        Former{kSymbols, "{kind: logit_quantization, bits: [3]}", "{kind: quantization, bits: [3]}",
               "logit_quantization"},
        Former{kSymbols, "{kind: weight_quantization, samples: 9}",
               "{kind: quantization, of: weights, samples: 9}", "weight_quantization"},
        Former{kSymbols, "{kind: hidden_quantization, name: few}",
               "{kind: quantization, of: states, name: few}", "few"},
        Former{kText, "text_needle_grid", "{kind: needle_grid}", "needle_grid"},
        Former{kSymbols, "{kind: needle_grid}", "needle_grid", "needle_grid"},
        Former{kSymbols, "{kind: heldout}", "heldout", "heldout"}}) {
    const auto read = [&, trained = task](const char* evaluation) {
      return config::read<RunConfig>(
          config::parse_yaml(concat("{task: ", trained, ", evaluate: [", evaluation, "]}"), "x"),
          "");
    };
    const auto first = read(before), second = read(now);
    CATCH_INFO(before);
    CATCH_CHECK(run_id(first) == run_id(second));
    CATCH_CHECK(answer_id(first, 0) == answer_id(second, 0));
    CATCH_CHECK(config::write(first) == config::write(second));  // in one spelling
    for (const auto& run : {first, second}) CATCH_CHECK(evaluations_of(run).front() == result);
  }
}

}  // namespace
}  // namespace difflab
