#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "record/run_directory.h"
#include "util/json.h"

namespace difflab {

/// Appends {"time", "host", "process", "event": `what`} and the details to events.log. The log is
/// for people: whatever goes wrong (no folder, a full disk) is nobody's error, and nothing is
/// decided by what it says. Several processes may append to it.
///
/// A record is
///   RS  LENGTH " " CRC " " JSON "\n"
/// where RS is the byte 0x1E, which JSON cannot contain, LENGTH the bytes of JSON and line end, CRC
/// the CRC-32C of LENGTH, JSON and line end, both as 8 lower-case hexadecimal digits. It is written
/// by one write(2) to a file opened for appending. Of a record that is torn or damaged only itself
/// is lost: the next one begins at the next RS, wherever that stands.
void note_event(const RunDirectory& run, std::string_view what,
                const Json& details = Json::object());

struct Events {
  struct Gap {
    std::uint64_t offset, bytes;
  };
  std::vector<Json> records;  ///< in the order of the file
  std::vector<Gap> gaps;      ///< stretches of the file without a whole record
};

/// Everything readable in events.log from that byte on; nothing if there is none.
Events read_events(const RunDirectory& run, std::uint64_t from = 0);

/// Bytes of events.log, 0 if there is none.
std::uint64_t length_of_events(const RunDirectory& run);

Events parse_events(std::string_view bytes);

/// Wall-clock seconds of a run's work by what they went to. Noted with the run's last event, so
/// that a sweep can say where its time went; results do not have it.
struct TimeSpent {
  double training = 0;     ///< optimiser steps, their data included
  double events = 0;       ///< checks for train.events
  double validation = 0;   ///< metrics lines
  double checkpoints = 0;  ///< written during training
  double evaluation = 0;   ///< questions to the trained model

  struct Part {
    const char* key;   ///< "events"
    const char* name;  ///< "event checks"
    double TimeSpent::*seconds;
  };
  /// The members, in this order.
  static const std::vector<Part>& parts();

  TimeSpent& operator+=(const TimeSpent& other);
  double sum() const;
  Json json() const;
};

void note_time(const RunDirectory& run, const TimeSpent& spent);

/// The sum of what was noted from that byte of the event log on (length_of_events).
TimeSpent time_spent(const RunDirectory& run, std::uint64_t from = 0);

}  // namespace difflab
