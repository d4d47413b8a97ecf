#include "report/data/samples.h"

#include <algorithm>
#include <cstdint>

#include "report/data/format.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// "Diff_NanoGPT, seed 0".
std::string title_of(const FrameRun& run, const Frame& frame, const Labels& labels) {
  std::vector<std::string> parts;
  for (const std::string& axis : frame.axes()) {
    parts.push_back(axis == kSeedAxis ? concat("seed ", run.axis(axis))
                                      : labels.value(run.axis(axis)));
  }
  return join(parts);
}

constexpr const char* kUnnamed = "sample_text";

std::string sample_html(const Json& sample) {
  const std::string step =
      sample.contains("step") && sample["step"].is_number_integer()
          ? concat("<p class=\"muted\">step ", sample["step"].get<std::int64_t>(), "</p>\n")
          : "";
  return concat(step, "<pre><span class=\"muted\">",
                escape_html(sample.at("prompt").get<std::string>()), "</span>",
                escape_html(sample.at("text").get<std::string>()), "</pre>\n");
}

bool are_texts(const Json& samples) {
  const auto has_text = [](const Json& one, const char* key) {
    return one.is_object() && one.contains(key) && one[key].is_string();
  };
  return samples.is_array() && !samples.empty() &&
         std::all_of(samples.begin(), samples.end(), [&](const Json& one) {
           return has_text(one, "prompt") && has_text(one, "text") &&
                  (!one.contains("step") || one["step"].is_number_integer());
         });
}

}  // namespace

std::vector<std::pair<std::string, const Json*>> texts_in(const Json& result) {
  std::vector<std::pair<std::string, const Json*>> texts;
  if (!result.is_object() || !result.contains("evaluations")) return texts;
  for (const auto& [name, details] : result["evaluations"].items()) {
    if (!details.is_object() || !details.contains("samples")) continue;
    const Json& samples = details["samples"];
    if (are_texts(samples)) texts.emplace_back(name, &samples);
  }
  return texts;
}

std::string samples_html(const Frame& frame, const Labels& labels) {
  std::string out;
  for (const FrameRun& run : frame.runs()) {
    for (const auto& [name, samples] : texts_in(run.result)) {
      // The first one stands open, so that a reader sees what the others hold.
      out += concat("<details class=\"sample\"", out.empty() ? " open" : "", "><summary>",
                    subscripts_html(title_of(run, frame, labels)),
                    name == kUnnamed ? "" : escape_html(concat(", ", name)), "</summary>\n");
      for (const Json& sample : *samples) out += sample_html(sample);
      out += "</details>\n";
    }
  }
  return out.empty() ? "" : "<h2>What the models write</h2>\n" + out;
}

}  // namespace difflab::report
