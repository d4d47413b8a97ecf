#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/run_directory.h"

namespace difflab::cli {

/// The folder with configs/ and experiments/: $DIFFLAB_ROOT, else the first such folder upwards
/// from the working directory, else upwards from the program. @throws UserError if there is none.
std::filesystem::path find_project();

/// The worker program: $DIFFLAB_WORKER, else difflab-worker beside this program.
/// @throws UserError if there is none.
std::filesystem::path find_worker();

/// Turns this process into the worker with these arguments; does not come back.
/// @throws UserError if there is no worker, or if the system cannot start it.
[[noreturn]] void become_worker(const std::vector<std::string>& arguments);

/// The folder of a run: a path to it, or its id, or the beginning of its id, in results/runs.
/// @throws UserError if there is none, or if more than one begins like that.
RunDirectory find_run(const std::string& run, const std::filesystem::path& results);

/// Makes the folder and tries to write in it. @throws UserError with the reason if that fails.
void require_writable(const std::filesystem::path& folder);

}  // namespace difflab::cli
