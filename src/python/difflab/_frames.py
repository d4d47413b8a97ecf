"""Reports as tables: what difflab wrote of every run, without a file format of its own.

A time to an event that a run did not reach is a lower bound: `bound` is true and `value` is the last
step. A plain mean over such rows is too small; `mean` is what the report's table shows.
"""

import csv
import json
import math
import os
from pathlib import Path

from difflab._install import HERE

KINDS = ("runs", "metrics", "looks", "curves", "cells", "claims")


def references():
    """The folder of the committed results that come with difflab."""
    return (HERE if (HERE / "results").exists() else HERE.parents[2]) / "results"


def results_folder():
    """results/ of the project: $DIFFLAB_PROJECT, or the nearest folder with experiments/ or configs/
    from the working directory upwards, else that directory."""
    given = os.environ.get("DIFFLAB_PROJECT")
    here = Path(given).resolve() if given else Path.cwd()
    for folder in [here] if given else [here, *here.parents]:
        if (folder / "experiments").is_dir() or (folder / "configs").is_dir():
            return folder / "results"
    return here / "results"


def unpacked(table):
    """Rows of observations.json, whose keys stand apart: [which keys, value, value, ...]; texts that a
    model wrote have their keys."""
    yield from table.get("samples", ())
    for which, *values in table.get("rows", ()):
        yield dict(zip(table["keys"][which], values))


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


class Frames:
    """Tables of one or more reports: runs, metrics, looks, curves, cells and claims.

    `rows(kind)` gives a list of dictionaries; `frames.metrics` and so on the same as a pyarrow.Table,
    which pandas, Polars and DuckDB read. Every row has experiment and preset, every row of a run its id
    and its axes, e.g. model and seed.
    """

    def __init__(self, folders):
        self._rows = {kind: [] for kind in KINDS}
        for folder in folders:
            self._read(Path(folder))

    def rows(self, kind):
        if kind not in KINDS:
            raise ValueError(f"there is no table {kind}; expected one of {', '.join(KINDS)}")
        return self._rows[kind]

    def __getattr__(self, kind):
        if kind not in KINDS:
            raise AttributeError(kind)
        import pyarrow

        rows = self._rows[kind]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return pyarrow.table({column: [row.get(column) for row in rows] for column in columns})

    def _read(self, folder):
        report = json.loads((folder / "runs.json").read_text())
        observed = json.loads((folder / "observations.json").read_text())
        details = {run["id"]: run for run in observed["runs"]}
        begin = {"experiment": report["experiment"], "preset": report["preset"]}
        for run in report["runs"]:
            own = {**begin, "run": run["id"], **run["axes"]}
            origin = run.get("provenance") or {}
            self._rows["runs"].append({
                **own, "status": run["status"], "commit": origin.get("commit"), "dirty": origin.get("dirty"),
                "cpu": origin.get("cpu"), "started": origin.get("started"), "finished": origin.get("finished")})
            self._add_metrics(own, run)
            looks = dict(run.get("looks") or {})
            every = looks.pop("every", 0)
            for name, values in looks.items():
                if isinstance(values, list) and all(isinstance(value, (int, float)) for value in values):
                    self._rows["looks"] += [{**own, "metric": name, "step": (i + 1) * every, "value": value}
                                            for i, value in enumerate(values)]
            self._add_details(own, details.get(run["id"], {}))
        for row in csv.DictReader((folder / "claims.csv").open()) if (folder / "claims.csv").exists() else ():
            numbers = {key: number(value) for key, value in row.items()
                       if key in ("difference", "low", "high", "p", "pairs", "ratio", "ratio_low", "ratio_high")}
            self._rows["claims"].append({**begin, **row, **numbers})

    def _add_metrics(self, own, run):
        bounds = run.get("censored") or {}
        for name, value in (run.get("metrics") or {}).items():
            if name in bounds or isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            self._rows["metrics"].append({**own, "metric": name, "value": float(value), "bound": False})
        self._rows["metrics"] += [{**own, "metric": name, "value": float(value), "bound": True}
                                  for name, value in bounds.items()]

    def _add_details(self, own, details):
        for line in unpacked(details["curve"]) if "curve" in details else ():
            step = line.pop("step", None)
            self._rows["curves"] += [{**own, "metric": name, "step": step, "value": float(value)}
                                     for name, value in line.items() if isinstance(value, (int, float))]
        for name, cells in details.get("evaluations", {}).items():
            self._rows["cells"] += [{**own, "evaluation": name, **cell} for cell in unpacked(cells)]


def newest_last(folders):
    return sorted(folders, key=lambda path: (path / "runs.json").stat().st_mtime_ns)


