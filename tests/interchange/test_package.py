"""The package difflab in Python: tables rebuilt from its frames, models from tensors, charts.

Usage: test_package.py [--torch]   with --torch also what needs PyTorch
"""

import csv
import importlib
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src/python"))
import difflab


def close(text, value):
    """Whether a cell of a table is this number, or empty for none."""
    if text == "" or value is None:
        return text == "" and value is None
    return math.isclose(float(text), value, rel_tol=1e-7, abs_tol=1e-9)


def is_share(rows):
    return all(0 <= row["value"] <= 1 for row in rows)


def tables_are_rebuilt():
    """n, bounds, means and medians of every committed table; and Student's interval but where the
    report has another: of shares, and cut off at 0."""
    cells = intervals = 0
    for path in sorted(ROOT.glob("results/*/reference/table.csv")):
        name = path.parts[-3]
        frames = difflab.frames(name, results=difflab.references(), preset="reference")
        table = list(csv.DictReader(path.open()))
        keys = list(table[0])[: list(table[0]).index("runs")]
        late = {row["run"] for row in frames.rows("metrics") if row["metric"] == "steps_to_found" and row["bound"]}
        for metric in (column[5:] for column in table[0] if column.startswith("mean_")):
            rows = [row for row in frames.rows("metrics") if row["metric"] == metric]
            found = {tuple(one[key] for key in keys): one for one in difflab.mean(rows, keys)}
            # Beside learning time a report averages the runs that learned.
            learned = difflab.mean([row for row in rows if row["run"] not in late], keys)
            only = {tuple(one[key] for key in keys): one for one in learned}
            for line in table:
                one = found.get(tuple(line[key] for key in keys), {"n": 0})
                if one["n"] and int(line[f"n_{metric}"]) != one["n"]:
                    one = only[tuple(line[key] for key in keys)]
                where = f"{name}: {metric} of {[line[key] for key in keys]}"
                assert int(line[f"n_{metric}"] or 0) == one["n"], where
                if one["n"] == 0:
                    continue
                assert int(line[f"censored_{metric}"] or 0) == one["bounds"], where
                assert close(line[f"mean_{metric}"], one["mean"]), where
                assert close(line[f"median_{metric}"], one["median"]), where
                cells += 1
                if not is_share(rows) and (one["low"] or 0) > 0 and line[f"low_{metric}"]:
                    assert close(line[f"low_{metric}"], one["low"]), where
                    assert close(line[f"high_{metric}"], one["high"]), where
                    intervals += 1
    assert cells > 1500 and intervals > 1000, (cells, intervals)
    return f"{cells} cells and {intervals} intervals of the committed tables"


def bounds_are_told():
    rows = [row for row in difflab.frames("needle_text", results=difflab.references()).rows("metrics")
            if row["metric"] == "steps_to_found"]
    assert any(row["bound"] and row["value"] == 4000 for row in rows)
    for one in difflab.mean(rows, ["model", "init"]):
        assert (one["mean"] is None) == (one["bounds"] > 0), one
    half = [{"model": "a", "value": value, "bound": value == 9} for value in (1, 2, 9, 9)]
    assert difflab.mean(half)[0]["median"] is None
    assert difflab.mean(half[:3])[0]["median"] == 2
    assert difflab.mean(half[:1])[0] == {"model": "a", "n": 1, "bounds": 0, "mean": 1, "low": None, "high": None, "median": 1}
    return "lower bounds"


