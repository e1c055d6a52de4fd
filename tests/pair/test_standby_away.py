# SPDX-License-Identifier: Apache-2.0
"""What two weftd say while their database confirms no commit, because its synchronous standby is away, and while somebody holds a lock on a table
that whoever takes over must read. Their role has no rights beyond its own database."""

import datetime
import os
import sys
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "infiniband"))

import weft_testing  # noqa: E402
from fabricless_site import FabriclessSite  # noqa: E402
from pair_testing import leads  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Answer, Weftd, wait_until, weftctl  # noqa: E402

STORE = """
enabled = false
[store]
url = "{url}"
"""
WAITS = "its commits wait for a synchronous standby that is not connected (pg_stat_replication): start it"


class OnAPlainRole(unittest.TestCase):
    def setUp(self):
        if missing():
            self.skipTest(f"not installed: {', '.join(missing())}")
        self.postgres = PostgresPair()
        self.addCleanup(self.postgres.stop)
        self.postgres.start_alone()
        self.postgres.primary.sql("CREATE ROLE plain LOGIN")
        self.postgres.primary.sql("CREATE DATABASE fabric OWNER plain")
        self.postgres.add_standby()
        url = f"postgresql://plain@127.0.0.1:{self.postgres.primary.port}/fabric"
        self.pair = [Weftd(dict(os.environ), infiniband=STORE.format(url=url)) for _ in range(2)]
        for weftd in self.pair:
            self.addCleanup(weftd.stop)
            weftd.start(wait=False)
            FabriclessSite.wait_log(weftd, "HTTP on")

    def roles(self) -> tuple[Weftd, Weftd]:
        leader = wait_until(lambda: next((each for each in self.pair if leads(each)), None), 30, why=self.logs)
        return leader, next(each for each in self.pair if each is not leader)

    def logs(self) -> str:
        return "".join(f"-- {number}\n{weftd.log()}" for number, weftd in enumerate(self.pair))

    def role(self, weftd: Weftd) -> dict:
        return weftd.client.json("/api/v1/status").get("leadership", {})

    def not_ready(self, weftd: Weftd) -> str:
        try:
            return weftd.client.text("/readyz?role=leader")
        except Answer as answer:
            return str(answer)

    def silence(self, weftd: Weftd) -> float:
        return next(float(line.split()[1]) for line in weftd.client.text("/metrics").splitlines() if line.startswith("weft_lease_silence_seconds "))


class StandbyAway(OnAPlainRole):
    def test_what_the_commits_wait_for_is_said_by_both(self):
        leader, standby = self.roles()
        time.sleep(3)
        before = {weftd: len(weftd.log()) for weftd in self.pair}
        self.postgres.standby.stop()
        for weftd in (leader, standby):
            wait_until(lambda weftd=weftd: WAITS in self.role(weftd).get("trouble", ""), 20, why=lambda weftd=weftd: f"{self.role(weftd)}\n{self.logs()}")
        for _ in range(30):  # for a while: a commit is given up and the next one waits
            for weftd in (leader, standby):
                self.assertIn(WAITS, self.role(weftd).get("trouble", ""), self.logs())
            time.sleep(0.5)
        for weftd in (leader, standby):
            self.assertIn(WAITS, self.not_ready(weftd))
            status = weftctl(weftd, "status")
            self.assertEqual(1, status.returncode, status.stdout + status.stderr)
            self.assertIn(WAITS, status.stdout)
            said = weftd.log()[before[weftd]:]
            self.assertIn(WAITS, said)
            self.assertNotIn("in use: ", said)
            self.assertGreater(self.silence(weftd), 12, "the alert WeftPairDegraded sees it")
        self.assertEqual(1, standby.log()[before[standby]:].count("cannot take over"), self.logs())
        self.assertNotIn("can take over again", standby.log()[before[standby]:])
        note = weftctl(standby, "incidents").stderr
        self.assertIn("its incidents and plans are as the database has them", note)
        self.assertIn("; a leader may know more that it could not store", note)
        self.postgres.standby.start()
        for weftd in (leader, standby):
            wait_until(lambda weftd=weftd: not self.role(weftd).get("trouble"), 20, why=self.logs)
        self.assertTrue(leads(leader), self.logs())


class LockedLedger(OnAPlainRole):
    def test_nobody_leads_while_the_ledger_is_locked(self):
        leader, standby = self.roles()
        time.sleep(3)
        psql = self.postgres.hold(self, "LOCK TABLE incident", called="somebody else", database="fabric")
        leader.kill()
        before = len(standby.log())
        reason = "this weftd holds the lease and cannot read the store yet: "
        wait_until(lambda: reason in self.role(standby).get("trouble", ""), 30, why=lambda: f"{self.role(standby)}\n{standby.log()}")
        time.sleep(8)
        now = self.role(standby)
        self.assertEqual("", now.get("leader", ""), "nobody leads")
        self.assertIn("in use: somebody else, process ", now["trouble"])
        self.assertIn(reason, self.not_ready(standby))
        self.assertGreater(self.silence(standby), 10)
        status = weftctl(standby, "status")
        self.assertEqual(1, status.returncode, status.stdout)
        self.assertIn("nobody leads", status.stdout)
        self.assertIn("in use: somebody else, process ", status.stdout)
        self.assertEqual(1, standby.log()[before:].count("cannot lead yet: "), standby.log())
        psql.stdin.write("COMMIT;\n")
        psql.stdin.flush()
        freed = time.time()
        wait_until(lambda: leads(standby), 15, why=standby.log)
        since = datetime.datetime.fromisoformat(self.role(standby)["since"]).timestamp()
        self.assertGreater(since, freed - 1, "since it leads, not since it has the lease")
        self.assertFalse(self.role(standby).get("trouble"))


if __name__ == "__main__":
    weft_testing.main()
