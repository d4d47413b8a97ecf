#pragma once

#include <string>
#include <vector>

namespace difflab::cli {

/// A command and its flags.
struct CommandWords {
  std::string name;
  std::vector<std::string> flags;  ///< "--json"
};

/// What the last of `words`, the command line behind the program's name, may become: commands,
/// experiments, flags, run ids, or overrides with keys, groups, their options and values. Nothing
/// if nothing is known; never an error, because a person is in the middle of typing.
std::vector<std::string> completions(const std::vector<std::string>& words,
                                     const std::vector<CommandWords>& commands);

}  // namespace difflab::cli
