"""Opens report.html in headless Chromium as a reader would and says what is wrong with it.

Usage: open_report.py report.html NUMBER_OF_FIGURES [FOLDER_FOR_SCREENSHOTS]
Each of desktop, tablet and phone, light and dark, must show every figure drawn, no console message,
no script error and no sideways scrolling. Exit codes: 0 fine, 1 problems (printed), 77 no Chromium here.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--enable-logging=stderr --virtual-time-budget=20000"
).split()
DARK = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
WIDTHS = {"desktop": 1280, "tablet": 768, "phone": 390}
VIEWS = {**{name: (width, []) for name, width in WIDTHS.items()},
         **{f"{name}, dark": (width, DARK) for name, width in WIDTHS.items()}}

# The page runs in a frame of the wanted width and tells the frame's owner how it looks.
CATCH_ERRORS = """<script>
window.seen = [];
addEventListener('error', (event) => seen.push(String(event.message)));
addEventListener('unhandledrejection', (event) => seen.push(String(event.reason)));
</script>"""
TELL = """<script>
setTimeout(() => parent.postMessage({
  errors: seen,
  overflow: document.documentElement.scrollWidth - innerWidth,
  drawings: [...document.querySelectorAll('.drawing[data-name]')].map((place) => ({
    name: place.dataset.name, drawn: place.dataset.drawn,
    marks: place.querySelectorAll('svg path').length,
    width: place.querySelector('svg') ? place.querySelector('svg').clientWidth : 0}))
}, '*'), 8000);
</script>"""
OWNER = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><script>
addEventListener('message', (event) => {
  const told = document.createElement('script');
  told.type = 'application/json';
  told.id = 'told';
  told.textContent = JSON.stringify(event.data).replaceAll('<', '\\\\u003c');
  document.body.append(told);
});
</script><iframe src="page.html" style="border:0;width:%dpx;height:6000px"></iframe></body>"""


def browser_here():
    """The Chromium of this machine, or None."""
    return next((found for found in map(shutil.which, BROWSERS) if found), None)


def with_reporter(page, first, last):
    """The page's HTML with something before all of its scripts and something behind them."""
    # The scripts in the page hold such tags as text, too: the first and the last are its own.
    start, rest = page.split("<head>", 1)
    body, end = rest.rsplit("</body>", 1)
    return f"{start}<head>{first}{body}{last}</body>{end}"


def troubles_of(told):
    """What is wrong with any page that tells so about itself."""
    yield from (f"script error: {error}" for error in told["errors"])
    if told["overflow"] > 0:
        yield f"scrolls sideways by {told['overflow']} pixels"


def open_page(browser, folder, width, flags, screenshot=None):
    """What the page told about itself, and the lines of the browser's console."""
    (folder / "owner.html").write_text(OWNER % width, encoding="utf-8")
    output = [f"--screenshot={screenshot}"] if screenshot else ["--dump-dom"]
    with tempfile.TemporaryDirectory() as profile:
        ended = subprocess.run(
            [browser, *FLAGS, *flags, f"--user-data-dir={profile}", f"--window-size={width},6000"]
            + output
            + [(folder / "owner.html").as_uri()],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    console = [line for line in ended.stderr.splitlines() if ":CONSOLE" in line]
    found = re.search(r'<script type="application/json" id="told">(.*?)</script>', ended.stdout)
    return (json.loads(found.group(1)) if found else None), console


def problems_of(told, console, figures):
    if told is None:
        yield "the page never answered"
        return
    yield from (f"console: {line}" for line in console)
    yield from troubles_of(told)
    if len(told["drawings"]) != figures:
        yield f"has {len(told['drawings'])} figures; expected {figures}"
    for drawing in told["drawings"]:
        if drawing.get("drawn") != "yes" or drawing["marks"] < 5 or drawing["width"] < 200:
            yield f"figure is not drawn: {drawing}"


def main():
    browser = browser_here()
    if browser is None:
        print("no Chromium here")
        return 77
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    figures = int(sys.argv[2])
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "page.html").write_text(with_reporter(page, CATCH_ERRORS, TELL), encoding="utf-8")
        for view, (width, flags) in VIEWS.items():
            for problem in problems_of(*open_page(browser, folder, width, flags), figures):
                print(f"{view}: {problem}")
                failed = True
            if len(sys.argv) > 3:
                open_page(browser, folder, width, flags, pathlib.Path(sys.argv[3]) / f"{view}.png")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
