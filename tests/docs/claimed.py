#!/usr/bin/env python3
"""Claims of the references were written down before the runs that judge them.

usage: tests/docs/claimed.py [ROOT]
The commit that a reference's runs come from must hold each of its claims in experiments/NAME.yaml: its words, with {AXIS}
for a value, and behind them its metric, variant, opponent, expectation and values. A run from changed files (dirty) proves nothing. Exit 1 and
a line for each claim that is not there; 77 without the history that could tell.
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
CLAIM = re.compile(r"""\btext: +(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\n]*?)(?=, +\w+:|\n))""")
PLACE = re.compile(r"\\\{[\w.\\]+?\\\}")


def git(*words):
    return subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, *words], capture_output=True, text=True)


def written(text):
    """Patterns of the claims in an experiment file, each with what stands behind it up to the next."""
    found = list(CLAIM.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    for one, end in zip(found, ends):
        words = re.escape(next(part for part in one.groups() if part is not None).strip())
        yield re.compile(PLACE.sub(".+", words)), text[one.end():end]


def says(rest, claim):
    for key, default in (("metric", None), ("variant", None), ("expect", "higher")):
        value = re.search(rf"\b{key}: +([^,}}\s]+)", rest)
        if (value.group(1) if value else default) != claim[key]:
            return False
    against = re.search(r"\bagainst: +([^,}\s]+)", rest)
    values = [part.split("=", 1)[1] for part in claim["where"].split()]
    return (not against or against.group(1) in ("best", claim["against"])) and \
        all(re.search(rf"(?<![\w.]){re.escape(value)}(?![\w.])", rest) for value in values)


def main():
    wrong, counted = [], 0
    for table in sorted(ROOT.glob("results/*/reference/claims.csv")):
        name = table.parents[1].name
        sources = {(run["provenance"]["commit"], run["provenance"]["dirty"])
                   for run in json.loads((table.parent / "runs.json").read_text())["runs"] if run.get("metrics")}
        for commit, dirty in sorted(sources, key=str):
            held = git("show", f"{commit}:experiments/{name}.yaml")
            if dirty or held.returncode != 0:
                if git("rev-parse", "--is-shallow-repository").stdout != "false\n":
                    print("SKIPPED: no history")
                    sys.exit(77)
                wrong.append(f"{name}: runs of {commit}, {'changed files' if dirty else held.stderr.strip()}")
                continue
            claims = list(written(held.stdout))
            for claim in csv.DictReader(table.read_text().splitlines()):
                counted += 1
                if not any(words.fullmatch(claim["claim"]) and says(rest, claim) for words, rest in claims):
                    wrong.append(f"{name}: '{claim['claim']}' does not stand in {commit[:12]}, which its runs come from")
    print("\n".join(wrong + [f"{counted} claims, {len(wrong)} were not there before their runs"]))
    sys.exit(1 if wrong or counted == 0 else 0)


main()
