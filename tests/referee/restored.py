#!/usr/bin/env python3
"""The experiments of today plan the very runs that the committed references hold.

usage: restored.py DIFFLAB RESULTS
All references are restored into a new folder. No run may mean something else today, and a dry run of
each experiment must find all of them finished. Of references that share runs each must be reported
from its own rows.
"""
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

# Their task is to go on with Tiny Shakespeare.
READING = {"char_lm", "nanogpt"}
# Keys that came after these references, at their defaults: a report of today names them.
LATER = {("train", "recompute"): False, ("model", "attention.lambda_sign"): "free", ("model", "biases"): True,
         ("task", "needle.needle_counts"): [], ("task", "needle.query_counts"): []}
# What observations hold of studies that nobody can ask for today, in all references nothing.
EARLIER = ('"looks":[]', '"search":""')
# Kinds of evaluation that became one, and what each is of.
FORMER = {"logit_quantization": "logits", "weight_quantization": "weights", "hidden_quantization": "states"}
# Their runs are other references', too, which keep other rows of them or were made on another processor.
SHARED = ("attention_allocation", "mqar", "optimizers")
# Their grids grew for all variants, where those of today grow for the variants that need it.
GREW_FOR_ALL = {"mqar", "optimizers"}


def without_later_keys(path):
    """The text of a file of a report, as it was before the later keys came, in today's names of kinds."""
    text = path.read_text()
    for name, of in FORMER.items():
        text = re.sub(rf'"kind":"{name}",([^{{}}]*?)"bits":', rf'"kind":"quantization",\1"of":"{of}","bits":', text)
    for (part, key), default in LATER.items():
        shown = default if isinstance(default, str) else json.dumps(default)
        text = text.replace(f", {part}.{key}={shown}", "")  # in a table
        text = text.replace(f'"{key.rpartition(".")[2]}":{json.dumps(default)},', "")  # in observations
    for member in EARLIER:
        text = text.replace(f"{member},", "")
    return text


def without_values_beyond(text):
    """The text of a file of a tuned report, with grown values among the others and trials uncounted."""
    text = re.sub(r"on the validation split: ([\d., ]+?) \(beyond, where the best lay at an edge: ([\d., ]+)\)",
                  lambda m: "on the validation split: " + ", ".join(sorted(f"{m[1]}, {m[2]}".split(", "), key=float)), text)
    text = re.sub(r"\d+ of the \d+ trials of a value", "some trials of a value", text)
    text = re.sub(r'"(?:trials|with_one_seed)":\d+,?', "", text)
    if beyond := re.search(r'"beyond":\[([\d.,e-]+)\],?', text):
        text = text.replace(beyond[0], "")
        text = re.sub(r'"grid":\[([\d.,e-]+)\]',
                      lambda m: f'"grid":[{",".join(sorted(f"{m[1]},{beyond[1]}".split(","), key=float))}]', text)
    return text


def main():
    difflab, results = sys.argv[1:]
    names = {path.parent.parent.name for path in pathlib.Path(results).glob("*/reference/runs.json")}
    if len(names) < 20:
        sys.exit(f"{len(names)} references in {results}")
    with tempfile.TemporaryDirectory() as folder:
        # A run's id holds the content of the file that it reads, which a fresh clone does not have.
        text = pathlib.Path(folder, "tinyshakespeare.txt")
        text.write_bytes(lzma.decompress(pathlib.Path(__file__).with_name("tinyshakespeare.txt.xz").read_bytes()))
        said = subprocess.run([difflab, "restore", *sorted(names), f"results={results}", "--to", folder],
                              capture_output=True, text=True)
        if said.returncode or "left out" in said.stdout:
            sys.exit(f"not restored:\n{said.stdout}{said.stderr}")
        for name in sorted(names):
            planned = subprocess.run([difflab, "sweep", name, "preset=reference", "--dry-run", f"results={folder}",
                                      *([f"task.file.path={text}"] if name in READING else [])],
                                     capture_output=True, text=True)
            found = re.search(r"^(\d+) runs: (.*)$", planned.stdout, re.M)
            if planned.returncode or not found:
                sys.exit(f"{name}: {planned.stdout}{planned.stderr}")
            runs = json.loads(pathlib.Path(results, name, "reference", "runs.json").read_text())["runs"]
            kept = len({run["id"] for run in runs})  # points of equal configuration share one
            if found[0] != f"{kept} runs: {kept} finished":
                sys.exit(f"{name}: {found[0]}; expected the {kept} of its reference, finished")
        for name in SHARED:
            subprocess.run([difflab, "plot", name, "preset=reference", f"results={folder}"], check=True, capture_output=True)
            for file in ("table.md", "observations.json", "runs.json"):
                own, kept = (without_later_keys(pathlib.Path(place, name, "reference", file)) for place in (folder, results))
                if name in GREW_FOR_ALL:
                    own, kept = without_values_beyond(own), without_values_beyond(kept)
                if own != kept:
                    sys.exit(f"{name}/reference/{file} is another one when it is restored")
    print(f"{len(names)} references restored, and nothing is left to run")


main()
