"""One small run with the real worker, and what it must have led to whatever happened on the way."""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXPERIMENT = """# @package _global_
title: Does the sweep survive?
defaults:
  - override /task: needle_recall
baseline: transformer
model: {d_model: 16, layers: 1, attention: {heads: 1}}
train: {steps: 60, batch_size: 4, warmup_steps: 5, eval_every: 10, eval_samples: 8, checkpoint_steps: 20}
evaluate:
  - {kind: heldout, samples: 16}
sweep:
  model: [transformer, diff]
  train.lr: [1e-2]
  seed: range(2)
unmatched: these models are only here to be interrupted
tables:
  - {name: table, rows: [model, train.lr], columns: [needle_accuracy, test_loss, steps_to_90_accuracy]}
presets:
  default: {}
"""
# What is different in every execution.
TIMES = re.compile(r"(_seconds|_per_second)$")
SAVED = 75  # exit code


class Broken(AssertionError):
    pass


def require(holds, what):
    if not holds:
        raise Broken(what)


class Project:
    """A project with one experiment, and the programs of a build."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        project = folder / "project"
        (project / "experiments").mkdir(parents=True)
        shutil.copytree(ROOT / "configs", project / "configs")
        (project / "experiments" / "tiny.yaml").write_text(EXPERIMENT)
        # As the driver has it for its workers.
        self.environment = dict(os.environ, GOMP_SPINCOUNT="3000", DIFFLAB_ROOT=str(project), DIFFLAB_LEASE_SECONDS="3",
                                DIFFLAB_WORKER=str(build / "difflab-worker"))

    def sweep(self, results, *words):
        return [str(self.build / "difflab"), "sweep", "tiny", f"results={results}", *words]

    def call(self, argv, timeout=300):
        return subprocess.run(argv, env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, timeout=timeout)

    def frozen_run(self, *words):
        """The folder of one run with nothing but its configuration in it."""
        results = self.folder / "frozen"
        answer = self.call(self.sweep(results, "--freeze", *words))
        require(answer.returncode == 0, answer.stdout + answer.stderr)
        (plan,) = [json.loads(file.read_text()) for file in results.glob("tiny/*/plan.json")]
        shutil.rmtree(results)
        require(len(plan["runs"]) == 1, f"{len(plan['runs'])} runs are planned")
        run = self.folder / "bare" / plan["runs"][0]["id"]
        run.mkdir(parents=True)
        (run / "config.yaml").write_text(json.dumps(plan["runs"][0]["config"]))  # JSON is YAML
        return run


class Run:
    """A run that can be begun anew, executed under a tracer, and held against the undisturbed one."""

    def __init__(self, project, frozen, words):
        self.project, self.frozen, self.words = project, frozen, words
        self.path = self.results() / "runs" / frozen.name
        self.argv = [str(project.build / "difflab-worker"), "run", str(self.path)]
        self.undisturbed()
        self.expected = self.outcome()

    def results(self):
        return self.project.folder / "work"

    def touched(self):
        """The folder that holds all files of the run."""
        return self.path

    def outcome(self):
        return outcome(self.path)

    def anew(self):
        shutil.rmtree(self.touched(), ignore_errors=True)
        shutil.copytree(self.frozen, self.path)

    def execute(self, *before):
        return self.project.call([*before, *self.argv])

    def start(self):
        return subprocess.Popen(self.argv, env=self.project.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def finish(self):
        answer = self.execute()
        require(answer.returncode == 0, f"exit code {answer.returncode}\n{answer.stdout}{answer.stderr}")

    def undisturbed(self):
        self.anew()
        self.finish()

    def published(self):
        return (self.path / "result.json").exists()

    def began(self):
        return (self.path / "status.json").exists()

    def step(self):
        return json.loads((self.path / "status.json").read_text())["step"]

    def settle(self):
        """A sweep over the run, which finds it complete: it removes what a killed process left."""
        answer = self.project.call(self.project.sweep(self.path.parents[1], *self.words))
        require(answer.returncode == 0, answer.stdout + answer.stderr)

    def check(self, what):
        require(self.outcome() == self.expected, f"{what}: another result, metrics or checkpoint")
        require_tidy(self.touched(), what)


class StagedRun(Run):
    """A run whose first stage is a run beside it, and that keeps checkpoints."""

    def results(self):
        return self.project.folder / "staged"

    def touched(self):
        return self.path.parent

    def outcome(self):
        runs = sorted(self.path.parent.iterdir())
        require(len(runs) == 2, f"{len(runs)} runs for two stages")
        kept = sorted((self.path / "checkpoints").iterdir())
        require(len(kept) == 3, f"{len(kept)} kept checkpoints")
        return [outcome(run) for run in runs], [(file.name, halves(file)[1]) for file in kept]


def halves(file):
    """The header of a safetensors file, which holds times, and the bytes of its tensors."""
    content = file.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def require_tidy(folder, what):
    left = [path for path in folder.rglob("*") if path.name.endswith((".tmp", ".writable"))]
    require(not left, f"{what}: left behind {left}")


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if not TIMES.search(key)}
    if isinstance(value, list):
        return [without_times(entry) for entry in value]
    return value


def outcome(path):
    """Everything of a run that must not depend on how often it was interrupted, or when."""
    result = json.loads((path / "result.json").read_text())
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    header, tensors = halves(path / "checkpoint.safetensors")
    progress = json.loads(header.pop("__metadata__")["progress"])
    progress.pop("metrics_length")  # lines with times in them differ in length
    return without_times([result, lines, header, progress]), tensors


def interrupted_steps(wanted, chance, undisturbed, attempt):
    """The steps at which `wanted` runs were interrupted, each at a random instant.

    undisturbed() executes a whole run; attempt(seconds) interrupts one that much after its start and
    returns the step, or None where the instant fell before the handlers or behind the end. How long a
    run takes is measured again after each such miss: on a fresh machine the first one loads its
    libraries from the disk and takes many times as long as the next.
    """
    def seconds():
        begin = time.monotonic()
        undisturbed()
        return time.monotonic() - begin

    steps, misses, took = [], 0, seconds()
    while len(steps) < wanted:
        step = attempt(chance.uniform(0.3, 1.1) * took)
        if step is not None:
            steps.append(step)
            continue
        misses += 1
        require(misses < 20 * (wanted + 2), f"{misses} interruptions missed runs of {took:.2f} s, {len(steps)} hit")
        took = seconds()
    return steps


def require_untouched(alone, together, what):
    """The runs of one results folder are the same in another that has more; their names."""
    names = {run.name for run in alone.glob("runs/*")}
    for name in names:
        same = outcome(together / "runs" / name) == outcome(alone / "runs" / name)
        require(same, f"{name}: another result beside {what}")
    return names


def play(description, cases_of):
    """The program of a fault script: its options, its cases one after the other, a line for each.
    cases_of(project, dose, chance) gives names and functions; dose(quick, full) chooses. Returns
    the exit code."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", help="a part of a case's name")
    parser.add_argument("--but", help="a part of the names of cases to leave out")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)

    def dose(quick, full):
        return full if options.full else quick

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Project(options.build.resolve(), pathlib.Path(folder).resolve())
        for name, case in cases_of(project, dose, random.Random(options.seed)):
            if options.only and options.only not in name or options.but and options.but in name:
                continue
            start = time.monotonic()
            try:
                text = case()
            except (Broken, subprocess.TimeoutExpired) as error:
                failures += 1
                text = f"FAILED: {error}"
            print(f"{name}: {text} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if failures else 0
