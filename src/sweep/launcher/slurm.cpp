#include "sweep/launcher/slurm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/text.h"

namespace difflab::sweep {
namespace {

// What difflab says itself; another value would break its bookkeeping.
constexpr std::array<std::string_view, 15> kOwn = {
    "--array",    "--chdir",    "--clusters",   "--error",     "--export",
    "--input",    "--job-name", "--no-requeue", "--open-mode", "--output",
    "--parsable", "--requeue",  "--signal",     "--test-only", "--wrap"};

// sbatch takes any beginning of a long option that is not ambiguous.
bool is_own(std::string_view option) {
  const auto name = option.substr(0, option.find('='));
  return std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view own) {
    return name.size() > 3 && own.starts_with(name);
  });
}

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char character) { return character < ' ' || character == 0x7f; });
}

}  // namespace

void SlurmLauncher::validate(config::Check& check) const {
  for (const auto& [key, value] :
       {std::pair("partition", &partition), std::pair("account", &account), std::pair("qos", &qos),
        std::pair("constraint", &constraint)}) {
    if (has_control(*value)) {
      check.problem(key, "has control characters in it; expected text as for sbatch");
    }
  }
  if (signal_seconds >= 60 * minutes) {
    check.problem("signal_seconds", concat("is ", signal_seconds, "; expected less than minutes, ",
                                           minutes, " (", 60 * minutes, " seconds)"));
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = options[i];
    const std::string key = concat("options[", i, "]");
    const bool control = has_control(option);
    if (!option.starts_with("--") || option.size() < 3 || control) {
      check.problem(key, concat("is '", control ? "(control characters)" : option,
                                "'; expected a long option such as --mail-type=END"));
    } else if (is_own(option)) {
      check.problem(key,
                    concat("is '", option,
                           option.starts_with("--cl")
                               ? "'; difflab follows tasks in the queue of its own cluster alone"
                               : "', which difflab sets itself"));
    }
  }
}

}  // namespace difflab::sweep
