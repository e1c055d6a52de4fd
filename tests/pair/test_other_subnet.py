# SPDX-License-Identifier: Apache-2.0
"""Two weftd on one PostgreSQL on two subnets that have the same name and prefix, with ports that are found: a leader that loses its port keeps the
lead, for the other one watches another subnet. What it gives no lead to it does not advise. Where it ends all the same, its subnet is kept apart from
the other one's and is TELEMETRY_LOST, until a port leads there again."""

import os
import re
import time
import unittest

from pair_testing import STORE, leads
from postgres_pair import PostgresPair, missing

import weft_testing
from weft_testing import Weftd, fat_tree, simulated_subnet, wait_until, weftctl

OTHER = 0x100000


def another_tree():
    """As fat_tree.build(), with GUIDs of its own."""
    before = {name: getattr(fat_tree, name) for name in dir(fat_tree) if name.endswith("_GUIDS")}
    try:
        for name, value in before.items():
            setattr(fat_tree, name, value + OTHER)
        return fat_tree.build(8, rails=1, radix=8)
    finally:
        for name, value in before.items():
            setattr(fat_tree, name, value)


class OtherSubnet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        cls.subnets = [simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8)), simulated_subnet.SimulatedSubnet(another_tree())]
        cls.pair: list[Weftd] = []
        try:
            cls.postgres.start_alone()
            for subnet in cls.subnets:
                subnet.start()
                cls.pair.append(Weftd(subnet.environment(subnet.network.hosts()[-1].identity), infiniband=STORE.format(servers=f"127.0.0.1:{cls.postgres.primary.port}"),
                                      extra=("--infiniband-ports", "auto", "--analyzer-telemetry-start-grace", "15s")))
                cls.pair[-1].start()
                cls.pair[-1].wait_sweeps(1)
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for each in [*cls.pair, *cls.subnets, cls.postgres]:
            each.stop()

    def sight(self) -> str:
        return self.postgres.primary.sql("SELECT query FROM pg_stat_activity WHERE application_name LIKE 'weftd % lease' AND query LIKE 'SELECT%'")

    def fabrics(self, weftd: Weftd) -> dict[str, bool]:
        return {each["name"]: each.get("watching", False) for each in weftd.client.json("/api/v1/fabrics")["fabrics"]}

    def test_1_a_leader_keeps_its_subnet(self):
        leader, standby = self.pair
        self.assertTrue(leads(leader))
        wait_until(lambda: re.search(r"/\* sees \+[0-9a-f,]+ \*/", self.sight()), 30, why=self.sight)
        host = self.subnets[0].network.hosts()[-1].identity
        self.subnets[0].unlink(host, 1)
        self.addCleanup(self.subnets[0].relink, host, 1)
        wait_until(lambda: leader.incidents("TELEMETRY_LOST"), 60, why=leader.log)
        until = time.monotonic() + 75
        while time.monotonic() < until:
            self.assertNotIn("stands by and sees it", weftctl(leader, "status").stdout)
            time.sleep(5)
        self.assertTrue(leads(leader), leader.log())
        self.assertFalse(leads(standby), standby.log())
        self.assertNotIn("gives the lead", leader.log())

    def test_2_the_subnet_of_a_leader_that_ended_is_lost(self):
        leader, standby = self.pair
        first, name = self.subnets[0], next(iter(self.fabrics(leader)))
        switch = min(first.network.switches, key=lambda each: each.guid)
        kept = f"{name}@0x{switch.guid:016x}"
        host = first.network.hosts()[2].identity  # neither weftd's nor OpenSM's
        first.unlink(host, 1)
        self.addCleanup(first.relink, host, 1)
        wait_until(lambda: leader.incidents("LINK_DOWN"), 60, why=leader.log)
        down = leader.incidents("LINK_DOWN")[0]["id"]
        leader.kill()
        wait_until(lambda: leads(standby), 60, why=standby.log)
        wait_until(lambda: self.fabrics(standby) == {name: True, kept: False}, 60, why=lambda: f"{self.fabrics(standby)}\n{standby.log()}")
        lost = wait_until(lambda: next((each for each in standby.incidents("TELEMETRY_LOST")
                                        if "no active port of this host leads to it" in each["summary"]), None), 30, why=standby.log)
        self.assertEqual("CRITICAL", lost["severity"])
        self.assertEqual([(down, kept)], [(each["id"], each["cause"]["fabric"]) for each in standby.incidents("LINK_DOWN")])
        nodes = dict(line.split("|") for line in self.postgres.primary.sql("SELECT fabric, count(*) FROM node GROUP BY 1").splitlines())
        self.assertEqual({name: "11", kept: "11"}, nodes)
        # The one that ended comes back, and leads: it has its subnet, its links and its incident again, and the other one's is lost.
        leader.start()
        leader.wait_sweeps(1)
        standby.kill()
        wait_until(lambda: leads(leader), 60, why=leader.log)
        wait_until(lambda: [each["cause"]["fabric"] for each in leader.incidents("LINK_DOWN")] == [name], 60, why=leader.log)
        self.assertEqual(down, leader.incidents("LINK_DOWN")[0]["id"])
        wait_until(lambda: len(self.fabrics(leader)) == 2 and kept not in self.fabrics(leader), 60, why=lambda: f"{self.fabrics(leader)}\n{leader.log()}")

    def test_3_a_cable_that_is_in_another_subnet_after_a_restart(self):
        for each in self.pair:
            each.stop(remove=False)
        places = [subnet.environment(subnet.network.hosts()[-1].identity) for subnet in self.subnets]
        alone = Weftd(places[0], extra=("--infiniband-ports", "one=ibsim0:1", "--analyzer-telemetry-start-grace", "5s"))
        self.addCleanup(alone.stop)
        alone.start()
        alone.wait_sweeps(2)
        kept = [f"one@0x{min(each.guid for each in subnet.network.switches):016x}" for subnet in self.subnets]
        for now, lost in ((1, 0), (0, 1)):
            alone.stop(remove=False)
            alone.environment = places[now]
            alone.start()
            wait_until(lambda: self.fabrics(alone) == {"one": True, kept[lost]: False}, 60, why=lambda: f"{self.fabrics(alone)}\n{alone.log()}")
            wait_until(lambda: [each["cause"]["fabric"] for each in alone.incidents()] == [kept[lost]], 60, why=lambda: f"{alone.incidents()}\n{alone.log()}")


if __name__ == "__main__":
    weft_testing.main()
