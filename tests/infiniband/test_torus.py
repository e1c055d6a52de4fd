# SPDX-License-Identifier: Apache-2.0
"""Which link of a torus may go is what OpenSM's engine torus-2QoS can still route: the guards say beforehand what OpenSM says when it is
done all the same."""

import os
import tempfile

import weft_testing
from weft_testing import netfile, wait_until, weftctl

RADIX = (6, 5)


class Torus2Qos(weft_testing.SubnetTest):
    infiniband = '[remedy]\nrouting_engine = "torus-2QoS"\n'
    routing = "torus-2QoS"

    @classmethod
    def make_network(cls):
        """Switches "s-<x>-<y>", each with a host: port 1 leads to the next in x, port 3 to the next in y."""
        network = netfile.Network()
        switches = {}
        for y in range(RADIX[1]):
            for x in range(RADIX[0]):
                at = (y * 16 + x) * 16
                switches[x, y] = network.add(netfile.SWITCH, 0x0EC0DE0600000000 + at, 8, f"s-{x}-{y}")
                host = network.add(netfile.ADAPTER, 0x0EC0DE0700000000 + at, 1, f"gpu-{x}-{y} mlx5_0")
                network.connect(host, 1, switches[x, y], 8)
        for (x, y), switch in switches.items():
            network.connect(switch, 1, switches[(x + 1) % RADIX[0], y], 2)
            network.connect(switch, 3, switches[x, (y + 1) % RADIX[1]], 4)
        folder = tempfile.mkdtemp(prefix="weft-torus-")
        cls.addClassCleanup(lambda: (os.unlink(configuration), os.rmdir(folder)))
        configuration = os.path.join(folder, "torus-2QoS.conf")
        with open(configuration, "w", encoding="ascii") as stream:
            stream.write(f"torus {RADIX[0]} {RADIX[1]} 1\n"
                         f"xp_link {switches[0, 0].guid:#x} {switches[1, 0].guid:#x}\n"
                         f"yp_link {switches[0, 0].guid:#x} {switches[0, 1].guid:#x}\n")
        cls.opensm_options = ("--torus_config", configuration, "-Q")
        return network

    def look(self, label: str) -> str:
        """What every guard says of isolating the link."""
        seen = weftctl(self.weftd, "isolate", label, "--dry-run")
        self.assertIn("preview: nothing is done yet", seen.stdout, seen.stderr)
        return seen.stdout

    def opensm_says(self, words: str) -> bool:
        with open(self.subnet.opensm_log, encoding="utf-8", errors="replace") as stream:
            return words in stream.read()

    def cut(self, switch: str, port: int) -> None:
        self.subnet.unlink(switch, port)
        self.expect("LINK_DOWN", lambda incident: self.is_link(incident, self.link(switch, port)))

    def test_guards_and_opensm_agree(self):
        seen = self.look("s-2-2:1")
        self.assertRegex(seen, r"ALTERNATIVE +passed +.*torus")
        self.assertRegex(seen, r"ROUTING +passed +no ring would be broken at more than one place")
        self.assertRegex(seen, r"BISECTION +passed +.* would keep 9 of 10")

        self.cut("s-2-2", 1)
        wait_until(lambda: self.opensm_says("w/ 89 links"), why="OpenSM does not build the torus without the link")
        self.assertFalse(self.opensm_says("disjoint failures"))
        self.assertRegex(self.look("s-0-1:1"), r"ROUTING +passed")
        self.assertRegex(self.look("s-2-1:3"), r"ROUTING +passed")
        self.assertRegex(self.look("s-5-2:1"), r"ROUTING +REFUSED +its ring would be broken at 2 places")

        self.cut("s-5-2", 1)
        wait_until(lambda: self.opensm_says("disjoint failures in x ring at y=2"), why="OpenSM routes it all the same")
        self.assertRegex(self.look("s-0-4:1"), r"ROUTING +REFUSED +a ring of s-\d-2 is already in pieces")


if __name__ == "__main__":
    weft_testing.main()
