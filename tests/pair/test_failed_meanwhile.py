# SPDX-License-Identifier: Apache-2.0
"""A host's port that no sweep covers fails while no weftd hears its collector: at a takeover of a pair, and when the collector moves to another
shard of a site. A start beside one that hangs waits for that, and for one who locks its tables."""

import os
import signal
import sys
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("infiniband", "collector")]

import sysfs_tree  # noqa: E402
import test_moved_collectors  # noqa: E402
import weft_testing  # noqa: E402
from fabricless_site import FabriclessSite  # noqa: E402
from pair_testing import leads  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Weftd, wait_until  # noqa: E402

STORE = """
enabled = false
[store]
url = "{url}"
"""


def links_down(weftd: Weftd, host: str) -> list[str]:
    return [each["id"] for each in weftd.incidents("LINK_DOWN") if host in each["summary"]]


def verdict(weftd: Weftd, host: str) -> str:
    try:
        return weftd.client.json(f"/api/v1/nodes/{host}/health").get("verdict", "")
    except OSError as error:  # not known yet
        return str(error)


class AtATakeover(unittest.TestCase):
    collector_with_port = test_moved_collectors.MovedCollectors.collector_with_port

    def setUp(self):
        if missing():
            self.skipTest(f"not installed: {', '.join(missing())}")
        postgres = PostgresPair()
        self.addCleanup(postgres.stop)
        postgres.start_alone()
        url = f"postgresql://weft@127.0.0.1:{postgres.primary.port}/postgres"
        self.pair = [Weftd(dict(os.environ), infiniband=STORE.format(url=url)) for _ in range(2)]
        for weftd in self.pair:
            self.addCleanup(weftd.stop)
            weftd.start(wait=False)
            FabriclessSite.wait_log(weftd, "HTTP on")

    def test_a_port_that_fails_while_nobody_leads_is_down(self):
        leader = wait_until(lambda: next((each for each in self.pair if leads(each)), None), 30, why=self.pair[0].log)
        other = next(each for each in self.pair if each is not leader)
        collector, port = self.collector_with_port("gpu-1")
        collector.command = [*collector.command, "--analyzer", f"{leader.grpc},{other.grpc}"]
        collector.start()
        wait_until(lambda: verdict(leader, "gpu-1") == "HEALTHY", 30, why=leader.log)
        time.sleep(3)
        leader.kill()
        time.sleep(1)
        sysfs_tree.rewrite(port, "1: DOWN")
        wait_until(lambda: leads(other), 30, why=other.log)
        wait_until(lambda: links_down(other, "gpu-1"), 20, why=lambda: f"{verdict(other, 'gpu-1')}\n{other.log()}\n{collector.log()}")
        self.assertEqual("UNHEALTHY", verdict(other, "gpu-1"))
        self.assertEqual([], other.incidents("LINK_FLAP"), "it went down once")


class InASite(FabriclessSite):
    collector_with_port = test_moved_collectors.MovedCollectors.collector_with_port

    def test_a_port_that_fails_while_its_collector_moves_is_down(self):
        collector, port = self.collector_with_port("gpu-2", 0xB83FD203_0000_0071)
        collector.command = [*collector.command, "--analyzer", f"{self.north.grpc},{self.south.grpc}"]
        collector.start()
        wait_until(lambda: verdict(self.north, "gpu-2") == "HEALTHY", 30, why=self.north.log)
        time.sleep(3)
        self.north.kill()
        sysfs_tree.rewrite(port, "1: DOWN")
        try:
            wait_until(lambda: links_down(self.south, "gpu-2"), 40, why=lambda: f"{self.south.log()}\n{collector.log()}")
        finally:
            self.north.start(wait=False)
            self.wait_log(self.north, "HTTP on")
        wait_until(lambda: verdict(self.north, "gpu-2") == "UNHEALTHY", 30, why=self.north.log)

    def starts(self, weftd: Weftd) -> bool:
        """Does its start wait for a lock of the database?"""
        return f"/{weftd.process.pid} " in self.postgres.primary.sql(
            "SELECT application_name || ' ' FROM pg_stat_activity WHERE application_name LIKE '%start' AND wait_event_type = 'Lock'")

    def test_a_start_names_who_locks_its_tables_and_goes_on_afterwards(self):
        weftd = self.make("locked")
        self.addCleanup(weftd.stop)
        weftd.start(wait=False)
        self.wait_log(weftd, "HTTP on")
        for lock, words, beside in (("LOCK TABLE weft_shard_locked.number IN ACCESS EXCLUSIVE MODE", "its tables are in use: ", "; a start waits for that"),
                                    ("LOCK TABLE weft_shard_locked.plan IN ACCESS EXCLUSIVE MODE", "its tables are in use: ", "; a start waits for that"),
                                    ("SELECT 1 FROM weft_shard_locked.weft_beat FOR UPDATE", "this standby cannot take over: the row of the lease is locked: ",
                                     "standing by: nobody is seen to have the database")):
            with self.subTest(lock):
                weftd.stop(remove=False)
                psql = self.postgres.hold(self, lock)
                before = len(weftd.log())
                weftd.start(wait=False)

                def said(before=before) -> str:
                    return weftd.log()[before:]

                wait_until(lambda words=words, said=said: words in said(), 15, why=said)
                time.sleep(5)
                self.assertEqual(1, said().count(words), said())
                self.assertIn(f"in use: blocker {psql.pid}, process ", said())
                self.assertIn(beside, said())
                self.assertFalse(leads(weftd))
                self.assertNotIn("does not answer", said())
                psql.stdin.write("COMMIT;\n\\q\n")
                psql.stdin.flush()
                wait_until(lambda: leads(weftd), 20, why=said)

    def test_a_start_waits_for_one_that_hangs(self):
        first = self.postgres.hold(self, "SELECT pg_advisory_xact_lock(8313759)")
        good, hanging = self.make("good"), self.make("hanging")
        for weftd in (good, hanging):
            self.addCleanup(weftd.stop)
            time.sleep(0.5)
            weftd.start(wait=False)
            wait_until(lambda weftd=weftd: self.starts(weftd), 30, why=weftd.log)
        hanging.process.send_signal(signal.SIGSTOP)
        try:
            first.stdin.write("COMMIT;\n\\q\n")
            first.stdin.flush()
            wait_until(lambda: "HTTP on" in good.log() or good.process.poll() is not None, 40, why=good.log)
            self.assertIsNone(good.process.poll(), good.log())
            self.assertIn(f"/{hanging.process.pid} start, process ", good.log())
            self.assertNotIn("repeat it", good.log())
        finally:
            hanging.process.send_signal(signal.SIGCONT)
            hanging.kill()


if __name__ == "__main__":
    weft_testing.main()
