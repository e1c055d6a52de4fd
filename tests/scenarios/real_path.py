#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The second way into the benchmark: scenarios shown to real daemons. ibsim holds the scenario's topology, OpenSM routes it,
its cables are pulled and its counters set second by second as the scenario says, and weftd with its sweeper looks; where its hosts
have collectors, they have real ones, which read trees of files (host_trees.py). What weftd opens must be what the analyzers say when
they are fed the same scenario straight: the same kinds, with the same causes, and the same that only hosts can tell.

  real_path.py [--build DIR] [SCENARIO...]      all of real/ without names; one line each, 1 when any disagrees
"""

import argparse
import contextlib
import glob
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "infiniband"))

import host_trees  # noqa: E402
import weft_testing  # noqa: E402
import program_testing  # noqa: E402
from weft_testing import netfile, simulated_subnet  # noqa: E402

SCENARIOS = os.path.join(HERE, "real")

# Counters that begin at any value: what they moved by since the first look is shown, for ibsim's start at 0. By the
# catalogue's name; ibsim's name, and how many of ours are one of its.
_MOVING = {
    "transmit_bytes": ("PortCountersExtended.PortXmitData", 4),
    "receive_bytes": ("PortCountersExtended.PortRcvData", 4),
    "transmit_packets": ("PortCountersExtended.PortXmitPkts", 1),
    "receive_packets": ("PortCountersExtended.PortRcvPkts", 1),
    "unicast_transmit_packets": ("PortCountersExtended.PortUnicastXmitPkts", 1),
    "unicast_receive_packets": ("PortCountersExtended.PortUnicastRcvPkts", 1),
}
# Counters whose value itself matters.
_EVENTS = {
    "symbol_errors": "PortCounters.SymbolErrorCounter",
    "link_error_recovery": "PortCounters.LinkErrorRecoveryCounter",
    "link_downed": "PortCounters.LinkDownedCounter",
    "receive_errors": "PortCounters.PortRcvErrors",
    "receive_remote_physical_errors": "PortCounters.PortRcvRemotePhysicalErrors",
    "receive_switch_relay_errors": "PortCounters.PortRcvSwitchRelayErrors",
    "transmit_discards": "PortCounters.PortXmitDiscards",
    "local_link_integrity_errors": "PortCounters.LocalLinkIntegrityErrors",
    "excessive_buffer_overrun_errors": "PortCounters.ExcessiveBufferOverrunErrors",
    "vl15_dropped": "PortCounters.VL15Dropped",
}
_WAIT = "PortCounters.PortXmitWait"
_MOST_WAIT = 0xFFFFFFFE  # one below where it sticks
# A port that is busy or waits moves in so many steps from frame to frame: whatever moment a sweep reads it at, the rate is
# right within a twentieth, as the rules of congestion need it. More would be more than ibsim's console takes.
_STEPS = 20
# Where hosts are read, what hardly moves does so in some steps, too: of a second's keep-alives in one, a reading would have none and the
# next those of two seconds, which is as much as a first sending.
_SLOW_STEPS = 5
_BUSY = 0.5  # of its rate
_WAITS = 0.02  # of the time


# What a machine of two cores shows in time; those with hosts have many daemons.
_at_once = threading.Semaphore(16)
_with_hosts = threading.Semaphore(5)


class CannotShow(Exception):
    """ibsim has no way to make it so."""


def simulator(build: str) -> str:
    """weft_scenarios: that of the optimised build beside `build` where there is one."""
    beside = os.path.join(os.path.dirname(os.path.abspath(build)), "bench", "tests", "weft_scenarios")
    return beside if os.access(beside, os.X_OK) else os.path.join(build, "tests", "weft_scenarios")


@dataclass
class Timeline:
    """What `weft_scenarios --timeline` prints: the fabric, a frame for each sweep, and what the analyzers say."""

    fabric: dict
    frames: list[dict]
    incidents: list[dict]

    @staticmethod
    def of(path: str, build: str) -> "Timeline":
        done = subprocess.run([simulator(build), "--timeline", "--file", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise CannotShow(done.stderr.strip() or f"weft_scenarios gave {done.returncode}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if (hosts := len(lines[0]["hosts"])) > host_trees.MOST_HOSTS:
            raise CannotShow(f"{hosts} hosts with collectors are more than {host_trees.MOST_HOSTS}: say `collectors off`, or have fewer")
        return Timeline(lines[0], lines[1:-1], lines[-1]["incidents"])

    def network(self) -> netfile.Network:
        """As it is at the first look."""
        network = netfile.Network()
        nodes = [network.add(netfile.SWITCH if node["switch"] else netfile.ADAPTER, node["guid"], node["ports"], node["name"])
                 for node in self.fabric["nodes"]]
        states = {(entry["node"], entry["port"]): entry["state"] for entry in self.frames[0]["ports"]}
        for a, a_port, b, b_port in self.fabric["cables"]:
            state = states[a, a_port]
            if not state["joined"]:
                raise CannotShow("a cable is down before anybody looks")
            network.connect(nodes[a], a_port, nodes[b], b_port, state["width"], state["speed"])
        return network


class Mirror:
    """Makes a simulated subnet look like a timeline, frame by frame."""

    def __init__(self, timeline: Timeline, subnet: simulated_subnet.SimulatedSubnet, tick_seconds, hosts: host_trees.Hosts | None = None):
        """`tick_seconds(node name, port)` is the length of a tick of that port's wait counter, as weftd takes it; None where
        weftd takes nothing from it."""
        self._subnet = subnet
        self._hosts = hosts
        self._identities = [subnet.network.find(node["name"]).identity for node in timeline.fabric["nodes"]]
        self._names = [node["name"] for node in timeline.fabric["nodes"]]
        self._cables = [((a, a_port), (b, b_port)) for a, a_port, b, b_port in timeline.fabric["cables"]]
        self._tick_seconds = tick_seconds
        self._states: dict[tuple[int, int], dict] = {}
        self._values: dict[tuple[int, int], dict] = {}
        self._bases: dict[tuple[int, int, str], int] = {}
        self._silent: set[int] = set()
        self._shown_at = 0.0

    def in_steps(self, frame: dict) -> tuple[list[dict], int]:
        """The frame's entries that move in steps, and in how many: those of ports that send at more than half of their rate, or wait. Of a
        fabric with hosts all: what vanishes there is sought by what went in and came out, and a port that jumps beside one that creeps
        would seem to lose a second's packets."""
        moving = [entry for entry in frame["ports"] if "values" in entry]
        fast = [entry for entry in moving if self._moves_fast((entry["node"], entry["port"]), entry["values"], frame["at"])]
        return moving if self._hosts else fast, _STEPS if fast else _SLOW_STEPS if self._hosts else 1

    def _moves_fast(self, end: tuple[int, int], values: dict, at: float) -> bool:
        state, before = self._states[end], self._values.get(end, {})
        passed = at - self._shown_at
        bits = 8 * max(values.get(name, 0) - before.get(name, 0) for name in ("transmit_bytes", "receive_bytes"))
        waited = (values.get("transmit_wait", 0) - before.get("transmit_wait", 0)) * state["tick"]
        return passed > 0 and state["joined"] and (bits > _BUSY * state["rate"] * passed or waited > _WAITS * passed)

    def creep(self, entries: list[dict], begun: dict, share: float) -> None:
        """Moves what moves in these entries that share of the way from `begun`, their values as they were."""
        lines = []
        for entry in entries:
            end = entry["node"], entry["port"]
            between = dict(self._values[end])
            for name, after in entry["values"].items():
                if (name in _MOVING or name == "transmit_wait") and after > begun[end][name]:
                    between[name] = begun[end][name] + int((after - begun[end][name]) * share)
            lines += self._set_counters(end, between)
        if lines:
            self._subnet.command(*lines)

    def values(self, entries: list[dict]) -> dict:
        """As shown now, of the ports of these entries."""
        return {(entry["node"], entry["port"]): self._values[entry["node"], entry["port"]] for entry in entries}

    def show(self, frame: dict) -> None:
        self._shown_at = frame["at"]
        joined = {end: state["joined"] for end, state in self._states.items()}
        lines = []
        for entry in frame["ports"]:
            end = entry["node"], entry["port"]
            if state := entry.get("state"):
                self._check(end, state)
                self._states[end] = state
            if values := entry.get("values"):
                lines += self._set_counters(end, values)
        lines += self._move_cables(joined)
        lines += self._silence(set(frame["silent"]))
        if self._hosts:
            self._hosts.show(frame)
        if lines:
            self._subnet.command(*lines)

    def _check(self, end: tuple[int, int], state: dict) -> None:
        before = self._states.get(end)
        if before and state["joined"] and (before["width"], before["speed"]) != (state["width"], state["speed"]):
            raise CannotShow(f"{self._names[end[0]]} port {end[1]} trains to another width or speed: ibsim's links keep theirs")

    def _at(self, end: tuple[int, int]) -> str:
        return f'"{self._identities[end[0]]}"[{end[1]}]'

    def _set_counters(self, end: tuple[int, int], values: dict) -> list[str]:
        before = self._values.get(end, {})
        self._values[end] = values
        if self._hosts:
            self._hosts.show_traffic(end[0], values)
        lines = []
        for name, value in values.items():
            if value == before.get(name):
                continue
            if name in _EVENTS:
                lines.append(f"PerformanceSet {self._at(end)} {_EVENTS[name]}={value}")
            elif name in _MOVING or name == "transmit_wait":
                # What went back was cleared: it is shown as it is from there on.
                if value < before.get(name, 0):
                    self._bases[(*end, name)] = 0
                moved = value - self._bases.setdefault((*end, name), value)
                counter, unit = _MOVING.get(name, (_WAIT, 1))
                if name == "transmit_wait" and moved:
                    moved = self._ticks(end, moved)
                lines.append(f"PerformanceSet {self._at(end)} {counter}={moved // unit}")
        return lines

    def _ticks(self, end: tuple[int, int], moved: int) -> int:
        tick = self._tick_seconds(self._names[end[0]], end[1])
        return min(round(moved * self._states[end]["tick"] / tick), _MOST_WAIT) if tick else 0

    def _move_cables(self, before: dict) -> list[str]:
        pulled, plugged = [], []
        for cable in self._cables:
            was = all(before.get(end, True) for end in cable)
            now = all(self._states[end]["joined"] for end in cable)
            if was != now:
                (plugged if now else pulled).append(cable)
        # A node that loses all it has loses it at once, and not cable by cable with a sweep in between.
        lines = []
        for node, identity in enumerate(self._identities):
            of_node = [cable for cable in self._cables if any(end[0] == node for end in cable)]
            had = [cable for cable in of_node if all(before.get(end, True) for end in cable)]
            if len(had) > 1 and all(cable in pulled for cable in had):
                lines.append(f'Unlink "{identity}"')
                pulled = [cable for cable in pulled if cable not in had]
        lines += [f"Unlink {self._at(cable[0])}" for cable in pulled]
        return lines + [f"ReLink {self._at(cable[0])}" for cable in plugged]

    def _silence(self, silent: set[int]) -> list[str]:
        lines = [f'Error "{self._identities[node]}" {100 if node in silent else 0}' for node in sorted(silent ^ self._silent)]
        self._silent = silent
        return lines


