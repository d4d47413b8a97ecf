#!/usr/bin/env python3
"""SHA256SUMS of results/: checked, or with --write written anew.

usage: tests/docs/sums.py [--write] [ROOT]
`cd results && sha256sum --check SHA256SUMS` checks it, too, but for files that it does not list. Exit 1 and a line for
each file that is missing, not listed, or another.
"""

import hashlib
import pathlib
import sys

ROOTS = [pathlib.Path(word) for word in sys.argv[1:] if word != "--write"]
RESULTS = [*ROOTS, pathlib.Path(__file__).resolve().parents[2]][0] / "results"
LIST = RESULTS / "SHA256SUMS"
# Beside the references lie runs and other presets, which are of this checkout alone.
files = [*RESULTS.glob("*"), *RESULTS.glob("*/reference/**/*")]
found = {file.relative_to(RESULTS).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
         for file in sorted(files) if file.is_file() and file != LIST}
if "--write" in sys.argv:
    LIST.write_text("".join(f"{value}  {name}\n" for name, value in found.items()))
listed = {line[66:]: line[:64] for line in LIST.read_text().splitlines()}
wrong = [name for name in sorted({*found, *listed}) if found.get(name) != listed.get(name)]
for name in wrong:
    print(f"{name} is not what is listed, or not listed; see tests/docs/sums.py --write")
sys.exit(1 if wrong or not found else 0)