def frames_are_whole():
    frames = difflab.frames("headline", "needle_depth", results=difflab.references())
    assert {row["experiment"] for row in frames.rows("runs")} == {"headline", "needle_depth"}
    cell = frames.rows("cells")[0]
    assert cell["evaluation"] == "needle_depth" and {"length", "depth", "correct", "n"} <= set(cell), cell
    look = next(row for row in frames.rows("looks") if row["experiment"] == "headline")
    assert look["step"] == 5 and look["metric"] == "valid_accuracy", look
    committed = json.loads((ROOT / "results/headline/reference/summary.json").read_text())["answers"]
    claims = [row for row in frames.rows("claims") if row["experiment"] == "headline"]
    assert [row["verdict"] for row in claims] == [answer["verdict"] for answer in committed]
    for action, words in ((lambda: frames.rows("run"), "expected one of runs, metrics"),
                          (lambda: difflab.frames("nosuch", results=difflab.references()), "no report of nosuch"),
                          (lambda: difflab.chart("headline", "fuond", results=difflab.references()), "found")):
        try:
            action()
        except (ValueError, FileNotFoundError) as problem:
            assert words in str(problem), problem
        else:
            raise AssertionError(words)
    assert len(difflab.frames(results=difflab.references()).rows("runs")) == sum(
        len(json.loads(path.read_text())["runs"]) for path in ROOT.glob("results/*/reference/runs.json"))
    assert difflab.mean([{"model": "a", "value": 1, "bound": False}] * 2, by="model")[0]["n"] == 2
    word = importlib.import_module("difflab._command").word
    assert [word(value) for value in (0, 1.0, True, None, [False, None, 2])] == ["0", "1.0", "true", "null", "false,null,2"]
    return "runs, cells, looks and claims"


def charts_are_shown():
    chart = difflab.chart("headline", "found", results=difflab.references())
    written = json.loads((ROOT / "results/headline/reference/figures/found.vl.json").read_text())
    shown = chart._repr_mimebundle_()
    assert shown["application/vnd.vegalite.v5+json"] == chart.spec == written
    assert shown["image/svg+xml"].startswith("<svg")
    return "a chart"


def the_page_is_true():
    """The second block of docs/python.md runs as it is written, but for pandas; the stubs name the same things."""
    page = (ROOT / "docs/python.md").read_text()
    block = page.split("```python\n")[2].split("```")[0]
    lines = [line for line in block.splitlines() if "to_pandas" not in line]
    assert len(lines) == 3, lines
    known = {"difflab": difflab}
    exec("\n".join(lines), known)
    assert {row["model"] for row in known["steps"]} >= {"diff", "transformer"}
    assert all(f"| `{kind}` |" in page for kind in importlib.import_module("difflab._frames").KINDS)
    stubs = (ROOT / "src/python/difflab/__init__.pyi").read_text()
    named = set(re.findall(r"^(?:def|class) (\w+)|^(__version__)", stubs, re.M))
    assert {name for pair in named for name in pair if name} - {"Chart"} == set(difflab.__all__), named
    return "docs/python.md and the stubs"


def nothing_heavy_is_imported():
    assert {"torch", "pyarrow"}.isdisjoint(sys.modules), "import difflab imports too much"
    assert all(getattr(difflab, name) for name in difflab.__all__ if name not in ("__version__", "load", "Model", "to_hugging_face"))
    assert {"torch", "pyarrow"}.isdisjoint(sys.modules)
    return "neither torch nor pyarrow imported"


def models_are_modules():
    torch = importlib.import_module("torch")
    tests, models = importlib.import_module("test_models"), importlib.import_module("difflab.models")
    count = 0
    for config in (tests.LLAMA, tests.NANO, tests.LLAMA | {"attention": tests.SOFTMAX}, tests.LLAMA | {"attention": tests.DIFF_V2}):
        config = config | {"max_positions": 300}
        invented = tests.InventedWeights({})
        tokens = torch.randint(tests.VOCAB, (2, 9), generator=torch.Generator().manual_seed(2))
        expected = models.logits(config, invented, tokens)
        model = difflab.Model(config, dict(invented.tensors))
        assert set(model.state_dict()) == set(invented.tensors)
        assert torch.equal(model(tokens), expected)
        model(tokens).sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
        single = model.float()(tokens)
        assert single.dtype == torch.float32 and torch.allclose(single.double(), expected, atol=1e-3)
        try:
            difflab.Model(config, {**invented.tensors, "other.weight": torch.zeros(1)})
        except ValueError as problem:
            assert "other.weight" in str(problem)
        else:
            raise AssertionError("a tensor that the model does not have")
        count += 1
    return f"{count} models as modules"


def main():
    checks = [nothing_heavy_is_imported, tables_are_rebuilt, bounds_are_told, frames_are_whole, charts_are_shown,
              the_page_is_true]
    if "--torch" in sys.argv:
        checks.append(models_are_modules)
    for check in checks:
        print(check())


if __name__ == "__main__":
    main()
