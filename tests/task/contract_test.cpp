// What every task promises, for every kind in the list.

#include "config/schema/reader.h"
#include "config/schema/traits.h"
#include "config/schema/writer.h"
#include "support/catch.h"
#include "support/task_kinds.h"
#include "support/task_rows.h"

namespace difflab {
namespace {

using testing::one_of_each;

std::string kind_of(const TaskConfig& config) {
  return std::visit([](const auto& kind) { return std::string(kind.kKind); }, config);
}

CATCH_TEST_CASE("data are a function of seed, split and index alone") {
  for (const auto& config : one_of_each()) {
    CATCH_INFO(kind_of(config));
    const auto task = build_task(config), again = build_task(config);
    const auto batch = task->batch(5, Split::kTrain, 7, 16);
    CATCH_CHECK(batch.inputs.equal(again->batch(5, Split::kTrain, 7, 16).inputs));
    CATCH_CHECK(batch.targets.equal(again->batch(5, Split::kTrain, 7, 16).targets));
    CATCH_CHECK_FALSE(batch.inputs.equal(task->batch(6, Split::kTrain, 7, 16).inputs));
    const auto valid = task->batch(5, Split::kValid, 7, 16).inputs;
    const auto test = task->batch(5, Split::kTest, 7, 16).inputs;
    CATCH_CHECK_FALSE(batch.inputs.equal(valid));
    CATCH_CHECK_FALSE(batch.inputs.equal(test));
    CATCH_CHECK_FALSE(valid.equal(test));
    // Nor the end of the batch alone, where a mixture's repetitions are.
    const auto end_of = [](const at::Tensor& rows) { return rows.narrow(0, 12, 4); };
    CATCH_CHECK_FALSE(end_of(batch.inputs).equal(end_of(valid)));
    CATCH_CHECK_FALSE(end_of(valid).equal(end_of(test)));
    CATCH_CHECK_FALSE(batch.inputs.equal(task->batch(5, Split::kTrain, 8, 16).inputs));
  }
}

CATCH_TEST_CASE("a batch has the shape and the tokens that its configuration says") {
  for (const auto& config : one_of_each()) {
    CATCH_INFO(kind_of(config));
    const auto task = build_task(config);
    CATCH_CHECK(sequence_length(config) == task->sequence_length());
    CATCH_CHECK(vocab_size(config) == task->vocab_size());
    const auto [inputs, targets, parts] = task->batch(1, Split::kTest, 0, 16);
    CATCH_CHECK(inputs.sizes() == (at::IntArrayRef{16, task->sequence_length()}));
    CATCH_CHECK(targets.sizes() == inputs.sizes());
    CATCH_CHECK(inputs.min().item<std::int64_t>() >= 0);
    CATCH_CHECK(std::max(inputs.max().item<std::int64_t>(), targets.max().item<std::int64_t>()) <
                task->vocab_size());
    CATCH_CHECK(targets.ge(0).logical_or(targets.eq(kIgnore)).all().item<bool>());
    CATCH_CHECK(targets.ge(0).any(1).all().item<bool>());  // every sequence asks something
    CATCH_CHECK((task->chance_accuracy() > 0 && task->chance_accuracy() < 1));
    const auto names = part_names(config);
    for (const auto& part : task->parts()) {
      CATCH_INFO(part.name);
      CATCH_CHECK(std::find(names.begin(), names.end(), part.name) != names.end());
    }
    CATCH_CHECK(names.front() == task->parts().front().name);
    CATCH_CHECK(asks_every_token(config) == targets.ge(0).all().item<bool>());
    CATCH_CHECK(symbols_of(config).has_value() == !task->is_text());
    std::visit([](const auto& k) { CATCH_CHECK(k.part_shares().size() + 1 == k.kParts.size()); },
               config);
  }
}

CATCH_TEST_CASE("repetition mixed in leaves the task's own sequences as they are") {
  const auto check = [](auto config) {
    CATCH_INFO(config.kKind);
    config.recall_share = 0;
    const auto alone = config.build();
    config.recall_share = 0.25;
    const auto mixed = config.build();
    const auto batch = mixed->batch(2, Split::kTrain, 3, 32);
    const auto own = alone->batch(2, Split::kTrain, 3, 24);
    CATCH_CHECK(batch.inputs.narrow(0, 0, 24).equal(own.inputs));
    CATCH_CHECK(batch.targets.narrow(0, 0, 24).equal(own.targets));
    const auto parts = mixed->parts();
    CATCH_CHECK(parts.size() == alone->parts().size() + 1);
    CATCH_CHECK(parts.front().share == 0.75 * alone->parts().front().share);
    CATCH_CHECK(parts.back().share == 0.25);
    CATCH_CHECK(batch.inputs.narrow(0, 24, 8).equal(
        parts.back().task->batch(2, Split::kTrain, 3, 8).inputs));
    CATCH_CHECK(mixed->chance_accuracy() == alone->chance_accuracy());
  };
  int mixed = 0;
  testing::for_each_kind([&]<class Kind>(const Kind& kind) {
    constexpr bool kIsField = std::is_member_object_pointer_v<decltype(&Kind::recall_share)>;
    CATCH_CHECK(kIsField == is_among(std::string("recall_share"), config::field_names<Kind>()));
    if constexpr (kIsField) check(kind), ++mixed;
  });
  CATCH_CHECK(mixed > 0);
  CATCH_CHECK(testing::Problems::of(MqarConfig{.length = 4, .pairs = 1, .recall_share = 0.5}) ==
              "recall_share is 0.5 with sequences of 4 tokens; cyclic repetition expects at least "
              "8\n");
}

CATCH_TEST_CASE("the parts of a task share its tokens and add up to it") {
  for (const auto& config : one_of_each()) {
    CATCH_INFO(kind_of(config));
    const auto task = build_task(config);
    double shares = 0;
    for (const auto& part : task->parts()) {
      shares += part.share;
      CATCH_CHECK(part.task->vocab_size() == task->vocab_size());
      CATCH_CHECK(part.task->batch(0, Split::kTest, 0, 2).inputs.size(1) ==
                  part.task->sequence_length());
    }
    CATCH_CHECK(shares == Approx(1.0));
  }
}

CATCH_TEST_CASE("every token of every task has a name of its own") {
  for (const auto& config : one_of_each()) {
    CATCH_INFO(kind_of(config));
    const auto task = build_task(config);
    std::set<std::string> names;
    for (std::int64_t token = 0; token < task->vocab_size(); ++token) {
      names.insert(task->token_text(token));
    }
    CATCH_CHECK(static_cast<std::int64_t>(names.size()) == task->vocab_size());
    CATCH_CHECK_THROWS_AS(task->token_text(task->vocab_size()), std::out_of_range);
  }
}

CATCH_TEST_CASE("every task's defaults are valid") {
  testing::for_each_kind([](const auto& kind) {
    CATCH_INFO(kind.kKind);
    if constexpr (requires(config::Check & check) { kind.validate(check); }) {
      CATCH_CHECK(testing::Problems::of(kind) == "");
    }
  });
}

CATCH_TEST_CASE("a task whose tokens make text says its file, its text and its tokenizer") {
  int in_text = 0;
  for (auto config : one_of_each()) {
    CATCH_INFO(kind_of(config));
    const auto text = text_of(config), longer = text_of(config, 1'234);
    const auto tokenizer = read_tokenizer(config);
    CATCH_CHECK(text.has_value() == tokenizer.has_value());
    CATCH_CHECK(text.has_value() == (text_file(config) != nullptr));
    const auto task = build_task(config);
    CATCH_CHECK(text.has_value() == task->is_text());
    if (!text) continue;
    ++in_text;
    CATCH_CHECK(text->length == sequence_length(config));
    CATCH_CHECK(longer->length == 1'234);
    CATCH_CHECK(tokenizer->vocab_size() == vocab_size(config));
    const auto row = task->batch(1, Split::kTest, 0, 1).inputs;
    for (const auto token : {row[0][0].item<std::int64_t>(), row[0][-1].item<std::int64_t>()}) {
      CATCH_CHECK(task->token_text(token) == tokenizer->decode(std::vector{token}));
    }
  }
  CATCH_CHECK(in_text > 0);
}

CATCH_TEST_CASE("rows of a batch differ, and a smaller batch is the beginning of a larger one") {
  for (const auto& config : one_of_each()) {
    const auto task = build_task(config);
    for (const auto& part : task->parts()) {
      CATCH_INFO(kind_of(config) << ", " << part.name);
      const auto all = part.task->batch(5, Split::kTest, 3, 16);
      const auto few = part.task->batch(5, Split::kTest, 3, 5);
      CATCH_CHECK(all.inputs.narrow(0, 0, 5).equal(few.inputs));
      CATCH_CHECK(all.targets.narrow(0, 0, 5).equal(few.targets));
      CATCH_CHECK_FALSE(all.inputs[0].equal(all.inputs[1]));
      CATCH_CHECK_FALSE(all.inputs[0].equal(all.inputs[15]));
    }
  }
}

// Accuracies of those who do not do what the task asks for.
struct Idle {
  double copies = 0;   // what stands where it is asked
  double repeats = 0;  // the same token everywhere, the best one
  double guesses = 0;  // one of the distinct tokens shown so far
  double asked = 0;

  explicit Idle(const TaskPart& part) {
    const auto [inputs, targets, parts] = part.task->batch(5, Split::kTest, 3, 256);
    const auto where = targets.ge(0);
    asked = where.sum().item<double>();
    copies = inputs.eq(targets).sum().item<double>() / asked;
    const auto counts = at::bincount(targets.masked_select(where));
    repeats = counts.max().item<double>() / asked;
    for (std::int64_t row = 0; row < inputs.size(0); ++row) {
      const auto input = testing::row_of(inputs, row), target = testing::row_of(targets, row);
      std::set<std::int64_t> shown;
      for (std::size_t t = 0; t < input.size(); ++t) {
        shown.insert(input[t]);
        if (target[t] != kIgnore && shown.count(target[t]) > 0) {
          guesses += 1 / (static_cast<double>(shown.size()) * asked);
        }
      }
    }
  }
};

CATCH_TEST_CASE("chance is not below what idle answers reach, and answers do not stand there") {
  for (const auto& config : one_of_each()) {
    if (text_of(config)) continue;
    const auto task = build_task(config);
    for (const auto& part : task->parts()) {
      CATCH_INFO(kind_of(config) << ", " << part.name);
      const Idle idle(part);
      const double chance = part.task->chance_accuracy();
      const double noise = 0.75 / std::sqrt(idle.asked);  // 1.5 standard deviations of a coin
      CATCH_CHECK(idle.copies <= chance + 2 * noise);
      CATCH_CHECK(idle.repeats <= chance + 2 * noise);
      CATCH_CHECK(idle.guesses <= chance + noise / 2);
    }
  }
}

// Sets one whole number of a task to another value, within its limits.
struct OneOther {
  int which;
  double factor;  // negative: to the lowest value, the next …
  int seen = 0;

  template <class T>
  void operator()(std::string_view, T& member, std::string_view, config::Range range = {}) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (seen++ != which) return;
      const double wanted =
          factor < 0 ? range.low - factor - 1 : static_cast<double>(member) * factor;
      member = static_cast<std::int64_t>(std::clamp(wanted, range.low, range.high));
    } else if constexpr (config::HasFields<T>) {
      member.visit_fields(*this);
    }
  }
};

bool is_valid(const TaskConfig& config) {
  return testing::error_of([&] { config::read<TaskConfig>(config::write(config)); }) == "";
}

CATCH_TEST_CASE("shapes hold for whatever numbers are not refused") {
  int tried = 0;
  for (const auto& config : one_of_each()) {
    for (int which = 0;; ++which) {
      int numbers = 0;
      for (const double factor : {-1.0, -2.0, -3.0, 0.5, 2.0}) {
        auto other = config;
        std::visit(
            [&](auto& kind) {
              OneOther change{which, factor};
              kind.visit_fields(change);
              numbers = change.seen;
            },
            other);
        if (which >= numbers || !is_valid(other)) continue;
        CATCH_INFO(kind_of(config) << ", number " << which << ", " << factor);
        ++tried;
        const auto task = build_task(other);
        const auto [inputs, targets, parts] = task->batch(1, Split::kTest, 0, 4);
        CATCH_CHECK(sequence_length(other) == task->sequence_length());
        CATCH_CHECK(inputs.sizes() == (at::IntArrayRef{4, task->sequence_length()}));
        CATCH_CHECK(vocab_size(other) == task->vocab_size());
        CATCH_CHECK(inputs.min().item<std::int64_t>() >= 0);
        const auto most =
            std::max(inputs.max().item<std::int64_t>(), targets.max().item<std::int64_t>());
        CATCH_CHECK(most < task->vocab_size());
        CATCH_CHECK(targets.ge(0).any(1).all().item<bool>());
        CATCH_CHECK((task->chance_accuracy() > 0 && task->chance_accuracy() <= 1));
      }
      if (which >= numbers) break;
    }
  }
  CATCH_CHECK(tried > 100);
}

}  // namespace
}  // namespace difflab
