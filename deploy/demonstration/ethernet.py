# SPDX-License-Identifier: Apache-2.0
"""The demonstration on an Ethernet fabric: two tiers of network namespaces, with a real lldpd and a real weft-collector on each host and switch, in
which cables are broken on a schedule. weftd is told nothing of the fabric."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from fault import Fault
from patched_fabric import PACKAGES, Cable, FabricError, PatchedFabric, Port, descendants, two_tiers, write_dot
from child_process import start_child
from simulated_subnet import SimulatedSubnet
from watching import NO_FILE, Failure, Programs, play, play_all, say, wait_for, wait_for_end

FOUND_WITHIN = 120  # s
FLAPS = 5


class Fabric:
    """The namespaces, and what runs in them. Raises FabricError where there can be none."""

    def __init__(self, place: str, programs: str):
        self.cables = two_tiers()
        self.net = PatchedFabric(place, self.cables, [], sorted({node for a, _, b, _ in self.cables for node in (a, b)}))
        self._collector = os.path.join(programs, "weft-collector")
        self._collectors: dict[str, subprocess.Popen] = {}
        self.keys: dict[Port, tuple[str, int]] = {}  # GUID and number that weftd has for a port

    def start(self) -> None:
        """Namespaces, cables and an lldpd in each."""
        if missing := sorted({package for tool, package in PACKAGES.items() if not shutil.which(tool)}):
            raise FabricError(f"not installed: {' '.join(missing)}")
        if not os.access(self._collector, os.X_OK):
            raise FabricError(f"{self._collector} is not there; deploy/quickstart --ethernet builds it")
        self.net.make()
        for node in self.net.nodes:
            self.net.start_lldpd(node)

    def start_collectors(self, analyzer: str) -> None:
        for node in self.net.nodes:
            with open(os.path.join(self.net.place, f"{node}.log"), "ab") as log:
                self._collectors[node] = start_child(self.net.collector(node, self._collector, analyzer), stdin=subprocess.DEVNULL, stdout=log,
                                                     stderr=log, start_new_session=True)

    def signal_collector(self, node: str, number: int) -> None:
        """And its weft-uplink."""
        for process in (self._collectors[node].pid, *descendants(self._collectors[node].pid)):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def is_found(self, links: list[dict]) -> bool:
        """The links that weftd shows are up, and are the cables. From then on its names for their ports are known."""
        def port(end):
            return end["node"].removesuffix(f" {end['name']}"), end["name"]

        if {frozenset((port(link["a"]), port(link["b"]))) for link in links if link.get("up")} != self.net.cables:
            return False
        self.keys = {port(end): (end["nodeGuid"], end["port"]) for link in links for end in (link["a"], link["b"])}
        return True

    def ended(self) -> list[str]:
        """What ended that should not."""
        return [*(f"lldpd of {node} ended" for node, process in self.net.daemons.items() if process.poll() is not None),
                *(f"weft-collector of {node} ended" for node, process in self._collectors.items() if process.poll() is not None)]

    def stop(self) -> None:
        for node, process in self._collectors.items():
            if process.poll() is None:
                self.signal_collector(node, signal.SIGCONT)
                process.terminate()
        for process in self._collectors.values():
            SimulatedSubnet._end(process, signal.SIGTERM)
        self._collectors.clear()
        self.net.remove()


def words(cable: Cable) -> str:
    return f"{cable[0]} {cable[1]} - {cable[2]} {cable[3]}"


def schedule(fabric: Fabric, round_number: int = 0) -> list[Fault]:
    """The plainest first. Each round takes other cables: one that goes down again and again flaps."""
    net = fabric.net
    access = [cable for cable in fabric.cables if cable[2].startswith("gpu")]
    trunks = [cable for cable in fabric.cables if not cable[2].startswith("gpu")]

    def pick(things, number):
        return things[((number + round_number) * 7919) % len(things)]

    def ends(*cables: Cable) -> set[tuple[str, int]]:
        return {fabric.keys[port] for a, p, b, q in cables for port in ((a, p), (b, q))}

    def pulled(cable):
        one, other = cable[:2], cable[2:]
        return Fault(f"pulling the cable {words(cable)}", ("LINK_DOWN", "NODE_DOWN"), ends(cable), lambda: net.pull(one, other),
                     lambda: net.plug(one, other))

    def crossed(cable, another):
        straight = [(cable[:2], cable[2:]), (another[:2], another[2:])]
        swapped = [(cable[:2], another[2:]), (another[:2], cable[2:])]

        def move(away, there):
            for ports in away:
                net.pull(*ports)
            for ports in there:
                net.plug(*ports)

        return Fault(f"crossing the cables {words(cable)} and {words(another)}", ("MISCABLED",), ends(cable, another),
                     lambda: move(straight, swapped), lambda: move(swapped, straight))

    def flapping(cable):
        one, other = cable[:2], cable[2:]
        state = {"downs": 0, "down": False}

        def up():
            if state["down"]:
                net.plug(one, other)
                state["down"] = False

        def flap(second):
            if second % 2 == 0 and state["downs"] < FLAPS:
                net.pull(one, other)
                state.update(down=True, downs=state["downs"] + 1)
            else:
                up()

        return Fault(f"flapping {words(cable)}", ("LINK_FLAP",), ends(cable), lambda: None, up, flap, damped=True)

    def dead(switch):
        cables = [cable for cable in fabric.cables if switch in (cable[0], cable[2])]

        def each(do, number):
            fabric.signal_collector(switch, number)
            for cable in cables:
                do(cable[:2], cable[2:])

        guid = fabric.keys[cables[0][2:] if cables[0][2] == switch else cables[0][:2]][0]
        return Fault(f"{switch} dies, with its collector", ("SWITCH_DOWN",), {(guid, 0)}, lambda: each(net.pull, signal.SIGSTOP),
                     lambda: each(net.plug, signal.SIGCONT))

    def silent(host):
        return Fault(f"the collector of {host} hangs", ("TELEMETRY_LOST",), set(), lambda: fabric.signal_collector(host, signal.SIGSTOP),
                     lambda: fabric.signal_collector(host, signal.SIGCONT), host=host)

    far = pick(access, 6)
    return [pulled(pick(trunks, 3)), pulled(pick(access, 5)), crossed(pick(access, 1), far if far[0] != pick(access, 1)[0] else pick(access, 11)),
            flapping(pick(trunks, 10)), dead(pick(sorted({cable[2] for cable in trunks}), 1)), silent(pick(access, 9)[2])]


def to_break(net: PatchedFabric, cable: Cable) -> str:
    """Commands for a shell: pull the cable, and plug it in again."""
    ends = " ".join(net.end_of(end) for end in (cable[:2], cable[2:]))

    def command(state):
        return f"nsenter -t {os.getpid()} -m sh -c 'for port in {ends}; do ip -n {net.name('panel')} link set $port {state}; done'"

    return (f"    pull a cable yourself:    {command('down')}\n"
            f"    and plug it in again:     {command('up')}\n"
            f"    a shell on a host:        nsenter -t {os.getpid()} -m ip netns exec {net.name('gpu-01')} bash\n")


def demonstrate(options) -> int:
    stop = threading.Event()
    place = tempfile.mkdtemp(prefix="weft-demonstration-")
    fabric = Fabric(place, options.programs)
    programs = None
    try:
        fabric.start()
        hosts = sum(node.startswith("gpu") for node in fabric.net.nodes)
        say(f"Ethernet fabric in network namespaces: {hosts} hosts, {len(fabric.net.nodes) - hosts} switches, {len(fabric.cables)} cables, "
            "an lldpd and a collector on each")
        options.grpc = f"{fabric.net.address}:{options.grpc.rpartition(':')[2]}"
        programs = Programs(options.programs, options)
        fabric.start_collectors(programs.grpc)
        say("starting weftd, which is told nothing of the fabric …")
        state_dir = os.path.join(place, "state")
        os.mkdir(state_dir)
        log = os.path.join(place, "weftd.log")
        # Collectors come over the management network of the namespaces, which begins and ends on this machine.
        flags = [*NO_FILE, "--infiniband-enabled", "false", "--ethernet-discovery", "true", "--security-allow-plain-text", "true"]

        def start_weftd():
            return programs.start_weftd(state_dir, dict(os.environ), flags, log)

        began = time.monotonic()
        process = start_weftd()
        say(f"weftd is running (process {process.pid}, log {log})")

        def found():
            return fabric.is_found(programs.client.json("/api/v1/links").get("links", [])) or None

        if not wait_for(found, FOUND_WITHIN, stop):
            raise Failure(f"weftd has not found the {len(fabric.cables)} cables after {FOUND_WITHIN} s; its log is {log}")
        say(f"found by LLDP after {time.monotonic() - began:.1f} s: all {len(fabric.cables)} cables")
        print(programs.addresses(), flush=True)
        print(to_break(fabric.net, fabric.cables[-1]), flush=True)
        if options.once:
            if missed := play(schedule(fabric)[0], programs.client, stop):
                raise Failure(missed)
            say("demonstration: the first fault was found, named and cleared")
            return 0
        plan = os.path.join(place, "expected.dot")
        write_dot(plan, fabric.cables)
        flags += ["--cabling", plan]
        programs.end(process)
        process = start_weftd()
        say(f"weftd was started again (process {process.pid}) with these cables as what is expected, in ethernet.cabling: {plan}")
        programs.start_view()
        player = threading.Thread(target=play_all, args=(lambda number: schedule(fabric, number), programs.client, stop), daemon=True)
        player.start()
        return wait_for_end(process, fabric.ended, start_weftd)
    finally:
        stop.set()
        if programs:
            programs.stop()
        fabric.stop()
        shutil.rmtree(place, ignore_errors=True)
