#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "sweep/launcher/batch.h"
#include "sweep/launcher/launcher_config.h"
#include "sweep/plan/plan.h"
#include "sweep/standing.h"

namespace difflab::cli {

/// What the sweep was frozen with.
sweep::LauncherConfig launcher_of(const sweep::Plan& plan);

/// Whether the sweep was frozen for a batch system.
bool is_of_batch(const sweep::Plan& plan);

/// The batch system that a sweep was frozen for. @throws UserError if it was not.
std::unique_ptr<sweep::BatchSystem> batch_of(const sweep::Plan& plan);

/// Submits the runs of a frozen sweep that have no result and that nobody is at, and says what it
/// did and how to follow it. `folder` holds the plan.
/// @throws UserError if the batch system does not answer, or refuses.
void submit_missing(const sweep::Plan& plan, const std::filesystem::path& folder);

/// How a sweep stands, as `difflab status` shows it.
std::string standings_text(const sweep::Plan& plan, const sweep::Standings& standings,
                           const std::filesystem::path& folder);
std::string standings_json(const sweep::Plan& plan, const sweep::Standings& standings);

}  // namespace difflab::cli
