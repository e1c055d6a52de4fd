# SPDX-License-Identifier: Apache-2.0
"""Orders that got no answer and land after their plan ended: what weftctl says of them before and after. The receiver is a stand-in, as no scheduler can be told
to be silent at will."""

import os
import shutil
import tempfile
import urllib.parse

import weft_testing
from weft_testing import fat_tree, guid_text, wait_until, weftctl, weftctl_json
from webhook_receiver import WebhookReceiver, send

KEY = "a key of the test, long enough"
PATIENCE = 60
REMEDY = """node_name_map = "{names}"
[remedy]
drain_node = "propose"
undrain_node = "propose"
[remedy.webhook]
url = "{url}"
status_url = "{status}"
key_file = "{key}"
timeout = "2s"
[remedy.limits]
reading_interval = "300ms"
check_interval = "1s"
failed_readings = 2
readings = 2
late_watch = "120s"
[remedy.limits.budget]
cool_down = "0s"
"""


class Blind(WebhookReceiver):
    """While `is_blind` it does not tell how its hosts are."""
    is_blind = False

    def answer(self, handler, body: str) -> None:
        if handler.command == "GET" and self.is_blind:
            send(handler, 503, {"error": "the controller is away"})
        else:
            super().answer(handler, body)


class LateOrders(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        network = fat_tree.build(8, rails=1, radix=8)
        for name, adapter in zip(("n1", "n2"), network.hosts()):
            adapter.name = f"{name} mlx5_0"
        return network

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-late-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        cls.receiver = Blind(KEY)
        cls.addClassCleanup(cls.receiver.stop)
        key, names = os.path.join(place, "key"), os.path.join(place, "names")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as stream:
            stream.write(KEY)
        with open(names, "w", encoding="utf-8") as stream:
            for adapter in cls.make_network().hosts()[:2]:
                stream.write(f'{guid_text(adapter.guid)} "{adapter.name}"\n')
        cls.infiniband = REMEDY.format(names=names, url=cls.receiver.url, status=cls.receiver.status_url, key=key)
        super().setUpClass()

    def say(self, status: int, *arguments: str) -> str:
        done = weftctl(self.weftd, *arguments, within=PATIENCE + 30)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def plan(self, plan: str) -> dict:
        return next(each for each in weftctl_json(self.weftd, "plans", "--all")["plans"] if each["id"] == plan)

    def send_without_answer(self, host: str) -> tuple[str, str]:
        """The plan, and by what the receiver knows the host. The receiver tells nothing from then on."""
        self.receiver.mood = "drop"
        self.receiver.seen.clear()
        self.say(0, "drain", host, "--reason", "new memory")
        wait_until(lambda: any(method == "POST" for method, *_ in self.receiver.seen), within=PATIENCE, why="nothing was sent")
        self.receiver.is_blind = True
        plan = weftctl_json(self.weftd, "plans", "--all")["plans"][-1]["id"]
        # The reading directly before the change is of this host; what is in force is read as well.
        sent = next(at for at, (method, *_) in enumerate(self.receiver.seen) if method == "POST")
        asked = next(path for method, path, *_ in reversed(self.receiver.seen[:sent]) if method == "GET")
        return plan, urllib.parse.parse_qs(urllib.parse.urlsplit(asked).query)["target"][0]

    def land(self, plan: str, target: str) -> None:
        self.receiver.states[target] = "ours"
        self.receiver.is_blind = False
        wait_until(lambda: self.plan(plan)["inForce"], within=PATIENCE, why=lambda: self.plan(plan))
        self.assertEqual("FAILED", self.plan(plan)["state"])
        self.weftd.wait_sweeps(2)

    def test_an_abort_stays_known_when_the_order_lands_after_all(self):
        plan, target = self.send_without_answer("n1")
        self.say(1, "abort", plan, "--reason", "wrong host", "--wait", "--timeout", f"{PATIENCE}s")
        self.assertRegex(self.plan(plan)["outcome"], "^aborted by .*: wrong host; check it by hand, its state cannot be read: ")
        self.assertTrue(self.plan(plan)["unresolved"])
        self.land(plan, target)
        self.assertRegex(self.say(0, "plans"), rf"{plan} .*FAILED \(in force after all\).*aborted by .*: wrong host")
        self.assertIn("FAILED (in force after all)", self.say(0, "plan", plan))
        self.assertRegex(self.say(1, "health", "n1"), "new memory; in force after all: aborted by .*: wrong host")

    def test_an_undrain_before_the_order_lands_says_that_it_may(self):
        plan, target = self.send_without_answer("n2")
        wait_until(lambda: self.plan(plan)["state"] == "FAILED", within=PATIENCE, why=lambda: self.plan(plan))
        self.receiver.is_blind = False
        told = f"what weftd sent for {plan} may still take effect until 20"
        self.assertIn(told, self.say(0, "undrain", "n2", "--dry-run"))
        self.assertRegex(self.say(4, "undrain", "n2", "--reason", "give it back", "--wait", "--timeout", f"{PATIENCE}s"), f"EXPIRED: not needed: .*{told}")
        self.land(plan, target)
        self.assertRegex(self.say(0, "plans"), rf"{plan} .*FAILED \(in force after all\)")


if __name__ == "__main__":
    weft_testing.main()
