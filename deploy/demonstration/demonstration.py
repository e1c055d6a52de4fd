#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs weftd and shows what it finds: on this host's InfiniBand adapters, or on a simulated subnet in which things are
broken on a schedule. deploy/quickstart builds the programs and calls this."""

import argparse
import itertools
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import fat_tree
import faults
import netfile
import simulated_subnet
from physical_layer import PhysicalLayer
from weft_client import Answer, WeftClient, free_address, is_free, is_open

FIND_WITHIN = 60  # s; a fault is found in two sweeps, a machine that also compiles needs more
CLEAR_WITHIN = 90
READY_WITHIN = 180
BETWEEN_FAULTS = 15
RAN_FOR_LONG = 10  # s
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STANDARD_SOCKET = "/run/weft/weftd.sock"
FAULT_LASTS_AT_LEAST = 6
ADAPTERS_A_SECOND = 500  # whose links the physical layer looks at: ibsim answers nobody meanwhile


class Failure(RuntimeError):
    """Why the demonstration cannot go on, in a sentence."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def runbook(name: str) -> str:
    """The file that says what to do about that kind of incident, as one types it here."""
    return os.path.relpath(os.path.join(ROOT, "dashboards", "runbooks", f"{name}.md"))


def may_take(path: str) -> bool:
    """We can make a socket there, and nobody listens on one."""
    if os.geteuid() != 0:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) != 0


def _die_with_parent(number):
    return lambda: simulated_subnet.ctypes.CDLL(None).prctl(1, number)


class Programs:
    """weftd and weftctl of one build."""

    def __init__(self, folder: str, options):
        self.weftd = os.path.join(folder, "weftd")
        self.weftctl = os.path.join(folder, "weftctl")
        if not os.access(self.weftd, os.X_OK):
            raise Failure(f"{self.weftd} is not there; deploy/quickstart builds it")
        self.http = self._address(options.http, "HTTP")
        self.grpc = self._address(options.grpc, "gRPC")
        self.socket = STANDARD_SOCKET
        self.client = WeftClient(self.http)
        self._processes: list[subprocess.Popen] = []

    @staticmethod
    def _address(wanted: str, what: str) -> str:
        if is_free(wanted):
            return wanted
        other = free_address()
        say(f"{wanted} is in use; {what} is served on {other}")
        return other

    def start_weftd(self, state_dir: str, environment: dict, extra: list[str], log_path: str) -> subprocess.Popen:
        if not may_take(STANDARD_SOCKET):
            self.socket = os.path.join(state_dir, "weftd.sock")
            extra = [*extra, "--listen-socket", self.socket]
        command = [self.weftd, "--state-dir", state_dir, "--http", self.http, "--grpc", self.grpc, *extra]
        with open(log_path, "ab") as log:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=state_dir,
                                       start_new_session=True, preexec_fn=_die_with_parent(signal.SIGTERM))
        self._processes.append(process)
        deadline = time.monotonic() + READY_WITHIN
        said = time.monotonic()
        while not self.client.ready():
            if process.poll() is not None:
                with open(log_path, encoding="utf-8", errors="replace") as log:
                    raise Failure(f"weftd ended with {process.returncode}:\n" + "".join(log.readlines()[-12:]))
            if time.monotonic() > deadline:
                raise Failure(f"weftd has no complete sweep after {READY_WITHIN} s; its log is {log_path}")
            if time.monotonic() - said > 10:
                said = time.monotonic()
                say("weftd waits for its first complete sweep …")
            time.sleep(0.1)
        return process

    def start_view(self) -> None:
        if os.access(self.weftctl, os.X_OK):
            self._processes.append(subprocess.Popen([self.weftctl, "--server", f"unix:{self.socket}", "watch"], stdin=subprocess.DEVNULL,
                                                    start_new_session=True, preexec_fn=_die_with_parent(signal.SIGTERM)))

    def stop(self) -> None:
        for process in reversed(self._processes):
            simulated_subnet.SimulatedSubnet._end(process, signal.SIGTERM)
        self._processes.clear()

    def addresses(self) -> str:
        return "\n".join((
            "",
            f"    page        http://{self.http}/",
            f"    incidents   http://{self.http}/api/v1/incidents?state=open",
            f"    topology    http://{self.http}/api/v1/topology",
            f"    metrics     http://{self.http}/metrics",
            f"    gRPC        {self.grpc} (reflection and health are on)",
            f"    command     {os.path.relpath(self.weftctl)} --server unix:{self.socket} status",
            f"    what to do  {runbook('KIND')}, of plans {runbook('remedies')}",
            ""))


