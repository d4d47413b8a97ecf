#!/usr/bin/env python3
"""A sweep on three machines that ssh reaches: sshd on three ports of this one, whose connections are cut.

Usage: check.py BUILD [--full] [--seed N]. Every run must end once, and the table must be that of an
undisturbed sweep. Exit codes: 0 fine, 1 problems, 77 no sshd here.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "chaos"))
from real_run import play, require  # noqa: E402

SSHD = next(filter(os.path.exists, ["/usr/sbin/sshd", "/usr/bin/sshd"]), None)
MACHINES = 3


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Machines:
    """Servers of ssh with keys of their own, and an `ssh` in PATH that knows them."""

    def __init__(self, project):
        self.folder = project.folder / "ssh"
        self.folder.mkdir()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        shutil.copy(self.folder / "user.pub", self.folder / "authorized")
        self.ports = [free_port() for _ in range(MACHINES)]
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.servers = [self.serve(port) for port in self.ports]
        known = "".join(f"[127.0.0.1]:{port} {(self.folder / 'host.pub').read_text()}" for port in self.ports)
        (self.folder / "known").write_text(known)
        (self.folder / "config").write_text(f"IdentityFile {self.folder}/user\nIdentitiesOnly yes\nUserKnownHostsFile {self.folder}/known\n")
        program = self.folder / "bin/ssh"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/config "$@"\n')
        program.chmod(0o755)
        project.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        self.hosts = "launcher.hosts=[" + ",".join(f'"ssh://127.0.0.1:{port}"' for port in self.ports) + "]"

    def serve(self, port):
        server = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", "/dev/null", "-p", str(port), "-h", self.folder / "host", "-o", "ListenAddress=127.0.0.1",
             "-o", f"AuthorizedKeysFile={self.folder}/authorized", "-o", "StrictModes=no", "-o", "PidFile=none"],
            stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    return server
            time.sleep(0.05)
        raise SystemExit("sshd does not listen")

    def cut(self, chance):
        """Ends a connection: the process of one server that has it."""
        server = chance.choice(self.servers)
        found = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True, text=True).stdout.split()
        for process in found:
            os.kill(int(process), signal.SIGKILL)
        return bool(found)

    def close(self):
        for server in self.servers:
            server.kill()
            server.wait()


def table(results):
    (file,) = results.glob("tiny/*/table.csv")
    return file.read_bytes()


def ends(run):
    return (run / "events.log").read_text().count('"event":"finish"')


def sweep(project, seeds, steps, cuts, chance):
    here, there = project.folder / "here", project.folder / f"there{cuts}"
    size = [f"seed=range({seeds})", f"train.steps={steps}"]
    if not here.exists():
        require(project.call(project.sweep(here, *size)).returncode == 0, "the sweep of this machine failed")
    machines = Machines(project)
    driver = None
    try:
        words = project.sweep(there, *size, "launcher=ssh", machines.hosts, "launcher.retries=1000")
        log = project.folder / "driver.txt"
        with log.open("w") as out:
            driver = subprocess.Popen(words, env=project.environment, stdout=out, stderr=out)
        done, until = 0, time.monotonic() + 500
        while driver.poll() is None and time.monotonic() < until:
            time.sleep(chance.uniform(0.2, 1))
            done += done < cuts and machines.cut(chance)
        require(driver.returncode == 0, f"exit code {driver.returncode}: {log.read_text()[-2000:]}")
        require(done > 0 or cuts == 0, "no connection was cut")
    finally:
        if driver is not None:
            driver.kill()
        machines.close()
    runs = list((there / "runs").iterdir())
    require(len(runs) == 2 * seeds, f"{len(runs)} runs")
    for run in runs:
        require(ends(run) == 1, f"{run.name} ended {ends(run)} times")
    require(table(there) == table(here), "another table")
    shutil.rmtree(machines.folder)
    return f"{len(runs)} runs on {MACHINES} machines, {done} connections cut, the same table"


def closed(project):
    """Two runs whose server has lost both ends of its connection save their state."""
    results = project.folder / "closed"
    require(project.call(project.sweep(results, "--freeze", "model=diff", "train.steps=1000000")).returncode == 0, "--freeze failed")
    (plan,) = results.glob("tiny/*/plan.json")
    runs = []
    for run in json.loads(plan.read_text())["runs"]:
        runs.append(results / "runs" / run["id"])
        runs[-1].mkdir(parents=True)
        (runs[-1] / "config.yaml").write_text(json.dumps(run["config"]))  # JSON is YAML
    server = subprocess.Popen([str(project.build / "difflab-worker"), "serve", "1"], env=project.environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdin.write("".join(f"{run}\n" for run in runs))
    server.stdin.flush()
    until = time.monotonic() + 60
    while not all((run / "checkpoint.safetensors").exists() for run in runs):
        require(time.monotonic() < until, "no checkpoint after a minute")
        time.sleep(0.05)
    server.stdout.close()
    server.stdin.close()
    require(server.wait(timeout=60) >= 0, f"killed by signal {-server.returncode}")
    states = [json.loads((run / "status.json").read_text())["state"] for run in runs]
    require(len(runs) == 2 and set(states) == {"interrupted"}, str(states))
    return "two runs saved their state"


def cases_of(project, dose, chance):
    yield "closed", lambda: closed(project)
    seeds, steps, cuts = dose((6, 1500, 4), (15, 2000, 50))
    yield "undisturbed", lambda: sweep(project, seeds, steps, 0, chance)
    yield "cut", lambda: sweep(project, seeds, steps, cuts, chance)


if __name__ == "__main__":
    if SSHD is None or shutil.which("ssh") is None:
        print("SKIPPED: there is no sshd")
        sys.exit(77)
    sys.exit(play(__doc__, cases_of))
