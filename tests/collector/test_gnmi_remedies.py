# SPDX-License-Identifier: Apache-2.0
"""Links between switches taken out and brought back by gNMI Set, on stand-ins: dry run, guards, lost answers, faults, and weftd killed at
each step."""

import json
import os
import socket
import subprocess

from gnmi_testing import PLAIN, GnmiTest
from collector_testing import main, program, wait_until

REMEDIES = """
[ethernet]
interval = "500ms"
[gnmi]
credentials_directory = "{place}"
[remedy]
isolate_link = "propose"
restore_link = "propose"
[remedy.gnmi_port]
enabled = true
timeout = "3s"
[remedy.webhook]
url = "http://127.0.0.1:9/"
key_file = "{key}"
actions = ["isolate_link", "restore_link"]
[remedy.limits]
reading_interval = "300ms"
check_interval = "4s"  # a second look must come sooner, on a machine that is slow, too
failed_readings = 2
readings = 2
late_watch = "3s"
[remedy.limits.capacity]
leaf_share_idle = 0.25  # what may still land counts as out
rail_share = 0.25
[remedy.limits.budget]
cool_down = "0s"
actions_per_hour = 100
out_per_switch = 4
[remedy.limits.breaker]
actions_per_day = 1000
[remedy.limits.verification]
windows = 2
within = "40s"
probation = "1s"
"""
OVER = ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED")
OWN_HOST = socket.gethostname()
LINK = ("leaf01", "Ethernet51")


