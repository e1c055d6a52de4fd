# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of Debian on loopback: what is drained, by whom, and what is left alone."""

import os
import shutil
import time
import unittest

from partners_testing import LONGEST_CALL, Partner, main, wait_until
from slurm_cluster import SlurmCluster, missing

MARK = "weft PLAN-7 INC-17: adapter mlx5_0 is dead"


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class WithSlurm(unittest.TestCase):
    nodes = 2
    hostnames: dict[str, str] = {}

    @classmethod
    def setUpClass(cls):
        cls.slurm = SlurmCluster(cls.nodes, cls.hostnames)
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.partner = Partner("slurm", slurm_conf=cls.slurm.configuration)

    def stands(self, host: str, state: str) -> None:
        self.assertEqual(self.partner.observe(host)["state"], state, self.slurm.node(host))

    def wrapped(self, condition: str, action: str, **options) -> Partner:
        """With a scontrol that does something else besides: `action` when the shell's `condition` holds, before (or, with `$real`
        in it, around) what it was asked for."""
        path = os.path.join(self.slurm.place, "scontrol")
        real = shutil.which("scontrol")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f'#!/bin/sh\nreal={real}\nif {condition}; then\n{action}\nfi\nexec $real "$@"\n')
        os.chmod(path, 0o755)
        return Partner("slurm", slurm_conf=self.slurm.configuration, scontrol=path, **options)

    def refused(self, answer: dict, code: str = "failed_precondition") -> None:
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["code"], code, answer)


