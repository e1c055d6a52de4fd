# SPDX-License-Identifier: Apache-2.0
"""A leader that hangs in the middle of an order, after its last look at the lease, and wakes when the other one leads: it sends nothing, and
the new one finds out for itself what became of the order. A database that was restored from a backup: the next leader is newer than all before."""

import os
import signal
import threading
import time

from pair_testing import WithPair, leads
import weft_testing
from webhook_receiver import WebhookReceiver
from weft_testing import wait_until, weftctl, weftctl_json


class SlowReceiver(WebhookReceiver):
    """Answers questions for a state late, once: from the first on that is asked while `is_time()`, until `go_on` is set."""

    def __init__(self, key: str):
        super().__init__(key)
        self.is_time = lambda: False
        self.held = threading.Event()
        self.go_on = threading.Event()

    def answer(self, handler, body: str) -> None:
        if handler.command == "GET" and not self.held.is_set() and self.is_time():
            self.held.set()
            self.go_on.wait(60)
        super().answer(handler, body)


class FencedLeader(WithPair):
    make_receiver = SlowReceiver
    CONFIGURATION = """
[remedy]
raise_link_cost = "propose"
[remedy.webhook]
url = "{receiver}"
status_url = "{status}"
key_file = "{key}"
timeout = "30s"
actions = ["raise_link_cost"]
"""

    def link(self, place: int = 0) -> str:
        leaf = [each for each in self.subnet.network.switches if each.name.startswith("leaf")][place]
        number = next(number for number, end in sorted(leaf.ports.items()) if self.subnet.network.nodes[end.node].name.startswith("spine"))
        return f"{leaf.name}:{number}"

    def plan(self, weftd) -> dict:
        plans = weftctl_json(weftd, "plans", "--all")["plans"]
        return plans[0] if plans else {}

    def test_an_order_that_hangs_is_not_sent_by_the_one_that_wakes(self):
        leader, standby = self.roles()
        epoch = self.epoch()
        self.receiver.is_time = lambda: self.sql("SELECT count(*) FROM plan WHERE intent = 'APPLY'") == "1"
        done = weftctl(leader, "raise-cost", self.link(), "--reason", "a test")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue(self.receiver.held.wait(30), leader.log())
        self.assertEqual([], self.receiver.orders)
        began = time.monotonic()
        os.killpg(leader.process.pid, signal.SIGSTOP)
        try:
            self.wait_leads(standby, began)
            self.receiver.go_on.set()
            time.sleep(max(0, 60 - (time.monotonic() - began)))
        finally:
            os.killpg(leader.process.pid, signal.SIGCONT)
        wait_until(lambda: "standing by" in leader.log().rpartition("has taken the database")[2], 60, why=leader.log)
        self.assertEqual([], [order for order in self.receiver.orders if order["epoch"] == epoch], "a former leader's order")
        self.assertIn("no action for 30 s", standby.log())
        # The new leader reads, after the time of whatever was on its way, and sends what was not sent or leaves it.
        plan = wait_until(lambda: (found := self.plan(standby)).get("state") not in ("EXECUTING", "APPROVED") and found, 120, why=standby.log)
        self.assertGreater(time.monotonic() - began, 30)
        self.assertEqual({epoch + 1}, {order["epoch"] for order in self.receiver.orders} | {epoch + 1}, f"{plan}")
        raised = [order for order in self.receiver.orders if order["action"] == "RAISE_LINK_COST"]
        self.assertLessEqual(len(raised), 1, f"{plan} {raised}")
        self.assertEqual(bool(raised), "no effect" not in plan.get("outcome", ""), f"{plan}")

    def restore_backup(self) -> None:
        """The database is that of the first day, as far as its epochs go."""
        for weftd in self.pair:
            if weftd.process is not None:
                self.assertEqual(0, weftd.stop(remove=False))
        for text in ("UPDATE weft_beat SET epoch = 0", "UPDATE weft_store SET epoch = 0", "UPDATE last_use SET epoch = 0"):
            self.sql(text)

    def order(self, weftd, action: str, *command: str) -> dict:
        """What reaches the receiver of a command."""
        before = len(self.receiver.orders)
        done = weftctl(weftd, *command, "--reason", "a test")
        self.assertEqual(0, done.returncode, done.stderr)
        wait_until(lambda: len(self.receiver.orders) > before, 120, why=lambda: f"{self.plan(weftd)}\n{weftd.log()}")
        self.assertEqual(action, self.receiver.orders[-1]["action"])
        return self.receiver.orders[-1]

    def test_the_database_is_restored_from_a_backup(self):
        leader, _ = self.roles()
        if self.epoch() == 1:  # the receiver is to have seen an epoch above the one that a new database gives
            self.assertEqual(0, leader.stop(remove=False))
            leader, _ = self.roles()
        highest = max(self.order(leader, "RAISE_LINK_COST", "raise-cost", self.link(1))["epoch"], self.epoch())
        self.restore_backup()
        # The state directory knows better.
        leader.start()
        wait_until(lambda: leads(leader), 60, why=leader.log)
        self.assertIn(f"has led with epoch {highest}, which the database did not know", leader.log())
        self.assertEqual(highest + 1, self.epoch())
        self.restore_backup()
        # It was lost, too: what the receiver has seen is read before anything is sent.
        for weftd in self.pair:
            mark = os.path.join(weftd.state_dir, "store")
            with open(mark, encoding="utf-8") as stream:
                lines = stream.read().splitlines()
            self.assertIn(len(lines), (3, 4), lines)  # the id of a next incident may stand last
            with open(mark, "w", encoding="utf-8") as stream:
                stream.write("\n".join(lines[:2]) + "\n")
        said = leader.log().count("which the database did not know")
        leader.start()
        wait_until(lambda: leads(leader), 60, why=leader.log)
        plan = weftctl_json(leader, "plans", "--all")["plans"][-1]  # of the link: under way
        self.assertGreater(self.order(leader, "RESTORE_LINK", "abort", plan["id"])["epoch"], highest)
        self.assertGreater(self.epoch(), highest)
        self.assertEqual(said + 1, leader.log().count("which the database did not know"), leader.log())
        self.assertTrue(leads(leader), leader.log())


if __name__ == "__main__":
    weft_testing.main()
