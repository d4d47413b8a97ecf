"""The command `difflab`: checks that PyTorch fits, then becomes the program."""

import os
import shlex
import sys
from pathlib import Path

from difflab._install import HERE, Refused, environment

EXPERIMENT = """\
# @package _global_
# difflab sweep mine            trains what is missing, then table, figures and report: minutes
# difflab sweep mine --dry-run  checks everything, lists the runs, runs nothing
# Every key: difflab list keys. Every option file: difflab list groups.
title: Does DIFF find needles sooner than a Transformer with heads as wide?
question: >-
  After how many steps does each model find one of four needles? The Transformer has as many heads, of
  the same width, with the same norm behind each.

defaults:
  - /suite: found                  # steps until nine of ten are found, compared as ratios
  - override /task: needle_recall  # one of four needles in 64 tokens
  - override /train: short
  - override /init: yoco           # embeddings √D · N(0, 1/D)

baseline: transformer_half_heads_head_norm
sweep:
  model: [transformer_half_heads_head_norm, diff, diff_v2]
  seed: range(8)                   # fewer give no verdict
tune: {key: "", values: []}        # without this line each model's rate is found first
train: {lr: 4e-3}

claims:
  - {text: DIFF finds needles sooner, metric: steps_to_found, variant: diff, expect: lower}
labels: {transformer_half_heads_head_norm: "Transformer, 2 heads of 32 + norm", diff: DIFF, diff_v2: DIFF V2}
tables:
  - {name: table, rows: model, columns: [parameters, train.lr, steps_to_found]}
figures:
  - {mark: survival, name: found, title: Models that find needles, event: steps_to_found, color: model}
"""


def init(words: "list[str]") -> None:
    """difflab init [DIR]: a folder with an experiment to begin with."""
    if len(words) > 1 or any(word.startswith("-") for word in words):
        raise Refused("init takes one folder, or none for this one: difflab init my-study")
    folder = Path(words[0] if words else ".")
    mine = folder / "experiments" / "mine.yaml"
    if mine.exists():
        raise Refused(f"{mine} is there; expected a folder without it")
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text(EXPERIMENT, encoding="utf-8")
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("/results/runs/\n/results/trainings/\n/data/\n", encoding="utf-8")
    inside = f"cd {shlex.quote(str(folder))} && " if words else ""
    print(f"{mine}\n\nNext: {inside}difflab sweep mine")


def main() -> None:
    words = sys.argv[1:]
    try:
        if words[:1] == ["init"]:
            return init(words[1:])
        variables = environment()
    except (Refused, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    sys.stdout.flush()
    os.execve(HERE / "_bin" / "difflab", ["difflab", *words], variables)


if __name__ == "__main__":
    main()
