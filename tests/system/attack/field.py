"""A project in a hostile place, and the oracle: what is outside of its results has not changed."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PLACE = "a $(touch canary) ;`touch canary`'\"&|%A\\ *#"  # every path of the project has this in it

STUDY = """# @package _global_
title: TITLE
question: TITLE
prediction: TITLE
notes: TITLE
unmatched: TITLE
baseline: transformer
labels: {model: TITLE, transformer: TITLE, valid_loss: TITLE}
sweep:
  model: [transformer, diff]
  seed: range(2)
claims:
  - {text: TITLE, paper: TITLE, metric: valid_loss, variant: diff, expect: lower}
tables:
  - {name: table, title: TITLE, rows: model, columns: [needle_accuracy, valid_loss, train.lr]}
figures:
  - {mark: interval, name: bars, title: TITLE, y: model, x: valid_loss}
presets:
  default: {}
"""
RECORDER = '#!/bin/bash\nprintf "%s\\0" "$@" >"$RECORDS/$(basename -- "$0").$$"\n'
SBATCH = RECORDER + "echo 4711\n"
# Draws nothing, but leaves the files, so that the page is the one with the drawings' specifications.
RENDERER = """#!/usr/bin/env python3
import json, os, sys
job = json.loads(sys.stdin.readline())
if job["bundle"]:
    open(job["bundle"], "w").write("/* bundle */")
for figure in job["figures"]:
    print(json.dumps({"name": figure["name"], "error": None}), flush=True)
if sys.stdin.readline() == "write\\n":
    for figure in job["figures"]:
        for kind in ("svg", "pdf", "png"):
            open(figure[kind] + ".new", "w").write("drawn")
            os.replace(figure[kind] + ".new", figure[kind])
"""


class Broken(AssertionError):
    pass


def unresolved(text):
    """With ${ escaped, so that it is text and no reference."""
    out = ""
    for at, letter in enumerate(text):
        if text.startswith("${", at):
            out += "\\" * (len(out) - len(out.rstrip("\\"))) + "\\"
        out += letter
    return out


def yaml_text(text):
    """As a double-quoted scalar: JSON is YAML, but for its pairs of surrogates. What YAML does not
    call printable is escaped."""
    quoted = json.dumps(unresolved(text), ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04x}", quoted)


def override_text(text):
    """In quotes of the override grammar: backslashes before a quote or the end are doubled."""
    out = ""
    for letter in unresolved(text):
        if letter == "'":
            out += "\\" * (len(out) - len(out.rstrip("\\"))) + "\\"
        out += letter
    return "'" + out + "\\" * (len(out) - len(out.rstrip("\\"))) + "'"


class Site:
    def __init__(self, build):
        self.build = build
        self.sandbox = pathlib.Path(tempfile.mkdtemp(prefix="difflab-attack-"))
        deep = self.sandbox.joinpath(*"abcdefgh")  # for all the ../
        self.project, self.cwd, self.outside = deep / PLACE, deep / "cwd", self.sandbox / "outside"
        self.results, self.records = self.project / "results", self.sandbox / "records"
        for folder in (self.project / "experiments", self.cwd, self.outside / "folder", self.records,
                       self.sandbox / "bin", self.sandbox / "home", self.sandbox / "tmp"):
            folder.mkdir(parents=True)
        shutil.copytree(ROOT / "configs", self.project / "configs")
        self.study("tiny", "plain")
        self.write(self.outside / "bait", "bait\n")
        self.write(self.outside / "evil.yaml", (self.project / "experiments/tiny.yaml").read_text())
        self.program("bin/sbatch", SBATCH)
        for name in ("squeue", "scancel", "scontrol", "recorder"):
            self.program(f"bin/{name}", RECORDER)
        python = self.project / ".venv/bin/python"
        python.parent.mkdir(parents=True)
        (self.project / "src/report/page").mkdir(parents=True)
        self.write(self.project / "src/report/page/render.py", "")
        self.program(python, RENDERER)
        (self.project / ".difflab").mkdir()
        self.write(self.project / ".difflab/vega-bundle.js", "/* bundle */")
        self.write(self.sandbox / "knobs.json", '{"steps": 1, "step_ms": 0}')
        self.environment = {
            "PATH": f"{self.sandbox}/bin:{os.environ['PATH']}", "HOME": str(self.sandbox / "home"),
            "TMPDIR": str(self.sandbox / "tmp"), "RECORDS": str(self.records),
            "DIFFLAB_ROOT": str(self.project), "DIFFLAB_WORKER": str(build / "tests/fake_worker"),
            "FAKE_WORKER": str(self.sandbox / "knobs.json"), "LC_ALL": "C.UTF-8"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.calls = 0
        self.refused = 0

    def write(self, path, text):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))

    def program(self, path, text):
        path = self.sandbox / path
        self.write(path, text)
        path.chmod(0o755)

    def study(self, name, text, change=lambda study: study):
        file = self.project / "experiments" / f"{name}.yaml"
        self.write(file, change(STUDY).replace("TITLE", yaml_text(text)))
        return file

    def listing(self, allowed=()):
        """Everything outside of the results: kind, size, times, inode; of a link where it points."""
        found = {}
        skipped = {str(self.results), str(self.records), *map(str, allowed)}

        def walk(folder):
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.path in skipped:
                        continue
                    info = entry.stat(follow_symlinks=False)
                    target = os.readlink(entry.path) if entry.is_symlink() else ""
                    times = () if stat.S_ISDIR(info.st_mode) else (info.st_size, info.st_mtime_ns, info.st_ctime_ns)
                    found[entry.path] = (info.st_mode, info.st_ino, target, *times)
                    if stat.S_ISDIR(info.st_mode):
                        walk(entry.path)

        walk(str(self.sandbox))
        return found

    def hashes(self):
        return {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
                for path, entry in self.listing().items() if stat.S_ISREG(entry[0])}

    def call(self, *words, allowed=(), environment=None, codes=(0, 1, 2)):
        """One call of the driver under the oracle; what it answered."""
        if any("\0" in word for word in words):
            return None  # no program can be given that
        before = self.listing(allowed)
        argv = [os.fsencode(str(self.build / "difflab"))] + [os.fsencode(word) for word in words]
        try:
            answer = subprocess.run(argv, env=dict(self.environment, **(environment or {})), cwd=self.cwd,
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            raise Broken("hangs")
        except OSError as error:
            if error.errno == 7:  # longer than an argument may be
                return None
            raise
        self.calls += 1
        self.refused += answer.returncode == 2
        said = answer.stderr.decode("utf-8", "replace")[-600:]
        if answer.returncode not in codes or "internal error" in said:
            raise Broken(f"exit code {answer.returncode}: {said}")
        if answer.returncode == 2 and not said.strip():
            raise Broken("exit code 2 without a word")
        after = self.listing(allowed)
        if after != before:
            changed = sorted(set(before.items()) ^ set(after.items()))
            raise Broken(f"changed outside of the results: {[path for path, _ in changed][:6]}")
        self.check_complete()
        return answer

    def check_complete(self):
        for path in self.results.rglob("*"):
            if path.name.endswith((".tmp", ".writable")) and not path.is_symlink():
                raise Broken(f"half-written: {path}")

    def records_of(self, program):
        """The arguments of every call of a recording program, which are forgotten by this."""
        found = []
        for file in sorted(self.records.glob(f"{program}.*")):
            found.append(file.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1])
            file.unlink()
        return found
