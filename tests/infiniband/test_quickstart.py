# SPDX-License-Identifier: Apache-2.0
"""deploy/quickstart on a simulated subnet: --once, any topology, Ctrl-C, and what it says when it cannot."""

import os
import signal
import subprocess
import tempfile
import unittest

import weft_testing
from weft_testing import fat_tree, free_address, wait_until

QUICKSTART = os.path.join(weft_testing.ROOT, "deploy", "quickstart")


def left_of(pid: int) -> list[str]:
    """Processes that still run on the subnet of the quickstart that had this process id."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as stream:
                    if f"IBSIM_SOCKNAME=weft-{pid}-".encode() in stream.read():
                        with open(f"/proc/{name}/comm", encoding="utf-8") as comm:
                            found.append(comm.read().strip())
            except OSError:
                pass
    return found


class Quickstart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()

    def start(self, *arguments: str) -> subprocess.Popen:
        log = tempfile.NamedTemporaryFile("w+", prefix="weft-quickstart-", suffix=".log")
        self.addCleanup(log.close)
        self.log = log.name
        process = subprocess.Popen([QUICKSTART, "--no-packages", "--programs", os.path.join(weft_testing.BUILD, "bin"), "--http", free_address(),
                                    "--grpc", free_address(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def said(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def run_to_end(self, *arguments: str) -> int:
        process = self.start(*arguments)
        try:
            process.wait(200)
        except subprocess.TimeoutExpired:
            self.fail("it does not end:\n" + self.said())
        self.assertEqual([], left_of(process.pid))
        return process.returncode

    def test_once_finds_names_and_clears_the_first_fault(self):
        self.assertEqual(0, self.run_to_end("--demonstration", "--once"), self.said())
        self.assertIn("512 adapters", self.said())
        self.assertRegex(self.said(), r"found after [\d.]+ s: INC-\d+ LINK_DOWN")
        self.assertRegex(self.said(), r"INC-\d+ resolved")

    def test_once_on_a_topology_of_ones_own(self):
        path = weft_testing.DGX
        if not os.path.exists(path):
            self.skipTest("no fixtures")
        self.assertEqual(0, self.run_to_end("--topology", path, "--once"), self.said())
        self.assertIn("582 adapters", self.said())

    def test_stops_everything_on_ctrl_c(self):
        process = self.start("--adapters", "64")
        wait_until(lambda: "Ctrl-C stops all of it" in self.said(), 60, why=lambda: "it did not come up:\n" + self.said())
        self.assertIn("http://127.0.0.1:", self.said())
        for name in ("opensm", "weftd", "weft-sweeper"):
            self.assertIn(name, left_of(process.pid))
        process.send_signal(signal.SIGINT)
        self.assertEqual(0, process.wait(30), self.said())
        self.assertEqual([], left_of(process.pid))

    def test_leaves_nothing_behind_when_it_is_killed(self):
        process = self.start("--adapters", "64")
        wait_until(lambda: "Ctrl-C stops all of it" in self.said(), 60, why=lambda: "it did not come up:\n" + self.said())
        process.kill()
        process.wait()
        wait_until(lambda: not left_of(process.pid), 20, why=lambda: f"still there: {left_of(process.pid)}")

    def test_is_as_strict_with_a_topology_as_weftd(self):
        with tempfile.NamedTemporaryFile("w", suffix=".ibnetdiscover") as file:
            fat_tree.build(16, rails=1, radix=8).write(file)
            file.write("this is no line of ibnetdiscover\n")
            file.flush()
            self.assertEqual(1, self.run_to_end("--topology", file.name, "--once"), self.said())
        self.assertRegex(self.said(), r"weftd does not accept the topology: \S+: line \d+")

    def test_says_what_it_cannot_use(self):
        for arguments, code, words in ((("--topology", "/nowhere"), 2, "cannot read /nowhere"), (("--topology", __file__, "--once"), 1,
                                       "not an ibnetdiscover file"), (("--sideways",), 2, "unknown argument"),
                                       (("--adapters", "13", "--once"), 1, "rails")):
            with self.subTest(arguments):
                self.assertEqual(code, self.run_to_end(*arguments), self.said())
                self.assertIn(words, self.said())


if __name__ == "__main__":
    weft_testing.main()
