"""Draws Vega-Lite specifications as SVG, PDF and PNG, all in one process.

Reads one JSON object, in one line, from standard input:
    {"bundle": PATH or null,
     "figures": [{"name": NAME, "spec": {...}, "svg": PATH, "pdf": PATH, "png": PATH}, ...]}
and prints one JSON line per figure: {"name": NAME, "error": null or "what went wrong"}.
What was drawn is written when a line "write" follows, not before and not without it.
"bundle" is where the JavaScript of Vega, Vega-Lite and vega-embed is written for the report page.
Exit codes: 0 all drawn, 1 something failed, 3 vl-convert is not installed,
4 the pictures could not be written.
"""

import json
import os
import re
import resource
import struct
import sys
import tempfile
import zlib
from itertools import accumulate
from xml.sax.saxutils import quoteattr

VEGA_LITE = "6.4"  # reads the specifications, which are Vega-Lite 5, unchanged
POINTS_PER_PIXEL = 0.75  # the specification counts pixels of 1/96 inch, PDF points of 1/72
PNG_SCALE = 2

TEXT = re.compile(r"<text ([^>]*)>([^<]*[\u0370-\u03ff]_\w[^<]*)</text>")
DRAWN_ID = re.compile(r"\b(clip|gradient_)(\d+)\b(?=[\")])")  # id="clip7", url(#clip7)
SUBSCRIPT = re.compile(r"(?<=[\u0370-\u03ff])_(\w+)([^_]*)")


def write_atomically(path, data):
    """Readers see the old file or the new one, never a part."""
    folder = os.path.dirname(path)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".render-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def set_subscripts(svg):
    """Vega has no markup in texts: λ_init is drawn as such, and lowered here."""

    def lower(text):
        attributes, words = text.groups()
        size = float(re.search(r'font-size="([\d.]+)px"', attributes).group(1))

        def span(match):
            word, rest = match.groups()
            low = f'<tspan font-size="{0.72 * size:.2f}px" dy="{0.22 * size:.2f}">{word}</tspan>'
            return low + (f'<tspan dy="{-0.22 * size:.2f}">{rest}</tspan>' if rest else "")

        return f"<text {attributes}>{SUBSCRIPT.sub(span, words)}</text>"

    return TEXT.sub(lower, svg)


def with_own_ids(svg):
    """Vega counts the areas that it clips over all figures of a process; here each begins at 0.

    So a figure's file does not depend on which figures were drawn before it.
    """
    numbers = {}

    def number(match):
        kind, of_process = match.groups()
        return kind + str(numbers.setdefault((kind, of_process), len(numbers)))

    return DRAWN_ID.sub(number, svg)


def in_points(svg):
    """The same picture with its size in points, which is how the PDF converter reads it."""

    def shrink(match):
        return f'{match.group(1)}="{POINTS_PER_PIXEL * float(match.group(2)):g}"'

    end = svg.index(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', shrink, svg[:end]) + svg[end:]


def without_opacity(header, rows):
    """The header and rows of an opaque picture in three channels, without differences; as they are otherwise."""
    width, height, depth, channels = struct.unpack(">IIBB", header[:10])
    stride = 4 * width + 1
    if (depth, channels) != (8, 6) or set(rows[::stride]) != {1}:  # each row tells differences to the left
        return header, rows
    plain = bytearray()
    for start in range(1, len(rows), stride):
        row, pixels = rows[start : start + stride - 1], bytearray(3 * width)
        if any(row[7::4]) or row[3] != 255:
            return header, rows
        for channel in range(3):
            pixels[channel::3] = bytes(value & 255 for value in accumulate(row[channel::4]))
        plain += b"\0" + pixels
    return header[:9] + b"\2" + header[10:], bytes(plain)


def packed(png):
    """The same picture in a quarter of the bytes."""
    kept, pixels, place = [], b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        if kind == b"IDAT":
            pixels += data
        else:
            kept.append((kind, data))
        place += 12 + length
    header, rows = without_opacity(kept[0][1], zlib.decompress(pixels))
    kept[0] = (b"IHDR", header)
    kept.insert(-1, (b"IDAT", zlib.compress(rows, 9)))  # the end stays last
    parts = [png[:8]]
    for kind, data in kept:
        parts += [struct.pack(">I", len(data)), kind, data, struct.pack(">I", zlib.crc32(kind + data))]
    return b"".join(parts)


def require_font(convert, font):
    """Text in a font that is not installed is left out without a word."""
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30">{}</svg>'
    letter = f"<text y='20' font-family={quoteattr(font)}>A</text>"
    if convert.svg_to_png(sheet.format(letter)) == convert.svg_to_png(sheet.format("")):
        raise ValueError(f"the font {font} is not installed (style.font); fc-list : family lists those that are")


def draw(convert, figure):
    font = figure["spec"]["config"]["font"]
    if "," not in font:  # else one of several does
        require_font(convert, font)
    drawn = convert.vegalite_to_svg(figure["spec"], vl_version=VEGA_LITE)
    svg = with_own_ids(set_subscripts(drawn))
    return [
        (figure["svg"], svg.encode()),
        (figure["pdf"], convert.svg_to_pdf(in_points(svg))),
        (figure["png"], packed(convert.svg_to_png(svg, scale=PNG_SCALE))),
    ]


def lift_soft_limit():
    """The drawing engine reserves far more addresses than it uses memory."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def main():
    lift_soft_limit()
    job = json.loads(sys.stdin.readline())
    package = os.path.abspath(os.path.join(__file__, *[os.pardir] * 4))
    if os.path.exists(os.path.join(package, "BUILD.json")):  # pip puts vl_convert beside it, wherever that is
        sys.path.append(os.path.dirname(package))
    try:
        import vl_convert as convert
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 3 if error.name == "vl_convert" else 1
    failed = False
    if job["bundle"]:
        try:
            write_atomically(job["bundle"], convert.javascript_bundle(vl_version=VEGA_LITE).encode())
        except OSError as error:  # a checkout that may only be read: pages without JavaScript
            print(f"{job['bundle']}: {error}", file=sys.stderr)
    drawn = []
    for figure in job["figures"]:
        message = None
        try:
            drawn += draw(convert, figure)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # the engine's own panic is no Exception
            message = str(error) or repr(error)
            failed = True
        print(json.dumps({"name": figure["name"], "error": message}), flush=True)
    if sys.stdin.readline().strip() == "write":
        try:
            for path, data in drawn:
                write_atomically(path, data)
        except OSError as error:
            print(error, file=sys.stderr)
            return 4
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
