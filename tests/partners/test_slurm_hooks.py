# SPDX-License-Identifier: Apache-2.0
"""Real Slurm with our hooks, and weftd on ibsim: a job does not begin on the node whose link flaps, and begins when that is over. Without
weftd jobs begin all the same."""

import glob
import os
import signal
import time
import unittest

import weftd_partners
from slurm_cluster import SlurmCluster, missing
from weftd_partners import wait_until, weft_testing

HOOKS = os.path.join(weft_testing.ROOT, "deploy", "slurm")
BY_HAND = "disk sda, do not touch"
LINES = """\
HealthCheckProgram={place}/weft-node-health
HealthCheckInterval=3
HealthCheckNodeState=ANY
PrologSlurmctld={place}/weft-prolog
SchedulerParameters=sched_interval=2,bf_interval=2
"""
# Slurm gives its hooks nearly no environment: no PATH, no SLURM_CONF.
WRAPPER = """\
#!/bin/sh
if [ -e {place}/{name}.off ]; then exit 0; fi
WEFT_SLURM_CONFIG={place}/weft-slurm.conf exec /usr/bin/python3 {hooks}/{name}
"""
CONFIGURATION = """\
[weft]
server = http://{http}
deadline_seconds = 2
[slurm]
slurm_conf = {slurm_conf}
state_dir = {place}/marks
recheck_seconds = 0
log_file = {place}/hooks.log
"""


def is_running(script: str) -> bool:
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as stream:
                if script.encode() in stream.read().split(b"\0"):
                    return True
        except OSError:
            pass  # it ended meanwhile
    return False


