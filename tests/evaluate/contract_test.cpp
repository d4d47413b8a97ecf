// What every kind of evaluation must do, on every kind of task that it takes. A new kind of either
// is covered by being in its variant.
#include <ATen/ATen.h>

#include <iterator>
#include <span>
#include <type_traits>

#include "config/schema/traits.h"
#include "evaluate/evaluation_config.h"
#include "model/language_model.h"
#include "support/catch.h"
#include "task/base/task.h"

namespace difflab {
namespace {

// Lowers what is counted to a few: rounds, bins and the like. Sizes in lists stay, but for those of
// batches and contexts that are only timed. `samples` are as many as the test needs.
struct FewOfAll {
  std::int64_t samples;

  template <class T>
  void operator()(std::string_view key, T& member, std::string_view, config::Range range = {}) {
    if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
      if (key == "contexts") member = {8, 40};
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      const double few = key == "rounds" ? 2 : 12;
      const double wanted = key == "samples" ? static_cast<double>(samples)
                                             : std::min(static_cast<double>(member), few);
      member = static_cast<std::int64_t>(std::clamp(wanted, range.low, range.high));
    } else if constexpr (config::HasFields<T>) {
      member.visit_fields(*this);
    }
  }
};

class Objections final : public config::Check {
 public:
  void problem(std::string_view key, std::string_view message) override {
    CATCH_CHECK_FALSE(key.empty());
    lines.push_back(concat(key, " ", message));
  }
  std::vector<std::string> lines;
};

template <class Kind>
std::vector<std::string> objections(const Kind& kind, const TaskConfig& task) {
  Objections check;
  if constexpr (requires { kind.validate(check); }) kind.validate(check);
  CATCH_CHECK(check.lines.empty());  // what few samples make of the defaults is valid, too
  kind.validate_task(task, check);
  return check.lines;
}

template <class... Kinds>
std::vector<std::variant<Kinds...>> defaults_of(std::type_identity<std::variant<Kinds...>>) {
  return {Kinds{}...};
}

// Every task as it is by default, and where an evaluation asks for more, such a task.
std::vector<TaskConfig> tasks_to_ask() {
  auto tasks = defaults_of(std::type_identity<TaskConfig>{});
  tasks.push_back(MqarConfig{.reassign = 0.5});
  tasks.push_back(NeedleConfig{.key_tokens = 2, .distractors = {1, 2, 1}});
  tasks.push_back(MqarConfig{.length = 64, .lengths = {48, 64}, .reassign = 0.5});
  tasks.push_back(TextConfig{.length = 256, .lengths = {64, 256}});
  return tasks;
}

// Calls visit(kind) for every kind of evaluation, as it is by default but for a few samples.
template <class Visit, class... Kinds>
void for_every_evaluation(std::int64_t samples, const Visit& visit,
                          std::type_identity<std::variant<Kinds...>>) {
  const auto small = [&](auto kind) {
    CATCH_INFO("evaluation " << kind.kKind);
    FewOfAll few{samples};
    kind.visit_fields(few);
    if constexpr (requires { kind.of; }) {
      for (const auto& [name, of] : config::named_values<decltype(kind.of)>()) {
        CATCH_INFO("of " << name);
        kind.of = of;
        visit(kind);
      }
    } else {
      visit(kind);
    }
  };
  (small(Kinds{}), ...);
}
template <class Visit>
void for_every_evaluation(std::int64_t samples, const Visit& visit) {
  for_every_evaluation(samples, visit, std::type_identity<EvaluationConfig>{});
}

// A task with a model of it that was never trained.
struct Asked {
  Asked(const TaskConfig& config, AttentionConfig attention, Positions positions)
      : task_config(config), task(build_task(config)) {
    at::set_num_threads(1);  // as a run has it: lanes have threads of their own
    model_config.d_model = 16;
    model_config.layers = 2;
    model_config.attention = std::move(attention);
    model_config.positions = positions;
  }

  // With learned positions for as many tokens as the evaluation says that it asks for.
  template <class Kind>
  EvaluationResult run(const Kind& kind, int lanes) {
    model_config.max_positions = longest_sequence(kind, task_config);
    LanguageModel model(model_config, task->vocab_size(), Kernels::kFused);
    initialise(model, model_config, 3);
    model.eval();
    at::manual_seed(1);
    return kind.run({model, task_config, *task, 7, lanes});
  }

