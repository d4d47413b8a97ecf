#!/usr/bin/env python3
"""Runs of the real worker under fire: python3 tests/system/chaos/real_worker.py BUILD [--full] [--seed N].

The oracle of every case: when the disturbance is over, the same command ends with the result, the
metrics and the tensors of the checkpoint of an undisturbed run, bit for bit (but for measured
times), and no temporary file is left. ctest gives a quick dose. Standard library and strace only.
"""
import json
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from real_run import Run, SAVED, StagedRun, interrupted_steps, outcome, play, require, require_tidy, require_untouched

# Calls that change something on the disk, or stand between two that do.
CHANGING = ("openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "renameat",
            "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "fchmod", "flock")
FAILING = {"fsync": "EIO", "write": "ENOSPC", "pwrite64": "ENOSPC", "ftruncate": "ENOSPC"}
OPENED = re.compile(r"O_CREAT|O_WRONLY|O_RDWR")


def calls_on_disk(run):
    """(name, n) of each changing call that the main thread makes on the run's files, n counted
    over all calls of that name, and the text of the call."""
    trace = run.project.folder / "trace"
    run.anew()
    answer = run.execute("strace", "-qq", "-y", "-s", "0", "-o", str(trace), "-e",
                         "trace=" + ",".join(CHANGING))
    require(answer.returncode == 0, answer.stdout + answer.stderr)
    counts, found = {}, []
    for line in trace.read_text(errors="replace").splitlines():
        name = line.split("(", 1)[0]
        if name not in CHANGING:
            continue
        counts[name] = counts.get(name, 0) + 1
        if str(run.touched()) in line and (name != "openat" or OPENED.search(line)):
            found.append((name, counts[name], line))
    return found


def chosen(calls, dose, every=12):
    """All, or some and those at the end: the result."""
    return calls if dose(False, True) else calls[:-6:every] + calls[-6:]


def injected(run, name, n, what):
    return run.execute("strace", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
                       f"inject={name}:{what}:when={n}")


def kills_at_calls(run, dose, every=12):
    """SIGKILL at every changing system call: checkpoints, metrics, claims, status and result."""
    kills = with_result = 0
    calls = calls_on_disk(run)
    for name, n, text in chosen(calls, dose, every):
        run.anew()
        answer = injected(run, name, n, "signal=SIGKILL")
        if answer.returncode == 0:
            continue  # this time it made fewer calls of that name
        require(answer.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL), f"{text}: {answer}")
        kills += 1
        with_result += run.published()
        run.finish()
        run.settle()
        run.check(f"killed at {text}")
    require(kills >= len(chosen(calls, dose, every)) * 0.9, f"only {kills} kills at {len(calls)} calls")
    return f"{kills} kills at a system call of {len(calls)}, {with_result} with the result there"


def failing_calls(run, dose):
    """EIO from fsync and a full disk at every write: nothing is published, and it goes on later."""
    refused = survived = 0
    calls = [call for call in calls_on_disk(run) if call[0] in FAILING]
    for name, n, text in chosen(calls, dose):
        run.anew()
        answer = injected(run, name, n, f"error={FAILING[name]}")
        require(answer.returncode in (0, 2, SAVED), f"{text}: {answer}")
        if answer.returncode == 0:
            survived += 1  # news such as status and events may fail; the result may not
            require("result.json" not in text, f"{text}: it failed and the run was called complete")
        else:
            refused += 1
            require(not run.published(), f"{text}: it failed and a result was published")
            require(answer.returncode == SAVED or answer.stdout + answer.stderr, f"{text}: no reason given")
            run.finish()
        run.settle()
        run.check(f"{FAILING[name]} at {text}")
    require(refused > 0, "no failing call was noticed")
    return f"{refused} runs refused and later completed, {survived} went on without news"


def random_resumes(run, dose, chance):
    """Interrupted at a random step, continued."""
    def attempt(seconds):
        run.anew()
        process = run.start()
        time.sleep(seconds)
        process.send_signal(chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP]))
        code = process.wait(60)
        if code not in (0, SAVED):
            require(code < 0, f"exit code {code}")  # before the handlers were there
        # A signal that comes while it still waits for the run is obeyed before there is a status.
        hit = code == SAVED and not run.published() and run.began()
        step = run.step() if hit else None
        if not run.published():
            run.finish()
        run.check(f"interrupted after {step} steps")
        return step

    steps = interrupted_steps(dose(3, 50), chance, run.undisturbed, attempt)
    return f"{len(steps)} resumes from steps {min(steps)} to {max(steps)}"


