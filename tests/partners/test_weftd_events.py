# SPDX-License-Identifier: Apache-2.0
"""Incidents told by webhook: receivers that hang, fail, lie, refuse and are away, and weftd killed in between."""

import json
import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "infiniband")]

import weft_testing  # noqa: E402
from webhook_receiver import EventReceiver  # noqa: E402
from weft_testing import Weftd, wait_until  # noqa: E402

KEY = "a key of the test, long enough"
CABLE = ("leaf-r0-p01", 9)
LONGEST = 90  # seconds: the pause before an event is sent again grows to a minute, the sooner the slower this machine is


class Events(weft_testing.SubnetTest):
    """The class's own weftd tells nobody; each test has one that does."""

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-events-")
        self.addCleanup(shutil.rmtree, self.place, True)
        self.key = os.path.join(self.place, "key")
        with open(self.key, "w", encoding="utf-8") as stream:
            stream.write(KEY + "\n")
        os.chmod(self.key, 0o600)
        self.first, self.second = EventReceiver(KEY), EventReceiver(KEY)
        self.addCleanup(self.first.stop)
        self.addCleanup(self.second.stop)
        self.teller = None
        self.pulled = False
        self.addCleanup(self.plug_in)

    def start(self, *urls: str, more: str = "") -> Weftd:
        listed = ", ".join(f'"{url}"' for url in urls or (self.first.url,))
        self.teller = Weftd(self.subnet.environment(self.watcher.identity), infiniband=
                            f'\n[events]\nurls = [{listed}]\nkey_file = "{self.key}"\ntimeout = "1s"\npage_url = "https://weft.example"\n{more}\n[incidents]\nlink_down_hold = "0s"\n')
        self.addCleanup(self.teller.stop)
        self.teller.start()
        self.teller.wait_sweeps(1)
        return self.teller

    def pull(self) -> str:
        self.subnet.unlink(*CABLE)
        self.pulled = True
        return wait_until(lambda: self.teller.incidents("LINK_DOWN"), why="no LINK_DOWN")[0]["id"]

    def plug_in(self) -> None:
        if self.pulled:
            self.subnet.relink(*CABLE)
            self.pulled = False

    def metric(self, name: str, receiver: EventReceiver) -> float:
        line, = [line for line in self.teller.metrics().splitlines() if line.startswith(f'{name}{{receiver="127.0.0.1:{receiver.port}"}}')]
        return float(line.split()[-1])

    def test_an_incident_is_delivered_from_open_to_resolved(self):
        self.start()
        incident = self.pull()
        wait_until(lambda: self.first.told(incident) == ["opened"], why=lambda: str(self.first.taken))
        weft_testing.weftctl(self.teller, "acknowledge", incident)
        wait_until(lambda: self.first.told(incident) == ["opened", "acknowledged"], why=lambda: str(self.first.taken))
        self.plug_in()
        wait_until(lambda: self.first.told(incident) == ["opened", "acknowledged", "resolved"], why=lambda: str(self.first.taken))
        event = self.first.taken[0]
        _, path, headers, body = self.first.seen[0]
        self.assertEqual("/weft?tenant=a", path)
        self.assertRegex(headers["Idempotency-Key"], rf"^{incident}\.{event['revision']}\.[0-9a-f]{{16}}$")
        self.assertEqual(event, json.loads(body))
        self.assertEqual(("LINK_DOWN", "WARNING", "OPEN"), (event["kind"], event["severity"], event["state"]))
        self.assertEqual(f"https://weft.example/#/incident/{incident}", event["url"])
        self.assertEqual(f"https://weft.example/runbooks/{event['kind']}", event["runbook_url"])
        self.assertEqual({9, 1}, {event["cause"]["port"], event["cause"]["peer_port"]})
        self.assertTrue(event["summary"])
        self.assertIn("resolved", self.first.taken[-1])
        self.assertEqual((event["severity"], event["summary"]), (self.first.taken[-1]["worst_severity"], self.first.taken[-1]["headline"]))
        wait_until(lambda: self.metric("weft_events_delivered_total", self.first) == len(self.first.taken), why=self.teller.metrics)
        self.assertEqual(0, self.metric("weft_events_waiting", self.first))

    def test_a_failing_receiver_delays_no_other_and_gets_the_last_state(self):
        self.start(self.first.url, self.second.url)
        self.first.mood = "hang"
        incident = self.pull()
        wait_until(lambda: self.second.told(incident) == ["opened"], why=lambda: str(self.second.taken))
        wait_until(lambda: self.first.seen, why="nothing was sent to the receiver that hangs")
        self.assertEqual([], self.first.taken)
        for mood in ("fail", "redirect", "drop"):
            seen = len(self.first.seen)
            self.first.mood = mood
            wait_until(lambda seen=seen: len(self.first.seen) > seen, LONGEST, why=f"not sent again in the mood {mood}")
        self.teller.wait_sweeps(2)
        self.assertEqual([], self.first.taken)
        wait_until(lambda: self.metric("weft_events_waiting", self.first) == 1)
        for mood in ("half", "noise"):  # it takes it, and nobody knows
            heard = len(self.first.keys)
            self.first.mood = mood
            wait_until(lambda heard=heard: len(self.first.keys) > heard, LONGEST, why=lambda: str(self.first.seen[-3:]))
        self.first.mood = "well"
        wait_until(lambda: self.metric("weft_events_waiting", self.first) == 0, LONGEST)
        self.assertEqual(["opened"], self.first.told(incident))
        self.assertGreater(len(self.first.keys), 1, "it was sent again")
        self.assertEqual(1, len(set(self.first.keys)), "under the same key")
        self.assertGreaterEqual(self.metric("weft_events_failed_total", self.first), 6)

    def test_undelivered_events_alone_are_sent_after_a_restart(self):
        self.start()
        self.first.mood = "fail"
        incident = self.pull()
        wait_until(lambda: self.first.seen, why="nothing was sent")
        self.teller.kill()
        self.first.mood = "well"
        self.teller.start()
        wait_until(lambda: self.first.told(incident) == ["opened"], why=lambda: str(self.first.taken))
        self.teller.wait_sweeps(1)  # by then it is noted
        wait_until(lambda: self.metric("weft_events_waiting", self.first) == 0)
        self.teller.kill()
        sent = len(self.first.seen)
        self.teller.start()
        self.teller.wait_sweeps(3)
        self.assertEqual(sent, len(self.first.seen))
        # What happens while weftd is not there is told as well.
        self.teller.kill()
        self.plug_in()
        self.teller.start()
        wait_until(lambda: self.first.told(incident) == ["opened", "resolved"], why=lambda: str(self.first.taken))

    def test_permanently_rejected_events_do_not_stop_the_rest(self):
        self.start(self.first.url, self.second.url, more='kinds = ["LINK_DOWN"]')
        self.first.mood = "refuse"
        incident = self.pull()
        wait_until(lambda: self.metric("weft_events_given_up_total", self.first) == 1, why=lambda: str(self.first.seen))
        self.first.mood = "well"
        self.plug_in()
        wait_until(lambda: self.first.told(incident) == ["resolved"], why=lambda: str(self.first.told(incident)))
        wait_until(lambda: self.second.told(incident) == ["opened", "resolved"], why=lambda: str(self.second.taken))

    def test_it_does_not_start_with_what_cannot_work(self):
        for more, words in (('kinds = ["LINK_GONE"]', "LINK_GONE"), ('timeout = "99s"', "events.timeout"), ('page_url = "weft"', "events.page_url")):
            path = os.path.join(self.place, "weftd.toml")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(f'[events]\nurls = ["{self.first.url}"]\nkey_file = "{self.key}"\n{more}\n')
            done = weft_testing.run_weftd(["--config", path, "--check-config"])
            self.assertNotEqual(0, done.returncode)
            self.assertIn(words, done.stderr + done.stdout)
        os.chmod(self.key, 0o644)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f'state_dir = "{self.place}/state"\n[infiniband]\nenabled = false\n[events]\nurls = ["{self.first.url}"]\nkey_file = "{self.key}"\n')
        done = weft_testing.run_weftd(["--config", path, "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"])
        self.assertNotEqual(0, done.returncode)
        self.assertIn("chmod", done.stderr + done.stdout)


if __name__ == "__main__":
    weft_testing.main()
