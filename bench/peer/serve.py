"""Times training steps of models.py on request: reads "SHAPE | KIND | WAY" lines (WAY is naive, sdpa or
compile), runs one step (after warming up on the first request) and prints its seconds."""

import sys
import time

import models
import torch

torch.set_num_threads(int(sys.argv[1]))
steps = {}
for line in sys.stdin:
    key = tuple(part.strip() for part in line.split("|"))
    if key not in steps:
        shape, kind, way = key
        steps[key], _ = models.step(shape, kind, "naive" if way == "naive" else "sdpa", way == "compile")
        for _ in range(3):
            steps[key]()
    start = time.perf_counter()
    steps[key]()
    print(time.perf_counter() - start, flush=True)
