"""Whole commands and their seconds, and programs that time one case at a time, for the benchmarks
beside it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

# What difflab-worker sets for itself (mallopt in src/kernel/tensor_memory.cpp), for programs that it is timed
# beside: memory of a step is kept for the next instead of given back and faulted in again.
SAME_ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
KINDS = ["Transformer", "DIFF V1", "DIFF V2"]
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


def planned_runs(program, *words, expected):
    """Whether difflab accepts a benchmark's sweep and plans as many runs; the runs. Runs nothing."""
    with tempfile.TemporaryDirectory() as results:
        told = run(program, "sweep", *words, f"results={results}", "--dry-run", "--json", DIFFLAB_ROOT=str(ROOT))
    planned = json.loads(told)
    if len(planned) != expected:
        raise SystemExit(f"{len(planned)} runs are planned, not {expected}")
    return planned


class Server:
    """A program that does one case per line it reads and answers with its seconds, and maybe more."""

    def __init__(self, *argv, **environment):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def tell(self, case):
        try:
            self.process.stdin.write(case + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has said why

    def ask(self, case):
        self.tell(case)
        return self.answer(case)

    def answer(self, case):
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.process.args[0]} ended at {case!r}")
        return [float(word) for word in answer.split()]

    def forget_peak(self):
        """From here on peak_mib counts anew: building a model, and compiling it, is not a step."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmHWM:\s+(\d+) kB$", status, re.M)[1]) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peer(threads, device="cpu", **environment):
    """The PyTorch side of training steps, asked for "SHAPE | KIND | WAY"."""
    python = ROOT / ".venv/bin/python"
    return Server(python if python.exists() else "python3", "-W", "ignore", ROOT / "bench/peer/serve.py", str(threads),
                  device, **environment)


def in_turn(sides, number):
    """The sides of round `number`: in their order, and in every other round from the last to the first."""
    return list(sides) if number % 2 == 0 else list(sides)[::-1]
