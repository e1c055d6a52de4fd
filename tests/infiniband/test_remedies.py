# SPDX-License-Identifier: Apache-2.0
"""From an incident to a remedy that leaves the fabric better, on a three-level fat tree of 144 hosts with OpenSM: isolated, verified,
restored, kept out after a relapse, rolled back where it does not help, and resolved after weftd was killed half-way."""

import os
import shutil
import signal
import tempfile


import weft_testing
from physical_layer import Snapshot
from weft_testing import fat_tree, program, wait_until, weftctl, weftctl_json

REMEDIES = """
detail_interval = "1m"
[remedy]
isolate_link = "auto"
restore_link = "propose"
[remedy.limits]
reading_interval = "500ms"
# Ten seconds: beside other work a sweep of so many ports takes seconds.
stale_intervals = 20
[remedy.limits.capacity]
leaf_share_idle = 0.75
[remedy.limits.budget]
cool_down = "0s"
actions_per_hour = 100
out_per_switch = 4
[remedy.limits.verification]
windows = 3
within = "40s"
probation = "10s"
"""
HELD_PORT = """\
#!/bin/bash
read -r moment state <"{moment}"
[[ "$*" == *"--set $state"* ]] || moment=never
if [[ $moment == before ]]; then touch "{reached}"; sleep 20; fi
"{program}" "$@"
code=$?
if [[ $moment == after ]]; then touch "{reached}"; sleep 20; fi
exit $code
"""
PATIENCE = 90