@dataclass
class Verdict:
    """What was said of one scenario on both ways: kind, cause and what hosts told of it, as people read them."""

    name: str
    straight: set[str] = field(default_factory=set)
    real: set[str] = field(default_factory=set)
    seconds: float = 0
    trouble: str = ""

    @property
    def agree(self) -> bool:
        return not self.trouble and self.straight == self.real

    def __str__(self) -> str:
        if self.trouble:
            return f"{self.name}: {self.trouble}"
        if self.agree:
            return f"{self.name}: agree: {'; '.join(sorted(self.real)) or 'nothing is wrong'} ({self.seconds:.0f} s)"
        return (f"{self.name}: DISAGREE: straight only: {sorted(self.straight - self.real)}; real only: {sorted(self.real - self.straight)}; "
                f"both: {sorted(self.straight & self.real)}")


def _is_part(incident: dict) -> bool:
    """Of a greater one: whether it was seen by itself before depends on the moment of the sweep."""
    return "(now part of INC-" in incident.get("summary", "")


def said_straight(incident: dict) -> str:
    end = f'{incident["guid"]:#x}[{incident["port"]}]'
    peer = f' - {incident["peer_guid"]:#x}[{incident["peer_port"]}]' if incident["entity"] == "link" else ""
    told = sorted(host_trees.SIGNALS & set(incident.get("signals", [])))
    hosts = f'; hosts tell: {", ".join(told)}' if told else ""
    return f'{incident["kind"]} {incident["entity"]} {end}{peer} ({incident["label"]}{hosts})'


