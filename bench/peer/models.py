"""The models of `difflab bench train` as a lab would write them in PyTorch: the same parameters and the
same mathematics, from library parts. Attention in two ways: softmax maps written out ("naive"), or
through scaled_dot_product_attention ("sdpa"), for DIFF V1 with queries and keys zero-padded to the
width of the values, the fastest composition that we found. Products of projections by PyTorch's library
(MKL) or by oneDNN, which takes wider instructions on AMD's processors. With places (rows of the flattened batch),
the last block's output projection and feed-forward part and the head are computed there alone, as
difflab does it.
"""

import math
import re

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

VOCAB = 256


def rotary(T, d):
    frequency = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angle = torch.outer(torch.arange(T, dtype=torch.float64), frequency)
    return angle.cos().float(), angle.sin().float()


def rotate(x, table):  # [B, T, heads, d], interleaved pairs
    cos, sin = (t[:, None] for t in table)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def maps(q, k):  # [B, heads, T, d] twice
    T = q.shape[2]
    future = torch.full((T, T), -math.inf, device=q.device).triu(1)
    return (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + future).softmax(-1)


def at(x, places):  # [B, T, n] -> [places, n]; everything without places
    return x if places is None else x.flatten(0, 1)[places]


# An operator of its own, because torch.compile takes oneDNN's for inference alone.
library = torch.library.Library("difflab", "DEF")
library.define("by_onednn(Tensor a, Tensor b) -> Tensor")
library.impl("by_onednn", lambda a, b: torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], ""), "CPU")
torch.library.register_fake("difflab::by_onednn", lambda a, b: a.new_empty(*a.shape[:-1], b.shape[0]))
by_onednn = torch.ops.difflab.by_onednn  # a · bᵀ


class OneDnnProduct(torch.autograd.Function):
    @staticmethod
    def forward(context, x, weight):
        context.save_for_backward(x, weight)
        return by_onednn(x, weight)

    @staticmethod
    def backward(context, dy):
        x, weight = context.saved_tensors
        rows = lambda t: t.reshape(-1, t.shape[-1])
        return by_onednn(dy, weight.t()), by_onednn(rows(dy).t(), rows(x).t())


class OneDnnLinear(nn.Linear):
    def forward(self, x):
        return OneDnnProduct.apply(x, self.weight)


class Attention(nn.Module):
    def __init__(self, D, heads, layer, way):
        super().__init__()
        self.heads, self.d, self.way = heads, D // heads, way
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))

    def forward(self, x, table, places=None):
        q, k, v = (f(x).unflatten(-1, (self.heads, self.d)) for f in (self.q, self.k, self.v))
        q, k, v = (t.transpose(1, 2) for t in (rotate(q, table), rotate(k, table), v))
        if self.way == "naive":
            o = maps(q, k) @ v
        else:
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(at(o.transpose(1, 2).flatten(2), places))


class DiffV1(nn.Module):
    def __init__(self, D, heads, layer, way):
        super().__init__()
        self.heads, self.d, self.way = heads, D // heads // 2, way
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.init = 0.8 - 0.6 * math.exp(-0.3 * layer)
        self.lambdas = nn.Parameter(0.1 * torch.randn(4, self.d))
        self.gain = nn.Parameter(torch.ones(2 * self.d))

    def forward(self, x, table, places=None):
        H, d = self.heads, self.d
        q = rotate(self.q(x).unflatten(-1, (2 * H, d)), table).transpose(1, 2)
        k = rotate(self.k(x).unflatten(-1, (2 * H, d)), table).transpose(1, 2)
        v = self.v(x).unflatten(-1, (H, 2 * d)).transpose(1, 2)
        l = self.lambdas
        value = (l[0] @ l[1]).exp() - (l[2] @ l[3]).exp() + self.init
        if self.way == "naive":
            both = maps(q, k).unflatten(1, (H, 2))
            o = (both[:, :, 0] - value * both[:, :, 1]) @ v
        else:
            pad, scale = (lambda t: F.pad(t, (0, d))), 1 / math.sqrt(d)
            attend = lambda m: F.scaled_dot_product_attention(
                pad(q[:, m::2]), pad(k[:, m::2]), v, is_causal=True, scale=scale
            )
            o = attend(0) - value * attend(1)
        o = F.rms_norm(o, (2 * d,), self.gain, 1e-5) * (1 - self.init)
        return self.o(at(o.transpose(1, 2).flatten(2), places))


