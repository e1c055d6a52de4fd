# SPDX-License-Identifier: Apache-2.0
"""The history of ports as people ask for it: by weftctl, JSON and HTTP, over a kill and a moved database."""

import json
import os
import subprocess
import threading
import time

import weft_testing
from weft_testing import program, wait_until, weftctl, weftctl_json

PORT = ("leaf-r0-p01", 12)


class History(weft_testing.SubnetTest):
    infiniband = '[store]\nhistory_interval = "1s"\n'

    def counted(self, *arguments: str) -> dict[str, dict]:
        history = weftctl_json(self.weftd, "history", f"{PORT[0]}:{PORT[1]}", "--last", "1h", *arguments)
        return {counter["counter"]: counter for counter in history["ports"][0]["counters"]}

    def wait_counted(self, counter: str, total: int) -> dict:
        def is_there():
            found = self.counted().get(counter)
            return found if found and found["total"] == str(total) else None
        return wait_until(is_there, 30, why=lambda: f"{self.counted()} does not say {total} {counter}")

    def test_errors_are_found_again_after_a_kill(self):
        wait_until(lambda: weftctl(self.weftd, "history", PORT[0]).returncode == 0, 30, why="there is no history")
        self.subnet.set_counter(*PORT, "PortCounters.SymbolErrorCounter", 7)
        seen = self.wait_counted("symbol_errors", 7)
        # All came at once: in one point, or in two beside each other where the one reading reaches into both.
        moved = [at for at, rate in enumerate(seen["rate"]) if rate > 0]
        self.assertIn([at - moved[0] for at in moved], ([0], [0, 1]), seen)
        self.weftd.kill()
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        again = self.counted()["symbol_errors"]
        self.assertEqual("7", again["total"])
        self.assertEqual(max(seen["peak"]), max(again["peak"]))
        self.subnet.set_counter(*PORT, "PortCounters.SymbolErrorCounter", 9)
        self.wait_counted("symbol_errors", 9)

        drawn = weftctl(self.weftd, "history", f"{PORT[0]}:{PORT[1]}", "--last", "1h")
        self.assertEqual((0, ""), (drawn.returncode, drawn.stderr))
        self.assertIn(f"{PORT[0]} port {PORT[1]}", drawn.stdout)
        self.assertRegex(drawn.stdout, r"symbol_errors .* 9\n")
        self.assertIn("Did not move: ", drawn.stdout)
        rows = weftctl(self.weftd, "history", PORT[0], "--last", "1h")
        self.assertEqual(len(self.network.find(PORT[0]).ports) + 1, rows.stdout.count(f"\n{PORT[0]} port "))

    def test_an_incident_is_marked(self):
        self.subnet.unlink(*PORT)
        opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*PORT)))
        self.subnet.relink(*PORT)
        self.expect_resolved(opened)
        marks = weftctl_json(self.weftd, "history", PORT[0], "--last", "1h")["marks"]
        mark = next(one for one in marks if one["id"] == opened["id"])
        self.assertEqual("INCIDENT", mark["kind"])
        self.assertTrue(mark["until"])

    def test_a_time_that_is_not_kept_is_refused(self):
        wait_until(lambda: weftctl(self.weftd, "history", PORT[0]).returncode == 0, 30, why="there is no history")
        refused = weftctl(self.weftd, "history", PORT[0], "--last", "60d")
        self.assertEqual(2, refused.returncode, refused.stdout)
        self.assertIn("port history is kept for 30 d (store.history_retention)", refused.stderr)
        self.assertEqual(0, weftctl(self.weftd, "history", PORT[0], "--last", "30d").returncode)

    def test_many_long_questions_hold_nobody_up(self):
        wait_until(lambda: weftctl(self.weftd, "history", PORT[0]).returncode == 0, 30, why="there is no history")
        # All that is kept, of every counter of every port, finely, and of every switch: from forty askers at once, again and again.
        since = int(time.time()) - 30 * 86_400 + 3600
        paths = [f"/api/v1/ports/{PORT[0]}/history?from={since}&points=1000&still=1", f"/api/v1/switches/stall?from={since}&points=240&rows=1000"]
        done = threading.Event()
        statuses, strange = set(), []

        def ask(path: str) -> None:
            while not done.is_set():
                try:
                    self.weftd.client.json(path)
                    statuses.add(200)
                except weft_testing.Answer as answer:
                    statuses.add(answer.status)
                except OSError as error:  # no connection more is taken
                    strange.append(error)

        askers = [threading.Thread(target=ask, args=(paths[number % 2],), daemon=True) for number in range(40)]
        for each in askers:
            each.start()
        try:
            self.weftd.wait_sweeps(5)
            self.subnet.unlink(*PORT)
            opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*PORT)))
            self.subnet.relink(*PORT)
            self.expect_resolved(opened)
            self.assertEqual("ok\n", self.weftd.client.text("/healthz"))
        finally:
            done.set()
            for each in askers:
                each.join()
        self.assertIn(200, statuses)
        self.assertLessEqual(statuses, {200, 503, 504}, strange)
        with self.assertRaises(weft_testing.Answer) as caught:
            self.weftd.client.json("/api/v1/switches/stall?from=946684800")
        self.assertEqual(400, caught.exception.status)
        self.assertIn("port history is kept for 30 d", str(caught.exception))

    def test_the_same_over_http(self):
        wait_until(lambda: weftctl(self.weftd, "history", PORT[0]).returncode == 0, 30, why="there is no history")
        path = f"/api/v1/ports/{PORT[0]}/{PORT[1]}/history?points=60&counters=transmit_bytes&still=1"
        told = self.weftd.client.json(path)
        self.assertEqual([PORT[1]], [port["port"] for port in told["ports"]])
        self.assertEqual(["transmit_bytes"], [counter["counter"] for counter in told["ports"][0]["counters"]])
        for bad, status in (("nobody/1/history", 404), (f"{PORT[0]}/history?from=soon", 400), (f"{PORT[0]}/history?points=-1", 400)):
            with self.subTest(bad), self.assertRaises(weft_testing.Answer) as caught:
                self.weftd.client.json("/api/v1/ports/" + bad)
            self.assertEqual(status, caught.exception.status)

    def test_wrong_questions_say_why(self):
        for arguments, code, words in ((("nobody",), 1, "unknown node or port nobody"), ((PORT[0], "--last", "soon"), 2, "--last needs"),
                                       ((PORT[0], "--counter", "errors"), 2, "unknown counter errors"), ((), 2, "NODE")):
            with self.subTest(arguments):
                done = weftctl(self.weftd, "history", *arguments)
                self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
                self.assertIn(words, done.stderr)
        self.assertEqual(0, subprocess.run([program("weftctl"), "history", "--help"], stdout=subprocess.DEVNULL, check=False).returncode)

    def test_y_a_switch_that_is_gone_is_asked_for_by_its_guid(self):
        spine = next(each for each in self.network.switches if each.name.startswith("spine"))
        guid, number = weft_testing.guid_text(spine.guid), sorted(spine.ports)[0]
        self.subnet.set_counter(spine.name, number, "PortCounters.SymbolErrorCounter", 5)

        def total(*what: str) -> str | None:
            done = weftctl(self.weftd, "--json", "history", *what, "--last", "1h", "--counter", "symbol_errors")
            ports = json.loads(done.stdout)["ports"] if done.returncode == 0 else []
            return next((each["counters"][0]["total"] for each in ports if each["port"] == number and each["counters"]), None)

        wait_until(lambda: total(f"{spine.name}:{number}") == "5", 30, why="the errors are not stored")
        self.subnet.unlink(spine.name)
        self.addCleanup(self.subnet.relink, spine.name)
        # One that was started since then does not know the switch.
        self.weftd.kill()
        self.weftd.start()
        self.weftd.wait_sweeps(2)
        self.assertEqual(1, weftctl(self.weftd, "history", f"{spine.name}:{number}").returncode, "its name may be another's now")
        for what in (f"{guid}:{number}", f"{guid} port {number}", guid):
            self.assertEqual("5", total(what), what)
        told = self.weftd.client.json(f"/api/v1/ports/{guid}/{number}/history?counters=symbol_errors")
        self.assertEqual([(True, guid, number)], [(each["gone"], each["nodeGuid"], each["port"]) for each in told["ports"]])
        drawn = weftctl(self.weftd, "history", f"{guid}:{number}", "--last", "1h")
        self.assertRegex(drawn.stdout, r"symbol_errors .* 5\n")
        never = weftctl(self.weftd, "history", "0x00000000000000ff")
        self.assertEqual((1, ""), (never.returncode, never.stdout))
        self.assertIn("0x00000000000000ff is in no fabric, and nothing is stored of it", never.stderr)

    def test_z_a_database_that_was_moved_away_is_said(self):
        wait_until(lambda: weftctl(self.weftd, "history", PORT[0]).returncode == 0, 30, why="there is no history")
        os.rename(os.path.join(self.weftd.state_dir, "history.db"), os.path.join(self.weftd.state_dir, "aside"))
        done = weftctl(self.weftd, "history", PORT[0])
        self.assertEqual(3, done.returncode)
        self.assertIn("history.db was removed", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.weftd.state_dir, "history.db")), "a question makes no file")
        os.rename(os.path.join(self.weftd.state_dir, "aside"), os.path.join(self.weftd.state_dir, "history.db"))
        self.assertEqual(0, weftctl(self.weftd, "history", PORT[0]).returncode)


if __name__ == "__main__":
    weft_testing.main()
