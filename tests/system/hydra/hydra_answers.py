"""What the installed Hydra answers, in the encoding of tests/config/fixtures/hydra."""

import copy
import math
import warnings

from hydra import compose, initialize_config_dir
from hydra._internal.config_repository import CachingConfigRepository
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    ChoiceSweep,
    Glob,
    IntervalSweep,
    QuotedString,
    RangeSweep,
    ValueType,
)
from omegaconf import OmegaConf

warnings.filterwarnings("ignore")
PARSER = OverridesParser.create()


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def patterns(items):
    return [item.text if isinstance(item, QuotedString) else element(item) for item in items]


def element(value):
    if isinstance(value, QuotedString):
        return {"quoted": value.text, "quote": value.quote.name}
    if isinstance(value, float):
        return {"float": number(value)}
    if isinstance(value, list):
        return [element(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[element(key), element(item)] for key, item in value.items()]}
    if isinstance(value, ChoiceSweep):
        return {
            "choice": [element(item) for item in value.list],
            "simple": value.simple_form,
            "shuffle": value.shuffle,
            "tags": sorted(value.tags),
        }
    if isinstance(value, RangeSweep):
        return {
            "range": [number(value.start), number(value.stop), number(value.step)],
            "shuffle": value.shuffle,
            "tags": sorted(value.tags),
        }
    if isinstance(value, IntervalSweep):
        return {"interval": [number(value.start), number(value.end)], "tags": sorted(value.tags)}
    if isinstance(value, Glob):
        return {"glob": {"include": patterns(value.include), "exclude": patterns(value.exclude)}}
    return value


def expansion(override, limit):
    """The values of a sweep as texts; null if Hydra refuses; False if there are too many."""
    values = []
    try:
        for value in override.sweep_string_iterator():
            if len(values) == limit:
                return False
            values.append(value)
    except Exception:
        return None
    return values


def parse(text, limit=1000):
    """{"ok": True, "type": …} or {"ok": False, "error": …}."""
    try:
        override = PARSER.parse_override(text)
        answer = {
            "ok": True,
            "type": override.type.name,
            "key": override.key_or_group,
            "package": override.package,
            "value_type": override.value_type.name if override.value_type else None,
            "value": element(override._value),
        }
        shuffled = getattr(override._value, "shuffle", False)
        if override.value_type in (ValueType.CHOICE_SWEEP, ValueType.SIMPLE_CHOICE_SWEEP, ValueType.RANGE_SWEEP):
            if not shuffled:
                answer["sweep"] = expansion(override, limit)
        return answer
    except Exception as error:  # of any type: whatever it is, Hydra does not take this text
        return {"ok": False, "error": f"{type(error).__name__}: {error}".split("\n")[0]}


def with_causes(error):
    texts = []
    while error:
        texts.append(f"{type(error).__name__}: {error}")
        error = error.__cause__ or error.__context__
    return " <- ".join(texts)


def plain(config, resolve):
    return OmegaConf.to_container(config, resolve=resolve)


def composed(folder, overrides):
    """{"ok", "config", "resolved" or "resolve_error"} or {"ok": False, "error"}."""
    try:
        with initialize_config_dir(str(folder), version_base="1.3"):
            config = compose("config", overrides)
        answer = {"ok": True, "config": plain(config, False)}
    except (Exception, RecursionError) as error:
        return {"ok": False, "error": with_causes(error)}
    try:
        answer["resolved"] = plain(config, True)
    except (Exception, RecursionError) as error:
        answer["resolve_error"] = with_causes(error)
    return answer


def composed_with_copies(folder, overrides):
    """The same with a copy of a file for each use; Hydra merges into the one that it has loaded."""
    load = CachingConfigRepository.load_config
    CachingConfigRepository.load_config = lambda self, config_path: copy.deepcopy(load(self, config_path))
    try:
        return composed(folder, overrides)
    finally:
        CachingConfigRepository.load_config = load
