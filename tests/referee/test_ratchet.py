#!/usr/bin/env python3
"""ratchet.py lets nothing by: a new objection, one that is gone, a referee that fails."""
import json
import pathlib
import subprocess
import sys
import tempfile

RATCHET = pathlib.Path(__file__).with_name("ratchet.py")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        referee, known = folder / "referee", folder / "known.txt"

        def judge(objections, lines, code=1, references=("a", "b"), options=()):
            text = json.dumps({"references": list(references), "objections": [dict(zip(("experiment", "rule"), o)) for o in objections]})
            referee.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
            referee.chmod(0o755)
            known.write_text(lines)
            return subprocess.run([RATCHET, referee, "--list", known, *options], capture_output=True, text=True)

        def expect(answer, code, words):
            if answer.returncode != code or words not in answer.stdout + answer.stderr:
                sys.exit(f"expected {code} and '{words}', found {answer.returncode}: {answer.stdout}{answer.stderr}")

        expect(judge([("a", "seeds"), ("a", "seeds")], "a seeds 2\n"), 0, "1 known kinds of objection to 2")
        expect(judge([("a", "seeds"), ("a", "seeds")], "a seeds 1\n"), 1, "new: a seeds 2")
        expect(judge([("a", "seeds"), ("b", "seeds")], "a seeds 1\n"), 1, "new: b seeds 1")
        expect(judge([("a", "seeds")], "a seeds 1\nb fits 1\n"), 1, "gone, so that it is to leave known.txt: b fits 1")
        expect(judge([], "", code=0), 0, "0 known kinds")
        expect(judge([], "", code=70), 1, "the referee failed")
        expect(judge([], "", code=0, references=()), 1, "no reference")
        expect(judge([("b", "fits")], "", options=["--write"]), 0, "1 known")
        if known.read_text() != "b fits 1\n":
            sys.exit("the list was not written")


main()
