"""A private Slurm: munged, slurmctld and three slurmd on one machine, on loopback, in one folder."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

NODES = ["n1", "n2", "n3"]
PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel"]

CONFIGURATION = """\
ClusterName=difflab
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SchedulerParameters=sched_interval=2,batch_sched_delay=0
KillWait=5
MinJobAge=20
SlurmdTimeout=20
InactiveLimit=0
MessageTimeout=20
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{nodes}
PartitionName=main Nodes=n1,n2,n3 Default=YES MaxTime=60 State=UP PriorityTier=1 OverTimeLimit=0
PartitionName=urgent Nodes=n1,n2,n3 MaxTime=60 State=UP PriorityTier=10
"""


def missing():
    """The programs of Slurm that this machine lacks."""
    return [name for name in PROGRAMS if not shutil.which(name, path=search_path())]


def search_path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """Starts the daemons; `stop` ends exactly those that it started."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.host = socket.gethostname().split(".")[0]
        self.environment = dict(os.environ, PATH=search_path(),
                                SLURM_CONF=str(self.folder / "slurm.conf"))
        self.daemons = {}
        (self.folder / "state").mkdir(parents=True)
        ports = free_ports(1 + len(NODES))
        lines = "\n".join(
            f"NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory=4000"
            for node, port in zip(NODES, ports[1:]))
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=self.host, folder=self.folder, ports=ports, nodes=lines))
        self.start_munge()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait_for_nodes()

    def launch(self, name, argv):
        log = open(self.folder / f"{name}.out", "ab")
        self.daemons[name] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env=self.environment, start_new_session=True)

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.launch("munged", ["munged", "-F", "--force", "--key-file", str(key),
                               "--socket", str(self.folder / "munge.socket"),
                               "--pid-file", str(self.folder / "munged.pid"),
                               "--log-file", str(self.folder / "munged.log"),
                               "--seed-file", str(self.folder / "munged.seed")])
        self.eventually(lambda: (self.folder / "munge.socket").exists(), "munged")

    def start_controller(self):
        self.launch("slurmctld", ["slurmctld", "-D"])
        self.eventually(lambda: self.ask("scontrol", "ping").returncode == 0
                        and "UP" in self.ask("scontrol", "ping").stdout, "slurmctld")

    def start_node(self, node):
        self.launch(node, ["slurmd", "-D", "-N", node])

    def wait_for_nodes(self):
        def all_idle():
            states = self.ask("sinfo", "-h", "-N", "-p", "main", "-o", "%T").stdout.split()
            return len(states) == len(NODES) and all(s in ("idle", "mixed", "allocated") for s in states)
        self.eventually(all_idle, "the nodes")

    def resume_node(self, node):
        def is_up():
            state = self.ask("sinfo", "-h", "-n", node, "-o", "%T").stdout.lower()
            if "down" not in state and state.strip():
                return True
            self.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
            return False
        self.eventually(is_up, node)

    def ask(self, *argv, check=False):
        return subprocess.run(argv, env=self.environment, text=True, capture_output=True, check=check,
                              timeout=60)

    def kill(self, name, signal=9):
        """Ends one daemon; only it, not what it has started."""
        daemon = self.daemons.pop(name)
        daemon.send_signal(signal)
        daemon.wait()

    @staticmethod
    def eventually(condition, what, seconds=90):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: not within {seconds} s")
            time.sleep(0.1)

    def stop(self):
        self.ask("scancel", "--user=root")
        time.sleep(1)
        for name in [*NODES, "slurmctld", "munged"]:
            if name in self.daemons:
                self.daemons[name].terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
