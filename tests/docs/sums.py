#!/usr/bin/env python3
"""SHA256SUMS of results/: checked, or written anew.

usage: tests/docs/sums.py [--write] [FOLDER]
`cd results && sha256sum --check SHA256SUMS` checks it, too, but for files that it does not list. Exit 1 and a line for
each file that is missing, not listed, or another.
"""

import argparse
import hashlib
import pathlib
import sys

NAME = "SHA256SUMS"


def sums(folder):
    files = (file for file in folder.rglob("*") if file.is_file())
    paths = sorted(file.relative_to(folder) for file in files)
    committed = (path for path in paths if path.name != NAME and is_committed(path))
    return {path.as_posix(): hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in committed}


# Beside the references lie runs and other presets, which are of this checkout alone.
def is_committed(path):
    return len(path.parts) == 1 or path.parts[1] == "reference"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("folder", type=pathlib.Path, nargs="?",
                        default=pathlib.Path(__file__).resolve().parents[2] / "results")
    options = parser.parse_args()
    found = sums(options.folder)
    listing = options.folder / NAME
    if options.write:
        listing.write_text("".join(f"{value}  {name}\n" for name, value in found.items()))
        return
    listed = {line[66:]: line[:64] for line in listing.read_text().splitlines()}
    wrong = [name for name in sorted({*found, *listed}) if found.get(name) != listed.get(name)]
    for name in wrong:
        what = "is not there" if name not in found else "is not listed" if name not in listed else "is another file"
        print(f"{name} {what}; see tests/docs/sums.py --write")
    if wrong or not found:
        sys.exit(1)


main()
