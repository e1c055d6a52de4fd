# SPDX-License-Identifier: Apache-2.0
"""An Ethernet fabric of network namespaces whose cables can be moved: every port leads to a patch panel, a namespace in which a bridge stands for
each cable. The ports themselves stay as they are, whatever becomes of the cables. Each node may run lldpd. Needs root."""

import os
import re
import signal
import subprocess
import sys

from simulated_subnet import _die_with_parent

# What a bridge keeps for itself otherwise: 01:80:C2:00:00:0E, LLDP's (IEEE 802.1Q, table 8-1).
FORWARD_LLDP = "0x4000"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class PatchedFabric:
    """`cables`: (node, port, node, port). `spare`: (node, port) without a cable. `readers`: nodes that are also on the management network, where
    `address` is."""

    def __init__(self, place: str, cables: list[tuple[str, str, str, str]], spare: list[tuple[str, str]], readers: list[str]):
        self.place = place
        os.chmod(place, 0o755)  # lldpd sets itself up as another user
        self.tag = f"w{os.getpid() % 100000}"
        self.readers = readers
        self.ports = sorted({end for a, p, b, q in cables for end in ((a, p), (b, q))} | set(spare))
        self.nodes = sorted({node for node, _ in self.ports})
        self.cables = {frozenset(((a, p), (b, q))) for a, p, b, q in cables}
        self.bridges: dict[frozenset, str] = {}
        self.made = 0
        # 198.18.0.0/15 is set apart for tests (RFC 2544).
        self.network = f"198.19.{os.getpid() % 250}"
        self.address = f"{self.network}.1"
        self.daemons: dict[str, subprocess.Popen] = {}

    def name(self, node: str) -> str:
        return f"{self.tag}-{node}"

    def make(self) -> None:
        ip("netns", "add", self.name("panel"))
        for node in self.nodes:
            ip("netns", "add", self.name(node))
            ip("-n", self.name(node), "link", "set", "lo", "up")
        for place, (node, port) in enumerate(self.ports):
            ip("link", "add", f"p{place}", "netns", self.name("panel"), "type", "veth", "peer", "name", port, "netns", self.name(node))
            ip("-n", self.name(node), "link", "set", port, "up")
        for cable in sorted(self.cables, key=sorted):
            self.plug(*sorted(cable))
        bridge = f"{self.tag}br"
        ip("link", "add", bridge, "type", "bridge")
        ip("addr", "add", f"{self.address}/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for place, node in enumerate(self.readers):
            near = f"{self.tag}m{place}"
            ip("link", "add", near, "type", "veth", "peer", "name", "mgmt0", "netns", self.name(node))
            ip("link", "set", near, "master", bridge, "up")
            ip("-n", self.name(node), "addr", "add", f"{self.network}.{10 + place}/24", "dev", "mgmt0")
            ip("-n", self.name(node), "link", "set", "mgmt0", "up")

    def remove(self) -> None:
        for node in list(self.daemons):
            self.stop_lldpd(node)
        for node in (*self.nodes, "panel"):
            subprocess.run(["ip", "netns", "del", self.name(node)], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", f"{self.tag}br"], check=False, capture_output=True)

    def plug(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        panel = self.name("panel")
        bridge = f"c{self.made}"
        self.made += 1
        ip("-n", panel, "link", "add", bridge, "type", "bridge", "group_fwd_mask", FORWARD_LLDP, "mcast_snooping", "0")
        ip("-n", panel, "link", "set", bridge, "up")
        for end in (one, other):
            ip("-n", panel, "link", "set", f"p{self.ports.index(end)}", "master", bridge, "up")
        self.bridges[frozenset((one, other))] = bridge

    def pull(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        panel = self.name("panel")
        for end in (one, other):
            ip("-n", panel, "link", "set", f"p{self.ports.index(end)}", "down", "nomaster")
        ip("-n", panel, "link", "del", self.bridges.pop(frozenset((one, other))))

    def within(self, node: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name(node), *words]

    def socket(self, node: str) -> str:
        return os.path.join(self.place, f"{node}.lldp")

    def start_lldpd(self, node: str, *settings: str) -> None:
        config = os.path.join(self.place, f"{node}.conf")
        with open(config, "w", encoding="ascii") as stream:
            stream.write("\n".join([f"configure system hostname {node}", "configure lldp tx-interval 1", *settings]) + "\n")
        with open(os.path.join(self.place, f"{node}.lldpd.log"), "ab") as log:
            self.daemons[node] = subprocess.Popen(
                self.within(node, "lldpd", "-d", "-u", self.socket(node), "-p", os.path.join(self.place, f"{node}.lldpd.pid"), "-O", config),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=_die_with_parent)

    def lldpd_processes(self, node: str) -> list[int]:
        """It splits in two, and the outer one is ours."""
        outer = self.daemons[node].pid
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(outer)], capture_output=True, text=True, check=False).stdout
        return [outer, *(int(word) for word in re.findall(r"\d+", found))]

    def signal_lldpd(self, node: str, number: int) -> None:
        for process in self.lldpd_processes(node):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def stop_lldpd(self, node: str, number: int = signal.SIGKILL) -> None:
        self.signal_lldpd(node, number)
        self.daemons.pop(node).wait(10)
        # Killed, it leaves its socket behind: so the next one must not find it.
        if os.path.exists(self.socket(node)):
            os.remove(self.socket(node))

    def python(self, node: str, program: str, *words: str) -> subprocess.Popen:
        return subprocess.Popen(self.within(node, sys.executable, "-c", program, *words), preexec_fn=_die_with_parent)
