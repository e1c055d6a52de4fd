# SPDX-License-Identifier: Apache-2.0
"""weft-collector and the real weftd: what one tells, the other shows, whoever was killed in between."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import collector_testing
import sysfs_tree
from collector_testing import free_address, program, wait_until
from weft_client import WeftClient


class WithWeftd(collector_testing.CollectorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.access(program("weftd"), os.X_OK):
            raise unittest.SkipTest(f"weftd is not built in {collector_testing.BUILD}")

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.place, True)
        self.http, self.grpc = free_address(), free_address()
        self.client = WeftClient(self.http)
        self.weftd = None
        self.addCleanup(self.end_weftd)

    def start_weftd(self) -> None:
        with open(os.path.join(self.place, "log"), "ab") as log:
            self.weftd = subprocess.Popen([program("weftd"), "--state-dir", os.path.join(self.place, "state"), "--http", self.http,
                                           "--grpc", self.grpc, "--listen-socket", os.path.join(self.place, "weftd.sock"),
                                           "--infiniband-enabled", "false"], stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log)
        wait_until(lambda: self.client.text("/healthz"), why="weftd does not answer")

    def end_weftd(self, how: int = signal.SIGTERM) -> None:
        if self.weftd is not None:
            self.weftd.send_signal(how)
            self.weftd.wait(30)
            self.weftd = None

    def told(self) -> dict:
        collectors = self.client.json("/api/v1/collectors").get("collectors", [])
        return collectors[0] if collectors else {}

    def test_nothing_is_lost_when_weftd_and_the_collector_are_killed(self):
        collector = self.collector(self.grpc, interval="50ms").start()
        collector.wait_readings(50)
        self.start_weftd()
        wait_until(lambda: int(self.told().get("sequence", 0)) > 50, why=lambda: f"{self.told()}\n{collector.log()}")
        self.end_weftd(signal.SIGKILL)
        collector.kill()
        collector.start().wait_readings(20)
        self.start_weftd()
        wait_until(lambda: self.told().get("state") == "CONNECTED", why=lambda: f"{self.told()}\n{collector.log()}")
        last = int(self.told()["sequence"]) + 40
        wait_until(lambda: int(self.told()["sequence"]) > last, why=lambda: f"{self.told()}\n{collector.log()}")
        said = self.told()
        self.assertEqual(("node-1", "CONNECTED", "0"), (said["host"], said["state"], said.get("lostBatches", "0")))
        self.assertEqual(said["sequence"], said["batches"], "each once")
        self.assertGreaterEqual(int(said["lateBatches"]), 50)

    def test_weftd_shows_the_hosts_series_under_the_collectors_names(self):
        self.start_weftd()
        collector = self.collector(self.grpc, interval="100ms").start()
        sysfs_tree.write(os.path.join(self.devices[1], "ports/1/hw_counters/np_cnp_sent"), 77)
        line = 'weft_port_cnp_sent_total{node="node-1",device="mlx5_1",port="1"} 77'
        wait_until(lambda: line in self.client.text("/metrics"), why=lambda: f"{self.told()}\n{collector.log()}")
        names = {one.split("{")[0] for one in collector.text("/metrics").splitlines() if one.startswith("weft_port_")}
        there = {one.split("{")[0] for one in self.client.text("/metrics").splitlines() if one.startswith("weft_port_")}
        self.assertEqual(set(), names - there)


if __name__ == "__main__":
    collector_testing.main()
