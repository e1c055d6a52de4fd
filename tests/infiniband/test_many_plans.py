# SPDX-License-Identifier: Apache-2.0
"""More trouble than there is room for plans: what gets none is counted and recorded, and gets one when there is room again."""

import weft_testing
from weft_testing import wait_until, weftctl, weftctl_json

ROOM = 10  # plans: the least that may be set
BAD = ROOM + 2
REMEDIES = f"""
[remedy]
isolate_link = "propose"
[remedy.limits]
retained_plans = {ROOM}
"""


class ManyPlans(weft_testing.SubnetTest):
    # Gross errors open an incident at once; it stays open while the counters stand still.
    analyzer = 'error_window_minimum = "10m"'
    infiniband = REMEDIES

    def links(self):
        """One end of each link between two switches."""
        for leaf in self.network.switches:
            if leaf.name.startswith("leaf"):
                for number, end in sorted(leaf.ports.items()):
                    if self.network.nodes[end.node].name.startswith("spine"):
                        yield (leaf.name, number), (self.network.nodes[end.node].name, end.port)

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans").get("plans", [])

    def is_counted(self, count: int) -> bool:
        return f"weft_remedy_without_plan {count}\n" in self.weftd.metrics()

    def test_trouble_that_gets_no_plan_is_counted(self):
        bad = list(self.links())[:BAD]
        self.assertEqual(BAD, len(bad))
        self.assertTrue(self.is_counted(0))
        errors = 0

        def all_found():
            nonlocal errors
            errors = min(60_000, errors + 20_000)
            self.subnet.set_counters((name, number, "PortCounters.SymbolErrorCounter", errors) for ends in bad for name, number in ends)
            self.weftd.wait_sweeps(1)
            return len(self.weftd.incidents("LINK_ERRORS")) == BAD

        wait_until(all_found, within=90, why=self.shown)
        wait_until(lambda: self.is_counted(BAD - ROOM), why=lambda: f"{self.plans()}\n{self.weftd.metrics()}")
        self.assertEqual(ROOM, len(self.plans()))
        self.assertIn(f"{ROOM} plans are open: new incidents get none", weftctl(self.weftd, "audit").stdout)
        done = weftctl(self.weftd, "reject", self.plans()[0]["id"], "--reason", "it is known")
        self.assertEqual(0, done.returncode, done.stderr)
        wait_until(lambda: self.is_counted(BAD - ROOM - 1), why=lambda: f"the room is not used: {self.plans()}")
        self.assertEqual(ROOM, len(self.plans()), "one that was without has one now")


if __name__ == "__main__":
    weft_testing.main()
