#!/usr/bin/env python3
"""200 hostile names and paths, 500 hostile texts, through every way into difflab.

    python3 tests/system/attack/check.py BUILD [--full] [--only CHANNEL...]

The driver runs with a fake worker and a fake Slurm in a sandbox. The oracle of every call
(field.py): a listing of everything outside of the results is the same before and after, so no
canary was left anywhere; the exit code is 0, 1 or 2, with a reason if it is 2; nothing is
half-written. Reports are read by outputs.py. ctest gives each payload two channels (--full: all).
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
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import outputs  # noqa: E402
import payloads  # noqa: E402
from field import Broken, Site, override_text, yaml_text  # noqa: E402

CHANNELS = []


def channel(function):
    CHANNELS.append(function)
    return function


def is_file_name(text):
    return text not in ("", ".", "..") and "/" not in text and "\0" not in text and \
        len(text.encode("utf-8", "surrogatepass")) <= 240


def check_report(site, folder, title=None):
    read = lambda name: (folder / name).read_bytes().decode()  # noqa: E731
    outputs.check_html(read("report.html"), "/* bundle */", folder.parent.name if title == "" else title)
    outputs.check_tex(read("table.tex"))
    outputs.check_markdown(read("table.md"))
    outputs.check_csv(read("table.csv"))
    outputs.check_csv(read("figures/bars.csv"))
    for name in ("summary.json", "runs.json"):
        json.loads(read(name))
    if title is not None:
        assert json.loads(read("summary.json"))["title"] == title


@channel
def texts_of_a_study(site, text):
    """Title, question, labels, claims … of an experiment, into every file of its report."""
    if not text:
        return  # a claim must say something
    site.study("hostile", text)
    site.call("sweep", "hostile", codes=(0,))
    check_report(site, site.results / "hostile/default", text)
    shutil.rmtree(site.results / "hostile")


@channel
def experiment_files(site, text):
    """A file of experiments/ with this name: a folder of results, a job's name, a gallery entry."""
    if not is_file_name(text):
        return
    file = site.project / "experiments" / f"{text}.yaml"
    shutil.copy(site.project / "experiments/tiny.yaml", file)
    answer = site.call("sweep", "--", text) if not text.startswith("--") else None
    if answer and answer.returncode == 0:
        check_report(site, site.results / text / "default")
    site.call("list", "experiments", codes=(0,))
    site.call("report", "--all", codes=(0,))
    outputs.check_html((site.results / "index.html").read_bytes().decode())
    outputs.check_markdown((site.results / "README.md").read_bytes().decode())
    for line in site.call("complete", "--", "sweep", "", codes=(0,)).stdout.decode().split("\n"):
        assert not set(line) & set("$`;|&<>()'\"\\*?[]{}!# \t\r\x1b"), f"Tab would offer {line!r}"
    file.unlink()
    if is_file_name(text):
        shutil.rmtree(site.results / text, ignore_errors=True)


@channel
def experiment_arguments(site, text):
    for command in ("sweep", "plot", "report", "config", "show", "params"):
        site.call(command, text)
    site.call("sweep", f"tiny,{text}", "--dry-run")


@channel
def presets(site, text):
    site.study("hostile", "plain", lambda study: study.replace(
        "  default: {}", f"  {yaml_text(text)}: {{}}\n  default: {{}}"))
    site.call("sweep", "hostile", f"preset={override_text(text)}")
    site.call("sweep", "hostile", f"preset={override_text(text)}", "--freeze")
    site.call("sweep", "tiny", f"preset={text}", "--dry-run")
    shutil.rmtree(site.results / "hostile", ignore_errors=True)


@channel
def names_of_tables_and_figures(site, text):
    for before, code in (("name: table,", "table"), ("name: bars,", "bars")):
        site.study("hostile", "plain",
                   lambda study: study.replace(before, f"name: {yaml_text(text)},"))
        site.call("plot", "hostile")
    site.study("hostile", "plain", lambda study: study.replace("columns: [", f"columns: [{yaml_text(text)}, "))
    site.call("plot", "hostile")
    shutil.rmtree(site.results / "hostile", ignore_errors=True)


@channel
def overrides(site, text):
    site.call("sweep", "tiny", text, "--dry-run")
    site.call("config", "tiny", f"title={override_text(text)}")
    site.call("config", "tiny", f"title={text}")
    site.call("config", "tiny", f"{text}=1")
    site.call("config", "tiny", f"+{text}=1")
    site.call("config", "parse", text)


