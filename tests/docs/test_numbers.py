"""numbers.py notices what is wrong, and writes what is right."""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent / "numbers.py"
PAGE = """Accuracy <!-- e/table.csv model=a: mean_x .2f -->0.50<!-- end --> and
<!-- e/table.csv model=a: x .1f± -->0.5 ± 0.2<!-- end -->,
<!-- e/summary.json: answers.0.verdict -->supported<!-- end -->.
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"not so: {what}")


with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    reference = root / "results" / "e" / "reference"
    reference.mkdir(parents=True)
    (root / "docs").mkdir()
    (reference / "table.csv").write_text("model,mean_x,low_x,high_x\na,0.5,0.3,0.7\nb,-1,,\nb,2,,\nc d,4,,\n")
    (reference / "summary.json").write_text('{"answers": [{"verdict": "supported"}]}')
    page = root / "docs" / "page.md"

    def said(text, *options):
        page.write_text(text)
        done = subprocess.run([sys.executable, PROGRAM, *options, root], capture_output=True, text=True)
        return done.returncode, done.stdout

    (root / "README.md").write_text("no number\n")
    expect(said("none") == (1, "0 numbers, 0 wrong\n"), "pages without numbers are no proof")
    expect(said(PAGE) == (0, "3 numbers, 0 wrong\n"), "what is right passes")
    expect(said("<!-- e/table.csv model=c,d: mean_x .0f -->4<!-- end -->\n") == (0, "1 numbers, 0 wrong\n"), "a comma stands for a blank")
    for old, new, message in [
        ("0.50", "0.51", "page.md:1: 0.51 is 0.50 in e/table.csv model=a: mean_x .2f"),
        ("± 0.2", "± 0.3", "page.md:2: 0.5 ± 0.3 is 0.5 ± 0.2"),
        (">supported", ">opposite", "page.md:3: opposite is supported"),
        ("model=a: mean", "model=b: mean", "2 rows have model=b; expected one"),
        ("model=a: mean", "model=c: mean", "0 rows have model=c"),
        ("mean_x", "mean_y", "it has no column mean_y"),
        ("answers.0", "answers.1", "it has no answers.1"),
        ("e/table", "f/table", "there is no such file"),
        (": mean_x", " mean_x", "a marker that cannot be read"),
    ]:
        code, out = said(PAGE.replace(old, new, 1))
        expect(code == 1 and message in out, f"{new}: {out}")
    table = "| claim | verdict |\n|---|:-:|\n| a | <!-- e/summary.json: answers.0.verdict -->supported<!-- end --> |\n"
    expect(said(PAGE + table) == (0, "4 numbers, 0 wrong\n"), "a verdict with a result behind it passes")
    for row, message in [
        ("| b | supported |\n", "page.md:7: a row without a verdict of a result: supported"),
        ("| b | <!-- e/table.csv model=a: mean_x .2f -->0.50<!-- end --> |\n", "page.md:7: a row without a verdict"),
        ("| b, equivalent at first | <!-- e/summary.json: answers.0.verdict -->supported<!-- end --> |\n",
         "page.md:7: equivalent stands outside of a marker"),
    ]:
        code, out = said(PAGE + table + row)
        expect(code == 1 and message in out, f"{row}: {out}")
    legend = "\n| verdict | when |\n|---|---|\n| supported | p and interval agree |\n"
    expect(said(PAGE + legend)[0] == 0, "a table that explains verdicts states none")
    expect("page.md:4: there is no away.md" in said(PAGE + "[a](page.md#b) [b](https://c.d) [c](away.md)")[1], "dead links")
    code, _ = said(PAGE.replace("0.50", "0.9").replace(">supported", ">"), "--write")
    expect(code == 0 and page.read_text() == PAGE, "--write writes the page anew")
print("numbers.py: 18 cases passed")
