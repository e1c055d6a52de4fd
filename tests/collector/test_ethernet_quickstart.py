# SPDX-License-Identifier: Apache-2.0
"""deploy/quickstart --ethernet: --once, a round of all its faults, Ctrl-C, SIGKILL, and what it says when it cannot."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import collector_testing
from collector_testing import BUILD, ROOT, free_address, wait_until
from patched_fabric import PACKAGES, descendants, name_of
from weft_client import WeftClient

QUICKSTART = os.path.join(ROOT, "deploy", "quickstart")
FAULTS_OF_A_ROUND = 6  # of deploy/demonstration/ethernet.py
NO_NAMESPACES = "no namespaces can be made here"


def birth(pid: int) -> str:
    """When the process was started; empty: there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[19]
    except OSError:
        return ""


class EthernetQuickstart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        collector_testing.require_programs("weftd", "weft-collector", "weft-uplink", "weftctl")
        for tool, package in PACKAGES.items():
            if not shutil.which(tool):
                raise unittest.SkipTest(f"not installed: {package}")
        if os.geteuid() != 0:
            raise unittest.SkipTest("needs root")

    def start(self, *arguments: str) -> subprocess.Popen:
        log = tempfile.NamedTemporaryFile("w+", prefix="weft-quickstart-", suffix=".log")
        self.addCleanup(log.close)
        self.log = log.name
        self.http = free_address()
        process = subprocess.Popen([QUICKSTART, "--ethernet", "--no-packages", "--programs", os.path.join(BUILD, "bin"), "--http", self.http,
                                    "--grpc", free_address(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def said(self) -> str:
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def came_up(self, process: subprocess.Popen) -> dict[int, str]:
        """Its processes: when each was started, by its id."""
        wait_until(lambda: "Ctrl-C stops all of it" in self.said() or process.poll() is not None, 120, why=self.said)
        if NO_NAMESPACES in self.said():
            self.skipTest(self.said())
        self.assertIsNone(process.poll(), self.said())
        return {pid: birth(pid) for pid in (process.pid, *descendants(process.pid))}

    def assert_nothing_left(self, processes: dict[int, str], tag: int) -> None:
        def left():
            return [f"{pid} {name_of(pid)}" for pid, born in processes.items() if birth(pid) == born != ""]

        wait_until(lambda: not left(), 30, why=lambda: f"still there: {left()}")
        wait_until(lambda: f"w{tag % 100000}m" not in os.listdir("/sys/class/net"), 30, why="the management network is still there")
        self.assertFalse([name for name in os.listdir("/run/netns") if name.startswith(f"w{tag % 100000}-")] if os.path.isdir("/run/netns") else [])

    def test_once_finds_names_and_clears_the_first_fault(self):
        process = self.start("--once")
        try:
            process.wait(300)
        except subprocess.TimeoutExpired:
            self.fail("it does not end:\n" + self.said())
        if NO_NAMESPACES in self.said():
            self.skipTest(self.said())
        self.assertEqual(0, process.returncode, self.said())
        self.assertIn("16 hosts, 8 switches, 32 cables", self.said())
        self.assertRegex(self.said(), r"found by LLDP after [\d.]+ s: all 32 cables")
        self.assertRegex(self.said(), r"found after [\d.]+ s: INC-\d+ LINK_DOWN: Link (at )?(leaf|spine)\d+ swp\d+ ")
        self.assertRegex(self.said(), r"INC-\d+ resolved")
        self.assert_nothing_left({}, process.pid)

    def test_a_round_of_its_faults_and_ctrl_c(self):
        process = self.start()
        self.came_up(process)
        said = self.said()
        self.assertIn("http://127.0.0.1:", said)
        # What it offers to do by oneself.
        for what, up in (("pull a cable yourself", False), ("and plug it in again", True)):
            command = re.search(rf"{what}: +(.*)", said)[1]
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(0, done.returncode, f"{command}\n{done.stderr}")
            client = WeftClient(self.http)
            wait_until(lambda: client.json("/api/v1/status")["fabrics"][0]["linksUp"] == 32 - (not up), 30, why=self.said)
        shell = re.search(r"a shell on a host: +(.*) bash", said)[1]
        self.assertIn("eth1", subprocess.run(f"{shell} ip link", shell=True, capture_output=True, text=True, timeout=60, check=False).stdout)
        began = time.monotonic()
        while len(re.findall(r"INC-\d+ (?:resolved|stays open)", self.said())) < FAULTS_OF_A_ROUND:
            self.assertIsNone(process.poll(), self.said())
            self.assertNotIn("going on", self.said())
            self.assertLess(time.monotonic(), began + 420, self.said())
            time.sleep(1)
        processes = self.came_up(process)
        self.assertGreater(len(processes), 24 * 3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(0, process.wait(60), self.said())
        self.assertIn("stopped", self.said())
        self.assert_nothing_left(processes, process.pid)
        place = re.search(r"log (\S+)/weftd.log", self.said())[1]
        self.assertFalse(os.path.exists(place))

    def test_leaves_nothing_behind_when_it_is_killed(self):
        process = self.start()
        processes = self.came_up(process)
        place = re.search(r"log (\S+)/weftd.log", self.said())[1]
        self.addCleanup(shutil.rmtree, place, True)
        process.kill()
        process.wait()
        self.assert_nothing_left(processes, process.pid)

    def test_says_what_it_cannot_use(self):
        for arguments, words in ((("--adapters", "64"), "has a fabric of its own"), (("--state-dir", "/nowhere"), "has a fabric of its own")):
            with self.subTest(arguments):
                process = self.start(*arguments)
                self.assertEqual(2, process.wait(60), self.said())
                self.assertIn(words, self.said())

    def test_says_where_no_namespaces_can_be_made(self):
        command = [sys.executable, os.path.join(ROOT, "deploy", "demonstration", "demonstration.py"), "--programs", os.path.join(BUILD, "bin"),
                   "--ethernet", "--once"]
        done = subprocess.run(["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", *command], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertRegex(done.stderr, f"^quickstart: {NO_NAMESPACES}: .*CAP_SYS_ADMIN")

    def test_says_that_it_needs_root(self):
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", QUICKSTART, "--ethernet", "--no-packages"], capture_output=True, text=True,
                              timeout=60, check=False)
        if "Permission denied" in done.stderr:
            self.skipTest("other users may not read this folder")
        self.assertEqual(2, done.returncode)
        self.assertEqual("quickstart: --ethernet makes network namespaces: run it as root\n", done.stderr)


if __name__ == "__main__":
    collector_testing.main()
