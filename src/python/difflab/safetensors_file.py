"""Reads and writes safetensors files: 8 bytes of header length, a JSON header, the data.

Anything the format does not allow is a ValueError: a gap, an overlap, an unknown dtype, a name twice.
"""

import ctypes
import json
import math
import pathlib

import torch

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
LENGTH_BYTES = 8


def read(path):
    """The file's tensors by name, in the order of its data, and its metadata (text by name)."""
    return parse(pathlib.Path(path).read_bytes())


def parse(content):
    if len(content) < LENGTH_BYTES:
        raise ValueError("shorter than its 8 length bytes")
    start = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")
    if start > len(content):
        raise ValueError("its header is longer than the file")
    header = json.loads(content[LENGTH_BYTES:start], object_pairs_hook=_without_repeats)
    if not isinstance(header, dict):
        raise ValueError("its header is not a JSON object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("its metadata is not a table of strings")

    for name, entry in header.items():
        _check_entry(name, entry)
    tensors, expected = {}, start
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = (start + offset for offset in entry["data_offsets"])
        if begin != expected:
            raise ValueError(f"tensor {name} overlaps another or leaves a gap")
        if end > len(content):
            raise ValueError(f"tensor {name} lies beyond the end of the file")
        tensors[name] = _tensor(content[begin:end], DTYPES[entry["dtype"]], entry["shape"])
        expected = end
    if expected != len(content):
        raise ValueError("there are bytes after the last tensor")
    return tensors, metadata


def write(path, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in tensors.items():
        tensor = tensor.detach().cpu().contiguous()
        content = ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data start aligned
    pathlib.Path(path).write_bytes(len(text).to_bytes(LENGTH_BYTES, "little") + text + data)


def _without_repeats(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("its header holds a key twice")
    return dict(pairs)


def _check_entry(name, entry):
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {name} is not described by dtype, shape and data_offsets")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
        raise ValueError(f"tensor {name} has the unknown dtype {entry['dtype']}")
    for key in ("shape", "data_offsets"):
        values = entry[key]
        if not isinstance(values, list) or not all(type(v) is int and v >= 0 for v in values):
            raise ValueError(f"tensor {name}: {key} is not a list of whole numbers")
    size = math.prod(entry["shape"]) * DTYPES[entry["dtype"]].itemsize
    offsets = entry["data_offsets"]
    if len(offsets) != 2 or offsets[1] - offsets[0] != size:
        raise ValueError(f"tensor {name}: shape and data_offsets disagree")


def _tensor(content, dtype, shape):
    if not content:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(content), dtype=dtype).reshape(shape)
