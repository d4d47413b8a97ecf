#pragma once

namespace difflab::cli {

/// Executes a sweep of runs that do next to nothing (one step of a model of width 4) with the real
/// worker in a folder of its own, and prints what all that is not training costs: the plan, then
/// per run process, claim, files with their syncs to disk, result.
void bench_sweep(int runs, bool json);

/// Times what a person waits for before anything happens, nine rounds in turn.
void bench_startup(bool json);

}  // namespace difflab::cli
