# SPDX-License-Identifier: Apache-2.0
"""Whom a drain means, with a real Slurm: a name that nobody confirms, that two adapters claim or that is forged is not acted on by
automation, and what another weftd did is left alone."""

import unittest

import weftd_partners
from slurm_cluster import missing
from weftd_partners import weft_testing, weftctl

THEIRS = "weft PLAN-3.ffff0b7a5d3f2468 INC-9: adapter is dead"


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class HostIdentity(weftd_partners.WithSlurm):
    confirmed = ("n1", "n3", "n4")

    @classmethod
    def make_network(cls):
        network = super().make_network()
        clone, forger = network.hosts()[4:6]
        clone.name = "n3 mlx5_0"
        forger.name = "n4 mlx5_7"
        cls.clone, cls.forger = clone.identity, forger.identity
        return network

    def waits_for_a_person(self, host: str, why: str) -> dict:
        plan = self.plan(host, "DRAIN_NODE", "PROPOSED")
        self.weftd.wait_sweeps(8)  # automation has had its time
        plan = self.plan(host, "DRAIN_NODE", "PROPOSED")
        identity = next(guard for guard in plan["guards"] if guard["guard"] == "IDENTITY")
        self.assertEqual("NEEDS_PERSON", identity["result"], identity)
        self.assertRegex(identity["explanation"], why)
        self.assertNotIn("DRAIN", self.slurm.state(host))
        return plan

    def test_a_name_that_nobody_confirms_waits_for_a_person(self):
        self.subnet.unlink("n2 mlx5_0", 1)
        guid = weft_testing.guid_text(self.network.find("n2 mlx5_0").guid)
        plan = self.waits_for_a_person("n2", f"^no collector confirms that adapter {guid} belongs to n2$")
        done = weftctl(self.weftd, "approve", plan["id"])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.plan("n2", "DRAIN_NODE", "COMMITTED")
        self.assertIn("DRAIN", self.slurm.state("n2"))

    def test_a_name_that_two_adapters_claim_is_not_drained(self):
        self.subnet.unlink(self.clone, 1)
        self.waits_for_a_person("n3", "^2 nodes claim the name n3 mlx5_0$")

    def test_a_forged_name_drains_nobody(self):
        self.subnet.unlink(self.forger, 1)
        guid = weft_testing.guid_text(self.network.find(self.forger).guid)
        self.waits_for_a_person("n4", f"^no collector confirms that adapter {guid} belongs to n4$")

    def test_what_another_weftd_drained_is_left_alone_and_stops_this_one(self):
        self.slurm.scontrol("update", "nodename=n1", "state=drain", f"reason={THEIRS}")
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "EXPIRED")
        self.assertIn("somebody else", plan["outcome"])
        self.assertTrue(self.slurm.node("n1")["Reason"].startswith(THEIRS), self.slurm.node("n1"))
        self.assertEqual(4, weftctl(self.weftd, "undrain", "n1", "--reason", "it looks like ours").returncode)
        self.assertIn("DRAIN", self.slurm.state("n1"))
        self.assertIn("breaker tripped by weftd: another weftd acts here too, its mark PLAN-3.ffff0b7a5d3f2468", self.weftd.log())


if __name__ == "__main__":
    weft_testing.main()
