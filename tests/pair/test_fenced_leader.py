# SPDX-License-Identifier: Apache-2.0
"""A leader that hangs in the middle of an order, after its last look at the lease, and wakes when the other one leads: it sends nothing, and
the new one finds out for itself what became of the order."""

import os
import signal
import threading
import time

from pair_testing import WithPair
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

    def link(self) -> str:
        leaf = next(each for each in self.subnet.network.switches if each.name.startswith("leaf"))
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


if __name__ == "__main__":
    weft_testing.main()
