"""The parameters of a diffusion Transformer in docs/models.md are what its formulas give."""

import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "models.md"
SIZES = {"in_channels": 16, "out_channels": 16, "p": 2, "hidden": 24 * 64, "sample": 128, "layers": 24,
         "joint": 4096, "caption": 4096, "pooled": 2048}


def value_of(formula):
    text = formula.partition(",")[0].replace("²", "**2").replace("-channels", "_channels")
    text = re.sub(r"(\d) (?=[a-z])", r"\1 * ", text.replace("·", "*"))
    return int(eval(text, {"__builtins__": {}}, SIZES))


section = PAGE.read_text().partition("A diffusion Transformer (DiT")[2]
rows = re.findall(r"^\| (\w+) \| (.+?) \| ([\d,]+) \|$", section.partition("In all")[0], re.M)
total = int(re.search(r"In all that is ([\d,]+)\.", section)[1].replace(",", ""))
wrong = [name for name, formula, said in rows if value_of(formula) != int(said.replace(",", ""))]
if len(rows) != 5 or wrong or sum(value_of(formula) for _, formula, _ in rows) != total:
    sys.exit(f"{PAGE}: {len(rows)} of 5 formulas, another value: {', '.join(wrong) or 'the sum'}")
