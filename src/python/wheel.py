#!/usr/bin/env python3
"""Builds the wheel from a release build: wheel.py BUILD FOLDER.

A wheel is a zip with a RECORD. This one holds the two programs with the three libraries that a
system without Debian's packages lacks, the configurations, the experiments and what `restore` and
`referee` read of the references. LibTorch is PyTorch's own, found beside the package.
"""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from difflab._install import TORCH, torch_range

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = ["difflab", "difflab-worker"]
BUNDLED = ["libyaml-cpp.so", "libcrypto.so", "libhwy.so"]
NEWEST_GLIBC = (2, 34)  # RHEL 9, Ubuntu 22.04, Debian 12
NEWEST_GLIBCXX = (3, 4, 29)
TAG = f"py3-none-manylinux_{NEWEST_GLIBC[0]}_{NEWEST_GLIBC[1]}_x86_64"
DATA = ["configs", "experiments", "src/report/page/render.py", "src/report/page/runs.html"]
REFERENCES = ["runs.json", "observations.json", "summary.json", "reproduced.json", "*.csv"]


def call(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def version() -> str:
    return re.search(r"project\(difflab VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def require_torch(build: Path) -> None:
    """The programs were built with the LibTorch that the package will ask for."""
    folder = re.search(r"^Torch_DIR:PATH=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]
    have = re.search(r'PACKAGE_VERSION "([^"]+)"', (Path(folder) / "TorchConfigVersion.cmake").read_text())[1]
    if not have.startswith(TORCH + "."):
        raise SystemExit(f"this build has LibTorch {have}; a wheel needs {TORCH}, as cmake/python.lock has it")


def metadata() -> str:
    readme = (ROOT / "README.md").read_text()
    renderer = re.search(r"^vl-convert-python==(\S+)", (ROOT / "cmake/python.lock").read_text(), re.M)[1]
    return (
        f"Metadata-Version: 2.1\nName: difflab\nVersion: {version()}\n"
        "Summary: Experiments with small Differential Transformers\n"
        f"Requires-Python: >=3.9\nRequires-Dist: {torch_range()}\n"
        f"Requires-Dist: vl-convert-python=={renderer}\n"
        'Provides-Extra: frames\nRequires-Dist: pyarrow; extra == "frames"\n'
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )


def newest_symbol(library: str, program: Path) -> "tuple[int, ...]":
    found = re.findall(library + r"_(\d+(?:\.\d+)+)", call("objdump", "-T", str(program)))
    return max((tuple(map(int, name.split("."))) for name in found), default=(0,))


def libraries_of(program: Path) -> "dict[str, Path]":
    """Name -> file of the libraries to take along."""
    lines = re.findall(r"(\S+) => (\S+)", call("ldd", str(program)))
    return {name: Path(path) for name, path in lines if name.split(".so")[0] + ".so" in BUNDLED}


def put_programs(build: Path, package: Path) -> None:
    programs, libraries = package / "_bin", package / "_lib"
    programs.mkdir()
    libraries.mkdir()
    for name in PROGRAMS:
        program = Path(shutil.copy2(build / name, programs))
        for library, file in libraries_of(build / name).items():
            shutil.copy2(file.resolve(), libraries / library)
        call("strip", str(program))
        call("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../_lib:$ORIGIN/../../torch/lib", str(program))
    for file in [*programs.iterdir(), *libraries.iterdir()]:
        for library, newest in (("GLIBC", NEWEST_GLIBC), ("GLIBCXX", NEWEST_GLIBCXX)):
            if newest_symbol(library, file) > newest:
                raise SystemExit(f"{file.name} needs {library} {newest_symbol(library, file)}; the tag promises {newest}: build on Debian 12")


def put_data(package: Path) -> None:
    tracked = call("git", "ls-files", "-z", "-c", "-o", "--exclude-standard", "--", *DATA, "src/python/difflab").split("\0")[:-1]
    for name in tracked:
        place = package / name.removeprefix("src/python/difflab/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place)
    for reference in sorted((ROOT / "results").glob("*/reference")):
        for folder in (reference, reference / "tuning", reference / "tuning/shorter"):
            names = REFERENCES if folder == reference else REFERENCES[:2]
            files = [file for name in names for file in folder.glob(name)]
            place = package / folder.relative_to(ROOT)
            for file in files:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place)
    changes = call("git", "status", "--porcelain", "--", ".", ":!results")
    state = {
        "commit": call("git", "rev-parse", "HEAD").strip(),
        "dirty": bool(changes),
        "diff_sha256": hashlib.sha256((changes + call("git", "diff", "HEAD")).encode()).hexdigest() if changes else None,
    }
    (package / "BUILD.json").write_text(json.dumps(state) + "\n")


def write_wheel(tree: Path, folder: Path) -> Path:
    info = tree / f"difflab-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: difflab\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\ndifflab = difflab.__main__:main\n")
    shutil.copy2(ROOT / "LICENSE", info)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"difflab-{version()}-{TAG}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for file in sorted(path for path in tree.rglob("*") if path.is_file()):
            name, content = file.relative_to(tree).as_posix(), file.read_bytes()
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if "/_bin/" in name else 0o100644) << 16
            out.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        listed = f"{info.name}/RECORD"
        out.writestr(zipfile.ZipInfo(listed, (2020, 1, 1, 0, 0, 0)), "\n".join([*record, f"{listed},,"]) + "\n")
    return wheel


def main() -> None:
    build, folder = map(Path, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as temporary:
        package = Path(temporary) / "difflab"
        package.mkdir()
        require_torch(build)
        put_programs(build, package)
        put_data(package)
        wheel = write_wheel(Path(temporary), folder)
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)\n\npip install {wheel}")


if __name__ == "__main__":
    main()
