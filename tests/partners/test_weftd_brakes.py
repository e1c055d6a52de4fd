# SPDX-License-Identifier: Apache-2.0
"""Between decision and act, through real programs: weftd on ibsim with OpenSM, and a real Slurm that is slow or does not answer. What waits
is stopped by a person's hands-off and by the hands-off file, and goes on when both let go."""

import os
import shutil
import tempfile
import time
import unittest

import weftd_partners
from slurm_cluster import PATH, SlurmCluster, missing
from weftd_partners import wait_until, weft_testing, weftctl, weftctl_json

SLURM = """\
hands_off_file = "{brake}/hands-off"
[remedy.slurm]
enabled = true
slurm_conf = "{slurm_conf}"
scontrol = "{scontrol}"
timeout = "25s"
"""
READING = 3  # seconds that a reading takes while Slurm is slow
TOO_LONG = 12  # seconds: longer than what the guards saw counts
SLOW_SCONTROL = """\
#!/bin/sh
if [ "$1" = show ] && [ -e {slow} ]; then sleep {reading}; fi
# One node alone is read directly before it is changed.
if [ "$1" = show ] && [ $# = 3 ] && rm {once} 2>/dev/null; then sleep {too_long}; fi
if [ "$1" = update ]; then echo "$2" >> {updates}; fi
exec {scontrol} "$@"
"""


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class WeftdAndItsBrakes(weftd_partners.WithScheduler):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-brakes-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.brake = os.path.join(cls.place, "brake")
        os.mkdir(cls.brake)
        cls.slow = os.path.join(cls.place, "slow")
        cls.once = os.path.join(cls.place, "once")
        cls.updates = os.path.join(cls.place, "updates")
        scontrol = os.path.join(cls.place, "scontrol")
        with open(scontrol, "w", encoding="utf-8") as script:
            script.write(SLOW_SCONTROL.format(slow=cls.slow, reading=READING, once=cls.once, too_long=TOO_LONG, updates=cls.updates,
                                              scontrol=shutil.which("scontrol", path=PATH)))
        os.chmod(scontrol, 0o755)
        cls.slurm = SlurmCluster(4)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.infiniband = cls.remedies(SLURM.format(slurm_conf=cls.slurm.configuration, scontrol=scontrol, brake=cls.brake)).replace(
            "[remedy.limits]\n", '[remedy.limits]\ncheck_interval = "1s"\n')
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)

    def clear(self):
        self.slurm.resume_controller()
        if os.path.exists(self.slow):
            os.unlink(self.slow)
        if os.path.islink(self.brake):
            os.unlink(self.brake)
        shutil.rmtree(self.brake, ignore_errors=True)
        os.mkdir(self.brake)
        weftctl(self.weftd, "hands-off", "off", "--reason", "the test is over")

    def slow_down(self):
        with open(self.slow, "w", encoding="utf-8"):
            pass

    def hands_off(self) -> dict:
        return weftctl_json(self.weftd, "hands-off")

    def wait_for(self, host: str, what, why: str) -> dict:
        def there():
            plan = [plan for plan in self.plans() if plan["target"]["host"] == host][-1]
            return plan if what(plan) else None

        return wait_until(there, within=60, why=lambda: f"{why}: {self.plans()}\n{self.weftd.log()}")

    def test_nothing_is_drained_after_hands_off_is_acknowledged(self):
        # A drain in force is read every second, so that the order for the next one waits behind such a reading.
        self.assertEqual(0, weftctl(self.weftd, "drain", "n3", "--reason", "new memory").returncode)
        self.plan("n3", "DRAIN_NODE", "COMMITTED")
        self.slow_down()
        self.assertEqual(0, weftctl(self.weftd, "drain", "n4", "--reason", "new memory").returncode)
        self.wait_for("n4", lambda plan: plan["intent"] == "APPLY", "the order is not sent")
        self.slurm.pause_controller()
        begun = time.monotonic()
        stopped = weftctl_json(self.weftd, "hands-off", "on", "--reason", "wrong host", "--who", "ann")
        self.assertLess(time.monotonic() - begun, READING, "a person waited for a scheduler that hangs")
        self.assertIn("wrong host", stopped["handsOffByPerson"])
        self.assertEqual([], stopped.get("underWay", []))
        os.unlink(self.slow)
        self.slurm.resume_controller()
        held = self.wait_for("n4", lambda plan: plan["intent"] == "NONE", "the order is not held")
        self.assertEqual("EXECUTING", held["state"])
        time.sleep(READING)
        self.weftd.wait_sweeps(3)
        self.assertNotIn("DRAIN", self.slurm.state("n4"))
        self.assertEqual(0, weftctl(self.weftd, "hands-off", "off", "--reason", "it is the right one").returncode)
        self.plan("n4", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n4"))

    def test_a_slow_reading_directly_before_the_act_is_no_way_past_the_guards(self):
        for path in (self.once, self.updates):
            with open(path, "w", encoding="utf-8"):
                pass
        self.assertEqual(0, weftctl(self.weftd, "drain", "n2", "--reason", "new memory").returncode)
        wait_until(lambda: not os.path.exists(self.once), within=60, why="the node is not read before the act")
        time.sleep(TOO_LONG - 1)
        with open(self.updates, encoding="utf-8") as updates:
            self.assertEqual("", updates.read())
        plan = self.plan("n2", "DRAIN_NODE", "COMMITTED")
        self.assertIn("held before it was sent: the time to send it is over", weftctl(self.weftd, "plan", plan["id"]).stdout)
        self.assertIn("DRAIN", self.slurm.state("n2"), "the guards looked again, and it was done")
        with open(self.updates, encoding="utf-8") as updates:
            self.assertEqual("nodename=n2\n", updates.read())
        self.assertEqual(0, weftctl(self.weftd, "undrain", "n2", "--reason", "done").returncode)
        self.plan("n2", "UNDRAIN_NODE", "COMMITTED")

    def test_the_hands_off_file_appears_unreadable_and_vanishes_while_a_plan_is_under_way(self):
        self.slow_down()
        self.assertEqual(0, weftctl(self.weftd, "drain", "n1", "--reason", "new memory").returncode)
        self.wait_for("n1", lambda plan: plan["state"] == "EXECUTING", "the plan does not begin")
        os.rmdir(self.brake)
        os.symlink("brake", self.brake)  # a loop: ELOOP, for root too
        stopped = wait_until(lambda: self.hands_off().get("handsOffByFile"), within=30, why="nothing stops")
        self.assertIn("cannot be looked at", stopped)
        os.unlink(self.slow)
        time.sleep(READING + 1)
        self.assertNotIn("DRAIN", self.slurm.state("n1"))

        os.unlink(self.brake)
        os.mkdir(self.brake, 0o700)
        with open(os.path.join(self.brake, "hands-off"), "w", encoding="utf-8"):
            pass
        wait_until(lambda: "exists" in self.hands_off().get("handsOffByFile", ""), within=30, why="nothing stops")
        done = weftctl(self.weftd, "hands-off", "off", "--reason", "a person")
        self.assertIn("hands-off file", done.stdout, "a person does not release the file's brake")
        self.weftd.wait_sweeps(3)
        self.assertNotIn("DRAIN", self.slurm.state("n1"))

        os.unlink(os.path.join(self.brake, "hands-off"))
        self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n1"))


if __name__ == "__main__":
    weft_testing.main()
