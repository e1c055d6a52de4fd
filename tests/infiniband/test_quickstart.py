# SPDX-License-Identifier: Apache-2.0
"""deploy/quickstart on a simulated subnet: --once, any topology, Ctrl-C, and what it says when it cannot."""

import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

import weft_testing
from weft_testing import WeftClient, fat_tree, free_address, wait_until

FAULTS_OF_A_ROUND = 6  # of deploy/demonstration/faults.py, in a fat tree
QUICKSTART = os.path.join(weft_testing.ROOT, "deploy", "quickstart")


def processes_of(pid: int) -> dict[int, str]:
    """Processes that run on the subnet of the quickstart that has, or had, this process id: their names by their ids."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as stream:
                    if f"IBSIM_SOCKNAME=weft-{pid}-".encode() in stream.read():
                        with open(f"/proc/{name}/comm", encoding="utf-8") as comm:
                            found[int(name)] = comm.read().strip()
            except OSError:
                pass
    return found


def left_of(pid: int) -> list[str]:
    return list(processes_of(pid).values())


class Quickstart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()

    def start(self, *arguments: str) -> subprocess.Popen:
        log = tempfile.NamedTemporaryFile("w+", prefix="weft-quickstart-", suffix=".log")
        self.addCleanup(log.close)
        self.log = log.name
        self.http = free_address()
        process = subprocess.Popen([QUICKSTART, "--no-packages", "--programs", os.path.join(weft_testing.BUILD, "bin"), "--http", self.http,
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
        weftd = next(pid for pid, name in processes_of(process.pid).items() if name == "weftd")
        with open(f"/proc/{weftd}/cmdline", "rb") as stream:
            self.assertIn(b"--config\0/dev/null\0", stream.read(), "the site's own file in /etc/weft is not for the demonstration")
        process.send_signal(signal.SIGINT)
        self.assertEqual(0, process.wait(30), self.said())
        self.assertEqual([], left_of(process.pid))

    def test_left_alone_opens_one_incident_a_fault_when_opensm_is_slow(self):
        """A round of all its faults, while OpenSM stands still for three of every four seconds."""
        process = self.start("--adapters", "128")
        wait_until(lambda: "Ctrl-C stops all of it" in self.said(), 60, why=lambda: "it did not come up:\n" + self.said())
        opensm = next(pid for pid, name in processes_of(process.pid).items() if name == "opensm")
        began = time.monotonic()
        while self.said().count("demonstration: repaired") < FAULTS_OF_A_ROUND:
            self.assertIsNone(process.poll(), self.said())
            self.assertLess(time.monotonic(), began + 600, self.said())
            for number, lasts in ((signal.SIGSTOP, 3), (signal.SIGCONT, 1)):
                os.kill(opensm, number)
                time.sleep(lasts)
        wait_until(lambda: len(re.findall(r"INC-\d+ (?:resolved|stays open)", self.said())) == FAULTS_OF_A_ROUND, 120, why=self.said)
        found = re.findall(r"found after [\d.]+ s: (INC-\d+) ", self.said())
        self.assertEqual(FAULTS_OF_A_ROUND, len(set(found)), self.said())
        # Before a link flaps it is down: that incident becomes part of the one that was found. On a busy machine the first flap takes so
        # long that it is over by then.
        incidents = WeftClient(self.http).incidents()
        others = [incident for incident in incidents if incident["id"] not in found]
        flaps = [incident["cause"]["identity"] for incident in incidents if incident["kind"] == "LINK_FLAP"]
        for incident in others:
            whole = re.search(r"\(now part of (INC-\d+)\)", incident["headline"])
            self.assertTrue(whole[1] in found if whole else incident["kind"] == "LINK_DOWN" and incident["cause"]["identity"] in flaps,
                            f"{others}\n{self.said()}")
        self.assertLessEqual(len(others), 1, f"{others}\n{self.said()}")

    def test_what_it_offers_to_try_works(self):
        """A link is taken out of service and brought back, with the commands that it prints."""
        process = self.start("--adapters", "512")
        wait_until(lambda: "Ctrl-C stops all of it" in self.said(), 120, why=lambda: "it did not come up:\n" + self.said())
        client = WeftClient(self.http)

        def try_out(what: str) -> str:
            command = re.search(rf"{what}: +(.*)", self.said())[1]
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(0, done.returncode, f"{command}\n{done.stdout}{done.stderr}\n{self.said()}")
            return re.search(r"PLAN-\d+", done.stdout)[0]

        def steps(plan: str) -> list[str]:
            return [step["what"] for step in client.json(f"/api/v1/plans/{plan}")["steps"]]

        def reaches(plan: str, what) -> None:
            wait_until(lambda: what(client.json(f"/api/v1/plans/{plan}")), 120, why=lambda: f"{steps(plan)}\n{self.said()}")

        diags = re.search(r"use infiniband-diags: +(.*)", self.said())[1]
        switches = subprocess.run(diags, shell=True, capture_output=True, text=True, timeout=120, check=False)
        self.assertIn("spine", switches.stdout, f"{diags}\n{switches.stderr}")
        plan = try_out("take a link out of service")
        reaches(plan, lambda shown: shown["state"] == "COMMITTED")
        back = try_out("and bring it back")
        reaches(back, lambda shown: any("on probation" in step["what"] for step in shown["steps"]))
        self.assertIsNone(process.poll(), self.said())

    def test_a_weftd_that_is_killed_is_started_again(self):
        process = self.start("--adapters", "64")
        wait_until(lambda: "Ctrl-C stops all of it" in self.said(), 60, why=lambda: "it did not come up:\n" + self.said())
        time.sleep(12)  # one that fails sooner is not started again
        weftd = next(pid for pid, name in processes_of(process.pid).items() if name == "weftd")
        os.kill(weftd, signal.SIGKILL)
        wait_until(lambda: "weftd is running again" in self.said(), 60, why=self.said)
        self.assertIn("weftd ended with -9; it is started again, as systemd would", self.said())
        self.assertTrue(WeftClient(self.http).ready(), self.said())
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
