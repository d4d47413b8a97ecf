"""Compares how difflab and Hydra compose and resolve random config trees with random overrides.

Usage: tests/system/hydra/run random_trees.py [--cases N] [--seed N] [--only CASE] [--difflab PROGRAM]
Prints every disagreement that is not on the list in differences.py, with the files; exit code 1 if
there is any. Case K of a seed is
always the same, so --only K shows one again.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile

import differences
import hydra_answers

ROOT = pathlib.Path(__file__).resolve().parents[3]
GROUPS = ["g", "h", "db", "db/deep", "g/sub"]
OPTIONS = ["a", "b", "c"]
KEYS = ["k1", "k2", "k3", "m", "l"]
PACKAGES = ["p", "p.q", "_global_", "_here_", "_group_", "g", "_global_.z"]
SCALARS = [0, 1, -7, 2.5, 1e-5, 1e20, True, False, None, "text", "a b", "1", "null", "é", "???", "x=y", "", "_p"]
INTERPOLATIONS = [
    "${k1}", "${k2}", "${g.k1}", "${h.k2}", "${.k1}", "${..k1}", "${...k2}", "${m.k1}", "${l[0]}", "${l.1}", "x${k1}", "${k1}${k2}",
    "${g.${k3}}", "${oc.env:HYDRA_TEST_SET}", "${oc.env:HYDRA_TEST_UNSET,fallback}", "${oc.env:HYDRA_TEST_UNSET}",
    "${oc.env:HYDRA_TEST_UNSET,null}", "${oc.select:k1}", "${oc.select:nothing,7}", "${oc.select:g.k2,[1,a]}", "${oc.decode:'[1, 2]'}",
    "${oc.decode:${k1}}", "\\${k1}", "a\\\\${k1}", "${db.deep.k1}", "${oc.select:.k2,x}", "${k1.k2}", "${missing}", "$k1", "${l}", "${m}",
]  # fmt: skip


class Generator:
    def __init__(self, rng):
        self.rng = rng

    def one(self, items):
        return self.rng.choice(items)

    def chance(self, probability):
        return self.rng.random() < probability

    def case(self):
        """Files by path, and overrides."""
        names = [(group, option) for group in GROUPS for option in OPTIONS if self.chance(0.6)]
        self.rng.shuffle(names)
        self.names, self.chosen, self.names_of_choices = names, set(), {}
        files = {"config.yaml": self.file(("", "config"), names, primary=True)}
        for i, (group, option) in enumerate(names):
            # Only later files, so that most trees have no circles.
            later = names if self.chance(0.01) else names[i + 1 :]
            files[f"{group}/{option}.yaml"] = self.file((group, option), later, primary=False)
        overrides = [self.override() for _ in range(self.one([0, 0, 1, 1, 2]))]
        return files, overrides

    def file(self, name, targets, primary):
        text = ""
        if self.chance(0.2) and not primary:
            text += f"# @package {self.one(['_global_', 'p', 'p.q', '_global_.p', 'g'])}\n"
        items = self.defaults(name, targets, 4 if primary else 2) if self.chance(1 if primary else 0.4) else []
        if items:
            text += "defaults:\n" + "".join(f"  - {item}\n" for item in items)
        for key in KEYS:
            if self.chance(0.5):
                text += f"{key}: {self.value(key, 2)}\n"
        return text

    def value(self, key, depth):
        if key == "l" and self.chance(0.95):
            return json.dumps([self.scalar() for _ in range(self.rng.randint(0, 3))])
        if key == "m" and depth and self.chance(0.9):
            inner = [k for k in KEYS if self.chance(0.5)]
            return "{" + ", ".join(f"{k}: {self.value(k, depth - 1)}" for k in inner) + "}"
        # No interpolation where another file may have a map: Hydra merges that into the target.
        return json.dumps(self.scalar() if key not in ("l", "m") else self.one([*SCALARS, ["x"]]))

    def scalar(self):
        return self.one(INTERPOLATIONS) if self.chance(0.2) else self.one(SCALARS)

    def reference(self, parent_group, target):
        """The group or config as it is written in a list of parent_group."""
        if parent_group and target.startswith(parent_group + "/") and self.chance(0.7):
            return target[len(parent_group) + 1 :]
        if not parent_group and self.chance(0.8):
            return target
        return "/" + target

    def package(self):
        return f"@{self.one(PACKAGES)}" if self.chance(0.2) else ""

    def new_place(self, group, package):
        """Most groups are chosen once, as choosing one twice in the same place is an error."""
        if (group, package) in self.chosen and self.chance(0.97):
            return False
        self.chosen.add((group, package))
        return True

    def defaults(self, name, targets, most):
        parent, items = name[0], []
        for _ in range(self.rng.randint(0, most)):
            if not targets:
                break
            (group, option), package = self.one(targets), self.package()
            reference, kind = self.reference(parent, group), self.rng.random()
            options = [other for of, other in targets if of == group]
            if kind < 0.14:
                items.append(self.reference(parent, f"{group}/{option}") + package)
            elif not self.new_place(group, package):
                continue
            elif kind < 0.65:
                optional = "optional " if self.chance(0.1) else ""
                items.append(f"{optional}{reference}{package}: {option}")
                self.names_of_choices.setdefault(option, group)
            elif kind < 0.75:
                items.append(f"{reference}{package}: [{', '.join(self.rng.sample(options, len(options)))}]")
            elif kind < 0.81:
                items.append(f"{reference}{package}: null")
            elif kind < 0.85:
                items.append(f"optional {reference}{package}: {self.one(OPTIONS)}")
            elif kind < 0.86:
                items.append(f"{reference}{package}: ???")
            else:
                other = self.names_of_choices.get(option, self.one(GROUPS))
                items.append(f"{reference}{package}: ${{{other}}}")
        if self.chance(0.6):
            items.insert(self.rng.randint(0, len(items)), "_self_")
        if self.chance(0.15) and self.chosen:
            group, package = self.one(sorted(self.chosen))
            option = self.option_of(group)
            written = f"override /{group}{package}" if self.chance(0.9) else f"override {group}"
            items.insert(len(items) if self.chance(0.95) else 0, f"{written}: {option}")
        return items

    def option_of(self, group):
        return self.one([option for of, option in self.names if of == group] + ["b"] * self.chance(0.1) or ["a"])

    def override(self):
        if self.chance(0.45):
            group, package = self.one(sorted(self.chosen)) if self.chosen and self.chance(0.8) else (self.one(GROUPS), self.package())
            option = self.option_of(group) if self.chance(0.9) else self.one(["null", "[a,b]", "z", "1"])
            new = self.one(["@n", "@n.m", "@_global_", ""])
            return self.one([f"{group}{package}={option}"] * 4 + [f"+{group}{new}={option}"] * 3 + [f"~{group}{package}", f"~{group}={option}"])
        path = [self.one(["g", "h", "db", "p", "m", "db.deep"])] if self.chance(0.5) else []
        path.append(self.one(KEYS))
        if self.chance(0.15):
            path.append(self.one(["k1", "0", "1", "new"]))
        key = ".".join(path)
        value = self.one(["5", "0.5", "true", "null", "text", "'1'", "[1,2]", "{k1:9}", "{new:1,k2:{x:1}}", "'${k1}'", "a,b", "", "[]", "{}", "1e-3"])
        prefix = self.one(["", "", "++", "++", "++", "+", "~"])
        return f"~{key}" if prefix == "~" and self.chance(0.7) else f"{prefix}{key}={value}"


def ask_difflab(program, folder, overrides):
    def call(*flags):
        command = [program, "config", "--config-dir", str(folder), "--json", *flags, "--", *overrides]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode not in (0, 2):
            raise SystemExit(f"difflab ended with {done.returncode}: {done.stderr}")
        return done

    answer = call()
    if answer.returncode:
        return {"ok": False, "error": answer.stderr.strip()}
    result = {"ok": True, "config": json.loads(answer.stdout)}
    resolved = call("--resolve")
    if resolved.returncode:
        result["resolve_error"] = resolved.stderr.strip()
    else:
        result["resolved"] = json.loads(resolved.stdout)
    return result


def agree(hydra, ours):
    # Dumped, because the order of keys counts and 1 is not true.
    return hydra["ok"] == ours["ok"] and all(
        json.dumps(hydra.get(part)) == json.dumps(ours.get(part)) for part in ("config", "resolved")
    )


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--cases", type=int, default=500)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", type=int)
    options.add_argument("--difflab", default=str(ROOT / "build/release/difflab"))
    options = options.parse_args()

    os.environ["HYDRA_TEST_SET"] = "7"
    os.environ.pop("HYDRA_TEST_UNSET", None)
    counts, disagreements = collections.Counter(), 0
    cases = range(options.cases) if options.only is None else [options.only]
    for case in cases:
        files, overrides = Generator(random.Random(f"{options.seed} {case}")).case()
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            hydra = hydra_answers.composed(folder, overrides)
            ours = ask_difflab(options.difflab, folder, overrides)
            equal = agree(hydra, ours)
            reason = None if equal else differences.of_tree(overrides, hydra, ours)
            if not equal and not reason and agree(hydra_answers.composed_with_copies(folder, overrides), ours):
                reason = differences.FRESH
        counts["refused by Hydra" if not hydra["ok"] else "resolved by Hydra" if "resolved" in hydra else "composed by Hydra"] += 1
        if not equal:
            counts[f"differs on purpose: {reason}" if reason else "DISAGREEMENTS"] += 1
        if not equal and not reason or options.only is not None:
            disagreements += not equal
            print(f"case {case}: {overrides}")
            for name, text in files.items():
                print(f"--- {name}\n{text}", end="")
            print(f"=> Hydra:   {json.dumps(hydra, ensure_ascii=False)}\n=> difflab: {json.dumps(ours, ensure_ascii=False)}\n")
    print(f"{len(cases)} compositions, seed {options.seed}")
    for what, count in sorted(counts.items()):
        print(f"{count:6}  {what}")
    return 1 if disagreements else 0


if __name__ == "__main__":
    raise SystemExit(main())
