"""Trained models as folders that `transformers` loads.

Formulas that transformers writes otherwise are folded into the weights, in float64: a scale of the embeddings
or of the attention, a gain or another epsilon of the head norm, λ and λ_init, the order of rotary channels.
T tokens, D = d_model, H heads, K key/value heads, d channels of one softmax map.
"""

import json
import math
import sys
from pathlib import Path

import torch

from difflab import models, safetensors_file
from difflab._weights import Model, read

ELSE = "difflab.load gives it as a torch.nn.Module"


def to_hugging_face(run, folder, results=None):
    """Write config.json, model.safetensors and README.md of a trained model to a new or empty folder.

    The class is Llama for softmax attention, Qwen3 with a norm of queries and keys, GPT2 for a nano block and
    DiffLlama for DIFF V1. `run` and `results` are as for `load`. Raises ValueError for a model that none of
    these classes can express."""
    tensors, metadata = read(run, results)
    config = json.loads(metadata["config"])
    model = config["model"]
    Model(model, tensors)  # refuses tensors that are not the model's
    form = forms(model)
    settings, weights = form(model, {name: tensor.double() for name, tensor in tensors.items()})
    settings |= {"dtype": "float32", "bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; expected a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.float() for name, tensor in weights.items()}
    safetensors_file.write(folder / "model.safetensors", weights, {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(config, settings, metadata), encoding="utf-8")
    return folder


def forms(model):
    """The function that writes this model; ValueError if there is none."""
    attention = model["attention"]
    needed = {"gate": "none", "sink": "none"}
    if model["block"] == "nano":
        form, needed = gpt2, needed | {"kind": "softmax", "head_norm": "none", "qk_norm": "none"}
        positions = "learned"
    elif attention["kind"] == "diff_v1":
        form, needed = diffllama, needed | {"head_norm": "rms", "qk_norm": "none", "key_pairing": "group"}
        positions = "rotary"
        if attention["signal_per_noise"] != 1:
            raise ValueError(f"transformers has no grouped differential attention; {ELSE}")
        if attention["lambda_per"] != "layer" and attention["lambda_form"] != "constant":
            raise ValueError(f"transformers has one λ per layer, this model one per {attention['lambda_per']}; {ELSE}")
    else:
        form, needed = llama, needed | {"kind": "softmax", "head_norm": "none"}
        positions = "rotary"
    for key, value in needed.items():
        if attention.get(key, value) != value:
            raise ValueError(f"transformers has no class with attention.{key} {attention[key]}; {ELSE}")
    if model["positions"] != positions:
        raise ValueError(f"{form.__name__} has {positions} positions, this model {model['positions']}; {ELSE}")
    if model["tied_head"] and embedding_scale(model) != 1:
        raise ValueError(f"the head is tied to embeddings that are scaled, which transformers has not; {ELSE}")
    return form


def embedding_scale(model):
    scale = model.get("embedding_scale", 1)
    return math.sqrt(model["d_model"]) if scale == "sqrt_width" else scale


def llama(model, tensors):
    """Llama, or Qwen3, whose heads have a norm of queries and keys."""
    c, D = model["attention"], model["d_model"]
    H, eps = c["heads"], model["norm_eps"]
    K, d = c["kv_heads"] or H, c["head_dim"] or D // H
    turned = order(d, model["rope_layout"])
    name = "Qwen3" if c["qk_norm"] == "rms" else "Llama"
    settings, weights = rotary_model(model, tensors, name, H, K, d)
    for layer in range(model["layers"]):
        own, theirs = f"layers.{layer}.attn.", f"model.layers.{layer}.self_attn."
        for part, heads in (("q", H), ("k", K)):
            rows = tensors[f"{own}{part}_proj.weight"].unflatten(0, (heads, d))[:, turned]
            if name == "Qwen3":
                rows = rows * epsilon_factor(eps, c["qk_norm_eps"])
                weights[f"{theirs}{part}_norm.weight"] = tensors[f"{own}{part}_norm.weight"][turned]
            weights[f"{theirs}{part}_proj.weight"] = rows.flatten(0, 1)
        weights[f"{theirs}v_proj.weight"] = tensors[f"{own}v_proj.weight"]
        weights[f"{theirs}o_proj.weight"] = tensors[f"{own}out_proj.weight"] * model.get("attention_scale", 1)
    return settings, weights


def diffllama(model, tensors):
    """DiffLlama, which counts maps as heads: those that are subtracted from come first, then the subtracted."""
    c, D = model["attention"], model["d_model"]
    H, eps = c["heads"], model["norm_eps"]
    K, d = c["kv_heads"] or H, c["head_dim"] or D // (2 * H)
    turned = order(d, model["rope_layout"])
    settings, weights = rotary_model(model, tensors, "DiffLlama", 2 * H, 2 * K, d)

    def halves(name, heads, channels):
        return tensors[name].unflatten(0, (heads, 2, d)).transpose(0, 1)[:, :, channels].flatten(0, 2)

    for layer in range(model["layers"]):
        own, theirs = f"layers.{layer}.attn.", f"model.layers.{layer}.self_attn."
        weights[f"{theirs}q_proj.weight"] = halves(f"{own}q_proj.weight", H, turned)
        keys = f"{own}q_proj.weight" if c["symmetric"] else f"{own}k_proj.weight"
        weights[f"{theirs}k_proj.weight"] = halves(keys, K, turned)
        weights[f"{theirs}v_proj.weight"] = halves(f"{own}v_proj.weight", K, slice(None)) * epsilon_factor(eps, c["norm_eps"])

        init, fixed = models.lambda_init(c["lambda_init"], layer), models.lambda_init("schedule", layer)
        w = models.Weights(tensors, own)
        value = models.diff_lambda(c, w, tensors[f"{own}q_proj.weight"], init, H, d).item() - fixed
        for part in ("q1", "k1", "q2", "k2"):
            weights[f"{theirs}lambda_{part}"] = torch.zeros(d, dtype=torch.float64)
            weights[f"{theirs}lambda_{part}"][0] = 1
        weights[f"{theirs}lambda_q1"][0] = math.log1p(max(value, 0))  # e^q1 − e^q2 is the value
        weights[f"{theirs}lambda_q2"][0] = math.log1p(max(-value, 0))

        factor = (1 - init if c["post_scale"] else 1) / (1 - fixed) * model.get("attention_scale", 1)
        gain = tensors[f"{own}subln.weight"].repeat(H)
        weights[f"{theirs}o_proj.weight"] = tensors[f"{own}out_proj.weight"] * gain * factor
    return settings, weights


def epsilon_factor(theirs, ours):
    """What x is scaled by so that x/√(x² + theirs) is what x/√(x² + ours) was."""
    if theirs == ours:
        return 1
    if 0 in (theirs, ours):
        raise ValueError(f"transformers has one epsilon, this model {theirs:g} and {ours:g}, of which 0 is not the other scaled; {ELSE}")
    return math.sqrt(theirs / ours)


def order(d, layout):
    """Our channels of a head in the order in which transformers turns j with j + d/2."""
    return [*range(0, d, 2), *range(1, d, 2)] if layout == "interleaved" else [*range(d)]


def rotary_model(model, tensors, name, heads, kv_heads, head_dim):
    """Settings, and all weights but those of the attention."""
    rope = {"rope_type": "default", "rope_theta": model["rope_theta"]}
    hidden = tensors["layers.0.ffn.gate.weight"].shape[0]
    settings = {
        "architectures": [f"{name}ForCausalLM"], "model_type": name.lower(),
        "vocab_size": tensors["tok_embeddings.weight"].shape[0], "hidden_size": model["d_model"],
        "intermediate_size": hidden, "num_hidden_layers": model["layers"], "num_attention_heads": heads,
        "num_key_value_heads": kv_heads, "head_dim": head_dim, "rms_norm_eps": model["norm_eps"],
        "rope_theta": model["rope_theta"], "rope_parameters": rope,  # the first for versions before 5
        "tie_word_embeddings": model["tied_head"], "hidden_act": "silu", "attention_bias": False,
        "max_position_embeddings": 32768,
    }
    weights = {
        "model.embed_tokens.weight": tensors["tok_embeddings.weight"] * embedding_scale(model),
        "model.norm.weight": tensors["norm.weight"],
    }
    if not model["tied_head"]:
        weights["lm_head.weight"] = tensors["output.weight"]
    renamed = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "ffn.gate": "mlp.gate_proj",
               "ffn.up": "mlp.up_proj", "ffn.down": "mlp.down_proj"}
    for layer in range(model["layers"]):
        for ours, theirs in renamed.items():
            weights[f"model.layers.{layer}.{theirs}.weight"] = tensors[f"layers.{layer}.{ours}.weight"]
    return settings, weights


def gpt2(model, tensors):
    """GPT2, whose matrices are [in, out], with q, k and v in one. Biases that the model lacks are 0."""
    c, D = model["attention"], model["d_model"]
    if (c["kv_heads"] or c["heads"]) != c["heads"] or (c["head_dim"] or D // c["heads"]) * c["heads"] != D:
        raise ValueError(f"GPT2 has as many keys as queries, D wide in all; {ELSE}")
    if "output.bias" in tensors:
        raise ValueError(f"GPT2's head has no bias, this model's has: train with model.tied_head=true; {ELSE}")
    settings = {
        "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": tensors["tok_embeddings.weight"].shape[0],
        "n_embd": D, "n_layer": model["layers"], "n_head": c["heads"], "n_inner": tensors["layers.0.ffn.fc.weight"].shape[0],
        "n_positions": model["max_positions"], "activation_function": "gelu", "layer_norm_epsilon": model["norm_eps"],
        "tie_word_embeddings": model["tied_head"], "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
    }
    weights = {
        "transformer.wte.weight": tensors["tok_embeddings.weight"] * embedding_scale(model),
        "transformer.wpe.weight": tensors["positions.weight"],
    }
    if not model["tied_head"]:
        weights["lm_head.weight"] = tensors["output.weight"]

    def add(theirs, *ours, scale=1, matrix=True):
        parts = [tensors[f"{name}.weight"] for name in ours]
        bias = [tensors.get(f"{name}.bias", torch.zeros(len(part), dtype=part.dtype)) for name, part in zip(ours, parts)]
        weight = torch.cat(parts) * scale
        weights[f"transformer.{theirs}.weight"] = weight.T if matrix else weight
        weights[f"transformer.{theirs}.bias"] = torch.cat(bias) * scale

    add("ln_f", "norm", matrix=False)
    for layer in range(model["layers"]):
        own, h = f"layers.{layer}", f"h.{layer}"
        add(f"{h}.ln_1", f"{own}.attn_norm", matrix=False)
        add(f"{h}.attn.c_attn", *(f"{own}.attn.{part}_proj" for part in "qkv"))
        add(f"{h}.attn.c_proj", f"{own}.attn.out_proj", scale=model.get("attention_scale", 1))
        add(f"{h}.ln_2", f"{own}.ffn_norm", matrix=False)
        add(f"{h}.mlp.c_fc", f"{own}.ffn.fc")
        add(f"{h}.mlp.c_proj", f"{own}.ffn.proj")
    return settings, weights


def card(config, settings, metadata):
    """The model card: settings, and that one seed shows little."""
    task, train, model = config["task"], config["train"], config["model"]
    stages = [f"{stage['train']['steps']} steps" for stage in config.get("stages", [])]
    before = f" after stages of {', '.join(stages)}" if stages else ""
    size = f"{model['layers']} layers, d_model {model['d_model']}, attention `{model['attention']['kind']}`"
    return f"""---
library_name: transformers
tags: [difflab, {settings['model_type']}]
---

# {model['name']}

Trained by difflab: run `{metadata.get("run", "unknown")}`, seed {config['seed']}; {size};
task `{task['kind']}`; {train['steps']} steps of {train['batch_size']} sequences at most, learning rate {train['lr']:g}{before}.
One seed supports no claim: see the experiment's report for means and intervals.

```python
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("PATH")  # this folder
logits = model(torch.tensor([[0, 1, 2]])).logits      # token numbers of the task: there is no tokenizer
```

The whole configuration:

```json
{json.dumps(config, indent=1, sort_keys=True)}
```
"""


if __name__ == "__main__":
    try:
        to_hugging_face(sys.argv[1], sys.argv[2])
    except (ValueError, OSError) as problem:
        sys.exit(f"error: {problem}")
