"""Models written for transformers: their logits by its formulas, and what is refused.

Usage: test_hugging_face.py [--transformers]   with --transformers by the library itself, which is not among
this project's packages: its environment lends PyTorch. Exit code 77 if there is none.
"""

import itertools
import json
import math
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
if "--transformers" in sys.argv:
    sys.path += map(str, ROOT.glob(".venv/lib/python3*/site-packages"))
try:
    import torch
except ImportError:
    sys.exit(77)

from test_models import DIFF_V1, DIFF_V2, LLAMA, NANO, SOFTMAX, VOCAB, InventedWeights, refusal
from difflab import models, safetensors_file
from difflab._hugging_face import to_hugging_face

TOLERANCE = 1e-5  # of the largest logit; files are float32
PLAIN = SOFTMAX | {"gate": "none", "sink": "none", "qk_norm": "none", "qk_norm_eps": 1e-6}
DIFF = DIFF_V1 | {"gate": "none", "sink": "none", "qk_norm": "none", "signal_per_noise": 1, "head_dim": None}
ROTARY = LLAMA | {"d_model": 48, "layers": 3, "attention_scale": 1, "embedding_scale": 1}
SHAKESPEARE = NANO | {"d_model": 48, "layers": 2, "max_positions": 40, "attention_scale": 1, "embedding_scale": 1,
                      "tied_head": True}


# ---- the formulas of transformers' classes, from config.json and model.safetensors ------------------


