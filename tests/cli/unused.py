#!/usr/bin/env python3
"""What the program offers and nothing of the project uses: keys, kinds, marks, sweep functions, commands.

usage: tests/cli/unused.py DIFFLAB
Used is what an experiment or an option file writes, a benchmark passes, or a page shows in a block of
code; of the functions also what is in the tables of docs/configuration.md, which tests execute, and of
the keys of tasks what is solved from docs/tasks.md. The YAML of the pages is composed here. Exit 1 with a
line for each thing that is offered and not used, and for each exception that is.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# At most ten, each with its reason.
HYDRAS = "Hydra's grammar, which public configurations hold"
WRITTEN = "written by the program when a sweep is planned"
EXCEPTIONS = {
    "function bool": HYDRAS,
    "function interval": HYDRAS,
    "function tag": HYDRAS,
    "key evaluate.file.sha256": WRITTEN,
    "key init_from.sha256": WRITTEN,
    "key task.file.sha256": WRITTEN,
}


class Offered:
    def __init__(self, difflab):
        self.keys, self.kinds = set(), set()
        for line in difflab("list", "keys").splitlines():
            line = line.replace("[]", "").replace("`stages.t", "`t")  # task and train of a stage are a run's
            if heading := re.match(r"### `(.+)\.(?:kind|mark): (\w+)`", line):
                self.kinds.add((heading[1], heading[2]))
            elif row := re.match(r"\| `(.+?)` \|", line):
                self.keys.add(row[1])
        self.commands = set(re.findall(r"^  (\w+) {2,}", difflab("--help").partition("Subcommands:")[2], re.M))
        failed = difflab("config", "parse", "a=no_such_function(1)", fails=True)
        self.functions = set(re.findall(r"\w+", re.search(r"expected one of ([\w, ]+)", failed)[1]))

    def all(self):
        return (
            {f"key {path}" for path in self.keys}
            | {f"kind {path}: {kind}" for path, kind in self.kinds}
            | {f"command {name}" for name in self.commands}
            | {f"function {name}" for name in self.functions}
        )


class Used:
    def __init__(self):
        self.keys, self.names, self.kinds, self.commands, self.functions = set(), set(), set(), set(), set()
        self.wrong = []  # in the examples

    def key(self, parts):
        """A key that is written, and so are those above it; inside another task, those of its own, too."""
        for end in range(1, len(parts) + 1):
            self.keys.update((".".join(parts[:end]), ".".join(parts[max(0, end - 2) : end])))

    def tree(self, node, path=()):
        """A composed configuration as it is written."""
        if isinstance(node, list):
            for item in node:
                self.tree(item, path)
        elif isinstance(node, dict):
            for key, value in node.items():
                self.entry(path, key, value)
        elif isinstance(node, str):
            self.functions.update(re.findall(r"\b([a-z_]+)\(", node))

    def entry(self, path, key, value):
        parts = tuple(re.split(r"[./]", key.lstrip("+~").partition("@")[0]))
        if path == ("presets",):
            below = ()
        elif path == ("vars",) and isinstance(value, list):
            below = ("evaluate",)
        elif path in (("sweep",), ("sweep", "union")) and key != "union":
            below = parts
        else:
            below = path + parts
        self.key(below)
        if key in ("kind", "mark"):
            self.kinds.add((".".join(path), value))
        for choice in value if isinstance(value, list) else [value]:
            if isinstance(choice, str):  # a kind with all its defaults
                self.kinds.add((".".join(below), choice))
        self.tree(value, below)

    def code(self, text):
        """Commands with their overrides."""
        self.commands.update(re.findall(r"difflab[\"',]*[ \n]+[\"']?(\w+)", text))
        for key, value in re.findall(r"([a-z_]+(?:\.\w+)*)=('[^']*'|\"[^\"]*\"|\S+)", text):
            self.key(tuple(key.split(".")))
            self.kinds.add((key, value.strip("'\"")))
        for kind in re.findall(r"(?:kind|mark): (\w+)", text):
            self.kinds.add((None, kind))
        self.tree(text)


def examples_of(folder):
    """The examples of the pages in YAML, each as a file in a folder of experiments; and all other code."""
    code = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        if path.name == "keys.md":
            continue
        text = path.read_text()
        for number, (language, block) in enumerate(re.findall(r"^ *```(\w*)\n(.*?)^ *```", text, re.M | re.S)):
            if language == "yaml":
                (folder / f"{path.stem}_{number}.yaml").write_text("# @package _global_\n" + block)
            else:
                code.append(block)
        code += re.findall(r"^ {4}\S.*|`\./difflab [^`]+`", text, re.M)
        if path.name == "configuration.md":
            code += re.findall(r"^\|.*\|$", text, re.M)
    return code


def everything(difflab):
    used = Used()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "experiment"
        folder.mkdir()
        (folder.parent / "experiments").symlink_to(folder)
        for path in (ROOT / "experiments").glob("*.yaml"):
            (folder / path.name).symlink_to(path)
        code = examples_of(folder)
        # Without the schema, which would ask for the texts that some read.
        compose = ("config", "--config-dir", ROOT / "configs", "--config-dir", name, "--json", "--config-name")
        for path in sorted(folder.iterdir()):
            used.keys.update(re.findall(r"^\w+(?=:)", path.read_text(), re.M))  # defaults are composed away
            if not path.is_symlink():  # what a piece of an experiment lacks does not matter
                said = difflab("--project", name, "config", path.stem, fails=None)
                used.wrong += [line for line in said.splitlines() if re.search(r"unknown key|(kind|mark) is '", line)]
            used.tree(json.loads(difflab(*compose, "config", f"+experiment={path.stem}")))
        for path in sorted((ROOT / "configs").glob("*/*.yaml")):
            used.tree(json.loads(difflab(*compose, path.relative_to(ROOT / "configs").with_suffix(""))))
    code += [path.read_text() for path in (ROOT / "bench").iterdir() if path.is_file()]
    for text in code:
        used.code(text)
    for path in (ROOT / "tests" / "task").glob("*.py"):  # settings of docs/tasks.md that are solved there
        used.names.update(re.findall(r"\"(\w+)\": ", path.read_text()))
    return used


def leftovers(offered, used):
    for path, kind in sorted(offered.kinds):
        if (path, kind) not in used.kinds and (None, kind) not in used.kinds:
            yield f"kind {path}: {kind}"
    for path in sorted(offered.keys):
        words = path.split(".")
        if path not in used.keys and ".".join(words[-2:]) not in used.keys and words[-1] not in used.names:
            yield f"key {path}"
    yield from (f"command {name}" for name in sorted(offered.commands - used.commands))
    yield from (f"function {name}" for name in sorted(offered.functions - used.functions))


def main():
    def difflab(*words, fails=False):
        done = subprocess.run([sys.argv[1], *map(str, words)], capture_output=True, text=True, cwd=ROOT)
        if fails is not None and (done.returncode != 0) != fails:
            sys.exit(f"difflab {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout if fails is False else done.stderr

    offered, used = Offered(difflab), everything(difflab)
    found = set(leftovers(offered, used))
    wrong = used.wrong + [f"{thing}: nothing uses it" for thing in sorted(found - EXCEPTIONS.keys())]
    wrong += [f"{thing}: is used, and no exception" for thing in sorted(EXCEPTIONS.keys() & (offered.all() - found))]
    for line in wrong:
        print(line)
    print(f"{len(offered.keys)} keys, {len(offered.kinds)} kinds, {len(offered.commands)} commands, "
          f"{len(offered.functions)} functions")
    return 1 if wrong or len(EXCEPTIONS) > 10 else 0


if __name__ == "__main__":
    sys.exit(main())
