# SPDX-License-Identifier: Apache-2.0
"""The history of ports on the page: charts over time, the gap of a weftd that was away, incidents as marks, and what moved."""

import os
import re
import time

from page_testing import PHONE, PageTest, weft_testing
from weft_testing import ROOT, guid_text, wait_until, weftctl_json

PORT = ("leaf-r0-p01", 12)
SCRIPT_LIMIT = 250_000


class Charts(PageTest):
    errors = 0

    def port_path(self, query: str = "") -> str:
        return f"#/node/{guid_text(self.network.find(PORT[0]).guid)}/port/{PORT[1]}{query}"

    def open_port(self, query: str = "", **how) -> None:
        self.do("open", url=f"http://{self.weftd.http}/{self.port_path(query)}", **how)

    def count_errors(self) -> int:
        """The port counts seven more; how many history has of it then."""
        before = self.stored("symbol_errors")
        type(self).errors += 7
        self.subnet.set_counter(*PORT, "PortCounters.SymbolErrorCounter", self.errors)
        # What was counted between two readings may be told in two parts.
        return wait_until(lambda: (now := self.stored("symbol_errors")) >= before + 7 and now, 30,
                          why=lambda: f"{before} errors, then {self.stored('symbol_errors')}")

    def stored(self, counter: str) -> int:
        history = weftctl_json(self.weftd, "history", f"{PORT[0]}:{PORT[1]}", "--last", "1h")
        return next((int(each["total"]) for each in history["ports"][0]["counters"] if each["counter"] == counter), 0)

    def chart(self, title: str) -> str:
        return f".chart:has(figcaption b:text-is('{title}'))"

    def read_along(self, title: str) -> list[str]:
        """What the chart says of each of its moments, by the keyboard, from the first to the last."""
        plot = f"{self.chart(title)} [role=slider]"
        self.do("focus", at=plot)
        self.do("press", key="Home")
        said = []
        last = int(self.do("evaluate", script="document.activeElement.getAttribute('aria-valuemax')"))
        for moment in range(last + 1):
            self.do("wait", at=f"{plot}[aria-valuenow='{moment}']")
            said.append(self.do("evaluate", script="document.activeElement.getAttribute('aria-valuetext')"))
            self.do("press", key="ArrowRight")
        return said

    def test_errors_are_drawn_and_what_never_moved_is_folded(self):
        errors = self.count_errors()
        self.open_port()
        self.do("wait", at=f"{self.chart('Errors')}:has-text('Symbol errors, {PORT[0]} port {PORT[1]} {errors}')")
        self.do("wait", at=self.chart("Traffic"))
        self.do("wait", at="text=No flaps in this time.")
        moved = self.do("text", at="table.counters")
        self.assertRegex(moved, rf"Symbol errors\s+{errors}\s+[\d.]+ /(s|min|h)")
        self.assertNotIn("Link downed", moved)
        self.assertNotIn("Link downed", self.do("text", at="article"))
        self.do("focus", at="details.never summary")
        self.do("press", key="Enter")
        self.do("wait", at="details.never p:has-text('Link downed')")
        self.assertEqual(0, self.do("count", at=".marks .mark.warning"), "the link is narrower than it could be, and the analyzer is content")
        self.picture("port-charts-light")
        self.expect_accessible()
        self.expect_clean()

    def test_the_time_shown_is_chosen_and_kept_in_the_address(self):
        self.open_port()
        self.do("wait", at=self.chart("Traffic"))
        for name, seconds in (("24 h", 86_400), ("30 d", 30 * 86_400)):
            self.do("click", at=f".span-choice label:has-text('{name}')")
            self.do("wait", at=".charts")
            self.assertEqual(self.port_path(f"?last={seconds}"), self.do("evaluate", script="location.hash"))
        self.do("wait", at=".charts:has-text('Each point is 2 h')")
        self.do("click", at="button[aria-label=Earlier]")
        self.do("wait", at="button[aria-label=Later]")
        self.assertRegex(self.do("evaluate", script="location.hash"), r"\?from=\d+&to=\d+$")
        self.do("evaluate", script="history.back()")
        self.do("wait", at=".charts:has-text('Each point is 2 h')")
        self.open_port("?last=86400")
        self.do("wait", at=".charts:has-text('Each point is 5 min')")
        self.expect_clean()

    def test_a_weftd_that_was_away_leaves_a_gap(self):
        self.count_errors()
        begin = int(time.time())
        self.weftd.wait_sweeps(4)
        self.weftd.kill()
        time.sleep(4)
        self.weftd.start()
        self.weftd.wait_sweeps(4)
        wait_until(lambda: time.time() > begin + 20, 30)
        end = int(time.time())
        # Seconds, so that the gap is of several buckets.
        self.open_port(f"?from={begin}&to={end}")
        self.do("wait", at=self.chart("Traffic"))
        said = self.read_along("Traffic")
        missing = ["no data" in each for each in said]
        first, last = missing.index(True), len(missing) - 1 - missing[::-1].index(True)
        self.assertTrue(any("bit/s" in each for each in said), said)
        holes = "".join(".#"[hole] for hole in missing).strip("#")
        self.assertIn("###", holes, said)
        self.assertTrue(first > 0 and last >= first, said)
        self.picture("port-charts-gap")
        self.expect_clean()

    def test_a_browser_whose_clock_is_wrong_shows_the_same_hour(self):
        for ahead in (7200, -7200):
            with self.subTest(ahead=ahead):
                self.open_port(ahead=ahead)
                self.do("wait", at=".charts:has-text('Each point is 30 s')")
                self.do("wait", at=f"{self.chart('Traffic')}:has-text('bit/s')")
                age = self.do("evaluate", script="(Date.now() - Math.max(...performance.getEntriesByType('resource').map((each) => 1000 * "
                                                 "new URL(each.name).searchParams.get('from')))) / 1000")
                self.assertAlmostEqual(3600 + ahead, age, delta=120)
                self.expect_clean()

    def test_one_click_leads_from_an_incident_to_its_time(self):
        incident = self.pull(*PORT)
        self.put_back(*PORT)
        self.expect_resolved(incident)
        self.do("open", url=f"http://{self.weftd.http}/#/incident/{incident['id']}")
        self.do("wait", at=f"article:has(h3:has-text('Evidence')) {self.chart('Traffic')}")
        self.picture("incident-charts")
        self.expect_accessible()
        self.do("click", at="a:has-text('Charts of that time')")
        self.do("wait", at=f".happened li:has-text('{incident['id']}')")
        begin, end = (int(each) for each in self.do("evaluate", script="location.hash.match(/from=(\\d+)&to=(\\d+)/).slice(1)"))
        opened = wait_until(lambda: self.epoch(incident["opened"]))
        self.assertTrue(begin < opened < end, (begin, opened, end))
        self.do("wait", at=".chart canvas")
        # Where weftd drew the mark: in the colour of its severity, above the chart.
        self.assertGreater(self.count_pixels("--ring-info"), 0)
        self.expect_accessible()
        self.do("click", at=f".happened a:has-text('{incident['id']}')")
        self.do("wait", at=f".crumbs:has-text('{incident['id']}')")
        self.expect_clean()

    def epoch(self, stamp: str) -> float:
        return self.do("evaluate", script=f"Date.parse('{stamp}') / 1000")

    def count_pixels(self, colour: str) -> int:
        return self.do("evaluate", script=f"""(() => {{
          const canvas = document.querySelector('.chart canvas');
          const wanted = getComputedStyle(canvas).getPropertyValue('{colour}').trim().match(/\\w\\w/g).map((two) => parseInt(two, 16));
          const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          let count = 0;
          for (let at = 0; at < pixels.length; at += 4) count += wanted.every((value, index) => pixels[at + index] === value);
          return count;
        }})()""")

    def test_dark_on_a_phone(self):
        self.count_errors()
        self.open_port(**PHONE)
        self.do("wait", at=self.chart("Errors"))
        wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertEqual(0, wide, "the page is wider than the phone")
        self.assertGreater(self.count_pixels("--gap"), 0, "of the hour before weftd began nothing is known, and the chart says so")
        self.do("evaluate", script="document.querySelector('#history').scrollIntoView()")
        self.picture("phone-dark-charts")
        self.expect_accessible()
        self.expect_clean()

    def test_the_script_stays_light(self):
        script, packed, style = self.weight()
        self.assertGreater(script, 0)
        self.assertLess(script, SCRIPT_LIMIT)
        # What dashboards/README.md says the page weighs is what it weighs.
        with open(os.path.join(ROOT, "dashboards", "README.md"), encoding="utf-8") as readme:
            told = re.findall(r"^\|[^|]+\| *\d+ \| (\d+) kB \| (\d+) kB \| (\d+) kB \|", readme.read(), re.MULTILINE)[-1]
        for name, kilobytes, octets in zip(("script", "script, packed", "style"), told, (script, packed, style)):
            self.assertAlmostEqual(int(kilobytes), octets / 1000, delta=2, msg=f"{name}, in the last line of the table in dashboards/README.md")

    def weight(self) -> list[int]:
        """Octets of the script, of the script as it is sent, and of the style."""
        self.open()
        return self.do("evaluate", script="""[['.js', 'decodedBodySize'], ['.js', 'encodedBodySize'], ['.css', 'decodedBodySize']].map(([end, size]) =>
          performance.getEntriesByType('resource').filter((each) => new URL(each.name).pathname.endsWith(end)).reduce((sum, each) => sum + each[size], 0))""")


if __name__ == "__main__":
    weft_testing.main()