class DiffV2(nn.Module):
    def __init__(self, D, heads, layer, way):
        super().__init__()
        self.heads, self.d, self.way = heads, D // heads, way
        self.q = nn.Linear(D, 2 * D, bias=False)
        self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.weight = nn.Linear(D, heads, bias=False)

    def forward(self, x, table, places=None):
        H, d = self.heads, self.d
        q = rotate(self.q(x).unflatten(-1, (2 * H, d)), table).transpose(1, 2)
        k = rotate(self.k(x).unflatten(-1, (H, d)), table).transpose(1, 2)
        v = self.v(x).unflatten(-1, (H, d)).transpose(1, 2)
        if self.way == "naive":
            a = maps(q, k.repeat_interleave(2, 1)) @ v.repeat_interleave(2, 1)
        else:
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        first, second = a.unflatten(1, (H, 2)).unbind(2)
        o = first - self.weight(x).sigmoid().transpose(1, 2)[..., None] * second
        return self.o(at(o.transpose(1, 2).flatten(2), places))


class Block(nn.Module):
    def __init__(self, attention, D, heads, layer, way, hidden):
        super().__init__()
        self.attention = attention(D, heads, layer, way)
        self.norms = nn.ModuleList(nn.RMSNorm(D, 1e-5) for _ in range(2))
        self.gate, self.up = (nn.Linear(D, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, D, bias=False)

    def forward(self, x, table, places=None):
        x = at(x, places) + self.attention(self.norms[0](x), table, places)
        r = self.norms[1](x)
        return x + self.down(F.silu(self.gate(r)) * self.up(r))


class Model(nn.Module):
    def __init__(self, attention, D, layers, heads, T, way, hidden=None):
        super().__init__()
        hidden = hidden or (8 * D // 3 + 31) // 32 * 32
        self.embedding = nn.Embedding(VOCAB, D)
        self.blocks = nn.ModuleList(Block(attention, D, heads, l, way, hidden) for l in range(layers))
        self.norm = nn.RMSNorm(D, 1e-5)
        self.head = nn.Linear(D, VOCAB, bias=False)
        self.table = rotary(T, self.blocks[0].attention.d)
        self.recompute = False

    def forward(self, tokens, places=None):
        x = self.embedding(tokens)
        for block in self.blocks[:-1]:
            if self.recompute:
                x = checkpoint(block, x, self.table, use_reentrant=False)
            else:
                x = block(x, self.table)
        x = self.blocks[-1](x, self.table, places)
        return self.head(self.norm(x))


KINDS = {"Transformer": (Attention, 1), "DIFF V1": (DiffV1, 2), "DIFF V2": (DiffV2, 1)}  # maps of a head


def sizes(shape):
    """D, layers, T, batch and head width of a name as in src/worker/bench_models.cpp."""
    found = re.fullmatch(r"D (\d+), L (\d+), T (\d+), batch (\d+)(?:, d (\d+))?", shape)
    if not found:
        raise SystemExit(f"no shape: {shape}")
    D, layers, T, batch = (int(found[i]) for i in range(1, 5))
    return D, layers, T, batch, int(found[5] or 16)


def step(shape, kind, way, compiled, device="cpu", option=""):
    """A function that does one training step, and the number of parameters. On CUDA what is compiled is
    replayed as CUDA graphs. With option bfloat16 the model runs under autocast, with oneDNN projections are
    products of oneDNN, and with recomputed the blocks but the last are computed once more on the way back."""
    torch.manual_seed(0)
    D, layers, T, batch, d = sizes(shape)
    attention, maps_of_head = KINDS[kind]
    model = Model(attention, D, layers, D // d // maps_of_head, T, way).to(device)
    model.table = tuple(part.to(device) for part in model.table)
    model.recompute = option == "recomputed"
    if option == "oneDNN":
        for module in model.modules():
            if type(module) is nn.Linear:
                module.__class__ = OneDnnLinear
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        parameters, lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    tokens = torch.randint(VOCAB, (batch, T + 1)).to(device)

    def loss_of(inputs, targets):
        with torch.autocast(device, torch.bfloat16, enabled=option == "bfloat16"):
            logits = model(inputs)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    mode = "reduce-overhead" if device == "cuda" else None
    loss = torch.compile(loss_of, mode=mode) if compiled else loss_of

    def run():
        optimizer.zero_grad(set_to_none=True)
        loss(tokens[:, :-1], tokens[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    return run, sum(p.numel() for p in parameters)