def said_really(incident: dict) -> str:
    cause = incident["cause"]
    return said_straight({"kind": incident["kind"], "entity": cause["kind"].lower(), "guid": int(cause.get("nodeGuid") or "0", 16),
                          "port": int(cause.get("port", 0)), "peer_guid": int(cause.get("peerGuid") or "0", 16),
                          "peer_port": int(cause.get("peerPort", 0)), "label": cause.get("label", ""),
                          "signals": [evidence.get("signal", "") for evidence in incident.get("evidence", [])]})


def run(path: str, build: str = weft_testing.BUILD) -> Verdict:
    """Shows the scenario of that file to daemons of its own."""
    verdict = Verdict(os.path.splitext(os.path.basename(path))[0])
    began = time.monotonic()
    try:
        timeline = Timeline.of(path, build)
        # In this order, or those that wait for their turn among the ones with hosts would keep the others out.
        with _with_hosts if timeline.fabric["hosts"] else contextlib.nullcontext(), _at_once:
            began = time.monotonic()
            _run(timeline, verdict)
    except Exception as error:  # whatever it is must not take the other scenarios along
        verdict.trouble = f"{type(error).__name__}: {error}"
    verdict.seconds = time.monotonic() - began
    return verdict


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _run(timeline: Timeline, verdict: Verdict) -> None:
    interval = timeline.fabric["interval"]
    network = timeline.network()
    adapters = [node.name for node in network.adapters]
    # No scenario breaks what the watcher stands at, nor its neighbour on the same leaf.
    subnet = simulated_subnet.SimulatedSubnet(network, manager_host=adapters[1])
    hosts = host_trees.Hosts(timeline.fabric, timeline.frames)
    weftd = None
    try:
        subnet.start()
        watcher = timeline.fabric["nodes"][timeline.fabric["watcher"]]["name"]
        weftd = weft_testing.Weftd(subnet.environment(watcher), interval=f"{interval * 1000:.0f}ms",
                                   infiniband=f'expected_topology = "{subnet.topology_file}"')
        ticks: dict[tuple[str, int], float] = {}
        mirror = Mirror(timeline, subnet, lambda node, port: ticks.get((node, port)), hosts)
        mirror.show(timeline.frames[0])
        weftd.start()
        weftd.wait_sweeps(1)
        hosts.start(weftd, f"{interval * 1000:.0f}ms")
        # While all of them are up: a port that is down has no rate, and its ticks no length. Where OpenSM runs nobody answers
        # what a tick is.
        ticks.update({(port["node"], port["port"]): port["waitTickSeconds"] for port in weftd.client.json("/api/v1/ports")["ports"]
                      if port.get("waitTickSeconds")})
        started, first = time.monotonic(), timeline.frames[0]["at"]
        due = started
        for frame in timeline.frames[1:]:
            # On a machine that has fallen behind time stretches: two frames at once would be rates that never were.
            last, due = due, max(started + frame["at"] - first, due + 0.9 * interval)
            creeping, steps = mirror.in_steps(frame)
            begun = mirror.values(creeping)
            for step in range(1, steps):
                _sleep_until(last + (due - last) * step / steps)
                mirror.creep(creeping, begun, step / steps)
            _sleep_until(due)
            due = time.monotonic()
            mirror.show(frame)
        weftd.wait_sweeps(2)
        verdict.real = {said_really(incident) for incident in weftd.incidents(open_only=False) if not _is_part(incident)}
        verdict.straight = {said_straight(incident) for incident in timeline.incidents if not _is_part(incident)}
    finally:
        hosts.stop()
        if weftd:
            weftd.stop()
        subnet.stop()


