# SPDX-License-Identifier: Apache-2.0
"""Between decision and act, through real programs: weftd on ibsim with OpenSM, and a real Slurm that is slow or does not answer. What waits
is stopped by a person's hands-off and by the hands-off file, and goes on when both let go."""

import json
import os
import shutil
import tempfile
import time
import unittest

import weftd_partners
from physical_layer import PhysicalLayer
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
if [ "$1" = show ]; then echo "${{3:-all}}" >>{read}; fi
if [ "$1" = show ] && [ -e {slow} ]; then sleep {reading}; fi
if [ "$1" = show ] && [ -e {stuck} ]; then echo $$ >{begun}; while [ -e {stuck} ]; do sleep 0.2; done; fi
if [ "$1" = update ] && [ -e {stuck_update} ]; then touch {begun}; while [ -e {stuck_update} ]; do sleep 0.2; done; fi
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
        names = ("slow", "stuck", "stuck-update", "begun", "once", "updates", "read")
        cls.slow, cls.stuck, cls.stuck_update, cls.begun, cls.once, cls.updates, cls.read = (os.path.join(cls.place, name) for name in names)
        scontrol = os.path.join(cls.place, "scontrol")
        with open(scontrol, "w", encoding="utf-8") as script:
            script.write(SLOW_SCONTROL.format(slow=cls.slow, stuck=cls.stuck, stuck_update=cls.stuck_update, begun=cls.begun, reading=READING,
                                              once=cls.once, too_long=TOO_LONG, updates=cls.updates, read=cls.read, scontrol=shutil.which("scontrol", path=PATH)))
        os.chmod(scontrol, 0o755)
        cls.slurm = SlurmCluster(4)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.infiniband = cls.remedies(SLURM.format(slurm_conf=cls.slurm.configuration, scontrol=scontrol, brake=cls.brake)).replace(
            "[remedy.limits]\n", '[remedy.limits]\ncheck_interval = "1s"\n').replace(
                "[remedy.limits.budget]\n", "[remedy.limits.budget]\nactions_per_hour = 20\n")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear)

    def clear(self):
        self.slurm.resume_controller()
        for path in (self.slow, self.stuck, self.stuck_update, self.begun):
            if os.path.exists(path):
                os.unlink(path)
        if os.path.islink(self.brake):
            os.unlink(self.brake)
        shutil.rmtree(self.brake, ignore_errors=True)
        os.mkdir(self.brake)
        weftctl(self.weftd, "hands-off", "off", "--reason", "the test is over")

    def slow_down(self, what: str | None = None):
        with open(what or self.slow, "w", encoding="utf-8"):
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

    def test_hands_off_says_what_had_begun(self):
        self.slow_down(self.stuck_update)
        drained = weftctl(self.weftd, "drain", "n2", "--reason", "new memory")
        self.assertEqual(0, drained.returncode, drained.stderr + drained.stdout)
        wait_until(lambda: os.path.exists(self.begun), within=60, why=lambda: f"the order is not sent: {self.plans()}")
        done = weftctl(self.weftd, "--json", "hands-off", "on", "--reason", "wrong host")
        self.assertEqual(0, done.returncode, done.stderr)
        plan = self.plan("n2", "DRAIN_NODE", "EXECUTING")
        self.assertEqual([(plan["id"], "DRAIN_NODE", "n2")],
                         [(begun["planId"], begun["action"], begun["target"]) for begun in json.loads(done.stdout)["underWay"]])
        self.assertNotIn("DRAIN", self.slurm.state("n2"), "it was said before it was so")
        os.unlink(self.stuck_update)
        wait_until(lambda: "DRAIN" in self.slurm.state("n2"), within=30, why="what had begun is not done")
        wait_until(lambda: not self.hands_off().get("underWay"), within=30, why="it is under way for ever")

    def test_a_roll_back_goes_before_the_readings_that_wait(self):
        """Three drains in force are read again and again, each for seconds. What is to be undone is read, and then changed, before those
        that wait: else all three would go before either, and make seven readings."""
        held = ("n1", "n2", "n3")
        for host in held:
            self.assertEqual(0, weftctl(self.weftd, "drain", host, "--reason", "new memory").returncode)
            self.plan(host, "DRAIN_NODE", "COMMITTED")
        self.slow_down(self.stuck_update)
        self.assertEqual(0, weftctl(self.weftd, "drain", "n4", "--reason", "new memory").returncode)
        wait_until(lambda: os.path.exists(self.begun), within=60, why=lambda: f"the order is not sent: {self.plans()}")
        asked = self.plan("n4", "DRAIN_NODE", "EXECUTING")["id"]
        self.assertEqual(0, weftctl(self.weftd, "abort", asked, "--reason", "wrong host").returncode)
        time.sleep(READING)  # each of the three is due by now, and waits
        self.slow_down()
        with open(self.read, "w", encoding="utf-8"):
            pass
        os.unlink(self.stuck_update)

        def read() -> list[str]:
            with open(self.read, encoding="utf-8") as stream:
                return stream.read().split()

        wait_until(lambda: "n4" in read(), within=60, why=lambda: f"it is not undone: {read()}\n{self.weftd.log()}")
        self.assertLessEqual(read().index("n4"), 5, f"its own reading, and those that had begun: {read()}")
        os.unlink(self.slow)
        self.plan("n4", "DRAIN_NODE", "ROLLED_BACK")
        self.assertNotIn("DRAIN", self.slurm.state("n4"))
        for host in held:
            self.assertEqual(0, weftctl(self.weftd, "undrain", host, "--reason", "done").returncode)
            self.plan(host, "UNDRAIN_NODE", "COMMITTED")

    def test_a_scheduler_that_hangs_holds_up_no_link(self):
        """Each actuator has a lane of its own: a link is taken out while Slurm's reading hangs."""
        leaf = self.network.nodes[self.watcher.ports[1].node]
        uplink = next(number for number, end in sorted(leaf.ports.items()) if self.network.nodes[end.node].name.startswith("spine"))
        self.slow_down(self.stuck)
        drained = weftctl(self.weftd, "drain", "n2", "--reason", "new memory")
        self.assertEqual(0, drained.returncode, drained.stderr + drained.stdout)
        asked = self.plan("n2", "DRAIN_NODE", "EXECUTING")["id"]

        def reading() -> str:
            with open(self.begun, encoding="ascii") as stream:
                return stream.read().strip()

        wait_until(lambda: os.path.exists(self.begun) and reading(), within=30, why="Slurm is not read")
        hangs = reading()
        with PhysicalLayer(self.subnet):
            done = weftctl(self.weftd, "isolate", f"{leaf.name}:{uplink}", "--reason", "to look at it")
            self.assertEqual(0, done.returncode, done.stderr)

            def newest(action: str) -> dict:
                return next((plan for plan in reversed(self.plans()) if plan["action"] == action), {"state": "none"})

            wait_until(lambda: newest("ISOLATE_LINK")["state"] in ("VERIFYING", "COMMITTED"), within=60,
                       why=lambda: f"it waits for Slurm: {newest('ISOLATE_LINK')}\n{self.weftd.log()}")
            self.assertTrue(os.path.exists(f"/proc/{hangs}"), "it waited for the reading of Slurm")
            self.assertEqual("EXECUTING", next(plan["state"] for plan in self.plans() if plan["id"] == asked))
            self.assertEqual(0, weftctl(self.weftd, "abort", asked, "--reason", "the test is over").returncode)
            os.unlink(self.stuck)
            verb = ("abort", newest("ISOLATE_LINK")["id"]) if newest("ISOLATE_LINK")["state"] == "VERIFYING" else (
                "restore", f"{leaf.name}:{uplink}")
            done = weftctl(self.weftd, *verb, "--reason", "it was looked at")
            self.assertEqual(0, done.returncode, done.stderr)
            wait_until(lambda: newest("ISOLATE_LINK")["state"] == "ROLLED_BACK" or newest("RESTORE_LINK")["state"] == "COMMITTED", within=60,
                       why=lambda: f"it is not back: {self.plans()}\n{self.weftd.log()}")

    def test_a_slow_reading_directly_before_the_act_is_no_way_past_the_guards(self):
        for path in (self.once, self.updates):
            with open(path, "w", encoding="utf-8"):
                pass
        drained = weftctl(self.weftd, "drain", "n2", "--reason", "new memory")
        self.assertEqual(0, drained.returncode, drained.stderr + drained.stdout)
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
