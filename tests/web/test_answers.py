# SPDX-License-Identifier: Apache-2.0
"""What the page says before an answer came, where none comes, where a counter was not read, and of names that would turn a line round: a real weftd,
of which single answers are held back or changed on their way."""

import time

from page_testing import PageTest, weft_testing
from weft_testing import guid_text

LEAF, HOST = "leaf-r0-p01", "gpu-0001"
TURN = "\u202e"
TURNING = "/[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/"


class Answers(PageTest):
    def open_with(self, path: str, *answers: dict) -> None:
        self.do("open", url=f"http://{self.weftd.http}/#/{path}", answers=answers)

    def leaf(self) -> str:
        return guid_text(self.network.find(LEAF).guid)

    def history(self, *counters: tuple[str, str, list[float]]) -> dict:
        """An answer about one port: for each counter its unit, and its rates of the first minutes."""
        told = [{"counter": name, "unit": unit, "total": str(int(60 * sum(rates))), "atLeast": False, "bucket": list(range(len(rates))),
                 "rate": rates, "peak": rates} for name, unit, rates in counters]
        begin = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() - 240))
        return {"from": begin, "step": "60s", "buckets": 4, "marks": [], "ports": [{
            "node": LEAF, "nodeGuid": self.leaf(), "port": 9, "label": f"{LEAF} port 9", "peer": "", "counters": told, "gauges": []}]}

    def test_nothing_is_said_to_be_none_before_its_answer_came(self):
        self.open_with("host/nobody", {"path": "^/api/v1/collectors$", "hold": True})
        self.do("wait", at=".side p:text-is('Loading …')")
        self.assertEqual(0, self.do("count", at="text=There is no host"), "a collector may report it")
        self.do("wait", at="text=There is no host nobody.")
        self.open_with(f"host/{HOST}", {"path": "^/api/v1/plans$", "hold": True})
        self.do("wait", at="h3:has-text('Plans and drains') + p:text-is('Loading …')")
        self.assertEqual(0, self.do("count", at="text=No plan concerns this host"))

    def test_a_view_whose_question_has_no_answer_says_so(self):
        self.open_with(f"node/{self.leaf()}/port/9", {"path": "/history$", "hold": True})
        self.do("wait", at=".waiting:text-is('Loading …')")
        self.do("wait", at=".waiting:text-is('weftd did not answer within 10 s')")

    def test_where_there_is_no_fabric_nothing_is_loading(self):
        state = {**self.weftd.client.json("/api/v1/map/state"), "fabrics": []}
        self.open_with("lists/stall", {"path": "^/api/v1/map$", "json": {"fabrics": []}}, {"path": "^/api/v1/map/state$", "json": state})
        self.do("wait", at=".side p:text-is('No fabric is monitored yet.')")

    def test_what_was_not_read_is_not_zero(self):
        idle = self.history(("receive_bytes", "bytes", []), ("transmit_bytes", "bytes", []), ("transmit_wait", "seconds", []), ("symbol_errors", "events", [0.5, 0]))
        self.open_with(f"node/{self.leaf()}", {"path": "/history$", "json": idle})
        self.do("wait", at="table.rows tr:has-text('30'):has-text('0 bit/s'):has-text('0 %')")
        self.assertEqual(2, self.do("count", at="table.rows .spark rect"), "two of four minutes were not read")
        self.assertEqual("–", self.do("text", at="table.rows tr:has(.spark) td:nth-of-type(2)"), "no counter of flaps was read")
        self.open_with(f"node/{self.leaf()}/port/9", {"path": "/history$", "json": self.history(("transmit_bytes", "bytes", [10, 20]))})
        self.do("wait", at=".charts p:text-is('Errors: not read in this time.')")
        self.do("wait", at=".charts p:text-is('Flaps: not read in this time.')")
        self.open_with(f"node/{self.leaf()}", {"path": "/history$", "json": self.history()})
        self.do("wait", at="text=Of 1 port in this time: 1 not read")
        self.expect_clean()

    def test_settings_that_differ_name_who_has_which(self):
        holder = {"where": {"kind": "HOST_PORT", "identity": "a", "label": "gpu-0003 mlx5_1", "host": "gpu-0003", "nodeGuid": ""}, "host": "gpu-0003",
                  "value": "1500", "young": False}
        difference = {"fact": "mtu", "state": "NOT_AS_EXPECTED", "group": "profile gpu-roce", "members": 512, "hosts": 64, "unit": "bytes", "shard": "",
                      "values": [{"value": "9000", "count": 511}, {"value": "1500", "count": 1}], "valuesLeftOut": 0, "differing": 1, "young": 0,
                      "expected": "9000", "holders": [holder]}
        summary = {"enabled": True, "hosts": 64, "groups": 20, "agreed": 19, "small": 0, "unjudgedPorts": 0, "leftOut": 0, "untoldSettings": 3, "shard": ""}
        answer = {"path": "^/api/v1/drift$", "json": {"differences": [difference], "summaries": [summary]}}
        self.open_with("lists/drift", answer)
        self.do("wait", at="td:has-text('511 × 9000 (expected)'):has-text('1 × 1500')")
        self.do("wait", at="td:has-text('gpu-0003 mlx5_1 has 1500')")
        self.do("wait", at="text=Settings of which a profile speaks, and which could not be read: 3.")
        self.picture("drift")
        self.expect_clean()
        self.open_with("lists/drift", {"path": "^/api/v1/drift$", "json": {"differences": [], "summaries": []}})
        self.do("wait", at="text=Nothing was compared yet.")
        self.assertEqual(0, self.do("count", at="text=No settings differ"))

    def test_a_name_does_not_turn_the_rest_of_its_line(self):
        names = [{"path": "^/api/", "from": each, "to": each[:4] + TURN + each[4:]} for each in (HOST, LEAF)]
        self.open_with("", names[0])
        self.do("wait", at="canvas[data-frames]")
        self.do("focus", at="header input")
        self.do("type", text=HOST[4:])
        self.do("click", at=f"[role=option]:has-text('{HOST[4:]}')")
        self.do("wait", at=".side :text('\\\\u202e')")
        asked = [each["url"] for each in self.do("requests") if "/api/v1/nodes/" in each["url"]]
        self.assertTrue(asked and all("%E2%80%AE" in each and "%5C" not in each for each in asked), asked)
        self.open_with(f"node/{self.leaf()}", names[1])
        self.do("wait", at="h2#node:text('\\\\u202e')")
        self.do("wait", at="table.rows td")
        self.assertFalse(self.do("evaluate", script=f"{TURNING}.test(document.documentElement.outerHTML)"))
        self.picture("turning-names")
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