@channel
def typed_titles(site, text):
    """An override is part of the output's name (as a hash) and of the command in the report."""
    answer = site.call("plot", "tiny", f"title={override_text(text)}")
    folders = [path for path in (site.results / "tiny").iterdir() if path.name != "default"]
    try:
        for folder in folders:
            if answer and answer.returncode == 0 and (folder / "summary.json").exists():
                check_titled_report(site, folder, text)
    finally:  # the next text finds none of this one's
        for folder in folders:
            shutil.rmtree(folder)


def check_titled_report(site, folder, text):
    """The command that the report gives, typed into a shell, is these very words."""
    check_report(site, folder, text)
    command = json.loads((folder / "summary.json").read_text())["command"]
    again = subprocess.run(["bash", "-c", "recorder " + command], cwd=site.cwd, env=site.environment)
    assert again.returncode == 0, command
    words = site.records_of("recorder")[0]
    assert words == ["./difflab", "sweep", "tiny", f"title={override_text(text)}"], words


@channel
def options_of_groups(site, text):
    """A model's file with this name: the values of an axis, so rows and labels of the report."""
    site.call("config", "tiny", f"model={text}")
    if not is_file_name(text) or "\udcff" in text:
        return
    file = site.project / "configs/model" / f"{text}.yaml"
    shutil.copy(site.project / "configs/model/diff.yaml", file)
    group = site.project / "configs" / text
    if not group.exists():
        group.mkdir()
        (group / "x.yaml").write_text("{}\n")
    site.study("hostile", "plain", lambda study: study.replace("[transformer, diff]", f"[transformer, {yaml_text(text)}]")
               .replace("variant: diff", f"variant: {yaml_text(text)}"))
    answer = site.call("sweep", "hostile")
    if answer.returncode == 0:
        check_report(site, site.results / "hostile/default")
    for typed in ("model=", "", "x"):
        for line in site.call("complete", "--", "sweep", "tiny", typed, codes=(0,)).stdout.decode().split("\n"):
            assert not set(line) & set("$`;|&<>()'\"\\*?[]{}!# \t\r\x1b"), f"Tab would offer {line!r}"
    site.call("list", "groups", codes=(0,))
    file.unlink()
    shutil.rmtree(group) if (group / "x.yaml").exists() and len(list(group.iterdir())) == 1 else None
    shutil.rmtree(site.results / "hostile", ignore_errors=True)


@channel
def input_files(site, text):
    site.call("sweep", "tiny", "task=text", f"task.file.path={override_text(text)}", "--dry-run")
    site.call("sweep", "tiny", f"init_from.path={override_text(text)}", "--dry-run")
    site.study("hostile", "plain", lambda study: study + f"init_from: {{path: {yaml_text(text)}}}\n")
    site.call("sweep", "hostile")


@channel
def slurm(site, text):
    """Every option of sbatch, and then the script that it was given, under bash."""
    typed = override_text(text)
    results = f"results={override_text(str(site.results / 'slurm'))}"
    for options, expected in ((["partition", "account", "qos", "constraint"], None), (["options"], None)):
        if options == ["options"]:
            words = [f"launcher.options=[{override_text('--comment=' + text)}]"]
            expected = ["--comment=" + text]
        else:
            words = [f"launcher.{key}={typed}" for key in options]
            expected = [f"--{key}={text}" for key in options if text]
        answer = site.call("sweep", "tiny", "launcher=slurm", *words, results)
        calls = site.records_of("sbatch")
        site.records_of("squeue")
        if answer and answer.returncode == 0:
            assert len(calls) == 1, calls
            for word in expected:
                assert word in calls[0], f"{word!r} is no argument of {calls[0]}"
            run_script(site, calls[0])
            json.loads((next((site.results / "slurm/tiny/default/slurm").iterdir()) / "job.json").read_text())
        shutil.rmtree(site.results / "slurm", ignore_errors=True)
    site.call("sweep", "tiny", "launcher=slurm", f"launcher.options=[{typed}]", "--dry-run")


def run_script(site, argv):
    """The task as Slurm would run it, with a recorder in place of difflab."""
    script = next(at for at, word in enumerate(argv) if not word.startswith("--"))
    assert argv[script].endswith("/task.sh"), argv[script]
    folder = pathlib.Path(argv[script]).parent
    lines = [line for line in pathlib.Path(argv[script]).read_text().split("\n") if line.startswith("#SBATCH")]
    assert not lines, lines
    before = site.listing()
    words = [str(site.sandbox / "bin/recorder")] + argv[script + 2:]
    subprocess.run(["bash", argv[script], *words], cwd=site.cwd, check=True, timeout=60,
                   env=dict(site.environment, SLURM_ARRAY_TASK_ID="0"))
    assert site.listing() == before, "the script did more than start difflab"
    got = site.records_of("recorder")
    assert [words[:4] for words in got] == [["work", str(folder), "--share", f"0/{argv[script + 3]}"]], got