class Draining(WithSlurm):
    nodes = 3

    def tearDown(self):
        for name in ("n1", "n2", "n3"):
            self.slurm.run("scontrol", "update", f"nodename={name}", "state=undrain")
            self.slurm.run("scontrol", "update", f"nodename={name}", "state=resume")

    def test_a_drain_names_plan_and_incident_and_the_running_job_is_left_to_finish(self):
        job = self.slurm.submit("n1", 6)
        told = self.partner.dry_run("n1", "DRAIN_NODE")
        self.assertEqual(told["would"], f'scontrol update nodename=n1 state=drain "reason={MARK}"')
        self.assertNotIn("DRAIN", self.slurm.state("n1"), "a dry run changed the node")
        self.assertTrue(self.partner.drain("n1")["ok"])
        self.assertEqual(self.slurm.node("n1")["Reason"], MARK)
        self.assertLessEqual({"MIXED", "DRAIN"}, self.slurm.state("n1"))
        self.assertEqual(self.slurm.job_state(job), "RUNNING")
        self.stands("n1", "ours")
        wait_until(lambda: self.slurm.job_state(job) == "COMPLETED", why=f"the job is {self.slurm.job_state(job)}")
        wait_until(lambda: self.slurm.state("n1") >= {"IDLE", "DRAIN"}, why="the node is not drained")
        self.assertTrue(self.partner.undrain("n1")["ok"])
        self.assertNotIn("DRAIN", self.slurm.state("n1"))
        self.stands("n1", "clear")
        self.slurm.submit("n1", 0.1)

    def test_what_is_so_already_is_not_done_again(self):
        self.assertTrue(self.partner.undrain("n2")["ok"])
        self.assertTrue(self.partner.drain("n2")["ok"])
        self.assertTrue(self.partner.drain("n2", plan=8, reason="another")["ok"])
        self.assertEqual(self.slurm.node("n2")["Reason"], MARK, "the second plan wrote over the first one's reason")
        self.assertEqual(self.partner.dry_run("n2", "DRAIN_NODE")["would"], "nothing: already in the wanted state")

    def test_a_node_that_an_operator_drained_stays_as_it_was(self):
        self.slurm.scontrol("update", "nodename=n2", "state=drain", "reason=fan, ticket 4711")
        # On a busy machine the node may be late with its answer to the controller: that is no change of ours.
        wait_until(lambda: "NOT_RESPONDING" not in self.slurm.state("n2"), why="n2 does not respond")
        before = self.slurm.scontrol("show", "node", "n2")
        self.stands("n2", "foreign")
        self.refused(self.partner.drain("n2"))
        self.refused(self.partner.undrain("n2"))
        self.refused(self.partner.dry_run("n2", "UNDRAIN_NODE"))
        self.assertEqual(drained(before), drained(self.slurm.scontrol("show", "node", "n2")))

    def test_a_reason_that_an_operator_put_in_place_of_ours_makes_it_theirs(self):
        self.assertTrue(self.partner.drain("n2")["ok"])
        self.slurm.scontrol("update", "nodename=n2", "reason=keep it out, I am looking")
        self.stands("n2", "foreign")
        answer = self.partner.undrain("n2")
        self.refused(answer)
        self.assertIn("I am looking", answer["message"])
        self.assertIn("DRAIN", self.slurm.state("n2"))

    def test_an_operator_who_comes_between_our_reading_and_our_doing_wins(self):
        listing = '[ "$1 $2" = "show node" ] && [ $# = 2 ]'
        taken_over = '$real "$@"; $real update nodename=n2 state=drain reason="mine, leave it"; exit 0'
        self.assertTrue(self.partner.drain("n2")["ok"])
        self.refused(self.wrapped(listing, taken_over).undrain("n2"))
        self.assertEqual(self.slurm.node("n2")["Reason"], "mine, leave it")
        self.slurm.scontrol("update", "nodename=n2", "state=undrain")
        self.refused(self.wrapped(listing, taken_over).drain("n2"))
        self.assertEqual(self.slurm.node("n2")["Reason"], "mine, leave it")

    def test_down_failing_and_maintained_nodes_are_left_alone(self):
        self.slurm.scontrol("update", "nodename=n2", "state=down", "reason=power supply")
        self.slurm.scontrol("update", "nodename=n3", "state=fail", "reason=to be replaced")
        for name, reason in (("n2", "power supply"), ("n3", "to be replaced")):
            self.stands(name, "foreign")
            self.refused(self.partner.drain(name))
            self.assertTrue(self.partner.undrain(name)["ok"], "there is no drain of ours to take back")
            self.assertEqual(self.slurm.node(name)["Reason"], reason)
        self.assertIn("FAIL", self.slurm.state("n3"))
        self.assertIn("DOWN", self.slurm.state("n2"))

    def test_a_maintenance_reservation_is_somebody_at_work(self):
        self.slurm.scontrol("create", "reservation", "reservationname=work", "starttime=now", "duration=60", "nodes=n3", "users=root",
                            "flags=maint,ignore_jobs")
        self.addCleanup(self.slurm.scontrol, "delete", "reservationname=work")
        wait_until(lambda: "MAINTENANCE" in self.slurm.state("n3"), why="the reservation does not begin")
        self.stands("n3", "foreign")
        self.refused(self.partner.drain("n3"))

    def test_a_drained_node_that_goes_down_is_given_back_and_stays_down(self):
        self.assertTrue(self.partner.drain("n3")["ok"])
        self.slurm.scontrol("update", "nodename=n3", "state=down", f"reason={MARK}")
        self.stands("n3", "ours")
        self.assertTrue(self.partner.undrain("n3")["ok"])
        self.assertEqual(self.slurm.state("n3") & {"DOWN", "DRAIN"}, {"DOWN"})

    def test_words_of_a_reason_are_not_interpreted(self):
        nasty = "it's \"bad\" $(touch /tmp/x) `id` state=resume\nState=IDLE"
        self.assertTrue(self.partner.drain("n2", reason=nasty)["ok"])
        self.assertEqual(self.slurm.node("n2")["Reason"], "weft PLAN-7 INC-17: " + nasty.replace("\n", " "))
        self.stands("n2", "ours")

    def test_names_of_several_or_no_hosts_are_refused(self):
        for host, code in (("nope", "not_found"), ("n[1-3]", "invalid_argument"), ("n1,n2", "invalid_argument"), ("ALL", "not_found"),
                           ("", "invalid_argument"), ("-h", "invalid_argument")):
            self.refused(self.partner.drain(host), code)
        for name in ("n1", "n2", "n3"):
            self.assertNotIn("DRAIN", self.slurm.state(name))
        self.refused(self.partner.call("apply", host="n1", action="ISOLATE_LINK"), "invalid_argument")


def drained(shown: str) -> list[str]:
    """The lines that tell of drains: state, and reason with who and when."""
    return [line for line in shown.splitlines() if line.lstrip().startswith(("State=", "Reason="))]


