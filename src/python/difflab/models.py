"""difflab's models in plain PyTorch: logits from a configuration, named tensors and tokens.

Written from the papers' formulas, without dropout and without fused kernels; tests compare it with the C++.
DT is arXiv 2410.05258, V2 is microsoft/unilm Diff-Transformer-V2; layers count from 0.
B batch, T tokens, D = d_model, H heads, K key/value heads, d channels of one softmax map, V vocabulary.
"""

import math
from functools import partial

import torch


class Weights:
    """Named tensors that check the asked shape and remember what was asked for."""

    def __init__(self, tensors, prefix="", used=None):
        self.tensors, self.prefix = tensors, prefix
        self.used = set() if used is None else used

    def __call__(self, name, *shape):
        """The tensor of that name; None in the shape means any size."""
        name = self.prefix + name
        if name not in self.tensors:
            raise ValueError(f"the model needs {name}")
        tensor = self.tensors[name]
        fits = all(asked in (None, size) for asked, size in zip(shape, tensor.shape))
        if len(shape) != tensor.dim() or not fits:
            raise ValueError(f"{name} is {list(tensor.shape)}, the model needs {list(shape)}")
        self.used.add(name)
        return tensor

    def under(self, name):
        return type(self)(self.tensors, f"{self.prefix}{name}.", self.used)

    def unused(self):
        return sorted(set(self.tensors) - self.used)


def logits(config, w, tokens, table=None):
    """[B, T, V] from tokens [B, T]; `table` replaces the rotary (cos, sin), each [T, d/2]."""
    D, eps = config["d_model"], config["norm_eps"]
    if config["block"] not in ("llama", "nano"):
        raise ValueError(f"unknown block {config['block']}")
    nano = config["block"] == "nano"
    bias = nano and config.get("biases", True)
    norm = partial(layer_norm, bias=bias) if nano else rms_norm
    feed_forward = partial(gelu_feed_forward, bias=bias) if nano else swiglu

    embeddings = w("tok_embeddings.weight", None, D)
    scale = config.get("embedding_scale", 1)
    x = embeddings[tokens] * (math.sqrt(D) if scale == "sqrt_width" else scale)
    if config["positions"] == "learned":
        x = x + w("positions.weight", config["max_positions"], D)[: tokens.shape[1]]
    rotate = rotation(config, table)

    for layer in range(config["layers"]):
        own = w.under(f"layers.{layer}")
        r = norm(own.under("attn_norm"), x, eps)
        heads = attention(config["attention"], own.under("attn"), r, rotate, layer, bias)
        x = x + config.get("attention_scale", 1) * heads
        r = norm(own.under("ffn_norm"), x, eps)
        x = x + feed_forward(own.under("ffn"), r, config["ffn_hidden"])

    x = norm(w.under("norm"), x, eps)
    if config["tied_head"]:
        return x @ embeddings.T
    return project(w, "output", x, len(embeddings), bias)


# ---- parts of a block ----------------------------------------------------------------------------


def project(w, name, x, width, bias):
    y = x @ w(f"{name}.weight", width, x.shape[-1]).T
    return y + w(f"{name}.bias", width) if bias else y


