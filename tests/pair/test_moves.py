# SPDX-License-Identifier: Apache-2.0
"""Two weftd, one after the other, on one PostgreSQL: a collector and `weftctl watch` that know both addresses go on with the second one.
No batch is lost or counted twice, no line is repeated."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("infiniband", "collector")]

import sysfs_tree  # noqa: E402
import weft_testing  # noqa: E402
from child_process import start_child  # noqa: E402
from collector_testing import Collector  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Weftd, fat_tree, program, wait_until  # noqa: E402


class Moves(weft_testing.SubnetTest):
    postgres = None

    @classmethod
    def make_network(cls):
        return fat_tree.build(8, rails=1, radix=8)

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        try:
            cls.postgres.start()
            cls.infiniband = f'[store]\nurl = "{cls.postgres.url}"\n'
            super().setUpClass()
        except BaseException:
            cls.postgres.stop()
            raise

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.postgres.stop()

    def setUp(self):
        super().setUp()
        self.first = self.weftd
        if self.first.process is None:
            self.first.start()
            self.first.wait_sweeps(1)
        self.second = Weftd(self.subnet.environment(self.network.hosts()[3].identity), infiniband=self.infiniband, interval=self.interval)
        self.addCleanup(self.second.stop)
        self.servers = f"{self.first.grpc},{self.second.grpc}"
        sysfs = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, sysfs, True)
        sysfs_tree.make(sysfs, 1)
        self.host = "node-" + self.id().split("_")[-2]
        self.collector = Collector(sysfs, self.servers, interval="100ms", node_name=self.host)
        self.addCleanup(self.collector.remove)
        self.collector.start()
        self.wait_batches(self.first)

    def told(self, weftd) -> dict:
        collectors = weftd.client.json("/api/v1/collectors").get("collectors", [])
        return next((one for one in collectors if one["host"] == self.host), {})

    def wait_batches(self, weftd, more: int = 30) -> None:
        least = int(self.told(weftd).get("sequence", 0)) + more
        wait_until(lambda: int(self.told(weftd).get("sequence", 0)) > least, why=lambda: f"{self.told(weftd)}\n{self.collector.log()}")

    def go_on_with_the_second(self) -> None:
        self.second.start()
        self.weftd = self.second
        wait_until(lambda: self.told(self.second).get("state") == "CONNECTED", why=lambda: f"{self.told(self.second)}\n{self.collector.log()}")
        self.wait_batches(self.second)
        told = self.told(self.second)
        self.assertEqual((told["sequence"], "0"), (told["batches"], told.get("lostBatches", "0")), "each once")

    def watch(self):
        """`weftctl watch` into a file; returns what it wrote so far, and what it said on standard error."""
        place = tempfile.mkdtemp(prefix="weft-watch-")
        self.addCleanup(shutil.rmtree, place, True)
        paths = [os.path.join(place, name) for name in ("out", "err")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as err:
            process = start_child([program("weftctl"), "--server", self.servers, "watch"], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.terminate)

        def read(path: str) -> str:
            with open(path, encoding="utf-8") as stream:
                return stream.read()

        return lambda: read(paths[0]), lambda: read(paths[1])

    def expect_no_line_twice(self, text: str) -> None:
        said = [line.partition("  ")[2] for line in text.splitlines()]  # without the time
        self.assertEqual(sorted(set(said)), sorted(said), text)

    def pull(self, number: int) -> str:
        """The cable of a host. The id of its incident."""
        host = self.network.hosts()[number]
        self.subnet.unlink(host.identity, 1)
        ends = self.link(host.name, 1)
        return self.expect("LINK_DOWN", lambda incident: self.is_link(incident, ends), sweeps=20)["id"]

    def test_1_a_killed_weftd(self):
        lines, notes = self.watch()
        resolved, kept = self.pull(0), self.pull(1)
        wait_until(lambda: kept in lines() and resolved in lines(), why=lines)
        self.first.kill()
        self.subnet.relink(self.network.hosts()[0].identity, 1)
        self.go_on_with_the_second()
        wait_until(lambda: f"{resolved}  RESOLVED" in lines(), why=lines)
        new = self.pull(2)
        wait_until(lambda: new in lines(), why=lines)
        self.expect_no_line_twice(lines())
        self.assertIn(f"answered by {self.second.grpc}", notes())
        for number in (1, 2):
            self.subnet.relink(self.network.hosts()[number].identity, 1)

    def test_2_a_frozen_weftd(self):
        lines, _ = self.watch()
        before = self.pull(4)
        wait_until(lambda: before in lines(), why=lines)
        self.first.process.send_signal(signal.SIGSTOP)
        try:
            self.go_on_with_the_second()
            after = self.pull(5)
            wait_until(lambda: after in lines(), why=lines)
        finally:
            self.first.process.send_signal(signal.SIGCONT)
        self.wait_batches(self.second)
        told = self.told(self.second)
        self.assertEqual((told["sequence"], "0"), (told["batches"], told.get("lostBatches", "0")), "each once")
        self.expect_no_line_twice(lines())
        for number in (4, 5):
            self.subnet.relink(self.network.hosts()[number].identity, 1)


if __name__ == "__main__":
    weft_testing.main()