def rms(x, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def turn(x, theta):
    d = x.shape[-1]
    angles = torch.arange(x.shape[1])[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    cos, sin = (torch.cat((part, part), -1)[:, None].double() for part in (angles.cos(), angles.sin()))
    return x * cos + torch.cat((-x[..., d // 2 :], x[..., : d // 2]), -1) * sin


def mixed(q, k, v):
    scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    return torch.einsum("bhts,bshd->bthd", scores.softmax(-1), v)


def rotary_logits(c, w, tokens):
    """Llama, Qwen3 and DiffLlama."""
    H, K, d, eps = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["rms_norm_eps"]
    theta = c["rope_parameters"]["rope_theta"]
    assert c["rope_theta"] == theta and c["rope_parameters"]["rope_type"] == "default"
    x = w["model.embed_tokens.weight"][tokens]
    for layer in range(c["num_hidden_layers"]):
        own = {name.split(".", 3)[3]: value for name, value in w.items() if name.startswith(f"model.layers.{layer}.")}
        y = rms(x, eps) * own["input_layernorm.weight"]
        q, k, v = ((y @ own[f"self_attn.{part}_proj.weight"].T).unflatten(-1, (-1, d)) for part in "qkv")
        if c["model_type"] == "qwen3":
            q, k = (rms(part, eps) * own[f"self_attn.{name}_norm.weight"] for name, part in (("q", q), ("k", k)))
        q, k = turn(q, theta), turn(k, theta).repeat_interleave(H // K, 2)
        if c["model_type"] == "diffllama":
            v = torch.cat([half.repeat(1, 1, 2, 1).repeat_interleave(H // K, 2) for half in v.chunk(2, 2)], -1)
            first, second = mixed(q, k, v).chunk(2, 2)
            exponent = [(own[f"self_attn.lambda_q{i}"] * own[f"self_attn.lambda_k{i}"]).sum() for i in (1, 2)]
            init = 0.8 - 0.6 * math.exp(-0.3 * layer)
            o = (1 - init) * rms(first - (exponent[0].exp() - exponent[1].exp() + init) * second, eps)
        else:
            o = mixed(q, k, v.repeat_interleave(H // K, 2))
        x = x + o.flatten(2) @ own["self_attn.o_proj.weight"].T
        y = rms(x, eps) * own["post_attention_layernorm.weight"]
        gate, up, down = (own[f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
        x = x + (torch.nn.functional.silu(y @ gate.T) * (y @ up.T)) @ down.T
    x = rms(x, eps) * w["model.norm.weight"]
    return x @ w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"].T


def gpt2_logits(c, w, tokens):
    D, H = c["n_embd"], c["n_head"]

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (D,), w[f"{name}.weight"], w[f"{name}.bias"], c["layer_norm_epsilon"])

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][: tokens.shape[1]]
    for h in (f"transformer.h.{layer}" for layer in range(c["n_layer"])):
        q, k, v = (part.unflatten(-1, (H, D // H)) for part in linear(norm(x, f"{h}.ln_1"), f"{h}.attn.c_attn").chunk(3, -1))
        x = x + linear(mixed(q, k, v).flatten(2), f"{h}.attn.c_proj")
        y = torch.nn.functional.gelu(linear(norm(x, f"{h}.ln_2"), f"{h}.mlp.c_fc"))
        x = x + linear(y, f"{h}.mlp.c_proj")
    return norm(x, "transformer.ln_f") @ w["transformer.wte.weight" if c["tie_word_embeddings"] else "lm_head.weight"].T


def by_formulas(folder, tokens):
    settings = json.loads((folder / "config.json").read_text())
    tensors, metadata = safetensors_file.read(folder / "model.safetensors")
    assert metadata == {"format": "pt"} and {tensor.dtype for tensor in tensors.values()} == {torch.float32}
    logits = gpt2_logits if settings["model_type"] == "gpt2" else rotary_logits
    return logits(settings, {name: tensor.double() for name, tensor in tensors.items()}, tokens)


def by_library(folder, tokens):
    """transformers' logits. Its greedy continuation has to be the one that its logits give without a cache."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        answer = model.generate(tokens[:1], attention_mask=torch.ones_like(tokens[:1]), max_new_tokens=5, do_sample=False)
        written = tokens[:1]
        for _ in range(5):
            written = torch.cat((written, by_formulas(folder, written)[:, -1:].argmax(-1)), 1)
        assert torch.equal(answer, written), (answer, written)
        return model(tokens).logits.double()


# ---- the models --------------------------------------------------------------------------------------


def expressible():
    """Every option that a class of transformers has, alone, and pairs of those that meet in one formula."""
    shapes = [{}, {"rope_layout": "halves"}, {"rope_theta": 500.0}, {"norm_eps": 1e-3}, {"tied_head": True},
              {"embedding_scale": "sqrt_width"}, {"attention_scale": 0.5}, {"ffn_hidden": 40}]
    plain = [{}, {"kv_heads": 2}, {"kv_heads": 1}, {"head_dim": 8}, {"qk_norm": "rms"}, {"qk_norm": "rms", "kv_heads": 2}]
    diff = [{}, {"heads": 4, "kv_heads": 2}, {"heads": 4, "kv_heads": 1}, {"head_dim": 8}, {"symmetric": True},
            {"post_scale": False}, {"lambda_init": 0.8}, {"lambda_init": [0.2, 0.5, 0.9]}, {"lambda_init": "motif_schedule"},
            {"norm_eps": 1e-3}, {"lambda_sign": "positive"}]
    diff += [{"lambda_form": form} for form in ("scalar", "scalar_exponential")]
    diff += [{"lambda_form": "constant", "lambda_per": per, "lambda_init": 0.0} for per in ("layer", "head")]
    for shape, own in itertools.product(shapes, plain):
        yield ROTARY | shape | {"attention": PLAIN | own}
    for shape, own in itertools.product(shapes, diff):
        yield ROTARY | shape | {"attention": DIFF | own}
    for shape in ({}, {"biases": False}, {"norm_eps": 1e-3}, {"attention_scale": 0.5}, {"ffn_hidden": 40},
                  {"biases": False, "tied_head": False, "embedding_scale": "sqrt_width"}):
        yield SHAKESPEARE | shape | {"attention": PLAIN}


def written(model, folder):
    """A model with invented weights, as a file of difflab export and, from it, as a folder of transformers."""
    weights = InventedWeights({})
    models.logits(model, weights, torch.zeros((1, 1), dtype=torch.long))
    tensors = {name: tensor.float() for name, tensor in weights.tensors.items()}
    config = {"model": model, "seed": 3, "task": {"kind": "text"}, "train": {"steps": 9, "batch_size": 2, "lr": 1e-3}}
    file = folder / "weights.safetensors"
    safetensors_file.write(file, tensors, {"config": json.dumps(config)})
    return tensors, to_hugging_face(file, folder / "hf")


def logits_are_equal(library):
    tokens = torch.randint(VOCAB, (2, 11), generator=torch.Generator().manual_seed(3))
    worst, classes = 0.0, {}
    for model in expressible():
        with tempfile.TemporaryDirectory() as name:
            tensors, folder = written(model, pathlib.Path(name))
            ours = models.logits(model, models.Weights({name: tensor.double() for name, tensor in tensors.items()}), tokens)
            for logits in (by_formulas, by_library)[: 1 + library]:
                error = ((logits(folder, tokens) - ours).abs().max() / ours.abs().max()).item()
                assert error <= TOLERANCE, f"{logits.__name__}: {error:.1e} with {model}"
                worst = max(worst, error)
            made = json.loads((folder / "config.json").read_text())["architectures"][0]
            classes[made] = classes.get(made, 0) + 1
    assert set(classes) == {"LlamaForCausalLM", "Qwen3ForCausalLM", "DiffLlamaForCausalLM", "GPT2LMHeadModel"}
    print(f"{sum(classes.values())} models as {classes}, largest error {worst:.1e}")


def others_are_refused():
    cases = [
        (ROTARY | {"attention": DIFF_V2}, "kind diff_v2"),
        (ROTARY | {"attention": PLAIN | {"gate": "head"}}, "gate head"),
        (ROTARY | {"attention": PLAIN | {"sink": "off_by_one"}}, "sink off_by_one"),
        (ROTARY | {"attention": PLAIN | {"head_norm": "rms"}}, "head_norm rms"),
        (ROTARY | {"attention": DIFF | {"head_norm": "none"}}, "head_norm none"),
        (ROTARY | {"attention": DIFF | {"qk_norm": "rms"}}, "qk_norm rms"),
        (ROTARY | {"attention": DIFF | {"key_pairing": "naive"}}, "key_pairing naive"),
        (ROTARY | {"attention": DIFF | {"signal_per_noise": 2}}, "grouped"),
        (ROTARY | {"attention": DIFF | {"lambda_per": "token"}}, "one per token"),
        (ROTARY | {"attention": DIFF | {"lambda_per": "head"}}, "one per head"),
        (ROTARY | {"attention": PLAIN, "positions": "none"}, "rotary positions"),
        (ROTARY | {"attention": PLAIN, "tied_head": True, "embedding_scale": "sqrt_width"}, "tied"),
        (ROTARY | {"attention": DIFF, "norm_eps": 0.0}, "one epsilon"),
        (ROTARY | {"attention": PLAIN | {"qk_norm": "rms", "qk_norm_eps": 0.0}}, "one epsilon"),
        (SHAKESPEARE | {"attention": DIFF}, "kind diff_v1"),
        (SHAKESPEARE | {"attention": PLAIN, "tied_head": False}, "head has no bias"),
        (SHAKESPEARE | {"attention": PLAIN | {"kv_heads": 2}}, "as many keys"),
    ]
    for model, words in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            said = refusal(written, model, folder)
            assert words in said and "difflab.load" in said, (words, said)
            assert not (folder / "hf").exists()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        written(ROTARY | {"attention": PLAIN}, folder)
        assert "not empty" in refusal(to_hugging_face, folder / "weights.safetensors", folder / "hf")
    print(f"{len(cases)} models refused")


if __name__ == "__main__":
    logits_are_equal("--transformers" in sys.argv)
    others_are_refused()
