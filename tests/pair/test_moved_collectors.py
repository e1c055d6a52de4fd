# SPDX-License-Identifier: Apache-2.0
"""Two weftd without fabrics as two shards of one site, and hosts whose collectors move from one to the other, or are watched while the
database is away."""

import os
import shutil
import signal
import sys
import tempfile
import time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("infiniband", "collector")]

import sysfs_tree  # noqa: E402
import weft_testing  # noqa: E402
from collector_testing import Collector  # noqa: E402
from fabricless_site import FabriclessSite  # noqa: E402
from weft_testing import wait_until  # noqa: E402


class MovedCollectors(FabriclessSite):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for weftd in (cls.north, cls.south):
            wait_until(lambda weftd=weftd: all(each.get("answers") for each in weftd.client.json("/api/v1/status")["shards"]), 30, why=weftd.log)

    def collector_with_port(self, name: str, guid: int = 0xB83FD203_0000_0001) -> tuple[Collector, str]:
        """Not started, and without an analyzer; with the file that says how its port is."""
        sysfs = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, sysfs, True)
        os.makedirs(os.path.join(sysfs, "class", "net"))
        device = sysfs_tree.add_adapter(sysfs, 0, guid)
        collector = Collector(sysfs, interval="100ms", node_name=name)
        self.addCleanup(collector.remove)
        return collector, os.path.join(device, "ports", "1", "state")

    def listed(self, host: str) -> list[tuple[str, str]]:
        found = self.north.client.json("/api/v1/collectors").get("collectors", [])
        return sorted((each["shard"], each["state"]) for each in found if each["host"] == host)

    @staticmethod
    def lead(collector: Collector, weftd) -> None:
        """To that weftd from its next start on."""
        if not hasattr(collector, "alone"):
            collector.alone = collector.command
        collector.command = [*collector.alone, "--analyzer", weftd.grpc]

    def expect_verdict(self, host: str, verdict: str) -> None:
        def shown() -> dict:
            try:
                return self.north.client.json(f"/api/v1/nodes/{host}/health")
            except OSError as error:  # not known yet
                return {"error": str(error)}

        wait_until(lambda: shown().get("verdict") == verdict, 30, why=lambda: f"{shown()}\n{self.north.log()}")

    def test_a_collector_that_moves_is_let_go(self):
        """Nothing says to which shard it belongs; the first one that it asks hears it."""
        collector, _ = self.collector_with_port("nomad-1")
        alone = collector.command
        collector.command = [*alone, "--analyzer", self.north.grpc]

        def listed():
            found = self.north.client.json("/api/v1/collectors").get("collectors", [])
            return [(each["shard"], each["state"]) for each in found if each["host"] == "nomad-1"]

        collector.start()
        wait_until(lambda: listed() == [("north", "CONNECTED")], 30, why=collector.log)
        collector.stop()
        collector.command = [*alone, "--analyzer", self.south.grpc]
        collector.start()
        wait_until(lambda: listed() == [("south", "CONNECTED")], 40, why=lambda: f"{listed()}\n{collector.log()}\n{self.north.log()}")
        self.assertIn("nomad-1 is removed: its collector is of shard south", self.north.log())
        wait_until(lambda: self.north.client.json("/api/v1/nodes/nomad-1/health")["verdict"] == "HEALTHY", 30,
                   why=lambda: self.north.client.json("/api/v1/nodes/nomad-1/health"))

    def test_a_host_that_is_installed_anew_is_let_go(self):
        """Its disk is new, its adapters are not; and the first shard was away meanwhile."""
        collector, _ = self.collector_with_port("nomad-3", 0xB83FD203_0000_0003)
        self.lead(collector, self.north)
        collector.start()
        wait_until(lambda: self.listed("nomad-3") == [("north", "CONNECTED")], 30, why=collector.log)
        self.expect_verdict("nomad-3", "HEALTHY")
        time.sleep(3)  # until it is stored
        collector.stop()
        self.north.kill()
        shutil.rmtree(collector.state_dir)
        self.lead(collector, self.south)
        collector.start()
        self.north.start(wait=False)
        wait_until(lambda: "nomad-3 is removed: its collector is of shard south" in self.north.log(), 60, why=self.north.log)
        wait_until(lambda: self.listed("nomad-3") == [("south", "CONNECTED")], 40, why=self.north.log)

    def test_a_copied_disk_hides_no_dead_host(self):
        twins = [self.collector_with_port("twin-1", guid)[0] for guid in (0xB83FD203_0000_0011, 0xB83FD203_0000_0012)]
        for twin, weftd in zip(twins, (self.north, self.south), strict=True):
            self.lead(twin, weftd)
        twins[0].start()
        wait_until(lambda: self.listed("twin-1") == [("north", "CONNECTED")], 30, why=twins[0].log)
        twins[0].stop()
        shutil.copytree(twins[0].state_dir, twins[1].state_dir)
        for twin in twins:
            twin.start()
        wait_until(lambda: self.listed("twin-1") == [("north", "CONNECTED"), ("south", "CONNECTED")], 40, why=lambda: self.listed("twin-1"))
        twins[0].kill()
        # It is UNKNOWN for a moment where south answers late, too: north itself must miss it.
        def reasons() -> list[dict]:
            return self.north.client.json("/api/v1/nodes/twin-1/health").get("reasons", [])

        wait_until(lambda: [each for each in reasons() if each.get("shard") == "north"], 30, why=lambda: f"{reasons()}\n{self.north.log()}")
        self.expect_verdict("twin-1", "UNKNOWN")
        # The copy comes to south once more, later than the dead one was heard in north.
        twins[1].stop()
        twins[1].start()
        wait_until(lambda: self.listed("twin-1") == [("north", "DISCONNECTED"), ("south", "CONNECTED")], 30,
                   why=lambda: self.listed("twin-1"))
        end = time.monotonic() + 8
        while time.monotonic() < end:
            verdict = self.north.client.json("/api/v1/nodes/twin-1/health")
            self.assertEqual("UNKNOWN", verdict["verdict"], verdict)
            time.sleep(0.5)
        self.assertNotIn("twin-1 is removed", self.north.log())

    def test_a_collector_that_moves_takes_no_trouble_away(self):
        """The shard that it goes to has not seen the port up: to that one it is no trouble."""
        collector, port = self.collector_with_port("nomad-2")
        alone = collector.command
        collector.command = [*alone, "--analyzer", self.north.grpc]
        collector.start()
        self.expect_verdict("nomad-2", "HEALTHY")
        sysfs_tree.rewrite(port, "1: DOWN")
        incident = wait_until(lambda: [each for each in self.north.incidents("LINK_DOWN") if "nomad-2" in each["summary"]], 30,
                              why=self.north.log)[0]["id"]
        collector.stop()
        shutil.rmtree(collector.state_dir)  # in which may wait that it was up
        collector.command = [*alone, "--analyzer", self.south.grpc]
        collector.start()
        wait_until(lambda: f"reports to shard south now, which does not know {incident}" in self.north.log(), 30, why=self.north.log)
        for weftd in (self.north, self.south):
            verdict = weftd.client.json("/api/v1/nodes/nomad-2/health")
            self.assertNotEqual("HEALTHY", verdict["verdict"], verdict)
            self.assertIn(incident, [each.get("incidentId") for each in verdict["reasons"]])
        wait_until(lambda: [each for each in self.south.client.json("/api/v1/nodes/nomad-2/health")["reasons"]
                            if "reports to shard south now, which does not know" in each["message"]], 10)
        # A weftd that was killed counts what is open before it leads, and keeps the host.
        self.north.kill()
        self.north.start(wait=False)
        end = time.monotonic() + 12
        while time.monotonic() < end:
            for weftd in (self.north, self.south):
                try:
                    verdict = weftd.client.json("/api/v1/nodes/nomad-2/health")
                except OSError:  # it has just begun
                    continue
                self.assertNotEqual("HEALTHY", verdict["verdict"], verdict)
            time.sleep(0.2)
        # South sees that the port is up again.
        sysfs_tree.rewrite(port, "4: ACTIVE")
        wait_until(lambda: self.listed("nomad-2") == [("south", "CONNECTED")], 60,
                   why=lambda: f"{self.listed('nomad-2')}\n{self.north.log()}")
        wait_until(lambda: not [each for each in self.north.incidents() if "nomad-2" in each["summary"]], 30, why=self.north.incidents)
        self.expect_verdict("nomad-2", "HEALTHY")

    def test_trouble_that_the_other_shard_reports_is_handed_over(self):
        """What waits on its disk says that the port was up: the other shard misses it, too, and one incident is enough."""
        collector, port = self.collector_with_port("nomad-4", 0xB83FD203_0000_0051)

        def open_of(weftd) -> list[str]:
            return sorted(each["id"] for each in weftd.incidents("LINK_DOWN") if "nomad-4" in each["summary"])

        self.lead(collector, self.north)
        collector.start()
        self.expect_verdict("nomad-4", "HEALTHY")
        sysfs_tree.rewrite(port, "1: DOWN")
        [first] = wait_until(lambda: open_of(self.north), 30, why=self.north.log)
        self.north.kill()
        sysfs_tree.rewrite(port, "4: ACTIVE")
        time.sleep(2)  # which waits on its disk
        sysfs_tree.rewrite(port, "1: DOWN")
        time.sleep(2)
        collector.stop()
        self.lead(collector, self.south)
        collector.start()
        [second] = wait_until(lambda: open_of(self.south), 30, why=self.south.log)
        self.assertNotEqual(first, second)
        self.north.start(wait=False)
        wait_until(lambda: "nomad-4 is removed: its collector is of shard south" in self.north.log(), 60, why=self.north.log)
        wait_until(lambda: open_of(self.north) == [second], 30, why=lambda: f"{open_of(self.north)}\n{self.north.log()}")
        self.expect_verdict("nomad-4", "UNHEALTHY")
        sysfs_tree.rewrite(port, "4: ACTIVE")
        self.expect_verdict("nomad-4", "HEALTHY")

    def test_a_host_that_was_only_sent_on_is_not_let_go(self):
        """A pattern says whose it is; but that shard is not there to hear it."""
        collector, _ = self.collector_with_port("sent-1", 0xB83FD203_0000_0031)
        self.lead(collector, self.north)
        collector.start()
        self.expect_verdict("sent-1", "HEALTHY")
        west = self.make("west", collectors=["sent-*"])
        self.addCleanup(west.stop)
        west.start(wait=False)
        self.wait_log(west, "HTTP on")
        wait_until(lambda: [each for each in self.north.client.json("/api/v1/status")["shards"] if each["name"] == "west" and each.get("answers")], 30,
                   why=self.north.log)
        west.kill()
        collector.stop()
        collector.start()
        wait_until(lambda: "sends us on" in collector.log(), 30, why=collector.log)
        wait_until(lambda: self.listed("sent-1") == [("north", "DISCONNECTED")], 30, why=self.north.log)
        end = time.monotonic() + 8
        while time.monotonic() < end:
            self.assertEqual([("north", "DISCONNECTED")], self.listed("sent-1"), self.north.log())
            time.sleep(0.5)
        verdict = self.north.client.json("/api/v1/nodes/sent-1/health")
        self.assertEqual("UNKNOWN", verdict["verdict"], verdict)
        self.assertNotIn("reports to shard west now", str(verdict))
        west.start(wait=False)
        wait_until(lambda: "sent-1 is removed: its collector is of shard west" in self.north.log(), 60, why=self.north.log)

    def test_z_hosts_are_watched_while_the_database_is_away(self):
        collector, port = self.collector_with_port("north-9")
        collector.command += ["--analyzer", self.north.grpc]
        collector.start()
        self.expect_verdict("north-9", "HEALTHY")
        self.postgres.primary.stop()
        try:
            time.sleep(15)  # more batches than were sent before without an acknowledgement
            self.expect_verdict("north-9", "HEALTHY")
            sysfs_tree.rewrite(port, "1: DOWN")
            wait_until(lambda: [each for each in self.north.incidents("LINK_DOWN") if "north-9" in each["summary"]], 10, why=self.north.log)
            self.assertEqual([], [each for each in self.north.incidents("TELEMETRY_LOST") if "north-9" in each["summary"]])
        finally:
            self.postgres.primary.start()
        for weftd in (self.north, self.south):
            wait_until(lambda weftd=weftd: weftd.client.json("/api/v1/status")["storeOk"], 60, why=weftd.log)


