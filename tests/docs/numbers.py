#!/usr/bin/env python3
"""Numbers in README.md and docs/ that come from results/: checked, or written anew.

usage: tests/docs/numbers.py [--write] [ROOT]
A number stands between two comments, which a page does not show:

    <!-- headline/table.csv model=diff: mean_needle_accuracy .3f -->0.441<!-- end -->
    <!-- headline/summary.json: answers.0.verdict -->not resolved<!-- end -->

The first says the file below results/ (of the preset reference), the row of a table by the values of its
columns (a comma stands for a blank), or nothing, and the column, or the path in a JSON file, with a
format of Python's. With the format .3f± the column X gives "mean ± half the interval" of mean_X, low_X
and high_X. Without --write, exit 1 and a line for each number that is not what its file says, and for
each marker that cannot be read and each link to a file that is not there. In a table, a column "verdict" holds nothing but verdicts with a marker, and no verdict
of a row with markers stands outside of them.
"""

import argparse
import csv
import json
import pathlib
import re
import sys

MARKER = re.compile(r"<!-- (?P<file>[\w./-]+\.(?:csv|json))(?P<row>[^:>]*): (?P<what>[^>]*?) -->(?P<text>.*?)<!-- end -->", re.S)
BEGINNING = re.compile(r"<!-- [\w./-]+\.(?:csv|json)\b")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
VERDICT = re.compile(r"\b(supported|opposite|equivalent|not resolved|uninformative|withdrawn)\b")


class Wrong(Exception):
    pass


def cell(table, row, column):
    wanted = dict(part.split("=", 1) for part in row.split())
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for key in [*wanted, column]:
        if rows and key not in rows[0]:
            raise Wrong(f"it has no column {key}")
    found = [one for one in rows if all(one[key].replace(" ", ",") == value for key, value in wanted.items())]
    if len(found) != 1:
        raise Wrong(f"{len(found)} rows have {row.strip() or 'no condition'}; expected one")
    if not found[0][column]:
        raise Wrong(f"it has no {column} there; of times that some runs did not reach there is a median")
    return found[0][column]


def part(file, path):
    found = json.loads(file.read_text())
    for key in path.split("."):
        try:
            found = found[int(key) if isinstance(found, list) else key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Wrong(f"it has no {path}") from None
    return found


def value(results, marker):
    experiment, _, name = marker["file"].partition("/")
    file = results / experiment / "reference" / name
    if not file.is_file():
        raise Wrong("there is no such file")
    what, _, form = marker["what"].partition(" ")
    if form.endswith("±"):
        mean, low, high = (float(cell(file, marker["row"], f"{end}_{what}")) for end in ("mean", "low", "high"))
        return f"{mean:{form[:-1]}} ± {(high - low) / 2:{form[:-1]}}"
    found = cell(file, marker["row"], what) if file.suffix == ".csv" else part(file, what)
    if not form:
        return str(found)
    if found == "":
        raise Wrong(f"{what} is empty")
    try:
        return format(float(found), form).replace("-", "−")
    except ValueError:
        raise Wrong(f"{found} cannot be written as {form}") from None


def renewed(text, results, say):
    def write(marker):
        try:
            new = value(results, marker)
        except Wrong as wrong:
            say(marker.start(), f"{marker['file']}{marker['row']}: {wrong}")
            return marker[0]
        if new != marker["text"]:
            say(marker.start(), f"{marker['text']} is {new} in {marker['file']}{marker['row']}: {marker['what']}")
        return marker[0][: marker.start("text") - marker.start()] + new + "<!-- end -->"

    markers = {found.start() for found in MARKER.finditer(text)}
    for found in BEGINNING.finditer(text):
        if found.start() not in markers:
            say(found.start(), "a marker that cannot be read; expected <!-- FILE [COLUMN=VALUE …]: WHAT [FORMAT] -->…<!-- end -->")
    return MARKER.sub(write, text)


def without_backing(text, say):
    """Rows of tables that state a verdict which no committed result backs."""
    at, column = 0, None
    for line in text.splitlines(keepends=True):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            column = None
        elif "verdict" in cells[1:]:  # in front, it is what the row explains
            column = cells.index("verdict")
        elif column is not None and not set(line) <= set("|:- \n"):
            stated = cells[column] if column < len(cells) else ""
            if not any(marker["what"].endswith(".verdict") for marker in MARKER.finditer(stated)):
                say(at, f"a row without a verdict of a result: {stated or line.strip()}")
        if line.startswith("|") and MARKER.search(line):
            for loose in VERDICT.findall(MARKER.sub("", line)):
                say(at, f"{loose} stands outside of a marker")
        at += len(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    wrong = numbers = 0
    for page in [options.root / "README.md", *sorted((options.root / "docs").rglob("*.md"))]:
        text, said = page.read_text(), []

        def say(at, what):
            said.append((text.count("\n", 0, at) + 1, what))

        new = renewed(text, options.root / "results", say)
        without_backing(text, say)
        for link in LINK.finditer(text):
            if not (page.parent / link[1]).exists():
                say(link.start(), f"there is no {link[1]}")
        numbers += len(MARKER.findall(text))
        if options.write and new != text:
            page.write_text(new)
        for line, what in said:
            print(f"{page.relative_to(options.root)}:{line}: {what}")
        wrong += len(said)
    print(f"{numbers} numbers, {wrong} {'written or unreadable' if options.write else 'wrong'}")
    sys.exit(1 if wrong and not options.write or numbers == 0 else 0)


main()
