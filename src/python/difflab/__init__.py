"""difflab: experiments with small Differential Transformers.

    difflab.sweep("mine", "preset=smoke", seed=[0, 1])   runs what is missing; the folder of its report
    difflab.frames("mine").metrics                       every number of every run, as an Arrow table
    difflab.load(run)                                    a trained model as a torch.nn.Module
    difflab.to_hugging_face(run, "my-model")             a folder for transformers' from_pretrained
    difflab.chart("mine", "found")                       a figure of a report, for a notebook

The package carries the programs of this version, their configurations and the committed results.
Importing it imports neither torch nor pyarrow.
"""

import importlib

_WHERE = {
    "Refused": "install", "sweep": "command",
    "Frames": "frames", "chart": "frames", "frames": "frames", "mean": "frames", "references": "frames",
    "Model": "weights", "load": "weights", "to_hugging_face": "hugging_face",
}
__all__ = ["__version__", *_WHERE]


def __getattr__(name):
    if name == "__version__":
        metadata = importlib.import_module("importlib.metadata")
        try:
            return metadata.version("difflab")
        except metadata.PackageNotFoundError:
            return "checkout"
    if name in _WHERE:
        return getattr(importlib.import_module(f"difflab._{_WHERE[name]}"), name)
    raise AttributeError(f"module 'difflab' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
