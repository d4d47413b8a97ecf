"""Damages figures, one rule after another, to see that each rule objects."""

import copy

from figure_rules import *


def first_channel(spec, fits):
    for view, rows, encoding, _ in views(spec):
        for channel, one in channels_of(encoding):
            if fits(channel, one, view, rows):
                return channel, one, rows
    return None


def no_such_field(spec, *_):
    found = first_channel(spec, lambda c, one, v, rows: one.get("field") and rows)
    return found and found[1].update(field="nowhere") is None


def far_outside(spec, *_):
    for plot in plots(spec):
        for channel, domain in shared_domains(plot).items():
            for _, rows, encoding, _ in views(plot):
                field = encoding.get(channel, {}).get("field")
                if field and numbers(rows, field):
                    rows[0][field] = max(domain) * 3 + 1
                    return True
    return False


def share_of_two(spec, *_):
    found = first_channel(spec, lambda c, one, v, rows: c in ("x", "y") and one.get("field") and numbers(rows, one["field"])
                          and str(one.get("title") or "").endswith("accuracy") and one.get("type") == "quantitative")
    if not found:
        return False
    found[2][0][found[1]["field"]] = 2
    return True


def no_title(spec, *_):
    hit = False
    for view, _, _, _ in views(spec):
        for channel, one in channels_of(view.get("encoding", {})):
            if channel in ("x", "y") and one.get("type") == "quantitative":
                one["title"], hit = None, True
    return hit


def stranger(spec, *_):
    found = first_channel(spec, lambda c, one, v, rows: c == "color" and one.get("type") == "nominal" and rows
                          and name_of(v["mark"]) in MARKS_OF_SERIES)
    if not found:
        return False
    found[2][0][found[1]["field"]] = "a stranger"
    return True


def same_looks(spec, *_):
    hit = False
    for _, _, encoding, _ in views(spec):
        for channel, one in channels_of(encoding):
            looks = (one.get("scale") or {}).get("range")
            if channel in ("color", "shape", "strokeDash") and isinstance(looks, list) and len(looks) > 1:
                looks[1] = looks[0]
                hit = hit or "legend" not in one or one["legend"] is not None  # else the axis tells them apart
    return hit


def bare_title(spec, *_):
    if "facet" not in spec:
        return False
    spec["facet"]["sort"], spec["columns"] = ["yes", "0.5"], 2
    return True


def one_alone(spec, *_):
    if "facet" not in spec:
        return False
    spec["facet"]["sort"], spec["columns"] = ["a", "b", "c"], 2
    return True


def chance_of_loss(spec, *_):
    for plot in plots(spec):
        for view, rows, encoding, _ in views(plot):
            if any(one.get("field") == "chance" for _, one in channels_of(encoding)) and rows:
                for _, _, others, _ in views(plot):
                    for channel, one in channels_of(others):
                        if channel in ("x", "y"):
                            one["title"] = "loss"
                return True
    return False


def silent(spec, *_):
    spec["title"]["subtitle"] = []
    return True


def at_no_bits(spec, _, data):
    found = first_channel(spec, lambda c, one, v, rows: c == "x" and rows and "bits" in data.columns)
    if not found:
        return False
    found[1]["type"] = "quantitative"
    found[2][0][found[1]["field"]] = 0
    return True


def long_axis(_, __, data):
    if "bin_to" in data.columns:
        data.rows[-1].update({"bin_to": "1e9", "mean_" + measured(data): "0"})
    return "bin_to" in data.columns


def shifted(_, picture, *__):
    for node in picture.iter():
        if node.tag.endswith("text") and node.text and float(node.get("opacity", 1)) > 0:
            node.set("transform", "translate(-4000,0)")
            return True
    return False


def moved_together(_, picture, *__):
    for node in picture.iter():
        if "role-axis-label" in node.get("class", ""):
            seen = [label for label in node if float(label.get("opacity", 1)) > 0 and "".join(label.itertext()).strip()]
            if len(seen) > 1:
                seen[1].set("transform", seen[0].get("transform"))
                return True
    return False


def tiny(_, picture, *__):
    for node in picture.iter():
        if node.tag.endswith("}text"):
            node.set("font-size", "3px")
            return True
    return False


DAMAGE = [(missing_fields, no_such_field), (outside_of_domains, far_outside), (shares_beyond, share_of_two),
          (nameless_axes, no_title), (unknown_series, stranger), (looks_alike, same_looks), (lone_panels, one_alone),
          (lone_panels, bare_title), (chance_of_others, chance_of_loss), (unsaid, silent), (zero_bits, at_no_bits),
          (empty_end, long_axis), (cut_off, shifted),
          (on_top_of_each_other, moved_together), (too_small, tiny)]


def prove(figures):
    """Names of the rules that let all damage of their kind pass, or had none to see."""
    blind = []
    for rule, damage in DAMAGE:
        noticed = tried = 0
        for _, *figure in figures:
            if figure[1] is None and rule in PICTURE_RULES or not damage(*(figure := copy.deepcopy(figure))):
                continue
            tried += 1
            noticed += any(found is rule for found, _ in objections(*figure))
        if tried == 0 or noticed < tried:
            blind.append(f"{rule.__name__}, {damage.__name__}: noticed {noticed} of {tried} damaged figures")
    return blind
