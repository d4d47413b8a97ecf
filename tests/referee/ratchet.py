#!/usr/bin/env python3
"""What the referee objects to in results/ may become less, and never more.

usage: ratchet.py DIFFLAB [--write] [--list FILE] [results=DIR]
The objections that are known stand in open_objections.txt beside this file, a line "EXPERIMENT RULE
HOW MANY" for each kind. Fails on one that is not there, on one more or less of a kind, and on a line to
which nothing corresponds any more; --write writes the file anew. When it is empty, the committed results stand.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("difflab")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", type=pathlib.Path, default=pathlib.Path(__file__).with_name("open_objections.txt"))
    options = parser.parse_args()
    said = subprocess.run([options.difflab, "referee", "--json", *options.words], capture_output=True, text=True)
    if said.returncode not in (0, 1):
        sys.exit(f"the referee failed: {said.stderr}")
    answer = json.loads(said.stdout)
    if not answer["references"]:
        sys.exit("there is no reference to judge")
    kinds = collections.Counter(f"{one['experiment']} {one['rule']}" for one in answer["objections"])
    found = {f"{kind} {count}" for kind, count in kinds.items()}
    if options.write:
        options.list.write_text("".join(f"{line}\n" for line in sorted(found)))
    known = set(options.list.read_text().split("\n")) - {""}
    for line in sorted(found - known):
        print(f"new: {line}")
    for line in sorted(known - found):
        print(f"gone, so that it is to leave {options.list.name}: {line}")
    print(f"{len(found)} known kinds of objection to {len(answer['references'])} references")
    sys.exit(1 if found != known else 0)


main()
