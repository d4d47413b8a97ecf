#pragma once

#include <filesystem>
#include <string>

#include "sweep/launcher/launcher_config.h"
#include "sweep/plan/plan.h"
#include "sweep/standing.h"

namespace difflab::study {

/// Launcher that the sweep was frozen with.
sweep::LauncherConfig launcher_of(const sweep::Plan& plan);

/// Submits the runs of a frozen sweep that have no result and that nobody is at, and says what it
/// did and how to follow it. `folder` holds the plan.
/// @throws UserError if it was frozen for no batch system, or if that does not answer, or refuses.
void submit_missing(const sweep::Plan& plan, const std::filesystem::path& folder);

/// How a sweep stands, as `difflab status` shows it.
std::string standings_text(const sweep::Plan& plan, const sweep::Standings& standings,
                           const std::filesystem::path& folder);
std::string standings_json(const sweep::Plan& plan, const sweep::Standings& standings);

}  // namespace difflab::study