def wait_until_behind(run, process, step):
    """Until the run says that it is behind a step. A status that is just being written says nothing."""
    while process.poll() is None:
        try:
            if run.step() > step:
                return
        except (OSError, ValueError, KeyError):
            pass
        time.sleep(0.002)


def chained_interruptions(project, dose, chance):
    """One run, stopped again and again, each time after it has come further."""
    wanted = dose(4, 10)
    run = make_run(project, f"train.steps={dose(1500, 4000)}", "train.eval_every=100", "train.checkpoint_steps=500")
    for _ in range(dose(1, 5)):
        run.anew()
        step = -1
        for number in range(1, wanted + 1):
            process = run.start()
            wait_until_behind(run, process, step)
            time.sleep(chance.uniform(0, 0.02))
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
            require(code == SAVED and not run.published(), f"exit code {code} at interruption {number}")
            step = run.step()
        run.finish()
        run.check(f"interrupted {wanted} times in a row")
    return f"{wanted} interruptions of one run in a row, {dose(1, 5)} times"


def shared_processes(project):
    """Short runs follow each other in one process: each ends as in a process of its own."""
    shared, alone = project.folder / "shared", project.folder / "own" / "runs"
    words = ["seed=range(8)", "model.dropout=0.2", "train.steps=3", "train.warmup_steps=1", "launcher.workers=1"]
    answer = project.call(project.sweep(shared, *words))
    require(answer.returncode == 0, answer.stdout + answer.stderr)
    runs = sorted((shared / "runs").iterdir())
    processes = [re.search(rb'"process":(\d+)', (run / "events.log").read_bytes())[1] for run in runs]
    require(len(set(processes)) < len(runs) == 16, f"{len(set(processes))} processes for {len(runs)} runs")
    for run in runs:
        own = alone / run.name
        own.mkdir(parents=True)
        shutil.copy(run / "config.yaml", own)
        answer = project.call([str(project.build / "difflab-worker"), "run", str(own)])
        require(answer.returncode == 0, answer.stdout + answer.stderr)
        require(outcome(own) == outcome(run), f"{run.name}: another outcome than in a process of its own")
    require_tidy(shared, "in shared processes")
    return f"{len(runs)} runs in {len(set(processes))} processes, as each by itself"


def diverged_siblings(project):
    """Losses and gradients that are no numbers end their run as diverged and touch no other."""
    alone, together = project.folder / "alone", project.folder / "with-diverged"
    require(project.call(project.sweep(alone)).returncode == 0, "the undisturbed sweep failed")
    answer = project.call(project.sweep(together, "train.lr=1e-2,1e10,1e30", "launcher.workers=4"))
    require(answer.returncode == 0, f"{answer.stdout}{answer.stderr}")
    states = {run.name: json.loads((run / "result.json").read_text())["status"]
              for run in (together / "runs").iterdir()}
    expected = require_untouched(alone, together, "diverged runs")
    require(len(states) == 3 * len(expected), f"{len(states)} results")
    diverged = sum(state == "diverged" for state in states.values())
    require(diverged > len(expected), f"only {diverged} diverged")
    return f"{diverged} of {len(states)} runs diverged, the others are as without them"


def memory_kills(project, dose):
    """The kernel's own out-of-memory kill, in a control group with little memory."""
    group = pathlib.Path("/sys/fs/cgroup/memory")
    own = group / f"difflab-chaos-{random.randrange(10**9)}"
    if not (group / "memory.limit_in_bytes").exists():
        return "SKIPPED: no control group for memory that this process may make"
    try:
        own.mkdir()
    except OSError as error:
        return f"SKIPPED: no control group for memory: {error}"
    try:
        return memory_kills_within(project, own, dose)
    finally:
        own.rmdir()


def memory_kills_within(project, group, dose):
    undisturbed = project.folder / "memory-free"
    require(project.call(project.sweep(undisturbed)).returncode == 0, "the undisturbed sweep failed")
    expected = table(undisturbed)
    kills = sweeps = 0
    enter = f'echo $$ > {group}/cgroup.procs; exec "$@"'
    while kills < dose(1, 20):
        sweeps += 1
        require(sweeps < 100, f"only {kills} kills")
        results = project.folder / f"memory-{sweeps}"
        (group / "memory.limit_in_bytes").write_text(f"{random.randrange(25, 75)}M")
        answer = project.call(["/bin/sh", "-c", enter, "sh",
                               *project.sweep(results, "launcher.workers=2", "launcher.retries=0")])
        killed = int(re.search(r"oom_kill (\d+)", (group / "memory.oom_control").read_text())[1])
        again = project.call(project.sweep(results))
        require(again.returncode == 0, f"after {answer}: {again}")
        require(table(results) == expected, "another table")
        require(killed > kills or answer.returncode == 0, f"not killed, yet {answer}")
        kills = killed
    return f"{kills} kills by the kernel for want of memory in {sweeps} sweeps"


