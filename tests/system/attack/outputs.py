"""Readers of report files that know no code of difflab: what in them would be executed?"""
import csv
import html.parser
import io
import json
import re
import unicodedata

TAGS = set("""html head meta link title style body main h1 h2 h3 p strong code table thead tbody tr th td ul
li a div figure figcaption details summary dl dt dd footer sub br pre span nav article img script""".split())
COMMANDS = set("""begin end toprule midrule bottomrule cmidrule textbackslash textasciicircum textasciitilde
pm times geq leq uparrow downarrow rightarrow Delta ldots cdot surd mathrm alpha beta gamma delta varepsilon
eta theta lambda mu pi rho sigma tau varphi omega multicolumn footnotesize smallskip
raggedright raggedleft arraybackslash""".split())
OPENING = r"{\footnotesize\setlength{\tabcolsep}{3pt}%"  # of every table
SYMBOLS = set("\\{}$&#%_,;")


PAGE_SCRIPTS = set()


class Page(html.parser.HTMLParser):
    """Raises AssertionError for anything that a browser would run, except the page's own scripts."""

    def __init__(self, bundle):
        super().__init__(convert_charrefs=True)
        self.bundle, self.tag, self.heading = bundle, "", ""
        self.script = None
        self.code = []  # of the page's own scripts

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, f"<{tag}>"
        for name, value in attributes:
            assert not name.startswith("on"), f"<{tag} {name}>"
            value = (value or "").strip().lower()
            if name in ("href", "src"):
                assert not re.match(r"[a-z]+:", value) or value == "data:,", f"{name}={value}"
        self.tag = tag
        if tag == "script":
            self.script = dict(attributes).get("type", "")
            if self.script == "":
                self.code.append("")

    def handle_endtag(self, tag):
        self.tag, self.script = "", None

    def handle_comment(self, data):
        raise AssertionError(f"comment {data[:40]!r}")

    def handle_data(self, data):
        if self.tag == "h1":
            self.heading += data
        if self.script == "application/json":
            json.loads(data)
        elif self.script == "":
            self.code[-1] += data


def is_unseen(letter):
    """Whether a page shows a blank for it: controls, separators of lines, turns of the direction."""
    turns = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    return unicodedata.category(letter) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(letter) in turns


def check_html(text, bundle=None, heading=None):
    page = Page(bundle)
    page.feed(text)
    page.close()
    assert len(page.code) in (0, 2) and (bundle or not page.code), f"{len(page.code)} scripts"
    if page.code:
        PAGE_SCRIPTS.add(page.code[1])  # the same whatever the page is about
        assert page.code[0] == bundle and len(PAGE_SCRIPTS) == 1, f"foreign code: {page.code}"
    if heading is not None:
        def shown(words):
            return " ".join("".join(" " if is_unseen(letter) else letter for letter in words).split())
        assert shown(page.heading) == shown(heading), f"heading {page.heading!r}, expected {heading!r}"


def check_tex(text):
    """TeX reads up to a carriage return or line feed; behind % it reads nothing of that line."""
    for line in re.split(r"[\r\n]", text):
        if line.startswith("%") or line == OPENING:
            continue
        assert "^^" not in line, line
        body = re.sub(r"\\([a-zA-Z]+|.)", lambda found: check_command(found.group(1), line), line)
        assert body.count("$") % 2 == 0, f"open formula: {line!r}"
        assert "%" not in body and "#" not in body, line


def check_command(name, line):
    assert name in COMMANDS or name in SYMBOLS, f"\\{name} in {line!r}"
    return ""


def check_markdown(text):
    """No HTML but the gallery's, and no link that Markdown would make of words."""
    for line in re.split(r"[\r\n]", text):
        bare = re.sub(r"(?<!\\)`[^`]*`", "", line)
        bare = re.sub(r'<a href="[\w/.~%-]*"><img src="[\w/.~%-]*" width="240" alt="[^"<>]*"></a>|<br>', "", bare)
        assert not re.search(r"<[a-zA-Z!/?]", bare), line
        for target in re.findall(r"(?<!\\)\]\(([^)]*)\)", bare):
            assert re.fullmatch(r"[\w/.~%-]+", target), line


def check_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len({len(row) for row in rows}) == 1, "rows of different length"
    return rows
