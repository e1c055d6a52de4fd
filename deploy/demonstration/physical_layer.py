# SPDX-License-Identifier: Apache-2.0
"""What ibsim leaves out of a port that is disabled: the link. ibsim sets the physical state of one end only; neither that end's
link state nor the other end changes, no trap is sent, nobody reroutes. Hardware takes both ends down. PhysicalLayer watches the
simulator from outside and does the same; Snapshot is what the simulator itself knows, whatever a program under test says.

  with PhysicalLayer(subnet):
      ...                                     # a Set of Disabled takes the link down, of Polling brings it up again
  Snapshot.of(subnet).reach()                 # follows the tables that the switches hold, for every pair
"""

import re
import threading
import time
from dataclasses import dataclass

import simulated_subnet

_NODE = re.compile(r'^(\w+) (\d+) "([^"]+)"')
_TABLE = re.compile(r"^#\tForwarding table \d+-\d+:(.*)$")
_ENTRY = re.compile(r"\[(\d+)\]([0-9A-F]+)")
_PORT = re.compile(r'^[0-9a-f]+\t\[(\d+)\]\t(?:"([^"]+)"\[(\d+)\])?\t*(?:\s*lid (\d+))?.*?(\w+)/(\w+)(?:\t#.*)?$')
NO_EGRESS = 0xFF


@dataclass
class SimulatedPort:
    peer: tuple[str, int] | None  # while the link is up
    lid: int
    state: str  # Active, Down, Initialize, …
    physical: str  # LinkUp, Polling, Disabled, …


@dataclass
class Snapshot:
    """The whole fabric at one moment, by node identifier as the console has it."""

    ports: dict[tuple[str, int], SimulatedPort]
    tables: dict[str, dict[int, int]]  # of each switch: LID to port

    @staticmethod
    def of(subnet) -> "Snapshot":
        ports, tables = {}, {}
        node = ""
        for line in subnet.dump():
            if match := _NODE.match(line):
                node = match[3]
                if match[1] == "Switch":
                    tables[node] = {}
            elif match := _TABLE.match(line):
                tables[node].update((int(lid), int(port, 16)) for lid, port in _ENTRY.findall(match[1]))
            elif match := _PORT.match(line):
                number = int(match[1])
                peer = (match[2], int(match[3])) if match[2] and match[2] != "Sma Port" else None
                ports[node, number] = SimulatedPort(peer, int(match[4] or 0), match[5], match[6])
        return Snapshot(ports, tables)

    def routed_over(self, end: tuple[str, int]) -> int:
        """How many LIDs of somebody the end's switch sends through it."""
        lids = {port.lid for port in self.ports.values() if port.lid}
        return sum(1 for lid, egress in self.tables[end[0]].items() if egress == end[1] and lid in lids)

    def adapters(self) -> dict[tuple[str, int], SimulatedPort]:
        return {key: port for key, port in self.ports.items() if key[0] not in self.tables and port.state == "Active"}

    def reach(self) -> tuple[int, list[tuple[str, str]]]:
        """How many pairs of adapters there are, and those that the tables do not join."""
        adapters = self.adapters()
        lost = []
        for (target, number), port in adapters.items():
            arrives: dict[str, bool] = {}
            for (source, _), sender in adapters.items():
                if source != target and not self._arrives(sender.peer[0], port.lid, (target, number), arrives):
                    lost.append((source, target))
        return len(adapters) * (len(adapters) - 1), lost

    def _arrives(self, switch: str, lid: int, target: tuple[str, int], arrives: dict[str, bool]) -> bool:
        way = []
        while switch not in arrives:
            arrives[switch] = False  # what is met a second time runs in a circle
            way.append(switch)
            out = self.ports.get((switch, self.tables[switch].get(lid, NO_EGRESS)))
            if out is None or out.peer is None or out.state != "Active":
                return False
            if out.peer[0] not in self.tables:
                arrives.update(dict.fromkeys(way, out.peer == target))
                return out.peer == target
            switch = out.peer[0]
        arrives.update(dict.fromkeys(way, arrives[switch]))
        return arrives[switch]


class PhysicalLayer:
    """Takes down both ends of a link one end of which is Disabled, and brings them up when none is any more. Ends with the context;
    what went wrong in it is raised then."""

    def __init__(self, subnet, every: float = 0.2):
        self.subnet = subnet
        self.every = every
        self.cut: set[frozenset] = set()  # links that are down because an end is Disabled
        self._owed: set[tuple[str, int]] = set()  # ends that must be Disabled again, and could not be reached yet
        self._looks = 0
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        self._thread.join()
        if self._failure and exception[0] is None:
            raise self._failure

    def settle(self, within: float = 60) -> None:
        """Waits until everything that was so when it was called has been seen to. Raises what went wrong."""
        wanted = self._looks + 2  # the look under way may have begun before
        deadline = time.monotonic() + within
        while self._looks < wanted or self._owed:
            if self._failure:
                raise self._failure
            if time.monotonic() > deadline:
                raise AssertionError(f"the physical layer does not settle in {within:.0f} s")
            time.sleep(0.02)

    def _watch(self):
        try:
            while not self._stop.wait(self.every):
                self._look(Snapshot.of(self.subnet))
                self._looks += 1
        except BaseException as failure:  # told by __exit__
            self._failure = failure

    def _look(self, snapshot: Snapshot) -> None:
        owed = sorted(self._owed)  # of these the snapshot does not know yet that they are Disabled
        for key in owed:
            self._disable(snapshot, key)
        disabled = {key for key, port in snapshot.ports.items() if port.physical == "Disabled"} | set(owed)
        for key in sorted(disabled):
            if peer := snapshot.ports[key].peer:
                self._take_down(snapshot, key, peer, disabled)
        for link in [link for link in self.cut if not link & disabled]:
            node, port = sorted(link)[0]
            self._tell(f'ReLink "{node}"[{port}]')
            self.cut.discard(link)

    def _take_down(self, snapshot: Snapshot, key, peer, disabled) -> None:
        self._tell(f'Unlink "{key[0]}"[{key[1]}]')
        # That made both ends poll; those that were Disabled stay so in hardware.
        for end in {key, peer} & disabled:
            self._disable(snapshot, end)
        self.cut.add(frozenset((key, peer)))

    def _tell(self, line: str) -> None:
        """The console refuses what somebody else, such as a schedule of faults, did since the snapshot. The next look sees how it is."""
        try:
            self.subnet.command(line)
        except simulated_subnet.SubnetError:
            pass

    def _disable(self, snapshot: Snapshot, end) -> None:
        """Or remembers to: its node may be cut off, a test may have datagrams dropped, and the subnet manager may just be laying new routes."""
        self._owed.add(end)
        try:
            self.subnet.run(["ibportstate", str(snapshot.ports[end[0], 0].lid), str(end[1]), "disable"])
            self._owed.discard(end)
        except simulated_subnet.SubnetError:
            pass
