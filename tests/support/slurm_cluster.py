# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on loopback, in a folder of its own: munged, slurmctld and some slurmd as children of this process.

    with SlurmCluster(nodes=4) as slurm:
        slurm.scontrol("update", "nodename=n1", "state=drain", "reason=disk")

Needs root, as Slurm's daemons do, and Debian's packages munge, slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "deploy", "demonstration"))

from child_process import start_child  # noqa: E402
from weft_client import free_port  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch", "squeue")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
PATIENCE = 60

CONFIGURATION = """\
ClusterName=weft
SlurmctldHost={host}({address})
SlurmctldPort={port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.sock
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool/%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=1
SlurmdTimeout={slurmd_timeout}
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=n[1-{count}] Default=YES MaxTime=INFINITE State=UP
{extra}
"""


def missing() -> list[str]:
    """The programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=PATH)]


def _address_of(host: str) -> str:
    """Where Slurm's daemons listen: at the address of the machine's name, which is 127.0.1.1 where Debian's installer wrote /etc/hosts."""
    try:
        return socket.gethostbyname(host)
    except OSError:
        return "127.0.0.1"


class SlurmCluster:
    """`nodes` real nodes n1, n2 …; `hostnames` gives some of them another NodeHostname and no slurmd: those stay down or unknown, and
    can still be drained."""

    def __init__(self, nodes: int = 4, hostnames: dict[str, str] | None = None, slurmd_timeout: int = 30):
        self.count = nodes
        self.hostnames = hostnames or {}
        self.slurmd_timeout = slurmd_timeout
        self.extra = ""  # more lines of slurm.conf; set it before start()
        self.place = tempfile.mkdtemp(prefix="weft-slurm-")
        self.host = socket.gethostname().split(".")[0]
        self.address = _address_of(self.host)
        self.processes: dict[str, subprocess.Popen] = {}
        self.configuration = os.path.join(self.place, "slurm.conf")
        self.environment = dict(os.environ, PATH=PATH, SLURM_CONF=self.configuration)

    # -- its life

    def __enter__(self) -> "SlurmCluster":
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_) -> None:
        self.stop()

    def start(self) -> "SlurmCluster":
        for folder in ("state", "spool"):
            os.makedirs(os.path.join(self.place, folder))
        real = [f"n{number}" for number in range(1, self.count + 1)]
        for name in real:
            os.makedirs(os.path.join(self.place, "spool", name))
        ports = [free_port() for _ in range(len(real) + len(self.hostnames) + 1)]
        lines = [f"NodeName={name} NodeHostname={self.host} NodeAddr={self.address} Port={port} CPUs=2 RealMemory=1000 State=UNKNOWN"
                 for name, port in zip(real, ports[1:])]
        lines += [f"NodeName={name} NodeHostname={hostname} NodeAddr={self.address} Port={port} CPUs=2 RealMemory=1000 State=UNKNOWN"
                  for (name, hostname), port in zip(self.hostnames.items(), ports[1 + len(real):])]
        with open(self.configuration, "w", encoding="utf-8") as stream:
            stream.write(CONFIGURATION.format(host=self.host, address=self.address, port=ports[0], place=self.place, count=self.count,
                                              nodes="\n".join(lines), slurmd_timeout=self.slurmd_timeout, extra=self.extra))
        with open(os.path.join(self.place, "munge.key"), "wb") as stream:
            stream.write(os.urandom(128))
        os.chmod(os.path.join(self.place, "munge.key"), 0o600)
        os.chmod(self.place, 0o755)
        self._spawn("munged", ["munged", "--foreground", "--force"] + [
            f"--{what}={self.place}/{file}" for what, file in (("socket", "munge.sock"), ("key-file", "munge.key"), ("pid-file", "munged.pid"),
                                                               ("log-file", "munged.log"), ("seed-file", "munge.seed"))])
        self._wait(lambda: os.path.exists(os.path.join(self.place, "munge.sock")), "munged made no socket")
        self.start_controller()
        for name in real:
            self._spawn(name, ["slurmd", "-D", "-N", name, "-f", self.configuration])
        self._wait(lambda: all(self.node(name)["State"] == "IDLE" for name in real), "the nodes are not idle")
        return self

    def start_controller(self) -> None:
        self._spawn("slurmctld", ["slurmctld", "-D", "-f", self.configuration])
        self._wait(lambda: self.run("scontrol", "ping").returncode == 0, "slurmctld does not answer")

    def kill_controller(self) -> None:
        self._end("slurmctld", signal.SIGKILL)

    def pause_controller(self) -> None:
        """It keeps its port and answers nobody."""
        self.processes["slurmctld"].send_signal(signal.SIGSTOP)

    def resume_controller(self) -> None:
        self.processes["slurmctld"].send_signal(signal.SIGCONT)

    def kill_node(self, name: str) -> None:
        self._end(name, signal.SIGKILL)

    def stop(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
        if "slurmctld" in self.processes:
            for job in self.run("squeue", "-h", "-o", "%i").stdout.split():
                self.run("scancel", "--full", "--signal=KILL", job)
        for name in [*(name for name in self.processes if name.startswith("n")), "slurmctld", "munged"]:
            self._end(name, signal.SIGTERM)
        self._end_jobs()
        shutil.rmtree(self.place, ignore_errors=True)

    def _end_jobs(self) -> None:
        """Slurm leaves jobs alive when its daemons go. What works in our folder is ours."""
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd").startswith(self.place):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                pass  # it ended meanwhile

    def _spawn(self, name: str, command: list[str]) -> None:
        with open(os.path.join(self.place, f"{name}.out"), "ab") as log:
            self.processes[name] = start_child(command, env=self.environment, cwd=self.place, stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=log, start_new_session=True)

    def _end(self, name: str, number: int) -> None:
        process = self.processes.pop(name, None)
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait(self, what, why: str, within: float = PATIENCE) -> None:
        deadline = time.monotonic() + within
        while True:
            dead = [name for name, process in self.processes.items() if process.poll() is not None]
            if dead:
                raise AssertionError(f"{', '.join(dead)} ended:\n{self.log(dead[0])}")
            try:
                if what():
                    return
            except (KeyError, IndexError, subprocess.TimeoutExpired):
                pass
            if time.monotonic() > deadline:
                raise AssertionError(f"{why} (waited {within:.0f} s):\n{self.log('slurmctld')}")
            time.sleep(0.1)

    def log(self, name: str) -> str:
        text = ""
        for suffix in ("out", "log"):
            path = os.path.join(self.place, f"{name}.{suffix}")
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as stream:
                    text += "".join(stream.readlines()[-20:])
        return text

    # -- what it is told and tells

    def run(self, *command: str, timeout: float = 30) -> subprocess.CompletedProcess:
        return subprocess.run(command, env=self.environment, cwd=self.place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, text=True, check=False)

    def scontrol(self, *arguments: str) -> str:
        done = self.run("scontrol", *arguments)
        if done.returncode != 0:
            raise AssertionError(f"scontrol {' '.join(arguments)} gave {done.returncode}: {done.stdout}")
        return done.stdout

    def node(self, name: str) -> dict[str, str]:
        """What `scontrol show node` says; Reason with who set it and when taken off."""
        text = self.scontrol("show", "node", name, "-o").strip()
        fields = {}
        if " Reason=" in text:
            text, reason = text.split(" Reason=", 1)
            fields["Reason"] = reason.rsplit(" [", 1)[0]
        return {**dict(word.split("=", 1) for word in text.split() if "=" in word), **fields}

    def state(self, name: str) -> set[str]:
        return set(self.node(name)["State"].replace("*", "+NOT_RESPONDING").split("+"))

    def submit(self, name: str, seconds: float) -> str:
        """A job on that node that ends by itself; its id. Returns when it runs."""
        job = self.queue(name, seconds)
        self._wait(lambda: self.job_state(job) == "RUNNING", f"job {job} does not run")
        return job

    def queue(self, name: str, seconds: float) -> str:
        """The same without waiting for it to run."""
        script = os.path.join(self.place, "job.sh")
        with open(script, "w", encoding="utf-8") as stream:
            stream.write(f"#!/bin/sh\nsleep {seconds}\n")
        done = self.run("sbatch", "--parsable", "-w", name, "-o", "/dev/null", script)
        if done.returncode != 0:
            raise AssertionError(f"sbatch: {done.stdout}")
        return done.stdout.strip()

    def job_state(self, job: str) -> str:
        return next(word[9:] for word in self.scontrol("show", "job", job, "-o").split() if word.startswith("JobState="))
