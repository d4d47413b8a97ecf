"""Times training steps of models.py on request: reads "SHAPE | KIND | WAY" lines (WAY is naive, sdpa or
compile, with an option of models.step behind a comma), runs one step (after warming up on the first request) and
prints its seconds. Arguments: threads, and cpu or cuda."""

import sys
import time

import models
import torch

torch.set_num_threads(int(sys.argv[1]))
device = sys.argv[2]
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
steps = {}
for line in sys.stdin:
    key = tuple(part.strip() for part in line.split("|"))
    if key not in steps:
        shape, kind, way = key
        way, _, option = way.partition(", ")
        steps[key], _ = models.step(shape, kind, "naive" if way == "naive" else "sdpa", way == "compile", device,
                                    option)
        for _ in range(3 if device == "cpu" else 8):
            steps[key]()
        wait()
    start = time.perf_counter()
    steps[key]()
    wait()
    print(time.perf_counter() - start, flush=True)
