"""Anchors the Python side: models.py against the official modules' answers, PyTorch's own layer and
the parameter counts of the specification; check.py and the reader against files that are wrong.

Usage: test_models.py [FOLDER_OF_REFERENCE_CASES]
"""

import contextlib
import copy
import io
import json
import pathlib
import sys
import tempfile

import torch

import check
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src/python"))
from difflab import models, safetensors_file
import write_model

REFERENCE = pathlib.Path(__file__).parent.parent / "model" / "reference"
TOLERANCE = 1e-10
MODULE_CASES = 14
VOCAB = 65

SOFTMAX = {
    "kind": "softmax", "heads": 4, "kv_heads": None, "head_dim": None, "head_norm": "none",
    "norm_eps": 1e-5,
}
DIFF_V1 = write_model.CONFIG["attention"]
DIFF_V2 = SOFTMAX | {"kind": "diff_v2", "pairing": "interleaved", "lambda": "sigmoid"}
LLAMA = write_model.CONFIG
NANO = LLAMA | {
    "block": "nano",
    "ffn_hidden": 0,
    "positions": "learned",
}


class InventedWeights(models.Weights):
    """Draws every tensor that the model asks for and that is not there in that shape."""

    random = torch.Generator().manual_seed(1)

    def __call__(self, name, *shape):
        shape = [VOCAB if size is None else size for size in shape]  # also the SwiGLU width
        there = self.tensors.get(self.prefix + name)
        if there is None or list(there.shape) != shape:
            drawn = torch.randn(shape, generator=self.random, dtype=torch.float64)
            self.tensors[self.prefix + name] = drawn / (shape[-1] if len(shape) > 1 else 4) ** 0.5
        return super().__call__(name, *shape)


def assert_close(name, ours, theirs, absolute=False):
    assert ours.shape == theirs.shape, f"{name}: {ours.shape} against {theirs.shape}"
    difference, size = (ours - theirs).abs().max(), 1 if absolute else theirs.abs().max()
    assert difference <= TOLERANCE * size, f"{name}: {difference:.1e}"


def refusal(action, *arguments):
    try:
        action(*arguments)
    except ValueError as problem:
        return str(problem)
    return "accepted"


# ---- the official modules ------------------------------------------------------------------------


def read_case(path):
    """The tensors in float64, the parameters among them (under our names), the case's shape."""
    tensors, metadata = safetensors_file.read(path)
    peer = json.loads(metadata["peer"])
    plain = peer.get("variant") == "v2_off" or peer.get("attention") == "baseline"

    def ours(name):  # the plain attention of DIFF V2's file names its last projection as V2 does
        return name.replace("o_proj", "out_proj") if plain and "out_proj" not in name else name

    tensors = {ours(n): t.double() if t.is_floating_point() else t for n, t in tensors.items()}
    parameters = {n[6:]: t.requires_grad_() for n, t in tensors.items() if n.startswith("param.")}
    return tensors, parameters, peer


def attention_of(peer):
    variant = peer["variant"]
    heads = {"heads": peer["num_heads"], "kv_heads": peer["num_kv_heads"]}
    if variant in ("baseline", "v2_off"):
        return SOFTMAX | heads
    if variant == "v2":
        return DIFF_V2 | heads | {"head_dim": peer["head_dim"]}
    return DIFF_V1 | heads | {"key_pairing": "naive" if variant == "v1_naive" else "group"}


def check_module(path):
    tensors, parameters, peer = read_case(path)
    weights = models.Weights(parameters)
    rotate = models.rotation(LLAMA, (tensors["rotary_cos"], tensors["rotary_sin"]))
    x = tensors["x"].requires_grad_()
    y = models.attention(attention_of(peer), weights, x, rotate, peer["depth"])
    (y * tensors["w"]).sum().backward()
    assert not weights.unused(), f"{path.name}: {weights.unused()} unused"
    assert_close(f"{path.name}: y", y, tensors["y"])
    assert_close(f"{path.name}: grad.x", x.grad, tensors["grad.x"])
    for name, parameter in parameters.items():
        # With one token q and k have no gradient and λ's comes from the norm's eps alone.
        tiny = peer["seq_len"] == 1 and name.startswith(("q_proj", "k_proj", "lambda"))
        assert_close(f"{path.name}: grad.{name}", parameter.grad, tensors[f"grad.{name}"], tiny)


def check_language_model(path, attention):
    tensors, parameters, peer = read_case(path)
    weights = models.Weights(parameters)
    config = LLAMA | {"d_model": peer["d_model"], "layers": peer["layers"], "attention": attention}
    config["ffn_hidden"] = peer["ffn_hidden"]
    tokens = tensors["tokens"][0]  # of the first step
    table = (tensors["rotary_cos"], tensors["rotary_sin"])
    logits = models.logits(config, weights, tokens[:, :-1], table)
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    assert not weights.unused(), f"{path.name}: {weights.unused()} unused"
    assert_close(f"{path.name}: loss", loss, torch.tensor(peer["loss"][0], dtype=torch.float64))
    for name, parameter in parameters.items():
        assert_close(f"{path.name}: grad0.{name}", parameter.grad, tensors[f"grad0.{name}"])


