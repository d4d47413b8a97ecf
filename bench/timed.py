"""Whole commands and their seconds, for the benchmarks beside it."""

import os
import pathlib
import subprocess
import time

# What difflab-worker sets for itself (mallopt in src/worker/main.cpp), for programs that it is timed
# beside: memory of a step is kept for the next instead of given back and faulted in again.
SAME_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-2000:]}{done.stderr}")
    return done.stdout


def seconds(*command, **environment):
    begin = time.perf_counter()
    run(*command, **environment)
    return time.perf_counter() - begin
