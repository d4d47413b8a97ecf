#!/usr/bin/env python3
"""Pages checked for accessibility by axe-core: the gallery, two committed reports and the page of runs.

Usage: axe.py, with the package axe-core-python. Widths of a desktop and a phone, light and dark.
Exit codes: 0 no violation, 1 violations (printed), 77 no Chromium here.
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import axe_core_python
from open_report import FLAGS, browser_here
from runs_page import write_page

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results"
AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text().replace("</script", r"<\/script")
TELL = """<script>setTimeout(() => axe.run(document).then((found) => {
  document.documentElement.dataset.axe = JSON.stringify(
    found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html.slice(0, 120))}`));
}), 1000)</script>"""


def violations(browser, page, address, width, scheme):
    """Objections of axe to a page; its script stands in a copy beside it."""
    copy = page.with_name("axe.html")
    copy.write_text(page.read_text().replace("</body>", f"<script>{AXE}</script>{TELL}</body>"))
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser, *FLAGS, "--virtual-time-budget=20000", f"--window-size={width},900", "--dump-dom", f"--user-data-dir={profile}",
             f"--blink-settings=preferredColorScheme={scheme}", f"{copy.as_uri()}{address}"],
            capture_output=True, text=True, timeout=300)
    told = re.search(r' data-axe="([^"]*)"', done.stdout)
    assert told, f"axe said nothing of {page}{address}"
    return json.loads(html.unescape(told[1]))


def main():
    browser = browser_here()
    if browser is None:
        print("SKIPPED: there is no chromium")
        sys.exit(77)
    count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_page(folder)
        bad = folder / "bad.html"
        bad.write_text("<html><body><img src='x.png'></body></html>")
        assert violations(browser, bad, "", 1280, 1), "axe has nothing against a picture without a text"
        pages = [(folder / "index.html", address) for address in ("#runs", "#runs?group=model.name", f"#compare?runs={'a0' * 8},{'b0' * 8}")]
        for source in ("index.html", "headline/reference/report.html", "head_width/reference/report.html"):
            page = folder / source.replace("/", "_")
            page.write_bytes((RESULTS / source).read_bytes())
            pages.append((page, ""))
        for page, address in pages:
            for width, scheme in ((1280, 1), (390, 0)):
                for problem in violations(browser, page, address, width, scheme):
                    print(f"{page.name}{address}, {width} px: {problem}")
                    count += 1
    print(f"{count} violations on {len(pages)} pages")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