def check_rotary_table(path):
    tensors, _, peer = read_case(path)
    cos, sin = models.rotary_table(peer["seq_len"], peer["head_dim"], 10000, torch.float32)
    assert torch.allclose(cos.double(), tensors["rotary_cos"], atol=1e-6, rtol=0), path.name
    assert torch.allclose(sin.double(), tensors["rotary_sin"], atol=1e-6, rtol=0), path.name


# ---- what the official files do not cover --------------------------------------------------------


def some_tokens():
    return torch.randint(VOCAB, (2, 7), generator=InventedWeights.random)


def logits_of(config, tokens, tensors=()):
    """The logits, and the tensors that gave them: the given ones, the others invented."""
    weights = InventedWeights(dict(tensors))
    return models.logits(config, weights, tokens), weights.tensors


def check_parameter_counts():
    """The counts of the specification: vocab 65, D 256, 3 layers, 300 positions."""
    nano = NANO | {"d_model": 256, "layers": 3}
    v1 = DIFF_V1 | {"heads": 8}
    counts = {2_479_937: SOFTMAX | {"heads": 8}, 2_480_225: v1, 2_282_849: v1 | {"symmetric": True}}
    for count, attention in counts.items():
        _, tensors = logits_of(nano | {"attention": attention}, some_tokens())
        assert sum(tensor.numel() for tensor in tensors.values()) == count, attention


def check_nano_block():
    """PyTorch's pre-norm encoder layer with a causal mask is the nano block."""
    D, heads, tokens = 16, 4, some_tokens()
    ours, w = logits_of(NANO | {"attention": SOFTMAX | {"heads": heads}}, tokens)
    future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    renamed = {
        "self_attn.out_proj": "attn.out_proj", "norm1": "attn_norm", "norm2": "ffn_norm",
        "linear1": "ffn.fc", "linear2": "ffn.proj",
    }
    x = w["tok_embeddings.weight"][tokens] + w["positions.weight"][: tokens.shape[1]]
    for layer in range(NANO["layers"]):
        state = {}
        for p in ("weight", "bias"):
            for theirs, name in renamed.items():
                state[f"{theirs}.{p}"] = w[f"layers.{layer}.{name}.{p}"]
            parts = [w[f"layers.{layer}.attn.{part}_proj.{p}"] for part in "qkv"]
            state[f"self_attn.in_proj_{p}"] = torch.cat(parts)
        peer = torch.nn.TransformerEncoderLayer(
            D, heads, 4 * D, dropout=0, activation="gelu", norm_first=True, batch_first=True
        ).double()
        peer.load_state_dict(state)
        x = peer(x, future)
    x = torch.nn.functional.layer_norm(x, (D,), w["norm.weight"], w["norm.bias"])
    assert_close("nano block", ours, x @ w["output.weight"].T + w["output.bias"])


