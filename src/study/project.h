#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/compose/library.h"
#include "record/run_directory.h"

namespace difflab::study {

/// The folder with configs/config.yaml and experiments/: $DIFFLAB_ROOT, else the first such folder
/// upwards from the working directory, else upwards from the program, or, with a project, the other
/// way round. @throws UserError if there is none.
std::filesystem::path find_checkout();

/// Where results/ and data/ lie: $DIFFLAB_PROJECT, a folder of the user's with configs/ or
/// experiments/ in it, else the checkout; where pip installed difflab, the nearest such folder from
/// the working directory upwards, else that directory. @throws UserError if it is none.
std::filesystem::path find_project();

/// Configurations and experiments: the project's, then the checkout's.
config::SearchPath search_path();

/// The names of all experiments, sorted, those of subfolders with them: "headline", "sub/mine".
std::vector<std::string> all_experiments();
/// Names of the project's experiments alone. @throws UserError if there are none.
std::vector<std::string> own_experiments();

/// " --project DIR" for a command that somebody shall type, if there is a project; "" if not.
std::string project_option();

/// Takes --project DIR or --project=DIR out of a command line and puts it into $DIFFLAB_PROJECT.
/// Words after a "--" stay. @throws UserError without a DIR, or if it is given twice.
void take_project(std::vector<std::string>& arguments);

/// The worker program: $DIFFLAB_WORKER, else difflab-worker beside this program.
/// @throws UserError if there is none.
std::filesystem::path find_worker();

/// Turns this process into the worker with these arguments; does not come back.
/// @throws UserError if there is no worker, or if the system cannot start it.
[[noreturn]] void become_worker(const std::vector<std::string>& arguments);

/// The words that a Python program begins with: the interpreter that has PyTorch.
std::vector<std::string> python();

/// The folder of a run: a path to it, or its id, or the beginning of its id, in results/runs.
/// @throws UserError if there is none, or if more than one begins like that.
RunDirectory find_run(const std::string& run, const std::filesystem::path& results);

/// Makes the folder and tries to write in it. @throws UserError with the reason if that fails.
void require_writable(const std::filesystem::path& folder);

}  // namespace difflab::study
