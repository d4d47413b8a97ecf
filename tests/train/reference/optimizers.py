"""Writes optimizers.json: 100 steps of torch.optim on loss = Σ w·sin(p + c), beside this file.

usage: python3 tests/train/reference/optimizers.py   (PyTorch >= 2.9, which has torch.optim.Muon)

Muon orthogonalises in bfloat16; here, as in difflab, it does so in the parameters' own type.
"""
import inspect
import json
import math
import pathlib

import torch
import torch.optim._muon as muon

source = inspect.getsource(muon._zeropower_via_newtonschulz)
assert "grad.bfloat16()" in source
exec(source.replace("grad.bfloat16()", "grad.clone()"), muon.__dict__)

STEPS = 100
SHAPES = {"tok_embeddings.weight": [5, 4], "layers.0.wide.weight": [3, 8],
          "layers.0.tall.weight": [6, 4], "layers.1.square.weight": [4, 4], "norm.weight": [4]}
MATRICES = [name for name in SHAPES if name.startswith("layers.")]
REST = [name for name in SHAPES if not name.startswith("layers.")]
# What `train.groups` says of them in the test.
SCALE = {"norm.weight": 0.5, "layers.1.square.weight": 0.25}
DECAY = {"norm.weight": 0.0}


def lr_at(step, lr):
    return lr * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * step / STEPS)))


def groups(parameters, names, decay):
    return [{"params": [parameters[name]], "scale": SCALE.get(name, 1.0),
             "weight_decay": DECAY.get(name, decay)} for name in names]


def build(case, parameters):
    settings, decay = case["settings"], case["weight_decay"]
    adam = {"betas": (0.9, 0.95), "eps": 1e-8, "lr": 1.0}
    kind = settings["kind"]
    if kind == "adamw":
        return [torch.optim.AdamW(groups(parameters, SHAPES, decay), **adam)]
    if kind == "sgd":
        return [torch.optim.SGD(groups(parameters, SHAPES, decay), lr=1.0,
                                momentum=settings["momentum"], nesterov=settings["nesterov"])]
    rest = torch.optim.AdamW(groups(parameters, REST, decay), **adam)
    for group in rest.param_groups:
        group["scale"] *= settings["adamw_lr_scale"]
    return [torch.optim.Muon(groups(parameters, MATRICES, decay), lr=1.0,
                             momentum=settings["momentum"], nesterov=settings["nesterov"],
                             ns_steps=settings["ns_steps"], adjust_lr_fn=settings["adjust_lr"]),
            rest]


def run(case, start, dtype):
    w = {name: torch.tensor(value["w"], dtype=dtype).view(SHAPES[name])
         for name, value in start.items()}
    c = {name: torch.tensor(value["c"], dtype=dtype).view(SHAPES[name])
         for name, value in start.items()}
    parameters = {name: torch.nn.Parameter(torch.tensor(value["p"], dtype=dtype)
                                           .view(SHAPES[name]).clone())
                  for name, value in start.items()}
    optimizers = build(case, parameters)
    for step in range(STEPS):
        loss = sum((w[name] * torch.sin(parameters[name] + c[name])).sum() for name in SHAPES)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = lr_at(step, case["lr"]) * group["scale"]
            optimizer.step()
    return {name: parameters[name].detach().double().flatten().tolist() for name in SHAPES}


def main():
    torch.manual_seed(1)
    draw = lambda name: torch.randn(math.prod(SHAPES[name])).double().tolist()
    start = {name: {"p": draw(name), "w": draw(name), "c": draw(name)} for name in SHAPES}
    muon_settings = {"kind": "muon", "momentum": 0.95, "ns_steps": 5, "adamw_lr_scale": 0.5}
    cases = [
        {"lr": 0.01, "weight_decay": 0.1, "settings": {"kind": "adamw"}},
        {"lr": 0.02, "weight_decay": 0.1, "settings":
            muon_settings | {"nesterov": True, "adjust_lr": "original"}},
        {"lr": 0.02, "weight_decay": 0.0, "settings":
            muon_settings | {"nesterov": False, "adjust_lr": "match_rms_adamw"}},
        {"lr": 0.01, "weight_decay": 0.1, "settings":
            {"kind": "sgd", "momentum": 0.9, "nesterov": True}},
        {"lr": 0.05, "weight_decay": 0.0, "settings":
            {"kind": "sgd", "momentum": 0.0, "nesterov": False}},
    ]
    for case in cases:
        case["float64"] = run(case, start, torch.float64)
        case["float32"] = run(case, start, torch.float32)
    file = pathlib.Path(__file__).with_name("optimizers.json")
    file.write_text(json.dumps({"torch": torch.__version__, "steps": STEPS, "shapes": SHAPES,
                                "start": start, "cases": cases}, indent=1) + "\n")


main()
