"""What can be wrong with a figure: its specification (Vega-Lite), its data (CSV), its picture (SVG)."""

import json
import math
import re

SHARES = ("accuracy", "share of runs", "share")
POSITIONS = ("x", "x2", "y", "y2")
MARKS_OF_SERIES = ("line", "point", "area")
# Widths of Helvetica's letters in thousandths of the font size, where they are not those of a digit.
NARROW = {c: 278 for c in " .,:;/!|[]()'ijltIfr"} | {c: 833 for c in "mMW%@"} | {"w": 722, "−": 584}
WIDE = {c: 690 for c in "ABCDEFGHKNOPQRSUVXYZ"}


# --- specifications ---------------------------------------------------------------------------


def views(spec, data=None, inherited=None):
    """Every view with marks, with the rows and the encoding that it has of those around it."""
    data = spec.get("data", {}).get("values", data)
    made = {f for t in spec.get("transform", []) for f in made_by(t)}
    encoding = {**(inherited or {}), **spec.get("encoding", {})}
    if "mark" in spec:
        yield spec, data or [], encoding, made
    for child in children(spec):
        for view, rows, channels, others in views(child, data, encoding):
            yield view, rows, channels, others | made


def children(spec):
    inner = [spec["spec"]] if "spec" in spec else []
    return inner + spec.get("layer", []) + spec.get("vconcat", []) + spec.get("hconcat", [])


def made_by(transform):
    made = transform.get("as", [])
    made = [made] if isinstance(made, str) else list(made)
    for part in ("aggregate", "window", "joinaggregate"):
        made += [one["as"] for one in transform.get(part, [])]
    return made


def channels_of(encoding):
    for name, channel in encoding.items():
        for one in channel if isinstance(channel, list) else [channel]:
            if isinstance(one, dict):
                yield name, one


def name_of(mark):
    return mark if isinstance(mark, str) else mark["type"]


def missing_fields(spec):
    for view, rows, encoding, made in views(spec):
        known = made.union(*(row.keys() for row in rows)) if rows else None
        for channel, one in channels_of(encoding):
            field = one.get("field")
            if field and known is not None and field not in known:
                yield f"{channel} of a {name_of(view['mark'])} shows {field}, which no row has"


def numbers(rows, field):
    return [row[field] for row in rows if isinstance(row.get(field), (int, float))]


def shared_domains(spec):
    """Of each view the explicit domains of its axes, which layers share."""
    own = {}
    for view, _, encoding, _ in views(spec):
        for channel, one in channels_of(encoding):
            domain = one.get("scale", {}).get("domain") if isinstance(one.get("scale"), dict) else None
            if channel in ("x", "y") and one.get("type") == "quantitative" and domain:
                own[channel] = domain
    return own


def plots(spec):
    """The parts of a figure whose layers share their axes."""
    if "vconcat" in spec or "hconcat" in spec or "spec" in spec:
        for child in children(spec):
            inner = dict(child)
            inner.setdefault("data", spec.get("data", {}))
            inner["transform"] = spec.get("transform", []) + child.get("transform", [])
            yield from plots(inner)
    else:
        yield spec


def outside_of_domains(spec):
    for plot in plots(spec):
        domains = shared_domains(plot)
        for view, rows, encoding, _ in views(plot):
            for channel, one in channels_of(encoding):
                domain = domains.get(channel[0]) if channel in POSITIONS else None
                if not domain or not one.get("field"):
                    continue
                low, high = min(domain), max(domain)
                slack = 1e-9 * max(1, abs(low), abs(high))
                for value in numbers(rows, one["field"]):
                    if not low - slack <= value <= high + slack:
                        yield (f"{one['field']} = {value:g} of a {name_of(view['mark'])} lies outside "
                               f"of its axis, {low:g} to {high:g}")
                        break


def shares_beyond(spec):
    """Intervals of shares end at 0 and 1, and so do their axes."""
    for plot in plots(spec):
        titles = {c: one.get("title") for _, _, e, _ in views(plot) for c, one in channels_of(e) if one.get("title")}
        for channel in ("x", "y"):
            title = str(titles.get(channel) or "")
            if not title.endswith(SHARES) or "difference" in title:
                continue
            domain = shared_domains(plot).get(channel)
            if domain and (min(domain) < 0 or max(domain) > 1):
                yield f"the axis of {title} goes from {min(domain):g} to {max(domain):g}"
            for _, rows, encoding, _ in views(plot):
                for name, one in channels_of(encoding):
                    if name not in (channel, channel + "2") or not one.get("field"):
                        continue
                    bad = [v for v in numbers(rows, one["field"]) if not -1e-6 <= v <= 1 + 1e-6]
                    if bad:
                        yield f"{one['field']} = {bad[0]:g} of {title} is no share"
                        break


