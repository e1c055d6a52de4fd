# SPDX-License-Identifier: Apache-2.0
"""Links and nodes broken through ibsim's console: the right kind, the right name, within two sweeps, and an end."""

import os
import re
import tempfile
import unittest

import weft_testing
from weft_testing import fat_tree


class LinkFaults(weft_testing.SubnetTest):
    # The damping's shape with times that a test can wait for.
    analyzer = 'flap_fast.half_life = "4s"\n[incidents]\nrepeat_count = 2'
    TRUNK = ("leaf-r0-p01", 10)
    OTHER_TRUNK = ("leaf-r1-p02", 13)
    ADAPTER = "gpu-0003 mlx5_1"

    def tearDown(self):
        super().tearDown()
        self.expect_quiet(sweeps=1)

    def test_unplugged_trunk(self):
        self.subnet.unlink(*self.TRUNK)
        incident = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*self.TRUNK)))
        self.assertEqual(1, len(self.weftd.incidents()), self.shown())
        self.assertTrue(incident["evidence"])
        self.assertIn("leaf-r0-p01", incident["cause"]["label"])
        down = self.weftd.ports("leaf-r0-p01")[self.TRUNK[1]]
        self.assertEqual("DOWN", down["state"])
        self.assertEqual("spine-01", down["peer"]["node"], "the other end stays known while the link is down")
        self.subnet.relink(*self.TRUNK)
        self.expect_resolved(incident)

    def test_the_same_link_again_opens_the_same_incident(self):
        names = lambda incident: self.is_link(incident, self.link(*self.OTHER_TRUNK))  # noqa: E731
        ids = set()
        for _ in range(2):
            self.subnet.unlink(*self.OTHER_TRUNK)
            incident = self.expect("LINK_DOWN", names)
            ids.add(incident["id"])
            self.subnet.relink(*self.OTHER_TRUNK)
            last = self.expect_resolved(incident)
        self.assertEqual(1, len(ids))
        self.assertGreaterEqual(last["occurrences"], 2)
        self.assertRegex(last["summary"], r"; the \d+(nd|rd|th) time in 7 days")
        told = weft_testing.weftctl(self.weftd, "incident", last["id"])
        self.assertRegex(told.stdout, r"first seen  2\d{3}-.* UTC, ")
        self.assertRegex(told.stdout, r" UTC  reopened, [A-Z]+: .*; the \d+(nd|rd|th) time in 7 days\n")
        # Whatever it said at its end: the subnet manager may have been slow.
        self.assertRegex(last["headline"], r" is down, .*; the \d+(nd|rd|th) time in 7 days$")

    def test_unplugged_adapter(self):
        self.subnet.unlink(self.ADAPTER, 1)
        incident = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(self.ADAPTER, 1)))
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        health = self.weftd.client.json("/api/v1/nodes/gpu-0003/health")
        self.assertNotEqual("HEALTHY", health["verdict"])
        self.assertIn(health["recommendedAction"], ("AVOID_NEW_JOBS", "DRAIN"))
        self.assertEqual([incident["id"]], [reason["incidentId"] for reason in health["reasons"]])
        self.subnet.relink(self.ADAPTER, 1)
        self.expect_resolved(incident)
        weft_testing.wait_until(lambda: self.weftd.client.json("/api/v1/nodes/gpu-0003/health")["verdict"] == "HEALTHY",
                                why="gpu-0003 does not become healthy again")

    def test_host_gone_is_one_incident(self):
        for rail in range(2):
            self.subnet.unlink(f"gpu-0005 mlx5_{rail}", 1)
        incident = self.expect("NODE_DOWN", lambda i: "gpu-0005" in i["cause"].get("label", ""))
        self.weftd.wait_sweeps(2)
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        self.assertEqual("UNHEALTHY", self.weftd.client.json("/api/v1/nodes/gpu-0005/health")["verdict"])
        for rail in range(2):
            self.subnet.relink(f"gpu-0005 mlx5_{rail}", 1)
        self.expect_resolved(incident)

    def test_switch_cut_off_is_one_incident(self):
        self.subnet.unlink("spine-02")
        incident = self.expect("SWITCH_DOWN", lambda i: self.is_node(i, "spine-02"))
        self.weftd.wait_sweeps(2)
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        self.subnet.relink("spine-02")
        self.expect_resolved(incident)

    def test_switch_that_comes_back_is_not_taken_for_a_second_one(self):
        """One of its links was down before it was cut off: what was known of that end is old when it answers again."""
        before = {i["id"] for i in self.weftd.incidents(open_only=False)}
        self.subnet.unlink("leaf-r0-p02", 15)
        self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r0-p02", 15)))
        self.subnet.unlink("spine-02")
        self.expect("SWITCH_DOWN", lambda i: self.is_node(i, "spine-02"))
        self.subnet.relink("spine-02")
        weft_testing.wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.shown()}")
        opened = [i for i in self.weftd.incidents(open_only=False) if i["id"] not in before]
        self.assertNotIn("DUPLICATE_GUID", {i["kind"] for i in opened}, [i["summary"] for i in opened])

    def test_five_flaps(self):
        link = self.link("leaf-r0-p02", 11)
        for _ in range(5):
            self.subnet.unlink("leaf-r0-p02", 11)
            self.weftd.wait_sweeps(1)
            self.subnet.relink("leaf-r0-p02", 11)
            weft_testing.wait_until(lambda: self.weftd.ports("leaf-r0-p02")[11]["state"] == "ACTIVE", why="OpenSM does not take it up")
        incident = self.expect("LINK_FLAP", lambda i: self.is_link(i, link))
        self.expect_resolved(incident)

    def test_flaps_between_two_sweeps(self):
        """Up at every look, but LinkDowned moved on both ends."""
        link = self.link("leaf-r1-p01", 12)
        peer, port = "spine-01", self.network.find("leaf-r1-p01").ports[12].port
        for name, number in (("leaf-r1-p01", 12), (peer, port)):
            self.subnet.set_counter(name, number, "PortCounters.LinkDownedCounter", 1)
        self.weftd.wait_sweeps(2)
        for count in range(2, 7):
            for name, number in (("leaf-r1-p01", 12), (peer, port)):
                self.subnet.set_counter(name, number, "PortCounters.LinkDownedCounter", count)
            self.weftd.wait_sweeps(0)
        incident = self.expect("LINK_FLAP", lambda i: self.is_link(i, link))
        self.expect_resolved(incident)


