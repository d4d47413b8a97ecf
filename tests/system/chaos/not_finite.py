#!/usr/bin/env python3
"""NaN, infinity and overflow in runs of the real worker: python3 tests/system/chaos/not_finite.py BUILD [--full].

Runs start from weights so large that products overflow, or reach such a number by a learning rate that is
too high, beside runs that do not; weights that hold NaN or infinity are refused before a run starts. The
oracle: the others end as without them, bit for bit; a run whose loss,
gradient or weights are no numbers has a result that says diverged and a table that says so; one that
is called finished has only finite metrics; the call is over, with exit code 0, and the same call
again executes nothing. A constant jump of the learning rate in mid-run cannot be configured (there
is a warm-up and a cosine), so a long warm-up takes it there. Standard library only.
"""
import csv
import json
import math
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from real_run import (EXPERIMENT, SAVED, interrupted_steps, play, require, require_tidy, require_untouched,
                      without_times)

PLANTED = EXPERIMENT.replace("  seed: range(2)", "  init_from.path: ['']\n  seed: range(2)") \
                    .replace("[model, train.lr]", "[model, train.lr, init_from.path]") \
                    .replace("presets:", """figures:
  - {mark: line, name: losses, x: train.lr, y: test_loss, color: init_from.path, facet: model}
presets:""")
NOT_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
HUGE = {"1e38": 1e38, "-1e38": -1e38}
PLACES = {
    "diff": ["tok_embeddings.weight", "layers.0.attn_norm.weight", "layers.0.attn.q_proj.weight"],
    "transformer": ["tok_embeddings.weight", "norm.weight", "layers.0.ffn.down.weight"],
}
MAY_BE_NULL = {"steps_to_90_accuracy", "time_to_90_accuracy_seconds"}  # censored
# Weights are multiplied by 1 - rate * 0.1 in each step. They overflow in mid-run.
TOO_FAST = ["train.lr=50", "train.warmup_steps=59"]


class Weights:
    """A safetensors file, and copies of it with one tensor spoilt."""

    def __init__(self, path):
        self.folder, self.bytes = path.parent, path.read_bytes()
        self.data = 8 + int.from_bytes(self.bytes[:8], "little")
        self.header = json.loads(self.bytes[8:self.data])
        self.names = [name for name in self.header if name != "__metadata__"]

    def planted(self, tensor, value, everywhere, file):
        entry = self.header[tensor]
        require(entry["dtype"] == "F32", f"{tensor} is {entry['dtype']}")
        begin, end = (self.data + at for at in entry["data_offsets"])
        spoilt = bytearray(self.bytes)
        for at in range(begin, end if everywhere else begin + 4, 4):
            struct.pack_into("<f", spoilt, at, value)
        path = self.folder / file
        path.write_bytes(spoilt)
        return path


class Field:
    def __init__(self, project):
        self.project, self.folder, self.count = project, project.folder, 0
        (self.folder / "project" / "experiments" / "tiny.yaml").write_text(PLANTED)

    def call(self, *argv):
        answer = self.project.call([str(self.project.build / "difflab"), *map(str, argv)])
        require(answer.returncode == 0, f"{argv}: exit code {answer.returncode}: {answer.stdout}{answer.stderr}")
        return answer.stdout

    def sweep(self, *words):
        """The results folder of a sweep that has ended well."""
        self.count += 1
        results = self.folder / f"results-{self.count}"
        self.call(*self.project.sweep(results, *words)[1:])
        require_tidy(results, f"sweep {words}")
        return results

    def weights(self, model):
        results = self.sweep(f"model={model}", "seed=0")
        (run,) = results.glob("runs/*")
        path = self.folder / f"{model}.safetensors"
        self.call("export", run, "--to", path)
        return Weights(path)


def result_of(run):
    return json.loads((run / "result.json").read_text())


def starting_file(run):
    """The name of the file in its configuration; empty for none."""
    found = re.search(r"([^/\s'\"]*)\.safetensors", (run / "config.yaml").read_text())
    return found.group(1) if found else ""


def starts(run):
    return (run / "events.log").read_bytes().count(b'"event":"start"')


def require_finite_if_finished(run, result, what):
    """What is called finished has numbers: a null in result.json was a NaN or infinity."""
    if result["status"] == "finished":
        bad = [key for key, value in result["metrics"].items() if value is None and key not in MAY_BE_NULL]
        require(not bad, f"{what}: {run.name} is called finished, without a finite value of {', '.join(bad)}")
    else:
        require(result["status"] == "diverged", f"{what}: status {result['status']}")
        steps = [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()]
        at = result["diverged_at_step"]  # 0: the model it starts from, and no metrics
        fits = steps[-1] < at <= 60 if steps else at == 0
        require(fits, f"{what}: metrics at {steps}, {result}")


def require_table_says_so(results):
    """Each row counts its diverged runs, in the table's file and in its text."""
    (table,) = results.glob("tiny/*/table.csv")
    counted = sum(int(row["diverged"]) for row in csv.DictReader(table.read_text().splitlines()))
    runs = list(results.glob("runs/*"))
    diverged = [run for run in runs if result_of(run)["status"] == "diverged"]
    require(counted == len(diverged), f"{len(diverged)} diverged, {counted} of them in table.csv")
    text = table.with_suffix(".md").read_text()
    said = sum(int(number) for number in re.findall(r"(\d+) diverged \(step", text))
    require(said == len(diverged), f"{len(diverged)} diverged, {said} of them in table.md")
    return len(diverged), len(runs)


