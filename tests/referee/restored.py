#!/usr/bin/env python3
"""The experiments of today plan the very runs that the committed references hold.

usage: restored.py DIFFLAB RESULTS
All references are restored into a new folder. No run may mean something else today, and a dry run of
each experiment must find all of them finished.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# References of an older version, which are objected to (recomputable).
OLDER = {"char_lm", "needle_text"}


def main():
    difflab, results = sys.argv[1:]
    names = {path.parent.parent.name for path in pathlib.Path(results).glob("*/reference/runs.json")} - OLDER
    if len(names) < 20:
        sys.exit(f"{len(names)} references in {results}")
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([difflab, "restore", *sorted(names), f"results={results}", "--to", folder],
                              capture_output=True, text=True)
        if said.returncode or "left out" in said.stdout:
            sys.exit(f"not restored:\n{said.stdout}{said.stderr}")
        for name in sorted(names):
            planned = subprocess.run([difflab, "sweep", name, "preset=reference", "--dry-run", f"results={folder}"],
                                     capture_output=True, text=True)
            found = re.search(r"^(\d+) runs: (.*)$", planned.stdout, re.M)
            if planned.returncode or not found:
                sys.exit(f"{name}: {planned.stdout}{planned.stderr}")
            kept = len(json.loads(pathlib.Path(results, name, "reference", "runs.json").read_text())["runs"])
            if found[0] != f"{kept} runs: {kept} finished":
                sys.exit(f"{name}: {found[0]}; expected the {kept} of its reference, finished")
    print(f"{len(names)} references restored, and nothing is left to run")


main()
