# SPDX-License-Identifier: Apache-2.0
"""Whom a drain means, with a real Slurm: a name that nobody confirms, that two adapters claim or that is forged is not acted on by
automation, and what another weftd did is left alone."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "collector"))

import sysfs_tree
import weftd_partners
from child_process import start_child
from program_testing import free_address, program
from slurm_cluster import missing
from weftd_partners import wait_until, weft_testing, weftctl, weftctl_json

THEIRS = "weft PLAN-3.ffff0b7a5d3f2468 INC-9: adapter is dead"


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class HostIdentity(weftd_partners.WithSlurm):
    confirmed = ("n1", "n3", "n4")

    @classmethod
    def make_network(cls):
        network = super().make_network()
        clone, forger, blocker = network.hosts()[4:7]
        clone.name = "n3 mlx5_0"
        forger.name = "n4 mlx5_7"
        blocker.name = "n3.evil mlx5_0"
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

    def test_the_guid_of_a_forged_name_is_no_word_for_the_host(self):
        guid = weft_testing.guid_text(self.network.find(self.forger).guid)
        for more in ((), ("--dry-run",)):
            done = weftctl(self.weftd, "drain", guid, "--reason", "this adapter is bad", *more)
            self.assertEqual(4, done.returncode, done.stdout + done.stderr)
            self.assertIn(f"adapter {guid} calls itself n4 mlx5_7, but neither a collector nor the node name map confirms it", done.stderr)
        self.assertNotIn("DRAIN", self.slurm.state("n4"))
        real = weft_testing.guid_text(self.network.find("n4 mlx5_0").guid)
        done = weftctl(self.weftd, "drain", real, "--dry-run")
        self.assertEqual("n4", done.stdout.splitlines()[1], done.stdout + done.stderr)

    def test_forged_names_do_not_keep_a_person_from_draining_the_true_host(self):
        seen = weftctl(self.weftd, "drain", "n3", "--dry-run")
        self.assertEqual(0, seen.returncode, seen.stdout + seen.stderr)
        self.assertIn("2 nodes claim the name n3 mlx5_0", seen.stdout)
        done = weftctl(self.weftd, "drain", "n3", "--reason", "new memory", "--wait", "--timeout", "60s")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("DRAIN", self.slurm.state("n3"))
        plan = self.plan("n3", "DRAIN_NODE", "COMMITTED")
        health = wait_until(lambda: next((each for each in weftctl_json(self.weftd, "health", "n3")["nodes"] if each["reasons"]), None),
                            why="nobody is told that it is drained")
        self.assertIn("AVOID_NEW_JOBS", health["recommendedAction"])
        self.assertEqual([plan["id"]], [reason["planId"] for reason in health["reasons"] if reason["planId"]])
        self.assertRegex(health["reasons"][-1]["message"], rf"^drained by {plan['id']}( for INC-\d+)?, which .+ ordered: new memory$")
        self.assertIn(plan["id"], weftctl(self.weftd, "nodes").stdout)
        done = weftctl(self.weftd, "undrain", "n3", "--reason", "it has it", "--wait", "--timeout", "60s")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertNotIn("DRAIN", self.slurm.state("n3"))

    def test_a_switch_is_not_drained(self):
        leaf = self.network.switches[0].name
        for more in ((), ("--dry-run",)):
            done = weftctl(self.weftd, "drain", leaf, "--reason", "new firmware", *more)
            self.assertNotEqual(0, done.returncode, done.stdout)
            self.assertIn(f"'{leaf}' is a switch: only hosts can be drained", done.stderr)

    def test_what_another_weftd_drained_is_left_alone_and_stops_this_one(self):
        self.slurm.scontrol("update", "nodename=n1", "state=drain", f"reason={THEIRS}")
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "EXPIRED")
        self.assertIn("somebody else", plan["outcome"])
        self.assertTrue(self.slurm.node("n1")["Reason"].startswith(THEIRS), self.slurm.node("n1"))
        self.assertEqual(4, weftctl(self.weftd, "undrain", "n1", "--reason", "it looks like ours").returncode)
        self.assertIn("DRAIN", self.slurm.state("n1"))
        self.assertIn("breaker tripped by weftd: another weftd acts here too, its mark PLAN-3.ffff0b7a5d3f2468", self.weftd.log())


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class TwoDomains(weftd_partners.WithSlurm):
    """n1.alpha and n1.beta are two hosts, by the node name map; Slurm has one node n1. n3 is on the deny list, beside a misspelt name."""
    confirmed = ("n1.alpha", "n1.beta", "n3", "n4")

    @classmethod
    def remedies(cls, scheduler: str) -> str:
        return super().remedies(scheduler).replace("[remedy]\n", '[remedy]\ndeny = ["n3 mlx5_0", "n33"]\n')

    @classmethod
    def make_network(cls):
        network = super().make_network()
        for host, name in zip(network.hosts(), cls.confirmed):
            host.name = f"{name} mlx5_0"
        return network

    def test_a_host_is_denied_by_the_name_of_its_adapter(self):
        self.subnet.unlink("n3 mlx5_0", 1)
        self.plan("n3", "DRAIN_NODE", "PROPOSED")
        self.weftd.wait_sweeps(8)  # automation has had its time
        plan = self.plan("n3", "DRAIN_NODE", "PROPOSED")
        lists = next(guard for guard in plan["guards"] if guard["guard"] == "LISTS")
        self.assertEqual("the target is on the deny list (remedy.deny), as n3 mlx5_0", lists["explanation"])
        self.assertNotIn("DRAIN", self.slurm.state("n3"))

    def test_an_entry_that_names_nothing_is_warned_about(self):
        def log() -> str:
            with open(self.weftd.log_path, encoding="utf-8", errors="replace") as stream:
                return stream.read()

        wait_until(lambda: "the entry 'n33' of remedy.deny or remedy.allow has no effect" in log(), within=120, why=log)
        self.assertNotIn("the entry 'n3 mlx5_0'", log())

    def test_a_short_name_of_two_hosts_is_refused(self):
        for more in ((), ("--dry-run",)):
            done = weftctl(self.weftd, "drain", "n1", "--reason", "new memory", *more)
            self.assertNotEqual(0, done.returncode)
            self.assertIn("'n1' matches several hosts: n1.alpha, n1.beta", done.stderr)
        self.assertNotIn("DRAIN", self.slurm.state("n1"))

    def test_one_of_them_is_not_drained_under_their_common_name(self):
        self.subnet.unlink("n1.beta mlx5_0", 1)
        self.plan("n1.beta", "DRAIN_NODE", "PROPOSED")
        self.weftd.wait_sweeps(8)  # automation has had its time
        plan = self.plan("n1.beta", "DRAIN_NODE", "PROPOSED")
        identity = next(guard for guard in plan["guards"] if guard["guard"] == "IDENTITY")
        self.assertEqual("NEEDS_PERSON", identity["result"], identity)
        self.assertIn("several hosts have the short name n1", identity["explanation"])
        self.assertEqual(0, weftctl(self.weftd, "approve", plan["id"]).returncode)
        plan = self.plan("n1.beta", "DRAIN_NODE", "FAILED")
        self.assertIn("Slurm's node n1 may be host n1.beta or host n1.alpha", plan["outcome"])
        self.assertNotIn("DRAIN", self.slurm.state("n1"))


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class ByTheirCollectors(weftd_partners.WithSlurm):
    """Without a node name map: real collectors tell whose an adapter is. A second one in n3 calls itself n2's."""
    confirmed = ()

    @classmethod
    def make_network(cls):
        network = super().make_network()
        forger = network.hosts()[4]
        forger.name = "n2 mlx5_7"
        cls.forger = forger.identity
        return network

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.mkdtemp(prefix="weft-collectors-")
        cls.addClassCleanup(shutil.rmtree, place, True)
        adapters = {host: [cls.subnet.network.find(f"{host} mlx5_0")] for host in ("n1", "n2", "n3")}
        adapters["n3"].append(cls.subnet.network.find(cls.forger))
        for host, its in adapters.items():
            sysfs = os.path.join(place, host, "sys")
            sysfs_tree.make(sysfs, 0)
            for number, adapter in enumerate(its):
                sysfs_tree.add_adapter(sysfs, number, adapter.guid, adapter.guid + 1)  # ibsim numbers ports so
            collector = start_child([program("weft-collector"), "--node-name", host, "--analyzer", cls.weftd.grpc, "--sysfs-root", sysfs,
                                     "--state-dir", os.path.join(place, host, "state"), "--http", free_address(), "--interval", "200ms"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            cls.addClassCleanup(collector.wait, 15)
            cls.addClassCleanup(collector.terminate)
        wait_until(lambda: len(weftctl_json(cls.weftd, "collectors").get("collectors", [])) == len(adapters),
                   why=lambda: f"not all collectors report: {cls.weftd.log()}")
        cls.weftd.wait_sweeps(2)

    def test_a_host_whose_collector_reports_its_adapter_is_drained(self):
        self.subnet.unlink("n1 mlx5_0", 1)
        plan = self.plan("n1", "DRAIN_NODE", "COMMITTED")
        identity = next(guard for guard in plan["guards"] if guard["guard"] == "IDENTITY")
        self.assertEqual("PASSED", identity["result"], identity)
        self.assertRegex(identity["explanation"], "^its (own )?collector reports")
        self.assertIn("DRAIN", self.slurm.state("n1"))

    def test_who_forges_a_name_is_drained_under_his_own(self):
        self.subnet.unlink(self.forger, 1)
        plan = self.plan("n3", "DRAIN_NODE", "PROPOSED", "APPROVED", "EXECUTING", "VERIFYING", "COMMITTED")
        self.weftd.wait_sweeps(8)  # automation has had its time
        self.assertEqual([], [each for each in self.plans() if each["target"]["host"] == "n2"])
        self.assertNotIn("DRAIN", self.slurm.state("n2"))
        self.plan("n3", "DRAIN_NODE", "COMMITTED")
        self.assertTrue(self.slurm.node("n3")["Reason"].startswith(f"weft {plan['id']}."), self.slurm.node("n3"))


if __name__ == "__main__":
    weft_testing.main()