def reports_in(results):
    """Experiment -> folders of its reports; those of subfolders with them. What `difflab needle` was
    asked, tunings and runs are no reports."""
    found = {}
    for folder, below, files in os.walk(results):
        below[:] = sorted(name for name in below if name not in ("runs", "trainings", "tuning", "needle"))
        if "runs.json" in files:
            path = Path(folder)
            found.setdefault(path.parent.relative_to(results).as_posix(), []).append(path)
    return found


def report_of(experiment, results, preset):
    """The newest report of an experiment, or that of `preset`, the name of its folder."""
    results = Path(results) if results else results_folder()
    if (Path(experiment) / "runs.json").exists():
        return Path(experiment)
    folders = newest_last(path.parent for path in (results / experiment).glob(f"{preset or '*'}/runs.json"))
    if not folders:
        raise FileNotFoundError(f"{results} has no report of {experiment}"
                                f"{f' called {preset}' if preset else ''}; difflab sweep {experiment} writes one")
    return folders[-1]


def frames(*experiments, results=None, preset=None):
    """The tables of reports: of these experiments or folders of reports, of all in `results` if none is
    named. Of several reports of an experiment the newest is taken.

    `results` is a folder of results, difflab.references() for the committed ones; None: the project's.
    `preset` is the name of a report's folder, e.g. "reference".
    """
    results = Path(results) if results else results_folder()
    if experiments:
        return Frames(report_of(str(name), results, preset) for name in experiments)
    found = ([path for path in folders if preset in (None, path.name)] for folders in reports_in(results).values())
    return Frames(newest_last(folders)[-1] for folders in found if folders)


def density(x, freedom):
    """Student's t."""
    log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(log - (freedom + 1) / 2 * math.log1p(x * x / freedom))


def quantile(freedom):
    """The 97.5 % quantile of Student's t: Newton's method on its integral by Simpson's rule."""
    x, steps = 2.0, 400
    for _ in range(30):
        width = x / steps
        inner = sum((4 if i % 2 else 2) * density(i * width, freedom) for i in range(1, steps))
        area = width / 3 * (density(0, freedom) + inner + density(x, freedom))
        change = (0.475 - area) / density(x, freedom)
        x += change
        if abs(change) < 1e-12:
            break
    return x


def mean(rows, by=("model",)):
    """What a report's table shows of rows of one metric: a list of dictionaries, one for each value of
    the keys `by`, with n, bounds (how many values are lower bounds), mean, low, high and median.

    With a bound among its values a group has no mean, and of the median only what is known: none
    if half or more of the runs did not get there. low and high are the ends of Student's 95 %
    interval; a report also keeps the intervals of shares within 0 and 1, which this does not.
    """
    by = (by,) if isinstance(by, str) else tuple(by)
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in by), []).append(row)
    found = []
    for keys, members in groups.items():
        values = sorted(row["value"] for row in members)
        n, bounds = len(values), sum(row["bound"] for row in members)
        one = {**dict(zip(by, keys)), "n": n, "bounds": bounds, "mean": None, "low": None, "high": None}
        middle = (values[(n - 1) // 2] + values[n // 2]) / 2
        lowest_bound = min((row["value"] for row in members if row["bound"]), default=math.inf)
        one["median"] = middle if values[n // 2] < lowest_bound else None
        if bounds == 0:
            one["mean"] = math.fsum(values) / n
            if n > 1:
                variance = math.fsum((value - one["mean"]) ** 2 for value in values) / (n - 1)
                half = quantile(n - 1) * math.sqrt(variance / n)
                one["low"], one["high"] = one["mean"] - half, one["mean"] + half
        found.append(one)
    return found


class Chart:
    """A figure of a report, shown by notebooks: the Vega-Lite specification, else its picture."""

    def __init__(self, folder, name):
        self.folder, self.name = Path(folder), name
        self.spec = json.loads((self.folder / f"{name}.vl.json").read_text())

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"application/vnd.vegalite.v5+json": self.spec, "text/plain": repr(self)}
        picture = self.folder / f"{self.name}.svg"
        if picture.exists():
            bundle["image/svg+xml"] = picture.read_text()
        return bundle

    def __repr__(self):
        return f"{self.folder / self.name}"


def chart(experiment, figure=None, results=None, preset=None):
    """A figure of an experiment's newest report, or of that of `preset`; the first if none is named. Its
    specification is `.spec`, which altair.Chart.from_dict takes. Raises FileNotFoundError with the names
    there are."""
    folder = report_of(str(experiment), results, preset) / "figures"
    names = [path.name[: -len(".vl.json")] for path in sorted(folder.glob("*.vl.json"))]
    if not names or (figure and figure not in names):
        raise FileNotFoundError(f"{folder} has no figure {figure or ''}; there is {', '.join(names) or 'none'}")
    return Chart(folder, figure or names[0])
