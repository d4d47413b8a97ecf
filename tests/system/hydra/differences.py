"""Where difflab answers otherwise than Hydra on purpose. Each reason is a sentence of
docs/configuration.md, so that the list there is complete."""

import pathlib
import re

TEXT = " ".join((pathlib.Path(__file__).resolve().parents[3] / "docs/configuration.md").read_text(encoding="utf-8").split())


def documented(sentence):
    if sentence not in TEXT:
        raise SystemExit(f"docs/configuration.md does not say: {sentence}")
    return sentence


BEYOND_ASCII = documented("Text beyond ASCII needs no quotes in overrides and `oc.decode`.")
NESTED = documented("`${a.${b}}` may stand in an override unquoted")
ITEMS = documented("`a[0]=x` reaches into lists, `~a.0` removes an item.")
NULL_CHOICE = documented("`choice(a,null)` may hold null.")
QUOTED_SORT = documented("`sort` and `glob`, too, treat quoted values as text.")
SHUFFLE = documented("`shuffle` gives the same order every time")
CASTS = documented("A cast of a sweep keeps its tags and its shuffling.")
WHOLE = documented("A whole number that does not fit 64 bits is an error.")
IGNORED = documented("An argument that a function would ignore is an error")
NO_ARGUMENT = documented("an empty `shuffle()`")
SWEEP_INSIDE = documented("a sweep inside a sweep")
TRUE_IS_NO_NUMBER = documented("a bound of `range` that is true or false")
INTERVAL = documented("`interval()` is refused, because a grid needs values")
PATTERNS = documented("a pattern of `glob` that is no text")

CONTAINER_IN_TEXT = documented("A list or map inside a text, `x${list}`, is an error.")
TWICE = documented("Two choices for the same place are an error, even if they name the same option.")
NO_CHOICE = documented("`group=null` chooses nothing, as in a defaults list.")
REMOVES = documented("`~key` removes a key whatever it holds, even null, `???` or an interpolation that cannot be resolved.")
KEEPS = documented("`+a.b=1` is an error if `a` has a value; `++a.b=1` replaces it.")
REPLACES = documented("A list replaces a map, and a map a list or an interpolation")
EMPTY = documented("`oc.decode` of an empty text is the empty text.")
SELECT = documented("`oc.select` gives its default for a path that has a name where a list needs an index.")

CHAIN = documented("An option may be named after a choice that is itself named after another.")
FRESH = documented("A file that is included twice has the same content both times.")


def without_quoted(text):
    return re.sub(r"'(\\.|[^'\\])*'|\"(\\.|[^\"\\])*\"", "q", text)


def has_nested_braces(text):
    return re.search(r"\$\{[^}]*\{", text) is not None


def without(answer, *names):
    """The JSON without these names of maps."""
    if isinstance(answer, dict):
        return {key: without(value, *names) for key, value in answer.items() if key not in names}
    return [without(item, *names) for item in answer] if isinstance(answer, list) else answer


def leaves(answer):
    """What an answer holds, each as a text, in the order in which it stands there."""
    if isinstance(answer, dict):
        return [leaf for key, value in answer.items() for leaf in [f"{key}:", *leaves(value)]]
    return [leaf for item in answer for leaf in leaves(item)] if isinstance(answer, list) else [repr(answer)]


def of_override(text, hydra, ours):
    """The reason why the parses of an override may differ, or None."""
    if ours["ok"] is None:
        return None
    if not hydra["ok"]:
        if any(ord(c) > 127 for c in without_quoted(text)):
            return BEYOND_ASCII
        if "[" in text.split("=")[0]:
            return ITEMS
        if "NoneType is incompatible" in hydra["error"] and "choice" in hydra["error"]:
            return NULL_CHOICE
        if "QuotedString" in hydra["error"]:
            return QUOTED_SORT
        return NESTED if has_nested_braces(text) else None
    if not ours["ok"]:
        for message, reason in (
            ("does not fit into 64 bits", WHOLE),
            ("() takes no ", IGNORED),
            ("shuffle() needs an argument", NO_ARGUMENT),
            ("choice() cannot hold another sweep", SWEEP_INSIDE),
            ("is not a number", TRUE_IS_NO_NUMBER),
            ("a pattern of glob() is not text", PATTERNS),
            ("interval() gives a grid no values", INTERVAL),
        ):
            if message in ours["error"]:
                return reason
        return NESTED if has_nested_braces(text) else None
    if ours.get("sweep", "") is None and "{include:" in str(hydra["sweep"]):
        return SWEEP_INSIDE
    if re.search(r"(int|float|str|bool)\s*\(", text) and without(hydra["value"], "tags", "shuffle") == without(ours["value"], "tags", "shuffle"):
        return CASTS
    if "shuffle" in text and sorted(leaves(hydra["value"])) == sorted(leaves(ours["value"])):
        return SHUFFLE
    return None


def of_tree(overrides, hydra, ours):
    """The reason why compositions may differ, or None."""
    errors = (hydra.get("error", "") or hydra.get("resolve_error", ""), ours.get("error", "") or ours.get("resolve_error", ""))
    if hydra["ok"] and not ours["ok"]:
        if all("is chosen twice" in line for line in errors[1].split("\n")):
            return TWICE
        if "so it has no" in errors[1] and any(text.startswith("+") for text in overrides):
            return KEEPS
    if not hydra["ok"] and ours["ok"]:
        if "Got NoneType" in errors[0]:
            return NO_CHOICE
        if "Error resolving interpolation" in errors[0]:
            return CHAIN
        if "DictConfig with ListConfig" in errors[0] or "ListConfig with DictConfig" in errors[0]:
            return REPLACES
        if any(text.startswith("~") for text in overrides):
            if "list indices must be integers" in errors[0]:
                return ITEMS
            if re.search(r"does not exist|Error merging override ~|MissingMandatoryValue", errors[0]):
                return REMOVES
    if hydra["ok"] and ours["ok"] and str(hydra["config"]) == str(ours["config"]):
        if "resolved" in hydra and all(
            re.search(r"inside a text, but that is a (list|map)", line) for line in errors[1].split("\n")
        ):
            return CONTAINER_IN_TEXT
        if "resolved" in ours and re.search("token recognition error at: '[^\x00-\x7f]", errors[0]):
            return BEYOND_ASCII
        if "resolved" in ours and "GrammarParseError" in errors[0] and "'<EOF>'" in errors[0]:
            return EMPTY
        if "resolved" in ours and "is not an int" in errors[0]:
            return SELECT
    return None
