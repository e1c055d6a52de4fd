# SPDX-License-Identifier: Apache-2.0
"""The webhook: what it says and signs, and receivers that hang, fail, lie, close half-way or answer late."""

import json
import os
import shutil
import tempfile
import unittest

from partners_testing import Partner, main
from certificates import make_certificate
from webhook_receiver import WebhookReceiver

KEY = "a key of the test, long enough"


class WithReceiver(unittest.TestCase):
    certificate = None
    ask = False

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-webhook-")
        self.addCleanup(shutil.rmtree, self.place)
        self.key = os.path.join(self.place, "key")
        with open(self.key, "w", encoding="utf-8") as stream:
            stream.write(KEY + "\n")
        os.chmod(self.key, 0o600)
        self.memory = os.path.join(self.place, "told.json")
        self.receiver = WebhookReceiver(KEY)
        self.addCleanup(self.receiver.stop)
        self.partner = self.made()

    def made(self, **options) -> Partner:
        given = {"url": self.receiver.url, "key_file": self.key, "memory_file": self.memory, "timeout": 2,
                 **({"status_url": self.receiver.status_url} if self.ask else {}), **options}
        return Partner("webhook", **given)

    def refused(self, answer: dict, code: str) -> dict:
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["code"], code, answer)
        self.assertLess(answer["seconds"], 2 + 3)
        return answer


