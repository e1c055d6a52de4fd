# SPDX-License-Identifier: Apache-2.0
"""Reads and writes topology files as ibnetdiscover prints them and ibsim loads them.

The graph is kept by node identifier ("S-<guid>", "H-<guid>", "R-<guid>"), which is also the name that ibsim's console
and SIM_HOST take.
"""

import re
from dataclasses import dataclass, field

SWITCH, ADAPTER, ROUTER = "Switch", "Ca", "Rt"

_NODE = re.compile(r'^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]+)"(.*)$')
_PORT = re.compile(r'^\[(\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?\s+"([^"]+)"\[(\d+)\](?:\[ext \d+\])?(?:\([0-9a-fA-F]+\))?(.*)$')
_RATE = re.compile(r"(\d+)x([A-Z]+\d*)\s*$")
_QUOTED = re.compile(r'#.*?"([^"]*)"')

# ibsim 0.10 knows these speeds and no later ones; a later one is simulated as the last of them.
IBSIM_SPEEDS = ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR")


class NetfileError(Exception):
    """A topology file that cannot be read: says the line and the reason."""


@dataclass
class End:
    """What a port is cabled to, and at which width and speed."""

    node: str
    port: int
    width: int = 4
    speed: str = "HDR"


@dataclass
class Node:
    identity: str
    kind: str
    guid: int
    port_count: int
    name: str
    device: int = 0
    enhanced_port0: bool = False
    ports: dict[int, End] = field(default_factory=dict)

    @property
    def is_switch(self) -> bool:
        return self.kind == SWITCH

    def port_guid(self, port: int) -> int:
        """As ibsim gives it: a switch has one for all ports, an adapter node GUID + port number."""
        return self.guid if self.is_switch else self.guid + port


