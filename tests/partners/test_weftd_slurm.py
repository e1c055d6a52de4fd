"""The whole way, from a cable to the scheduler: weftd on ibsim with OpenSM, and a real Slurm whose nodes are its hosts. A node whose
adapter is dead is drained and comes back by itself; one that an operator drained stays as it was."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from slurm_cluster import SlurmCluster, missing  # noqa: E402
from weft_testing import fat_tree, wait_until, weftctl, weftctl_json  # noqa: E402

REMEDIES = """
[remedy]
drain_node = "auto"
undrain_node = "auto"
[remedy.slurm]
enabled = true
slurm_conf = "{slurm_conf}"
[remedy.limits]
undrain_after = "1s"
reading_interval = "200ms"
failed_readings = 2
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
probation = "3s"
"""
BY_HAND = "disk sda, do not touch"


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class WeftdAndSlurm(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        network = fat_tree.build(8, rails=1, radix=8)
        for number, host in enumerate(network.hosts()[:4], 1):
            host.name = f"n{number} mlx5_0"
        return network

    @classmethod
    def setUpClass(cls):
        cls.slurm = SlurmCluster(4)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.infiniband = REMEDIES.format(slurm_conf=cls.slurm.configuration)
        super().setUpClass()

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def plan(self, host: str, action: str, *states: str) -> dict:
        def there():
            found = [plan for plan in self.plans() if plan["target"]["host"] == host and plan["action"] == action]
            return found[-1] if found and found[-1]["state"] in states else None

        return wait_until(there, within=90, why=lambda: f"no {action} of {host} is {states}: {self.plans()}\n{self.weftd.log()}")

    def test_a_dead_adapter_drains_its_node_until_it_is_well(self):
        job = self.slurm.submit("n1", 300)
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n1"))
        reason = self.slurm.node("n1")["Reason"]
        self.assertTrue(reason.startswith(f"weft {plan['id']} {plan['incidentId']}: "), reason)
        self.assertEqual("RUNNING", self.slurm.job_state(job), "what runs may finish")
        incident = weftctl(self.weftd, "incident", plan["incidentId"])
        self.assertIn("n1", incident.stdout)

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
        wait_until(lambda: not self.weftd.incidents(), within=90, why=lambda: f"it is not over: {self.weftd.incidents()}")
        self.weftd.wait_sweeps(6)
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
        self.assertIn("nothing was done", plan["outcome"])
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
        done = weftctl(self.weftd, "undrain", "n3", "--reason", "done")
        self.assertEqual(0, done.returncode, done.stderr)
        self.plan("n3", "UNDRAIN_NODE", "COMMITTED")
        self.assertNotIn("DRAIN", self.slurm.state("n3"))


if __name__ == "__main__":
    weft_testing.main()