  ModelConfig model_config;
  TaskConfig task_config;
  std::unique_ptr<Task> task;
};

void check_metrics(const Json& metrics, std::span<const MetricFacts> declarations,
                   std::set<std::string_view>& met) {
  for (const auto& [name, value] : metrics.items()) {
    CATCH_INFO("metric " << name);
    CATCH_CHECK((value.is_null() || (value.is_number() && std::isfinite(value.get<double>()))));
    bool declared = false;
    for (const auto& facts : declarations) {
      if (!is_called(name, facts.name)) continue;
      declared = true;
      met.insert(facts.name);
      if (value.is_null()) continue;
      CATCH_CHECK(value.get<double>() >= facts.least);
      if (facts.outcome == Outcome::kShare) CATCH_CHECK(value.get<double>() <= 1);
    }
    CATCH_CHECK(declared);  // in its kMetrics
  }
}

// The texts that rows with the same keys hold under each key.
using Texts = std::map<std::string, std::set<std::string>>;

// Whether some text tells rows of two sorts apart, e.g. part: head and part: histogram.
bool told_apart(const Texts& one, const Texts& other) {
  return std::any_of(one.begin(), one.end(), [&](const auto& column) {
    const auto found = other.find(column.first);
    return found != other.end() &&
           std::none_of(column.second.begin(), column.second.end(),
                        [&](const auto& text) { return found->second.count(text) > 0; });
  });
}

void check_cell(const Json& cell) {
  for (const auto& [key, value] : cell.items()) {
    CATCH_INFO(key);
    CATCH_CHECK(value.is_primitive());
    if (value.is_number()) CATCH_CHECK(std::isfinite(value.get<double>()));
    const bool share = key.starts_with("accuracy") || key == "chance" || key == "share";
    if (share && value.is_number()) CATCH_CHECK((value >= 0 && value <= 1));
  }
  if (cell.contains("correct")) CATCH_CHECK(cell.at("correct") <= cell.at("n"));
  if (cell.contains("accuracy_low")) {
    CATCH_CHECK(cell.at("accuracy_low") <= cell.at("accuracy"));
    CATCH_CHECK(cell.at("accuracy_high") >= cell.at("accuracy"));
  }
}

// Rows of plain values. If they do not all have the same keys, a text says which is which.
void check_cells(const Json& cells) {
  CATCH_REQUIRE(cells.is_array());
  std::map<std::set<std::string>, Texts> sorts;
  for (const auto& cell : cells) {
    CATCH_INFO(cell.dump());
    CATCH_REQUIRE(cell.is_object());
    check_cell(cell);
    std::set<std::string> keys;
    for (const auto& entry : cell.items()) keys.insert(entry.key());
    auto& texts = sorts[keys];
    for (const auto& [key, value] : cell.items()) {
      if (value.is_string()) texts[key].insert(value.get<std::string>());
    }
  }
  for (auto one = sorts.begin(); one != sorts.end(); ++one) {
    for (auto other = std::next(one); other != sorts.end(); ++other) {
      CATCH_CHECK(told_apart(one->second, other->second));
    }
  }
}

// Sees whether a struct has an input file among its fields.
struct SeesFile {
  bool seen = false;