def require_readable(field, results, words):
    """Other readers of the results meet the nulls; the same call again executes nothing."""
    sweep = field.project.sweep(results, *words)
    for argv in (sweep[1:], ["plot", *sweep[2:]], ["runs", f"--results={results}"],
                 ["export", "csv", results], ["export", "tensorboard", results, "--to", results / "curves"]):
        field.call(*argv)
    again = [run.name for run in results.glob("runs/*") if starts(run) != 1]
    require(not again, f"executed twice: {again}")


def require_refused(field, words, tensor, file):
    """A sweep from this file ends before its first run, and says which tensor is to blame."""
    results = field.folder / "refused"
    answer = field.project.call(field.project.sweep(results, *words, f"init_from.path={file}"))
    said = f"holds NaN or infinity in {tensor};"
    require(answer.returncode == 2 and said in answer.stderr, f"{file}: {answer.returncode}: {answer.stderr}")
    require(not list(results.glob("runs/*")), f"{file}: was run")


def planted_weights(field, dose):
    """Weights with a number that is none, or so large that products overflow."""
    answers = []
    for model in dose(["diff"], ["diff", "transformer"]):
        weights = field.weights(model)
        places = dose(PLACES[model], weights.names)
        files, refused = [], 0
        words = [f"model={model}", "launcher.workers=2"]
        for place in places:
            for name, value in {**NOT_NUMBERS, **HUGE}.items():
                for everywhere in dose((True,), (False, True)):
                    file = weights.planted(place, value, everywhere,
                                           f"{place}_{name}_{'all' if everywhere else 'one'}.safetensors")
                    if name in HUGE:
                        files.append(file)
                    else:
                        require_refused(field, words, place, file)
                        refused += 1
        alone = field.sweep(*words)
        words.append("init_from.path=" + ",".join(["''", *map(str, files)]))
        together = field.sweep(*words)
        siblings = require_untouched(alone, together, "spoilt weights")
        diverged = []
        for run in together.glob("runs/*"):
            if run.name in siblings:
                continue
            result, file = result_of(run), starting_file(run)
            require_finite_if_finished(run, result, file)
            diverged.append(result["status"] == "diverged")
        require(len(siblings) == 2 and len(diverged) == 2 * len(files), "runs are missing")
        require_table_says_so(together)
        require_readable(field, together, words)
        answers.append(f"{model}: {len(places)} tensors, {refused} files with NaN or infinity refused, of "
                       f"{len(diverged)} runs with 1e38 {sum(diverged)} diverged, 2 siblings untouched")
    return "; ".join(answers)


def rates_too_high(field):
    """Losses that stop being numbers in mid-run, and at once."""
    words = ["train.warmup_steps=59", "launcher.workers=2"]
    alone = field.sweep(*words)
    words.append("train.lr=1e-2,50,1e30")
    together = field.sweep(*words)
    require_untouched(alone, together, "diverged runs")
    steps = []
    for run in together.glob("runs/*"):
        result = result_of(run)
        require_finite_if_finished(run, result, run.name)
        steps += [result["diverged_at_step"]] if result["status"] == "diverged" else []
    middle = [step for step in steps if 10 < step < 60]
    require(len(steps) == 8 and len(middle) == 4, f"diverged at steps {steps}")
    require_table_says_so(together)
    require_readable(field, together, words)
    return f"8 runs diverged, 4 of them at steps {min(middle)} to {max(middle)}, 4 siblings untouched"


def interrupted_before(field, dose, chance):
    """A run that will diverge in mid-run, interrupted on the way there: it diverges at the same step."""
    words = ["model=transformer", "seed=0", *TOO_FAST]
    frozen = field.project.frozen_run(*words)
    path, argv = field.folder / "again" / frozen.name, [str(field.project.build / "difflab-worker"), "run"]

    def ended():
        lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        return without_times([result_of(path), lines])

    def finish():
        answer = field.project.call([*argv, str(path)])
        require(answer.returncode == 0, f"{answer.stdout}{answer.stderr}")

    def undisturbed():
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(frozen, path)
        finish()

    def attempt(seconds):
        shutil.rmtree(path)
        shutil.copytree(frozen, path)
        process = subprocess.Popen([*argv, str(path)], env=field.project.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        require(code in (0, SAVED) or code < 0, f"exit code {code}")
        hit = code == SAVED and (path / "status.json").exists()
        step = json.loads((path / "status.json").read_text())["step"] if hit else None
        finish()
        require(ended() == expected, f"interrupted, it ended with {ended()}, expected {expected}")
        return step

    undisturbed()
    expected = ended()
    require(expected[0]["status"] == "diverged", f"{expected[0]}")
    steps = interrupted_steps(dose(3, 30), chance, undisturbed, attempt)
    return f"{len(steps)} resumes from steps {min(steps)} to {max(steps)}, " \
           f"all diverged at step {expected[0]['diverged_at_step']}"


def last_step(field):
    """The very last update makes the weights overflow: no later step notices."""
    words = ["train.steps=1", "train.warmup_steps=0", "train.lr=1e-2,1e10,1e30"]
    results = field.sweep(*words)
    for run in results.glob("runs/*"):
        require_finite_if_finished(run, result_of(run), "train.steps=1 with a rate too high")
    require_table_says_so(results)
    return "nothing that is no number is called finished"


def cases(project, dose, chance):
    field = Field(project)
    return [
        ("planted weights", lambda: planted_weights(field, dose)),
        ("rates that are too high", lambda: rates_too_high(field)),
        ("interrupted before it diverges", lambda: interrupted_before(field, dose, chance)),
        ("the last step", lambda: last_step(field)),
    ]


if __name__ == "__main__":
    sys.exit(play(__doc__, cases))
