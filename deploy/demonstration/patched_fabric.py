# SPDX-License-Identifier: Apache-2.0
"""An Ethernet fabric of network namespaces whose cables can be moved: every port leads to a patch panel, a namespace in which a bridge stands for
each cable. The ports themselves stay as they are, whatever becomes of the cables. Each node may run lldpd and weft-collector. Needs root. For the
demonstration and the tests."""

import ctypes
import os
import signal
import subprocess
import sys

from child_process import start_child
from fault import NetworkError

# What a bridge keeps for itself otherwise: 01:80:C2:00:00:0E, LLDP's (IEEE 802.1Q, table 8-1).
FORWARD_LLDP = "0x4000"
PACKAGES = {"ip": "iproute2", "lldpd": "lldpd", "mount": "mount", "unshare": "util-linux"}
_CLONE_NEWNS = 0x00020000  # sched.h: os.unshare() came with Python 3.12
_NAMES = "/run/netns"  # where ip(8) keeps them
# sh stays, as the first process of a process namespace: when it is killed, the kernel ends all that is in there.
_END_TOGETHER = ("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh")

Port = tuple[str, str]
Cable = tuple[str, str, str, str]


class FabricError(NetworkError):
    """No such fabric can be made here; the text says why."""


def two_tiers(leaves: int = 4, spines: int = 4, hosts: int = 16) -> list[Cable]:
    """Cables of leaf01… with gpu-01… at swp1… and spine01… at swp51…; swp1… of a spine lead to the leaves. Each host has one, eth1."""
    names = [f"leaf{n:02}" for n in range(1, leaves + 1)]
    at_each = hosts // leaves
    return [*((names[n // at_each], f"swp{n % at_each + 1}", f"gpu-{n + 1:02}", "eth1") for n in range(hosts)),
            *((leaf, f"swp{51 + s}", f"spine{s + 1:02}", f"swp{n + 1}") for n, leaf in enumerate(names) for s in range(spines))]


def write_dot(path: str, cables: list[Cable]) -> None:
    """The cables as a plan; who reads the file meanwhile reads the one before."""
    with open(path + ".new", "w", encoding="ascii") as stream:
        stream.write("graph fabric {\n" + "".join(f'  "{a}":"{p}" -- "{b}":"{q}"\n' for a, p, b, q in cables) + "}\n")
    os.rename(path + ".new", path)


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise FabricError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def keep_names_to_ourselves() -> None:
    """From now on namespaces that this process names have their names in it and in what it starts, and are gone when all of these have ended, even
    by SIGKILL. Others see them with nsenter --mount."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNS) != 0:
        raise FabricError(f"no namespaces can be made here: unshare: {os.strerror(ctypes.get_errno())}. They need root, and in a container CAP_SYS_ADMIN "
                          "(docker run --privileged)")
    os.makedirs(_NAMES, exist_ok=True)
    for words in (("--make-rprivate", "/"), ("-t", "tmpfs", "weft", _NAMES)):
        done = subprocess.run(["mount", *words], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise FabricError(f"no namespaces can be made here: {done.stderr.strip()}")


class PatchedFabric:
    """`cables`: (node, port, node, port). `spare`: (node, port) without a cable. `readers`: nodes that are also on the management network, where
    `address` is."""

    def __init__(self, place: str, cables: list[Cable], spare: list[Port], readers: list[str]):
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
        """Raises FabricError. All of it is in namespaces, but for one end of a cable to the management network: it goes with the other end."""
        keep_names_to_ourselves()
        panel = self.name("panel")
        ip("netns", "add", panel)
        for node in self.nodes:
            ip("netns", "add", self.name(node))
            ip("-n", self.name(node), "link", "set", "lo", "up")
        for place, (node, port) in enumerate(self.ports):
            ip("link", "add", self.end_of((node, port)), "netns", panel, "type", "veth", "peer", "name", port, "netns", self.name(node))
            ip("-n", self.name(node), "link", "set", port, "up")
        for cable in sorted(self.cables, key=sorted):
            self.plug(*sorted(cable))
        ip("-n", panel, "link", "add", "management", "type", "bridge")
        ip("-n", panel, "link", "set", "management", "up")
        ip("link", "add", f"{self.tag}m", "type", "veth", "peer", "name", "weftd", "netns", panel)
        ip("-n", panel, "link", "set", "weftd", "master", "management", "up")
        ip("addr", "add", f"{self.address}/24", "dev", f"{self.tag}m")
        ip("link", "set", f"{self.tag}m", "up")
        for place, node in enumerate(self.readers):
            ip("link", "add", f"m{place}", "netns", panel, "type", "veth", "peer", "name", "mgmt0", "netns", self.name(node))
            ip("-n", panel, "link", "set", f"m{place}", "master", "management", "up")
            ip("-n", self.name(node), "addr", "add", f"{self.network}.{10 + place}/24", "dev", "mgmt0")
            ip("-n", self.name(node), "link", "set", "mgmt0", "up")

    def remove(self) -> None:
        for node in list(self.daemons):
            self.stop_lldpd(node)
        for node in (*self.nodes, "panel"):
            subprocess.run(["ip", "netns", "del", self.name(node)], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", f"{self.tag}m"], check=False, capture_output=True)

    def end_of(self, port: Port) -> str:
        """The interface of the panel to which that port leads."""
        return f"p{self.ports.index(port)}"

    def plug(self, one: Port, other: Port) -> None:
        panel = self.name("panel")
        bridge = f"c{self.made}"
        self.made += 1
        ip("-n", panel, "link", "add", bridge, "type", "bridge", "group_fwd_mask", FORWARD_LLDP, "mcast_snooping", "0")
        ip("-n", panel, "link", "set", bridge, "up")
        for end in (one, other):
            ip("-n", panel, "link", "set", self.end_of(end), "master", bridge, "up")
        self.bridges[frozenset((one, other))] = bridge

    def pull(self, one: Port, other: Port) -> None:
        panel = self.name("panel")
        for end in (one, other):
            ip("-n", panel, "link", "set", self.end_of(end), "down", "nomaster")
        ip("-n", panel, "link", "del", self.bridges.pop(frozenset((one, other))))

    def within(self, node: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name(node), *words]

    # -- what runs on a node

    def collector(self, node: str, program: str, analyzer: str) -> list[str]:
        """The command that runs weft-collector there; `analyzer` is where weftd is. What RDMA devices this machine has are none of that node."""
        return self.within(
            node, program, "--config", os.devnull, "--node-name", node, "--state-dir", os.path.join(self.place, node), "--http", "127.0.0.1:9642",
            "--interval", "1s", "--sources-sysfs", "false", "--sources-rdma-netlink", "false", "--reading-interfaces", "^(eth1|swp)", "--reading-lldp-interval", "1s",
            "--reading-lldp-socket", self.socket(node), "--analyzer", analyzer, "--analyzer-reconnect-limit", "500ms")

    def socket(self, node: str) -> str:
        return os.path.join(self.place, f"{node}.lldp")

    def start_lldpd(self, node: str, *settings: str) -> None:
        config = os.path.join(self.place, f"{node}.conf")
        with open(config, "w", encoding="ascii") as stream:
            stream.write("\n".join([f"configure system hostname {node}", "configure lldp tx-interval 1", *settings]) + "\n")
        # It becomes another user, and forgets by that to end with us (prctl(2), PR_SET_PDEATHSIG).
        with open(os.path.join(self.place, f"{node}.lldpd.log"), "ab") as log:
            self.daemons[node] = start_child(
                self.within(node, *_END_TOGETHER, "lldpd", "-d", "-u", self.socket(node), "-p", os.path.join(self.place, f"{node}.lldpd.pid"),
                            "-O", config),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def lldpd_processes(self, node: str) -> list[int]:
        """It splits in two."""
        return [pid for pid in descendants(self.daemons[node].pid) if name_of(pid) == "lldpd"]

    def signal_lldpd(self, node: str, number: int) -> None:
        for process in self.lldpd_processes(node):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def stop_lldpd(self, node: str, number: int = signal.SIGKILL) -> None:
        self.signal_lldpd(node, number)
        process = self.daemons.pop(node)
        process.kill()
        process.wait(10)
        # Killed, it leaves its socket behind: so the next one must not find it.
        if os.path.exists(self.socket(node)):
            os.remove(self.socket(node))

    def python(self, node: str, program: str, *words: str) -> subprocess.Popen:
        return start_child(self.within(node, sys.executable, "-c", program, *words))


def descendants(pid: int) -> list[int]:
    """Process ids of its children, their children, and so on (proc(5), /proc/PID/task/TID/children)."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as stream:
                for child in map(int, stream.read().split()):
                    found += [child, *descendants(child)]
    except OSError:
        pass
    return found


def name_of(pid: int) -> str:
    """Of a process; empty: there is none."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""
