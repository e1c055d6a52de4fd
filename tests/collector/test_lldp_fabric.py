# SPDX-License-Identifier: Apache-2.0
"""A two-tier fabric of 8 switches and 16 hosts, each with an lldpd and a collector of its own, and one weftd that was told nothing of it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import collector_testing
from collector_testing import free_address, program, wait_until
from patched_fabric import PACKAGES, FabricError, PatchedFabric, two_tiers, write_dot
from weft_client import WeftClient

CABLES = two_tiers()
LEAVES = [f"leaf{n:02}" for n in range(1, 5)]
SPINES = [f"spine{n:02}" for n in range(1, 5)]
HOSTS = [f"gpu-{n:02}" for n in range(1, 17)]
SPARE = [("leaf02", "swp9")]

# A neighbour who is somebody else each time, and says what no name can be. Argument: the interface.
FLOOD = r"""
import os, socket, struct, sys, time
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind((sys.argv[1], 0x88CC))
def tlv(kind, value):
    return struct.pack("!H", kind << 9 | len(value)) + value
names = [b"leaf01", b"gpu-01", b"\xff\xfe\x00\x1b[31m", b"x" * 255, b"", "l\u00e9af".encode() * 20, b"a b c", b"'; drop table link; --"]
number = 0
while True:
    number += 1
    mac = b"\x02\xee" + struct.pack("!I", number)
    frame = b"\x01\x80\xc2\x00\x00\x0e" + mac + b"\x88\xcc"
    frame += tlv(1, b"\x04" + mac if number % 3 else b"\x07" + os.urandom(200))
    frame += tlv(2, b"\x05" + (b"swp%d" % (number % 7) if number % 2 else os.urandom(254)))
    frame += tlv(3, struct.pack("!H", 120)) + tlv(5, names[number % len(names)]) + tlv(6, b"d" * 255) + tlv(4, os.urandom(120))
    wire.send(frame + tlv(0, b""))
    time.sleep(0.01)
