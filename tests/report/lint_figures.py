#!/usr/bin/env python3
"""Looks for mistakes in figures: what a specification hides, and what a picture cannot show.

usage: lint_figures.py FOLDER [--prove]
Reads every figure below FOLDER (NAME.vl.json with NAME.csv and NAME.svg beside it, and the paired differences of
its report), prints what is wrong with it, exits 1 if anything is or if there is no figure. --prove damages copies of
the figures in memory, one rule after another, and exits 1 unless each rule objects to the damage that is meant for it.
"""

import argparse
import csv
import json
import pathlib
import sys
import types
import xml.etree.ElementTree as xml

from figure_damage import prove
from figure_rules import DATA_RULES, PICTURE_RULES, SPEC_RULES, objections


def rows_of(file):
    return list(csv.DictReader(file.read_text().splitlines(keepends=True)))


def read_figure(file):
    """A figure's specification, its picture and its data."""
    svg, table = (file.with_name(file.name.replace(".vl.json", end)) for end in (".svg", ".csv"))
    rows = rows_of(table)
    return (json.loads(file.read_text()), xml.parse(svg).getroot() if svg.exists() else None,
            types.SimpleNamespace(columns=list(rows[0]) if rows else [], rows=rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--prove", action="store_true")
    options = parser.parse_args()
    figures = [(file.relative_to(options.folder), *read_figure(file)) for file in sorted(options.folder.rglob("*.vl.json"))]
    wrong = [f"{file}: {text}" for file, *figure in figures for _, text in objections(*figure)]
    if options.prove:
        wrong += prove(figures)
    for line in wrong:
        print(line)
    pictures = sum(picture is not None for _, _, picture, _ in figures)
    rules = len(SPEC_RULES) + len(DATA_RULES) + len(PICTURE_RULES)
    print(f"{len(figures)} figures, {pictures} pictures, {rules} rules, {len(wrong)} objections")
    sys.exit(1 if wrong or not figures else 0)


main()
