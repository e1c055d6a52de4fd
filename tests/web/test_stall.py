# SPDX-License-Identifier: Apache-2.0
"""Stall of all switches over time on the page: the worst first, gaps as gaps, one request for the whole fabric, and a click leads to the switch."""

import threading
import time

from page_testing import PHONE, PageTest, weft_testing
from weft_testing import guid_text, wait_until

LEAF, PORT = "leaf-r1-p01", 12
SHARE = 0.6


class Stall(PageTest):
    def open_stall(self, query: str = "", **how) -> None:
        self.do("open", url=f"http://{self.weftd.http}/#/lists/stall{query}", **how)
        self.do("wait", at="table.heat tbody tr")

    def answer(self) -> dict:
        return self.weftd.client.json(f"/api/v1/switches/stall?points=62&from={int(time.time()) - 3600}")

    def wait_at(self, node: str, port: int):
        """The port waits for that share of the time until the test ends."""
        tick = self.weftd.ports(guid_text(self.network.find(node).guid))[port]["waitTickSeconds"]
        began = time.monotonic()
        done = threading.Event()

        def count() -> None:
            while not done.wait(0.1):
                self.subnet.set_counter(node, port, "PortCounters.PortXmitWait", min(int((time.monotonic() - began) * SHARE / tick), 0xFFFFFFFE))

        counter = threading.Thread(target=count)
        counter.start()
        self.addCleanup(lambda: (done.set(), counter.join()))

    def test_the_worst_switch_stands_first_and_leads_to_its_port(self):
        self.wait_at(LEAF, PORT)

        def is_first():
            rows = self.answer()["rows"]
            return rows if rows and rows[0]["node"] == LEAF and rows[0]["share"] > 0.05 else None

        rows = wait_until(is_first, 60, why=lambda: f"{LEAF} is not the worst: {self.answer()['rows'][:2]}")
        self.assertEqual(PORT, rows[0]["worstPort"])
        self.assertEqual(len(self.network.switches), len(rows), "a row for each switch of the fabric")
        self.assertTrue(all(row["share"] == 0 for row in rows[1:]), "the others were read, and did not wait")
        self.open()
        self.do("click", at=".choice label:has-text('Stall')")
        self.do("click", at=".map-bar a:has-text('Over time')")
        self.do("wait", at=f"table.heat tbody tr:first-child th:has-text('{LEAF}')")
        self.assertEqual(len(self.network.switches), self.do("count", at="table.heat tbody tr"))
        asked = [each["url"] for each in self.do("requests") if "/stall?" in each["url"] or "/history?" in each["url"]]
        self.assertEqual(1, len(asked), asked)
        self.assertGreater(self.do("count", at="table.heat tbody tr:first-child .strip rect:not(.map-s0)"), 0, "it is drawn as waiting")
        self.assertEqual(0, self.do("count", at="table.heat tbody tr:nth-child(2) .strip rect:not(.map-s0)"), "the next is not")
        box = self.do("evaluate", script="(({right, top, height}) => ({right, top, height}))(document.querySelector('table.heat .strip').getBoundingClientRect())")
        self.do("mouse", x=box["right"] - 2, y=box["top"] + box["height"] / 2)
        self.do("wait", at=f".spot:has-text('{LEAF}'):has-text(' %')")
        self.picture("stall-over-time")
        self.expect_accessible()
        self.expect_clean()
        self.do("mouse", x=box["right"] - 2, y=box["top"] + box["height"] / 2, click=True)
        self.do("wait", at=f"h2:has-text('{LEAF}')")
        self.do("evaluate", script="history.back()")
        self.do("click", at=f"table.heat td a:text-is('{PORT}')")
        self.do("wait", at=f"h2:has-text('{LEAF} port {PORT}')")
        self.expect_clean()

    def test_what_was_not_read_is_a_gap(self):
        self.weftd.kill()
        time.sleep(5)
        self.weftd.start()
        self.weftd.wait_sweeps(4)
        end = int(time.time())
        path = f"/api/v1/switches/stall?points=62&from={end - 40}&to={end}"
        holes = "".join("#" if bucket in self.weftd.client.json(path)["rows"][0]["bucket"] else "." for bucket in range(40))
        self.assertIn("...", holes.strip("."), holes)
        self.open_stall(f"?from={end - 40}&to={end}", dark=True)
        drawn = self.do("evaluate", script="""[...document.querySelector('.heat .strip').children].reduce((sum, each) => sum + each.width.baseVal.value, 0)""")
        self.assertEqual(holes.count("#"), drawn, holes)
        self.picture("stall-gap-dark")
        self.expect_accessible()
        self.expect_clean()

    def test_the_time_is_chosen_and_kept_in_the_address(self):
        self.open_stall()
        self.do("click", at=".span-choice label:has-text('30 d')")
        self.do("wait", at=".side p:has-text('Each column is 6 h')")
        self.assertEqual("#/lists/stall?last=2592000", self.do("evaluate", script="location.hash"))
        leaf = guid_text(self.network.find(LEAF).guid)
        self.do("click", at=f"table.heat th a:text-is('{LEAF}')")
        self.do("wait", at=f"h2:has-text('{LEAF}')")
        self.assertEqual(f"#/node/{leaf}?last=2592000", self.do("evaluate", script="location.hash"))
        self.expect_clean()

    def test_on_a_phone(self):
        self.open_stall(**PHONE)
        wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertEqual(0, wide, "the page is wider than the phone")
        self.picture("phone-dark-stall")
        self.expect_accessible()
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