"""


class LldpTest(collector_testing.ClassPrograms):
    """One weftd, and a collector wherever `readers` says."""

    cables = CABLES
    spare = SPARE
    readers = [*LEAVES, *SPINES, *HOSTS]
    weftd_flags: list[str] = []

    @classmethod
    def setUpClass(cls):
        if cls is LldpTest:
            raise unittest.SkipTest("a base")
        collector_testing.require_programs("weftd", "weft-collector", "weft-uplink", "weftctl")
        for tool, package in PACKAGES.items():
            if not shutil.which(tool):
                raise unittest.SkipTest(f"not installed: {package}")
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.net = PatchedFabric(cls.place, cls.cables, cls.spare, cls.readers)
        cls.addClassCleanup(cls.net.remove)
        try:
            cls.net.make()
        except FabricError as error:
            raise unittest.SkipTest(f"no network namespaces here: {error}") from error
        cls.running: list[subprocess.Popen] = []
        cls.addClassCleanup(cls.end)
        cls.http, cls.grpc = free_address(), free_address(cls.net.address)
        cls.client = WeftClient(cls.http)
        cls.start_weftd()
        for node in cls.net.nodes:
            cls.net.start_lldpd(node)
        for node in cls.readers:
            cls.start(cls.net.collector(node, program("weft-collector"), cls.grpc))
        wait_until(lambda: cls.fabric().get("linksUp") == len(cls.cables), 90, why=lambda: f"{cls.fabric()}\n{cls.log()}")

    @classmethod
    def start_weftd(cls) -> None:
        cls.weftd = cls.start([program("weftd"), "--state-dir", os.path.join(cls.place, "state"), "--http", cls.http, "--grpc", cls.grpc,
                               "--listen-socket", os.path.join(cls.place, "weftd.sock"), "--infiniband-enabled", "false",
                               "--ethernet-discovery", "true", "--security-allow-plain-text", "true", *cls.weftd_flags])
        wait_until(lambda: cls.client.text("/healthz"), why=cls.log)

    @classmethod
    def fabric(cls) -> dict:
        fabrics = cls.client.json("/api/v1/status").get("fabrics", [])
        return fabrics[0] if fabrics else {}

    def weftctl(self, *words: str, exit_code: int = 0) -> str:
        done = subprocess.run([program("weftctl"), "--server", self.grpc, *words], capture_output=True, text=True, check=False)
        self.assertEqual(exit_code, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def links(self) -> set[frozenset[str]]:
        """By their ends: "leaf01 swp1", "gpu-01 eth1"."""
        def label(end: dict) -> str:
            return end["node"] if end["node"].endswith(f" {end['name']}") else f"{end['node']} {end['name']}"
        return {frozenset((label(link["a"]), label(link["b"]))) for link in self.client.json("/api/v1/links").get("links", [])}

    def open_incidents(self) -> list[str]:
        return [f"{one['kind']} {one['cause']['label']}" for one in self.client.json("/api/v1/incidents?state=open").get("incidents", [])]

    def differences(self) -> dict:
        return self.client.json("/api/v1/topology/differences")["fabrics"][0]

    def state(self) -> str:
        return f"{self.fabric()}\n{self.open_incidents()}\n{self.differences()}\n{self.log()}"


def planned_links(cables) -> set[frozenset[str]]:
    return {frozenset((f"{a} {p}", f"{b} {q}")) for a, p, b, q in cables}


class FoundFabric(LldpTest):
    def setUp(self):
        wait_until(lambda: self.links() == planned_links(CABLES) and not self.open_incidents() and self.fabric()["linksUp"] == len(CABLES), 60,
                   why=self.state)

    def test_it_is_found_whole_with_nothing_configured(self):
        self.assertTrue(self.fabric()["status"].startswith("monitoring 8 switches, 16 interfaces"), self.fabric())
        nodes = {node["name"]: node for node in self.client.json("/api/v1/nodes")["nodes"]}
        self.assertEqual({*LEAVES, *SPINES, *(f"{host} eth1" for host in HOSTS)}, set(nodes))
        self.assertEqual({**dict.fromkeys(LEAVES, 1), **dict.fromkeys(SPINES, 2)},
                         {name: node.get("tier") for name, node in nodes.items() if node["type"] == "SWITCH"})
        # A neighbour that was at the cable before is told for its last 4 s.
        wait_until(lambda: not self.differences().get("oldCount") and not self.differences().get("unclearCount"), 30, why=self.state)
        told = self.weftctl("topology", "--differences")
        self.assertIn("ethernet: 32 cables were found\n  no differences", told)
        self.assertIn("gpu-01 eth1 to gpu-16 eth1", self.weftctl("path", "gpu-01", "gpu-16"))

    def test_neighbours_are_shown_with_their_collector(self):
        [host] = self.client.json("/api/v1/collectors?host=gpu-05&readings=1")["collectors"]
        [interface] = host["neighbours"]
        [leaf] = interface["neighbours"]
        self.assertEqual(("eth1", "leaf02", "mac", "swp1"), (interface["interface"], leaf["systemName"], leaf["portType"], leaf["portDescription"]))
        self.assertIn("eth1 hears leaf02 (mac", self.weftctl("collectors", "gpu-05"))

    def test_a_cable_that_is_pulled_is_one_incident_and_comes_back(self):
        cable = (("leaf03", "swp52"), ("spine02", "swp3"))
        self.net.pull(*cable)
        self.addCleanup(self.net.plug, *cable)
        wait_until(self.open_incidents, 30, why=self.state)
        time.sleep(5)  # in which neighbours age
        [incident] = self.open_incidents()
        self.assertTrue(incident.startswith("LINK_DOWN"), incident)
        for end in ("leaf03 swp52", "spine02 swp3"):
            self.assertIn(end, incident)
        self.assertEqual(planned_links(CABLES), self.links())

    def test_a_cable_that_is_moved_leads_to_its_new_port_and_leaves_no_alarm(self):
        host, old, new = ("gpu-05", "eth1"), ("leaf02", "swp1"), ("leaf02", "swp9")
        self.net.pull(host, old)
        self.net.plug(host, new)
        self.addCleanup(self.net.plug, host, old)
        self.addCleanup(self.net.pull, host, new)
        moved = planned_links(CABLES) - {frozenset(("leaf02 swp1", "gpu-05 eth1"))} | {frozenset(("leaf02 swp9", "gpu-05 eth1"))}
        wait_until(lambda: self.links() == moved and not self.open_incidents(), 60, why=self.state)

    def test_cables_that_are_crossed_are_seen_crossed(self):
        ends = (("leaf01", "swp1"), ("gpu-01", "eth1")), (("leaf04", "swp4"), ("gpu-16", "eth1"))
        for cable in ends:
            self.net.pull(*cable)
            self.addCleanup(self.net.plug, *cable)
        for cable in ((ends[0][0], ends[1][1]), (ends[1][0], ends[0][1])):
            self.net.plug(*cable)
            self.addCleanup(self.net.pull, *cable)
        crossed = planned_links(CABLES) - planned_links([("leaf01", "swp1", "gpu-01", "eth1"), ("leaf04", "swp4", "gpu-16", "eth1")])
        crossed |= planned_links([("leaf01", "swp1", "gpu-16", "eth1"), ("leaf04", "swp4", "gpu-01", "eth1")])
        wait_until(lambda: self.links() == crossed and not self.open_incidents(), 60, why=self.state)

    def test_an_lldpd_that_is_killed_pulls_no_cable(self):
        self.net.stop_lldpd("leaf01", signal.SIGKILL)
        self.addCleanup(lambda: "leaf01" in self.net.daemons or self.net.start_lldpd("leaf01"))
        wait_until(lambda: "lldpd does not run" in self.weftctl("collectors", "leaf01"), 30, why=self.state)
        time.sleep(8)  # its neighbours forget it after 4 s
        self.assertEqual(planned_links(CABLES), self.links())
        self.assertEqual([], self.open_incidents())
        self.net.start_lldpd("leaf01")
        wait_until(lambda: not self.differences().get("oldCount"), 60, why=self.state)

    def test_an_lldpd_that_hangs_holds_nothing_up(self):
        before = self.client.json("/api/v1/collectors?host=gpu-02")["collectors"][0]["sequence"]
        self.net.signal_lldpd("gpu-02", signal.SIGSTOP)
        try:
            wait_until(lambda: "lldpd does not answer" in self.weftctl("collectors", "gpu-02"), 40, why=self.state)
        finally:
            self.net.signal_lldpd("gpu-02", signal.SIGCONT)
        after = self.client.json("/api/v1/collectors?host=gpu-02")["collectors"][0]["sequence"]
        self.assertGreater(int(after), int(before) + 5)
        self.assertEqual(planned_links(CABLES), self.links())
        wait_until(lambda: "lldpd" not in self.weftctl("collectors", "gpu-02"), 40, why=self.state)

    def test_a_hostile_neighbour_changes_nothing_elsewhere(self):
        """It talks beside gpu-16's own lldpd, in the name of others too."""
        flood = self.net.python("gpu-16", FLOOD, "eth1")
        try:
            wait_until(lambda: any(one["where"] == "leaf04 swp4" for one in self.differences().get("unclear", [])), 40, why=self.state)
            time.sleep(10)
            self.assertEqual(planned_links(CABLES), self.links())
            self.assertEqual([], self.open_incidents())
            told = self.weftctl("topology", "--differences", exit_code=1)
            self.assertIn("leaf04 swp4", told)
            self.assertTrue(told.isascii() and told.replace("\n", "").isprintable(), told)
        finally:
            flood.kill()
            flood.wait()
        # What it said counts for 120 s; a new lldpd has not heard it.
        self.net.stop_lldpd("leaf04")
        self.net.start_lldpd("leaf04")
        wait_until(lambda: not self.differences().get("unclear") and not self.differences().get("oldCount"), 60, why=self.state)

    def test_a_weftd_that_is_started_again_knows_cables_that_nobody_tells(self):
        for node in ("leaf02", "gpu-06"):
            self.net.stop_lldpd(node)
            self.addCleanup(self.net.start_lldpd, node)
        wait_until(lambda: self.differences().get("oldCount"), 120, why=self.state)  # what was told 60 s ago is not what is there now
        type(self).weftd.send_signal(signal.SIGTERM)
        type(self).weftd.wait(20)
        self.start_weftd()
        wait_until(lambda: self.links() == planned_links(CABLES) and self.fabric().get("linksUp") == len(CABLES), 60, why=self.state)


