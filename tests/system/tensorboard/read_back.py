"""Curves that `difflab export tensorboard` wrote, read back by TensorBoard's own reader.

Run folders are made here, with random metrics. Every scalar must come back with its run, tag, step,
time and, as a 32-bit float, value; nothing else may come back; and a file with one changed byte must
be refused, or this test would show nothing about the checksums.
"""

import argparse
import json
import math
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing import event_file_loader, plugin_event_multiplexer

STARTED = "2026-02-03T04:05:06Z"
STARTED_SECONDS = 1770091506.0
METRICS = ["valid_loss", "train_loss", "lr", "lambda.0", "grad_norm"]


def random_number(chance):
    kind = chance.randrange(5)
    if kind == 0:
        return chance.randrange(-(10**6), 10**6)
    if kind == 1:
        return chance.choice([0.0, -0.0, 1e-45, 1e38, -1e-38, 1 / 3])
    return chance.uniform(-1, 1) * 10.0 ** chance.randrange(-20, 20)


def random_run(chance):
    lines, seconds = [], 0.0
    for step in sorted(chance.sample(range(10**chance.randrange(2, 10)), chance.randrange(1, 40))):
        line = {"step": step}
        for metric in METRICS:
            if chance.random() < 0.9:
                line[metric] = None if chance.random() < 0.05 else random_number(chance)
        seconds += chance.uniform(0, 100)
        line["train_seconds"] = seconds
        lines.append(line)
    return lines


def write_run(folder, seed, lines):
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(f"model: {{name: diff λ/..}}\nseed: {seed}\n")
    sessions = {"started": "2027-01-01T00:00:00Z", "earlier_sessions": [{"started": STARTED}]}
    (folder / "provenance.json").write_text(json.dumps(sessions))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "metrics.jsonl").write_text(text + '{"step": 1, "torn')


def as_float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def expected_scalars(lines):
    scalars = {}
    for line in lines:
        for tag, value in line.items():
            if tag != "step" and value is not None:
                time = STARTED_SECONDS + line["train_seconds"]
                scalars.setdefault(tag, []).append((line["step"], time, as_float32(value)))
    return scalars


def read_scalars(logs):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(
        tensor_size_guidance={"scalars": 0}, purge_orphaned_data=False
    )
    multiplexer.AddRunsFromDirectory(str(logs))
    multiplexer.Reload()
    found = {}
    for run, content in multiplexer.Runs().items():
        found[run] = {}
        for tag in content["tensors"]:
            events = multiplexer.Tensors(run, tag)
            found[run][tag] = [
                (event.step, event.wall_time, event.tensor_proto.float_val[0]) for event in events
            ]
    return found


def loads_fully(file):
    try:
        return list(event_file_loader.EventFileLoader(str(file)).Load())
    except Exception:  # TensorBoard's own kind of error; which one is its business
        return None


def check_damage(file, chance):
    whole = file.read_bytes()
    events = len(loads_fully(file))
    for _ in range(200):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        left = loads_fully(file)
        if left is not None and len(left) >= events:
            sys.exit(f"TensorBoard did not notice that byte {at} was changed")
    file.write_bytes(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--difflab", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"--seed {options.seed}")
    chance = random.Random(options.seed)

    with tempfile.TemporaryDirectory() as temporary:
        results, logs = pathlib.Path(temporary) / "results", pathlib.Path(temporary) / "logs"
        expected = {}
        for seed in range(options.runs):
            run_id, lines = f"{chance.getrandbits(64):016x}", random_run(chance)
            write_run(results / "runs" / run_id, seed, lines)
            expected[f"{run_id[:8]},diff,___..,seed={seed}"] = expected_scalars(lines)
        command = [options.difflab, "export", "tensorboard", str(results), "--to", str(logs)]
        for _ in range(2):  # the second replaces the first
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = read_scalars(logs)
        assert sorted(found) == sorted(expected), (sorted(found), sorted(expected))
        count = 0
        for run, scalars in expected.items():
            assert sorted(found[run]) == sorted(scalars), run
            for tag, points in scalars.items():
                assert len(found[run][tag]) == len(points), (run, tag)
                for got, wanted in zip(found[run][tag], points):
                    assert got[0] == wanted[0] and got[2] == wanted[2], (run, tag, got, wanted)
                    assert math.copysign(1, got[2]) == math.copysign(1, wanted[2])
                    assert math.isclose(got[1], wanted[1], abs_tol=1e-3), (run, tag, got, wanted)
                    count += 1
        check_damage(next(iter(logs.rglob("*tfevents*"))), chance)
    print(f"{count} scalars of {len(expected)} runs came back from TensorBoard")


if __name__ == "__main__":
    main()
