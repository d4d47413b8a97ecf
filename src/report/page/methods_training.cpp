#include <algorithm>
#include <string>

#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/page/methods_parts.h"
#include "report/settings/study.h"
#include "util/text.h"

namespace difflab::report {
namespace {

// Neither in brackets, as in N(0, 1/D), nor in a number, as in 4,000.
bool has_own_comma(const std::string& item) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < item.size(); ++i) {
    if (item[i] == '(') ++depth;
    if (item[i] == ')') --depth;
    if (item[i] == ',' && item[i + 1] == ' ' && depth == 0) return true;
  }
  return false;
}

std::string optimizer(SharedSettings& settings) {
  const std::string kind = settings.text("train.optimizer.kind");
  if (kind.empty()) return "";
  std::vector<std::string> facts;
  const auto add = [&](const char* name, const char* path) {
    if (const auto value = settings.number(path)) {
      facts.push_back(concat(name, " = ", plain_number(*value)));
    }
  };
  if (kind == "adamw") {
    add("β1", "train.beta1");
    add("β2", "train.beta2");
    add("ε", "train.adam_eps");
  }
  add("weight decay", "train.weight_decay");
  return concat(kind == "adamw"  ? "AdamW"
                : kind == "muon" ? "Muon"
                : kind == "sgd"  ? "SGD with momentum"
                                 : kind,
                facts.empty() ? "" : concat(" (", join(facts), ")"));
}

std::string schedule(SharedSettings& settings, const Study& study) {
  const bool is_tuned = study.tuned && study.tuned->key == "train.lr";
  const auto rate = is_tuned ? std::nullopt : settings.number("train.lr");
  std::string out = concat("a learning rate", rate ? " of " + plain_number(*rate) : "", " that ");
  if (const auto steps = settings.number("train.warmup_steps"); steps && *steps > 0) {
    out += concat("rises linearly in ", counted(*steps, "step", "steps"), " and then ");
  }
  const auto last = settings.number("train.final_lr_ratio");
  const auto end = last ? concat(" to ", plain_number(*last), " of it") : "";
  const std::string kind = settings.text("train.schedule");
  if (kind == "constant") return out + "is constant";
  if (kind == "cosine") return concat(out, "falls", end, " along a half cosine");
  if (kind == "linear") return concat(out, "falls", end, " linearly");
  const auto share = settings.number("train.decay_share");
  if (kind == "warmup_stable_decay" && share) {
    return concat(out, "is constant but falls", end, " in the last ", plain_number(*share * 100),
                  " % of the steps");
  }
  return out + "follows a schedule";
}

std::string stop(SharedSettings& settings) {
  const std::string name = settings.text("train.stop_at");
  const Json* events = settings.get("train.events");
  if (name.empty() || events == nullptr || !events->is_array()) return "";
  for (const Json& event : *events) {
    if (event.value("name", "") != name) continue;
    const bool is_rising = event.contains("at_least") && event["at_least"].is_number();
    const char* bound = is_rising ? "at_least" : "at_most";
    if (!event.contains(bound) || !event[bound].is_number()) return "";
    const auto every = settings.number("train.event_every");
    const auto few = settings.number("train.event_samples"),
               all = settings.number("train.eval_samples");
    return concat(" A run ends when ", metric_of(event.value("metric", "")).heading,
                  " on held-out sequences is at ", is_rising ? "least " : "most ",
                  plain_number(event[bound].get<double>()), " in ",
                  counted(event.value("in_a_row", 1), "check", "checks in a row"),
                  every ? concat(", made every ", counted(*every, "step", "steps")) : "",
                  few && all ? concat(" on ", format_number(*few, 0),
                                      " sequences of each part of the task and confirmed on ",
                                      format_number(*all, 0))
                             : "",
                  ".");
  }
  return "";
}

}  // namespace

SharedSettings::SharedSettings(const Frame& frame) {
  for (const FrameRun& run : frame.runs()) {
    if (run.has_result()) runs_.push_back(&run);
  }
}

const Json* SharedSettings::get(const std::string& path) {
  const Json* first = nullptr;
  for (const FrameRun* run : runs_) {
    const Json* one = run->config(path);
    if (run == runs_.front()) first = one;
    const bool is_same = first != nullptr && one != nullptr ? *first == *one : first == one;
    if (!is_same) return differs(path);
  }
  return first;
}

const Json* SharedSettings::differs(const std::string& path) {
  if (std::find(differing_.begin(), differing_.end(), path) == differing_.end()) {
    differing_.push_back(path);
  }
  return nullptr;
}

std::optional<double> SharedSettings::number(const std::string& path) {
  const Json* value = get(path);
  return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                : std::nullopt;
}

std::string SharedSettings::text(const std::string& path) {
  const Json* value = get(path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::string counted(double number, const std::string& one, const std::string& many) {
  return concat(format_number(number, 0), " ", number == 1 ? one : many);
}

std::string enumerated(const std::vector<std::string>& items) {
  const bool has_commas = std::any_of(items.begin(), items.end(), has_own_comma);
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_last = i + 1 == items.size();
    out += concat(i == 0 ? "" : has_commas ? "; " : is_last ? " and " : ", ", items[i]);
  }
  return out;
}

std::string training_methods(const Study& study, SharedSettings& settings) {
  std::vector<std::string> parts;
  if (const auto text = optimizer(settings); !text.empty()) parts.push_back(text);
  if (const auto size = settings.number("train.batch_size")) {
    parts.push_back(concat("batches of ", counted(*size, "sequence", "sequences")));
  }
  if (const auto clip = settings.number("train.grad_clip"); clip && *clip > 0) {
    parts.push_back(concat("gradients clipped at a norm of ", plain_number(*clip)));
  }
  parts.push_back(schedule(settings, study));
  const std::string event = stop(settings);
  const auto steps = settings.number("train.steps");
  std::string out =
      concat("Training is with ", enumerated(parts),
             steps ? concat(", for ", settings.text("train.stop_at").empty() ? "" : "at most ",
                            counted(*steps, "step", "steps"))
                   : "",
             ".");
  const std::string per = settings.text("train.loss.per");
  if (per == "target") out += " The loss is the mean over targets.";
  if (per == "sequence") out += " In the loss every sequence has the same weight.";
  if (per == "part") out += " In the loss every part of the task has the same weight.";
  const Json* stages = settings.get("stages");
  if (stages != nullptr && !stages->empty()) {
    out += concat(" Behind it the run goes on with ",
                  counted(static_cast<double>(stages->size()), "stage", "stages"),
                  " of their own settings.");
  }
  return out + event;
}

}  // namespace difflab::report
