"""The programs, called from Python."""

import subprocess
import sys
from pathlib import Path

from difflab._install import HERE, Refused, environment


def program():
    """The words that a command begins with, and its environment."""
    installed = HERE / "_bin" / "difflab"
    if installed.exists():
        return [str(installed)], environment()
    return [str(HERE.parents[2] / "difflab")], None  # a checkout builds what is missing


def call(*words, shown=False):
    """Runs a command and returns what it printed; with `shown`, prints it as it comes, too.

    Raises Refused with the program's message unless it succeeds.
    """
    begin, env = program()
    process = subprocess.Popen([*begin, *map(str, words)], env=env, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT if shown else subprocess.PIPE)
    lines, problem = [], ""
    try:
        if shown:
            for line in process.stdout:
                lines.append(line)
                sys.stdout.write(line)
                sys.stdout.flush()
        else:
            said, problem = process.communicate()
            lines = said.splitlines(keepends=True)
    except BaseException:  # an interrupted cell: the program saves its runs
        process.terminate()
        raise
    finally:
        process.wait()
    said = "".join(lines)
    if process.returncode != 0:
        whole = problem or said
        message = whole[whole.rfind("error: ") + len("error: "):] if "error: " in whole else whole
        raise Refused(message.strip() or f"{' '.join(map(str, words))}: exit code {process.returncode}")
    return said


def word(value):
    """A value as the command line takes it; a list is a sweep."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(word, value))
    return "null" if value is None else "true" if value is True else "false" if value is False else str(value)


def sweep(experiment, *overrides, project=None, shown=True, **values):
    """Runs what is missing of an experiment and returns the folder of its report.

    `overrides` are words as on the command line, `values` further ones: seed=[0, 1]. `project` is the
    folder with experiments/ in it; None: that of the working directory. Raises Refused, with file and
    line, if something is wrong or a run failed.
    """
    words = [*overrides, *(f"{key}={word(value)}" for key, value in values.items())]
    where = ["--project", Path(project).resolve()] if project else []
    said = call("sweep", *where, experiment, *words, shown=shown)
    outputs = [line.split(None, 1)[1] for line in said.splitlines() if line.startswith("output  ")]
    if not outputs:
        raise Refused(f"sweep {experiment} wrote no report")
    return Path(outputs[-1]).resolve()