class Names(WithSlurm):
    nodes = 2
    hostnames = {"gpu-a": "dgx-07.example.org", "gpu-b": "dgx-08", "n9": "gpu-b"}

    def test_a_host_is_found_by_its_own_name_short_or_qualified(self):
        for host, name in (("dgx-07", "gpu-a"), ("dgx-07.example.org", "gpu-a"), ("DGX-08.example.org", "gpu-b"), ("gpu-a", "gpu-a")):
            told = self.partner.dry_run(host, "DRAIN_NODE")
            self.assertIn(f"nodename={name} ", told.get("would", str(told)))

    def test_a_host_of_several_nodes_and_a_name_of_two_meanings_are_refused(self):
        self.refused(self.partner.drain(self.slurm.host))
        self.refused(self.partner.drain("gpu-b"))
        self.refused(self.partner.observe("dgx-07.example.com"), "not_found")

    def test_a_node_that_has_not_registered_yet_can_be_drained(self):
        self.assertTrue(self.partner.drain("dgx-07")["ok"])
        self.assertEqual(self.slurm.node("gpu-a")["Reason"], MARK)
        self.assertTrue(self.partner.undrain("dgx-07")["ok"])
        self.assertNotIn("DRAIN", self.slurm.state("gpu-a"))


class Away(WithSlurm):
    nodes = 2

    def test_1_a_node_that_does_not_respond_is_drained_and_given_back(self):
        self.slurm.kill_node("n2")
        self.assertTrue(self.partner.drain("n2")["ok"])
        self.stands("n2", "ours")
        self.assertTrue(self.partner.undrain("n2")["ok"])
        self.assertNotIn("DRAIN", self.slurm.state("n2"))

    def test_2_a_controller_that_hangs_ends_in_a_timeout_and_may_do_it_late(self):
        partner = Partner("slurm", slurm_conf=self.slurm.configuration, timeout=3)
        self.slurm.pause_controller()
        try:
            for answer in (partner.observe("n1"), partner.drain("n1"), partner.undrain("n1"), partner.dry_run("n1", "DRAIN_NODE")):
                self.refused(answer, "timeout")
                self.assertLess(answer["seconds"], 3 + 5)
        finally:
            self.slurm.resume_controller()
        time.sleep(1)
        self.stands("n1", "clear")
        # It hangs only after it was read: the change waits in its socket and is made later.
        controller = self.slurm.processes["slurmctld"].pid
        late = self.wrapped('[ "$1" = update ]', f"kill -STOP {controller}", timeout=4).drain("n1")
        try:
            self.refused(late, "timeout")
            self.assertLess(late["seconds"], 4 + 5)
        finally:
            self.slurm.resume_controller()
        wait_until(lambda: self.partner.observe("n1").get("state") == "ours", why="the late drain is not seen as ours")
        self.assertTrue(self.partner.undrain("n1")["ok"])

    def test_3_a_controller_that_is_gone_is_unavailable_within_the_bound(self):
        self.slurm.kill_controller()
        try:
            for answer in (self.partner.observe("n1"), self.partner.drain("n1")):
                self.refused(answer, "unavailable")
                self.assertLess(answer["seconds"], LONGEST_CALL)
            hasty = Partner("slurm", slurm_conf=self.slurm.configuration, timeout=1)
            answer = hasty.drain("n1")
            self.assertIn(answer["code"], ("unavailable", "timeout"))
            self.assertLess(answer["seconds"], 1 + 5)
        finally:
            self.slurm.start_controller()
        wait_until(lambda: self.partner.observe("n1")["ok"], why="Slurm is back and nobody sees it")
        # What it took in the seconds before it was killed it may have forgotten: that is why the world is read again.
        self.assertTrue(self.partner.undrain("n1")["ok"])
        wait_until(lambda: self.partner.observe("n1").get("state") == "clear", why=lambda: f"n1: {self.partner.observe('n1')}")

    def test_4_programs_that_are_missing_or_lie(self):
        self.refused(Partner("slurm", scontrol="weft-no-such-scontrol").observe("n1"), "not_found")
        for lie in ("/bin/true", "/bin/echo"):
            self.refused(Partner("slurm", scontrol=lie).observe("n1"), "not_found")
        self.refused(Partner("slurm", scontrol="/bin/false").observe("n1"), "unavailable")
        nowhere = Partner("slurm", slurm_conf="/nonexistent/slurm.conf", timeout=2).observe("n1")
        self.assertIn(nowhere["code"], ("unavailable", "timeout"))  # scontrol waits a minute for its file to appear


if __name__ == "__main__":
    main()
