#include "record/log/time_spent.h"

#include <algorithm>
#include <cmath>

#include "record/log/event_log.h"

namespace difflab {

const std::vector<TimeSpent::Part>& TimeSpent::parts() {
  static const std::vector<Part> parts{
      {"training", "training", &TimeSpent::training},
      {"events", "looks for events", &TimeSpent::events},
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

TimeSpent time_spent(const RunDirectory& run) {
  TimeSpent spent;
  const auto events = read_events(run).records;
  const auto last = std::find_if(events.rbegin(), events.rend(), [](const Json& event) {
    return event.value("event", Json()) == "finish";
  });
  if (last == events.rend()) return spent;
  const auto seconds = last->find("seconds");
  if (seconds == last->end() || !seconds->is_object()) return spent;
  for (const auto& part : TimeSpent::parts()) {
    const auto found = seconds->find(part.key);
    if (found != seconds->end() && found->is_number()) spent.*part.seconds = found->get<double>();
  }
  return spent;
}

}  // namespace difflab
