"""Where the programs lie, and whether PyTorch fits them."""

import os
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

HERE = Path(__file__).resolve().parent
TORCH = "2.13"  # the programs use its C++ interface, which changes with each minor version


class Refused(RuntimeError):
    """The program's own message: what was wrong, where, and what would be right."""


def torch_range() -> str:
    """The versions of PyTorch that fit, as pip takes them."""
    major, minor = TORCH.split(".")
    return f"torch>={TORCH},<{major}.{int(minor) + 1}"


def torch_libraries() -> Path:
    """The folder of LibTorch, without importing torch, which takes seconds."""
    want = f"'{torch_range()}'"
    try:
        torch = distribution("torch")
    except PackageNotFoundError:
        raise Refused(f"there is no PyTorch for {sys.executable}; pip install {want}") from None
    if re.match(r"\d+\.\d+", torch.version)[0] != TORCH:
        raise Refused(f"PyTorch is {torch.version}, and this difflab was built for {TORCH}; pip install {want}")
    return Path(str(torch.locate_file("torch/lib")))


def environment() -> "dict[str, str]":
    """The variables that the installed program needs. Raises Refused without a PyTorch that fits."""
    libraries = torch_libraries()
    variables = dict(os.environ)
    variables["DIFFLAB_PYTHON"] = sys.executable
    variables.setdefault("DIFFLAB_ROOT", str(HERE))
    if libraries.resolve() != (HERE.parent / "torch" / "lib").resolve():
        # The worker looks for torch beside this package; it lies in another folder.
        known = variables.get("LD_LIBRARY_PATH")
        variables["LD_LIBRARY_PATH"] = f"{libraries}:{known}" if known else str(libraries)
    return variables
