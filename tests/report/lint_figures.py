#!/usr/bin/env python3
"""Looks for mistakes in figures: what a specification hides, and what a picture cannot show.

usage: lint_figures.py FOLDER [--prove]
Reads every figure (NAME.vl.json with NAME.svg beside it) below FOLDER, but for those of reports that are
too old to be written again, prints what is wrong with it, exits 1 if anything is or if there is no figure. --prove damages copies of the figures in memory, one
rule after another, and exits 1 unless each rule objects to the damage that is meant for it.
"""

import argparse
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

from figure_damage import prove
from figure_rules import PICTURE_RULES, SPEC_RULES, objections


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--prove", action="store_true")
    options = parser.parse_args()
    figures, older = [], 0
    for file in sorted(options.folder.rglob("*.vl.json")):
        if not (file.parent.parent / "observations.json").exists():
            older += 1
            continue
        svg = file.with_name(file.name.replace(".vl.json", ".svg"))
        figures.append((file.relative_to(options.folder), json.loads(file.read_text()),
                        xml.parse(svg).getroot() if svg.exists() else None))
    wrong = [f"{file}: {text}" for file, spec, picture in figures for _, text in objections(spec, picture)]
    if options.prove:
        wrong += prove(figures)
    for line in wrong:
        print(line)
    pictures = sum(picture is not None for _, _, picture in figures)
    print(f"{len(figures)} figures, {pictures} pictures, {len(SPEC_RULES) + len(PICTURE_RULES)} rules, {len(wrong)} objections"
          + (f"; {older} older figures not read" if older else ""))
    sys.exit(1 if wrong or not figures else 0)


main()