def wait_for(what, within: float, stop: threading.Event, every: float = 0.2, each_second=None):
    """What `what()` gives as soon as it is something; None when `within` seconds went by."""
    began = time.monotonic()
    second = 0
    while not stop.is_set():
        try:
            if (result := what()) is not None:
                return result
        except (Answer, OSError):
            pass
        passed = time.monotonic() - began
        if passed > within:
            return None
        if each_second and passed >= second:
            each_second(second)
            second += 1
        stop.wait(every)
    return None


def play(fault: faults.Fault, client: WeftClient, stop: threading.Event) -> str:
    """Breaks, waits for the incident, repairs, waits for the end of the incident. Empty, or what did not happen."""
    say(f"demonstration: {fault.title}")
    began = time.monotonic()
    fault.begin()
    try:
        incident = wait_for(lambda: fault.found_in(client.incidents()), FIND_WITHIN, stop, each_second=fault.step)
        if incident is None:
            return f"no incident {' or '.join(fault.kinds)} named it within {FIND_WITHIN} s"
        say(f"demonstration: found after {time.monotonic() - began:.1f} s: {incident['id']} {incident['kind']}: "
            f"{incident.get('summary', '')}; what to do: {runbook(incident['kind'])}")
        stop.wait(max(0.0, FAULT_LASTS_AT_LEAST - (time.monotonic() - began)))
    finally:
        fault.end()
    say("demonstration: repaired")
    if fault.damped:
        say(f"demonstration: {incident['id']} stays open until the link has been quiet for long enough")
        return ""
    began = time.monotonic()

    def resolved():
        return next((i for i in client.incidents() if i["id"] == incident["id"] and not is_open(i)), None)

    if wait_for(resolved, CLEAR_WITHIN, stop) is None:
        return f"{incident['id']} is still open {CLEAR_WITHIN} s after the cause ended"
    say(f"demonstration: {incident['id']} resolved {time.monotonic() - began:.1f} s later")
    return ""


def play_all(subnet, watcher_host: str, client: WeftClient, stop: threading.Event) -> None:
    for round_number in itertools.count():
        plan = faults.schedule(subnet, {subnet.manager_host, watcher_host}, round_number)
        if not plan or stop.is_set():
            return
        for fault in plan:
            if stop.wait(BETWEEN_FAULTS):
                return
            try:
                if (missed := play(fault, client, stop)) and not stop.is_set():
                    say(f"demonstration: {missed}; going on")
            except simulated_subnet.SubnetError as error:
                if not stop.is_set():
                    say(f"demonstration: {error}")
                return


def check_topology(options) -> None:
    """Raises Failure where weftd would refuse the file as an expected topology."""
    command = [os.path.join(options.programs, "weftd"), "--config", os.devnull, "--infiniband-expected-topology", options.topology, "--check-config"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"weftd does not accept the topology: {done.stderr.strip()}")


def to_try(programs: Programs, trunks: list) -> str:
    """Commands that take a link out of service and bring it back; empty where no link has a way round."""
    if len(trunks) < 2:
        return ""
    node, port = trunks[len(trunks) // 3][:2]
    weftctl = f"{os.path.relpath(programs.weftctl)} --server unix:{programs.socket}"
    return (f"    take a link out of service: {weftctl} isolate '{node.name}:{port}' --reason 'a try'\n"
            f"    and bring it back:          {weftctl} restore '{node.name}:{port}'\n"
            f"    at most six are taken out in an hour (remedy.limits.budget.actions_per_hour)\n")


def diags_in(subnet: simulated_subnet.SimulatedSubnet) -> str:
    """A command line that asks the simulated subnet, for a shell. The simulated adapter leaves files where it is used."""
    there = subnet.environment(subnet.manager_host, {})
    settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in there.items())
    return f"(cd $(mktemp -d) && env {settings} ibswitches)"