SMALL = [("leaf01", "swp1", "gpu-01", "eth1"), ("leaf01", "swp2", "gpu-02", "eth1"), ("leaf02", "swp1", "gpu-03", "eth1"),
         ("leaf02", "swp2", "gpu-04", "eth1")]


class ExpectedCabling(LldpTest):
    """Collectors on hosts alone, a plan of what is expected, and two cables that are crossed."""

    cables = [("leaf01", "swp1", "gpu-01", "eth1"), ("leaf01", "swp2", "gpu-03", "eth1"), ("leaf02", "swp1", "gpu-02", "eth1"),
              ("leaf02", "swp2", "gpu-04", "eth1")]
    spare = []
    readers = HOSTS[:4]

    @classmethod
    def setUpClass(cls):
        plans = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, plans, True)
        cls.plan = os.path.join(plans, "topology.dot")
        write_dot(cls.plan, SMALL)
        cls.weftd_flags = ["--cabling", cls.plan]
        super().setUpClass()

    def metric(self, name):
        [value] = [line.rpartition(" ")[2] for line in self.client.text("/metrics").splitlines() if line.startswith(f'{name}{{link_layer="Ethernet"}}')]
        return float(value)

    def test_a_changed_plan_is_read_anew_and_one_with_an_error_changes_nothing(self):
        wait_until(lambda: len(self.open_incidents()) >= 2, 30, why=self.state)
        write_dot(self.plan, self.cables)
        self.addCleanup(write_dot, self.plan, SMALL)
        wait_until(lambda: not self.open_incidents(), 30, why=self.state)
        self.assertIn("no differences", self.weftctl("topology", "--differences"))
        write_dot(self.plan, [("leaf01", "swp1", "leaf01", "swp1")])
        wait_until(lambda: self.metric("weft_expected_topology_refused") == 1, 30, why="a bad plan is not refused")
        self.assertEqual(4, self.metric("weft_expected_topology_links"))
        self.assertEqual([], self.open_incidents())
        write_dot(self.plan, SMALL)
        wait_until(lambda: len(self.open_incidents()) >= 2, 30, why=self.state)
        self.assertEqual(0, self.metric("weft_expected_topology_refused"))

    def test_a_crossed_cable_is_miscabled_with_the_planned_and_the_found_end_until_it_is_moved(self):
        self.assertEqual(planned_links(self.cables), self.links())
        wait_until(lambda: len(self.open_incidents()) >= 2, 30, why=self.state)
        found = self.client.json("/api/v1/incidents?state=open")["incidents"]
        self.assertEqual({"MISCABLED"}, {one["kind"] for one in found})
        said = "\n".join(fact["description"] for one in found for fact in one["evidence"])
        self.assertIn("leaf01 swp2 should be connected with gpu-02 eth1, found gpu-03 eth1", said)
        self.assertIn("gpu-02 eth1 should be connected with leaf01 swp2, found leaf02 swp1", said)
        told = self.weftctl("topology", "--differences", exit_code=1)
        self.assertIn("4 links are planned, 4 cables were found\n  2 cables lead elsewhere", told)
        self.net.pull(("leaf01", "swp2"), ("gpu-03", "eth1"))
        self.net.pull(("leaf02", "swp1"), ("gpu-02", "eth1"))
        self.net.plug(("leaf01", "swp2"), ("gpu-02", "eth1"))
        self.net.plug(("leaf02", "swp1"), ("gpu-03", "eth1"))
        wait_until(lambda: self.links() == planned_links(SMALL) and not self.open_incidents(), 60, why=self.state)
        self.assertIn("no differences", self.weftctl("topology", "--differences"))


class NoDiscovery(unittest.TestCase):
    def test_a_pattern_that_is_none_ends_the_start(self):
        with tempfile.TemporaryDirectory(prefix="weft-test-") as place:
            done = subprocess.run([program("weftd"), "--state-dir", place, "--infiniband-enabled", "false", "--ethernet-discovery", "true",
                                   "--ethernet-ignored-interfaces", "("], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("ethernet.ignored_interfaces", done.stderr)


if __name__ == "__main__":
    collector_testing.main()
