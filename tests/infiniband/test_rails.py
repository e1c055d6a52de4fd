# SPDX-License-Identifier: Apache-2.0
"""Rails that only hosts join: adapter <n> of each host is on rail n, which has no switch in common with another rail. On InfiniBand each rail
is a subnet with a subnet manager of its own, and a fabric of its own to the one weftd that watches them all. It isolates by itself within a
rail that has spines, and never what has no other way."""

import os
import unittest

import weft_testing
from physical_layer import PhysicalLayer, Snapshot
from weft_testing import netfile, preview, simulated_subnet, verdict, wait_until, weftctl, weftctl_json

HOSTS, SPINES = 4, 4
REMEDIES = """
[remedy]
isolate_link = "auto"
restore_link = "propose"
[remedy.infiniband_port]
program = "{port}"
[remedy.limits]
reading_interval = "200ms"
stale_intervals = 20
[remedy.limits.capacity]
leaf_share_idle = 0.75
rail_share = 0.85
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.breaker]
minimum = 20
[remedy.limits.verification]
windows = 2
within = "40s"
"""


def make_rail(rail: int, leaves: int, spines: int, across: int = 0) -> netfile.Network:
    """Ports 1 to `spines` of a leaf lead to the spines, the next `across` to the other leaf, the next ones to hosts."""
    network = netfile.Network()
    place = 0x0EC0DE0000000000 + (rail << 16)
    tops = [network.add(netfile.SWITCH, place + 0x300000000 + at * 16, leaves, f"spine-{rail}-{at}") for at in range(spines)]
    bottoms = [network.add(netfile.SWITCH, place + 0x200000000 + at * 16, spines + across + HOSTS, f"leaf-{rail}-{at}") for at in range(leaves)]
    for at, leaf in enumerate(bottoms):
        for number, top in enumerate(tops, 1):
            network.connect(leaf, number, top, at + 1)
    for number in range(spines + 1, spines + across + 1):
        network.connect(bottoms[0], number, bottoms[1], number)
    for host in range(HOSTS):
        adapter = network.add(netfile.ADAPTER, place + 0x700000000 + host * 16, 1, f"gpu-{host} mlx5_{rail}")
        network.connect(adapter, 1, bottoms[host * leaves // HOSTS], spines + across + host + 1)
    return network


class Rails(weft_testing.SeveralSubnets):
    RAILS = {"rail-0": (2, SPINES, 0), "rail-1": (2, SPINES, 0), "rail-2": (1, 0, 0), "rail-3": (2, 0, 2)}  # leaves, spines, cables across
    ACCESS = [("rail-0", "leaf-0-0", SPINES + 2), ("rail-2", "leaf-2-0", 2), ("rail-3", "leaf-3-0", 4)]  # of gpu-1: neither OpenSM nor weftd is there

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        weft_testing.require_programs("weft-port")
        cls.weftd, cls.subnets, cls.layers = None, {}, []
        try:
            for rail, (name, shape) in enumerate(cls.RAILS.items()):
                cls.subnets[name] = simulated_subnet.SimulatedSubnet(make_rail(rail, *shape))
                cls.subnets[name].start()
            own = {name: subnet.network.hosts()[-1] for name, subnet in cls.subnets.items()}
            cls.weftd = weft_testing.Weftd(dict(os.environ), 'error_window_minimum = "2s"', infiniband='rail_pattern = "mlx5_([0-9]+)"')
            # A simulated client has one port, so the others stand for the first one of another simulator.
            sweeper = weft_testing.write_chooser(os.path.join(cls.weftd.place, "sweeper"), "weft-sweeper", {
                f"--fabric {name}": cls.subnets[name].environment(host.identity) for name, host in own.items()}, "--port", "1")
            port = weft_testing.write_chooser(os.path.join(cls.weftd.place, "weft-port"), "weft-port", {
                f"--local-node {weft_testing.guid_text(host.guid)}": cls.subnets[name].environment(host.identity) for name, host in own.items()})
            with open(cls.weftd.configuration, "a", encoding="utf-8") as stream:
                stream.write(REMEDIES.format(port=port))
            ports = ",".join(f"{name}=ibsim0:{number}" for number, name in enumerate(cls.RAILS, 1))
            cls.weftd.extra = ("--infiniband-ports", ports, "--infiniband-sweeper", sweeper)
            cls.weftd.start()
            cls.wait_watched()
            for name in ("rail-0", "rail-1"):
                cls.layers.append(PhysicalLayer(cls.subnets[name]))
                cls.layers[-1].__enter__()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for layer in cls.layers:
            layer.__exit__(None, None, None)
        super().tearDownClass()

    def ends(self, rail: str, name: str, port: int) -> tuple:
        network = self.subnets[rail].network
        end = network.find(name).ports[port]
        return (name, port), (network.nodes[end.node].name, end.port)

    def plans_for(self, rail: str, name: str, port: int) -> list[dict]:
        """All that isolate the link, also those that are over."""
        numbers = {(weft_testing.guid_text(self.subnets[rail].network.find(node).guid), number) for node, number in self.ends(rail, name, port)}
        return [plan for plan in weftctl_json(self.weftd, "plans", "--all").get("plans", []) if plan["action"] == "ISOLATE_LINK" and
                {(plan["target"]["nodeGuid"], plan["target"]["port"]), (plan["target"]["peerGuid"], plan["target"]["peerPort"])} == numbers]

    def test_1_each_rail_is_a_fabric_with_a_shape_of_its_own(self):
        self.assertEqual(set(self.RAILS), set(self.fabrics()))
        for label in ("leaf-0-0:1", "leaf-1-1:4"):
            seen = preview(self.weftd, label)
            self.assertRegex(verdict(seen, "ALTERNATIVE"), r"passed +.*shape of the fabric: fat tree \(100 %")
            for guard in ("REACHABILITY", "LEAF_CAPACITY", "RAIL_CAPACITY"):
                self.assertRegex(verdict(seen, guard), "passed")
            self.assertNotIn("REFUSED", seen)
        seen = preview(self.weftd, "leaf-3-0:1")  # one of the two cables of a rail without spines
        self.assertRegex(verdict(seen, "ALTERNATIVE"), "needs a person +.*shape of the fabric: unclear.*: only a person may approve it")
        self.assertRegex(verdict(seen, "REACHABILITY"), "REFUSED +it does not connect two tiers of a fat tree")

    def test_2_a_link_of_an_adapter_is_refused(self):
        """A person's order is refused as well, and nothing is set."""
        for rail, leaf, port in self.ACCESS:
            said = verdict(preview(self.weftd, f"{leaf}:{port}"), "ALTERNATIVE")
            self.assertRegex(said, "REFUSED +an access link has no alternative path: drain its host instead")
            self.assertEqual(4, weftctl(self.weftd, "isolate", f"{leaf}:{port}", "--yes", "--reason", "a test").returncode)
            self.assertEqual("LinkUp", self.physical(rail, leaf, port))

    def test_3_automation_isolates_only_where_there_is_another_way(self):
        """All of these are bad at once."""
        uplinks = [("rail-0", "leaf-0-0", 1), ("rail-1", "leaf-1-1", 2)]
        others = [*self.ACCESS, ("rail-3", "leaf-3-0", 1)]
        errors, seen_bad = 0, set()

        def isolated():
            nonlocal errors
            errors = min(60_000, errors + 1_000)
            for rail, name, port in uplinks + others:
                for node, number in self.ends(rail, name, port):
                    self.subnets[rail].set_counter(node, number, "PortCounters.SymbolErrorCounter", errors)
            causes = [incident["cause"] for incident in self.weftd.incidents("LINK_ERRORS")]
            seen_bad.update(link for link in others for cause in causes
                            if cause["fabric"] == link[0] and cause["label"].startswith(f"{link[1]} port {link[2]} - "))
            return set(others) == seen_bad and all([plan["state"] for plan in self.plans_for(*link)] == ["COMMITTED"] for link in uplinks)

        wait_until(isolated, within=90, every=1, why=lambda: f"{seen_bad}\n{weftctl(self.weftd, 'plans', '--all').stdout}\n{self.weftd.log()[-3000:]}")
        for link in uplinks:
            self.assertEqual(["weftd"], [plan["approvedBy"] for plan in self.plans_for(*link)])
            self.assertIn("Disabled", {self.physical(link[0], *end) for end in self.ends(*link)})
        self.weftd.wait_sweeps(5)
        for link in others:
            self.assertEqual([], [plan["state"] for plan in self.plans_for(*link) if plan["state"] != "PROPOSED"])
            self.assertEqual({"LinkUp"}, {self.physical(link[0], *end) for end in self.ends(*link)})
        for link in uplinks:
            self.assertRegex(verdict(preview(self.weftd, f"{link[1]}:3"), "LEAF_CAPACITY"), f"REFUSED +{link[1]} would keep 2 of 4 .*; 3 are needed")
        # The other leaf could spare one, but the rail could not.
        for rail, label in ((0, "leaf-0-1:3"), (1, "leaf-1-0:3")):
            seen = preview(self.weftd, label)
            self.assertRegex(verdict(seen, "LEAF_CAPACITY"), "passed")
            self.assertRegex(verdict(seen, "RAIL_CAPACITY"), f"REFUSED +rail {rail} would keep 6 of 8 uplinks; 7 are needed")

    def physical(self, rail: str, name: str, port: int) -> str:
        subnet = self.subnets[rail]
        return Snapshot.of(subnet).ports[subnet.network.find(name).identity, port].physical


class EthernetRails(unittest.TestCase):
    """The same without a subnet manager: weftd knows the cables from a file, and that they are all of one fabric."""

    def test_the_fabric_is_rail_only(self):
        weftd = weft_testing.Weftd(dict(os.environ))
        self.addCleanup(weftd.stop)
        cabling = os.path.join(weftd.place, "topology.dot")
        with open(cabling, "w", encoding="ascii") as stream:
            stream.write("graph fabric {\n")
            for rail in (0, 1):
                for leaf in (0, 1):
                    for spine in range(SPINES):
                        stream.write(f'  "leaf-{rail}-{leaf}":"swp{spine + 1}" -- "spine-{rail}-{spine}":"swp{leaf + 1}"\n')
                for host in range(HOSTS):
                    stream.write(f'  "leaf-{rail}-{host // 2}":"swp{SPINES + host + 1}" -- "gpu-{host}":"eth{rail}"\n')
            stream.write("}\n")
        weftd.extra = ("--infiniband-enabled", "false", "--cabling", cabling)
        weftd.start()
        seen = preview(weftd, "leaf-0-0:swp1")
        self.assertIn(f"shape of the fabric: rail-only trees (2 separate trees, joined by {HOSTS} hosts only)", verdict(seen, "ALTERNATIVE"))
        self.assertRegex(verdict(seen, "FRESH_DATA"), "REFUSED +the link's ends are not read now", "no collector reports")
        self.assertRegex(verdict(preview(weftd, "leaf-0-0:swp5"), "ALTERNATIVE"), "REFUSED +an access link has no alternative path")


if __name__ == "__main__":
    weft_testing.main()