class KeptHosts(FabriclessSite):
    """What the other shard was known to hear is remembered, and no answer is no knowledge."""

    TELEMETRY = '[telemetry]\nforget_after = "1m"\n'
    collector_with_port = MovedCollectors.collector_with_port
    lead = staticmethod(MovedCollectors.lead)

    def not_healthy(self) -> None:
        try:
            verdict = self.north.client.json("/api/v1/nodes/kept-1/health")
        except OSError:  # it has just begun
            return
        self.assertNotEqual("HEALTHY", verdict["verdict"], f"{verdict}\n{self.north.log()}")

    def watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.not_healthy()
            time.sleep(1)

    def test_a_kept_host_stays_while_the_other_shard_hangs(self):
        collector, port = self.collector_with_port("kept-1", 0xB83FD203_0000_0041)
        self.lead(collector, self.north)
        collector.start()
        wait_until(lambda: self.north.client.json("/api/v1/collectors").get("collectors"), 30, why=collector.log)
        time.sleep(3)
        sysfs_tree.rewrite(port, "1: DOWN")
        incident = wait_until(lambda: self.north.incidents("LINK_DOWN"), 30, why=self.north.log)[0]["id"]
        collector.stop()
        shutil.rmtree(collector.state_dir)  # in which may wait that it was up
        self.lead(collector, self.south)
        collector.start()
        wait_until(lambda: f"reports to shard south now, which does not know {incident}" in self.north.log(), 30, why=self.north.log)
        self.watch(70)  # for longer than forget_after north hears nothing itself
        self.south.process.send_signal(signal.SIGSTOP)
        try:
            self.north.kill()
            self.north.start(wait=False)
            self.watch(100)  # for longer than forget_after, and than north asks others first
            self.assertEqual([incident], [each["id"] for each in self.north.incidents("LINK_DOWN")], self.north.log())
            self.assertNotIn("kept-1 is removed", self.north.log())
        finally:
            self.south.process.send_signal(signal.SIGCONT)
        self.watch(15)
        self.assertEqual([incident], [each["id"] for each in self.north.incidents("LINK_DOWN")], self.north.log())
        sysfs_tree.rewrite(port, "4: ACTIVE")
        wait_until(lambda: "kept-1 is removed: its collector is of shard south" in self.north.log(), 60, why=self.north.log)


if __name__ == "__main__":
    weft_testing.main()
