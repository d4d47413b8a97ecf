"""claimed.py and sums.py notice what is wrong."""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLAIM = """claims:
  - {text: "A has less than {best}, {init}", metric: x, variant: a, against: best, where: {init: [one, two]}, expect: lower}
"""
TABLE = "claim,metric,variant,against,expect,where\n\"A has less than b, one\",x,a,b,lower,init=one\n"


def expect(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    reference = root / "results" / "e" / "reference"
    reference.mkdir(parents=True)
    (root / "experiments").mkdir()

    def git(*words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        return subprocess.run(["git", *identity, "-C", root, *words], check=True, capture_output=True, text=True).stdout.strip()

    def said(program, *options):
        done = subprocess.run([sys.executable, HERE / program, *options, root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def claimed(claim=CLAIM, table=TABLE, dirty=False):
        (root / "experiments" / "e.yaml").write_text(claim)
        git("add", "-A")
        git("commit", "--allow-empty", "-qm", "claims")
        run = {"metrics": {"x": 1}, "provenance": {"commit": git("rev-parse", "HEAD"), "dirty": dirty}}
        (reference / "runs.json").write_text(json.dumps({"runs": [run]}))
        (reference / "claims.csv").write_text(table)
        return said("claimed.py")

    git("init", "-q")
    expect(claimed() == (0, "1 claims, 0 were not there before their runs\n"), "what was written down passes")
    for old, new in [("less", "more"), ("variant: a", "variant: b"), ("metric: x", "metric: y"), ("lower", "higher"),
                     ("against: best", "against: c"), ("[one, two]", "[two]")]:
        code, out = claimed(CLAIM.replace(old, new))
        expect(code == 1 and "e: 'A has less than b, one' does not stand in" in out, f"{new}: {out}")
    code, out = claimed(dirty=True)
    expect(code == 1 and "changed files" in out, f"runs of changed files: {out}")
    expect(claimed(table=TABLE.split("\n")[0] + "\n")[0] == 1, "no claims are no proof")

    expect(said("sums.py", "--write") == (0, "") and said("sums.py") == (0, ""), "what is listed passes")
    claims = reference / "claims.csv"
    wrong = "e/reference/claims.csv is not what is listed"
    claims.write_text(TABLE + " ")
    expect(said("sums.py")[0] == 1 and wrong in said("sums.py")[1], "a changed file")
    claims.unlink()
    expect(said("sums.py")[0] == 1 and wrong in said("sums.py")[1], "a missing file")
    claims.write_text(TABLE.split("\n")[0] + "\n")
    (reference / "table.csv").write_text("x\n")
    expect(said("sums.py")[0] == 1 and "table.csv is not what is listed, or not listed" in said("sums.py")[1], "a new file")
