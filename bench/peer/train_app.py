"""The peer of bench/launchers: one run of `headline` as a lab would write it with Hydra and PyTorch.

usage: train_app.py [run=0 ... 7] [steps=N] [ways=[sdpa,sdpa,sdpa]] [--multirun hydra/launcher=joblib ...]
The same model, batches of the same kind (half needles, half cyclic repetition, drawn by vectorised
operations), optimiser, validation every 100 steps, test at the end and files as a run of difflab
with its evaluations reduced to the held-out one. Like difflab, it computes the end of the last block and
the head only where a target is. ways says for each of models.KINDS whether softmax maps are written out
("naive") or attention goes through scaled_dot_product_attention ("sdpa").
"""

import dataclasses
import json
import math
import pathlib

import hydra
import models
import torch
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from torch.nn import functional as F

LENGTH, NEEDLES, NOISE_TOKENS, KEYS, VALUES = 64, 4, 64, 32, 32
BATCH, WARMUP, EVERY = 32, 100, 100
NONE = -100  # a position that asks for nothing
# The kinds and heads of headline's eight models; what else tells them apart costs nothing.
RUNS = [*[("Transformer", 4, 192)] * 2, ("Transformer", 2, 192), *[("DIFF V1", 2, 192)] * 4, ("DIFF V2", 4, 170)]  # heads, ffn


@dataclasses.dataclass
class Config:
    run: int = 0
    steps: int = 1200
    lr: float = 1e-2
    ways: list[str] = dataclasses.field(default_factory=lambda: ["sdpa"] * 3)


ConfigStore.instance().store(name="config", node=Config)


def distinct(rows, n, of, generator):
    return torch.rand(rows, of, generator=generator).argsort(1)[:, :n]


def needles(rows, generator):
    keys = 2 + NOISE_TOKENS + distinct(rows, NEEDLES, KEYS, generator)
    values = 2 + NOISE_TOKENS + KEYS + distinct(rows, NEEDLES, VALUES, generator)
    noise = LENGTH - 3 - 2 * NEEDLES
    # Needles lie before the noise token of their gap, in order.
    gaps = torch.randint(noise + 1, (rows, NEEDLES), generator=generator).sort(1).values
    at = 1 + gaps + 2 * torch.arange(NEEDLES)
    inputs = torch.randint(2, 2 + NOISE_TOKENS, (rows, LENGTH), generator=generator)
    inputs[:, 0], inputs[:, -2] = 0, 1
    inputs.scatter_(1, at, keys).scatter_(1, at + 1, values)
    asked = torch.randint(NEEDLES, (rows, 1), generator=generator)
    inputs[:, -1:] = keys.gather(1, asked)
    targets = torch.full_like(inputs, NONE)
    targets[:, -1:] = values.gather(1, asked)
    return inputs, targets


def repetition(rows, generator):
    period = torch.randint(LENGTH // 4, LENGTH // 2 + 1, (rows, 1), generator=generator)
    symbols = torch.randint(2, models.VOCAB, (rows, LENGTH + 1), generator=generator)
    place = torch.arange(LENGTH + 1)
    text = symbols.gather(1, torch.where(place > period, (place - 1) % period + 1, place))
    text[:, 0] = 0
    return text[:, :-1], text[:, 1:].masked_fill(place[1:] <= period, NONE)


def batch(rows, generator):
    parts = needles(rows // 2, generator), repetition(rows - rows // 2, generator)
    return (torch.cat(both) for both in zip(*parts))


def loss_of(model, inputs, targets):
    places = (targets.flatten() != NONE).nonzero().squeeze(1)
    return F.cross_entropy(model(inputs, places), targets.flatten()[places])


@torch.no_grad()
def accuracy(model, rows, generator):
    inputs, targets = needles(rows, generator)
    last = torch.arange(1, rows + 1) * LENGTH - 1
    return (model(inputs, last).argmax(-1) == targets[:, -1]).float().mean().item()


@hydra.main(version_base="1.3", config_path=None, config_name="config")
def main(config):
    torch.set_num_threads(1)
    torch.manual_seed(config.run)
    generator = torch.Generator().manual_seed(config.run)
    models.VOCAB = 2 + NOISE_TOKENS + KEYS + VALUES
    name, heads, hidden = RUNS[config.run]
    way = config.ways[list(models.KINDS).index(name)]
    model = models.Model(models.KINDS[name][0], 64, 2, heads, LENGTH, way, hidden)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=config.lr, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / WARMUP)
        * (0.55 + 0.45 * math.cos(math.pi * max(0, step - WARMUP) / max(1, config.steps - WARMUP))),
    )
    folder = pathlib.Path(HydraConfig.get().runtime.output_dir)
    with open(folder / "metrics.jsonl", "w") as metrics:
        for step in range(1, config.steps + 1):
            inputs, targets = batch(BATCH, generator)
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model, inputs, targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if step % EVERY == 0 or step == config.steps:
                valid = accuracy(model, 256, torch.Generator().manual_seed(1))
                line = {"step": step, "train_loss": loss.item(), "valid_accuracy": valid}
                print(json.dumps(line), file=metrics, flush=True)
    test = accuracy(model, 2048, torch.Generator().manual_seed(2))
    torch.save(model.state_dict(), folder / "model.pt")
    (folder / "result.json").write_text(json.dumps({"needle_accuracy": test}) + "\n")


if __name__ == "__main__":
    main()