def check_halves_layout():
    """Turning i with i + d/2 is turning 2i with 2i + 1 after the channels have changed places."""
    D, heads, tokens = 16, 4, some_tokens()
    config = LLAMA | {"attention": SOFTMAX | {"heads": heads}}
    interleaved, tensors = logits_of(config, tokens)
    for name in [n for n in tensors if "q_proj" in n or "k_proj" in n]:
        rows = tensors[name].reshape(heads, D // heads, D)
        tensors[name] = torch.cat((rows[:, 0::2], rows[:, 1::2]), 1).reshape(D, D)
    config = config | {"rope_layout": "halves"}
    assert_close("halves layout", logits_of(config, tokens, tensors)[0], interleaved)


def check_lambda_forms():
    """One λ, said in every form: vectors of the layer, of each head, a number, a constant."""
    tokens, config = some_tokens(), LLAMA | {"layers": 1}
    heads, constant = DIFF_V1["heads"], {"lambda_init": 0.3, "post_scale": False}

    def logits(tensors=(), **choices):
        return logits_of(config | {"attention": DIFF_V1 | constant | choices}, tokens, tensors)

    by_layer, w = logits()
    q1, k1, q2, k2 = (w[f"layers.0.attn.lambda_{n}"] for n in ("q1", "k1", "q2", "k2"))
    value = (q1 @ k1).exp() - (q2 @ k2).exp() + 0.3
    by_head = w | {n: t.expand(heads, -1) for n, t in w.items() if ".lambda_" in n}
    assert_close("λ per head", logits(by_head, lambda_per="head")[0], by_layer)
    one = w | {"layers.0.attn.lambda": value[None]}
    assert_close("λ as a number", logits(one, lambda_form="scalar")[0], by_layer)
    constant["lambda_init"] = value.item()
    assert_close("constant λ", logits(w, lambda_form="constant")[0], by_layer)


def check_pairings():
    """With one kv head, map i + H can stand where 2i + 1 stood; then no group is left to cross."""
    tokens, v2 = some_tokens(), DIFF_V2 | {"kv_heads": 1}
    interleaved, tensors = logits_of(LLAMA | {"attention": v2}, tokens)
    across = LLAMA | {"attention": v2 | {"pairing": "across_groups"}}
    assert_close("across one group", logits_of(across, tokens, tensors)[0], interleaved)
    for name in [n for n in tensors if "q_proj" in n]:
        rows = tensors[name].unflatten(0, (v2["heads"], 2, -1))
        tensors[name] = rows.transpose(0, 1).flatten(0, 2)
    halves = LLAMA | {"attention": v2 | {"pairing": "halves"}}
    assert_close("halves", logits_of(halves, tokens, tensors)[0], interleaved)


def check_groups():
    """Heads with one noise map in common are pairs whose second queries are the same."""
    tokens, groups, shared = some_tokens(), {"heads": 4, "signal_per_noise": 2}, {"kv_heads": 1}
    for base in (DIFF_V1 | {"head_dim": 4}, DIFF_V2):
        ours, tensors = logits_of(LLAMA | {"attention": base | shared | groups}, tokens)
        for name in [n for n in tensors if "q_proj" in n]:
            rows = tensors[name].unflatten(0, (6, -1))
            tensors[name] = rows[[0, 2, 1, 2, 3, 5, 4, 5]].flatten(0, 1)
        pairs = LLAMA | {"attention": base | shared | {"heads": 4}}
        assert_close(f"groups of {base['kind']}", logits_of(pairs, tokens, tensors)[0], ours)


def check_sharing():
    """Shared matrices are the same matrix in two places: K = Q, and the head the embeddings."""
    tokens = some_tokens()
    for shell in (LLAMA, NANO):
        symmetric = shell | {"attention": DIFF_V1 | {"symmetric": True}}
        ours, tensors = logits_of(symmetric, tokens)
        copied = {n.replace("q_proj", "k_proj"): t for n, t in tensors.items()}
        assert_close("K = Q", logits_of(shell, tokens, tensors | copied)[0], ours)
        ours, tensors = logits_of(shell | {"tied_head": True}, tokens)
        head = {"output.weight": tensors["tok_embeddings.weight"], "output.bias": torch.zeros(VOCAB)}
        assert_close("tied head", logits_of(shell, tokens, tensors | head)[0], ours)


def check_options():
    """In every shell each choice is causal and does something: the same tensors, other logits."""
    v1, v2 = DIFF_V1 | {"heads": 4, "kv_heads": 2}, DIFF_V2 | {"kv_heads": 2}
    choices = [
        (SOFTMAX, "kv_heads", 2),
        (SOFTMAX, "head_dim", 6),
        (SOFTMAX, "head_norm", "rms"),
        (SOFTMAX, "head_norm", "group"),
        (v1, "head_norm", "none"),
        (v1, "head_norm", "group"),
        (v1 | {"head_norm": "none"}, "post_scale", False),
        (v1, "lambda_init", 0.5),
        (v1, "lambda_init", [0.3, 0.6]),
        (v1, "lambda_form", "scalar"),
        (v1 | {"lambda_form": "scalar"}, "lambda_per", "head"),
        (v1, "lambda_per", "head"),
        (v1, "lambda_form", "constant"),
        (v1 | {"lambda_form": "scalar", "lambda_per": "head"}, "lambda_sign", "positive"),
        (v1, "key_pairing", "naive"),
        (v1, "symmetric", True),
        (v1, "signal_per_noise", 2),
        (v1, "head_dim", 6),
        (v1, "lambda_init", "motif_schedule"),
        (v2, "pairing", "halves"),
        (v2, "pairing", "across_groups"),
        (v2, "lambda", "linear"),
        (v2, "lambda", "none"),
        (v2, "head_norm", "rms"),
        (v2, "head_dim", 6),
        (v2, "signal_per_noise", 2),
    ]
    unplaced = {"positions": "none"}
    shells = [LLAMA, NANO, LLAMA | {"tied_head": True}, NANO | {"tied_head": True} | unplaced]
    tokens = some_tokens()
    later = tokens.clone()
    later[:, 4:] = (later[:, 4:] + 1) % VOCAB
    for shell in shells:
        for base, key, choice in choices:
            config = shell | {"d_model": 32, "attention": base}
            before, tensors = logits_of(config, tokens)
            config["attention"] = base | {key: choice}
            after, tensors = logits_of(config, tokens, tensors)
            assert (after - before).abs().max() > 1e-3, f"{key} {choice} changes nothing"
            other = logits_of(config, later, tensors)[0]
            assert_close(f"causality of {key} {choice}", other[:, :4], after[:, :4])


# ---- files ---------------------------------------------------------------------------------------


def check_files(folder):
    path = folder / "model.safetensors"
    write_model.main(path)
    tensors, metadata = safetensors_file.read(path)

    def agrees(tensors, metadata=metadata):
        safetensors_file.write(folder / "changed.safetensors", tensors, metadata)
        with contextlib.redirect_stdout(io.StringIO()):
            return check.main([path, folder / "changed.safetensors"]) == 0

    assert agrees(tensors)
    gain, logits = "layers.1.attn.subln.weight", tensors["check.logits"]
    assert not agrees(tensors | {gain: tensors[gain] * 1.001})
    assert not agrees(tensors | {gain: tensors[gain][None]})
    assert not agrees(tensors | {"layers.1.attn.subln.bias": tensors[gain]})
    assert not agrees({name: tensor for name, tensor in tensors.items() if name != gain})
    assert not agrees({name: tensor for name, tensor in tensors.items() if name != "check.logits"})
    assert not agrees(tensors | {"check.logits": logits + 3e-5 * logits.abs().max()})
    assert not agrees(tensors | {"check.logits": logits * torch.nan})
    assert not agrees(tensors | {"check.logits": logits[None]})
    assert not agrees(tensors, {})
    other = copy.deepcopy(LLAMA)
    other["attention"]["lambda_init"] = 0.3
    assert not agrees(tensors, {"config": json.dumps({"model": other})})
    other["attention"]["key_pairing"] = "unheard"
    assert not agrees(tensors, {"config": json.dumps({"model": other})})


def check_reader(folder):
    numbers = torch.arange(6).reshape(2, 3)
    tensors = {name: numbers.to(dtype) for name, dtype in safetensors_file.DTYPES.items()}
    tensors |= {"none": torch.empty(0, 3), "one": torch.tensor(2.5)}
    safetensors_file.write(folder / "all.safetensors", tensors, {"λ": "0.8 − 0.6"})
    content = (folder / "all.safetensors").read_bytes()
    again, metadata = safetensors_file.parse(content)
    assert metadata == {"λ": "0.8 − 0.6"} and set(again) == set(tensors)
    assert all(again[n].dtype == t.dtype and torch.equal(again[n], t) for n, t in tensors.items())

    def file(header, data=bytes(8)):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data

    def entry(begin, end, dtype="F32", shape=(1,)):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}

    good = {"a": entry(0, 4), "b": entry(4, 8)}
    assert list(safetensors_file.parse(file(good))[0]) == ["a", "b"]
    wrong = {
        "8 length bytes": b"short",
        "longer than the file": (10**9).to_bytes(8, "little") + b"{}",
        "not a JSON object": file(b"[]"),
        "Expecting": file(b"{"),
        "twice": file(b'{"a": 1, "a": 2}'),
        "table of strings": file(good | {"__metadata__": {"n": 1}}),
        "gap": file({"a": entry(0, 4), "b": entry(8, 12)}, bytes(12)),
        "overlaps": file({"a": entry(0, 8, shape=(2,)), "b": entry(4, 8)}),
        "beyond": file(good, bytes(7)),
        "after the last": file(good, bytes(9)),
        "unknown dtype": file({"a": entry(0, 8, "F128")}),
        "disagree": file({"a": entry(0, 8)}),
        "whole numbers": file({"a": entry(0, 8, shape=(-2,))}),
        "not described": file({"a": {"dtype": "F32"}}),
    }
    for about, content in wrong.items():
        said = refusal(safetensors_file.parse, content)
        assert about in said, f"{said}, expected something about {about}"


def main(reference=REFERENCE):
    torch.set_num_threads(1)
    cases = sorted(pathlib.Path(reference).glob("*.safetensors"))
    modules = [path for path in cases if not path.name.startswith("lm_")]
    assert len(modules) == MODULE_CASES, f"{len(modules)} module cases in {reference}"
    for path in modules:
        check_module(path)
        check_rotary_table(path)
    check_language_model(pathlib.Path(reference) / "lm_baseline.safetensors", SOFTMAX)
    check_language_model(pathlib.Path(reference) / "lm_diff_naive.safetensors", DIFF_V1)
    check_parameter_counts()
    check_nano_block()
    check_halves_layout()
    check_lambda_forms()
    check_pairings()
    check_groups()
    check_sharing()
    check_options()
    with tempfile.TemporaryDirectory() as folder:
        check_files(pathlib.Path(folder))
        check_reader(pathlib.Path(folder))
    print(f"models.py agrees with {len(modules)} official modules and 2 language models")


if __name__ == "__main__":
    main(*sys.argv[1:])