@unittest.skipIf(missing(), f"not installed: {', '.join(missing())}")
class SlurmHooks(weftd_partners.WithScheduler):
    analyzer = 'flap_fast.half_life = "6s"'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slurm = SlurmCluster(4)
        cls.addClassCleanup(cls.slurm.stop)
        for name in ("weft-node-health", "weft-prolog"):
            wrapper = os.path.join(cls.slurm.place, name)
            with open(wrapper, "w", encoding="ascii") as stream:
                stream.write(WRAPPER.format(place=cls.slurm.place, name=name, hooks=HOOKS))
            os.chmod(wrapper, 0o755)
        cls.slurm.extra = LINES.format(place=cls.slurm.place)
        with open(os.path.join(cls.slurm.place, "weft-slurm.conf"), "w", encoding="ascii") as stream:
            stream.write(CONFIGURATION.format(http=cls.weftd.http, slurm_conf=cls.slurm.configuration, place=cls.slurm.place))
        cls.slurm.start()

    def setUp(self):
        super().setUp()
        for path in glob.glob(os.path.join(self.slurm.place, "*.off")):
            os.unlink(path)

    def turn_off(self, hook: str) -> None:
        with open(os.path.join(self.slurm.place, f"{hook}.off"), "w", encoding="ascii"):
            pass
        # One that began before may still act.
        wait_until(lambda: not is_running(os.path.join(HOOKS, hook)), why=f"{hook} does not end")

    def log(self) -> str:
        try:
            with open(os.path.join(self.slurm.place, "hooks.log"), encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return ""

    def flap(self, host: str) -> dict:
        """The cable of a host comes and goes until that is an incident. Not for n1, where the subnet manager runs."""
        name = f"{host} mlx5_0"
        end = self.network.find(name).ports[1]
        leaf = self.network.nodes[end.node].name
        for _ in range(12):  # three do on a machine that has time
            self.subnet.unlink(name, 1)
            wait_until(lambda: self.weftd.ports(leaf)[end.port]["state"] == "DOWN", why="it is not seen")
            self.subnet.relink(name, 1)
            wait_until(lambda: self.weftd.ports(leaf)[end.port]["state"] == "ACTIVE", why="OpenSM does not take it up")
            if found := [i for i in self.weftd.incidents("LINK_FLAP") if self.is_link(i, self.link(name, 1))]:
                return found[0]
        raise AssertionError(f"no LINK_FLAP; open are {self.shown()}")

    def wait_state(self, node: str, drained: bool) -> None:
        wait_until(lambda: ("DRAIN" in self.slurm.state(node)) == drained,
                   why=lambda: f"{node} is {self.slurm.state(node)}; hooks say\n{self.log()}")

    def wait_running(self, job: str) -> None:
        wait_until(lambda: self.slurm.job_state(job) == "RUNNING",
                   why=lambda: f"{self.slurm.scontrol('show', 'job', job, '-o')}; hooks say\n{self.log()}")
        self.slurm.scontrol("requeuehold", job)  # its node is free for the next test

    def test_health_check_keeps_jobs_off_until_the_link_is_well(self):
        incident = self.flap("n3")
        # It was drained when the link first went down, and the reason follows what weftd says.
        wait_until(lambda: f"{incident['id']} LINK_FLAP: " in self.slurm.node("n3").get("Reason", ""),
                   why=lambda: f"{self.slurm.node('n3')}; hooks say\n{self.log()}")
        self.assertIn("DRAIN", self.slurm.state("n3"))
        self.assertTrue(self.slurm.node("n3")["Reason"].startswith("weft-health "))
        job = self.slurm.queue("n3", 300)
        elsewhere = self.slurm.queue("n2", 300)
        self.wait_running(elsewhere)
        self.assertEqual("PENDING", self.slurm.job_state(job))
        self.expect_resolved(incident)
        self.wait_state("n3", False)
        self.wait_running(job)

    def test_prolog_refuses_and_requeues(self):
        self.turn_off("weft-node-health")
        incident = self.flap("n2")
        self.assertNotIn("DRAIN", self.slurm.state("n2"), f"{self.slurm.node('n2')}; hooks say\n{self.log()}")
        job = self.slurm.queue("n2", 300)
        wait_until(lambda: f"job {job} does not begin on n2" in self.log(), why=lambda: self.log())
        self.wait_state("n2", True)
        self.assertIn(incident["id"], self.slurm.node("n2")["Reason"])
        wait_until(lambda: "Restarts=1 " in self.slurm.scontrol("show", "job", job, "-o"),
                   why=lambda: self.slurm.scontrol("show", "job", job, "-o"))
        self.assertEqual("PENDING", self.slurm.job_state(job))
        os.unlink(os.path.join(self.slurm.place, "weft-node-health.off"))
        self.expect_resolved(incident)
        self.wait_state("n2", False)
        self.slurm.scontrol("update", f"jobid={job}", "starttime=now")  # Slurm waits two minutes by itself
        self.wait_running(job)

    def test_what_an_operator_drained_stays_drained(self):
        self.slurm.scontrol("update", "nodename=n4", "state=drain", f"reason={BY_HAND}")
        incident = self.flap("n4")
        self.expect_resolved(incident)
        time.sleep(3)  # some rounds of the health check
        self.assertIn("DRAIN", self.slurm.state("n4"))
        self.assertEqual(BY_HAND, self.slurm.node("n4")["Reason"])

    def test_jobs_begin_without_weftd(self):
        self.weftd.kill()
        try:
            job = self.slurm.queue("n1", 300)
            self.wait_running(job)
        finally:
            self.weftd.start()
        self.assertRegex(self.log(), f"job {job}: .*refused.*; policy: allow")
        self.assertNotIn("DRAIN", self.slurm.state("n1"))
        # One that takes connections and says nothing holds nobody up either.
        self.weftd.process.send_signal(signal.SIGSTOP)
        try:
            job = self.slurm.queue("n1", 300)
            self.wait_running(job)
        finally:
            self.weftd.process.send_signal(signal.SIGCONT)
        self.assertRegex(self.log(), f"job {job}: .*(no answer|timed out).*; policy: allow")
        self.assertNotIn("DRAIN", self.slurm.state("n1"))


if __name__ == "__main__":
    weft_testing.main()
