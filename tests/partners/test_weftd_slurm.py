# SPDX-License-Identifier: Apache-2.0
"""The whole way, from a cable to the scheduler: weftd on ibsim with OpenSM, and a real Slurm whose nodes are its hosts. A node whose
adapter is dead is drained and comes back by itself; one that an operator drained stays as it was."""

import unittest

import weftd_partners
from slurm_cluster import SlurmCluster, missing
from weftd_partners import SLURM, wait_until, weft_testing, weftctl

BY_HAND = "disk sda, do not touch"


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class WeftdAndSlurm(weftd_partners.WithSlurm):
    def test_a_dead_adapter_drains_its_node_until_it_is_well(self):
        job = self.slurm.submit("n1", 300)
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n1"))
        reason = self.slurm.node("n1")["Reason"]
        self.assertRegex(reason, "^" + weftd_partners.MARK.format(plan=plan["id"], incident=plan["incidentId"]))
        self.assertEqual("RUNNING", self.slurm.job_state(job), "what runs may finish")
        incident = weftctl(self.weftd, "incident", plan["incidentId"])
        self.assertIn("n1", incident.stdout)
        # It waits for a repair, and for nobody to be woken.
        looked_after = wait_until(lambda: next((i for i in self.weftd.incidents() if i["id"] == plan["incidentId"] and
                                                i["state"] == "ACKNOWLEDGED"), None), why="nobody looks after the incident")
        self.assertEqual(f"weftd ({plan['id']})", looked_after["acknowledgedBy"])

        self.subnet.relink("n1 mlx5_0", 1)
        back = self.plan("n1", "UNDRAIN_NODE", "COMMITTED")
        self.assertEqual(plan["id"], back["undoes"])
        self.assertNotIn("DRAIN", self.slurm.state("n1"))
        self.assertEqual("RUNNING", self.slurm.job_state(job))

    def test_what_an_operator_drained_stays_as_it_was(self):
        self.slurm.scontrol("update", "nodename=n2", "state=drain", f"reason={BY_HAND}")
        before = self.slurm.node("n2")["Reason"]
        self.subnet.unlink("n2 mlx5_0", 1)
        plan = self.plan("n2", "DRAIN_NODE", "EXPIRED")
        self.assertIn("somebody else", plan["outcome"])
        self.assertEqual(before, self.slurm.node("n2")["Reason"])
        self.subnet.relink("n2 mlx5_0", 1)
        self.wait_until_well()
        self.assertEqual([], [plan for plan in self.plans() if plan["target"]["host"] == "n2" and plan["action"] == "UNDRAIN_NODE"])
        self.assertIn("DRAIN", self.slurm.state("n2"))
        self.assertEqual(before, self.slurm.node("n2")["Reason"])
        done = weftctl(self.weftd, "undrain", "n2", "--reason", "a mistake")
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)
        self.assertIn("DRAIN", self.slurm.state("n2"))

    def test_slurm_is_down(self):
        """Clear state, nothing lost, nothing repeated without end."""
        self.slurm.kill_controller()
        try:
            done = weftctl(self.weftd, "drain", "n4", "--reason", "new memory")
            self.assertEqual(0, done.returncode, done.stderr)
            plan = self.plan("n4", "DRAIN_NODE", "FAILED")
        finally:
            self.slurm.start_controller()
        self.assertIn("not done", plan["outcome"])
        self.weftd.wait_sweeps(6)
        self.assertNotIn("DRAIN", self.slurm.state("n4"))
        self.assertEqual(0, weftctl(self.weftd, "drain", "n4", "--reason", "once more").returncode)
        self.plan("n4", "DRAIN_NODE", "COMMITTED")
        self.assertIn("once more", self.slurm.node("n4")["Reason"])
        self.assertEqual(0, weftctl(self.weftd, "undrain", "n4", "--reason", "done").returncode)
        self.plan("n4", "UNDRAIN_NODE", "COMMITTED")

    def test_a_person_drains_and_undrains(self):
        done = weftctl(self.weftd, "drain", "n3", "--reason", "new memory")
        self.assertEqual(0, done.returncode, done.stderr)
        self.plan("n3", "DRAIN_NODE", "COMMITTED")
        self.assertIn("new memory", self.slurm.node("n3")["Reason"])
        before = len(self.plans())
        seen = weftctl(self.weftd, "undrain", "n3", "--dry-run")
        self.assertEqual(0, seen.returncode, seen.stdout + seen.stderr)
        self.assertIn("UNDRAIN_NODE  preview: nothing is done yet", seen.stdout)
        self.weftd.wait_sweeps(4)
        self.assertEqual(before, len(self.plans()))
        self.assertIn("DRAIN", self.slurm.state("n3"), "who only looked did nothing")
        done = weftctl(self.weftd, "undrain", "n3", "--reason", "done")
        self.assertEqual(0, done.returncode, done.stderr)
        self.plan("n3", "UNDRAIN_NODE", "COMMITTED")
        self.assertNotIn("DRAIN", self.slurm.state("n3"))


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class BudgetsBesideOthers(weftd_partners.WithScheduler):
    """At most two hosts may be out, and operators took two before weftd was there."""

    @classmethod
    def setUpClass(cls):
        cls.slurm = SlurmCluster(4)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        for name in ("n2", "n3"):
            cls.slurm.scontrol("update", f"nodename={name}", "state=drain", f"reason={BY_HAND}")
        cls.infiniband = cls.remedies(SLURM.format(slurm_conf=cls.slurm.configuration)).replace("[remedy.limits.budget]",
                                                                                                "[remedy.limits.budget]\nout_minimum = 2")
        super().setUpClass()

    def test_what_others_drained_counts(self):
        self.subnet.unlink("n1 mlx5_0", 1)

        def refused():
            plan = self.plan("n1", "DRAIN_NODE", "PROPOSED")
            budget = next(guard for guard in plan["guards"] if guard["guard"] == "BUDGET")
            return budget["explanation"] == ("maximum of targets isolated, avoided or drained reached: 2 "
                                             "(remedy.limits.budget.out_minimum), with 2 hosts that others drained")

        wait_until(refused, why=lambda: f"it is not refused: {self.plans()}")
        self.assertNotIn("DRAIN", self.slurm.state("n1"))
        self.slurm.scontrol("update", "nodename=n3", "state=undrain")
        self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n1"))


if __name__ == "__main__":
    weft_testing.main()
