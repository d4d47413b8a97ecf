#!/usr/bin/env python3
"""Sweeps while the clock is set: python3 tests/system/chaos/clock.py BUILD [--full] [--seed N].

The driver and the real worker run under libfaketime, which shifts the wall clock in mid-run and
leaves the monotonic one alone, as setting a machine's clock does; no clock of the machine is
touched. File times come from the kernel, so they differ from the processes' clock as those of a
file server do; the full dose also shifts them. The oracle: tables, results, metrics and tensors of
an undisturbed sweep (but for measured times), every run executed to its end once, no temporary
file, no measured time that is negative or too long. Standard library and Debian's faketime only.
"""
import datetime
import json
import pathlib
import random
import signal
import subprocess
import sys
import time

from real_run import Broken, TIMES, outcome, play, require, require_tidy

LIBRARIES = ["/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1",
             "/usr/local/lib/faketime/libfaketimeMT.so.1"]
# Runs long enough that the clock can be set between two checkpoints of one; enough for two drivers.
WORDS = ["train.steps=120", "seed=range(2)", "launcher.workers=2"]
FOR_TWO = ["train.steps=60", "seed=range(5)", "launcher.workers=1"]
HOUR, DAY = 3600, 86400
# With another name a driver counts as another machine: whether its runs live shows their beat alone.
ELSEWHERE = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"]
LIMIT = 120  # seconds; what takes longer hangs
SLACK = 2  # seconds; recorded times are cut to whole ones


def shifts():
    """Seconds by which the clock is set."""
    return {"+1 h": HOUR, "-1 h": -HOUR, "+1 day": DAY, "-1 day": -DAY, "1970": 60 - int(time.time())}


