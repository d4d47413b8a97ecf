#!/usr/bin/env python3
"""Trained models asked by the real programs: python3 tests/system/chaos/asking.py BUILD [--full] [--seed N].

What is asked of models that are trained takes no step of training, is asked once, and survives what
a training survives. ctest gives a quick dose. Standard library and strace only.
"""
import json
import re
import shutil
import subprocess
import sys

from real_run import outcome, play, require
from real_worker import failing_calls, kills_at_calls, make_run

GRID = "{kind: needle_grid, name: far, lengths: [16, 24], depths: [0, 100], samples: 5}"
RENAMED = GRID.replace("far", "map")


def call(project, *words):
    """What a command answers with --json."""
    answer = project.call([str(project.build / "difflab"), *words, "--json"])
    require(answer.returncode == 0, f"{words}: {answer.stdout}{answer.stderr}")
    return json.loads(answer.stdout.splitlines()[-1])


def refused(project, *words):
    answer = project.call([str(project.build / "difflab"), *words])
    require(answer.returncode == 2 and answer.stderr.startswith("error: "), f"{words}: {answer}")


def experiment(project):
    results = project.folder / "asked"
    place = f"results={results}"
    refused(project, "evaluate", "tiny", place)
    require(not results.exists(), "a refused question wrote something")
    require(project.call(project.sweep(results)).returncode == 0, "the sweep failed")
    trained = {run.name: outcome(run) for run in (results / "runs").iterdir()}
    require(len(trained) == 4, f"{len(trained)} runs")

    def ask(*evaluations):
        found = call(project, "evaluate", "tiny", place, f"evaluate=[{', '.join(evaluations)}]")
        require(found["trained_steps"] == 0, f"{found['trained_steps']} steps trained")
        require(len(found["runs"]) == 4, f"{len(found['runs'])} runs asked")
        return found

    first, again, renamed = ask(GRID), ask(GRID), ask(RENAMED)
    require([found["asked"] for found in (first, again, renamed)] == [4, 0, 0],
            f"asked {first['asked']}, {again['asked']}, {renamed['asked']}")
    for before, after in zip(first["runs"], renamed["runs"]):
        require("test_loss" in before["metrics"], "what the experiment asks anyway is missing")
        require(before["metrics"]["far_grid_accuracy"] == after["metrics"]["map_grid_accuracy"],
                "another answer under another name")
    both = ask(GRID, RENAMED.replace("samples: 5", "samples: 6"))
    require(both["asked"] == 4, f"asked {both['asked']}")
    for name, before in trained.items():
        require(outcome(results / "runs" / name) == before, f"{name}: changed by being asked")
    return "16 answers to 4 models, 8 of them asked, no step trained"


def single_runs(project):
    results = project.folder / "asked"
    runs = sorted(run.name for run in (results / "runs").iterdir())
    found = call(project, "needle", *runs[:2], "--results", str(results), "--lengths", "16,20",
                 "--depths", "0:100:50", "--samples", "3")
    require(found["trained_steps"] == 0 and found["asked"] == 2, str(found)[:300])
    cells = found["runs"][0]["evaluations"]["needle_map"]["cells"]
    require([(cell["length"], cell["depth"]) for cell in cells] ==
            [(length, depth) for length in (16, 20) for depth in (0, 50, 100)], str(cells)[:300])
    folder, = (results / "needle").iterdir()
    lines = [line.split(",") for line in (folder / "needles.csv").read_text().splitlines()]
    require(lines[0] == "run needles queries step length depth n correct".split(), str(lines[0]))
    require([line[4:] for line in lines[1:7]] ==
            [[str(cell[key]) for key in lines[0][4:]] for cell in cells], str(lines)[:300])
    require({line[0][-8:] for line in lines[1:]} == {run[:8] for run in runs[:2]}, str(lines)[:300])
    place = ["--results", str(results)]
    listed = project.call([str(project.build / "difflab"), "runs", *place]).stdout.splitlines()[1:]
    homeless = [line for line in listed if not re.match(r"\w+  (asked: )?tiny/", line)]
    require(not homeless, f"runs of no experiment: {homeless}")
    require(sum("asked: tiny/" in line for line in listed) == 2, f"two were only asked: {listed}")
    for words in (["evaluate", "0" * 16, *place], ["evaluate", "tinny"],
                  ["evaluate", runs[0], *place, "seed=1"],
                  ["evaluate", runs[0], *place, "evaluate=[{kind: hallucination}]"],
                  ["needle", runs[0], *place, "--lengths", "1"],
                  ["needle", runs[0], *place, "--lengths", "x"],
                  ["needle", runs[0], *place, "--depths", "0:100:0"]):
        before = sorted(path for path in results.rglob("*"))
        refused(project, *words)
        require(sorted(path for path in results.rglob("*")) == before, f"{words} wrote something")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    call(project, "needle", *runs[:2], "--results", str(results), "--lengths", "24")
    require(len(list((results / "needle").iterdir())) == 2, "two questions in one folder")
    require(all(path.read_bytes() == was for path, was in before.items()), "an answer was overwritten")
    return f"{len(cells)} cells of 2 runs; 7 questions refused"


