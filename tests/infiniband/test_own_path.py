# SPDX-License-Identifier: Apache-2.0
"""The subnet manager's way into the fabric is never taken out: OpenSM sits behind a switch of its own that hangs by one cable, and the
whole rest of the fabric would lose it."""

import weft_testing
from weft_testing import fat_tree, netfile, weftctl


class SubnetManagersWay(weft_testing.SubnetTest):
    infiniband = "[remedy.limits]\nmissing_share = 0.5\n"

    @classmethod
    def make_network(cls):
        network = fat_tree.build(32, rails=1, radix=16)
        manager = network.hosts()[0]  # where OpenSM sits
        leaf, port = network.nodes[manager.ports[1].node], manager.ports[1].port
        aside = network.add(netfile.SWITCH, 0x0EC0DE0500000100, 4, "management")
        network.connect(leaf, port, aside, 1)
        network.connect(aside, 2, manager, 1)
        cls.leaf_port = f"{leaf.name}:{port}"
        return network

    def refused(self, label: str) -> str:
        done = weftctl(self.weftd, "isolate", label, "--reason", "a mistake")
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)
        self.assertIn("OWN_PATH", done.stderr)
        return done.stderr

    def test_stays(self):
        manager = self.network.hosts()[0].name
        self.assertIn("the last path to a part of the fabric", self.refused(self.leaf_port))
        self.assertIn(manager, self.refused("management:1"))
        self.assertIn("the subnet manager's path", self.refused("management:2"))
        # Cut off by somebody else, it routes round nothing any more.
        self.subnet.unlink("management", 1)
        self.expect("LINK_DOWN", lambda incident: self.is_link(incident, self.link("management", 1)))
        self.assertIn("is unreachable and could not reroute", self.refused("spine-01:2"))


if __name__ == "__main__":
    weft_testing.main()
