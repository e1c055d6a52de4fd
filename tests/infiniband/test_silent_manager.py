# SPDX-License-Identifier: Apache-2.0
"""While OpenSM hangs nothing is taken out of service, whatever is started anew meanwhile, and what comes back waits for it. That weftd's own
cable is unplugged says nothing of OpenSM."""

import contextlib
import os
import signal
import subprocess

import weft_testing
from physical_layer import Snapshot
from weft_testing import fat_tree, wait_until, weftctl, weftctl_json

UNHEARD = "nothing else would route round the link"


class SilentManager(weft_testing.LayeredSubnetTest):
    infiniband = """
[remedy]
isolate_link = "propose"
restore_link = "propose"
[remedy.limits]
missing_share = 0.5
stale_intervals = 20
reading_interval = "500ms"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
windows = 12
within = "20s"
probation = "20s"
"""

    @classmethod
    def make_network(cls):
        return fat_tree.build(32, rails=1, radix=16)

    def preview(self, verb: str = "isolate", port: str = "spine-02:3") -> str:
        done = weftctl(self.weftd, verb, port, "--dry-run")
        return done.stdout + done.stderr

    def silent(self) -> str:
        return weftctl(self.weftd, "status").stdout

    @contextlib.contextmanager
    def hanging_manager(self):
        """OpenSM does, and weftd knows it. Afterwards it answers."""
        wait_until(lambda: UNHEARD not in self.preview(), 60, why=self.preview)
        pid = self.subnet.opensm_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: self.silent().startswith("The subnet manager of fabric "), 60, why=self.silent)
            yield
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: UNHEARD not in self.preview(), 180, why=self.preview)

    def expect_refused(self) -> None:
        """From the first sweep on, for longer than a question takes."""
        self.weftd.wait_sweeps(1)
        for _ in range(8):
            self.assertIn(UNHEARD, self.preview())

    def sweepers(self) -> list[int]:
        listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.weftd.process.pid)], stdout=subprocess.PIPE, text=True, check=True)
        return [int(line.split()[0]) for line in listed.stdout.splitlines() if "sweeper" in line]

    def test_a_weftd_that_is_started_anew_waits_to_hear_it(self):
        with self.hanging_manager():
            self.weftd.stop(remove=False)
            self.weftd.start()
            self.expect_refused()
            self.assertNotIn("answers again", self.weftd.log().rpartition("weftd: weftd ")[2])

    def test_a_sweeper_that_is_started_anew_ends_no_silence(self):
        with self.hanging_manager():
            said = self.weftd.log().count("answers again")
            for pid in self.sweepers():
                os.kill(pid, signal.SIGTERM)
            for _ in range(20):
                self.assertTrue(UNHEARD in self.preview() or "not monitored now" in self.preview(), self.preview())
                self.assertIn("\nweft_remedy_silent_managers 1\n", self.weftd.metrics())
            self.assertEqual(said, self.weftd.log().count("answers again"))

    def test_a_return_waits_for_it(self):
        done = weftctl(self.weftd, "isolate", "spine-01:2", "--reason", "a test", "--wait")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        with self.hanging_manager():
            self.assertIn("activates no link: the link comes up when it answers again", self.preview("restore", "spine-01:2"))
            done = weftctl(self.weftd, "restore", "spine-01:2", "--reason", "a new cable", "--json")
            self.assertEqual(0, done.returncode, done.stderr)
            plan = weftctl_json(self.weftd, "plans")["plans"][-1]["id"]

            def state() -> tuple[str, str]:
                told = weftctl_json(self.weftd, "plan", plan)
                return told["state"], told.get("waitsFor", "").partition("; to end it")[0]

            wait_until(lambda: state() == ("VERIFYING", "the subnet manager does not answer, and activates no link"), 30, why=state)
            self.weftd.wait_sweeps(30)  # longer than `within`
            self.assertEqual("VERIFYING", state()[0], "a good cable that nobody activates has not failed")
        wait_until(lambda: state()[0] == "COMMITTED", 60, why=lambda: weftctl(self.weftd, "plan", plan).stdout)

    def test_what_a_person_disables_while_a_roll_back_waits_stays_disabled(self):
        said = []
        wait_until(lambda: said.append(weftctl(self.weftd, "isolate", "spine-01:4", "--reason", "a test", "--json")) or said[-1].returncode == 0,
                   60, why=lambda: said[-1].stderr)
        plan = weftctl_json(self.weftd, "plans", "--all")["plans"][-1]["id"]

        def told() -> dict:
            return weftctl_json(self.weftd, "plan", plan)

        wait_until(lambda: told()["state"] == "VERIFYING", 30, why=told)
        spine = self.network.find("spine-01").identity
        lid = Snapshot.of(self.subnet).ports[spine, 0].lid
        pid = self.subnet.opensm_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            weftctl(self.weftd, "abort", plan, "--reason", "the wrong link", "--yes")
            wait_until(lambda: "activates no link" in told().get("waitsFor", ""), 60, why=told)
            self.subnet.run(["ibportstate", str(lid), "4", "disable"])
            wait_until(lambda: told()["state"] == "ROLLED_BACK", 30, why=told)
            self.assertIn("it was given back, and somebody else has disabled it since", told()["outcome"])
            self.assertEqual("Disabled", Snapshot.of(self.subnet).ports[spine, 4].physical)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.subnet.run(["ibportstate", str(lid), "4", "enable"])

    def on_probation(self, port: int) -> str:
        """The return of that port of spine-02, which is up."""
        wait_until(lambda: UNHEARD not in self.preview("isolate", f"spine-02:{port}"), 60, why=self.preview)
        for verb in ("isolate", "restore"):
            said = []
            order = [verb, f"spine-02:{port}", "--reason", "a test"] + (["--wait"] if verb == "isolate" else [])
            wait_until(lambda: said.append(weftctl(self.weftd, *order)) or said[-1].returncode == 0, 60, why=lambda: said[-1].stdout + said[-1].stderr)
        plan = weftctl_json(self.weftd, "plans", "--all")["plans"][-1]["id"]
        wait_until(lambda: weftctl_json(self.weftd, "plan", plan).get("windowsGood", 0) > 0, 30, why=lambda: weftctl(self.weftd, "plan", plan).stdout)
        return plan

    def disable(self, port: int) -> None:
        """Until the test is over."""
        lid = str(Snapshot.of(self.subnet).ports[self.network.find("spine-02").identity, 0].lid)
        self.addCleanup(self.subnet.run, ["ibportstate", lid, str(port), "enable"])
        self.subnet.run(["ibportstate", lid, str(port), "disable"])

    def expect_left_to_others(self, plan: str, port: int, outcome: str) -> None:
        wait_until(lambda: weftctl_json(self.weftd, "plan", plan)["state"] not in ("VERIFYING", "ROLLING_BACK"), 60,
                   why=lambda: weftctl(self.weftd, "plan", plan).stdout)
        told = weftctl_json(self.weftd, "plan", plan)
        self.assertEqual(("FAILED", False), (told["state"], told.get("inForce", False)), told)
        self.assertIn(outcome, told["outcome"])
        self.assertEqual("Disabled", Snapshot.of(self.subnet).ports[self.network.find("spine-02").identity, port].physical)

    def test_what_a_person_disables_directly_before_an_order_is_not_held_by_weft(self):
        """Between the last reading and the order that takes a failed return out again."""
        plan = self.on_probation(2)
        weftctl(self.weftd, "hands-off", "on", "--reason", "work")
        self.subnet.unlink("spine-02", 2)
        self.addCleanup(self.subnet.relink, "spine-02", 2)
        wait_until(lambda: "automation is stopped" in weftctl_json(self.weftd, "plan", plan).get("waitsFor", ""), 30)
        self.assertNotIn("--leave-in-service", weftctl(self.weftd, "plan", plan).stdout, "weftd would refuse it")
        self.weftd.wait_sweeps(1)
        self.disable(2)
        weftctl(self.weftd, "hands-off", "off", "--reason", "done", "--yes")
        self.expect_left_to_others(plan, 2, "it was given back, and somebody else has disabled it since")

    def test_what_a_person_disables_on_probation_while_it_hangs_is_not_held_by_weft(self):
        plan = self.on_probation(4)
        pid = self.subnet.opensm_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: "activates no link" in weftctl_json(self.weftd, "plan", plan).get("waitsFor", ""), 60,
                       why=lambda: weftctl(self.weftd, "plan", plan).stdout)
            self.disable(4)
            self.expect_left_to_others(plan, 4, "left as it is: somebody else disabled the link")
        finally:
            os.kill(pid, signal.SIGCONT)

    def test_whoever_looks_is_told_first(self):
        with open(self.weftd.log_path, encoding="utf-8") as log:
            self.assertIn("Weft begins nothing by itself. It proposes: ISOLATE_LINK, RESTORE_LINK", log.read())
        with self.hanging_manager():
            since = weftctl_json(self.weftd, "hands-off")["silentSince"]
            self.assertEqual(1, len(since))
            for verb in ("status", "plans", "hands-off", "breaker"):
                with self.subTest(verb):
                    said = weftctl(self.weftd, verb).stdout.splitlines()
                    self.assertRegex(said[0], r"^The subnet manager of fabric \S+ does not answer \(noticed at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\): ")
                    self.assertIn("weftctl runbook remedies", said[1])
            self.assertIn("The subnet manager of fabric ", self.weftd.client.text("/plain"))
            refused = weftctl(self.weftd, "isolate", "spine-02:3", "--reason", "a test")
            self.assertEqual(4, refused.returncode)
            self.assertIn("weftctl runbook remedies", refused.stderr)

    def test_our_own_cable_tells_nothing_of_it(self):
        wait_until(lambda: UNHEARD not in self.preview(), 60, why=self.preview)
        own, [port] = self.watcher.name, self.watcher.ports
        self.subnet.unlink(own, port)
        try:
            wait_until(lambda: "REFUSED" in self.preview().upper(), 30, why=self.preview)
            for _ in range(5):  # for longer than an administrator that hangs would need to be called silent
                self.weftd.wait_sweeps(10)
                self.assertIn("\nweft_remedy_silent_managers 0\n", self.weftd.metrics())
        finally:
            self.subnet.relink(own, port)
        wait_until(lambda: UNHEARD not in self.preview(), 60, why=self.preview)


if __name__ == "__main__":
    weft_testing.main()
