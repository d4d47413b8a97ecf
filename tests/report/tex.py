#!/usr/bin/env python3
"""The LaTeX of reports, compiled 240 pt wide, as a column of a paper: tex.py FOLDER…

Each FOLDER is a report, or has references in it. Prints every table that does not compile or is more than 2 pt too wide; exit code 1 if
there is one, 77 without pdflatex.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAGE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,array,booktabs}
\setlength{\textwidth}{240pt}\setlength{\textheight}{8000pt}\setlength{\parindent}{0pt}
\begin{document}
%s
\end{document}
"""
MOST_POINTS = 2


def problems_of(files):
    """What pdflatex objects to, by file; all files in one run."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.tex"
        parts = [rf"\message{{^^JFILE {number}^^J}}\input{{{number}.tex}}\newpage" for number in range(len(files))]
        for number, file in enumerate(files):
            shutil.copy(file, page.parent / f"{number}.tex")
        page.write_text(PAGE % "\n".join(parts))
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", page.name], cwd=folder, capture_output=True)
        log = page.with_suffix(".log").read_text(errors="replace")
    problems, current = [], None
    for line in log.splitlines():
        if found := re.match(r"FILE (\d+)$", line):
            current = files[int(found[1])]
        elif line.startswith("! "):
            problems.append((current, line[2:]))
        elif (found := re.match(r"Overfull \\hbox \(([\d.]+)pt", line)) and float(found[1]) > MOST_POINTS:
            problems.append((current, f"{found[1]} pt too wide"))
    if done.returncode != 0 and not problems:
        problems.append((None, log[-500:]))
    return problems


def main():
    if shutil.which("pdflatex") is None:
        print("SKIPPED: there is no pdflatex (texlive-latex-recommended)")
        sys.exit(77)
    folders = [pathlib.Path(folder) for folder in sys.argv[1:]]
    files = [file for folder in folders for pattern in ("*.tex", "*/reference/*.tex") for file in sorted(folder.glob(pattern))]
    if not files:
        sys.exit("no LaTeX there")
    problems = problems_of(files)
    for file, problem in problems:
        print(f"{file}: {problem}")
    # A check that sees nothing would pass: a table that is too wide has to be seen.
    with tempfile.TemporaryDirectory() as folder:
        wide = pathlib.Path(folder) / "wide.tex"
        wide.write_text(r"\begin{tabular}{l}%s\end{tabular}" % ("wide " * 30))
        if not problems_of([wide]):
            sys.exit("a table of 600 pt was not seen")
    print(f"{len(files)} tables, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
