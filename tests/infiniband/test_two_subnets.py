# SPDX-License-Identifier: Apache-2.0
"""One weftd watches two subnets: each is its own fabric, and what befalls one leaves the other alone."""

import ctypes
import os
import signal
import time

import weft_testing
from weft_testing import fat_tree, simulated_subnet

PTRACE_SEIZE, WALL = 0x4206, 0x40000000  # linux/ptrace.h, linux/wait.h


class TwoSubnets(weft_testing.SeveralSubnets):
    """A machine with adapters on two subnets, as weft-sweeper sees it: each one's simulator is chosen by the fabric's name."""

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        cls.weftd = None
        cls.subnets = {}
        try:
            for name, adapters in (("compute", 32), ("storage", 16)):
                cls.subnets[name] = simulated_subnet.SimulatedSubnet(fat_tree.build(adapters, rails=2, radix=16))
                cls.subnets[name].start()
            environment = dict(os.environ)
            cls.weftd = weft_testing.Weftd(environment)
            # A simulated client has one port, so the second one stands for the first one of the other simulator.
            sweeper = weft_testing.write_chooser(os.path.join(cls.weftd.place, "sweeper"), "weft-sweeper", {
                f"--fabric {name}": subnet.environment(subnet.network.hosts()[-1].identity) for name, subnet in cls.subnets.items()},
                "--port", "1")
            cls.weftd.extra = ("--infiniband-ports", "compute=ibsim0:1,storage=ibsim0:2", "--infiniband-sweeper", sweeper)
            cls.weftd.start()
            cls.wait_watched()
        except BaseException:
            cls.tearDownClass()
            raise

    def test_1_each_has_its_own_nodes(self):
        fabrics = self.fabrics()
        for name, subnet in self.subnets.items():
            adapters = len(subnet.network.hosts())
            self.assertEqual(adapters, fabrics[name]["adapters"])
            self.assertEqual(len(subnet.network.nodes) - adapters, fabrics[name]["switches"])

    def test_2_a_fault_is_reported_in_its_own_fabric(self):
        subnet = self.subnets["storage"]
        leaf = next(node for node in subnet.network.nodes.values() if node.name.startswith("leaf"))
        port = max(leaf.ports)
        subnet.unlink(leaf.name, port)
        incident = weft_testing.wait_until(lambda: next(iter(self.weftd.incidents("LINK_DOWN")), None), why="no LINK_DOWN")
        self.assertEqual("storage", incident["cause"]["fabric"])
        subnet.relink(leaf.name, port)
        weft_testing.wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.weftd.incidents()}")

    def test_3_losing_one_leaves_the_other_alone(self):
        self.subnets["storage"].kill_opensm()
        self.subnets["storage"].kill_ibsim()
        incident = weft_testing.wait_until(lambda: next(iter(self.weftd.incidents("TELEMETRY_LOST")), None), why="no TELEMETRY_LOST")
        self.assertEqual("storage", incident["cause"]["fabric"])
        before = int(self.fabrics()["compute"]["lastSweep"]["number"])
        weft_testing.wait_until(lambda: int(self.fabrics()["compute"]["lastSweep"]["number"]) > before + 3,
                                why="the other subnet is not swept any more")
        self.assertTrue(self.fabrics()["compute"]["watching"])
        self.assertFalse(self.fabrics()["storage"]["watching"])
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()])
        self.subnets["storage"].start()
        weft_testing.wait_until(lambda: not self.weftd.incidents(), 90, why=lambda: f"still open: {self.weftd.incidents()}")

    def sweeper_of(self, fabric: str) -> int:
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as words, open(f"/proc/{entry}/stat", encoding="utf-8") as stat_line:
                    parent = int(stat_line.read().rsplit(")", 1)[1].split()[1])
                    if parent == self.weftd.process.pid and f"--fabric\0{fabric}\0".encode() in words.read():
                        return int(entry)
            except OSError:
                pass  # no process, or it ended meanwhile
        raise AssertionError(f"{fabric} has no sweeper")

    def test_4_a_sweeper_that_does_not_end_leaves_the_other_alone(self):
        """Uninterruptible sleep cannot be made here. A process that a debugger holds is as deaf to SIGKILL, as its parent sees it."""
        sweeper = self.sweeper_of("storage")
        if ctypes.CDLL(None, use_errno=True).ptrace(PTRACE_SEIZE, sweeper, None, None) != 0:
            self.skipTest("no right to hold a process")
        held = True
        try:
            os.kill(sweeper, signal.SIGKILL)
            weft_testing.wait_until(lambda: "weft_unkillable_processes 1\n" in self.weftd.metrics(), why="it is not told")
            weft_testing.wait_until(lambda: not self.fabrics()["storage"]["watching"], why="storage is watched by nobody")
            before, begun = int(self.fabrics()["compute"]["lastSweep"]["number"]), time.monotonic()
            weft_testing.wait_until(lambda: int(self.fabrics()["compute"]["lastSweep"]["number"]) > before + 10,
                                    why="the other subnet is not swept any more")
            self.assertLess(time.monotonic() - begun, 30, "the other subnet waits for the sweeper that does not end")
            told = f"process {sweeper} ({self.weftd.place}/sweeper) was killed and does not end"
            self.assertEqual(1, self.weftd.log().count(told), "it is logged once")
            os.waitpid(sweeper, WALL)  # the debugger lets it go
            held = False
        finally:
            if held:
                os.waitpid(sweeper, WALL)
        weft_testing.wait_until(lambda: "weft_unkillable_processes 0\n" in self.weftd.metrics(), why="it was not reaped")
        self.assertFalse(os.path.exists(f"/proc/{sweeper}"), "a zombie is left")
        weft_testing.wait_until(lambda: self.fabrics()["storage"]["watching"], 90, why="storage is not watched again")


if __name__ == "__main__":
    weft_testing.main()