def rms_norm(w, x, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * w("weight", x.shape[-1])


def layer_norm(w, x, eps, bias=True):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * w("weight", x.shape[-1])
    return scaled + w("bias", x.shape[-1]) if bias else scaled


def swiglu(w, x, hidden):
    gate = project(w, "gate", x, hidden or None, bias=False)
    up = project(w, "up", x, gate.shape[-1], bias=False)
    return project(w, "down", gate * torch.sigmoid(gate) * up, x.shape[-1], bias=False)


def gelu_feed_forward(w, x, hidden, bias=True):
    h = project(w, "fc", x, hidden or 4 * x.shape[-1], bias)
    return project(w, "proj", h * (1 + torch.erf(h / math.sqrt(2))) / 2, x.shape[-1], bias)


def rotation(config, table=None):
    """What is done to queries and keys [B, T, heads, d] for their positions."""
    positions, layout = config["positions"], config["rope_layout"]
    if positions in ("learned", "none"):
        return lambda x: x
    if positions != "rotary" or layout not in ("interleaved", "halves"):
        raise ValueError(f"unknown positions {positions} {layout}")

    def rotate(x):
        T, d = x.shape[1], x.shape[3]
        cos, sin = table or rotary_table(T, d, config["rope_theta"], x.dtype)
        cos, sin = (part[:, None].to(x.device) for part in (cos, sin))  # [T, 1, d/2], the same for every head
        if layout == "interleaved":  # channel 2i turns with 2i + 1
            a, b = x[..., 0::2], x[..., 1::2]
            return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
        a, b = x[..., : d // 2], x[..., d // 2 :]  # channel i turns with i + d/2
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    return rotate


def rotary_table(T, d, theta, dtype):
    frequencies = theta ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * frequencies  # [T, d/2]
    return angles.cos().to(dtype), angles.sin().to(dtype)  # on the CPU


# ---- attention: [B, T, D] -> [B, T, D] -----------------------------------------------------------


def attention(c, w, x, rotate, layer, bias=False):
    kinds = {"softmax": softmax_attention, "diff_v1": diff_v1, "diff_v2": diff_v2, "xsa": exclusive_attention}
    if c["kind"] not in kinds:
        raise ValueError(f"unknown attention {c['kind']}")
    return kinds[c["kind"]](c, w, x, rotate, layer, bias)


def causal_maps(c, w, q, k):
    """softmax(q kᵀ/√d) over the past: [B, T, heads, d] twice -> [B, heads, T, T]. A sink's exp
    stands in the denominator beside those of the keys."""
    scores = torch.einsum("bthd,bshd->bhts", q, k) / math.sqrt(q.shape[-1])
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    scores = scores.masked_fill(future, -math.inf)
    heads = q.shape[2]
    if c.get("sink", "none") == "none":
        return scores.softmax(-1)
    sinks = {"off_by_one": lambda: torch.zeros(heads, device=q.device), "learned": lambda: w("sinks", heads)}
    sink = sinks[c["sink"]]().to(q.dtype)[:, None, None]  # [heads, 1, 1]
    largest = torch.maximum(scores.amax(-1, keepdim=True), sink)
    sizes = (scores - largest).exp()
    return sizes / (sizes.sum(-1, keepdim=True) + (sink - largest).exp())


def normed(c, w, name, heads):
    """Queries or keys [B, T, heads, d] before they are turned."""
    if c.get("qk_norm", "none") == "none":
        return heads
    return {"rms": rms_norm}[c["qk_norm"]](w.under(name), heads, c.get("qk_norm_eps", 1e-6))


def gated(c, w, x, heads):
    """Heads [B, T, H, width] times a sigmoid of x."""
    H, width = heads.shape[2:]
    numbers = {"none": 0, "head": 1, "element": width}[c.get("gate", "none")]
    if numbers == 0:
        return heads
    gate = project(w, "gate_proj", x, H * numbers, bias=False).unflatten(-1, (H, numbers))
    return heads * torch.sigmoid(gate)


def apply_maps(maps, v):
    return torch.einsum("bhts,bshd->bthd", maps, v)


def head_norm(c, w, heads):
    """Over the channels of every head [B, T, H, width], with parameters shared by the heads."""
    kinds = {"none": lambda _, o, __: o, "rms": rms_norm, "group": layer_norm}
    return kinds[c["head_norm"]](w.under("subln"), heads, c["norm_eps"])


def softmax_attention(c, w, x, rotate, layer, bias):
    D, H = x.shape[-1], c["heads"]
    K, d = c["kv_heads"] or H, c["head_dim"] or D // H
    group = [j * K // H for j in range(H)]  # the kv head of query head j
    q = normed(c, w, "q_norm", project(w, "q_proj", x, H * d, bias).unflatten(-1, (H, d)))
    k = normed(c, w, "k_norm", project(w, "k_proj", x, K * d, bias).unflatten(-1, (K, d)))
    q, k = rotate(q), rotate(k)[:, :, group]
    v = project(w, "v_proj", x, K * d, bias).unflatten(-1, (K, d))[:, :, group]
    o = gated(c, w, x, head_norm(c, w, apply_maps(causal_maps(c, w, q, k), v)))
    return project(w, "out_proj", o.flatten(2), D, bias)


def exclusive_attention(c, w, x, rotate, layer, bias):
    """arXiv 2603.09078: each head less tanh(α) times its part along the token's own value."""
    D, H = x.shape[-1], c["heads"]
    K, d = c["kv_heads"] or H, c["head_dim"] or D // H
    group = [j * K // H for j in range(H)]
    q = normed(c, w, "q_norm", project(w, "q_proj", x, H * d, bias).unflatten(-1, (H, d)))
    k = normed(c, w, "k_norm", project(w, "k_proj", x, K * d, bias).unflatten(-1, (K, d)))
    q, k = rotate(q), rotate(k)[:, :, group]
    v = project(w, "v_proj", x, K * d, bias).unflatten(-1, (K, d))[:, :, group]
    a = apply_maps(causal_maps(c, w, q, k), v)
    u = v / v.norm(dim=-1, keepdim=True).clamp_min(1e-4)
    o = a - torch.tanh(w("xsa_alpha", H))[:, None] * (a * u).sum(-1, keepdim=True) * u
    return project(w, "out_proj", gated(c, w, x, o).flatten(2), D, bias)


def diff_v1(c, w, x, rotate, layer, bias):
    """DT eq. 1 and 3: o_i = headnorm((A_2i − λ A_2i+1) v_i) · (1 − λ_init).

    With groups (arXiv 2510.06949), several A are differed by one map, the last of their group."""
    D, H = x.shape[-1], c["heads"]
    signals, noises = maps_of_groups(c)
    N, maps = len(set(noises)), H + len(set(noises))
    K, d = c["kv_heads"] or N, c.get("head_dim") or D // (2 * H)
    R = H // K  # heads that share one pair of keys and one value
    q = normed(c, w, "q_norm", project(w, "q_proj", x, maps * d, bias).unflatten(-1, (maps, d)))
    q = rotate(q)
    if c["symmetric"]:
        k = q
    else:
        key_of = {  # the key head of query head j: of a pair, the second belongs to noise
            "group": [2 * (j * K // maps) + (j in noises) for j in range(maps)],
            "naive": [j // R for j in range(maps)],
        }[c["key_pairing"]]
        k = project(w, "k_proj", x, 2 * K * d, bias).unflatten(-1, (2 * K, d))
        k = rotate(normed(c, w, "k_norm", k))[:, :, key_of]
    v = project(w, "v_proj", x, K * 2 * d, bias).unflatten(-1, (K, 2 * d))
    v = v[:, :, [i // R for i in range(H)]]

    init = lambda_init(c["lambda_init"], layer)
    a = causal_maps(c, w, q, k)  # [B, maps, T, T]
    weights = a[:, signals] - diff_lambda(c, w, x, init, H, d) * a[:, noises]
    o = head_norm(c, w, apply_maps(weights, v))  # [B, T, H, 2d]
    scale = 1 - init if c["post_scale"] else 1
    return project(w, "out_proj", gated(c, w, x, o * scale).flatten(2), D, bias)


def maps_of_groups(c):
    """The map of each head and the one that it is differed by; a group is G heads and theirs."""
    G = c.get("signal_per_noise", 1)
    signals = [i // G * (G + 1) + i % G for i in range(c["heads"])]
    return signals, [i // G * (G + 1) + G for i in range(c["heads"])]


def lambda_init(choice, layer):
    if choice in ("schedule", "motif_schedule"):
        return 0.8 - 0.6 * math.exp(-0.3 * (layer if choice == "schedule" else layer - 1))
    return choice[layer] if isinstance(choice, list) else choice


def diff_lambda(c, w, x, init, H, d):
    """λ, DT eq. 2, as [1 or H, 1, 1], or of each token as [B, H, T, 1]."""
    if c["lambda_per"] == "token":
        odds = project(w, "lambda_proj", x, H, bias=False).exp() * init / (1 - init)
        return (odds / (1 + odds)).transpose(1, 2)[..., None]
    heads = {"layer": (), "head": (H,)}[c["lambda_per"]]
    if c["lambda_form"] == "constant":
        value = torch.tensor(init, dtype=x.dtype, device=x.device)
    elif c["lambda_form"] == "scalar":
        value = w("lambda", *(heads or (1,)))
    elif c["lambda_form"] == "scalar_exponential":
        a, b = (w(f"lambda_{n}", *(heads or (1,))) for n in "ab")
        value = a.exp() - b.exp() + init
    elif c["lambda_form"] == "exponential":
        q1, k1, q2, k2 = (w(f"lambda_{n}", *heads, d) for n in ("q1", "k1", "q2", "k2"))
        value = (q1 * k1).sum(-1).exp() - (q2 * k2).sum(-1).exp() + init
    else:
        raise ValueError(f"unknown lambda_form {c['lambda_form']}")
    if c.get("lambda_sign") == "positive" and c["lambda_form"] != "constant":
        value = init / 4 * torch.log1p(math.expm1(4) * torch.exp(4 * (value - init) / init))
    return value.reshape(-1, 1, 1)


def diff_v2(c, w, x, rotate, layer, bias):
    """V2: attention of 2H query heads, o_i = first_i − λ_i second_i with λ = sigmoid(x W_λ).

    With groups (Motif 3), several heads have one second."""
    D, H = x.shape[-1], c["heads"]
    signals, noises = maps_of_groups(c)
    N, maps = len(set(noises)), H + len(set(noises))
    K, d = c["kv_heads"] or N, c["head_dim"] or D // H
    group = [j // (maps // K) for j in range(maps)]  # the kv head of query head j
    q = normed(c, w, "q_norm", project(w, "q_proj", x, maps * d, bias).unflatten(-1, (maps, d)))
    k = normed(c, w, "k_norm", project(w, "k_proj", x, K * d, bias).unflatten(-1, (K, d)))
    q, k = rotate(q), rotate(k)[:, :, group]
    v = project(w, "v_proj", x, K * d, bias).unflatten(-1, (K, d))[:, :, group]
    a = apply_maps(causal_maps(c, w, q, k), v)  # [B, T, maps, d]

    first, second = {  # of the maps, those of output head i
        "interleaved": (signals, noises),
        "halves": ([i for i in range(H)], [i + H for i in range(H)]),
        "across_groups": (
            [2 * i for i in range(H)],
            [2 * ((i + H // K) % H) + 1 for i in range(H)],
        ),
    }[c["pairing"]]
    o = a[:, :, first] - v2_lambda(c, w, x, H) * a[:, :, second]
    return project(w, "o_proj", gated(c, w, x, head_norm(c, w, o)).flatten(2), D, bias)


def v2_lambda(c, w, x, H):
    """[B, T, H, 1], or 1."""
    if c["lambda"] == "none":
        return 1
    value = project(w, "lambda_proj", x, H, bias=False)
    return {"sigmoid": torch.sigmoid, "linear": lambda z: z}[c["lambda"]](value)[..., None]
