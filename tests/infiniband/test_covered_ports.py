# SPDX-License-Identifier: Apache-2.0
"""Ports that sweeps and a collector both tell of, over restarts of weftd: one cable is one incident."""

import os
import shutil
import sys
import tempfile
import time

import weft_testing
from weft_testing import fat_tree, wait_until

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "collector"))

import sysfs_tree  # noqa: E402
from collector_testing import Collector  # noqa: E402


class CoveredPorts(weft_testing.SubnetTest):
    analyzer = 'telemetry_start_grace = "10s"'

    @classmethod
    def make_network(cls):
        return fat_tree.build(8, rails=1, radix=8)

    def setUp(self):
        self.host = self.subnet.network.hosts()[1]  # at the first one is the subnet manager
        self.name = self.host.name.split(" ")[0]
        sysfs = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, sysfs, True)
        os.makedirs(os.path.join(sysfs, "class", "net"))
        device = sysfs_tree.add_adapter(sysfs, 0, self.host.guid, self.host.port_guid(1))
        self.state = os.path.join(device, "ports", "1", "state")
        self.collector = Collector(sysfs, analyzer=self.weftd.grpc, interval="100ms", node_name=self.name)
        self.addCleanup(self.collector.remove)
        self.collector.start()
        wait_until(lambda: self.verdict() == "HEALTHY", 40, why=self.weftd.log)
        time.sleep(3)  # until it is stored which ports were up

    def verdict(self) -> str:
        return self.weftd.client.json(f"/api/v1/nodes/{self.name}/health")["verdict"]

    def plug(self):
        if not self.is_pulled:
            return
        self.is_pulled = False
        self.subnet.relink(self.host.identity, 1)
        sysfs_tree.rewrite(self.state, "4: ACTIVE")

    def pull(self):
        self.is_pulled = True
        self.addCleanup(self.plug)
        self.subnet.unlink(self.host.identity, 1)
        sysfs_tree.rewrite(self.state, "1: DOWN")

    def told(self) -> list[str]:
        return sorted(each["summary"] for each in self.weftd.incidents("LINK_DOWN"))

    def expect_one(self):
        self.weftd.start(wait=False)
        wait_until(lambda: "HTTP on" in self.weftd.log() and self.told(), 40, why=self.weftd.log)
        end = time.monotonic() + 8
        while time.monotonic() < end:
            self.assertEqual(1, len(self.told()), self.told())
            time.sleep(0.5)
        self.assertNotEqual("HEALTHY", self.verdict())
        self.plug()
        wait_until(lambda: not self.told() and self.verdict() == "HEALTHY", 60, why=lambda: f"{self.told()}\n{self.weftd.log()}")

    def test_one_that_was_down_before(self):
        self.pull()
        wait_until(self.told, 40, why=self.weftd.log)
        self.weftd.kill()
        self.expect_one()

    def test_one_that_failed_meanwhile(self):
        self.weftd.kill()
        self.pull()
        time.sleep(2)  # and what is read waits on the host's disk
        self.expect_one()

    def test_one_that_failed_meanwhile_where_nobody_sweeps_now(self):
        self.weftd.kill()
        self.pull()
        self.subnet.unlink(self.watcher.identity, 1)
        try:
            self.weftd.start(wait=False)

            def is_told():
                if "HTTP on" not in self.weftd.log():
                    return False
                self.assertNotEqual("HEALTHY", self.verdict())
                return self.told()

            wait_until(is_told, 60, why=self.weftd.log)
            health = self.weftd.client.json(f"/api/v1/nodes/{self.name}/health")
            self.assertEqual("UNHEALTHY", health["verdict"], "it is its only port")
            self.assertEqual(["LINK_DOWN", "TELEMETRY_LOST"], sorted(reason["kind"] for reason in health["reasons"]))
        finally:
            self.subnet.relink(self.watcher.identity, 1)
        # The list of ports is read once a minute.
        wait_until(lambda: self.weftd.fabric()["watching"], 120, why=self.weftd.log)
        self.weftd.wait_sweeps(3)
        self.assertEqual(1, len(self.told()), self.told())
        self.assertNotIn(self.verdict(), ("HEALTHY", "UNKNOWN"))
        self.plug()
        wait_until(lambda: not self.told() and self.verdict() == "HEALTHY", 60, why=lambda: f"{self.told()}\n{self.weftd.log()}")


if __name__ == "__main__":
    weft_testing.main()
