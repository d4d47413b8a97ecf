#include "record/log/time_spent.h"

#include <cmath>

#include "record/log/event_log.h"

namespace difflab {
namespace {

constexpr const char* kEvent = "time";

}  // namespace

const std::vector<TimeSpent::Part>& TimeSpent::parts() {
  static const std::vector<Part> parts{
      {"training", "training", &TimeSpent::training},
      {"events", "event checks", &TimeSpent::events},
      {"validation", "validation", &TimeSpent::validation},
      {"checkpoints", "checkpoints", &TimeSpent::checkpoints},
      {"evaluation", "evaluation", &TimeSpent::evaluation},
  };
  return parts;
}

TimeSpent& TimeSpent::operator+=(const TimeSpent& other) {
  for (const auto& part : parts()) this->*part.seconds += other.*part.seconds;
  return *this;
}

double TimeSpent::sum() const {
  double all = 0;
  for (const auto& part : parts()) all += this->*part.seconds;
  return all;
}

Json TimeSpent::json() const {
  Json json = Json::object();
  constexpr double kMicroseconds = 1e6;  // what is below is noise, and long
  for (const auto& part : parts()) {
    json[part.key] = std::round(this->*part.seconds * kMicroseconds) / kMicroseconds;
  }
  return json;
}

void note_time(const RunDirectory& run, const TimeSpent& spent) {
  if (spent.sum() > 0) note_event(run, kEvent, spent.json());
}

TimeSpent time_spent(const RunDirectory& run, std::uint64_t from) {
  TimeSpent all;
  for (const auto& event : read_events(run, from).records) {
    if (event.value("event", Json()) != kEvent) continue;
    for (const auto& part : TimeSpent::parts()) {
      const auto found = event.find(part.key);
      if (found != event.end() && found->is_number()) all.*part.seconds += found->get<double>();
    }
  }
  return all;
}

}  // namespace difflab
