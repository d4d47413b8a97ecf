#!/usr/bin/env python3
"""200 hostile names and paths, 500 hostile texts, through every way into difflab.

    python3 tests/system/attack/check.py BUILD [--full] [--only CHANNEL...]

The ways in are in channels.py. The driver runs with a fake worker and a fake Slurm in a sandbox.
The oracle of every call (field.py): a listing of everything outside of the results is the same
before and after, so no canary was left anywhere; the exit code is 0, 1 or 2, with a reason if it is
2; nothing is half-written. Reports are read by outputs.py. ctest gives each payload one channel and
plants every third link; with DIFFLAB_TESTS=all, as in CI, two channels and all links (--full: all).
Worth knowing: links to folders in the results are followed, people put results on other disks;
links in place of files are not written through.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import payloads  # noqa: E402
from channels import CHANNELS  # noqa: E402
from field import Site  # noqa: E402


MORE = os.environ.get("DIFFLAB_TESTS") == "all" or "--full" in sys.argv


def bash_completion(site, texts):
    """Tab behind every text, in one bash."""
    script = site.call("completion", "bash", codes=(0,)).stdout.decode()
    lines = "\n".join(f"COMP_LINE={quoted}; COMP_POINT=${{#COMP_LINE}}; _difflab 2>/dev/null"
                      for quoted in (bash_quoted(f"difflab sweep tiny {text}") for text in texts if "\0" not in text))
    before = site.listing()
    answer = subprocess.run(["bash", "-c", f"{script}\ncompopt() {{ :; }}\n{lines}\necho end"], cwd=site.cwd,
                            env=site.environment, capture_output=True, timeout=600)
    assert answer.stdout.endswith(b"end\n"), answer.stderr[-300:]
    assert site.listing() == before, "completion did something"


def bash_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def planted_links(site):
    """Links in the results in place of every file that is written there."""
    names = sorted(str(path.relative_to(site.results)) for path in site.results.rglob("*") if path.is_file())
    names += ["tiny/default/plan.json", "tiny/default/.plan.json.1.0.tmp"]
    names += [name.replace("log.txt", other) for name in names if name.endswith("log.txt")
              for other in (".status.json.tmp", ".checkpoint.tmp")]
    links = 0
    for turn, target in enumerate((site.outside / "bait", site.outside / "new", None)):
        for name in names:
            if name.startswith("runs/") and name.split("/")[1] != names_of_runs(site)[0]:
                continue
            for wipe in (False, True):  # with the finished run, and with one that must begin anew
                turn += 1
                if not MORE and turn % 3:
                    continue
                path = site.results / name
                run = path.parent if name.startswith("runs/") else None
                if wipe and run and "claims" not in name:
                    shutil.rmtree(run)
                    run.mkdir()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.symlink_to(target if target else path)
                for words in (["sweep", "tiny"], ["plot", "tiny"], ["sweep", "tiny", "--freeze"],
                              ["runs"], ["report", "--all"]):
                    site.call(*words)
                links += 1
                if path.is_symlink():
                    path.unlink()
                if run:
                    shutil.rmtree(run if run.name != "claims" else run.parent)
                    site.call("sweep", "tiny", codes=(0,))
    return links


def names_of_runs(site):
    return sorted(path.name for path in (site.results / "runs").iterdir())


def strange_projects(site):
    """A project whose own place cannot be told to a worker is refused."""
    for place in ("new\nline", "no\udcffutf8", "es\x1bcape"):
        other = pathlib.Path(os.fsdecode(os.fsencode(str(site.project.parent)) + b"/" + os.fsencode(place)))
        for folder in ("configs", "experiments"):
            shutil.copytree(site.project / folder, other / folder)
        before = site.listing()
        answer = site.call("sweep", "tiny", environment={"DIFFLAB_ROOT": str(other)}, codes=(2,))
        assert b"control characters" in answer.stderr, answer.stderr
        assert site.listing() == before
        shutil.rmtree(other)


def plans_of_others(site):
    """A plan.json that names run folders outside of the results."""
    site.call("sweep", "tiny", "--freeze", codes=(0,))
    file = site.results / "tiny/default/plan.json"
    plan = file.read_text()
    depth = os.path.relpath(site.outside, file.parent)
    for place in (str(site.outside), depth, f"{depth}/runs/x", f"{depth}/folder", "../../runs/../../../x", "..", ""):
        changed = json.loads(plan)
        for run in changed["runs"]:
            run["directory"] = place
        file.write_text(json.dumps(changed))
        for command in ("work", "status", "logs", "wait", "resume"):
            site.call(command, str(file.parent), codes=(2,))
    file.write_text(plan)


def without_rights(build, action):
    """The exit code of action(), which for root happens in a process of a user without rights and in
    a folder of that user's."""
    if os.geteuid() != 0:
        return action()
    nobody = 65534
    folder = tempfile.mkdtemp(prefix="difflab-attack-")
    os.chown(folder, nobody, nobody)
    child = os.fork()
    if child == 0:
        tempfile.tempdir = folder
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)
        reached = os.access(build / "difflab", os.X_OK) and os.access(folder, os.W_OK)
        if not reached:
            print("SKIPPED: hostile names: no user without rights can run the programs")
        code = action() if reached else 77
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (0, 77):
        shutil.rmtree(folder)
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="*", default=None, help="channels, or what follows them")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    return without_rights(build, lambda: attack(build, arguments))