def table(results):
    (found,) = results.glob("tiny/*/table.csv")
    return found.read_bytes()


def sweeps_killed(project, dose, chance):
    """SIGKILL of driver, worker process or run at random instants; real checkpoints and tables."""
    words = ["seed=range(15)", "launcher.workers=2", "launcher.retries=1000"]
    undisturbed = project.folder / "kills-undisturbed"
    require(project.call(project.sweep(undisturbed, *words)).returncode == 0, "the undisturbed sweep failed")
    expected = {run.name: outcome(run) for run in sorted((undisturbed / "runs").iterdir())}
    require(len(expected) == 30, f"{len(expected)} runs")
    kills = sweeps = 0
    while kills < dose(6, 200):
        sweeps += 1
        require(sweeps < 100, f"only {kills} kills")
        results = project.folder / "kills"
        shutil.rmtree(results, ignore_errors=True)
        driver = start_sweep(project, results, words)
        while kills < dose(6, 200) and driver.poll() is None:
            time.sleep(chance.uniform(0.05, 1.0))
            kills += kill_one(driver, chance)
            if driver.poll() is not None and driver.returncode < 0:
                driver = start_sweep(project, results, words)
        driver.wait(600)
        again = project.call(project.sweep(results, *words), timeout=900)
        require(again.returncode == 0, f"{again.stdout}{again.stderr}")
        found = {run.name: outcome(run) for run in sorted((results / "runs").iterdir())}
        require(found == expected, "another result, metrics or checkpoint")
        require_tidy(results, f"killed {kills} times")
    return f"{kills} kills over {sweeps} sweeps of 30 runs"


def start_sweep(project, results, words):
    return subprocess.Popen(project.sweep(results, *words), env=project.environment,
                            cwd=project.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_one(driver, chance):
    """SIGKILL for the driver, one of its descendants, or all of them; whether anything was hit."""
    below = descendants(driver.pid)
    victims = chance.choice([[driver.pid], below + [driver.pid], below[:1], below[-1:]])
    hit = 0
    for process in victims:
        if process != driver.pid or driver.poll() is None:
            hit |= subprocess.call(["kill", "-9", str(process)], stderr=subprocess.DEVNULL) == 0
    if driver.pid in victims:
        driver.wait(60)
    return int(hit)


def descendants(process):
    children = pathlib.Path(f"/proc/{process}/task/{process}/children")
    try:
        found = [int(word) for word in children.read_text().split()]
    except OSError:
        return []
    return found + [one for child in found for one in descendants(child)]


def cases(project, dose, chance):
    run = make_run(project)

    def two_threads():
        run = make_run(project, "threads=2", "train.optimizer=muon", "train.schedule=warmup_stable_decay",
                       "train.groups=[{match: '*.lambda_*', lr_scale: 0.1}]")
        return random_resumes(run, dose, chance)

    return [
        ("kill -9 at every system call", lambda: kills_at_calls(run, dose)),
        ("kill -9 in stages", lambda: kills_at_calls(staged_run(project), dose, every=24)),
        ("calls that fail", lambda: failing_calls(run, dose)),
        ("resumes, one thread", lambda: random_resumes(run, dose, chance)),
        ("resumes, two threads", two_threads),
        ("chained interruptions", lambda: chained_interruptions(project, dose, chance)),
        ("short runs in one process", lambda: shared_processes(project)),
        ("diverged runs", lambda: diverged_siblings(project)),
        ("kill -9 of sweeps", lambda: sweeps_killed(project, dose, chance)),
        ("out of memory", lambda: memory_kills(project, dose)),
    ]


def main():
    if not shutil.which("strace"):
        print("SKIPPED: there is no strace", file=sys.stderr)
        return 77
    return play(__doc__, cases)


def staged_run(project):
    words = ["model=diff", "seed=0", "stages=[{train: {steps: 30, warmup_steps: 2}}]",
             "train.keep_checkpoints=[0,20,60]", "train.optimizer=sgd", "train.schedule=linear"]
    return StagedRun(project, project.frozen_run(*words), words)


def make_run(project, *words):
    words = ["model=diff", "seed=0", *words]
    return Run(project, project.frozen_run(*words), words)


if __name__ == "__main__":
    sys.exit(main())
