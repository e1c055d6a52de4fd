# SPDX-License-Identifier: Apache-2.0
"""What the demonstrations share: weftd and weftctl of one build, and faults that are played before them."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import simulated_subnet
from child_process import start_child
from fault import Fault, NetworkError
from weft_client import Answer, WeftClient, free_address, is_free, is_open

FIND_WITHIN = 60  # s; a fault is found in two sweeps, a machine that also compiles needs more
CLEAR_WITHIN = 90
READY_WITHIN = 180
BETWEEN_FAULTS = 15
RAN_FOR_LONG = 10  # s
STANDARD_SOCKET = "/run/weft/weftd.sock"
# For what is shown: the files in /etc/weft are of the site, with its receivers of webhooks and its database.
NO_FILE = ("--config", os.devnull)
FAULT_LASTS_AT_LEAST = 6


class Failure(RuntimeError):
    """Why the demonstration cannot go on, in a sentence."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


def may_take(path: str) -> bool:
    """We can make a socket there, and nobody listens on one."""
    if os.geteuid() != 0:
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) != 0


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
            process = start_child(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=state_dir,
                                  start_new_session=True, signal="TERM")
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
            # A line for each change, as into a log: its view of a terminal would wipe what was just said.
            view = start_child([self.weftctl, "--server", f"unix:{self.socket}", "watch"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               start_new_session=True, signal="TERM")
            self._processes.append(view)
            threading.Thread(target=self._show, args=(view.stdout,), daemon=True).start()

    @staticmethod
    def _show(lines) -> None:
        for line in lines:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def end(self, process: subprocess.Popen) -> None:
        simulated_subnet.SimulatedSubnet._end(process, signal.SIGTERM)
        self._processes.remove(process)

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
            f"    what to do  http://{self.http}/runbooks/ (a page for each kind of incident, and one for plans)",
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


def play(fault: Fault, client: WeftClient, stop: threading.Event) -> str:
    """Breaks, waits for the incident, repairs, waits for the end of the incident. Empty, or what did not happen."""
    say(f"demonstration: {fault.title}")
    began = time.monotonic()
    fault.begin()
    try:
        incident = wait_for(lambda: fault.found_in(client.incidents()), FIND_WITHIN, stop, each_second=fault.step)
        if incident is None:
            return f"no incident {' or '.join(fault.kinds)} named it within {FIND_WITHIN} s"
        say(f"demonstration: found after {time.monotonic() - began:.1f} s: {incident['id']} {incident['kind']}: "
            f"{incident.get('summary', '')}; what to do: {client.base}{incident['runbook']}")
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


def play_all(schedule, client: WeftClient, stop: threading.Event) -> None:
    """Round after round; `schedule` gives the faults of the one with that number."""
    for round_number in itertools.count():
        plan = schedule(round_number)
        if not plan or stop.is_set():
            return
        for fault in plan:
            if stop.wait(BETWEEN_FAULTS):
                return
            try:
                if (missed := play(fault, client, stop)) and not stop.is_set():
                    say(f"demonstration: {missed}; going on")
            except NetworkError as error:
                if not stop.is_set():
                    say(f"demonstration: {error}")
                return


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
