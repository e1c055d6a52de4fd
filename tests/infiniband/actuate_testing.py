# SPDX-License-Identifier: Apache-2.0
"""What the tests of actuators on a simulated subnet share: the driver, links by name, and waiting for real forwarding tables."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import weft_testing
from weft_testing import fat_tree, guid_text, program, simulated_subnet, wait_until

from physical_layer import PhysicalLayer, Snapshot  # noqa: F401

DRIVER = os.path.join(weft_testing.BUILD, "tests", "actuate_driver")


class Driver:
    """actuate_driver at one host of the subnet. An answer is a dictionary; "error" in it: it failed."""

    def __init__(self, subnet, host: str, **settings):
        self.directory = tempfile.mkdtemp(prefix="weft-driver-", dir=subnet.directory)
        arguments = [DRIVER, self.directory, *(f"{name}={value}" for name, value in settings.items())]
        self.process = subprocess.Popen(arguments, env=subnet.environment(host), cwd=self.directory, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, *words) -> dict:
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the driver ended with {self.process.wait()} at: {words}")
        return json.loads(line)

    def stop(self) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class ActuateTest(unittest.TestCase):
    """A three-level fat tree of 144 hosts with OpenSM, a physical layer and a driver at the last host."""

    routing = "updn"
    opensm_options: tuple[str, ...] = ()
    subnet: simulated_subnet.SimulatedSubnet

    @classmethod
    def make_network(cls):
        return fat_tree.build(144, rails=1, levels=3, radix=12)

    @classmethod
    def settings(cls) -> dict:
        return {"port_program": program("weft-port")}

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator("ibportstate")
        cls.subnet = simulated_subnet.SimulatedSubnet(cls.make_network(), routing=cls.routing, opensm_options=cls.opensm_options)
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start()
        cls.host = cls.subnet.network.hosts()[-1]
        layer = PhysicalLayer(cls.subnet)
        layer.__enter__()
        cls.addClassCleanup(layer.__exit__, None, None, None)
        cls.layer = layer
        cls.driver = Driver(cls.subnet, cls.host.identity, **cls.settings())
        cls.addClassCleanup(cls.driver.stop)
        cls.sweep()

    @classmethod
    def sweep(cls, count: int = 1) -> dict:
        answer = cls.driver.ask("sweep", count)
        assert "error" not in answer, answer
        return answer

    # -- links

    def ends(self, name: str, port: int) -> tuple[tuple[str, int], tuple[str, int]]:
        """Both ends as the simulator names them, the given one first."""
        node = self.subnet.network.find(name)
        end = node.ports[port]
        return (node.identity, port), (end.node, end.port)

    def link(self, name: str, port: int) -> list[str]:
        return [word for identity, number in self.ends(name, port)
                for word in (guid_text(self.subnet.network.nodes[identity].guid), str(number))]

    def port_between(self, name: str, peer: str) -> int:
        identity = self.subnet.network.find(peer).identity
        return next(number for number, end in sorted(self.subnet.network.find(name).ports.items()) if end.node == identity)

    def physical(self, end: tuple[str, int]) -> str:
        return Snapshot.of(self.subnet).ports[end].physical

    # -- waiting

    def expect_rerouted(self, ends, link) -> None:
        """No table of the simulator's switches leads over the link, every pair is joined all the same; then ours say so, too."""
        def gone():
            snapshot = Snapshot.of(self.subnet)
            pairs, lost = snapshot.reach()
            return not lost and pairs > 0 and not any(snapshot.routed_over(end) for end in ends)

        wait_until(gone, why="OpenSM does not route round the link")

        def ours():
            self.sweep()
            told = self.driver.ask("check", *link)
            return told if not told["routed"] and told["lost"] == 0 and told["unknown"] == 0 else None

        told = wait_until(ours, why=lambda: f"our tables say {self.driver.ask('check', *link)}")
        self.assertEqual(0, told["loop"])
        self.assertEqual(len(Snapshot.of(self.subnet).adapters()) * (len(Snapshot.of(self.subnet).adapters()) - 1), told["pairs"])

    def expect_used(self, ends, link) -> None:
        def used():
            snapshot = Snapshot.of(self.subnet)
            return all(snapshot.ports[end].state == "Active" and snapshot.routed_over(end) for end in ends)

        wait_until(used, why="the link does not come back into the tables")

        def ours():
            self.sweep()
            told = self.driver.ask("check", *link)
            return told if told["routed"] and told["lost"] == 0 and told["unknown"] == 0 else None

        told = wait_until(ours, why=lambda: f"our tables say {self.driver.ask('check', *link)}")
        self.assertEqual(0, told["loop"])


def main() -> None:
    weft_testing.main()


if __name__ == "__main__":
    sys.exit("this is no test")