def attack(build, arguments):
    site = Site(build)
    channels = [c for c in CHANNELS if arguments.only is None or c.__name__ in arguments.only]
    paths, shells = payloads.paths(str(site.outside)), payloads.shells(str(site.outside))
    failures, attacks = [], 0

    def attempt(name, text, action):
        try:
            return action()
        except (AssertionError, OSError, UnicodeError, ValueError, subprocess.SubprocessError) as error:
            failures.append((name, text, error))
            print(f"FAILED {name}: {text[:120]!r}\n  {type(error).__name__}: {str(error)[:400]}", flush=True)
        return None

    site.call("sweep", "tiny", codes=(0,))
    hashes = site.hashes()
    begin = time.monotonic()
    places = (0, len(CHANNELS) // 2) if MORE else (0,)
    for function in channels:
        started, before = time.monotonic(), site.calls
        own = CHANNELS.index(function)
        mine = [text for at, text in enumerate(paths + shells)
                if arguments.full or (at + own) % len(CHANNELS) in places]
        for text in mine:
            attempt(function.__name__, text, lambda: function(site, text))
        attacks += len(mine)
        print(f"{function.__name__:<28} {len(mine):>4} payloads {site.calls - before:>6} calls "
              f"({time.monotonic() - started:.0f} s)", flush=True)
    others = {"bash_completion": lambda: bash_completion(site, paths + shells if arguments.full else shells[::7]),
              "planted_links": lambda: print("links", planted_links(site)),
              "strange_projects": lambda: strange_projects(site),
              "plans_of_others": lambda: plans_of_others(site)}
    for name, action in others.items():
        if arguments.only is None or name in arguments.only:
            attempt(name, "", action)
    site.study("hostile", "plain")
    (site.project / "experiments/hostile.yaml").unlink(missing_ok=True)
    if site.hashes() != hashes:
        failures.append(("hashes", "", "files outside of the results have changed"))
    print(f"{len(paths)} paths, {len(shells)} texts, {attacks} attacks, {site.calls} calls, "
          f"{site.refused} refused, {len(failures)} failures ({time.monotonic() - begin:.0f} s)")
    if failures:
        print(f"the sandbox {site.sandbox} is kept", file=sys.stderr)
        return 1
    shutil.rmtree(site.sandbox)
    return 0


if __name__ == "__main__":
    sys.exit(main())
