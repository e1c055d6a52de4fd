#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A simulated InfiniBand subnet: ibsim on a topology, real OpenSM on ibsim, and the environment in which any program of
libibumad runs on it. Module for the demonstration and the tests; as a program it brings a subnet up and either runs a
command on it or waits for Ctrl-C.

  simulated_subnet.py --adapters 512 -- ibnetdiscover
  simulated_subnet.py --topology fabric.ibnetdiscover --host "gpu-0001 mlx5_0" -- bash
  simulated_subnet.py --adapters 64            # then: echo 'Unlink "S-..."[17]' > .../console

Nothing is shared with another subnet on the machine: each has its own socket name and its own folder, and what it
started is ended by process id, also when this process is killed.
"""

import argparse
import glob
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import fat_tree
import netfile
from child_process import start_child
from fault import NetworkError
from idle_process import IdleProcess

SOCKET_BUFFER = 4 * 1024 * 1024
PACKAGES = "ibsim-utils opensm infiniband-diags"
# With default socket buffers about 400 outstanding requests lock ibsim and its client for ever.
WINDOW_WITH_SMALL_BUFFERS = 128
OPENSM_STARTS = 3
IDLE_PATIENCE = 20  # seconds; longer than OpenSM waits for a lost MAD

_OPENSM_CONFIGURATION = """\
force_log_flush TRUE
daemon FALSE
qos FALSE
log_max_size 0
exit_on_fatal FALSE
"""


class SubnetError(NetworkError):
    """The simulator or the subnet manager did not do what was asked; the text says which and shows its last words."""


def socket_buffers(raise_them: bool = True) -> int:
    """Raises the kernel's default socket buffers where permitted and lower than ibsim needs. Gives what they are now."""
    smallest = 1 << 62
    for name in ("rmem_default", "wmem_default"):
        path = f"/proc/sys/net/core/{name}"
        try:
            with open(path, encoding="ascii") as stream:
                value = int(stream.read())
            if raise_them and value < SOCKET_BUFFER:
                with open(path, "w", encoding="ascii") as stream:
                    stream.write(str(SOCKET_BUFFER))
                value = SOCKET_BUFFER
        except OSError:
            try:
                with open(path, encoding="ascii") as stream:
                    value = int(stream.read())
            except OSError:
                value = 0
        smallest = min(smallest, value)
    return smallest


def umad2sim_library() -> str:
    found = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so") + glob.glob("/usr/lib/umad2sim/libumad2sim.so")
    if not found:
        raise SubnetError(f"libumad2sim.so is not installed; apt-get install {PACKAGES}")
    return found[0]


