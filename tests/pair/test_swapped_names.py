# SPDX-License-Identifier: Apache-2.0
"""Two weftd on one PostgreSQL whose ports lead to the same two subnets under each other's names. The one that takes over goes on with the incidents of both:
none is doubled, none ends that is true, and what was acknowledged stays so."""

import os
import time
import unittest

from pair_testing import STORE, leads
from postgres_pair import PostgresPair, missing
from test_other_subnet import another_tree

import weft_testing
from weft_testing import Weftd, fat_tree, simulated_subnet, wait_until, weftctl

NAMES = ("compute", "storage")


class SwappedNames(unittest.TestCase):
    def setUp(self):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        self.postgres = PostgresPair()
        self.addCleanup(self.postgres.stop)
        self.postgres.start_alone()
        self.subnets = [simulated_subnet.SimulatedSubnet(tree) for tree in (fat_tree.build(8, rails=1, radix=8), another_tree())]
        for subnet in self.subnets:
            self.addCleanup(subnet.stop)
            subnet.start()
        self.pair = [self.start(number) for number in (0, 1)]
        wait_until(lambda: leads(self.pair[0]), 30, why=self.pair[0].log)

    def start(self, number: int) -> Weftd:
        weftd = Weftd(dict(os.environ), infiniband=STORE.format(servers=f"127.0.0.1:{self.postgres.primary.port}"))
        self.addCleanup(weftd.stop)
        subnets = self.subnets[::-1] if number else self.subnets
        sweeper = weft_testing.write_chooser(os.path.join(weftd.place, "sweeper"), "weft-sweeper", {
            f"--fabric {name}": subnet.environment(subnet.network.hosts()[-1 - number].identity) for name, subnet in zip(NAMES, subnets)}, "--port", "1")
        weftd.extra = ("--infiniband-ports", ",".join(f"{name}=ibsim0:{port}" for port, name in enumerate(NAMES, 1)), "--infiniband-sweeper", sweeper,
                       "--analyzer-telemetry-start-grace", "10s")
        weftd.start()
        wait_until(lambda: all(each.get("watching") for each in weftd.client.json("/api/v1/fabrics")["fabrics"]), 90, why=weftd.log)
        return weftd

    def test_each_incident_goes_on(self):
        leader, standby = self.pair
        for subnet in self.subnets:
            subnet.unlink(subnet.network.hosts()[2].identity, 1)  # neither weftd's nor OpenSM's
        wait_until(lambda: len(leader.incidents("LINK_DOWN")) == 2, 60, why=leader.log)
        of = {each["cause"]["fabric"]: each["id"] for each in leader.incidents()}
        self.assertEqual(set(NAMES), set(of))
        self.assertEqual(0, weftctl(leader, "acknowledge", of["storage"], "--who", "anna").returncode)
        leader.kill()
        wait_until(lambda: leads(standby), 60, why=standby.log)
        until = time.monotonic() + 40  # beyond the grace of a start, after which subnets are looked for under other names
        while time.monotonic() < until:
            now = standby.incidents(open_only=False)
            self.assertEqual(sorted(of.values()), sorted(each["id"] for each in now), f"{now}\n{standby.log()}")
            time.sleep(1)
        open_now = {each["cause"]["fabric"]: each for each in standby.incidents()}
        self.assertEqual({"compute": of["storage"], "storage": of["compute"]}, {name: each["id"] for name, each in open_now.items()})
        self.assertEqual("ACKNOWLEDGED", open_now["compute"]["state"])
        known = dict(line.split("|") for line in self.postgres.primary.sql("SELECT fabric, count(*) FROM link GROUP BY 1").splitlines())
        self.assertEqual(set(NAMES), set(known))


if __name__ == "__main__":
    weft_testing.main()
