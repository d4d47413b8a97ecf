"""Trained models as torch.nn.Module."""

import json
import tempfile
from pathlib import Path

import torch

from difflab import models, safetensors_file
from difflab._command import call


class Model(torch.nn.Module):
    """A model in plain PyTorch: tokens [B, T] -> logits [B, T, V].

    Its parameters have the names of difflab's files, which are the official ones. `config` is the
    run's configuration below `model`. It differentiates, moves and casts as any module does.
    """

    def __init__(self, config, tensors):
        super().__init__()
        self.config = config
        for name, tensor in tensors.items():
            *path, last = name.split(".")
            module = self
            for part in path:
                if part not in module._modules:
                    module.add_module(part, torch.nn.Module())
                module = module._modules[part]
            module.register_parameter(last, torch.nn.Parameter(tensor, tensor.is_floating_point()))
        weights = models.Weights(dict(self.named_parameters()))
        with torch.no_grad():  # the names are exactly those of the model
            models.logits(config, weights, torch.zeros((1, 1), dtype=torch.long))
        if weights.unused():
            raise ValueError(f"not parameters of this model: {', '.join(weights.unused())}")

    def forward(self, tokens):
        return models.logits(self.config, models.Weights(dict(self.named_parameters())), tokens)


def read(run, results=None):
    """The tensors and the metadata of a run (its folder, its id or the beginning of it) or of a
    .safetensors file of `difflab export`. `results` is the folder with the run, if its id is given and
    it is another than the project's. Raises difflab.Refused or ValueError if there is no such model."""
    if str(run).endswith(".safetensors"):
        tensors, metadata = safetensors_file.read(run)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "weights.safetensors"
            where = ["--results", results] if results else []
            call("export", run, "--to", file, *where)
            tensors, metadata = safetensors_file.read(file)
    if "config" not in metadata:
        raise ValueError(f"{run}: its metadata have no config; expected a file of difflab export")
    return tensors, metadata


def load(run, results=None):
    """The trained model of a run or file, as `read` takes them."""
    tensors, metadata = read(run, results)
    return Model(json.loads(metadata["config"])["model"], tensors).eval()