@channel
def folders_for_results(site, text):
    """The folder that is asked for, and nothing beside it."""
    if text.startswith("~") or "/" in text or text in ("", ".", ".."):
        return  # those ask for a folder outside by right, or for one that is there
    allowed = [site.cwd / text]
    site.call("sweep", "tiny", f"results={override_text(text)}", allowed=allowed)
    if "\0" not in text:
        shutil.rmtree(site.cwd / text, ignore_errors=True)


@channel
def places_to_read(site, text):
    output = str(site.results / "tiny/default")
    for command in ("runs", "query", "diff"):
        words = {"runs": [], "query": ["select 1"], "diff": ["a", "b"]}[command]
        site.call(command, *words, f"--results={text}")
    for command in ("status", "wait", "cancel", "logs", "resume", "work"):
        site.call(command, "--", text)
    site.call("logs", output, "--", text)
    site.call("work", output, f"--share={text}")


@channel
def runs_by_name(site, text):
    ids = [path.name for path in (site.results / "runs").iterdir()]
    site.call("diff", "--", text, ids[0])
    site.call("diff", f"--results={site.results}", "--", ids[0], text)
    site.call("runs", "--json", "--", text)
    site.call("runs", f"--sort={text}")
    site.call("runs", f"--columns={text}")
    record = {"DIFFLAB_WORKER": str(site.sandbox / "bin/recorder")}
    site.call("export", f"--to={text}", "--", ids[0], environment=record)
    site.call("generate", f"--prompt={text}", "--", ids[0], environment=record)
    site.call("verify", "--", text, environment=record)
    for words in site.records_of("recorder"):
        assert text in words, f"{text!r} is no argument of {words}"
    site.call("export", "--to=x", "--", text, environment=record)
    site.call("generate", "--", text, environment=record)
    site.records_of("recorder")


@channel
def queries(site, text):
    index = site.results / "index.sqlite"
    site.call("query", "select count(*) from runs", codes=(0,))
    before = index.read_bytes()
    site.call("query", "--", text)
    site.call("query", "--json", "--", text)
    site.call("query", "--", f"select id from runs where id = '{text}'")
    assert index.read_bytes() == before, "the index has changed"


@channel
def other_arguments(site, text):
    site.call("data", "--", text)
    site.call("data", "tinyshakespeare", f"--from={text}")
    site.call("config", f"--config-dir={text}")
    site.call("config", f"--config-dir={site.project}/configs", f"--config-name={text}")
    site.call("config", f"--package={text}")
    site.call("config", f"--why={text}")
    site.call("list", "--", text)
    site.call("completion", "--", text)
    site.call("complete", "--", "sweep", "tiny", text)
    site.call("complete", "--", text, text)


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
    names += ["tiny/default/plan.json", "tiny/default/.plan.json.1.0.tmp", "index.sqlite.1.tmp"]
    names += [name.replace("log.txt", other) for name in names if name.endswith("log.txt")
              for other in (".status.json.tmp", ".checkpoint.tmp")]
    links = 0
    for target in (site.outside / "bait", site.outside / "new", None):
        for name in names:
            if name.startswith("runs/") and name.split("/")[1] != names_of_runs(site)[0]:
                continue
            for wipe in (False, True):  # with the finished run, and with one that must begin anew
                path = site.results / name
                run = path.parent if name.startswith("runs/") else None
                if wipe and run and "claims" not in name:
                    shutil.rmtree(run)
                    run.mkdir()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.symlink_to(target if target else path)
                for words in (["sweep", "tiny"], ["plot", "tiny"], ["sweep", "tiny", "--freeze"],
                              ["query", "select 1"], ["report", "--all"]):
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="*", default=None, help="channels, or what follows them")
    arguments = parser.parse_args()
    site = Site(arguments.build.resolve())
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
    for function in channels:
        started, before = time.monotonic(), site.calls
        own = CHANNELS.index(function)
        mine = [text for at, text in enumerate(paths + shells)
                if arguments.full or (at + own) % len(CHANNELS) in (0, len(CHANNELS) // 2)]
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