def demonstrate(options) -> int:
    stop = threading.Event()
    network = simulated_subnet.load(options.topology, options.adapters, say)
    if options.topology:
        check_topology(options)
    if len(network.hosts()) < 2:
        raise Failure("the topology has fewer than two adapters: one for the subnet manager, one to watch from")
    place = tempfile.mkdtemp(prefix="weft-demonstration-")
    subnet = simulated_subnet.SimulatedSubnet(network, directory=place, say=say)
    programs = None
    try:
        say(f"simulated subnet: {len(network.adapters)} adapters, {len(network.switches)} switches, {network.links()} links")
        subnet.start_ibsim()
        say("simulator is up; starting OpenSM …")
        say(f"OpenSM has configured the subnet in {subnet.start_opensm():.1f} s; starting weftd …")
        programs = Programs(options.programs, options)
        watcher = network.hosts()[-1].identity
        state_dir = os.path.join(place, "state")
        os.mkdir(state_dir)
        extra = ["--sweep-interval", "1s"]
        if subnet.small_buffers:
            extra += ["--infiniband-window", str(simulated_subnet.WINDOW_WITH_SMALL_BUFFERS)]

        def start_weftd():
            return programs.start_weftd(state_dir, subnet.environment(watcher), extra, os.path.join(place, "weftd.log"))

        process = start_weftd()
        say(f"weftd is running (process {process.pid}, log {os.path.join(place, 'weftd.log')})")
        print(programs.addresses(), flush=True)
        switch = network.switches[0].identity
        print(f"    break something yourself: echo 'Unlink \"{switch}\"[1]' > {subnet.console_path}\n"
              f"    and repair it:            echo 'ReLink \"{switch}\"[1]' > {subnet.console_path}\n"
              f"    use infiniband-diags:     {diags_in(subnet)}\n"
              + to_try(programs, faults.spare_trunks(network, {subnet.manager_host, watcher})), flush=True)
        if options.once:
            plan = faults.schedule(subnet, {subnet.manager_host, watcher})
            if not plan:
                raise Failure("the topology has nothing that can be broken without cutting off the watcher")
            if missed := play(plan[0], programs.client, stop):
                raise Failure(missed)
            say("demonstration: the first fault was found, named and cleared")
            return 0
        # ibsim leaves the link of a disabled port up; hardware does not.
        with PhysicalLayer(subnet, every=max(0.5, len(network.adapters) / ADAPTERS_A_SECOND)):
            programs.start_view()
            player = threading.Thread(target=play_all, args=(subnet, watcher, programs.client, stop), daemon=True)
            player.start()
            return wait_for_end(process, subnet.ended, start_weftd)
    finally:
        stop.set()
        if programs:
            programs.stop()
        subnet.stop()
        shutil.rmtree(place, ignore_errors=True)


def watch_adapters(options) -> int:
    """The adapters of this host. Nothing is broken; --once ends with 0 after the first complete sweep."""
    programs = Programs(options.programs, options)
    os.makedirs(options.state_dir, exist_ok=True)
    log_path = os.path.join(options.state_dir, "weftd.log")
    try:
        process = programs.start_weftd(options.state_dir, dict(os.environ), [], log_path)
        say(f"weftd watches the InfiniBand ports of this host (process {process.pid}, log {log_path})")
        print(programs.addresses(), flush=True)
        if options.once:
            return 0
        programs.start_view()
        return wait_for_end(process)
    finally:
        programs.stop()


def wait_for_end(process: subprocess.Popen, others=lambda: [], start_again=None) -> int:
    """Until something ends that should not. `start_again`: for a weftd that fails later than RAN_FOR_LONG after its start, as
    Restart=on-failure of systemd.service(5)."""
    say("Ctrl-C stops all of it")
    began = time.monotonic()
    while True:
        if ended := others():
            raise Failure(f"{', '.join(ended)} by itself")
        if process.poll() is not None:
            if not start_again or process.returncode == 0 or time.monotonic() - began < RAN_FOR_LONG:
                raise Failure(f"weftd ended by itself with {process.returncode}")
            say(f"weftd ended with {process.returncode}; it is started again, as systemd would")
            process = start_again()
            began = time.monotonic()
            say(f"weftd is running again (process {process.pid})")
        time.sleep(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, metavar="DIR", help="where weftd, weft-sweeper and weftctl are")
    parser.add_argument("--adapter", action="store_true", help="watch this host's adapters instead of a simulated subnet")
    parser.add_argument("--topology", metavar="FILE")
    parser.add_argument("--adapters", type=int, default=512)
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--http", default="127.0.0.1:9640")
    parser.add_argument("--grpc", default="127.0.0.1:9641")
    parser.add_argument("--state-dir", default="/var/lib/weft")
    options = parser.parse_args()
    options.programs = os.path.abspath(options.programs)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    try:
        return watch_adapters(options) if options.adapter else demonstrate(options)
    except KeyboardInterrupt:
        say("stopped")
        return 0
    except (Failure, simulated_subnet.SubnetError, netfile.NetfileError, fat_tree.SizeError, OSError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
