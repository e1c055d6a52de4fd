# SPDX-License-Identifier: Apache-2.0
"""The cable of weftd's own port is put into another subnet while weftd runs: the subnet from before is TELEMETRY_LOST under a name of its own."""

import os
import signal
import subprocess
import unittest

import weft_testing
from weft_testing import fat_tree, netfile, simulated_subnet, wait_until

OTHER = 0x100000


def two_trees():
    """Two subnets in one simulator, with no cable between them; names of the second one begin with "b-"."""
    network = fat_tree.build(8, rails=1, radix=8)
    before = {name: getattr(fat_tree, name) for name in dir(fat_tree) if name.endswith("_GUIDS")}
    try:
        for name, value in before.items():
            setattr(fat_tree, name, value + OTHER)
        other = fat_tree.build(8, rails=1, radix=8)
    finally:
        for name, value in before.items():
            setattr(fat_tree, name, value)
    for node in other.nodes.values():
        node.name = "b-" + node.name
        network.nodes[node.identity] = node
    return network


class MovedCable(unittest.TestCase):
    def setUp(self):
        weft_testing.require_simulator()
        network = two_trees()
        first = min(switch.guid for switch in network.switches if not switch.name.startswith("b-"))
        self.spare = network.add(netfile.SWITCH, 0x0002c90300990000, 8, "spare-leaf")
        self.own, self.victim = network.find("gpu-0008 mlx5_0").identity, network.find("b-gpu-0005 mlx5_0")
        self.home, self.place = network.find("gpu-0008 mlx5_0").ports[1], self.victim.ports[1]
        self.kept = f"one@0x{first:016x}"
        self.subnet = simulated_subnet.SimulatedSubnet(network)
        self.addCleanup(self.subnet.stop)
        self.subnet.start()
        self.weftd = weft_testing.Weftd(self.subnet.environment(self.own),
                                        extra=("--infiniband-ports", "one=ibsim0:1", "--analyzer-telemetry-start-grace", "5s"))
        self.addCleanup(self.weftd.stop)
        self.weftd.start()
        self.weftd.wait_sweeps(2)

    def fabrics(self) -> dict:
        return {each["name"]: each.get("watching", False) for each in self.weftd.client.json("/api/v1/fabrics")["fabrics"]}

    def expect_another(self) -> tuple[dict, list[str]]:
        wait_until(lambda: self.fabrics() == {"one": True, self.kept: False}, 60, why=lambda: f"{self.fabrics()}\n{self.weftd.log()}")
        lost = wait_until(lambda: next((each for each in self.weftd.incidents("TELEMETRY_LOST") if each["cause"]["fabric"] == self.kept), None),
                          30, why=self.weftd.log)
        return lost, sorted(node["name"] for node in self.weftd.client.json("/api/v1/topology?fabric=one")["nodes"])

    def test_the_subnet_from_before_is_lost(self):
        self.subnet.unlink(self.own, 1)
        lost = wait_until(lambda: next(iter(self.weftd.incidents("TELEMETRY_LOST")), None), 30, why=self.weftd.log)
        self.assertEqual("one", lost["cause"]["fabric"])
        self.subnet.unlink(self.victim.identity, 1)
        self.subnet.command(f'Link "{self.own}"[1] "{self.place.node}"[{self.place.port}]')
        still, nodes = self.expect_another()
        self.assertEqual(lost["id"], still["id"], "it goes on")
        self.assertEqual(["gpu-0008 mlx5_0"], [name for name in nodes if not name.startswith("b-")])
        # Each way again, in no time: nothing of the two is mixed. In the other one no link was ever up: it is not kept.
        for place, expected in ((self.home, {"one": True}), (self.place, {"one": True, self.kept: False}), (self.home, {"one": True})):
            self.subnet.unlink(self.own, 1)
            self.subnet.command(f'Link "{self.own}"[1] "{place.node}"[{place.port}]')
            wait_until(lambda expected=expected: self.fabrics() == expected, 60, why=lambda: f"{self.fabrics()}\n{self.weftd.log()}")
            self.weftd.wait_sweeps(3)
            nodes = [node["name"] for node in self.weftd.client.json("/api/v1/topology?fabric=one")["nodes"]]
            self.assertEqual({place is self.place}, {name.startswith("b-") for name in nodes if not name.startswith("gpu-0008")}, nodes)
        self.assertEqual([], self.weftd.incidents("DUPLICATE_GUID", open_only=False))

    def test_between_two_sweeps(self):
        children = subprocess.run(["pgrep", "--parent", str(self.weftd.process.pid), "weft-sweeper"], capture_output=True, text=True, check=True)
        sweeper = int(children.stdout)
        os.kill(sweeper, signal.SIGSTOP)
        self.subnet.unlink(self.own, 1)
        self.subnet.command(f'Link "{self.own}"[1] "{self.spare.identity}"[1]')
        os.kill(sweeper, signal.SIGCONT)
        self.assertEqual(["gpu-0008 mlx5_0", "spare-leaf"], self.expect_another()[1])


if __name__ == "__main__":
    weft_testing.main()
