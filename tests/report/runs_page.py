#!/usr/bin/env python3
"""The page of `difflab runs --page` in a browser: filters, groups, bounds, comparisons, hostile names.

Exit code 77 without Chromium.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=document.title='taken'></script>"
KEYS = ["id", "experiment", "config.model.name", "config.train.lr", "config.seed", "state", "step", "steps", "message",
        "metrics.valid_loss", "metrics.steps_to_found", "bounds.steps_to_found", "curves"]


def runs():
    """Eleven runs of two models; the last two of `b` never got there, one runs, one failed with a hostile message."""
    for seed in range(5):
        yield [f"a{seed}" * 8, "tiny/default", "a", 0.001, seed, "finished", 9, 9, None, 1 + seed / 10, 100 + seed, None, 0]
    for seed in range(3):
        late = seed == 2
        yield [f"b{seed}" * 8, HOSTILE, "b", 0.002, seed, "finished", 9, 9, None, 2.0, None if late else 200, 900 if late else None, 0]
    yield ["b4" * 8, "tiny/default", "b", 0.002, 4, "finished", 9, 9, None, 2.0, None, 500, 0]
    yield ["c0" * 8, "tiny/default", "b", 0.002, 8, "running", 3, 9, None, None, None, None, None]
    yield ["d0" * 8, "tiny/default", HOSTILE, 0.002, 9, "failed", 0, 9, HOSTILE, None, None, None, None]


def text_of(browser, folder, address):
    """What a person reads: the text of the page that the browser made."""
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=5000",
         "--dump-dom", f"--user-data-dir={folder}/profile", f"file://{folder}/index.html#{address}"],
        capture_output=True, text=True, timeout=120)
    page = done.stdout.split("<script>")[0]
    assert "<title>difflab runs</title>" in page, f"a name became a script: {page[:300]}"
    cells = re.sub(r"</t[hd]>", " | ", page[page.index("<main>"):])
    return re.sub(r"[ \n]+", " ", html.unescape(re.sub(r"<[^>]*>", "", cells))), page


def write_page(folder):
    """The page of these runs, with the curves of those that finished."""
    shutil.copy(ROOT / "src/report/page/runs.html", folder / "index.html")
    (folder / "curves").mkdir()
    data = {"title": "Runs of here", "live": False, "made": "today", "common": {"config.task.kind": "recall"}, "keys": KEYS,
            "rows": list(runs())}
    (folder / "runs.js").write_text(f"runs({json.dumps(data)})")
    curves = {row[0]: {"step": [0, 10], "valid_loss": [5.0, row[9]]} for row in runs() if row[12] == 0}
    (folder / "curves/0.js").write_text(f"curve({json.dumps(curves)})")


def main():
    browser = shutil.which("chromium")
    if browser is None:
        print("SKIPPED: there is no chromium")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_page(folder)

        def shows(address, *words, lacks=()):
            text, page = text_of(browser, folder, address)
            for word in words:
                assert word in text, f"{address}: no {word!r} in {text[:3000]}"
            for word in lacks:
                assert word not in text, f"{address}: {word!r} in {text[:3000]}"
            return page

        shows("runs", "11 of 11 runs, today", "a0a0a0a0 |", "running 33 %", "> 900 |", HOSTILE)
        shows("runs?filter=model.name%3Da valid_loss<1.25", "3 of 11 runs", "a2a2a2a2 |", lacks=["a3a3a3a3 |", "b0b0b0b0 |"])
        shows("runs?filter=task.kind%3Drecall seed!%3D0", "9 of 11 runs")
        shows("runs?filter=valid_los<1", "no run has valid_los", "11 of 11 runs")
        page = shows("runs?sort=-valid_loss", "c0c0c0c0 |")
        assert page.index("b0b0b0b0") < page.index("a4a4a4a4") < page.index("a0a0a0a0") < page.index("c0c0c0c0"), "not sorted"
        # Student's interval of 1.0 to 1.4 is 1.2 ± .196; a group with a bound has no mean.
        shows("runs?group=model.name", "a | 5 | 102 ± 2 (5) | 1.2 ± 0.2 (5) |", "b | 5 | 2 of 4 > 500 | 2 ± 0 (4) |")
        shows("runs?group=model.nam", "no run has model.nam")
        page = shows(f"run?id={'d0' * 8}", f"Run {'d0' * 8}", HOSTILE, "failed")
        page = shows(f"compare?runs={'a0' * 8},{'b0' * 8}", "2 runs", "train.lr | 0.001 | 0.002 |", "valid_loss | 1 | 2 |",
                     lacks=["task.kind"])
        assert page.count("<path") == 2, "not two curves"
        shows("run?id=nothing", "There is no run nothing.")
        (folder / "runs.js").unlink()
        shows("runs", "There is no runs.js beside this page.")
    print("the page of runs filters, sorts, groups, compares and draws; names stay names")


if __name__ == "__main__":
    main()
