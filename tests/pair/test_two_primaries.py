# SPDX-License-Identifier: Apache-2.0
"""A person promotes the standby of the database while its old primary goes on: two servers take writes. Two weftd know both, the old primary
first. What holds while the old one waits for a standby, and what nobody can promise when it waits no more."""

import time

from pair_testing import TAKEOVER, WithPair, leads
import weft_testing
from weft_testing import wait_until, weftctl


class KnowsBoth(WithPair):
    KNOWS_BOTH = True

    def logs(self) -> str:
        return "".join(f"-- {number}\n{weftd.log()}" for number, weftd in enumerate(self.pair))

    def beat(self) -> int:
        return int(self.sql("SELECT n FROM weft_beat"))

    def pull(self, number: int) -> None:
        host = self.subnet.network.hosts()[number]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)


class LatePromotion(KnowsBoth):
    def test_what_waits_for_a_commit_that_waits_for_a_standby_finds_the_promoted_server(self):
        self.roles()
        self.postgres.standby.sql("ALTER SYSTEM SET primary_conninfo = ''")
        self.postgres.standby.sql("SELECT pg_reload_conf()")
        time.sleep(8)  # a commit has waited for longer than it is waited for, and holds the rows of the lease and the store
        self.postgres.promote()
        since, first = time.monotonic(), self.beat()
        wait_until(lambda: self.beat() > first, 60, why=self.logs)
        self.assertLess(time.monotonic() - since, TAKEOVER)
        self.pull(0)
        wait_until(lambda: self.sql("SELECT count(*) FROM incident") != "0", 60, why=self.logs)


class TwoPrimaries(KnowsBoth):
    def former(self):
        """The server that was the primary. It goes on."""
        return self.postgres.standby

    def test_1_the_promoted_server_is_found_beside_the_old_one(self):
        self.roles()
        self.postgres.promote()
        since, first = time.monotonic(), self.beat()
        wait_until(lambda: self.beat() > first, 60, why=self.logs)
        took = time.monotonic() - since
        print(f"    a leader beats on the promoted server after {took:.1f} s", flush=True)
        self.assertLess(took, TAKEOVER)
        # The standby only reads, and both servers answer.
        leader, standby = self.roles()
        self.pull(0)
        incident = wait_until(lambda: next(iter(leader.incidents("LINK_DOWN")), None), 30, why=self.logs)
        wait_until(lambda: any(each["id"] == incident["id"] for each in standby.incidents("LINK_DOWN")), 60, why=self.logs)
        standby.kill()
        standby.start()
        self.assertEqual([incident["id"]], [each["id"] for each in standby.incidents("LINK_DOWN")], "a start, too, reads the promoted server")

    def test_2_nobody_can_promise_what_the_old_primary_confirms_without_a_standby(self):
        """As the guide says under what is not promised: a person promotes, and lets the old primary confirm alone."""
        former = self.former()
        here, there = self.pair  # the first reaches the old primary alone, the second the promoted one
        self.wires_to_standby[0].is_cut = self.wires[1].is_cut = True
        for _ in range(15):
            time.sleep(1)
            self.assertFalse(leads(here) and leads(there), self.logs())
        self.assertFalse(leads(here), f"the old primary waits for a standby, so it confirms nothing\n{self.logs()}")
        wait_until(lambda: leads(there), 30, why=self.logs)
        self.postgres.set_standbys(former, "")
        wait_until(lambda: leads(here), 30, why=self.logs)
        self.assertTrue(leads(there) and leads(here), self.logs())
        # What it promises now is there alone, and lost with it.
        promised = weftctl(here, "maintenance", "add", self.subnet.network.hosts()[5].name.split()[0], "--for", "1h", "--reason", "promised in vain")
        self.assertEqual(0, promised.returncode, promised.stderr)
        self.assertNotIn("promised in vain", weftctl(there, "maintenance").stdout)

        # The person stops the old primary, and the network is whole: one of them leads again, without help.
        former.stop()
        self.wires_to_standby[0].is_cut = self.wires[1].is_cut = False
        wait_until(lambda: not leads(here) or not leads(there), 10, why=self.logs)
        leader, standby = self.roles()
        self.assertIs(there, leader, "it had the promoted server all the time")
        for weftd in (leader, standby):
            wait_until(lambda each=weftd: weftctl(each, "maintenance").returncode == 0, 30, why=self.logs)
            self.assertNotIn("promised in vain", weftctl(weftd, "maintenance").stdout)


if __name__ == "__main__":
    weft_testing.main()
