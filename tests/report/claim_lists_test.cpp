#include "config/value/yaml.h"
#include "report/settings/claim_config.h"
#include "support/catch.h"

namespace difflab::report {
namespace {

using config::Problems;
using config::Value;

// Each claim of the settings as "text | paper | values of where", a line each, then what is wrong.
std::string written_out(const std::string& yaml) {
  Value settings = config::parse_yaml(yaml, "x.yaml");
  Problems problems;
  expand_claims(settings, problems);
  std::string out;
  for (const Value& claim : settings.find("claims")->items()) {
    for (const char* key : {"text", "paper"}) {
      const Value* value = claim.find(key);
      if (value != nullptr && value->is_scalar()) out += value->as_string() + " | ";
    }
    if (const Value* where = claim.find("where")) {
      for (const auto& entry : where->entries()) {
        out +=
            concat(entry.key, "=", entry.value.is_scalar() ? entry.value.as_string() : "list", " ");
      }
    }
    out += "\n";
  }
  return out + problems.text();
}

std::string expanded(const std::string& claims) {
  return written_out(
      concat("labels: {llama: \"N(0, 1/D)\", yoco: √D, 4: four}\nclaims:\n", claims));
}

CATCH_TEST_CASE("the example of docs/report.md makes the two claims that it says") {
  const auto page = read_file(DIFFLAB_ROOT "/docs/report.md");
  const auto from = page.find("labels: {yoco:");
  CATCH_REQUIRE(from != page.npos);
  const std::string text = "DIFF finds needles sooner than the Transformer, embeddings ";
  CATCH_CHECK(written_out(page.substr(from, page.find("```", from) - from)) ==
              concat(text, "√D · N(0, 1/D) | init=yoco train.loss.per=target \n", text,
                     "N(0, 1/D) | init=llama train.loss.per=target \n"));
}

CATCH_TEST_CASE("a list in where makes a claim of each value, and texts name it by its label") {
  CATCH_CHECK(
      expanded("  - {text: 'sooner, {init}', where: {init: [llama, yoco, unit]}}") ==
      "sooner, N(0, 1/D) | init=llama \nsooner, √D | init=yoco \nsooner, unit | init=unit \n");
  CATCH_CHECK(expanded("  - {text: '{task.needles} of {init}', paper: 'for {init}', where: {init: "
                       "[llama, yoco], task.needles: [4, 2], a: b}}") ==
              "four of N(0, 1/D) | for N(0, 1/D) | init=llama task.needles=4 a=b \n"
              "2 of N(0, 1/D) | for N(0, 1/D) | init=llama task.needles=2 a=b \n"
              "four of √D | for √D | init=yoco task.needles=4 a=b \n"
              "2 of √D | for √D | init=yoco task.needles=2 a=b \n");
  CATCH_CHECK(
      expanded("  - {text: one, where: {init: [llama]}}\n  - {text: 'at {init}', where: "
               "{init: yoco}}\n  - {text: none}\n  - {text: '{1, 2}, { and {init', where: {}}") ==
      "one | init=llama \nat √D | init=yoco \nnone | \n{1, 2}, { and {init | \n");
}

CATCH_TEST_CASE("lists that say nothing, and names that nothing stands for, are refused") {
  const auto problem = [](const std::string& claim) {
    const auto text = expanded(claim);
    const auto at = text.find("x.yaml");
    return at == text.npos ? "" : text.substr(at);
  };
  CATCH_CHECK(
      problem("  - {text: 'at {inti}', where: {init: [llama, yoco]}}") ==
      "x.yaml:3:12: claims[0].text names {inti}, which is not an axis of its where; did you mean "
      "init?");
  CATCH_CHECK(problem("  - {text: 'at {init}, $\\frac{a}{b}$', where: {init: yoco}}") == "");
  CATCH_CHECK(
      problem("  - {text: 'at {init}', paper: '{ini}', where: {init: [yoco]}}") ==
      "x.yaml:3:32: claims[0].paper names {ini}, which is not an axis of its where; did you mean "
      "init?");
  CATCH_CHECK(problem("  - {text: same, where: {a: b, init: [llama, yoco]}}") ==
              "x.yaml:3:12: claims[0].text is the same for several values of its where; expected "
              "{init} in it, or another value");
  CATCH_CHECK(problem("  - {text: 'at {init}', where: {init: [yoco, yoco]}}") ==
              "x.yaml:3:12: claims[0].text is the same for several values of its where; expected "
              "{init} in it, or another value");
  CATCH_CHECK(problem("  - {text: none, where: {init: []}}") ==
              "x.yaml:3:5: claims[0].where holds an empty list; expected a value, or several");
  std::string many = "1";
  for (int i = 2; i <= 40; ++i) many += concat(", ", i);
  CATCH_CHECK(problem(concat("  - {text: '{a} {b}', where: {a: [", many, "], b: [", many, "]}}")) ==
              "x.yaml:3:5: claims[0].where makes more than 1,000 claims; expected fewer");
  // What is no claim at all is told by the reader.
  CATCH_CHECK(problem("  - 7\n  - {text: [a], where: b}\n  - {where: {init: [a, b]}}") == "");
}

}  // namespace
}  // namespace difflab::report
