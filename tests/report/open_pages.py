"""Opens every report under a folder of results and says whether its answer is on the first screen.

Usage: open_pages.py RESULTS [--prove]
RESULTS/*/reference/report.html, or RESULTS/*/smoke/report.html after a smoke sweep, and
RESULTS/index.html. Each page is laid out at the widths of a desktop (1280 x 800), a tablet and a phone. On
all of them every figure must be drawn without a script error or sideways scrolling. On the desktop the first
figure and the first answer must end within 800 pixels. --prove: the same check must object to a page
whose answer is pushed down. Exit codes: 0 fine, 1 problems (printed), 77 no Chromium here.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from open_report import CATCH_ERRORS, FLAGS, browser_here, troubles_of, with_reporter

SCREEN = 800
WIDTHS = {"desktop": 1280, "tablet": 768, "phone": 390}
# A browser that lays out many pages at once takes much memory.
AT_ONCE = 8
TELL = """<script>
setTimeout(() => {
  const bottom = (what) => {
    const place = document.querySelector(what);
    return place ? Math.round(place.getBoundingClientRect().bottom) : null;
  };
  parent.postMessage({
    name: window.name,
    errors: seen,
    overflow: document.documentElement.scrollWidth - innerWidth,
    figure: bottom('figure svg, figure img'),
    answer: bottom('p.answer, .claim, .opening table tbody tr'),
    drawings: [...document.querySelectorAll('.drawing[data-name]')].map((place) => ({
      name: place.dataset.name,
      drawn: place.dataset.drawn === 'yes' && place.querySelectorAll('svg path').length >= 5
    })).concat([...document.querySelectorAll('img')].map((picture) => ({
      name: picture.getAttribute('src').slice(0, 60), drawn: picture.complete && picture.naturalWidth > 0})))
  }, '*');
}, 8000);
</script>"""
OWNER = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><script>
const told = [];
addEventListener('message', (event) => {
  told.push(event.data);
  if (told.length < %d) return;
  const all = document.createElement('script');
  all.type = 'application/json';
  all.id = 'told';
  all.textContent = JSON.stringify(told).replaceAll('<', '\\\\u003c');
  document.body.append(all);
});
</script>%s</body>"""


def heard(page):
    """The page, with a reporter of its own before and after its scripts."""
    base = f'<base href="{page.parent.as_uri()}/">'
    return with_reporter(page.read_text(encoding="utf-8"), base + CATCH_ERRORS, TELL)


def told_by(browser, texts):
    """What each of the pages, at each width, told about itself."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        frames = ""
        for number, text in enumerate(texts):
            (folder / f"{number}.html").write_text(text, encoding="utf-8")
            for view, width in WIDTHS.items():
                frames += (f'<iframe name="{number} {view}" src="{number}.html" '
                           f'style="border:0;width:{width}px;height:{SCREEN}px"></iframe>')
        (folder / "owner.html").write_text(OWNER % (len(texts) * len(WIDTHS), frames), encoding="utf-8")
        ended = subprocess.run(
            [browser, *FLAGS, "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}",
             "--dump-dom", (folder / "owner.html").as_uri()],
            capture_output=True, text=True, timeout=600, check=False)
    found = re.search(r'<script type="application/json" id="told">(.*?)</script>', ended.stdout)
    return {told["name"]: told for told in json.loads(found.group(1))} if found else {}


def problems_of(told, view, has_answer):
    if told is None:
        yield "the page never answered"
        return
    yield from troubles_of(told)
    if not told["drawings"]:
        yield "has no figure"
    yield from (f"not drawn: {place['name']}" for place in told["drawings"] if not place["drawn"])
    if view != "desktop" or not has_answer:
        return
    for what in ("figure", "answer"):
        if told[what] is None:
            yield f"has no first {what}"
        elif told[what] > SCREEN:
            yield f"its first {what} ends at {told[what]} pixels; {SCREEN} are a screen"


def check(browser, pages):
    """The problems of pages, {name: (HTML, whether it must answer on the first screen)}."""
    problems = []
    names = list(pages)
    for start in range(0, len(names), AT_ONCE):
        batch = names[start:start + AT_ONCE]
        told = told_by(browser, [pages[name][0] for name in batch])
        for number, name in enumerate(batch):
            for view in WIDTHS:
                for problem in problems_of(told.get(f"{number} {view}"), view, pages[name][1]):
                    problems.append(f"{name}, {view}: {problem}")
    return problems


def main():
    browser = browser_here()
    if browser is None:
        print("SKIPPED: no Chromium here")
        return 77
    root = pathlib.Path(sys.argv[1]).resolve()
    written = sorted(root.glob("*/reference/report.html")) or sorted(root.glob("*/smoke/report.html"))
    # A page without its observations is of an older difflab and cannot be written again.
    found = [page for page in written if (page.parent / "observations.json").exists()]
    if not found:
        print(f"no */reference/report.html and no */smoke/report.html under {root}")
        return 1
    pages = {str(page.relative_to(root)): (heard(page), True) for page in found}
    if (root / "index.html").exists():
        pages["index.html"] = (heard(root / "index.html"), False)
    if "--prove" in sys.argv:
        name = next(iter(pages))
        pushed = pages[name][0].replace("<h1>", f'<div style="height:{SCREEN}px"></div><h1>', 1)
        wide = pages[name][0].replace("<h1>", '<div style="width:2000px">.</div><h1>', 1)
        for what, text in {"first answer": pushed, "sideways": wide}.items():
            if not any(what in problem for problem in check(browser, {name: (text, True)})):
                print(f"the check does not see a damaged page: {what}")
                return 1
    problems = check(browser, pages)
    print(*problems, sep="\n")
    print(f"{len(pages)} pages, {len(problems)} problems; {len(written) - len(found)} older pages not opened")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
