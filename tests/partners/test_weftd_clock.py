# SPDX-License-Identifier: Apache-2.0
"""The clock of a real weftd is set forward and back while plans wait: nothing is due for it, no budget is filled, and no approval is
good for longer. Its drains go to a real Slurm."""

import os
import shutil
import tempfile
import time
import unittest

import weftd_partners
from shifted_clock import SHIM, ShiftedClock
from slurm_cluster import SlurmCluster, missing
from weftd_partners import wait_until, weft_testing, weftctl

HOUR = 3600
UNDRAIN_AFTER = 15  # seconds
EXPIRY = 60  # seconds: the shortest that may be set
SLURM = """\
[remedy.slurm]
enabled = true
slurm_conf = "{slurm_conf}"
timeout = "25s"
"""


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
@unittest.skipUnless(os.path.exists(SHIM), "clock_shim.so is not built")
class WithClock(weftd_partners.WithScheduler):
    limits = ""
    drain = "auto"

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-clock-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.slurm = SlurmCluster(len(weftd_partners.NAMED))
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        settings = cls.remedies(SLURM.format(slurm_conf=cls.slurm.configuration))
        cls.infiniband = settings.replace('undrain_after = "1s"', f'undrain_after = "{UNDRAIN_AFTER}s"\n{cls.limits}').replace(
            'drain_node = "auto"', f'drain_node = "{cls.drain}"', 1)
        super().setUpClass()
        cls.clock = ShiftedClock(os.path.join(cls.place, "clock"))
        cls.weftd.stop(remove=False)
        cls.clock.preload_in(cls.weftd.environment)
        cls.weftd.start()
        cls.weftd.wait_sweeps(1)

    def set_clock(self, seconds: float) -> None:
        """weftd notices with its next review, and has had time to act then."""
        self.clock.set(seconds)
        self.weftd.wait_sweeps(4)

    def restart(self, seconds: float, down: float = 0) -> None:
        """The clock is set while no weftd runs, for `down` seconds."""
        self.weftd.kill()
        time.sleep(down)
        self.clock.set(seconds)
        self.weftd.start()
        self.weftd.wait_sweeps(4)


class NothingIsDue(WithClock):
    limits = f'expiry = "{EXPIRY}s"'

    def test_a_host_comes_back_when_the_time_has_passed_and_not_when_the_clock_says_so(self):
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.subnet.relink("n1 mlx5_0", 1)
        wait_until(lambda: not [i for i in self.weftd.incidents() if i["id"] == plan["incidentId"]], within=90, why="it is not over")
        over = time.monotonic()
        for shift in (400 * 24 * HOUR, 25 * HOUR, -25 * HOUR, 0):
            self.set_clock(shift)
            known = [incident["id"] for incident in self.weftd.incidents(open_only=False)]
            self.assertIn(plan["incidentId"], known, f"set to {shift} s: it is over since a moment ago, and forgotten")
            if time.monotonic() - over < UNDRAIN_AFTER - 2:
                self.assertEqual([], [each for each in self.plans() if each["action"] == "UNDRAIN_NODE"], f"set to {shift} s")
        back = self.plan("n1", "UNDRAIN_NODE", "VERIFYING", "COMMITTED")
        self.assertGreaterEqual(time.monotonic() - over, UNDRAIN_AFTER - 2)
        self.assertEqual(plan["id"], back["undoes"])


class AnHour(WithClock):
    @classmethod
    def remedies(cls, scheduler: str) -> str:
        return super().remedies(scheduler).replace("[remedy.limits.budget]\n", "[remedy.limits.budget]\nactions_per_hour = 1\n")

    def expect_no_budget(self, when: str) -> None:
        def used_up():
            # The plan keeps the first reason of a refusal that lasts; n2 is not seen any more.
            seen = weftctl(self.weftd, "drain", "n4", "--dry-run")
            return "actions per hour are used up: 1 " in seen.stdout

        wait_until(used_up, within=30, why=lambda: f"{when}: {self.plans()}")
        self.weftd.wait_sweeps(4)
        self.assertTrue(used_up(), when)
        self.plan("n2", "DRAIN_NODE", "PROPOSED")
        self.assertNotIn("DRAIN", self.slurm.state("n2"), when)

    def test_no_step_of_the_clock_fills_the_budget(self):
        self.subnet.unlink("n1 mlx5_0", 1)
        self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.subnet.unlink("n2 mlx5_0", 1)
        self.expect_no_budget("before")
        for shift in (2 * HOUR, -2 * HOUR, 25 * HOUR, 0):
            self.set_clock(shift)
            self.expect_no_budget(f"set to {shift} s")
        for shift in (2 * HOUR, -2 * HOUR):
            self.restart(shift)
            self.expect_no_budget(f"started anew, set to {shift} s")


class Approvals(WithClock):
    """n1's drain is approved and waits: n3's is under way at a scheduler that hangs, and then hands are off."""
    limits = f'expiry = "{EXPIRY}s"'
    drain = "propose"

    def state(self, host: str) -> dict:
        return [plan for plan in self.plans() if plan["target"]["host"] == host][-1]

    def test_an_approval_expires_when_its_time_has_passed_whatever_the_clock_says(self):
        self.subnet.unlink("n1 mlx5_0", 1)
        proposal = self.plan("n1", "DRAIN_NODE", "PROPOSED")
        self.slurm.pause_controller()
        self.addCleanup(self.slurm.resume_controller)
        self.assertEqual(0, weftctl(self.weftd, "drain", "n3", "--reason", "new memory").returncode)
        self.plan("n3", "DRAIN_NODE", "EXECUTING")
        done = weftctl(self.weftd, "approve", proposal["id"])
        self.assertEqual(0, done.returncode, done.stderr)
        approved = time.monotonic()
        self.assertEqual(0, weftctl(self.weftd, "hands-off", "on", "--reason", "wait", "--who", "ann").returncode)
        self.slurm.resume_controller()
        self.assertEqual("APPROVED", self.state("n1")["state"])
        for shift in (25 * HOUR, -10 * HOUR):
            self.set_clock(shift)
            if time.monotonic() - approved < EXPIRY / 2:
                self.assertEqual("APPROVED", self.state("n1")["state"], f"set to {shift} s: it had time left")
        # Set back by as much as no weftd runs: by this clock no time passes.
        down = EXPIRY * 2 / 3
        self.restart(-10 * HOUR - down, down=down)
        lapsed = self.plan("n1", "DRAIN_NODE", "PROPOSED")
        self.assertLess(time.monotonic() - approved, EXPIRY + 25, "it was good for longer than it was given for")
        self.assertEqual(proposal["id"], lapsed["id"], "the trouble lasts: it is the same plan")
        self.assertGreater(int(lapsed["revision"]), int(proposal["revision"]))
        self.assertIn("it could not start in time", weftctl(self.weftd, "plan", lapsed["id"]).stdout)

        self.assertEqual(0, weftctl(self.weftd, "hands-off", "off", "--reason", "go on").returncode)
        self.weftd.wait_sweeps(8)
        self.assertNotIn("DRAIN", self.slurm.state("n1"), "nobody approved it anew")
        self.assertEqual(0, weftctl(self.weftd, "approve", lapsed["id"]).returncode)
        self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n1"))


if __name__ == "__main__":
    weft_testing.main()