class Orders(WithReceiver):
    def test_say_who_what_and_why_and_are_signed(self):
        self.assertTrue(self.partner.drain("dgx-07")["ok"])
        method, path, headers, body = self.receiver.seen[-1]
        self.assertEqual((method, path), ("POST", "/weft?tenant=a"))
        self.assertRegex(headers["Idempotency-Key"], r"^PLAN-7\.DRAIN_NODE\.[0-9a-f]{16}$")
        order = json.loads(body)
        self.assertRegex(order.pop("time"), r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(order["target"].pop("host"), "dgx-07")
        self.assertEqual(order["target"].pop("kind"), "host")
        self.assertEqual(set(order.pop("target")), {"id"})
        self.assertEqual(order, {"version": 1, "idempotency_key": headers["Idempotency-Key"], "plan": "PLAN-7", "incident": "INC-17",
                                 "action": "DRAIN_NODE", "reason": "adapter mlx5_0 is dead",
                                 "message": "weft PLAN-7 INC-17: adapter mlx5_0 is dead"})

    def test_carry_the_epoch_of_the_leader(self):
        self.receiver.mood = "fail"
        self.assertFalse(self.partner.drain("dgx-07", epoch=3, permit=60)["ok"])
        self.receiver.mood = "well"
        self.assertTrue(self.partner.drain("dgx-07", epoch=4, permit=60)["ok"])
        order = self.receiver.orders[-1]
        self.assertEqual(4, order["epoch"])
        self.assertEqual("weft PLAN-7 INC-17 epoch 4: adapter mlx5_0 is dead", order["message"])
        keys = [headers["Idempotency-Key"] for method, _, headers, _ in self.receiver.seen if method == "POST"]
        self.assertEqual([order["idempotency_key"]] * 2, keys, "another leader's same order is the same")

    def test_of_two_weftd_have_different_keys(self):
        """Both count their plans from PLAN-1: the receiver takes the order of each."""
        ids = ("1c9e0b7a5d3f2468", "ffff0b7a5d3f2468")
        for number, installation in enumerate(ids):
            partner = self.made(memory_file=os.path.join(self.place, f"told-{number}.json"))
            self.assertTrue(partner.drain("dgx-07", installation=installation)["ok"])
        told = [(order["idempotency_key"].rpartition("."), order["installation"]) for order in self.receiver.orders]
        self.assertEqual([(f"PLAN-7.{each}.DRAIN_NODE", each) for each in ids], [(key[0], installation) for key, installation in told])
        self.assertEqual([f"weft PLAN-7.{each} INC-17: adapter mlx5_0 is dead" for each in ids],
                         [order["message"] for order in self.receiver.orders])

    def test_are_not_sent_after_their_time(self):
        answer = self.refused(self.partner.drain("dgx-07", epoch=4, permit=0), "failed_precondition")
        self.assertIn("nothing was sent", answer["message"])
        self.assertEqual([], self.receiver.seen)
        self.assertEqual("clear", self.partner.observe("dgx-07")["state"])

    def test_name_both_ends_of_a_link(self):
        link = {"fabric": "compute", "name": "leaf-1 port 3 - spine-2 port 7", "node": 0x1234, "port": 3, "peer": 0x5678, "peer_port": 7}
        self.assertTrue(self.partner.call("apply", action="ISOLATE_LINK", link=link)["ok"])
        target = self.receiver.orders[-1]["target"]
        target.pop("id")
        self.assertEqual(target, {"kind": "link", "fabric": "compute", "name": link["name"], "node_guid": "0x0000000000001234", "port": 3,
                                  "peer_node_guid": "0x0000000000005678", "peer_port": 7})
        self.assertEqual(self.partner.call("observe", action="ISOLATE_LINK", link=link)["state"], "ours")
        self.assertTrue(self.partner.call("apply", action="RESTORE_LINK", link=link)["ok"])
        self.assertRegex(self.receiver.orders[-1]["idempotency_key"], r"^PLAN-7\.RESTORE_LINK\.[0-9a-f]{16}$")
        self.assertEqual(self.partner.call("apply", action="NOTHING", link=link)["code"], "invalid_argument")

    def test_a_dry_run_says_it_and_sends_nothing(self):
        self.assertIn('"action":"DRAIN_NODE"', self.partner.dry_run("dgx-07", "DRAIN_NODE")["would"])
        self.assertEqual(self.receiver.seen, [])

    def test_another_key_is_refused_and_changes_nothing(self):
        with open(self.key, "w", encoding="utf-8") as stream:
            stream.write("another key, long enough too")
        self.refused(self.partner.drain("dgx-07"), "failed_precondition")
        self.assertEqual(self.receiver.orders, [])
        self.assertEqual(self.partner.observe("dgx-07")["state"], "clear")

    def test_the_last_acknowledged_answer_is_known_after_a_restart(self):
        self.assertEqual(self.partner.observe("dgx-07")["state"], "clear")
        self.assertTrue(self.partner.undrain("dgx-07")["ok"])
        self.assertEqual(self.receiver.orders, [], "there was nothing of ours to take back")
        for _ in range(2):
            self.assertTrue(self.partner.drain("dgx-07")["ok"])
        self.assertEqual(self.partner.observe("dgx-07")["state"], "ours")
        self.assertTrue(self.partner.undrain("dgx-07")["ok"])
        self.assertEqual(self.partner.observe("dgx-07")["state"], "clear")
        self.assertEqual([order["action"] for order in self.receiver.orders], ["DRAIN_NODE", "UNDRAIN_NODE"])
        self.assertTrue(self.partner.drain("dgx-07", plan=8)["ok"])
        self.assertEqual(len(self.receiver.orders), 3)

    def test_refusals_change_nothing(self):
        for mood, code in (("refuse", "invalid_argument"), ("redirect", "protocol")):
            self.receiver.mood = mood
            self.refused(self.partner.drain("dgx-07"), code)
            self.assertEqual(self.partner.observe("dgx-07")["state"], "clear", mood)
        self.assertEqual(self.receiver.orders, [])

    def test_no_answer_is_unclear_until_a_later_answer(self):
        for plan, (mood, code) in enumerate((("hang", "timeout"), ("fail", "unavailable"), ("half", "unavailable"), ("drop", "unavailable"), ("late", "timeout"),
                           ("flood", "unavailable"), ("noise", "unavailable")), 100):
            with self.subTest(mood):
                host = f"dgx-{mood}"
                self.receiver.mood = mood
                self.refused(self.partner.drain(host, plan=plan), code)
                self.refused(self.partner.observe(host, plan=plan), "unavailable")
                self.receiver.mood = "well"
                self.assertTrue(self.partner.drain(host, plan=plan)["ok"])
                self.assertEqual(self.partner.observe(host, plan=plan)["state"], "ours")
                self.assertEqual(len([order for order in self.receiver.orders if order["target"]["host"] == host]), 1, "done twice")

    def test_a_doubtful_drain_can_be_undrained(self):
        self.receiver.mood = "half"
        self.refused(self.partner.drain("dgx-07"), "unavailable")
        self.receiver.mood = "well"
        self.refused(self.partner.observe("dgx-07"), "unavailable")
        self.assertEqual("ours", self.partner.observe("dgx-07", "UNDRAIN_NODE")["state"], "else it would never be brought back")
        self.assertTrue(self.partner.undrain("dgx-07")["ok"])
        self.assertEqual(self.receiver.states[self.receiver.orders[0]["target"]["id"]], "clear")
        self.assertEqual(self.partner.observe("dgx-07")["state"], "clear")

    def test_a_memory_that_cannot_be_kept_or_read_sends_nothing(self):
        self.refused(self.made(memory_file="/nonexistent/told.json").drain("dgx-07"), "failed_precondition")
        with open(self.memory, "w", encoding="utf-8") as stream:
            stream.write("{")
        self.assertEqual(self.partner.drain("dgx-07")["code"], "corrupt")
        self.assertEqual(self.receiver.seen, [])

    def test_where_nobody_is_nothing_was_sent(self):
        self.receiver.stop()
        self.refused(self.partner.drain("dgx-07"), "failed_precondition")
        self.assertEqual("clear", self.partner.observe("dgx-07")["state"], "there is no doubt")
        self.receiver = WebhookReceiver(KEY)


class Status(WithReceiver):
    ask = True

    def test_the_world_is_read_there_and_resolves_what_was_not_answered(self):
        for plan, (mood, code, state) in enumerate((("late", "timeout", "ours"), ("half", "unavailable", "ours"),
                                                    ("drop", "unavailable", "clear"))):
            self.receiver.mood = mood
            self.refused(self.partner.drain(mood, plan=plan), code)
            self.assertEqual(self.partner.observe(mood)["state"], state)
        method, path, _, _ = self.receiver.seen[-1]
        self.assertEqual(method, "GET")
        self.assertTrue(path.startswith("/status?target=") and path.endswith("&plan=PLAN-7"), path)

    def test_the_greatest_epoch_that_was_seen_there_is_read(self):
        self.assertEqual(0, self.partner.observe("dgx-07")["epoch"])
        for epoch in (4, 9, 7):
            self.assertTrue(self.partner.drain(f"dgx-0{epoch}", plan=epoch, epoch=epoch, permit=60)["ok"])
        self.assertEqual(9, self.partner.observe("dgx-07")["epoch"])

    def test_what_others_did_is_not_touched(self):
        self.assertTrue(self.partner.drain("dgx-07")["ok"])
        self.receiver.states = dict.fromkeys(self.receiver.states, "foreign")
        self.refused(self.partner.undrain("dgx-07"), "failed_precondition")
        self.refused(self.partner.drain("dgx-07"), "failed_precondition")
        self.assertEqual(len(self.receiver.orders), 1)

    def test_a_status_that_says_nothing_known_is_no_status(self):
        self.receiver.states = {}
        self.assertTrue(self.partner.drain("dgx-07")["ok"])
        self.receiver.states = dict.fromkeys(self.receiver.states, "fine")
        self.refused(self.partner.observe("dgx-07"), "protocol")


class Encrypted(WithReceiver):
    def setUp(self):
        super().setUp()
        self.receiver.stop()
        self.certificate, key = make_certificate(self.place)
        self.receiver = WebhookReceiver(KEY, (self.certificate, key))

    def test_the_receiver_must_prove_who_it_is(self):
        self.refused(self.made().drain("dgx-07"), "failed_precondition")
        self.assertEqual(self.receiver.seen, [])
        self.assertTrue(self.made(certificate_authorities=self.certificate).drain("dgx-07")["ok"])
        self.assertEqual(len(self.receiver.orders), 1)

    def test_a_certificate_of_another_name_is_refused(self):
        self.receiver.stop()
        certificate, key = make_certificate(self.place, "elsewhere", "DNS:elsewhere.example.org")
        self.receiver = WebhookReceiver(KEY, (certificate, key))
        self.refused(self.made(certificate_authorities=certificate).drain("dgx-07"), "failed_precondition")
        self.assertEqual(self.receiver.seen, [])


if __name__ == "__main__":
    main()
