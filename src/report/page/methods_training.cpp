#include <string>

#include "report/data/format.h"
#include "report/data/frame.h"
#include "report/data/metric.h"
#include "report/page/methods_parts.h"
#include "report/settings/study.h"
#include "util/text.h"

namespace difflab::report {
namespace {

std::string shown_value(const Json& value) {
  if (value.is_number()) return plain_number(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// " (momentum = 0.95, …)": the optimizer's own settings, then those it shares with all others.
std::string optimizer(SharedSettings& settings) {
  const Json* own = settings.get("train.optimizer");
  if (own == nullptr || !own->is_object()) return "";
  const std::string kind = own->value("kind", "");
  std::vector<std::string> facts;
  for (const auto& [name, value] : own->items()) {
    if (name != "kind") facts.push_back(concat(name, " = ", shown_value(value)));
  }
  const auto add = [&](const char* name, const char* path) {
    if (const auto value = settings.number(path)) {
      facts.push_back(concat(name, " = ", plain_number(*value)));
    }
  };
  if (kind != "sgd") {
    add("β1", "train.beta1");
    add("β2", "train.beta2");
    add("ε", "train.adam_eps");
  }
  add("weight decay", "train.weight_decay");
  const Json* groups = settings.get("train.groups");
  const bool has_groups = groups != nullptr && !groups->empty();
  return concat(kind == "adamw"  ? "AdamW"
                : kind == "muon" ? "Muon for the matrices of the blocks and AdamW for the rest"
                : kind == "sgd"  ? "SGD with momentum"
                                 : kind,
                facts.empty() ? "" : concat(" (", join(facts), ")"),
                has_groups ? " but for groups of parameters with settings of their own" : "");
}

std::string schedule(SharedSettings& settings, const Study& study) {
  const bool is_tuned = study.tuned && study.tuned->key == "train.lr";
  const auto rate = is_tuned ? std::nullopt : settings.number("train.lr");
  std::string out = concat("a learning rate", rate ? " of " + plain_number(*rate) : "");
  if (settings.number("train.steps").value_or(0) == 1) return out;
  out += " that ";
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

// What has to come: "validation accuracy … is at least 0.9 in 2 checks in a row".
std::string condition(const Json& event) {
  const bool is_rising = event.contains("at_least") && event["at_least"].is_number();
  const char* bound = is_rising ? "at_least" : "at_most";
  if (!event.contains(bound) || !event[bound].is_number()) return "";
  return concat(metric_of(event.value("metric", "")).heading, " on held-out sequences is at ",
                is_rising ? "least " : "most ", plain_number(event[bound].get<double>()), " in ",
                counted(event.value("in_a_row", 1), "check", "checks in a row"));
}

std::string stop(SharedSettings& settings) {
  const std::string name = settings.text("train.stop_at");
  if (name.empty()) return "";
  const Json* events = settings.get("train.events");
  if (events == nullptr || !events->is_array()) {
    return concat(" A run ends at its event (", name, "), which is not the same in all runs.");
  }
  for (const Json& event : *events) {
    if (event.value("name", "") != name) continue;
    const auto what = condition(event);
    if (what.empty()) return "";
    const auto every = settings.number("train.event_every");
    const auto few = settings.number("train.event_samples");
    const auto all = settings.number("train.eval_samples");
    std::string looks;
    if (few && all) {
      looks = concat(" on ", format_number(*few, 0), " sequences of each part of the task",
                     *all > *few ? " and confirmed on " + format_number(*all, 0) : "");
    }
    return concat(" A run ends when ", what,
                  every ? concat(", made every ", counted(*every, "step", "steps")) : "", looks,
                  ".");
  }
  return "";
}

// "for at most 4,000 steps or 60 s"
std::string duration(SharedSettings& settings) {
  const auto steps = settings.number("train.steps");
  if (!steps) return "";
  const auto seconds = settings.number("train.seconds").value_or(0);
  const bool may_end = seconds > 0 || !settings.text("train.stop_at").empty();
  return concat(", for ", may_end ? "at most " : "", counted(*steps, "step", "steps"),
                seconds > 0 ? concat(" or ", plain_number(seconds), " s") : "");
}

// "1,000 steps with batches of 16 sequences of 128 tokens"
std::string stage(SharedSettings& settings) {
  const auto steps = settings.number("train.steps");
  const auto batch = settings.number("train.batch_size");
  const auto lengths = sequence_lengths(settings);
  return concat(steps ? counted(*steps, "step", "steps") : "a stage",
                batch ? concat(" with batches of ", counted(*batch, "sequence", "sequences")) : "",
                lengths.empty() ? "" : concat(" of ", lengths, " tokens"));
}

}  // namespace

std::string stage_methods(const Described& described) {
  std::vector<const Json*> lists;
  for (const FrameRun* run : described.runs) {
    const Json* stages = run->config("stages");
    if (stages == nullptr || !stages->is_array()) return "";
    lists.push_back(stages);
  }
  const auto count = lists.front()->size();
  std::vector<std::string> told;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<const Json*> configs;
    for (const Json* stages : lists) {
      if (stages->size() != count) return " Before that, runs go through stages that differ.";
      configs.push_back(&(*stages)[i]);
    }
    SharedSettings settings(std::move(configs));
    told.push_back(stage(settings));
  }
  return told.empty() ? "" : concat(" Before that come ", enumerated(told), ".");
}

std::string training_methods(const Study& study, SharedSettings& settings) {
  if (settings.number("train.steps").value_or(1) == 0) {
    return "The models are evaluated as they are; nothing is trained.";
  }
  std::vector<std::string> parts;
  if (const auto text = optimizer(settings); !text.empty()) parts.push_back(text);
  if (const auto size = settings.number("train.batch_size")) {
    parts.push_back(concat("batches of ", counted(*size, "sequence", "sequences")));
  }
  if (const auto clip = settings.number("train.grad_clip"); clip && *clip > 0) {
    parts.push_back(concat("gradients clipped at a norm of ", plain_number(*clip)));
  }
  parts.push_back(schedule(settings, study));
  std::string out = concat("Training is with ", enumerated(parts), duration(settings), ".");
  const std::string per = settings.text("train.loss.per");
  if (per == "target") out += " The loss is the mean over targets.";
  if (per == "sequence") out += " In the loss every sequence has the same weight.";
  if (per == "part") out += " In the loss every part of the task has the same weight.";
  if (!settings.text("init_from.path").empty()) out += " It begins with weights from a file.";
  return out + stop(settings);
}

}  // namespace difflab::report
