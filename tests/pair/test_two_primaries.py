# SPDX-License-Identifier: Apache-2.0
"""A person promotes the standby of the database while its old primary goes on: two servers take writes. Two weftd know both, the old primary
first. What holds while the old one waits for a standby, and what nobody can promise when it waits no more."""

import time

from pair_testing import TAKEOVER, WithPair
import weft_testing
from weft_testing import wait_until


class TwoPrimaries(WithPair):
    KNOWS_BOTH = True

    def logs(self) -> str:
        return "".join(f"-- {number}\n{weftd.log()}" for number, weftd in enumerate(self.pair))

    def beat(self) -> int:
        return int(self.sql("SELECT n FROM weft_beat"))

    def pull(self, number: int) -> None:
        host = self.subnet.network.hosts()[number]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)

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


if __name__ == "__main__":
    weft_testing.main()