class LinkAtOneLane(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        network = fat_tree.build(32, rails=2, radix=16)
        network.set_width(network.find("leaf-r0-p01").identity, 9, 1)
        return network

    def test_is_degraded_until_it_comes_up_wide(self):
        incident = self.expect("LINK_DEGRADED", lambda i: self.is_link(i, self.link("leaf-r0-p01", 9)))
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        self.assertEqual("1X", self.weftd.ports("leaf-r0-p01")[9]["width"])
        # The cable is changed for a good one: the same fabric with that link at four lanes.
        self.subnet.kill_opensm()
        self.subnet.kill_ibsim()
        self.network.set_width(self.network.find("leaf-r0-p01").identity, 9, 4)
        self.subnet.start()
        self.expect_resolved(incident)
        self.assertEqual("4X", self.weftd.ports("leaf-r0-p01")[9]["width"])


class WrongCables(weft_testing.SubnetTest):
    """Two cables of the fabric are crossed with respect to the expected topology."""

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        expected = fat_tree.build(32, rails=2, radix=16)
        cls.addClassCleanup(cls._remove_expected)
        cls.expected_path = tempfile.mkstemp(prefix="weft-expected-")[1]
        with open(cls.expected_path, "w", encoding="utf-8") as stream:
            expected.write(stream)
        cls.infiniband = f'expected_topology = "{cls.expected_path}"'
        super().setUpClass()

    @classmethod
    def _remove_expected(cls):
        os.unlink(cls.expected_path)

    @classmethod
    def make_network(cls):
        network = fat_tree.build(32, rails=2, radix=16)
        leaf = network.find("leaf-r0-p01")
        first, second = (network.find(f"gpu-000{number} mlx5_0") for number in (2, 3))
        network.connect(leaf, first.ports[1].port, second, 1)
        network.connect(leaf, 3, first, 1)
        return network

    def test_are_named(self):
        found = weft_testing.wait_until(lambda: self.weftd.incidents("MISCABLED"), why=lambda: f"no MISCABLED: {self.shown()}")
        text = " ".join(str(incident) for incident in found)
        for words in ("gpu-0002", "gpu-0003", "leaf-r0-p01"):
            self.assertIn(words, text)
        self.assertEqual({"MISCABLED"}, {incident["kind"] for incident in self.weftd.incidents()}, self.shown())

    def test_are_listed(self):
        shown = weft_testing.wait_until(lambda: (found := weft_testing.weftctl(self.weftd, "topology", "--differences")).returncode == 1 and found,
                                        why="no differences")
        self.assertRegex(shown.stdout, r"^\S+: \d+ links are planned\n  2 cables lead elsewhere\n\n")
        self.assertRegex(shown.stdout, r"leads elsewhere +leaf-r0-p01 port 3 +gpu-0002 mlx5_0 port 1 +gpu-0003 mlx5_0 port 1 +leaf-r0-p01 port 2\n")
        differences = self.weftd.client.json("/api/v1/topology/differences")["fabrics"]
        self.assertEqual([2], [fabric["misledCount"] for fabric in differences])
        self.assertEqual(1, self.weftd.log().count("; 2 cables lead elsewhere"))

    def metric(self, name: str) -> float:
        return float(re.search(rf'^{name}{{link_layer="InfiniBand"}} (\S+)$', self.weftd.metrics(), re.MULTILINE)[1])

    def write_plan(self, text: str) -> None:
        with open(self.expected_path + ".new", "w", encoding="utf-8") as stream:
            stream.write(text)
        os.rename(self.expected_path + ".new", self.expected_path)

    def test_are_planned_by_a_new_file(self):
        """As a table in names; before it one that is no good, which changes nothing."""
        nodes = self.network.nodes
        header = "start device,start port,end device,end port\n"
        cables = [f"{node.name},{port},{nodes[end.node].name},Port {end.port}\n"
                  for node in nodes.values() for port, end in node.ports.items() if (node.guid, port) < (nodes[end.node].guid, end.port)]
        weft_testing.wait_until(lambda: self.weftd.incidents("MISCABLED"), why="no MISCABLED")
        planned = self.metric("weft_expected_topology_links")
        self.write_plan(header + "leaf-r0-p01,1,gpu-0001,1/1/1\n")
        weft_testing.wait_until(lambda: self.metric("weft_expected_topology_refused") == 1, why="a bad plan is not refused")
        self.assertIn(f'{self.expected_path}: line 2: "1/1/1" is not a port of "gpu-0001"', self.weftd.log())
        self.assertEqual(planned, self.metric("weft_expected_topology_links"))
        self.assertTrue(self.weftd.incidents("MISCABLED"))
        self.write_plan(header + "".join(cables))
        weft_testing.wait_until(lambda: self.metric("weft_expected_topology_refused") == 0, why="a good plan is refused")
        self.assertEqual(len(cables), self.metric("weft_expected_topology_links"))
        self.assertIn(f"expected topology reloaded: {len(cables)} links are planned", self.weftd.log())
        self.expect_quiet(sweeps=1)
        shown = weft_testing.weftctl(self.weftd, "topology", "--differences")
        self.assertEqual((0, f"{self.weftd.fabric()['name']}: {len(cables)} links are planned\n  no differences\n"), (shown.returncode, shown.stdout))
        # Each host has two adapters.
        line = next(number for number, cable in enumerate(cables, 2) if "gpu-0001 mlx5_0,1" in cable)
        self.write_plan(header + "".join(cables).replace("gpu-0001 mlx5_0,1", "gpu-0001,1"))
        why = r"gpu-0001 is the name of more than one node, 0x\w+ and 0x\w+: write the adapter or the GUID"
        self.wait_for_difference(rf"  1 cable of the plan is not used\n\nnot used:\n  line {line}: .*gpu-0001:1.*: {why}\n")
        self.assertRegex(self.weftd.log(), rf"line {line} of the expected topology is not used: .*gpu-0001:1.*: {why}\n")
        self.write_plan(header + "".join(cables))
        self.subnet.unlink("leaf-r0-p01", 9)
        self.wait_for_difference(r"  1 planned link is down\n\n.*\ndown .*leaf-r0-p01 port 9 ")
        self.subnet.relink("leaf-r0-p01", 9)
        self.expect_quiet(sweeps=1)

    def wait_for_difference(self, pattern: str) -> None:
        shown = lambda: weft_testing.weftctl(self.weftd, "topology", "--differences")  # noqa: E731
        weft_testing.wait_until(lambda: (found := shown()).returncode == 1 and re.search(pattern, found.stdout), every=0.5, why=lambda: shown().stdout)


if __name__ == "__main__":
    weft_testing.main()