class Network:
    """Nodes in the order of the file."""

    def __init__(self):
        self.nodes: dict[str, Node] = {}

    def add(self, kind: str, guid: int, port_count: int, name: str, device: int = 0) -> Node:
        letter = {SWITCH: "S", ADAPTER: "H", ROUTER: "R"}[kind]
        node = Node(f"{letter}-{guid:016x}", kind, guid, port_count, name, device)
        if node.identity in self.nodes:
            raise NetfileError(f"{node.identity} stands in the file twice")
        self.nodes[node.identity] = node
        return node

    def connect(self, a: Node, a_port: int, b: Node, b_port: int, width: int = 4, speed: str = "HDR") -> None:
        a.ports[a_port] = End(b.identity, b_port, width, speed)
        b.ports[b_port] = End(a.identity, a_port, width, speed)

    def set_width(self, identity: str, port: int, width: int) -> None:
        """Changes both ends of a cable."""
        end = self.nodes[identity].ports[port]
        end.width = width
        self.nodes[end.node].ports[end.port].width = width

    @property
    def switches(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.is_switch]

    @property
    def adapters(self) -> list[Node]:
        return [node for node in self.nodes.values() if not node.is_switch]

    def hosts(self) -> list[Node]:
        """Adapters that sit in hosts: not the aggregation engines of switches."""
        return [node for node in self.adapters if "Aggregation Node" not in node.name and node.ports] or self.adapters

    def find(self, name: str) -> Node:
        """The node of that identifier or that name."""
        if name in self.nodes:
            return self.nodes[name]
        for node in self.nodes.values():
            if node.name == name:
                return node
        raise KeyError(name)

    def trunks(self) -> list[tuple[Node, int, Node, int]]:
        """Cables between two different switches, each once, in the order of the file."""
        found = []
        for node in self.switches:
            for number, end in sorted(node.ports.items()):
                peer = self.nodes.get(end.node)
                if peer and peer.is_switch and (node.guid, number) < (peer.guid, end.port) and peer is not node:
                    found.append((node, number, peer, end.port))
        return found

    def links(self) -> int:
        return sum(len(node.ports) for node in self.nodes.values()) // 2

    def port_entries(self) -> int:
        """Ports, management ports of switches included."""
        return sum(node.port_count + node.is_switch for node in self.nodes.values())

    def ibsim_arguments(self) -> list[str]:
        """Sizes of ibsim's tables: it stops when a file has more than its defaults allow."""
        switches = len(self.switches)
        lids = switches + sum(node.port_count for node in self.adapters)
        linear = (max(1024, lids + lids // 8) + 63) // 64 * 64
        return ["-N", str(len(self.nodes)), "-S", str(max(1, switches)), "-P", str(self.port_entries()),
                "-L", str(min(linear, 49152))]

    def cap_speeds(self) -> int:
        """Replaces speeds that ibsim does not know by the fastest it does; how many ends were changed."""
        changed = 0
        for node in self.nodes.values():
            for end in node.ports.values():
                if end.speed not in IBSIM_SPEEDS:
                    end.speed = IBSIM_SPEEDS[-1]
                    changed += 1
        return changed

    def write(self, stream) -> None:
        for node in self.nodes.values():
            stream.write(f"vendid=0x2c9\ndevid={node.device:#x}\nsysimgguid={node.guid:#x}\n")
            if node.is_switch:
                port0 = "enhanced" if node.enhanced_port0 else "base"
                stream.write(f"switchguid={node.guid:#x}({node.guid:x})\n"
                             f'Switch\t{node.port_count} "{node.identity}"\t\t# "{node.name}" {port0} port 0 lid 0 lmc 0\n')
            else:
                key = "caguid" if node.kind == ADAPTER else "rtguid"
                stream.write(f"{key}={node.guid:#x}\n"
                             f'{node.kind}\t{node.port_count} "{node.identity}"\t\t# "{node.name}"\n')
            for number in sorted(node.ports):
                stream.write(self._port_line(node, number))
            stream.write("\n")

    def _port_line(self, node: Node, number: int) -> str:
        end = node.ports[number]
        peer = self.nodes[end.node]
        rate = f"{end.width}x{end.speed}"
        if node.is_switch:
            guid = "" if peer.is_switch else f"({peer.port_guid(end.port):x})"
            return f'[{number}]\t"{end.node}"[{end.port}]{guid}\t\t# "{peer.name}" lid 0 {rate}\n'
        return (f'[{number}]({node.port_guid(number):x})\t"{end.node}"[{end.port}]\t\t'
                f'# lid 0 lmc 0 "{peer.name}" lid 0 {rate}\n')


def read(path) -> Network:
    """Reads a file of ibnetdiscover, or its output saved. Raises NetfileError with the line, OSError as open() does."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        return parse(stream, str(path))


def parse(lines, origin: str = "topology") -> Network:
    network = Network()
    guid = device = 0
    node = None
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        try:
            if match := re.match(r"^(switchguid|caguid|rtguid)=(0x[0-9a-fA-F]+)", line):
                guid = int(match[2], 16)
            elif match := re.match(r"^devid=(0x[0-9a-fA-F]+|\d+)", line):
                device = int(match[1], 0)
            elif match := _NODE.match(line):
                kind = ADAPTER if match[1] == "Hca" else match[1]
                named = _QUOTED.search(match[4])
                node = Node(match[3], kind, guid or int(match[3].split("-")[-1], 16), int(match[2]),
                            named[1] if named else match[3], device, "enhanced port 0" in match[4])
                if node.identity in network.nodes:
                    raise NetfileError(f"{node.identity} stands in the file twice")
                network.nodes[node.identity] = node
                guid = 0
            elif match := _PORT.match(line):
                if node is None:
                    raise NetfileError("a port before any node")
                if not 1 <= int(match[1]) <= node.port_count:
                    raise NetfileError(f"port {match[1]} of {node.identity}, which has {node.port_count}")
                rate = _RATE.search(match[4])
                node.ports[int(match[1])] = End(match[2], int(match[3]), int(rate[1]) if rate else 4,
                                                rate[2] if rate else "QDR")
            elif line.startswith("["):
                raise NetfileError(f"not a port of an ibnetdiscover file: {line[:60]}")
        except (NetfileError, ValueError) as error:
            raise NetfileError(f"{origin}:{number}: {error}") from error
    if not network.nodes:
        raise NetfileError(f"{origin}: no Switch, Ca or Rt in it: not an ibnetdiscover file")
    for node in network.nodes.values():
        for number, end in node.ports.items():
            peer = network.nodes.get(end.node)
            if peer is None:
                raise NetfileError(f"{origin}: {node.identity}[{number}] is cabled to {end.node}, which is not in the file")
            back = peer.ports.get(end.port)
            if back is None or (back.node, back.port) != (node.identity, number):
                raise NetfileError(f"{origin}: {node.identity}[{number}] and {end.node}[{end.port}] disagree on their cable")
    return network
