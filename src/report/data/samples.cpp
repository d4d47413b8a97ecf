#include "report/data/samples.h"

#include <vector>

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

const Json* samples_of(const FrameRun& run) {
  const Json::json_pointer place("/evaluations/sample_text/samples");
  return run.result.contains(place) ? &run.result[place] : nullptr;
}

}  // namespace

std::string samples_html(const Frame& frame, const Labels& labels) {
  std::string out;
  for (const FrameRun& run : frame.runs()) {
    const Json* samples = samples_of(run);
    if (samples == nullptr) continue;
    // The first one stands open, so that a reader sees what the others hold.
    out += concat("<details class=\"sample\"", out.empty() ? " open" : "", "><summary>",
                  subscripts_html(title_of(run, frame, labels)), "</summary>\n");
    for (const Json& sample : *samples) {
      out +=
          concat("<pre><span class=\"muted\">", escape_html(sample.at("prompt").get<std::string>()),
                 "</span>", escape_html(sample.at("text").get<std::string>()), "</pre>\n");
    }
    out += "</details>\n";
  }
  return out.empty() ? "" : "<h2>What the models write</h2>\n" + out;
}

}  // namespace difflab::report
