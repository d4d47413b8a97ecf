// What a figure's axes and panels say can be read without the experiment's file.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "referee/base/figure.h"
#include "referee/rule/rules.h"
#include "report/data/format.h"
#include "report/data/metric.h"
#include "util/text.h"

namespace difflab::referee {
namespace {

constexpr double kLetter = 5.2;   // pixels of a digit at 9 points
constexpr double kAxisRoom = 60;  // pixels of the picture beside the plot
constexpr double kHiddenEffect = 0.1;
constexpr double kUsedAxis = 0.25;

// A value that names no variable: "yes", "0.5".
bool is_bare(const std::string& title) {
  static const std::set<std::string> kWords = {"yes", "no", "true", "false", "none", "null"};
  return kWords.count(title) > 0 || report::parse_number(title).has_value();
}

void check_panels(const Reference& one, const FigureFile& figure, Objections& objections) {
  const auto titles = panel_titles(figure.spec);
  std::vector<std::string> bare;
  for (const auto& title : titles) {
    if (is_bare(title)) bare.push_back(concat("\"", title, "\""));
  }
  if (!bare.empty()) {
    objections.object(one, spec_file(figure),
                      concat("panels are titled ", join(bare), " without the variable's name"));
  }
  const auto columns = figure.spec.value("columns", std::size_t{0});
  if (columns > 1 && titles.size() > columns && titles.size() % columns == 1) {
    objections.object(
        one, spec_file(figure),
        concat("one panel of ", titles.size(), " stands alone in its row of ", columns));
  }
}

// Labels of stated ticks that run into each other, on an axis from the first to the last of them.
std::string collision(const Json& channel, double width) {
  const auto axis = channel.find("axis");
  if (axis == channel.end() || !axis->is_object() || !axis->contains("values")) return "";
  const auto scale = channel.value("scale", Json::object());
  const bool log = scale.value("type", "") == "log";
  std::vector<double> ticks;
  for (const Json& tick : axis->at("values")) {
    if (tick.is_number()) ticks.push_back(tick.get<double>());
  }
  if (ticks.size() < 2 || (log && ticks.front() <= 0)) return "";
  const auto place = [&](double tick) { return log ? std::log(tick) : tick; };
  const double length = place(ticks.back()) - place(ticks.front());
  for (std::size_t i = 0; i + 1 < ticks.size(); ++i) {
    const auto left = report::plain_number(ticks[i]), right = report::plain_number(ticks[i + 1]);
    const double apart = (place(ticks[i + 1]) - place(ticks[i])) / length * width;
    const double needed = kLetter * static_cast<double>(left.size() + right.size()) / 2;
    if (apart < needed) return concat(left, " and ", right);
  }
  return "";
}

double plot_width(const Json& spec) {
  const Json& sized = spec.contains("spec") ? spec["spec"] : spec;
  const double width =
      sized.contains("width") && sized["width"].is_number() ? sized["width"].get<double>() : 317;
  return spec.contains("autosize") ? width - kAxisRoom : width;
}

void check_ticks(const Reference& one, const FigureFile& figure, Objections& objections) {
  for (const auto& layer : layers_of(figure.spec)) {
    const Json* x = layer.channel("x");
    const auto pair = x == nullptr ? "" : collision(*x, plot_width(figure.spec));
    if (pair.empty()) continue;
    objections.object(one, spec_file(figure), concat("the tick labels ", pair, " collide"));
    return;
  }
}

// Bars that begin at zero and all end within a tenth of each other.
void check_bars(const Reference& one, const FigureFile& figure, Objections& objections) {
  const auto layers = layers_of(figure.spec);
  const bool bars = std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    return layer.mark_type() == "bar" && !layer.channel("y2");
  });
  const auto metric = measured(figure);
  if (!bars || metric.empty() || report::metric_of(metric).is_share) return;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t row = 0; row < figure.data.rows.size(); ++row) {
    const auto value = figure.data.number(row, "mean_" + metric);
    if (!value) continue;
    least = std::min(least, *value);
    most = std::max(most, *value);
  }
  if (figure.data.rows.size() < 2 || !(most > 0) || least >= most ||
      most - least >= kHiddenEffect * most) {
    return;
  }
  objections.object(
      one, spec_file(figure),
      concat("bars from zero hide differences of ",
             report::format_number(100 * (most - least) / most, 1), " % of their length"));
}

// Where the last bin with anything in it ends, on an axis that goes on.
void check_histogram(const Reference& one, const FigureFile& figure, Objections& objections) {
  const auto metric = measured(figure);
  if (!figure.data.has("bin_to") || metric.empty()) return;
  double filled = 0, end = 0, total = 0;
  for (std::size_t row = 0; row < figure.data.rows.size(); ++row) {
    const auto to = figure.data.number(row, "bin_to");
    const auto share = figure.data.number(row, "mean_" + metric);
    if (!to || !share) continue;
    end = std::max(end, *to);
    total = std::max(total, *share);
  }
  for (std::size_t row = 0; row < figure.data.rows.size(); ++row) {
    const auto share = figure.data.number(row, "mean_" + metric);
    if (share.value_or(0) < 1e-3 * total) continue;  // too low to be seen
    filled = std::max(filled, figure.data.number(row, "bin_to").value_or(0));
  }
  if (end <= 0 || filled >= kUsedAxis * end) return;
  objections.object(
      one, spec_file(figure),
      concat("the axis goes to ", report::format_number(end, 0),
             ", and nothing that can be seen lies beyond ", report::format_number(filled, 0)));
}

}  // namespace

void check_categories(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    for (const auto& layer : layers_of(figure.spec)) {
      const Json* x = layer.channel("x");
      const bool is_number = x != nullptr && x->value("type", "") == "quantitative";
      if (!is_number || !figure.data.has("bits") || layer.values == nullptr) continue;
      const auto is_zero = [](const Json& row) {
        const auto value = row.find("x");
        return value != row.end() && value->is_number() && *value == 0;
      };
      if (std::none_of(layer.values->begin(), layer.values->end(), is_zero)) continue;
      objections.object(one, spec_file(figure),
                        "what is not quantised is drawn at 0 bits; it is a category");
      break;
    }
  }
}

void check_labels(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    check_panels(one, figure, objections);
    check_ticks(one, figure, objections);
  }
}

void check_axes(const Reference& one, Objections& objections) {
  for (const auto& figure : one.figures) {
    check_bars(one, figure, objections);
    check_histogram(one, figure, objections);
  }
}

}  // namespace difflab::referee
