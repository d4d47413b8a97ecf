"""Writes a small DIFF V1 model with its logits, for difflab to load and compare.

Usage: write_model.py OUT
The file is what check.py reads: parameters, "check.tokens", "check.logits" (float32), "config".
"""

import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/python"))
from difflab import models, safetensors_file

VOCAB, FFN, BATCH, TOKENS = 11, 64, 2, 9
CONFIG = {
    "name": "diff_v1_from_python",
    "d_model": 16,
    "layers": 2,
    "block": "llama",
    "ffn_hidden": FFN,
    "norm_eps": 1e-5,
    "positions": "rotary",
    "rope_theta": 10000,
    "rope_layout": "interleaved",
    "max_positions": 300,
    "tied_head": False,
    "dropout": 0.0,
    "init_std": None,
    "embedding_std": None,
    "attention": {
        "kind": "diff_v1",
        "heads": 2,
        "kv_heads": None,
        "head_norm": "rms",
        "post_scale": True,
        "lambda_init": "schedule",
        "lambda_form": "exponential",
        "lambda_per": "layer",
        "lambda_std": 0.1,
        "key_pairing": "group",
        "symmetric": False,
        "norm_eps": 1e-5,
    },
}


def parameters(random):
    """Every gain differs from 1 and λ from λ_init, so that a forgotten one shows."""
    D = CONFIG["d_model"]
    d = D // (2 * CONFIG["attention"]["heads"])

    def gain(width):
        return 1 + 0.2 * torch.randn(width, generator=random)

    def matrix(out, into):
        return (2 * torch.rand(out, into, generator=random) - 1) * 2 / into**0.5

    tensors = {"tok_embeddings.weight": torch.randn(VOCAB, D, generator=random)}
    for layer in range(CONFIG["layers"]):
        own = {"attn_norm.weight": gain(D)}
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            own[f"attn.{name}.weight"] = matrix(D, D)
        for name in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
            own[f"attn.{name}"] = 0.25 * torch.randn(d, generator=random)
        own["attn.subln.weight"] = gain(2 * d)
        own["ffn_norm.weight"] = gain(D)
        own["ffn.gate.weight"] = matrix(FFN, D)
        own["ffn.up.weight"] = matrix(FFN, D)
        own["ffn.down.weight"] = matrix(D, FFN)
        tensors.update({f"layers.{layer}.{name}": tensor for name, tensor in own.items()})
    return tensors | {"norm.weight": gain(D), "output.weight": matrix(VOCAB, D)}


def main(path):
    random = torch.Generator().manual_seed(20241007)
    tensors = parameters(random)
    tokens = torch.randint(VOCAB, (BATCH, TOKENS), generator=random)
    logits = models.logits(CONFIG, models.Weights(tensors), tokens)
    check = {"check.tokens": tokens, "check.logits": logits}
    safetensors_file.write(path, tensors | check, {"config": json.dumps({"model": CONFIG})})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    main(sys.argv[1])