def nameless_axes(spec):
    for plot in plots(spec):
        found = {}
        for _, _, encoding, _ in views(plot):
            for channel, one in channels_of(encoding):
                if channel in ("x", "y") and one.get("type") == "quantitative" and one.get("axis", True) is not None:
                    found[channel] = found.get(channel) or one.get("title")
        for channel, title in found.items():
            if not title:
                yield f"the {channel} axis of numbers has no title"


def unknown_series(spec):
    for view, rows, encoding, _ in views(spec):
        if name_of(view["mark"]) not in MARKS_OF_SERIES:
            continue
        for channel, one in channels_of(encoding):
            scale = one.get("scale") or {}
            if channel not in ("color", "shape", "strokeDash") or one.get("type") != "nominal":
                continue
            domain, looks = scale.get("domain"), scale.get("range")
            if domain is None or not isinstance(looks, list):
                yield f"{channel} of {one.get('field')} leaves the looks to chance"
                continue
            if len(domain) != len(looks):
                yield f"{channel} has {len(looks)} looks for {len(domain)} values"
            extra = {row[one["field"]] for row in rows if row.get(one["field"])} - set(domain)
            if extra:
                yield f"{channel} has no look for {sorted(extra)[0]}"


def looks_alike(spec):
    """Two series of a legend differ in colour, or in dash or shape where colours come again."""
    for plot in plots(spec):
        looks = {}
        for _, _, encoding, _ in views(plot):
            for channel, one in channels_of(encoding):
                scale = one.get("scale") or {}
                named = "legend" not in one or one["legend"] is not None
                if named and channel in ("color", "shape", "strokeDash") and isinstance(scale.get("range"), list):
                    for value, look in zip(scale.get("domain", []), scale["range"]):
                        looks.setdefault(value, {})[channel] = json.dumps(look)
        seen = {}
        for value, look in looks.items():
            if (twin := seen.setdefault(tuple(sorted(look.items())), value)) != value:
                yield f"{twin} and {value} look the same"


def is_bare(name):
    """A value that names no variable."""
    try:
        return name in ("yes", "no", "true", "false", "none", "null") or math.isfinite(float(name.replace(",", "")))
    except ValueError:
        return False


def lone_panels(spec):
    """One panel alone in the last row, or a panel that is not named."""
    facet = spec.get("facet")
    if not facet:
        return
    rows = spec.get("data", {}).get("values", [])
    names = facet.get("sort") or list(dict.fromkeys(row[facet["field"]] for row in rows if facet["field"] in row))
    across = spec.get("columns", len(names) or 1)
    # Of five, seven or thirteen one is left however few stand side by side; three fit below each other.
    avoidable = len(names) == 3 or any(len(names) % fewer != 1 for fewer in range(2, across))
    if 1 < across < len(names) and len(names) % across == 1 and avoidable:
        yield f"{len(names)} panels, {across} side by side, leave one alone"
    if any(not str(name).strip() or str(name).rstrip().endswith(":") for name in names):
        yield "a panel has no name"
    if names and all(is_bare(str(name)) for name in names):
        yield f"panels are titled {', '.join(map(str, names))}, without the variable's name"


def chance_of_others(spec):
    """A chance line stands for an accuracy."""
    for plot in plots(spec):
        titles = [str(one.get("title") or "") for _, _, e, _ in views(plot) for c, one in channels_of(e) if c in ("x", "y")]
        for _, rows, encoding, _ in views(plot):
            if any(one.get("field") == "chance" for _, one in channels_of(encoding)) and rows:
                if not any(re.search("accurac|answer|correct", title) for title in titles):
                    yield f"a chance line stands beside {', '.join(t for t in titles if t)}"


def unsaid(spec):
    title = spec.get("title", {})
    if not title.get("text") or not any(title["text"]):
        yield "it has no title"
    if not title.get("subtitle") or not any(re.search(r"\d|One run|No finished", line) for line in title["subtitle"]):
        yield "it does not say how many runs it shows"
    if len(spec.get("description", "")) < 20:
        yield "it has no description for those who cannot see it"


# --- a specification beside its data ----------------------------------------------------------


def measured(data):
    return next((c.removeprefix("mean_") for c in data.columns if c.startswith("mean_")), "")


def column(rows, name):
    return [float(row[name]) for row in rows if row.get(name)]


