from os import PathLike
from pathlib import Path
from typing import Any, Iterable, Sequence

import pyarrow
import torch

__version__: str

class Refused(RuntimeError): ...

def sweep(
    experiment: str, *overrides: str, project: str | PathLike[str] | None = None, shown: bool = True, **values: Any
) -> Path: ...

class Frames:
    runs: pyarrow.Table
    metrics: pyarrow.Table
    looks: pyarrow.Table
    curves: pyarrow.Table
    cells: pyarrow.Table
    claims: pyarrow.Table
    def __init__(self, folders: Iterable[str | PathLike[str]]) -> None: ...
    def rows(self, kind: str) -> list[dict[str, Any]]: ...

def frames(
    *experiments: str, results: str | PathLike[str] | None = None, preset: str | None = None
) -> Frames: ...
def mean(rows: Iterable[dict[str, Any]], by: Sequence[str] = ("model",)) -> list[dict[str, Any]]: ...
def references() -> Path: ...

class Chart:
    folder: Path
    name: str
    spec: dict[str, Any]

def chart(
    experiment: str, figure: str | None = None, results: str | PathLike[str] | None = None, preset: str | None = None
) -> Chart: ...

class Model(torch.nn.Module):
    config: dict[str, Any]
    def __init__(self, config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None: ...
    def forward(self, tokens: torch.Tensor) -> torch.Tensor: ...

def load(run: str | PathLike[str], results: str | PathLike[str] | None = None) -> Model: ...
def to_hugging_face(
    run: str | PathLike[str], folder: str | PathLike[str], results: str | PathLike[str] | None = None
) -> Path: ...
