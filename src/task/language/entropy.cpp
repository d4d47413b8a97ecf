
#include "task/language/language.h"

namespace difflab {
namespace {

double entropy_of(const std::vector<double>& probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum -= p > 0 ? p * std::log(p) : 0;
  return sum;
}

/// A clause from its second token on, the first being a word.
struct Clause {
  std::vector<double> length;   ///< [n]: probability of n tokens, "." included
  std::vector<double> entropy;  ///< [o]: entropy of token o (from 0), 0 where there is none
};

// Follows the probabilities of all states of a clause from token to token.
Clause clause_of(const LanguageConfig& config) {
  const double h = entropy_of(config.ranks());
  const auto words = static_cast<std::size_t>(config.longest);
  const auto aside_words = static_cast<std::size_t>(config.aside_words);
  struct States {
    std::vector<double> outer, closed;       // [i]: behind word i, behind ")" behind word i
    std::vector<std::vector<double>> aside;  // [i][j]: behind word j of the aside behind word i
  };
  const States none{std::vector<double>(words + 2),
                    std::vector<double>(words + 2),
                    {words + 2, std::vector<double>(aside_words + 2)}};
  Clause clause{{0, 0}, {0}};
  auto now = none;
  now.outer[1] = 1;
  for (bool goes_on = true; goes_on;) {
    auto next = none;
    double entropy = 0, ended = 0;
    goes_on = false;
    for (std::size_t i = 1; i <= words; ++i) {
      if (const double p = now.outer[i]; p > 0) {
        const double end = config.ends_behind(static_cast<std::int64_t>(i));
        const double aside = (1 - end) * config.aside, word = (1 - end) * (1 - config.aside);
        entropy += p * (entropy_of({end, aside, word}) + word * h);
        ended += p * end;
        next.aside[i][0] += p * aside;
        next.outer[i + 1] += p * word;
        goes_on = goes_on || end < 1;
      }
      if (const double p = now.closed[i]; p > 0) {
        entropy += p * h;
        next.outer[i + 1] += p;
        goes_on = true;
      }
      for (std::size_t j = 0; j <= aside_words; ++j) {
        const double p = now.aside[i][j];
        if (p == 0) continue;
        const double close = j == 0 ? 0 : config.closes_behind(static_cast<std::int64_t>(j));
        entropy += p * (entropy_of({close, 1 - close}) + (1 - close) * h);
        next.closed[i] += p * close;
        next.aside[i][j + 1] += p * (1 - close);
        goes_on = true;
      }
    }
    clause.entropy.push_back(entropy);
    clause.length.push_back(ended);
    now = std::move(next);
  }
  return clause;
}

/// State of the document where a unit begins, by tokens of its last clause, 0 for none.
struct Begins {
  std::vector<double> probability;  ///< that a unit begins there
  std::vector<double> unmentioned;  ///< that one does, and a given name has not been mentioned
};

}  // namespace

// A unit begins at s with what the units before it left: the last clause, which a copy repeats, and
// the names mentioned. Names are alike, so a mention is a name's first with the probability that a
// given one was not mentioned so far; each mention leaves it so with 1 − 1/names.
std::vector<double> token_entropies(const LanguageConfig& config) {
  const auto T = static_cast<std::size_t>(config.length);
  const auto M = static_cast<std::size_t>(config.name_words);
  const auto clause = clause_of(config);
  const auto sizes = clause.length.size();
  const double other = 1 - 1 / static_cast<double>(config.names);
  const double word_entropy = std::log(static_cast<double>(config.words));
  const double name_entropy = std::log(static_cast<double>(config.names));
  std::vector<Begins> begins(T, {std::vector<double>(sizes), std::vector<double>(sizes)});
  begins[0].probability[0] = begins[0].unmentioned[0] = 1;
  std::vector<double> entropies(T);
  const auto pass_on = [&](std::size_t to, std::size_t last, double p, double unmentioned) {
    if (to >= T) return;
    begins[to].probability[last] += p;
    begins[to].unmentioned[last] += unmentioned;
  };
  const double h = entropy_of(config.ranks());
  for (std::size_t s = 0; s < T; ++s) {
    double clauses = 0, clauses_unmentioned = 0;
    for (std::size_t last = 0; last < sizes; ++last) {
      const double p = begins[s].probability[last], u = begins[s].unmentioned[last];
      if (p == 0) continue;
      const double copy = last > 0 ? config.copy : 0, mention = config.mention;
      const double rest = 1 - copy - mention;
      entropies[s] += p * (entropy_of({copy, mention, rest}) + mention * name_entropy + rest * h);
      pass_on(s + 1 + last, last, p * copy, u * copy);
      pass_on(s + 1 + M, last, p * mention, u * mention * other);
      for (std::size_t word = s + 1; word <= s + M && word < T; ++word) {
        entropies[word] += u * mention * word_entropy;
      }
      clauses += p * rest;
      clauses_unmentioned += u * rest;
    }
    for (std::size_t token = 1; token < clause.entropy.size() && s + token < T; ++token) {
      entropies[s + token] += clauses * clause.entropy[token];
    }
    for (std::size_t size = 2; size < sizes; ++size) {
      pass_on(s + size, size, clauses * clause.length[size],
              clauses_unmentioned * clause.length[size]);
    }
  }
  return entropies;
}

}  // namespace difflab
