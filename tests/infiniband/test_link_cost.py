# SPDX-License-Identifier: Apache-2.0
"""A link that trained at a quarter of its width, from its incident to routes that avoid it: weftd's plan, OpenSM's hop weights and the
tables that the simulator's switches really hold. Made costly, verified, kept so while it is slow, and given back once it is wide. What
came of it is known when the plan that made it costly is long forgotten."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import weft_testing
from physical_layer import Snapshot
from shifted_clock import SHIM, ShiftedClock
from weft_testing import fat_tree, free_port, guid_text, program, wait_until, weftctl, weftctl_json

REMEDIES = """
[remedy]
raise_link_cost = "propose"
restore_link = "propose"
[remedy.opensm_weights]
file = "{file}"
console_port = {console}
[remedy.limits]
reading_interval = "200ms"
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
windows = 6
within = "20s"
probation = "3s"
"""
OVER = ("COMMITTED", "ROLLED_BACK", "FAILED", "EXPIRED")
DAY = 86_400  # seconds


class WithSlowLink(weft_testing.SubnetTest):
    routing = "minhop"  # counts hops, and heeds their weights
    SLOW = ("leaf-r0-p01", 9)

    @classmethod
    def make_network(cls):
        network = fat_tree.build(32, rails=1, radix=16)
        network.set_width(network.find(cls.SLOW[0]).identity, cls.SLOW[1], 1)
        return network

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-weights-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        cls.file = os.path.join(place, "hop-weights.conf")
        console = free_port()
        cls.opensm_options = ("-w", cls.file, "--console", "loopback", "-C", str(console))
        with open(cls.file, "w", encoding="ascii"):
            pass
        cls.infiniband = REMEDIES.format(file=cls.file, console=console)
        super().setUpClass()

    # -- what is so

    def ends(self):
        node = self.network.find(self.SLOW[0])
        end = node.ports[self.SLOW[1]]
        return (node.identity, self.SLOW[1]), (end.node, end.port)

    def weights(self) -> set[tuple[str, ...]]:
        with open(self.file, encoding="ascii") as stream:
            return {tuple(line.split()[:3]) for line in stream if line.strip()}

    def raised(self) -> set[tuple[str, ...]]:
        return {(guid_text(self.network.nodes[node].guid), str(port), "64") for node, port in self.ends()}

    def routes(self) -> int:
        """LIDs that lead over the link, by the tables that the switches hold; everybody must reach everybody."""
        snapshot = Snapshot.of(self.subnet)
        pairs, lost = snapshot.reach()
        self.assertGreater(pairs, 0)
        self.assertEqual([], lost)
        return sum(snapshot.routed_over(end) for end in self.ends())

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def plan(self, action: str, *states: str) -> dict:
        """The newest one, as soon as it is in one of the states."""
        def there():
            found = [plan for plan in self.plans() if plan["action"] == action]
            return found[-1] if found and found[-1]["state"] in states else None

        return wait_until(there, within=90, why=lambda: f"no {action} is {states}: {self.plans()}\n{self.weftd.log()}")

    def restore(self, expected: str) -> dict:
        done = weftctl(self.weftd, "restore", f"{self.SLOW[0].upper()}:{self.SLOW[1]}", "--reason", "new cable", "--wait", "--timeout", "90s",
                       within=120)
        self.assertEqual(0 if expected == "COMMITTED" else 1, done.returncode, done.stdout + done.stderr + self.weftd.log())
        back = self.plan("RESTORE_LINK", *OVER)
        self.assertTrue(done.stdout.splitlines()[-1].startswith(f"{back['id']} is {expected}: "), done.stdout)
        for step in back["steps"]:
            self.assertIn(step["what"], done.stdout)
        self.assertEqual((expected, "opensm_weights"), (back["state"], back["actuator"]), (back["outcome"], back["steps"]))
        return back


class SlowLink(WithSlowLink):
    def expect_one_approval(self, plan: str) -> None:
        """Of several at once one is the approval; the others are told so."""
        def approves(who: str) -> bool:
            done = weftctl(self.weftd, "approve", plan, "--who", who)
            self.assertIn(done.returncode, (0, 4), done.stderr)
            return done.returncode == 0

        with concurrent.futures.ThreadPoolExecutor(4) as people:
            answers = [answer.result() for answer in [people.submit(approves, who) for who in ("ann", "bob", "cid", "dan")]]
        self.assertEqual(1, answers.count(True), answers)
        approvals = [line for line in weftctl(self.weftd, "audit").stdout.splitlines() if "approved" in line.lower() and plan in line]
        self.assertEqual(1, len(approvals), approvals)

    # -- the story

    def test_is_avoided_while_it_is_slow(self):
        proposed = self.plan("RAISE_LINK_COST", "PROPOSED")
        self.assertGreater(self.routes(), 0)
        self.weftd.wait_sweeps(2)
        self.assertEqual(set(), self.weights(), "nobody approved it")
        self.assertEqual([], [guard for guard in proposed["guards"] if guard["result"] == "REFUSED"])
        self.assertEqual("LINK_DEGRADED", self.weftd.incidents()[0]["kind"])

        self.weftd.kill()
        self.weftd.start()
        again = self.plan("RAISE_LINK_COST", "PROPOSED")
        self.assertEqual([proposed["id"]], [plan["id"] for plan in self.plans()], "it is the same one after a power cut")
        done = weftctl(self.weftd, "approve", again["id"], "--revision", str(int(again["revision"]) + 1))
        self.assertEqual(4, done.returncode, done.stdout + done.stderr)
        self.assertIn("has changed since you read it", done.stderr)
        self.expect_one_approval(again["id"])
        plan = self.plan("RAISE_LINK_COST", *OVER)
        self.assertEqual((proposed["id"], "COMMITTED"), (plan["id"], plan["state"]), (plan["outcome"], plan["steps"]))
        told = [step["state"] for step in plan["steps"]]
        self.assertEqual(["PROPOSED", "APPROVED", "EXECUTING", "VERIFYING", "COMMITTED"], sorted(set(told), key=told.index))
        self.assertEqual(self.raised(), self.weights())
        with open(self.file, encoding="ascii") as stream:
            for line in stream.read().strip().splitlines():
                self.assertRegex(line, rf"# weft {plan['id']}\.[0-9a-f]{{16}} {plan['incidentId']}: ", "whose it is: of this store")
        self.assertEqual(0, self.routes())
        self.assertEqual(["Active"] * 2, [Snapshot.of(self.subnet).ports[end].state for end in self.ends()], "it is the last resort")

        held = weftctl(self.weftd, "plans", "--in-force").stdout
        self.assertRegex(held, rf"{plan['id']} +RAISE_LINK_COST .*by hand: weftctl lower-cost ")
        self.assertIn("weftctl plans --in-force", weftctl(self.weftd, "plans").stdout)
        self.assertNotIn("out of service", held + weftctl(self.weftd, "plan", plan["id"]).stdout)
        offered = subprocess.run([program("weftctl"), "__complete", "fish", "--server", f"unix:{self.weftd.socket}", "lower-cost", ""],
                                 stdout=subprocess.PIPE, text=True, timeout=20, check=True).stdout
        self.assertIn(f"\t{plan['id']}, RAISE_LINK_COST", offered)

        # It is as slow as before: given back all the same, it is avoided again.
        self.assertIn("failed again", self.restore("ROLLED_BACK")["outcome"])
        self.assertEqual(self.raised(), self.weights())
        wait_until(lambda: self.routes() == 0, why="the routes do not leave it again")

        looked_after = next(i for i in self.weftd.incidents() if i["id"] == plan["incidentId"])
        self.assertEqual(("ACKNOWLEDGED", f"weftd ({plan['id']})"), (looked_after["state"], looked_after.get("acknowledgedBy")))
        # It is no work of ours that it goes down: it should have stayed up.
        self.subnet.unlink(*self.SLOW)
        down = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*self.SLOW)))
        self.assertEqual("", down.get("maintenanceId", ""), down)

        # The cable is changed for a good one, with all of the subnet's power; the weights outlast that.
        self.subnet.kill_opensm()
        self.subnet.kill_ibsim()
        self.network.set_width(self.network.find(self.SLOW[0]).identity, self.SLOW[1], 4)
        self.subnet.start()
        wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.shown()}")
        self.assertEqual((self.raised(), 0), (self.weights(), self.routes()))
        self.restore("COMMITTED")
        self.assertEqual(set(), self.weights())
        wait_until(lambda: self.routes() > 0, why="no route comes back")
        self.expect_others_to_count()
        self.expect_by_hand()

    def expect_others_to_count(self) -> None:
        """Links that somebody else made costly count in the budget of their switch, and are no ways up. The list is read at the start."""
        leaf = self.network.find(self.SLOW[0])
        others = [(leaf, port) for port in sorted(leaf.ports)
                  if port != self.SLOW[1] and self.network.nodes[leaf.ports[port].node].kind == leaf.kind][:2]
        self.assertEqual(2, len(others))
        self.weftd.stop(remove=False)
        with open(self.file, "a", encoding="ascii") as stream:
            for node, port in others:
                stream.write(f"{guid_text(node.guid)} {port} 64 # until the cable is here\n")
        self.weftd.start()
        self.weftd.wait_sweeps(2)

        def seen() -> str:
            return weftctl(self.weftd, "raise-cost", f"{self.SLOW[0]}:{self.SLOW[1]}", "--dry-run").stdout

        # How long ago a link was given back before a restart is not known to the second: the list may have to be read once more.
        refused = rf"BUDGET +REFUSED +maximum of links of one switch isolated or avoided reached: 2 at {self.SLOW[0]}"
        wait_until(lambda: re.search(refused, seen()), 90, why=seen)
        self.weftd.stop(remove=False)
        with open(self.file, "w", encoding="ascii"):
            pass
        self.weftd.start()
        self.weftd.wait_sweeps(2)
        wait_until(lambda: re.search(r"BUDGET +passed", seen()), 90, why=seen)

    def expect_by_hand(self) -> None:
        """A person looks first, raises the cost and lowers it again."""
        link, before = f"{self.SLOW[0]}:{self.SLOW[1]}", len(self.plans())
        seen = weftctl(self.weftd, "raise-cost", link, "--dry-run")
        self.assertEqual(0, seen.returncode, seen.stderr)
        self.assertRegex(seen.stdout, r"RAISE_LINK_COST  preview: nothing is done yet\n")
        self.assertRegex(seen.stdout, r"LEAF_CAPACITY +passed")
        self.assertRegex(seen.stdout, r"keeps \d+ of \d+ uplink paths")
        self.assertRegex(seen.stdout, r"NOTHING +0.0 % .*\n +no open incident")
        self.assertEqual((before, set()), (len(self.plans()), self.weights()))
        self.assertEqual(2, weftctl(self.weftd, "raise-cost", link).returncode, "no reason")
        done = weftctl(self.weftd, "lower-cost", link, "--reason", "x")
        self.assertEqual(4, done.returncode, "it was not raised")
        self.assertRegex(done.stderr, r"Weft does not raise the cost of .* any more \(PLAN-\d+, reverted\): if it is raised, somebody else did that")
        for verb, action, weights in (("raise-cost", "RAISE_LINK_COST", self.raised()), ("lower-cost", "RESTORE_LINK", set())):
            done = weftctl(self.weftd, verb, link, "--reason", "a test", "--who", "ann")
            self.assertEqual(0, done.returncode, done.stderr)
            plan = self.plan(action, *OVER)
            self.assertEqual("COMMITTED", plan["state"], (plan["outcome"], plan["steps"]))
            self.assertRegex(plan["requestedBy"], r"\(uid \d+\), for ann$")
            self.assertEqual(weights, self.weights())


@unittest.skipUnless(os.path.exists(SHIM), "clock_shim.so is not built")
class LongAfter(WithSlowLink):
    """The plan that made the link costly is forgotten after remedy.limits.retention; the return that failed holds the link."""

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-clock-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        super().setUpClass()
        cls.clock = ShiftedClock(os.path.join(place, "clock"))
        cls.weftd.stop(remove=False)
        cls.clock.preload_in(cls.weftd.environment)
        cls.weftd.start()
        cls.weftd.wait_sweeps(1)

    def return_in_vain(self, undoes: str) -> dict:
        """The return, when it has failed: the link is as slow as before."""
        done = weftctl(self.weftd, "restore", f"{self.SLOW[0]}:{self.SLOW[1]}", "--reason", "new cable")
        self.assertEqual(0, done.returncode, done.stderr)
        asked = self.plans()[-1]["id"]
        wait_until(lambda: self.plans()[-1]["state"] in OVER, within=90, why=lambda: f"{asked} does not end: {self.plans()}\n{self.weftd.log()}")
        back = self.plans()[-1]
        self.assertEqual((asked, undoes, "ROLLED_BACK"), (back["id"], back["undoes"], back["state"]), back["steps"])
        return back

    def test_a_return_that_fails_again_makes_it_costly_again_and_isolates_nothing(self):
        raised = self.plan("RAISE_LINK_COST", "PROPOSED")["id"]
        self.assertEqual(0, weftctl(self.weftd, "approve", raised).returncode)
        self.plan("RAISE_LINK_COST", "COMMITTED")
        self.assertEqual(self.raised(), self.weights())
        held = self.return_in_vain(raised)
        self.assertEqual(self.raised(), self.weights())

        self.clock.pass_by(9 * DAY)
        self.weftd.wait_sweeps(3)
        wait_until(lambda: raised not in [plan["id"] for plan in self.plans()], within=60,
                   why=lambda: f"it is not forgotten: {self.plans()}\n{self.weftd.log()}")
        again = self.return_in_vain(held["id"])
        sent = [step["what"].split()[0] for step in again["steps"] if "sent to opensm_weights" in step["what"]]
        self.assertEqual(["RESTORE_LINK", "RAISE_LINK_COST"], sent, again["steps"])
        self.assertEqual(self.raised(), self.weights())
        wait_until(lambda: self.routes() == 0, why="the routes do not leave it again")
        self.assertEqual(["Active"] * 2, [Snapshot.of(self.subnet).ports[end].state for end in self.ends()], "it is not isolated")


if __name__ == "__main__":
    weft_testing.main()
