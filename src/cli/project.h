#pragma once

#include <filesystem>

namespace difflab::cli {

/// The folder with configs/ and experiments/: $DIFFLAB_ROOT, else the first such folder upwards
/// from the working directory, else upwards from the program. @throws UserError if there is none.
std::filesystem::path find_project();

/// The worker program: $DIFFLAB_WORKER, else difflab-worker beside this program.
/// @throws UserError if there is none.
std::filesystem::path find_worker();

/// Makes the folder and tries to write in it. @throws UserError with the reason if that fails.
void require_writable(const std::filesystem::path& folder);

}  // namespace difflab::cli
