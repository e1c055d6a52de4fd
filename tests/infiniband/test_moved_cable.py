# SPDX-License-Identifier: Apache-2.0
"""The cable of weftd's own port is put into another subnet while weftd runs: the subnet from before is TELEMETRY_LOST under a name of its own."""

import unittest

import weft_testing
from weft_testing import fat_tree, simulated_subnet, wait_until

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
    def test_the_subnet_from_before_is_lost(self):
        weft_testing.require_simulator()
        network = two_trees()
        first = min(switch.guid for switch in network.switches if not switch.name.startswith("b-"))
        own, victim = network.find("gpu-0008 mlx5_0").identity, network.find("b-gpu-0005 mlx5_0")
        place = victim.ports[1]
        subnet = simulated_subnet.SimulatedSubnet(network)
        self.addCleanup(subnet.stop)
        subnet.start()
        weftd = weft_testing.Weftd(subnet.environment(own), extra=("--infiniband-ports", "one=ibsim0:1", "--analyzer-telemetry-start-grace", "5s"))
        self.addCleanup(weftd.stop)
        weftd.start()
        weftd.wait_sweeps(2)
        subnet.unlink(own, 1)
        lost = wait_until(lambda: next(iter(weftd.incidents("TELEMETRY_LOST")), None), 30, why=weftd.log)
        self.assertEqual("one", lost["cause"]["fabric"])
        subnet.unlink(victim.identity, 1)
        subnet.command(f'Link "{own}"[1] "{place.node}"[{place.port}]')
        kept = f"one@0x{first:016x}"
        fabrics = lambda: {each["name"]: each.get("watching", False) for each in weftd.client.json("/api/v1/fabrics")["fabrics"]}  # noqa: E731
        wait_until(lambda: fabrics() == {"one": True, kept: False}, 60, why=lambda: f"{fabrics()}\n{weftd.log()}")
        still = next(each for each in weftd.incidents("TELEMETRY_LOST") if each["cause"]["fabric"] == kept)
        self.assertEqual(lost["id"], still["id"], "it goes on")
        nodes = [node["name"] for node in weftd.client.json("/api/v1/topology?fabric=one")["nodes"]]
        self.assertEqual(["gpu-0008 mlx5_0"], [name for name in nodes if not name.startswith("b-")])


if __name__ == "__main__":
    weft_testing.main()