def zero_bits(spec, data):
    """What is not quantised is a category, not a number of bits."""
    for _, rows, encoding, _ in views(spec) if "bits" in data.columns else []:
        x = encoding.get("x", {})
        if x.get("type") == "quantitative" and 0 in numbers(rows, x.get("field")):
            yield "what is not quantised is drawn at 0 bits"


def empty_end(spec, data):
    """A histogram's axis ends where its values do."""
    metric = "mean_" + measured(data)
    bins = [row for row in data.rows if row.get("bin_to") and row.get(metric)]
    if bins:
        least = 1e-3 * max(column(bins, metric))  # what is lower cannot be seen
        end, filled = max(column(bins, "bin_to")), max(column([b for b in bins if float(b[metric]) >= least], "bin_to"))
        if filled < 0.25 * end:
            yield f"the axis goes to {end:g}, and nothing that can be seen lies beyond {filled:g}"


# --- pictures ---------------------------------------------------------------------------------


def width_of(text, size, bold):
    units = sum(NARROW.get(c) or WIDE.get(c) or 540 for c in text)
    return units / 1000 * size * (1.06 if bold else 1)


def texts(node, at=(0.0, 0.0, 0.0), role=""):
    """(text, role, left, top, right, bottom) of every text that is seen."""
    x, y, turn = at
    for kind, inside in re.findall(r"(translate|rotate)\(([^)]*)\)", node.get("transform", "")):
        given = [float(n) for n in re.split("[ ,]+", inside.strip())]
        if kind == "rotate":
            turn += given[0]
        else:
            dx, dy = given[0], given[1] if len(given) > 1 else 0
            c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
            x, y = x + dx * c - dy * s, y + dx * s + dy * c
    role = next((w for w in node.get("class", "").split() if w.startswith("role-")), role)
    tag = node.tag.rsplit("}", 1)[-1]
    if tag == "text" and float(node.get("opacity", 1)) > 0:
        size = float(node.get("font-size", "10px").removesuffix("px"))
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        down = 0.0
        lines = [child for child in node if child.tag.endswith("tspan") and child.get("x") is not None]
        for line in lines or [node]:  # a part of a line, such as a subscript, has no place of its own
            text = "".join(line.itertext())
            down += float(line.get("dy", 0)) if lines else 0.0
            if not text.strip():
                continue
            width = width_of(text, size, node.get("font-weight") == "bold")
            left = {"middle": -width / 2, "end": -width}.get(node.get("text-anchor"), 0.0)
            corners = [(px, py) for px in (left, left + width) for py in (down - 0.72 * size, down + 0.2 * size)]
            xs = [x + px * c - py * s for px, py in corners]
            ys = [y + px * s + py * c for px, py in corners]
            yield text, role, min(xs), min(ys), max(xs), max(ys)
        return
    for child in node:
        yield from texts(child, (x, y, turn), role)


def cut_off(picture):
    width, height = (float(n) for n in picture.get("viewBox").split()[2:])
    for text, _, left, top, right, bottom in texts(picture):
        # The estimate of a line's width is good to some hundredths.
        if left < -3 or top < -2 or right > width + 3 + 0.04 * (right - left) or bottom > height + 2:
            yield f"'{text}' does not fit into the picture"


def on_top_of_each_other(picture):
    kinds = ("role-axis-label", "role-axis-title", "role-title-text", "role-title-subtitle",
             "role-legend-label", "role-legend-title", "role-header", "role-column-header")
    boxes = [one for one in texts(picture) if one[1] in kinds]
    for i, (a, _, left, top, right, bottom) in enumerate(boxes):
        for b, _, left2, top2, right2, bottom2 in boxes[i + 1 :]:
            across, down = min(right, right2) - max(left, left2), min(bottom, bottom2) - max(top, top2)
            if across > 1.5 and down > 1.5:
                yield f"'{a}' and '{b}' lie on top of each other"


def too_small(picture):
    for node in picture.iter():
        size = node.get("font-size") if node.tag.endswith("}text") else None  # subscripts are smaller
        if size and float(size.removesuffix("px")) < 7:
            yield f"letters of {size}"
            return


SPEC_RULES = [missing_fields, outside_of_domains, shares_beyond, nameless_axes, unknown_series, looks_alike,
              lone_panels, chance_of_others, unsaid]
DATA_RULES = [zero_bits, empty_end]
PICTURE_RULES = [cut_off, on_top_of_each_other, too_small]


def objections(spec, picture, data):
    for rules, given in ((SPEC_RULES, (spec,)), (DATA_RULES, (spec, data)), (PICTURE_RULES, (picture,))):
        for rule in rules if given[-1] is not None else []:
            for text in dict.fromkeys(rule(*given)):
                yield rule, text
