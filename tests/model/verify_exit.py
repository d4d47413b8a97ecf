#!/usr/bin/env python3
"""What difflab verify ends with: 0 if all cases of a folder are met, wherever in it they lie, and 1 if one
is not, or is of a variant that nobody knows.

usage: tests/model/verify_exit.py WORKER
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

KNOWN = pathlib.Path(__file__).parent / "reference" / "v1_naive_n1.safetensors"


def unknown_case():
    """A case without tensors, of a variant that does not exist."""
    header = json.dumps({"__metadata__": {"peer": json.dumps({"variant": "v3"})}}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header


def verify(worker, folder):
    done = subprocess.run([worker, "verify", folder, "--json"], capture_output=True, text=True)
    cases = {case["case"]: case["passed"] for case in json.loads(done.stdout)}
    return done.returncode, cases


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found}, expected {expected}")


def main():
    worker = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        below = folder / "of" / "others"
        below.mkdir(parents=True)
        shutil.copy(KNOWN, below / "known.safetensors")
        check("a case that is met, two folders below", verify(worker, folder), (0, {"known": True}))
        (folder / "of" / "new.safetensors").write_bytes(unknown_case())
        check("a case of an unknown variant beside it", verify(worker, folder),
              (1, {"known": True, "new": False}))
    print("difflab verify ends as it should")


main()