def missing_programs(*extra: str) -> list[str]:
    """Which of the simulator's programs are not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    wanted = ["ibsim", "opensm", *extra]
    missing = [program for program in wanted if not shutil.which(program, path=path)]
    if not glob.glob("/usr/lib/*/umad2sim/libumad2sim.so"):
        missing.append("libumad2sim.so")
    return missing


class SimulatedSubnet:
    """Start with start() or as a context; nodes are named by identifier ("S-<guid>") or by name everywhere."""

    _numbers = itertools.count(1)  # subnets may be made by several threads

    def __init__(self, network: netfile.Network, routing: str = "updn", manager_host: str | None = None, directory: str | None = None,
                 say=lambda text: None, opensm_options: tuple[str, ...] = ()):
        if not network.adapters:
            raise SubnetError("the topology has no channel adapter for the subnet manager to run on")
        self.network = network
        self.routing = routing
        self.say = say
        self.opensm_options = opensm_options
        self.manager_host = network.find(manager_host).identity if manager_host else network.hosts()[0].identity
        self.directory = directory or tempfile.mkdtemp(prefix="weft-subnet-")
        self.socket_name = f"weft-{os.getpid()}-{next(SimulatedSubnet._numbers)}"
        self.topology_file = os.path.join(self.directory, "topology.ibnetdiscover")
        self.console_path = os.path.join(self.directory, "console")
        self.opensm_log = os.path.join(self.directory, "opensm.log")
        self.small_buffers = False
        self._owns_directory = directory is None
        self._ibsim = self._opensm = None
        self._console = -1
        self._marks = 0
        self._output: list[str] = []
        self._arrived = threading.Condition()
        self._one_command = threading.Lock()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *exception):
        self.stop()

    def start(self, timeout: float = 600) -> "SimulatedSubnet":
        self.start_ibsim()
        self.start_opensm(timeout)
        return self

    # -- ibsim

    def start_ibsim(self) -> None:
        """Starts the simulator on the topology, all links up, all counters zero."""
        if missing := missing_programs():
            raise SubnetError(f"not installed: {', '.join(missing)}; apt-get install {PACKAGES}")
        buffers = socket_buffers()
        self.small_buffers = buffers < SOCKET_BUFFER
        if self.small_buffers:
            self.say(f"socket buffers stay at {buffers} bytes (no right to raise net.core.wmem_default): "
                     f"keep at most {WINDOW_WITH_SMALL_BUFFERS} requests outstanding")
        with open(self.topology_file, "w", encoding="utf-8") as stream:
            self.network.write(stream)
        if not os.path.exists(self.console_path):
            os.mkfifo(self.console_path, 0o600)
        # Open for reading and writing: neither end ever waits for the other, nor does ibsim see the end of its input.
        self._console = os.open(self.console_path, os.O_RDWR)
        environment = dict(os.environ, IBSIM_SOCKNAME=self.socket_name)
        with open(os.path.join(self.directory, "ibsim.log"), "ab") as log:
            self._ibsim = start_child(["ibsim", "-s", *self.network.ibsim_arguments(), self.topology_file], stdin=self._console,
                                      stdout=subprocess.PIPE, stderr=log, env=environment, cwd=self.directory,
                                      start_new_session=True)
        self._output.clear()
        threading.Thread(target=self._read_output, args=(self._ibsim.stdout,), daemon=True).start()
        self.command()

    def _read_output(self, stream):
        for line in stream:
            with self._arrived:
                self._output.append(line.decode(errors="replace").rstrip("\n"))
                self._arrived.notify_all()
        with self._arrived:
            self._arrived.notify_all()

    def command(self, *lines: str, timeout: float = 60) -> list[str]:
        """Gives lines to ibsim's console and waits until they are done. Returns what ibsim said; raises SubnetError when it
        complained of any of them."""
        said = self._exchange(lines, timeout)
        complaints = [line for line in said if line.startswith("#") or "unknown" in line or "not found" in line]
        if lines and complaints:
            raise SubnetError(f"ibsim says: {complaints[0]}")
        return said

    def dump(self, timeout: float = 60) -> list[str]:
        """All nodes with the states of their ports and their forwarding tables, as ibsim itself knows them."""
        return self._exchange(("Dump",), timeout)

    def _exchange(self, lines, timeout: float) -> list[str]:
        too_long = [line for line in lines if len(line) > 126]
        if too_long:
            raise SubnetError(f"ibsim reads console lines of at most 126 characters: {too_long[0]}")
        with self._one_command:
            self._marks += 1
            mark = f"mark-{self._marks}"
            with self._arrived:
                self._output.clear()
            text = "".join(line + "\n" for line in lines)
            if len(lines) > 1:
                # ibsim reads its console octet by octet, and a file at once.
                with open(script := os.path.join(self.directory, "commands"), "w", encoding="utf-8") as file:
                    file.write(text)
                text = f"!{script}\n"
            # A question about a node that does not exist: its answer shows that all before it is done.
            text += f'Error "{mark}"[1] 0\n'
            writer = threading.Thread(target=self._write_console, args=(text.encode(),), daemon=True)
            writer.start()
            deadline = time.monotonic() + timeout
            seen = 0
            with self._arrived:
                while not any(mark in line for line in self._output[seen:]):
                    seen = len(self._output)
                    if self._ibsim is None or self._ibsim.poll() is not None:
                        raise SubnetError(f"ibsim ended: {self._last_words('ibsim.log')}")
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise SubnetError(f"ibsim did not carry out its console's commands in {timeout:.0f} s")
                    self._arrived.wait(min(left, 0.5))
                said = [line.replace("sim> ", "") for line in self._output if mark not in line]
            writer.join()
        return said

    def _write_console(self, data: bytes):
        try:
            while data:
                data = data[os.write(self._console, data[:4096]):]
        except OSError:
            pass  # ibsim ended; command() says so

    def _at(self, node: str, port: int | None) -> str:
        identity = self.network.find(node).identity
        return f'"{identity}"' if port is None else f'"{identity}"[{port}]'

    def unlink(self, node: str, port: int | None = None) -> None:
        """Pulls a cable; without a port, all cables of the node."""
        self.command(f"Unlink {self._at(node, port)}")

    def relink(self, node: str, port: int | None = None) -> None:
        self.command(f"ReLink {self._at(node, port)}")

    def set_counter(self, node: str, port: int, counter: str, value: int) -> None:
        """`counter` as ibsim calls it: "PortCounters.SymbolErrorCounter". Absolute; cut to the field's width."""
        self.command(f"PerformanceSet {self._at(node, port)} {counter}={value}")

    def set_counters(self, values) -> None:
        """The same for many (node, port, counter, value)."""
        self.command(*(f"PerformanceSet {self._at(node, port)} {counter}={value}" for node, port, counter, value in values),
                     timeout=600)

    def drop_requests(self, node: str, percent: int, port: int | None = None) -> None:
        """That share of the management datagrams to the node (or one port of it) is lost; 0 ends it."""
        self.command(f"Error {self._at(node, port)} {percent}")

    def free_dead_clients(self) -> int:
        """ibsim has ten places and keeps those of killed clients. Gives back how many were freed."""
        freed = 0
        for line in self.command("Attached"):
            words = line.replace(":", "").split()
            if len(words) > 3 and words[0] == "Client" and words[2] == "pid" and not os.path.exists(f"/proc/{words[3]}"):
                self.command(f"X {words[1]}")
                freed += 1
        return freed

    def kill_ibsim(self, hard: bool = True) -> None:
        self._end(self._ibsim, signal.SIGKILL if hard else signal.SIGTERM)
        self._ibsim = None
        if self._console >= 0:
            os.close(self._console)
            self._console = -1

    def ended(self) -> list[str]:
        """Which of the two ended by itself."""
        processes = (("ibsim", self._ibsim), ("OpenSM", self._opensm))
        return [f"{name} ended with {process.poll()}" for name, process in processes if process and process.poll() is not None]

    # -- OpenSM

    def start_opensm(self, timeout: float = 600) -> float:
        """Starts the subnet manager and waits until the subnet is up; gives the seconds it took. OpenSM 3.3.23 crashes or waits for ever
        at its start now and then, when the machine is busy: it is started again, as systemd would."""
        configuration = os.path.join(self.directory, "opensm.conf")
        with open(configuration, "w", encoding="ascii") as stream:
            stream.write(_OPENSM_CONFIGURATION)
        if os.path.exists(self.opensm_log):
            os.unlink(self.opensm_log)
        environment = self.environment(self.manager_host)
        environment.update(OSM_CACHE_DIR=self.directory, OSM_TMP_DIR=self.directory)
        began = time.monotonic()
        for tries_left in reversed(range(OPENSM_STARTS)):
            self._launch_opensm(configuration, environment)
            trouble = self._wait_until_up(began, timeout)
            if not trouble:
                return time.monotonic() - began
            if not tries_left:
                raise SubnetError(trouble)
            self.say(f"{trouble}; starting it again")
            self.kill_opensm()
            if os.path.exists(self.opensm_log):
                os.replace(self.opensm_log, f"{self.opensm_log}.{tries_left}")

    def _launch_opensm(self, configuration: str, environment: dict) -> None:
        opensm = shutil.which("opensm", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") or "opensm"
        with open(os.path.join(self.directory, "opensm.out"), "ab") as out:
            self._opensm = start_child(
                [opensm, "-F", configuration, "-e", "-f", self.opensm_log, "-s", "10", "-R", self.routing, *self.opensm_options],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=self.directory,
                start_new_session=True)

    def _wait_until_up(self, began: float, timeout: float) -> str:
        """Empty when the subnet is up; else what is wrong with an OpenSM that crashed or hangs."""
        said = began
        idle = IdleProcess(self._opensm.pid)
        while not self._log_has("SUBNET UP"):
            now = time.monotonic()
            if (status := self._opensm.poll()) is not None:
                ended = f"OpenSM ended with {status}: {self._last_words('opensm.out')}"
                if status >= 0:
                    raise SubnetError(ended)
                return ended
            if idle.seconds() > IDLE_PATIENCE:
                return f"OpenSM has done nothing for {IDLE_PATIENCE} s: {self._last_words('opensm.log')}"
            if now - began > timeout:
                raise SubnetError(f"OpenSM did not bring the subnet up in {timeout:.0f} s: {self._last_words('opensm.log')}")
            if now - said > 5:
                said = now
                self.say(f"OpenSM is configuring the subnet ({now - began:.0f} s) …")
            time.sleep(0.02)
        return ""

    def opensm_pid(self) -> int:
        return self._opensm.pid

    def _log_has(self, words: str) -> bool:
        try:
            with open(self.opensm_log, encoding="utf-8", errors="replace") as stream:
                return words in stream.read()
        except OSError:
            return False

    def kill_opensm(self, hard: bool = True) -> None:
        self._end(self._opensm, signal.SIGKILL if hard else signal.SIGTERM)
        self._opensm = None
        if hard and self._ibsim is not None and self._ibsim.poll() is None:
            self.free_dead_clients()

    # -- clients

    def environment(self, host: str, base: dict | None = None) -> dict:
        """In which a program of libibumad is attached at `host`. Run it in a folder of its own: it leaves `sys-<pid>` there."""
        environment = dict(os.environ if base is None else base)
        environment.update(LD_PRELOAD=umad2sim_library(), IBSIM_SOCKNAME=self.socket_name,
                           SIM_HOST=self.network.find(host).identity)
        return environment

    def run(self, arguments, host: str | None = None, timeout: float = 120, check: bool = True) -> str:
        """Output of a tool of infiniband-diags on the subnet."""
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        place = tempfile.mkdtemp(dir=self.directory)
        try:
            environment = self.environment(host or self.manager_host)
            environment["PATH"] = path
            done = subprocess.run([shutil.which(arguments[0], path=path) or arguments[0], *arguments[1:]], env=environment, cwd=place,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        if check and done.returncode != 0:
            raise SubnetError(f"{' '.join(arguments)} gave {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
        return done.stdout.decode(errors="replace")

    # -- the end

    def stop(self) -> None:
        """Ends what was started and removes its folder. May be called again."""
        self._end(self._opensm, signal.SIGTERM)
        self._opensm = None
        self._end(self._ibsim, signal.SIGTERM)
        self._ibsim = None
        if self._console >= 0:
            os.close(self._console)
            self._console = -1
        if self._owns_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    @staticmethod
    def _end(process, first_signal) -> None:
        if process is None:
            return
        for number in (first_signal, signal.SIGKILL):
            if process.poll() is not None:
                break
            process.send_signal(number)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                continue
        process.wait()

    def _last_words(self, name: str) -> str:
        try:
            with open(os.path.join(self.directory, name), encoding="utf-8", errors="replace") as stream:
                return " / ".join(stream.read().strip().splitlines()[-4:]) or "it said nothing"
        except OSError:
            return "it said nothing"


def load(topology: str | None, adapters: int, say=lambda text: None) -> netfile.Network:
    """The network of a file, made fit for ibsim, or a generated fat tree."""
    if topology is None:
        return fat_tree.build(adapters)
    network = netfile.read(topology)
    if changed := network.cap_speeds():
        say(f"ibsim knows no speed beyond {netfile.IBSIM_SPEEDS[-1]}: {changed // 2} faster links are simulated at that")
    return network


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topology", metavar="FILE", help="an ibnetdiscover dump (default: a generated fat tree)")
    parser.add_argument("--adapters", type=int, default=512, help="size of the generated fat tree (default: 512)")
    parser.add_argument("--routing", default="updn", help="OpenSM's routing engine (default: updn)")
    parser.add_argument("--host", help="node that the command is attached at (default: the subnet manager's)")
    parser.add_argument("--directory", help="keep files here instead of in a temporary folder")
    parser.add_argument("command", nargs="*", help="run this on the subnet, then end; without one, wait for Ctrl-C")
    options = parser.parse_args()

    def say(text):
        print(text, file=sys.stderr, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    try:
        network = load(options.topology, options.adapters, say)
        with SimulatedSubnet(network, options.routing, directory=options.directory, say=say) as subnet:
            say(f"subnet of {len(network.adapters)} adapters and {len(network.switches)} switches is up")
            host = options.host or subnet.manager_host
            if options.command:
                if os.path.exists(options.command[0]):  # it runs in another folder
                    options.command[0] = os.path.abspath(options.command[0])
                with tempfile.TemporaryDirectory(dir=subnet.directory) as place:
                    return subprocess.run(options.command, env=subnet.environment(host), cwd=place, check=False).returncode
            environment = subnet.environment(host)
            say("to run a program on it: " + " ".join(f"{name}={environment[name]}" for name in ("LD_PRELOAD", "IBSIM_SOCKNAME", "SIM_HOST")))
            say(f"to break something: echo 'Unlink \"{network.switches[0].identity}\"[1]' > {subnet.console_path}")
            signal.pause()
    except KeyboardInterrupt:
        return 130
    except (SubnetError, netfile.NetfileError, fat_tree.SizeError, KeyError, OSError) as error:
        say(f"simulated_subnet.py: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