class Clock:
    """A wall clock that can be set while processes read it."""

    def __init__(self, library, folder, file_times):
        self.file = folder / f"clock-{random.randrange(10**9)}"
        self.set(0)
        self.environment = {
            "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(self.file), "TZ": "UTC",
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        if not file_times:
            self.environment["NO_FAKE_STAT"] = "1"

    def set(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        new.replace(self.file)  # a reader sees the old time or the new one


class Sweep:
    """A sweep in the background under a clock, or under the machine's own."""

    def __init__(self, project, results, words, clock=None, elsewhere=False):
        environment = dict(project.environment, **(clock.environment if clock else {}))
        self.results, self.begin = results, time.time()
        self.log = results.parent / f"{results.name}-{random.randrange(10**9)}.txt"
        with self.log.open("w") as log:
            argv = (ELSEWHERE if elsewhere else []) + project.sweep(results, *words)
            self.process = subprocess.Popen(argv, env=environment, cwd=project.folder, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)

    def wait_for_step(self, steps):
        """Until a run without a result is between two steps."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and self.process.poll() is None:
            for file in self.results.glob("runs/*/status.json"):
                step = read_json(file).get("step", 0)
                if step in steps and not (file.parent / "result.json").exists():
                    return
            time.sleep(0.005)
        raise Broken(f"no run was seen between steps {steps[0]} and {steps[-1]}: {self.log.read_text()}")

    def wait(self, *codes):
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Broken(f"hangs: {self.log.read_text()}") from None
        finally:
            self.forget()
        self.end = time.time()
        require(code in codes, f"exit code {code}: {self.log.read_text()}")

    def forget(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        remove_shared_memory(self.process.pid)


def remove_shared_memory(process):
    """libfaketime leaves it when its process is killed, and the next of that number would stumble."""
    for name in ("faketime_shm_", "sem.faketime_sem_"):
        pathlib.Path(f"/dev/shm/{name}{process}").unlink(missing_ok=True)


def said_under(clock, project, argv):
    """What a program prints that runs to its end under the clock."""
    process = subprocess.Popen(argv, cwd=project.folder, text=True, env=dict(project.environment, **clock.environment),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Broken(f"{argv} hangs") from None
    finally:
        remove_shared_memory(process.pid)
    require(process.returncode == 0, f"{argv}: exit code {process.returncode}: {said}")
    return said


def read_json(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}  # it is being made


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def events(run):
    records = (run / "events.log").read_bytes().split(b"\x1e")[1:]
    return [json.loads(record[18:]) for record in records]  # after length and checksum


def recorded_times(run):
    """Every date in a run's events and provenance."""
    provenance = read_json(run / "provenance.json")
    sessions = [*provenance.get("earlier_sessions", []), provenance]
    times = [seconds(event["time"]) for event in events(run)]
    return times + [seconds(one[key]) for one in sessions for key in ("started", "finished") if one.get(key)]


def split_by_clock(run, windows):
    """How many recorded times of a run lie in each of the windows; all must lie in one."""
    counts = [0] * len(windows)
    for moment in recorded_times(run):
        inside = [begin - SLACK <= moment <= end + SLACK for begin, end in windows]
        require(any(inside), f"{run.name}: {moment} was no time on any of the clocks, {windows}")
        counts[inside.index(True)] += 1
    return counts


def everything(results):
    return ({run.name: outcome(run) for run in results.glob("runs/*")},
            {path.name: path.read_bytes() for path in results.glob("tiny/*/table.*")})


def require_sane_times(value, run, key=""):
    if isinstance(value, dict):
        for name, entry in value.items():
            require_sane_times(entry, run, name)
    elif isinstance(value, list):
        for entry in value:
            require_sane_times(entry, run, key)
    elif TIMES.search(key) and value is not None:
        good = value > 0 if key.endswith("_per_second") else 0 <= value < LIMIT
        require(good, f"{run.name}: {key} is {value}")


class Field:
    """The undisturbed sweeps, and what others are held against."""

    def __init__(self, project, library, dose):
        self.project, self.library, self.dose = project, library, dose
        self.count, self.expected = 0, {}
        # Only root may give itself another name.
        renamed = subprocess.run([*ELSEWHERE, "hostname"], capture_output=True, text=True).stdout
        self.places = (False, True) if renamed == "elsewhere\n" else (False,)
        if True not in self.places:
            print("SKIPPED: runs that another machine goes on with; only root may give itself another name")

    def fresh(self):
        self.count += 1
        return self.project.folder / f"results-{self.count}"

    def clock(self, file_times):
        return Clock(self.library, self.project.folder, file_times)

    def undisturbed(self, words):
        if words[1] not in self.expected:
            sweep = Sweep(self.project, self.fresh(), words)
            sweep.wait(0)
            runs, tables = found = everything(sweep.results)
            require(len(runs) in (4, 10) and "table.md" in tables, f"{len(runs)} runs, {tables.keys()}")
            self.expected[words[1]] = found
        return self.expected[words[1]]

    def check(self, results, words, what, starts=1):
        expected, (runs, tables) = self.undisturbed(words), everything(results)
        require(runs == expected[0], f"{what}: another result, metrics or checkpoint")
        require(tables == expected[1], f"{what}: another table")
        require_tidy(results, what)
        for run in results.glob("runs/*"):
            names = [event["event"] for event in events(run)]
            require(names.count("finish") == 1 and names.count("failure") == 0, f"{what}: {run.name}: {names}")
            require(1 <= names.count("start") <= starts, f"{what}: {run.name}: {names}")
            require_sane_times([read_json(run / "result.json"), [json.loads(line) for line in
                                (run / "metrics.jsonl").read_text().splitlines()]], run)

    def readers(self, results, words, clock):
        """Commands that show times, forecast from them and export them, under the clock as it is now."""
        (summary,) = results.glob("tiny/*/summary.json")
        output, sweep = str(summary.parent), self.project.sweep(results, *words)
        program = sweep[0]
        for argv in ([*sweep, "seed=range(8)", "--dry-run"], sweep, [*sweep, "--freeze"], [program, "status", output],
                     [program, "logs", output, "--events"], [program, "runs", f"--results={results}"],
                     [program, "export", "tensorboard", *sweep[2:]]):
            said_under(clock, self.project, argv)


def stepped_sweeps(field, clocks):
    """(a) The clock of driver and workers is set while runs are in their middle."""
    sweeps = within = before = after = 0
    for name, shift, file_times in clocks:
        clock = field.clock(file_times)
        sweep = Sweep(field.project, field.fresh(), WORDS, clock)
        try:
            sweep.wait_for_step(range(10, 90))
            clock.set(shift)
        finally:
            sweep.wait(0)
        field.check(sweep.results, WORDS, f"clock set to {name}")
        window = (sweep.begin, sweep.end)
        seen = 0
        for run in sweep.results.glob("runs/*"):
            true, shifted = split_by_clock(run, [window, moved(window, shift)])
            before, after, seen = before + true, after + shifted, seen + (true > 0 and shifted > 0)
        # Without this, a library that shifts nothing would pass.
        require(seen > 0, f"clock set to {name}: no run saw it")
        field.readers(sweep.results, WORDS, clock)
        sweeps, within = sweeps + 1, within + seen
    return f"{sweeps} sweeps of 4 runs, in {within} runs both times are recorded ({before} and {after} dates)"


def moved(window, shift):
    return tuple(end + shift for end in window)


def two_drivers(field, clocks):
    """(b) Two drivers at one folder, one of them with another time, from the start or from the middle."""
    pairs = own = others = apart = 0
    field.undisturbed(FOR_TWO)
    kinds = [(from_start, elsewhere) for elsewhere in field.places for from_start in (True, False)]
    for name, shift, file_times in clocks:
        for from_start, elsewhere in field.dose([kinds[pairs % len(kinds)]], kinds):
            clock, results = field.clock(file_times), field.fresh()
            clock.set(shift if from_start else 0)
            drivers = [Sweep(field.project, results, FOR_TWO, clock),
                       Sweep(field.project, results, FOR_TWO, elsewhere=elsewhere)]
            try:
                if not from_start:
                    drivers[0].wait_for_step(range(10, 50))
                    clock.set(shift)
            finally:
                for driver in drivers:
                    driver.wait(0)
            what = f"two drivers, one clock {name}"
            field.check(results, FOR_TWO, what)
            window = (drivers[0].begin, drivers[1].end)
            counts = [split_by_clock(run, [window, moved(window, shift)]) for run in results.glob("runs/*")]
            true, shifted = (sum(count[place] > 0 for count in counts) for place in (0, 1))
            require(shifted > 0 and true > 0, f"{what}: one driver executed everything: {counts}")
            field.readers(results, FOR_TWO, clock)
            hosts = {event["host"] for run in results.glob("runs/*") for event in events(run)}
            require(len(hosts) == 1 + elsewhere, f"{what}: on {hosts}")
            pairs, own, others, apart = pairs + 1, own + true, others + shifted, apart + elsewhere
    return f"{pairs} pairs at sweeps of 10 runs, {apart} of them as on two machines, {own} runs with the true time " \
           f"in them, {others} with another"


def resumed_sweeps(field, clocks, chance):
    """(c) Interrupted or killed under one time, continued under another."""
    count = resumed = killed = apart = 0
    for name, shift, file_times in clocks:
        for forth in field.dose((count % 2 == 0,), (True, False)):
            stop = [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGINT][count % 4]
            elsewhere = chance.choice(field.places)
            first, second = (0, shift) if forth else (shift, 0)
            clock, results = field.clock(file_times), field.fresh()
            clock.set(first)
            sweep = Sweep(field.project, results, WORDS, clock, elsewhere)
            try:
                sweep.wait_for_step(range(30, 90))
                sweep.process.send_signal(stop)
            finally:
                sweep.wait(130, -signal.SIGKILL)
            clock.set(second)
            again = Sweep(field.project, results, WORDS, clock)
            again.wait(0)
            what = f"stopped by {stop.name}, continued with the clock at {name} {'forth' if forth else 'back'}"
            field.check(results, WORDS, what, starts=2)
            # The processes of a killed driver may need a moment to notice.
            windows = [moved((sweep.begin, sweep.end + SLACK), first), moved((again.begin, again.end), second)]
            both = sum(min(split_by_clock(run, windows)) > 0 for run in results.glob("runs/*"))
            steps = [event["step"] for run in results.glob("runs/*") for event in events(run)
                     if event["event"] == "resume"]
            require(both > 0 and steps, f"{what}: no run was continued")
            field.readers(results, WORDS, clock)
            count, resumed = count + 1, resumed + len(steps)
            killed, apart = killed + (stop == signal.SIGKILL), apart + elsewhere
    return f"{count} sweeps of 4 runs, {killed} of them killed, {apart} as on another machine, {resumed} runs " \
           f"continued from a checkpoint"


def effect(field):
    """The library shifts the wall clock of a child of a child and no other clock."""
    clock = field.clock(False)
    code = "import time; print(time.time(), time.monotonic())"
    for name, shift in shifts().items():
        clock.set(shift)
        true = time.time(), time.monotonic()
        said = said_under(clock, field.project, ["/bin/sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", code])
        off = [float(text) - here for text, here in zip(said.split(), true)]
        require(abs(off[0] - shift) < 5 and abs(off[1]) < 5, f"{name}: the clocks are off by {off}")
    return f"{len(shifts())} shifts of the wall clock seen, the monotonic clock left alone"


def library():
    found = [path for pattern in LIBRARIES for path in pathlib.Path("/").glob(pattern[1:])]
    return found[0] if found else None


def cases(project, dose, chance):
    clocks = [(name, shift, file_times) for file_times in dose((False,), (False, True))
              for name, shift in shifts().items()]
    field = Field(project, library(), dose)
    return [
        ("the fake clock", lambda: effect(field)),
        ("clock set in mid-run", lambda: stepped_sweeps(field, clocks)),
        ("two drivers, two times", lambda: two_drivers(field, clocks)),
        ("stopped, continued at another time", lambda: resumed_sweeps(field, clocks, chance)),
    ]


def main():
    if library() is None:
        print("SKIPPED: there is no libfaketime (Debian: faketime)", file=sys.stderr)
        return 77
    return play(__doc__, cases)


if __name__ == "__main__":
    sys.exit(main())
