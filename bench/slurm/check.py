#!/usr/bin/env python3
"""Sweeps on a real Slurm that is disturbed: python3 bench/slurm/check.py BUILD [--full] [--seed N].

It starts munged, slurmctld and three slurmd of its own on loopback (Debian: apt-get install
slurm-wlm munge; as root, because slurmd needs it), submits sweeps with the fake worker, and
disturbs them. The oracle of every line: the tables are the bytes of an undisturbed local sweep, no
run was executed to its end twice, and no temporary file is left. Not part of ctest or CI.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 12
EXPERIMENT = f"""# @package _global_
title: Does the sweep survive?
baseline: transformer
sweep:
  model: [transformer, diff]
  seed: range({RUNS // 2})
tables:
  - name: table
    rows: model
    columns: [parameters, needle_accuracy, valid_loss]
presets:
  default: {{}}
"""


class Site:
    """A project with fake workers, and the cluster."""

    def __init__(self, build, folder, slurm, chance):
        self.build, self.folder, self.slurm, self.chance = build, folder, slurm, chance
        project = folder / "a project"
        (project / "experiments").mkdir(parents=True)
        shutil.copytree(ROOT / "configs", project / "configs")
        (project / "experiments" / "tiny.yaml").write_text(EXPERIMENT)
        self.environment = dict(slurm.environment if slurm else os.environ, DIFFLAB_ROOT=str(project),
                                DIFFLAB_WORKER=str(build / "tests" / "fake_worker"),
                                FAKE_WORKER=str(folder / "knobs.json"))
        self.expected = None

    def difflab(self, *words, check=True):
        answer = subprocess.run([str(self.build / "difflab"), *map(str, words)], env=self.environment,
                                cwd=self.folder, text=True, capture_output=True, timeout=900)
        if check and answer.returncode != 0:
            raise RuntimeError(f"difflab {words}: {answer.returncode}\n{answer.stdout}{answer.stderr}")
        return answer


class Sweep:
    """One submitted sweep in a results folder of its own."""
    launcher = "slurm"

    def __init__(self, site, name, steps, step_ms, *options):
        self.site, self.name = site, name
        self.results = site.folder / name
        self.output = self.results / "tiny" / "default"
        self.journal = site.folder / f"{name}.journal"
        knobs = {"steps": steps, "step_ms": step_ms, "journal": str(self.journal)}
        (site.folder / "knobs.json").write_text(json.dumps(knobs))
        self.options = [f"results={self.results}", *options]

    def submit(self):
        self.site.difflab("sweep", "tiny", f"launcher={self.launcher}", *self.options)

    def status(self):
        return json.loads(self.site.difflab("status", self.output, "--json").stdout)

    def done(self):
        return all(run["state"] == "finished" for run in self.status()["runs"])

    def running(self):
        """Tasks of this sweep that execute now, as JOB_INDEX."""
        return sorted({f"{run['task']['job']}_{run['task']['index']}" for run in self.status()["runs"]
                       if run["task"] and run["task"]["state"] == "RUNNING"})

    def tables(self):
        return b"".join((self.output / f"table.{kind}").read_bytes() for kind in ("md", "csv", "tex"))

    def finish(self, resubmit=False):
        """Waits for the end and holds the results against the oracle."""
        for _ in range(10):
            answer = self.site.difflab("wait", self.output, "--every", 0.5, check=False)
            if answer.returncode == 0:
                break
            if not resubmit:
                raise AssertionError(f"{self.name}: given up\n{answer.stdout}{answer.stderr}")
            self.site.difflab("resume", self.output)
        self.site.difflab("plot", "tiny", self.options[0])
        if self.site.expected is None:
            self.site.expected = self.tables()
        assert self.tables() == self.site.expected, f"{self.name}: the tables differ"
        lines = self.journal.read_text().splitlines()
        ends = collections.Counter(line for line in lines if line.startswith("end "))
        assert all(count == 1 for count in ends.values()), f"{self.name}: executed twice: {ends}"
        assert len(list(self.results.glob("runs/*/result.json"))) == RUNS
        left = [path for path in self.results.rglob("*") if path.name.endswith((".tmp", ".writable"))]
        assert not left, f"{self.name}: {left}"
        return sum(line.startswith("start ") for line in lines)


def local(site, _dose):
    sweep = Sweep(site, "local", 5, 1)
    site.difflab("sweep", "tiny", *sweep.options, "--freeze")  # what `wait` asks for
    site.difflab("sweep", "tiny", *sweep.options)
    sweep.finish()
    return "the undisturbed local sweep: its tables are the oracle"


def undisturbed(site, _dose):
    sweep = Sweep(site, "undisturbed", 5, 1, "launcher.runs_per_task=5", "launcher.workers=2")
    sweep.submit()
    starts = sweep.finish()
    assert starts == RUNS, starts
    return f"{RUNS} runs, 5 a task"


def disturb(site, name, times, act, steps, step_ms, pause, resubmit=False, options=()):
    """Calls `act` until it has done something `times` times or the sweep is over; again with
    another sweep if that was too early."""
    done, starts, sweeps = 0, 0, 0
    while done < times:
        sweep = Sweep(site, f"{name}-{sweeps}", steps, step_ms, *options)
        sweeps += 1
        sweep.submit()
        while done < times and not sweep.done():
            time.sleep(site.chance.uniform(0, pause))
            done += act(sweep)
        starts += sweep.finish(resubmit)
    return f"{done} in {sweeps} sweeps; {sweeps * RUNS} runs, {starts} starts"


def requeues(site, dose):
    def act(sweep):
        running = sweep.running()
        if not running:
            return 0
        return site.slurm.ask("scontrol", "requeue", site.chance.choice(running)).returncode == 0
    return disturb(site, "requeue", 50 if dose else 5, act, 40, 100, 0.5)


def node_daemons(site, dose):
    def act(_sweep):
        node = site.chance.choice(cluster.NODES)
        site.slurm.kill(node)
        time.sleep(site.chance.uniform(0, 2))
        site.slurm.start_node(node)
        return 1
    return disturb(site, "slurmd", 20 if dose else 2, act, 40, 200, 2)


def nodes_down(site, dose):
    def act(sweep):
        if not sweep.running():
            return 0
        node = site.chance.choice(cluster.NODES)
        site.slurm.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test", check=True)
        time.sleep(site.chance.uniform(0, 1))
        site.slurm.resume_node(node)
        return 1
    return disturb(site, "down", 20 if dose else 2, act, 40, 200, 2)


def controllers(site, dose):
    """A slurmctld that dies within seconds of accepting a job has forgotten it: `wait` then says that
    nobody is at the runs, and `resume` submits them."""
    def act(sweep):
        site.slurm.kill("slurmctld")
        silent = site.difflab("resume", sweep.output, check=False)
        assert silent.returncode == 2 and "nothing was submitted" in silent.stderr, silent
        time.sleep(site.chance.uniform(0, 2))
        site.slurm.start_controller()
        return 1
    return disturb(site, "slurmctld", 10 if dose else 1, act, 40, 250, 2, resubmit=True)


def cancels(site, dose):
    def act(sweep):
        sweep.site.difflab("cancel", sweep.output)
        cluster.Cluster.eventually(lambda: sweep.status()["tasks_in_queue"] == 0, "the cancelled tasks")
        sweep.site.difflab("resume", sweep.output)
        return 1
    return disturb(site, "cancel", 10 if dose else 1, act, 40, 100, 2, resubmit=True)


def limits(site, wanted, steps, *options):
    """Sweeps in tasks of a minute that are warned 50 s before its end, until so many were continued."""
    seen, sweeps, starts = 0, 0, 0
    while seen < wanted:
        sweep = Sweep(site, f"limit-{sweeps}", steps, 1000, "launcher.minutes=1",
                      "launcher.signal_seconds=50", *options)
        sweeps += 1
        sweep.submit()
        starts += sweep.finish()
        said = "\n".join(path.read_text() for path in sweep.output.glob(f"{sweep.launcher}/*/task-*.txt"))
        seen += said.count("the task goes back to the queue")
    return f"{seen} in {sweeps} sweeps; {sweeps * RUNS} runs, {starts} starts"


def time_limits(site, dose):
    """Slurm looks every 30 s who is to be warned. A run takes 50 s."""
    return limits(site, 20 if dose else 3, 50)


def preemptions(site, dose):
    def act(sweep):
        before = len(sweep.running())
        script = site.folder / "urgent.sh"
        script.write_text("#!/bin/bash\nsleep 1\n")
        site.slurm.ask("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "--wait",
                       "--output=/dev/null", str(script), check=True)
        return before
    return disturb(site, "preempt", 20 if dose else 4, act, 60, 200, 2)


def refusals(site, _dose):
    for option, word in (("launcher.partition=none_such", "invalid partition"),
                         ("launcher.minutes=100000", "imelimit"),
                         ("launcher.options=['--nodelist=none_such']", "node"),
                         ("launcher.constraint=none_such", "feature"),
                         ("launcher.options=[--no-such-option]", "option")):
        sweep = Sweep(site, f"refused-{word.replace(' ', '-')}", 5, 1, option)
        answer = site.difflab("sweep", "tiny", "launcher=slurm", *sweep.options, check=False)
        if option == "launcher.minutes=100000" and answer.returncode == 0:
            site.difflab("cancel", sweep.output)  # this Slurm lets such a job wait for ever
            continue
        assert answer.returncode == 2 and word in answer.stderr.lower(), (option, answer)
        assert not list(sweep.output.glob("slurm/*")), option
    return "each told in sbatch's words, nothing left behind"


LINES = [local, undisturbed, refusals, requeues, node_daemons, nodes_down, controllers, cancels,
         preemptions, time_limits]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", nargs="*", default=[line.__name__ for line in LINES])
    arguments = parser.parse_args()
    if cluster.missing() or os.geteuid() != 0:
        print("SKIPPED: this needs root and", ", ".join(cluster.PROGRAMS),
              "- missing:", ", ".join(cluster.missing()) or "root", file=sys.stderr)
        return 77
    print(f"seed {arguments.seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="difflab-slurm-"))
    slurm = None
    try:
        slurm = cluster.Cluster(folder / "cluster")
        site = Site(arguments.build.resolve(), folder, slurm, random.Random(arguments.seed))
        for line in LINES:
            if line.__name__ not in arguments.only and line is not local:
                continue
            begin = time.monotonic()
            text = line(site, arguments.full)
            print(f"{line.__name__:<14} {text} ({time.monotonic() - begin:.0f} s)", flush=True)
    except BaseException:
        print(f"the folder {folder} is kept", file=sys.stderr)
        raise
    finally:
        if slurm:
            slurm.stop()
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
