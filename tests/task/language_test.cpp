// The entropy of the generated language; entropy.py enumerates all documents of tiny ones.
#include "task/language/language.h"

#include <numeric>

#include "support/catch.h"
#include "task/base/task.h"

namespace difflab {
namespace {

CATCH_TEST_CASE("the beginning of a document has entropies that can be told by hand") {
  const LanguageConfig config{.length = 4,
                              .words = 10,
                              .followers = 2,
                              .alpha = 0,
                              .shortest = 1,
                              .longest = 1,
                              .copy = 0.2,
                              .mention = 0.5,
                              .names = 4,
                              .name_words = 1};
  const double h = std::log(2.0);
  const auto entropies = token_entropies(config);
  CATCH_REQUIRE(entropies.size() == 4);
  // First a name or a word; then a word of all or the end of the clause.
  CATCH_CHECK(entropies[0] == Approx(std::log(2.0) + 0.5 * std::log(4.0) + 0.5 * h));
  CATCH_CHECK(entropies[1] == Approx(0.5 * std::log(10.0)));
  // Behind a clause a copy, too.
  const double begin = -0.2 * std::log(0.2) - 0.5 * std::log(0.5) - 0.3 * std::log(0.3) +
                       0.5 * std::log(4.0) + 0.3 * h;
  CATCH_CHECK(entropies[2] == Approx(0.5 * entropies[0] + 0.5 * begin));
  // A name, of which after one mention a quarter are known: before that a name or a clause.
  CATCH_CHECK(entropies[3] ==
              Approx(0.5 * 0.5 * 0.75 * std::log(10.0) + 0.5 * 0.5 * std::log(10.0)));
  // What comes later does not change what came before.
  auto longer = config;
  longer.length = 9;
  const auto more = token_entropies(longer);
  CATCH_CHECK(*longer.build()->entropy() ==
              Approx(std::accumulate(more.begin(), more.end(), 0.0) / 9));
  CATCH_CHECK(std::equal(entropies.begin(), entropies.end(), more.begin()));
}

CATCH_TEST_CASE("a world has its own followers, and all documents of it the same") {
  const LanguageConfig here, other{.world = 1};
  CATCH_CHECK(followers_of_words(here) == followers_of_words(LanguageConfig{}));
  CATCH_CHECK(followers_of_words(here) != followers_of_words(other));
  CATCH_CHECK(followers_of_words(here).size() == 65);
  CATCH_CHECK(*here.build()->entropy() == *other.build()->entropy());
}

CATCH_TEST_CASE("the entropy of several lengths is that of all their tokens") {
  const LanguageConfig config{.length = 96, .lengths = {32, 96}};
  const double of_short = *with_length(config, 32).build()->entropy();
  const double of_long = *with_length(config, 96).build()->entropy();
  const auto task = config.build();
  CATCH_CHECK(*task->entropy() == Approx((32 * of_short + 96 * of_long) / 128));
  CATCH_CHECK(task->token_entropies().size() == 96);
}

}  // namespace
}  // namespace difflab