class SetByGnmi(GnmiTest):
    """leaf02 and spine04 are not to be set; spine01 is an SR Linux, spine02 a SONiC; leaf01 wants a login."""
    special = {"leaf01": " credentials=leaf", "leaf02": " set=off", "spine04": " set=off"}
    switches = ["leaf01", "leaf02", "spine01", "spine02", "spine03", "spine04"]
    cables = [("leaf01", "Ethernet1", "gpu-01", "eth1"), ("leaf02", "Ethernet1", "gpu-02", "eth1"), ("leaf01", "Ethernet2", OWN_HOST, "eth1")] + \
        [(f"leaf0{leaf}", f"Ethernet5{spine}", f"spine0{spine}", f"Ethernet{leaf}") for leaf in (1, 2) for spine in (1, 2, 3, 4)]

    @classmethod
    def targets(cls) -> list[str]:
        return [f"{one.name} {one.address} {PLAIN}{cls.special.get(one.name, '')}" for one in cls.fabric.switches.values()]

    @classmethod
    def prepare(cls):
        for name, native, models in (("spine01", "srlinux", ("urn:nokia.com:srlinux:chassis:interfaces:srl_nokia-interfaces",)),
                                     ("spine02", "sonic", ("openconfig-interfaces", "sonic-port"))):
            cls.fabric.switches[name].quirks.native = native
            cls.fabric.switches[name].quirks.models = models
        cls.fabric.switches["leaf01"].quirks.login = ("weft", "secret")
        for file, text in (("key", "a key of the test, long enough\n"), ("leaf.login", "weft\nsecret\n")):
            with open(os.open(os.path.join(cls.place, file), os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as stream:
                stream.write(text)
        config = os.path.join(cls.place, "weftd.toml")
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(REMEDIES.format(place=cls.place, key=os.path.join(cls.place, "key")))
        cls.flags = ["--config", config]
        super().prepare()

    def setUp(self):
        wait_until(self.is_whole, 60, why=self.state)
        self.leaf = self.fabric.switches["leaf01"]
        self.addCleanup(self.mend)

    def is_whole(self, down: int = 0) -> bool:
        """All switches are read, and all links but `down` are up."""
        found = self.found()
        return self.all_read() and found.get("links") == len(self.cables) and found.get("linksUp") == len(self.cables) - down

    def mend(self):
        """What a test that failed left behind must not fail others."""
        for switch in self.fabric.switches.values():
            switch.quirks.get_trouble = switch.quirks.set_trouble = ""
            switch.released.set()
            switch.sets.clear()
            for port in switch.ports:
                self.fabric.set_port(switch.name, port, True)

    # -- asking

    def ask(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([program("weftctl"), "--server", "unix:" + os.path.join(self.place, "weftd.sock"), *words], capture_output=True, text=True, check=False)

    def plans(self) -> list[dict]:
        return json.loads(self.weftctl("--json", "plans", "--all")).get("plans", [])

    def newest(self) -> dict:
        return max(self.plans(), key=lambda plan: int(plan["id"].split("-")[1]))

    def dry_run(self, switch: str, port: str) -> dict:
        return json.loads(self.ask("--json", "isolate", f"{switch}:{port}", "--dry-run").stdout)

    def guard(self, plan: dict, name: str) -> dict:
        return next(guard for guard in plan["guards"] if guard["guard"] == name)

    def order(self, verb: str, switch: str, port: str) -> None:
        done = self.ask(verb, f"{switch}:{port}", "--reason", "to look at it")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr + self.state())

    def over(self, *states: str) -> dict:
        def there():
            plan = self.newest()
            return plan if plan["state"] in OVER else None
        plan = wait_until(there, 60, why=lambda: f"{self.newest()}\n{self.state()}")
        self.assertIn(plan["state"], states, (plan.get("outcome"), plan["steps"], self.log()))
        return plan

    def settle(self) -> None:
        """Nothing that was sent may still land."""
        def left() -> list[dict]:
            return [plan for plan in self.plans() if plan.get("unresolved")]
        wait_until(lambda: not left(), 30, why=lambda: f"{left()}\n{self.log()}")

    def isolate(self, switch: str, port: str, state: str = "COMMITTED") -> dict:
        self.order("isolate", switch, port)
        return self.over(state)

    def restore(self, switch: str, port: str) -> dict:
        self.order("restore", switch, port)
        return self.over("COMMITTED")

    def sent(self) -> dict[str, list[tuple[str, bool]]]:
        return {name: switch.sets for name, switch in self.fabric.switches.items() if switch.sets}

    def hang(self, what: str, trouble: str) -> None:
        self.leaf.reached.clear()
        self.leaf.released.clear()
        setattr(self.leaf.quirks, what, trouble)

    def wait_reached(self) -> None:
        wait_until(self.leaf.reached.is_set, 30, why=self.state)

    def start_again(self) -> None:
        """As after kill -9: nothing of it could end in order. The switch answers again."""
        self.weftd.kill()
        self.weftd.wait()
        self.leaf.quirks.get_trouble = self.leaf.quirks.set_trouble = ""
        self.start_weftd()


class GnmiRemedies(SetByGnmi):
    def test_a_dry_run_shows_the_end_and_the_guards_and_sends_nothing(self):
        done = self.ask("isolate", "leaf01:Ethernet51", "--dry-run")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("disable leaf01 Ethernet51; traffic is rerouted", done.stdout)
        plan = self.dry_run(*LINK)
        self.assertEqual("gnmi_port", plan["actuator"])
        for name in ("LEAF_CAPACITY", "REACHABILITY", "OWN_PATH", "FRESH_DATA"):
            self.assertEqual("PASSED", self.guard(plan, name)["result"], plan["guards"])
        self.assertIn(OWN_HOST, self.guard(plan, "OWN_PATH")["explanation"])
        self.assertEqual({}, self.sent())

    def test_one_end_is_shut_and_enabled_again(self):
        plan = self.isolate(*LINK)
        self.assertEqual("leaf01 Ethernet51", plan["end"])
        self.assertIn("leaf01 Ethernet51: shut, admin DOWN", json.dumps(plan["steps"]))
        self.assertFalse(self.leaf.ports["Ethernet51"].enabled)
        self.assertEqual({"leaf01": [("Ethernet51", False)]}, self.sent())
        # That it is down is nobody's alarm.
        told = self.client.json("/api/v1/incidents?state=open").get("incidents", [])
        self.assertEqual(["INFO"] * len(told), [one["severity"] for one in told], told)
        self.restore(*LINK)
        self.assertEqual({"leaf01": [("Ethernet51", False), ("Ethernet51", True)]}, self.sent())
        self.assertEqual("UP", self.fabric.switches["spine01"].ports["Ethernet1"].oper)

    def test_each_vendor_is_set_in_its_own_way_and_one_without_set_by_the_webhook(self):
        for spine, link in (("spine01", "Ethernet51"), ("spine02", "Ethernet52")):
            plan = self.isolate("leaf02", link)
            self.assertEqual(f"{spine} Ethernet2", plan["end"])
            self.assertFalse(self.fabric.switches[spine].ports["Ethernet2"].enabled)
            self.restore("leaf02", link)
            self.assertEqual([("Ethernet2", False), ("Ethernet2", True)], self.fabric.switches[spine].sets)
        self.assertEqual("webhook", self.dry_run("leaf02", "Ethernet54")["actuator"])

    def test_lost_answers_are_resolved_by_reading(self):
        self.leaf.quirks.set_trouble = "lost"
        plan = self.isolate("leaf01", "Ethernet52")
        self.assertIn("no answer, reading the state instead of sending again", json.dumps(plan["steps"]))
        self.leaf.quirks.set_trouble = "dropped"
        self.order("restore", "leaf01", "Ethernet52")
        self.over("ROLLED_BACK", "FAILED")
        self.assertEqual([("Ethernet52", False), ("Ethernet52", True)], self.leaf.sets, "it was sent again")
        self.leaf.quirks.set_trouble = ""
        self.restore("leaf01", "Ethernet52")
        self.leaf.quirks.set_trouble = "dropped"
        self.isolate("leaf01", "Ethernet53", state="ROLLED_BACK")
        self.assertEqual([("Ethernet52", True), ("Ethernet53", False)], self.leaf.sets[2:])
        self.assertTrue(self.leaf.ports["Ethernet53"].enabled)

    def test_what_lands_late_is_seen_and_can_be_brought_back(self):
        self.settle()
        self.hang("set_trouble", "late")
        plan = self.isolate(*LINK, state="ROLLED_BACK")
        self.assertTrue(plan["unresolved"], plan)
        self.leaf.released.set()
        wait_until(lambda: not self.leaf.ports["Ethernet51"].enabled, 10, why=self.state)
        wait_until(lambda: self.newest().get("inForce"), 30, why=lambda: str(self.newest()))
        self.leaf.quirks.set_trouble = ""
        self.restore(*LINK)
        self.assertEqual([("Ethernet51", False), ("Ethernet51", True)], self.leaf.sets)

    def test_what_a_switch_refuses_or_cannot_do_is_told_and_changes_nothing(self):
        for trouble, words in (("refuse", "this user may only read"), ("missing", "there is no Set here")):
            self.leaf.quirks.set_trouble = trouble
            self.assertIn(words, self.isolate(*LINK, state="FAILED")["outcome"])
        # One that hangs fails by its time-out, and harms nobody else.
        self.hang("get_trouble", "hang")
        plan = self.isolate(*LINK, state="FAILED")
        self.assertIn("does not answer", plan["outcome"])
        self.assertTrue(self.leaf.ports["Ethernet51"].enabled)
        self.assertTrue(self.all_read(), self.states())
        self.leaf.quirks.get_trouble, self.leaf.quirks.set_trouble = "", "ignore"
        self.isolate("leaf01", "Ethernet54", state="ROLLED_BACK")

    def test_nobody_cuts_himself_off(self):
        plan = self.dry_run("leaf01", "Ethernet2")
        self.assertEqual("REFUSED", self.guard(plan, "OWN_PATH")["result"])
        self.assertIn("weftd's own path", self.guard(plan, "OWN_PATH")["explanation"])
        others = [("leaf01", f"Ethernet5{spine}", f"spine0{spine}", "Ethernet1") for spine in (2, 3, 4)]
        for cable in others:
            self.addCleanup(self.fabric.plug, cable)
            self.fabric.pull(cable)
        wait_until(lambda: self.guard(self.dry_run(*LINK), "OWN_PATH")["result"] == "REFUSED", 30, why=self.state)
        self.assertIn("it is the last path that is up between leaf01 and spine01", self.guard(self.dry_run(*LINK), "OWN_PATH")["explanation"])
        done = self.ask("isolate", "leaf01:Ethernet51", "--reason", "a mistake")
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)
        self.assertEqual({}, self.sent())

    def test_what_somebody_else_shut_is_left_alone(self):
        self.fabric.set_port("spine01", "Ethernet1", False)
        wait_until(lambda: self.found().get("linksUp") == len(self.cables) - 1, 30, why=self.state)
        plan = self.isolate(*LINK, state="EXPIRED")
        self.assertIn("somebody else", plan["outcome"])
        self.assertEqual({}, self.sent())


class Killed(SetByGnmi):
    """In a class of its own: time around a kill -9 counts as not watched, so what was sent then is watched for longer."""

    def test_killed_at_each_step(self):
        """The intent is in the ledger before anything is sent, and what was under way is resolved by reading."""
        ports = self.leaf.ports
        # At the first look nothing was intended: it is judged anew, and before the switches are read again that ends it.
        self.hang("get_trouble", "hang")
        self.order("isolate", *LINK)
        self.wait_reached()
        self.assertEqual("NONE", self.newest()["intent"])
        self.start_again()
        self.over("EXPIRED")
        self.assertEqual([], self.leaf.sets)
        # Set has come and is not done.
        wait_until(self.is_whole, 30, why=self.state)
        self.hang("set_trouble", "before")
        self.order("isolate", *LINK)
        self.wait_reached()
        self.assertEqual("APPLY", self.newest()["intent"])
        self.start_again()
        self.over("ROLLED_BACK")
        self.assertTrue(ports["Ethernet51"].enabled)
        self.assertEqual([("Ethernet51", False)], self.leaf.sets, "it was sent again")
        # It is done, and nobody heard of it.
        wait_until(self.is_whole, 30, why=self.state)
        self.hang("set_trouble", "after")
        self.order("isolate", "leaf01", "Ethernet52")
        self.wait_reached()
        self.start_again()
        self.over("COMMITTED")
        self.assertEqual([("Ethernet51", False), ("Ethernet52", False)], self.leaf.sets)
        # The same on the way back.
        for trouble, states in (("before", ("ROLLED_BACK", "FAILED")), ("after", ("COMMITTED",))):
            # Both ends of a link must have been read again before a guard lets a plan begin.
            wait_until(lambda: self.is_whole(down=1), 30, why=self.state)
            self.hang("set_trouble", trouble)
            self.order("restore", "leaf01", "Ethernet52")
            self.wait_reached()
            self.start_again()
            self.over(*states)
            self.assertEqual(trouble == "after", ports["Ethernet52"].enabled)
        self.assertEqual([("Ethernet52", True)] * 2, self.leaf.sets[2:])
        # While it is verified.
        wait_until(self.is_whole, 30, why=self.state)
        self.order("isolate", "leaf01", "Ethernet53")
        wait_until(lambda: self.newest()["state"] in ("VERIFYING", *OVER), 30, why=self.state)
        self.start_again()
        self.over("COMMITTED")
        self.assertFalse(ports["Ethernet53"].enabled)
        wait_until(lambda: self.is_whole(down=1), 30, why=self.state)
        self.restore("leaf01", "Ethernet53")
        self.assertEqual([("Ethernet53", False), ("Ethernet53", True)], self.leaf.sets[4:])


if __name__ == "__main__":
    main()
