#include "sweep/launcher/launcher.h"

#include "util/process.h"
#include "util/text.h"

namespace difflab::sweep {

std::string JobEnd::text() const {
  switch (how) {
    case How::kExited:
      return ExitStatus{.code = code}.text();
    case How::kKilled:
      return ExitStatus{.signal = code}.text();
    case How::kLost:
    case How::kRefused:
      return reason;
  }
  return "ended";
}

}  // namespace difflab::sweep
