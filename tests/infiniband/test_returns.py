# SPDX-License-Identifier: Apache-2.0
"""Links that automation took out come back when their time has passed and not when the clock says so: one probation of a switch at a
time, and no more in an hour than the budget allows."""

import os
import shutil
import tempfile
import time
import unittest

import weft_testing
from physical_layer import Snapshot
from shifted_clock import SHIM, ShiftedClock
from weft_testing import fat_tree, wait_until, weftctl_json

HOUR = 3600
REINSTATE_AFTER = 45  # seconds
RETURNS = 2  # of three links that are out
REMEDIES = f"""
[remedy]
isolate_link = "auto"
restore_link = "auto"
[remedy.limits]
reading_interval = "500ms"
stale_intervals = 20
reinstate_after = "{REINSTATE_AFTER}s"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.budget]
cool_down = "0s"
out_per_switch = 4
out_per_rail = 4
returns_per_hour = {RETURNS}
[remedy.limits.verification]
windows = 3
within = "40s"
probation = "5s"
"""
PATIENCE = 90


@unittest.skipUnless(os.path.exists(SHIM), "clock_shim.so is not built")
class Returns(weft_testing.LayeredSubnetTest):
    infiniband = REMEDIES
    analyzer = 'error_window_minimum = "2s"'

    @classmethod
    def make_network(cls):
        return fat_tree.build(8, rails=1, radix=8)

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-clock-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        super().setUpClass()
        cls.clock = ShiftedClock(os.path.join(place, "clock"))
        cls.weftd.stop(remove=False)
        cls.clock.preload_in(cls.weftd.environment)
        cls.weftd.start()
        cls.weftd.wait_sweeps(1)

    def plans(self, action: str, *states: str) -> list[dict]:
        return [plan for plan in weftctl_json(self.weftd, "plans", "--all").get("plans", [])
                if plan["action"] == action and (not states or plan["state"] in states)]

    def ends(self, leaf, number: int):
        return (leaf.name, number), (self.network.nodes[leaf.ports[number].node].name, leaf.ports[number].port)

    def isolate_for_errors(self, ends, count: int) -> None:
        """Until so many links are out."""
        errors = 0

        def out():
            nonlocal errors
            if not self.plans("ISOLATE_LINK", "EXECUTING", "VERIFYING") and len(self.plans("ISOLATE_LINK")) < count:
                errors = min(60_000, errors + 20_000)
                self.subnet.set_counters((name, number, "PortCounters.SymbolErrorCounter", errors) for name, number in ends)
            self.weftd.wait_sweeps(1)
            return len(self.plans("ISOLATE_LINK", "COMMITTED")) == count

        wait_until(out, within=PATIENCE, why=lambda: f"it is not taken out: {self.plans('ISOLATE_LINK')}\n{self.weftd.log()}")
        self.subnet.set_counters((name, number, "PortCounters.SymbolErrorCounter", 0) for name, number in ends)

    def test_they_come_back_one_after_the_other_and_no_more_than_the_budget(self):
        first, second = [node for node in self.network.switches if node.name.startswith("leaf")]
        uplinks = {leaf.name: [number for number, end in sorted(leaf.ports.items())
                               if self.network.nodes[end.node].name.startswith("spine")] for leaf in (first, second)}
        bad = [self.ends(first, uplinks[first.name][1]), self.ends(first, uplinks[first.name][2]), self.ends(second, uplinks[second.name][1])]
        spines = {far for _, (far, _) in bad}
        self.assertEqual(1, len(spines), "all of them are of one spine")
        begun = time.monotonic()
        for count, ends in enumerate(bad, 1):
            self.isolate_for_errors(ends, count)
        for shift in (25 * HOUR, -25 * HOUR, 0):
            self.clock.set(shift)
            self.weftd.wait_sweeps(4)
            if time.monotonic() - begun < REINSTATE_AFTER - 2:
                self.assertEqual([], self.plans("RESTORE_LINK"), f"the clock was set to {shift} s")
                down = self.weftd.incidents("LINK_DOWN")
                self.assertEqual(len(bad), len(down))
                self.assertTrue(all(incident.get("maintenanceId") for incident in down), f"nobody is paged for what plans hold: {down}")

        def back():
            self.assertLessEqual(len(self.plans("RESTORE_LINK", "EXECUTING", "VERIFYING")), 1, "two of one switch are on probation")
            return len(self.plans("RESTORE_LINK", "COMMITTED")) == RETURNS

        wait_until(back, within=PATIENCE + REINSTATE_AFTER, why=lambda: f"they do not come back: {self.plans('RESTORE_LINK')}\n{self.weftd.log()}")
        self.assertGreaterEqual(time.monotonic() - begun, REINSTATE_AFTER)

        def refused():
            budget = [guard["explanation"] for plan in self.plans("RESTORE_LINK", "PROPOSED", "APPROVED") for guard in plan["guards"]
                      if (guard["guard"], guard["result"]) == ("BUDGET", "REFUSED")]
            return len(budget) == 1 and budget[0].startswith(
                f"returns per hour are used up: {RETURNS} (remedy.limits.budget.returns_per_hour); the next one is free at 20")

        for shift in (0, 2 * HOUR, -2 * HOUR):
            self.clock.set(shift)
            wait_until(refused, within=PATIENCE, why=lambda: f"{self.plans('RESTORE_LINK')}\n{self.weftd.log()}")
            self.weftd.wait_sweeps(4)
            self.assertEqual(RETURNS, len(self.plans("RESTORE_LINK", "EXECUTING", "VERIFYING", "COMMITTED")), f"the clock was set to {shift} s")
        states = [Snapshot.of(self.subnet).ports[self.network.find(name).identity, number].state for (name, number), _ in bad]
        self.assertEqual(["Active", "Active", "Down"], sorted(states))


if __name__ == "__main__":
    weft_testing.main()