class Remedies(weft_testing.LayeredSubnetTest):
    analyzer = 'error_window_minimum = "2s"'

    @classmethod
    def make_network(cls):
        return fat_tree.build(144, rails=1, levels=3, radix=12)

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-held-")
        cls.addClassCleanup(shutil.rmtree, place)
        cls.moment, cls.reached = os.path.join(place, "moment"), os.path.join(place, "reached")
        held = os.path.join(place, "weft-port")
        with open(held, "w", encoding="utf-8") as stream:
            stream.write(HELD_PORT.format(moment=cls.moment, reached=cls.reached, program=program("weft-port")))
        os.chmod(held, 0o755)
        cls.infiniband = REMEDIES + f'[remedy.infiniband_port]\nprogram = "{held}"\n'
        with open(cls.moment, "w", encoding="utf-8") as stream:
            stream.write("never disabled\n")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.errors = {}

    # -- weft-port, held at the moment that a test wants: killing it while it registers with ibsim would end ibsim

    def hold(self, moment: str, state: str = "disabled") -> None:
        """ "before" it sets a port to that state, "after" it did, or "never"."""
        if os.path.exists(self.reached):
            os.unlink(self.reached)
        with open(self.moment, "w", encoding="utf-8") as stream:
            stream.write(f"{moment} {state}\n")

    # -- names

    def ends(self, name: str, port: int):
        end = self.subnet.network.find(name).ports[port]
        return (self.subnet.network.find(name).identity, port), (end.node, end.port)

    def label(self, name: str, port: int) -> str:
        return f"{name}:{port}"

    # -- faults

    def spoil(self, name: str, port: int) -> None:
        """Symbol errors at both ends, a thousand times what a link may have, and more with every call; as many as the counter holds."""
        for identity, number in self.ends(name, port):
            node = self.subnet.network.nodes[identity].name
            self.errors[node, number] = min(60_000, self.errors.get((node, number), 0) + 20_000)
            self.subnet.set_counter(node, number, "PortCounters.SymbolErrorCounter", self.errors[node, number])

    def clear(self, name: str, port: int) -> None:
        """As when a cable is replaced and its counters are cleared."""
        for identity, number in self.ends(name, port):
            node = self.subnet.network.nodes[identity].name
            self.errors[node, number] = 0
            self.subnet.set_counter(node, number, "PortCounters.SymbolErrorCounter", 0)

    def spoil_until(self, name: str, port: int, what, why: str):
        """Errors keep coming while the link is up."""
        def more():
            if found := what():
                return found
            self.spoil(name, port)
            self.weftd.wait_sweeps(1)
            return None

        return wait_until(more, within=PATIENCE, why=lambda: f"{why}: {self.plans()}\n{self.weftd.log()}")

    # -- plans

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def plan_for(self, ends, action: str, after: int = 0) -> dict | None:
        guids = {f"0x{self.subnet.network.nodes[identity].guid:016x}" for identity, _ in ends}
        numbers = {number for _, number in ends}
        for plan in reversed(self.plans()):
            target = plan["target"]
            if plan["action"] == action and int(plan["id"].split("-")[1]) > after and \
                    {target["nodeGuid"], target["peerGuid"]} == guids and {target["port"], target["peerPort"]} == numbers:
                return plan
        return None

    def newest(self) -> int:
        return max((int(plan["id"].split("-")[1]) for plan in self.plans()), default=0)

    def wait_state(self, ends, action: str, states: tuple[str, ...], after: int = 0) -> dict:
        def there():
            plan = self.plan_for(ends, action, after)
            return plan if plan and plan["state"] in states else None

        return wait_until(there, within=PATIENCE, why=lambda: f"no {action} is {states}: {self.plans()}\n{self.weftd.log()}")

    def isolate(self, name: str, port: int) -> dict:
        """By weftd itself, because of errors."""
        ends = self.ends(name, port)
        self.spoil_until(name, port, lambda: self.plan_for(ends, "ISOLATE_LINK", self.before) and
                         self.plan_for(ends, "ISOLATE_LINK", self.before)["state"] not in ("PROPOSED", "APPROVED"), "it does not act")
        return self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)

    def ask_to_isolate(self, name: str, port: int) -> None:
        def ask():
            return weftctl(self.weftd, "isolate", self.label(name, port), "--reason", "to look at it")

        done = ask()
        if "the subnet manager does not answer" in done.stderr:  # it was stopped before: weftd asks it again within 20 s
            done = wait_until(lambda: (again := ask()).returncode == 0 and again, 40, why=lambda: ask().stderr)
        self.assertEqual(0, done.returncode, done.stderr)

    def restore(self, name: str, port: int) -> dict:
        done = weftctl(self.weftd, "restore", self.label(name, port), "--reason", "new cable")
        self.assertEqual(0, done.returncode, done.stderr + self.weftd.log())
        return self.wait_state(self.ends(name, port), "RESTORE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)

    @property
    def before(self) -> int:
        return self._before

    def remember(self) -> None:
        self._before = self.newest()

    # -- the simulator's own word

    def expect_out(self, ends) -> None:
        """No route over it, and every host still reaches every other by the tables that the switches hold."""
        def gone():
            seen = Snapshot.of(self.subnet)
            pairs, lost = seen.reach()
            return pairs > 0 and not lost and not any(seen.routed_over(end) for end in ends) and \
                any(seen.ports[end].physical == "Disabled" for end in ends)

        wait_until(gone, within=PATIENCE, why="it is not out, or somebody cannot be reached")

    def expect_in(self, ends) -> None:
        wait_until(lambda: all(Snapshot.of(self.subnet).ports[end].state == "Active" for end in ends), within=PATIENCE,
                   why="the link is not active")

    # -- tests

    def test_a_bad_spine_link_is_isolated_restored_and_kept_out_after_a_relapse(self):
        name, port = "spine-p02-03", 9
        ends = self.ends(name, port)
        self.remember()
        plan = self.isolate(name, port)
        self.assertEqual("COMMITTED", plan["state"], (plan["outcome"], plan["steps"], self.weftd.log()))
        self.expect_out(ends)
        self.assertTrue(plan["incidentId"].startswith("INC-"), plan)
        self.assertIn("NOTHING", [candidate["action"] for candidate in plan["candidates"]])
        self.assertEqual({"PASSED", "NOT_NEEDED"}, {guard["result"] for guard in plan["guards"]}, plan["guards"])
        story = weftctl(self.weftd, "plan", plan["id"]).stdout
        for words in (plan["id"], plan["incidentId"], "COMMITTED", "LEAF_CAPACITY", "nothing"):
            self.assertIn(words.lower(), story.lower(), story)

        # Repaired: probation passes.
        self.clear(name, port)
        self.remember()
        back = self.restore(name, port)
        self.assertEqual("COMMITTED", back["state"], (back, self.weftd.log()))
        self.expect_in(ends)

        # Bad again, out again; and now the repair was none.
        wait_until(lambda: not self.weftd.incidents("LINK_ERRORS"), within=PATIENCE, why="the errors are not over")
        self.remember()
        self.assertEqual("COMMITTED", self.isolate(name, port)["state"])
        self.clear(name, port)
        self.weftd.wait_sweeps(2)
        self.remember()
        done = weftctl(self.weftd, "restore", self.label(name, port), "--reason", "cleaned")
        self.assertEqual(0, done.returncode, done.stderr)
        self.expect_in(ends)
        self.weftd.wait_sweeps(2)  # errors while a link trains are no relapse
        relapsed = self.spoil_until(name, port, lambda: (lambda p: p if p and p["state"] in ("COMMITTED", "ROLLED_BACK", "FAILED")
                                                         else None)(self.plan_for(ends, "RESTORE_LINK", self.before)),
                                    "no end of the probation")
        self.assertEqual("ROLLED_BACK", relapsed["state"], (relapsed, self.weftd.log()))
        self.assertIn("failed again", relapsed["outcome"])
        self.expect_out(ends)
        done = weftctl(self.weftd, "isolate", self.label(name, port), "--reason", "again")
        self.assertEqual(4, done.returncode, weftctl(self.weftd, "audit").stdout[-3000:])
        self.assertIn(relapsed["id"], done.stderr)

        trail = weftctl(self.weftd, "audit")
        self.assertEqual(0, trail.returncode, trail.stderr)
        for words in ("proposed for", "is being sent", "it is in force", "failed again"):
            self.assertIn(words, trail.stdout)

    def test_a_switch_that_is_off_for_a_moment_fails_no_probation(self):
        name, port = "spine-p02-02", 10
        ends = self.ends(name, port)
        core = self.subnet.network.nodes[ends[1][0]]
        self.remember()
        self.ask_to_isolate(name, port)
        self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED",), self.before)
        self.remember()
        done = weftctl(self.weftd, "restore", self.label(name, port), "--reason", "new cable")
        self.assertEqual(0, done.returncode, done.stderr)
        passed = lambda: (self.plan_for(ends, "RESTORE_LINK", self.before) or {}).get("windowsGood", 0)  # noqa: E731
        wait_until(passed, within=PATIENCE, why="it is not on probation")
        for number in core.ports:
            self.subnet.unlink(core.name, number)
        said = f"none of the links of {core.name} is up"
        wait_until(lambda: self.plan_for(ends, "RESTORE_LINK", self.before).get("waitsFor") == said, within=PATIENCE,
                   why=lambda: f"{self.plan_for(ends, 'RESTORE_LINK', self.before)}")
        self.weftd.wait_sweeps(2)
        for number in core.ports:
            self.subnet.relink(core.name, number)
        plan = self.wait_state(ends, "RESTORE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED"), self.before)
        self.assertEqual("COMMITTED", plan["state"], (plan, self.weftd.log()))
        self.expect_in(ends)

    def test_what_does_not_help_is_rolled_back(self):
        """OpenSM stands still: routes never leave the link."""
        name, port = "spine-p03-02", 10
        ends = self.ends(name, port)
        self.remember()
        with self.opensm_stopped():
            self.ask_to_isolate(name, port)
            self.wait_state(ends, "ISOLATE_LINK", ("ROLLING_BACK", "COMMITTED", "ROLLED_BACK", "FAILED"), self.before)
        # It is not over before OpenSM has activated the link.
        plan = self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED"), self.before)
        self.assertEqual("ROLLED_BACK", plan["state"], (plan, self.weftd.log()))
        self.assertIn("still has routes", plan["outcome"])
        self.expect_in(ends)

    def test_a_person_aborts_what_is_being_verified(self):
        name, port = "spine-p03-01", 9
        ends = self.ends(name, port)
        self.remember()
        with self.opensm_stopped():
            self.ask_to_isolate(name, port)
            plan = self.wait_state(ends, "ISOLATE_LINK", ("VERIFYING",), self.before)
            done = weftctl(self.weftd, "restore", self.label(name, port), "--reason", "wrong link")
            self.assertEqual(4, done.returncode, done.stdout + done.stderr)
            self.assertIn(f"weftctl abort {plan['id']}", done.stderr)
            done = weftctl(self.weftd, "abort", plan["id"], "--reason", "wrong link", "--who", "ann")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn("ROLLING_BACK", done.stdout)
        plan = self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED"), self.before)
        self.assertEqual("ROLLED_BACK", plan["state"], (plan, self.weftd.log()))
        self.assertIn("ann", plan["outcome"])
        self.assertIn("wrong link", plan["outcome"])
        self.expect_in(ends)
        done = weftctl(self.weftd, "abort", plan["id"], "--reason", "again")
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)

    def test_killed_half_way(self):
        """Before the port was set, and after it was set and before anybody heard of it: what was under way is resolved by reading."""
        for moment, port, ends_as in (("before", 11, "ROLLED_BACK"), ("after", 12, "COMMITTED")):
            name = "spine-p04-01"
            ends = self.ends(name, port)
            self.remember()
            self.hold(moment)
            self.ask_to_isolate(name, port)
            wait_until(lambda: os.path.exists(self.reached), within=PATIENCE, why=lambda: "weft-port is not asked: " + self.weftd.log())
            self.weftd.kill()
            self.hold("never")
            self.weftd.start()
            plan = self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)
            self.assertEqual(ends_as, plan["state"], (moment, plan["outcome"], plan["steps"]))
            told = [step["what"] for step in plan["steps"]]
            self.assertIn("weftd was restarted, or took over: reading the current state", told)
            self.assertFalse([what for what in told if "was not swept yet" in what], "it is not read before it can be")
            if plan["state"] == "COMMITTED":
                self.expect_out(ends)
                self.remember()
                self.assertEqual("COMMITTED", self.restore(name, port)["state"])
            self.expect_in(ends)

    def test_killed_while_it_is_rolled_back(self):
        """Before the port was set back, and after it was: an abort that was acknowledged is not forgotten."""
        name, port = "spine-p03-02", 10
        ends = self.ends(name, port)
        for moment in ("before", "after"):
            self.remember()
            with self.opensm_stopped():
                self.ask_to_isolate(name, port)
                plan = self.wait_state(ends, "ISOLATE_LINK", ("VERIFYING",), self.before)
                self.hold(moment, "polling")
                done = weftctl(self.weftd, "abort", plan["id"], "--reason", "wrong link")
                self.assertEqual(0, done.returncode, done.stderr)
                wait_until(lambda: os.path.exists(self.reached), within=PATIENCE, why=lambda: "weft-port is not asked: " + self.weftd.log())
                self.weftd.kill()
                self.hold("never")
            self.weftd.start()
            plan = self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)
            self.assertEqual("ROLLED_BACK", plan["state"], (moment, plan["outcome"], plan["steps"]))
            self.expect_in(ends)

    def test_opensm_dies_while_a_plan_is_verified(self):
        """Without a subnet manager routes stay: the plan is undone, and is not over before another manager has activated the link."""
        name, port = "spine-p01-03", 11
        ends = self.ends(name, port)
        self.remember()
        self.wait_for_manager()
        os.kill(self.subnet.opensm_pid(), signal.SIGSTOP)  # the routes are still on the link when it dies
        self.ask_to_isolate(name, port)
        self.wait_state(ends, "ISOLATE_LINK", ("VERIFYING",), self.before)
        self.subnet.kill_opensm()
        plan = self.wait_state(ends, "ISOLATE_LINK", ("ROLLING_BACK", "COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)
        self.assertEqual("ROLLING_BACK", plan["state"], (plan["outcome"], plan["steps"]))
        # ibsim may tell the OpenSM that was killed of a change: the new one then leaves a link that trains later in INIT.
        wait_until(lambda: all(Snapshot.of(self.subnet).ports[end].physical == "LinkUp" for end in ends), within=PATIENCE,
                   why="the port is not set back")
        self.assertEqual("ROLLING_BACK", self.plan_for(ends, "ISOLATE_LINK", self.before)["state"], "it is not active")
        self.subnet.start_opensm()
        plan = self.wait_state(ends, "ISOLATE_LINK", ("ROLLED_BACK", "FAILED"), self.before)
        self.assertEqual("ROLLED_BACK", plan["state"], (plan["outcome"], plan["steps"]))
        self.expect_in(ends)

    def test_killed_while_it_is_verified(self):
        """OpenSM stands still until weftd is back: what is out by the journal is not sent again, and is verified to its end."""
        name, port = "spine-p04-02", 11
        ends = self.ends(name, port)
        self.remember()
        with self.opensm_stopped():
            self.ask_to_isolate(name, port)
            self.wait_state(ends, "ISOLATE_LINK", ("VERIFYING",), self.before)
            self.weftd.kill()
        self.weftd.start()
        plan = self.wait_state(ends, "ISOLATE_LINK", ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED"), self.before)
        self.assertEqual("COMMITTED", plan["state"], (plan["outcome"], plan["steps"]))
        self.assertEqual(1, sum("is being sent" in step["what"] for step in plan["steps"]), plan["steps"])
        self.expect_out(ends)
        self.remember()
        self.assertEqual("COMMITTED", self.restore(name, port)["state"])
        self.expect_in(ends)

    def test_guards_refuse(self):
        leaf = self.subnet.network.nodes[self.watcher.ports[1].node].name
        for label, words in ((f"{self.watcher.name}:1", "OWN_PATH"), (f"{leaf}:1", ""), ("leaf-r0-p01:3", "ALTERNATIVE")):
            done = weftctl(self.weftd, "isolate", label, "--reason", "a mistake")
            self.assertEqual(4, done.returncode, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)
        done = weftctl(self.weftd, "hands-off", "on", "--reason", "drill", "--who", "file system team")
        self.assertEqual(0, done.returncode, done.stderr)
        self.weftd.wait_sweeps(3)  # it is not the file's to be lifted
        done = weftctl(self.weftd, "isolate", "spine-p02-04:9", "--reason", "to look at it")
        self.assertEqual(4, done.returncode, done.stdout)
        self.assertIn("HANDS_OFF", done.stderr)
        self.assertEqual(0, weftctl(self.weftd, "hands-off", "off", "--reason", "drill over").returncode)
        # Whoever may write there stops it without weftctl; taking the file away lets it go on.
        stop = os.path.join(self.weftd.state_dir, "hands-off")
        with open(stop, "w", encoding="utf-8"):
            pass

        def stopped() -> bool:
            return weftctl_json(self.weftd, "hands-off").get("handsOff", False)

        wait_until(stopped, within=PATIENCE, why="the file stops nothing")
        done = weftctl(self.weftd, "isolate", "spine-p02-04:9", "--reason", "to look at it")
        self.assertEqual(4, done.returncode, done.stdout)
        os.unlink(stop)
        wait_until(lambda: not stopped(), within=PATIENCE, why="it does not go on without the file")


if __name__ == "__main__":
    weft_testing.main()
