#pragma once

namespace difflab {

/// Exit codes of `difflab` and `difflab-worker`; scripts and launchers read them. Those above 63
/// are sysexits.h's, those above 125 the shell's.
enum ExitCode : int {
  kDone = 0,           ///< of a run: its result is there, finished or diverged
  kFailed = 1,         ///< something went wrong on our side; of a sweep: some runs failed
  kUserError = 2,      ///< something that the user can change
  kBug = 70,           ///< EX_SOFTWARE
  kRunStopped = 75,    ///< EX_TEMPFAIL: by a signal, with a checkpoint written
  kRunOvertaken = 76,  ///< another process took the run over while this one stood still
  kNoSuchProgram = 127,
  kInterrupted = 130,  ///< by SIGINT; the same command continues
};

}  // namespace difflab
