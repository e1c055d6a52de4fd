# SPDX-License-Identifier: Apache-2.0
"""weft-collector and the real weftd: what one tells, the other shows, whoever was killed in between."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import collector_testing
import sysfs_tree
from collector_testing import program, wait_until


class WithWeftd(collector_testing.CollectorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        collector_testing.require_programs("weftd")

    def setUp(self):
        super().setUp()
        place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, place, True)
        self.weftd = collector_testing.Weftd(place)
        self.addCleanup(self.weftd.end)

    def test_nothing_is_lost_when_weftd_and_the_collector_are_killed(self):
        collector = self.collector(self.weftd.grpc, interval="50ms").start()
        collector.wait_readings(50)
        self.weftd.start()
        wait_until(lambda: int(self.weftd.told().get("sequence", 0)) > 50, why=lambda: f"{self.weftd.told()}\n{collector.log()}")
        self.weftd.end(signal.SIGKILL)
        collector.kill()
        collector.start().wait_readings(20)
        self.weftd.start()
        wait_until(lambda: self.weftd.told().get("state") == "CONNECTED", why=lambda: f"{self.weftd.told()}\n{collector.log()}")
        last = int(self.weftd.told()["sequence"]) + 40
        wait_until(lambda: int(self.weftd.told()["sequence"]) > last, why=lambda: f"{self.weftd.told()}\n{collector.log()}")
        said = self.weftd.told()
        self.assertEqual(("node-1", "CONNECTED", "0"), (said["host"], said["state"], said.get("lostBatches", "0")))
        self.assertEqual(said["sequence"], said["batches"], "each once")
        self.assertGreaterEqual(int(said["lateBatches"]), 50)

    def test_a_job_keeps_a_host_that_does_not_report_after_a_restart(self):
        jobs = os.path.join(self.weftd.place, "jobs")
        sysfs_tree.write(jobs, "train-1")
        self.weftd.start()
        well, dead = (self.collector(self.weftd.grpc, interval="200ms", extra=("--jobs-file", jobs), node_name=name).start()
                      for name in ("node-1", "node-2"))

        def health() -> dict:
            done = subprocess.run([program("weftctl"), "--server", self.weftd.grpc, "--json", "health", "--job", "train-1"],
                                  capture_output=True, text=True, check=False)
            return json.loads(done.stdout) if done.stdout else {}

        wait_until(lambda: health().get("verdict") == "HEALTHY" and len(health()["nodes"]) == 2, why=lambda: f"{health()}\n{well.log()}")

        def collectors() -> list[dict]:
            return self.weftd.client.json("/api/v1/collectors").get("collectors", [])

        # What is not stored yet a weftd that is killed may forget.
        heard = {each["host"]: int(each["sequence"]) for each in collectors()}
        wait_until(lambda: all(int(each.get("storedSequence", 0)) > heard[each["host"]] for each in collectors()), 30, why=collectors)
        dead.kill()
        self.weftd.end(signal.SIGKILL)
        self.weftd.start()
        wait_until(lambda: self.weftd.told().get("state") == "CONNECTED", why=lambda: f"{self.weftd.told()}\n{well.log()}")
        said = health()
        self.assertEqual(("UNKNOWN", ["node-1", "node-2"]), (said.get("verdict", "UNKNOWN"), [one["node"] for one in said["nodes"]]))

    def before_a_failure(self) -> tuple[collector_testing.Collector, str]:
        """A collector of which weftd has stored something; one of its two ports was up, and its file is named, and one was never."""
        state = os.path.join("ports", "1", "state")
        sysfs_tree.rewrite(os.path.join(self.devices[1], state), "1: DOWN")
        self.weftd.start()
        collector = self.collector(self.weftd.grpc, interval="200ms").start()
        wait_until(lambda: int(self.weftd.told().get("storedSequence", 0)) > 5, why=lambda: f"{self.weftd.told()}\n{collector.log()}")
        return collector, os.path.join(self.devices[0], state)

    def expect_link_down(self) -> None:
        def found() -> list[tuple[str, str]]:
            listed = self.weftd.client.json("/api/v1/incidents?state=open").get("incidents", [])
            return [(each["kind"], each["summary"].split(" port")[0]) for each in listed]

        wait_until(found, 30, why=lambda: f"{self.weftd.told()}\n{self.weftd.log()}")
        self.assertEqual([("LINK_DOWN", "Link at node-1 mlx5_0")], found(), "nothing is said of the port that was never up")
        self.assertEqual("UNHEALTHY", self.weftd.client.json("/api/v1/nodes/node-1/health")["verdict"])

    def test_a_port_that_fails_while_weftd_is_away_is_down(self):
        _, port = self.before_a_failure()
        self.weftd.end(signal.SIGKILL)
        time.sleep(1)
        sysfs_tree.rewrite(port, "1: DOWN")
        time.sleep(1)
        self.weftd.start()
        self.expect_link_down()

    def test_a_port_that_fails_while_nobody_reads_it_is_down(self):
        """Everything that told of it is acknowledged, and what the collector kept is gone."""
        collector, port = self.before_a_failure()
        collector.stop()
        wait_until(lambda: self.weftd.told()["sequence"] == self.weftd.told()["storedSequence"], why=self.weftd.told)
        self.weftd.end(signal.SIGKILL)
        sysfs_tree.rewrite(port, "1: DOWN")
        shutil.rmtree(collector.state_dir)
        self.weftd.start()
        collector.start()
        self.expect_link_down()

    def test_weftd_shows_the_hosts_series_under_the_collectors_names(self):
        self.weftd.start()
        collector = self.collector(self.weftd.grpc, interval="100ms").start()
        sysfs_tree.write(os.path.join(self.devices[1], "ports/1/hw_counters/np_cnp_sent"), 77)
        line = 'weft_port_cnp_sent_total{node="node-1",device="mlx5_1",port="1"} 77'
        wait_until(lambda: line in self.weftd.client.text("/metrics"), why=lambda: f"{self.weftd.told()}\n{collector.log()}")
        names = {one.split("{")[0] for one in collector.text("/metrics").splitlines() if one.startswith("weft_port_")}
        there = {one.split("{")[0] for one in self.weftd.client.text("/metrics").splitlines() if one.startswith("weft_port_")}
        self.assertEqual(set(), names - there)


if __name__ == "__main__":
    collector_testing.main()