def named(project):
    """Seeds alone, and names that are long and not ASCII."""
    results = project.folder / "asked"
    place = f"results={results}"
    alone = ["~sweep.model", "~sweep.train.lr", "model=diff", "train.lr=1e-2", "baseline=''", "tables=[]"]
    found = call(project, "needle", "tiny", place, *alone, "--lengths", "16", "--depths", "0,100")
    require(len(found["runs"]) == 2, f"{len(found['runs'])} runs of two seeds")
    copies = [project.folder / "others" / "runs" / (letter + 60 * "é") for letter in "ab"]
    for run, copy in zip(found["runs"], copies):
        shutil.copytree(results / "runs" / run["id"], copy)
    found = call(project, "needle", *map(str, copies), "--lengths", "16", "--depths", "0,100")
    require(len(found["runs"]) == 2, str(found)[:300])
    return "2 seeds drawn, 2 folders with names of 121 bytes"


def two_drivers(project):
    results = project.folder / "asked"
    command = [str(project.build / "difflab"), "evaluate", "tiny", f"results={results}",
               "evaluate=[{kind: needle_grid, samples: 40}]"]
    drivers = [subprocess.Popen(command, env=project.environment, cwd=project.folder,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
               for _ in range(2)]
    for driver in drivers:
        errors = driver.communicate(timeout=300)[1]
        require(driver.returncode == 0, errors)
    taken = [run.joinpath("events.log").read_bytes().count(b'"take training"')
             for run in (results / "runs").iterdir()]
    require(max(taken) == 1, f"a run took its training {max(taken)} times")
    return "2 drivers, every run asked once"


def asked_run(project):
    """A run beside the one whose training it takes."""
    trained = make_run(project)
    asked = make_run(project, f"evaluate=[{{kind: heldout, samples: 16}}, {GRID}]")
    taken = json.loads((asked.path / "provenance.json").read_text())["trained_in"]
    require(taken == trained.path.name, f"trained in {taken}")
    return asked


def cases(project, dose, chance):
    found = []

    def asked():
        if not found:
            found.append(asked_run(project))
        return found[0]

    faults = [
        ("kill -9 at every system call of asking", lambda: kills_at_calls(asked(), dose)),
        ("calls of asking that fail", lambda: failing_calls(asked(), dose)),
    ]
    return [
        ("an experiment", lambda: experiment(project)),
        ("single runs", lambda: single_runs(project)),
        ("names", lambda: named(project)),
        ("two drivers at once", lambda: two_drivers(project)),
        *(faults if shutil.which("strace") else
          [("system calls", lambda: "SKIPPED: there is no strace")]),
    ]


if __name__ == "__main__":
    sys.exit(play(__doc__, cases))