def run_all(paths: list[str], build: str = weft_testing.BUILD, say=lambda verdict: None) -> list[Verdict]:
    """Several at once, each on a subnet of its own: they wait most of the time."""
    verdicts: list[Verdict | None] = [None] * len(paths)

    def work(position: int) -> None:
        verdicts[position] = run(paths[position], build)
        say(verdicts[position])

    threads = [threading.Thread(target=work, args=(position,)) for position in range(len(paths))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [verdict for verdict in verdicts if verdict is not None]


def all_scenarios() -> list[str]:
    return sorted(glob.glob(os.path.join(SCENARIOS, "*.scenario")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=weft_testing.BUILD, help="the build whose programs are run")
    parser.add_argument("scenario", nargs="*", help="scenario files, or names of those in real/")
    options = parser.parse_args()
    if missing := simulated_subnet.missing_programs():
        sys.exit(f"not installed: {', '.join(missing)}")
    program_testing.BUILD = options.build
    paths = [path if os.path.exists(path) else os.path.join(SCENARIOS, f"{path}.scenario") for path in options.scenario] or all_scenarios()
    for path in paths:
        if not os.path.exists(path):
            sys.exit(f"there is no scenario {path}")
    verdicts = run_all(paths, options.build, lambda verdict: print(verdict, flush=True))
    agreed = sum(verdict.agree for verdict in verdicts)
    print(f"{agreed} of {len(verdicts)} scenarios agree on both ways")
    return 0 if agreed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
