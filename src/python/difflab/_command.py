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


def call(*words, folder=None, shown=False):
    """Runs a command and returns what it printed; with `shown`, prints it as it comes, too.

    Raises Refused with the program's message unless it succeeds.
    """
    begin, env = program()
    process = subprocess.Popen(
        [*begin, *map(str, words)], cwd=folder, env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if shown else subprocess.PIPE)
    if not shown:
        said, problem = process.communicate()
    else:
        lines = []
        try:
            for line in process.stdout:
                lines.append(line)
                sys.stdout.write(line)
                sys.stdout.flush()
        except BaseException:  # an interrupted cell: the program saves its runs
            process.terminate()
            raise
        finally:
            process.wait()
        said = problem = "".join(lines)
    if process.returncode != 0:
        raise Refused(problem.strip().removeprefix("error: ") or f"{' '.join(map(str, words))}: exit code {process.returncode}")
    return said


def override(key, value):
    """key=value as the command line takes it; a list is a sweep."""
    text = {None: "null", True: "true", False: "false"}.get(value) if not isinstance(value, (list, tuple)) else None
    if text is None:
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"{key}={text}"


def sweep(experiment, *overrides, project=None, shown=True, **values):
    """Runs what is missing of an experiment and returns the folder of its report.

    `overrides` are words as on the command line, `values` further ones: seed=[0, 1]. `project` is the
    folder with experiments/ in it; None: that of the working directory. Raises Refused, with file and
    line, if something is wrong or a run failed.
    """
    words = [*overrides, *(override(key, value) for key, value in values.items())]
    said = call("sweep", experiment, *words, folder=project, shown=shown)
    outputs = [line.split(None, 1)[1] for line in said.splitlines() if line.startswith("output  ")]
    return (Path(project or ".") / outputs[-1]).resolve()
