"""Compares logits that difflab wrote with those of models.py.

Usage: check.py FILE...
Each FILE is a safetensors file with the parameters under the official names, "check.tokens",
"check.logits" and the model's configuration as the metadata "config". Prints one line per file;
exit code 1 if any differs, or if its names are not exactly those of the model.
"""

import json
import math
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/python"))
from difflab import models, safetensors_file

TOLERANCE = 1e-5  # of max |difference| / max |difflab's|


def relative_error(ours, theirs):
    if ours.shape != theirs.shape:
        raise ValueError(f"shape {list(theirs.shape)}, expected {list(ours.shape)}")
    difference, size = (ours - theirs).abs().max().item(), theirs.abs().max().item()
    return difference / size if size else math.inf


def error_of(tensors, config):
    """How far the written logits are from ours; ValueError if the file is not of this model."""
    tensors = dict(tensors)
    for name in ("check.tokens", "check.logits"):
        if name not in tensors:
            raise ValueError(f"it has no {name}")
    tokens, theirs = tensors.pop("check.tokens"), tensors.pop("check.logits")
    weights = models.Weights({name: tensor.double() for name, tensor in tensors.items()})
    ours = models.logits(config, weights, tokens)
    if weights.unused():
        raise ValueError(f"not parameters of this model: {', '.join(weights.unused())}")
    return relative_error(ours, theirs.double())


def check(path):
    """Whether the file agrees, and one line that says so."""
    name = pathlib.Path(path).name
    try:
        tensors, metadata = safetensors_file.read(path)
        if "config" not in metadata:
            raise ValueError("its metadata have no config")
        error = error_of(tensors, json.loads(metadata["config"])["model"])
    except KeyError as missing:
        return False, f"{name}: FAILED: its config has no {missing}, or an unknown choice of that name"
    except (ValueError, IndexError, RuntimeError, OSError) as problem:
        return False, f"{name}: FAILED: {problem}"
    agrees = error <= TOLERANCE  # false for NaN
    return agrees, f"{name}: {'ok' if agrees else 'FAILED'}: relative error {error:.1e}"


def main(paths):
    if not paths:
        print(__doc__)
        return 2
    torch.set_num_threads(1)
    results = [check(path) for path in paths]
    for _, line in results:
        print(line)
    return 0 if all(agrees for agrees, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