  template <class T>
  void operator()(std::string_view, T&, std::string_view, config::Range = {}) {
    seen = seen || std::is_same_v<T, InputFile>;
  }
};

CATCH_TEST_CASE("an evaluation of every kind says its prompt and its file") {
  for_every_evaluation(6, [](auto kind) {
    SeesFile fields;
    kind.visit_fields(fields);
    CATCH_CHECK(fields.seen == (kind.input_file() != nullptr));
    const auto names = config::field_names<decltype(kind)>();
    CATCH_CHECK(is_among(std::string("prompt"), names) == !kind.prompt.empty());
  });
}

// True for a kind that measures the machine, too, which no two runs find the same.
template <class Kind>
constexpr bool of_machine() {
  return std::any_of(Kind::kMetrics.begin(), Kind::kMetrics.end(), [](const MetricFacts& facts) {
    return facts.of_machine != OfMachine::kNothing;
  });
}

CATCH_TEST_CASE("an evaluation of every kind gives the same on one lane and on several") {
  constexpr std::int64_t kInBatches = 150;  // three of 64 tokens each, the shortest default
  for_every_evaluation(kInBatches, [](const auto& kind) {
    if (of_machine<std::decay_t<decltype(kind)>>()) return;  // times differ on one lane, too
    for (const auto& config : tasks_to_ask()) {
      if (!objections(kind, config).empty()) continue;
      Asked asked(config, DifferentialAttentionConfig{}, Positions::kRotary);
      const auto answers = [&](int lanes) {
        const auto found = asked.run(kind, lanes);
        return found.metrics.dump() + found.details.dump();
      };
      const auto alone = answers(1);
      CATCH_CHECK(answers(2) == alone);
      CATCH_CHECK(answers(3) == alone);
      break;  // one task is enough
    }
  });
}

CATCH_TEST_CASE("an evaluation of every kind declares its metrics, and its cells are rows") {
  for_every_evaluation(6, [](const auto& kind) {
    std::size_t taken = 0, cells = 0;
    bool has_cells = false;
    std::set<std::string_view> met, declared;
    for (const auto& config : tasks_to_ask()) {
      if (!objections(kind, config).empty()) continue;
      std::vector<MetricFacts> given(kind.kMetrics.begin(), kind.kMetrics.end());
      std::erase_if(given, [&](const auto& facts) { return !kind.gives(facts.name, config); });
      for (const auto& facts : given) declared.insert(facts.name);
      CATCH_INFO("task " << std::visit([](const auto& task) { return task.kKind; }, config));
      for (const auto& attention : defaults_of(std::type_identity<AttentionConfig>{})) {
        const bool differential = std::holds_alternative<DifferentialAttentionConfig>(attention);
        if (taken > 0 && !differential) continue;  // every kind of attention on the first task
        CATCH_INFO(
            "attention " << std::visit([](const auto& one) { return one.kKind; }, attention));
        const auto found = Asked(config, attention, Positions::kLearned).run(kind, 1);
        check_metrics(found.metrics, given, met);
        CATCH_CHECK((!found.metrics.empty() || !found.details.empty()));
        if (!found.details.contains("cells")) continue;
        has_cells = true;
        cells += found.details.at("cells").size();
        check_cells(found.details.at("cells"));
      }
      ++taken;
    }
    CATCH_CHECK(taken > 0);          // it takes some task as that is by default
    CATCH_CHECK((met == declared));  // and gives all that it declares
    CATCH_CHECK((cells > 0 || !has_cells));
  });
}

// What a model is, in detail.
struct State {
  explicit State(const LanguageModel& model) : training(model.is_training()) {
    for (const auto& parameter : model.parameters()) {
      values.push_back(parameter.detach().clone());
      trained.push_back(parameter.requires_grad());
      has_gradient.push_back(parameter.grad().defined());
    }
  }
  void check_same(const State& other) const {
    CATCH_CHECK(training == other.training);
    CATCH_CHECK(trained == other.trained);
    CATCH_CHECK(has_gradient == other.has_gradient);
    for (std::size_t i = 0; i < values.size(); ++i) CATCH_CHECK(values[i].equal(other.values[i]));
  }
  bool training;
  std::vector<at::Tensor> values;
  std::vector<bool> trained, has_gradient;
};

// The first task that an evaluation takes, with a model.
template <class Kind, class Visit>
void on_its_first_task(const Kind& kind, const Visit& visit) {
  for (const auto& config : tasks_to_ask()) {
    if (!objections(kind, config).empty()) continue;
    Asked asked(config, DifferentialAttentionConfig{}, Positions::kRotary);
    LanguageModel model(asked.model_config, asked.task->vocab_size(), Kernels::kFused);
    initialise(model, asked.model_config, 3);
    model.eval();
    return visit(model, asked);
  }
}

CATCH_TEST_CASE("an evaluation of every kind leaves the model as it was, and draws no numbers") {
  for_every_evaluation(6, [](const auto& kind) {
    on_its_first_task(kind, [&](LanguageModel& model, const Asked& asked) {
      const auto answer = [&] {
        const auto found = kind.run({model, asked.task_config, *asked.task, 7, 1});
        return found.metrics.dump() + found.details.dump();
      };
      const State before(model);
      const int threads = at::get_num_threads();
      at::manual_seed(1);
      const auto first = answer();
      before.check_same(State(model));
      CATCH_CHECK(at::get_num_threads() == threads);
      if (of_machine<std::decay_t<decltype(kind)>>()) return;  // no two times are the same
      at::manual_seed(2);
      CATCH_CHECK(answer() == first);
    });
  });
}

CATCH_TEST_CASE("an evaluation of every kind asks as many samples as it was told") {
  std::vector<std::string> of_few, of_more;
  for (const std::int64_t samples : {5, 6}) {
    for_every_evaluation(samples, [&](const auto& kind) {
      if (of_machine<std::decay_t<decltype(kind)>>()) return;
      if constexpr (requires { kind.samples; }) {
        on_its_first_task(kind, [&](LanguageModel& model, const Asked& asked) {
          const auto found = kind.run({model, asked.task_config, *asked.task, 7, 1});
          (samples == 5 ? of_few : of_more)
              .push_back(concat(kind.kKind, found.metrics.dump(), found.details.dump()));
        });
      }
    });
  }
  CATCH_REQUIRE(of_few.size() > 5);
  CATCH_REQUIRE(of_few.size() == of_more.size());
  for (std::size_t i = 0; i < of_few.size(); ++i) {
    CATCH_INFO(of_few[i].substr(0, 30));
    CATCH_CHECK_FALSE(of_few[i] == of_more[i]);
  }
}

CATCH_TEST_CASE("an evaluation of every kind says which task it expects instead of another") {
  for_every_evaluation(6, [](const auto& kind) {
    for (const auto& config : tasks_to_ask()) {
      for (const auto& line : objections(kind, config)) {
        CATCH_INFO(line);
        CATCH_CHECK(line.find("expected ") != line.npos);
        // Who is told so can find what is expected.
        CATCH_CHECK(
            (!line.starts_with("kind ") || line.starts_with(concat("kind is ", kind.kKind))));
      }
    }
  });
}

}  // namespace
}  // namespace difflab
