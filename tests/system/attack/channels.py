"""The ways into difflab: each is given a hostile text, calls the driver with it and looks at what it
wrote. What they have in common is checked in field.py."""
import json
import pathlib
import shutil
import subprocess

import outputs
from field import override_text, yaml_text

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
    for words in (["runs"], ["compare", "a", "b"]):
        site.call(*words, f"--results={text}")
    for command in ("status", "wait", "cancel", "logs", "resume", "work"):
        site.call(command, "--", text)
    site.call("logs", output, "--", text)
    site.call("work", output, f"--share={text}")


@channel
def runs_by_name(site, text):
    ids = [path.name for path in (site.results / "runs").iterdir()]
    site.call("compare", "--", text, ids[0])
    site.call("compare", "--by", text, "--", ids[0], ids[1])
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
