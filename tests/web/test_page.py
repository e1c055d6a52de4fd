# SPDX-License-Identifier: Apache-2.0
"""The page of a weftd on a simulated subnet, in Chromium, while cables are pulled."""

import os
import signal
import threading
import time

from page_testing import PHONE, PageTest, weft_testing
from weft_testing import guid_text, wait_until

WELL = "text=No open incidents"


class Watching(PageTest):
    def test_a_pulled_cable_appears_by_itself_and_leads_to_its_port(self):
        self.open()
        self.do("wait", at=WELL)
        self.wait_drawn()
        self.picture("desktop-light")
        incident = self.pull("leaf-r0-p01", 10)
        self.do("wait", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at=".legend:has-text('unhealthy or down 0, 1 cable')")  # the switches are well
        self.do("wait", at=".bad-nodes a:has-text('leaf-r0-p01 port 10 – spine-01 port 2')")
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="h3:has-text('Evidence')")
        shown = self.do("text", at="article")
        for words in (incident["summary"], incident["evidence"][0]["description"], "Info", "confidence"):
            self.assertIn(words, shown)
        self.picture("incident-open")
        self.do("click", at=".evidence li >> nth=0 >> a:has-text('Charts')")
        self.do("wait", at=f".happened li:has-text('{incident['id']}')")
        self.do("evaluate", script="history.back()")
        self.do("click", at=".facts a")
        self.do("wait", at="h2:has-text('port')")
        self.do("wait", at="article .mark:has-text('Down')")
        self.do("click", at="details.never summary")
        self.do("wait", at="details.never p:has-text('Symbol errors')")
        self.do("click", at=".crumbs a >> nth=1")
        self.do("wait", at="tr:has-text('Down') >> a:has-text('spine-')")
        self.expect_accessible()
        self.put_back("leaf-r0-p01", 10)
        self.do("click", at="nav a:has-text('Incidents')")
        ended = f"h2:has-text('Ended') + ul a:has-text('{incident['id']}')"
        self.do("wait", at=ended)
        self.do("wait", at=WELL)
        self.do("click", at=ended)
        self.do("wait", at="ol.timeline li:has-text('Resolved')")
        shown = self.do("text", at="article")
        for words in (f"It was: {incident['headline']}", "Timeline", "Opened"):
            self.assertIn(words, shown)
        self.assertIn(incident["headline"], self.do("text", at="ol.timeline li >> nth=0"))
        self.picture("incident-ended")
        self.expect_accessible()
        self.expect_clean()

    def test_what_to_do_stands_beside_the_incident_and_leads_to_its_runbook(self):
        incident = self.pull("leaf-r0-p01", 12)
        self.open()
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="h3:has-text('What to do')")
        self.do("wait", at=".steps li:has-text('Read the summary and the state of each end')")
        self.assertEqual("Read the summary and the state of each end.", self.do("text", at=".steps li >> nth=0").strip(), "the incident is what is looked at")
        self.picture("incident-steps")
        self.expect_accessible()
        self.do("click", at="a:has-text('The whole runbook')")
        self.do("wait", at="h1:has-text('LINK_DOWN: a cable that carried traffic is down')")
        self.assertEqual(f"http://{self.weftd.http}{incident['runbook']}", self.do("evaluate", script="location.href"))
        self.do("wait", at="#what-to-do ol li:has-text('Read the summary')")
        self.picture("runbook")
        self.expect_accessible()
        self.do("click", at=".runbook a:has-text('SWITCH_DOWN')")
        self.do("wait", at="h1:has-text('SWITCH_DOWN')")
        self.do("click", at="nav a:has-text('Runbooks')")
        self.do("wait", at="li a:has-text('STRAGGLER')")
        self.expect_accessible()
        self.expect_clean()
        for name in ("STRAGGLER", "LINK_DOWN", "remedies"):
            self.do("open", url=f"http://{self.weftd.http}/runbooks/{name}", **PHONE)
            self.do("wait", at=".runbook h1")
            self.picture(f"phone-runbook-{name}")
            wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.assertEqual(0, wide, f"{name} is wider than the phone")
            dark = self.do("evaluate", script="getComputedStyle(document.body).backgroundColor")
            self.assertLess(max(int(part) for part in dark[4:-1].split(",")), 60, dark)
            self.expect_accessible()
            self.expect_clean()

    def test_lists_of_what_is_not_drawn(self):
        incident = self.pull("leaf-r0-p01", 13)
        self.open()
        self.do("click", at="nav a:has-text('Lists')")
        self.do("wait", at="text=No link has errors")
        self.expect_accessible()
        for name, words in (("Collectors", "No collectors"), ("Maintenance", "No maintenance windows"), ("Audit trail", "User")):
            self.do("click", at=f"nav.lists a:has-text('{name}')")
            self.do("wait", at=f".side >> text={words}")
            self.expect_accessible()
        self.do("click", at="nav a:has-text('Incidents')")
        self.do("click", at="summary:has-text('Find incidents')")
        self.do("fill", at="input[name=entity]", text="leaf-r0-p01")
        self.do("click", at="button:has-text('Find')")
        self.do("wait", at=f"h2:has-text('Found') + ul a:has-text('{incident['id']}')")
        self.picture("incidents-found")
        self.expect_accessible()
        # What was asked for is still there when one comes back from an incident, and can be sent to somebody.
        self.do("click", at=f"h2:has-text('Found') + ul a:has-text('{incident['id']}')")
        self.do("wait", at="h3:has-text('Evidence')")
        self.do("evaluate", script="history.back()")
        self.do("wait", at=f"h2:has-text('Found') + ul a:has-text('{incident['id']}')")
        self.assertEqual("#/incidents?entity=leaf-r0-p01", self.do("evaluate", script="location.hash"))
        self.assertEqual("leaf-r0-p01", self.do("evaluate", script="document.querySelector('input[name=entity]').value"))
        self.do("fill", at="input[name=entity]", text="leaf-r0-p0")
        self.do("click", at="button:has-text('Find')")
        self.do("wait", at="text=No such incidents")
        self.do("click", at="button:has-text('Clear')")
        self.do("wait", at=f"h2:has-text('Open incidents') + ul a:has-text('{incident['id']}')")
        self.expect_clean()

    def test_an_incident_is_asked_for_in_each_way(self):
        incident = self.pull("leaf-r0-p02", 13)
        found, none = f"h2:has-text('Found') + ul a:has-text('{incident['id']}')", "text=No such incidents"
        hour = 3600
        for query, expected in (
                ("kind=LINK_DOWN", found), ("kind=LINK_FLAP", none), ("severity=Info", found), ("severity=Critical", none), ("job=slurm:1", none),
                ("entity=leaf-r0-p02%20port%2013", found), (f"kind=LINK_DOWN&severity=Info&entity=leaf-r0-p02&from={self.stamp(-hour)}", found),
                (f"to={self.stamp(-hour)}", none), (f"from={self.stamp(-hour)}&to={self.stamp(hour)}", found)):
            with self.subTest(query=query):
                self.do("open", url=f"http://{self.weftd.http}/#/incidents?{query}")
                self.do("wait", at=expected)
        self.assertNotEqual("", self.do("evaluate", script="document.querySelector('input[name=to]').value"))
        leaf = guid_text(self.network.find("leaf-r0-p02").guid)
        for path in (f"node/{leaf}", f"node/{leaf}/port/13"):
            self.do("open", url=f"http://{self.weftd.http}/#/{path}")
            self.do("click", at="a:has-text('Incidents, also those that ended')")
            self.do("wait", at=found)
        self.expect_clean()

    @staticmethod
    def stamp(ahead: int) -> str:
        """The time in so many seconds, as RFC 3339."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))

    def test_a_port_that_somebody_disabled_says_so(self):
        leaf, number = self.network.find("leaf-r0-p01"), 11
        self.pull(leaf.name, number)
        place = ["-G", guid_text(leaf.guid), str(number)]
        self.subnet.run(["ibportstate", *place, "disable"])
        self.addCleanup(self.subnet.run, ["ibportstate", *place, "enable"])
        self.do("open", url=f"http://{self.weftd.http}/#/node/{guid_text(leaf.guid)}/port/{number}")
        self.do("wait", at="article .mark:has-text('Disabled')")
        self.do("click", at=".crumbs a >> nth=1")
        self.do("wait", at="tr:has-text('Disabled') >> a:has-text('spine-')")
        self.expect_accessible()
        self.expect_clean()

    def test_a_click_on_the_drawing_opens_what_is_drawn_there(self):
        incident = self.pull("gpu-0003 mlx5_1", 1)
        self.open()
        self.do("wait", at=".legend:has-text('unhealthy or down 1')")
        box = self.do("evaluate", script="(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector('canvas').getBoundingClientRect())")
        found = self.red_spot()
        self.do("mouse", x=box["x"] + found["x"], y=box["y"] + found["y"])
        self.do("wait", at=".tip:has-text('gpu-0003 mlx5_1')")
        self.do("mouse", x=box["x"] + found["x"], y=box["y"] + found["y"], click=True)
        self.do("wait", at="h2:has-text('gpu-0003 mlx5_1')")
        self.do("wait", at=f"article a:has-text('{incident['id']}')")
        # Nobody reads it any more: what it said last is not how it is.
        self.do("wait", at="tr:has-text('Down (the other end says so)'):has-text(', old')")
        for mode in ("Traffic", "Stall", "Errors"):
            self.do("click", at=f".choice label:has-text('{mode}')")
            self.do("wait", at=".legend:has-text('not known')")
        self.expect_clean()

    def test_the_map_is_as_it_was_when_one_comes_back(self):
        self.open()
        self.do("click", at=".choice label:has-text('Stall')")
        self.do("click", at="nav a:has-text('Incidents')")
        self.do("wait", at="h1:has-text('Incidents'), h2:has-text('Open')")
        self.do("click", at="nav a:has-text('Fabric')")
        self.do("wait", at="canvas[data-frames]")
        chosen = "document.querySelector('.choice input:checked').parentElement.textContent"
        self.assertEqual("Stall", self.do("evaluate", script=chosen))
        self.do("evaluate", script="location.reload()")
        self.do("wait", at="canvas[data-frames]")
        self.assertEqual("Stall", self.do("evaluate", script=chosen))
        self.expect_clean()

    def test_a_busy_cable_is_seen_where_traffic_is_chosen(self):
        self.open()
        self.do("click", at=".choice label:has-text('Traffic')")
        self.do("wait", at=".legend li:has-text('over 80 % 0')")
        began = time.monotonic()
        done = threading.Event()

        def send() -> None:
            # 4X HDR sends 24.6 GB/s; a word of the counter is four.
            while not done.wait(0.1):
                self.subnet.set_counter("leaf-r1-p01", 13, "PortCountersExtended.PortXmitData", int((time.monotonic() - began) * 24e9 / 4))

        sender = threading.Thread(target=send)
        sender.start()
        try:
            # The node at each of its ends, and the cable.
            self.do("wait", at=".legend li:has-text('over 80 % 2, 1 cable')")
            self.picture("map-traffic")
            self.expect_accessible()
            # Beside the map it is named, in whichever colours that is.
            self.do("click", at=".choice label:has-text('State')")
            self.do("wait", at=".busiest li:has-text('leaf-r1-p01 port 13 – spine-03 port'):has-text('%')")
            self.assertEqual(1, self.do("count", at=".busiest li"))
            self.picture("map-busiest")
            self.expect_accessible()
            self.do("click", at=".choice label:has-text('Traffic')")
        finally:
            done.set()
            sender.join()
        self.do("wait", at=".legend li:has-text('over 80 % 0')")
        self.expect_clean()

    def red_spot(self) -> dict:
        """The middle of the only adapter that is drawn in the colour of what is down."""
        return self.do("evaluate", script="""(() => {
          const canvas = document.querySelector('canvas');
          const wanted = getComputedStyle(canvas).getPropertyValue('--map-bad').trim().match(/\\w\\w/g).map((two) => parseInt(two, 16));
          const {width, height} = canvas;
          const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
          let [left, top, right, bottom] = [width, height, 0, 0];
          for (let at = 0; at < pixels.length; at += 4) {
            if (wanted.some((value, index) => pixels[at + index] !== value)) continue;
            const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
            [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
          }
          if (!right) throw new Error('nothing is drawn in that colour');
          const scale = canvas.clientWidth / width;
          return {x: (left + right) / 2 * scale, y: (top + bottom) / 2 * scale};
        })()""")

    def test_by_keyboard_alone(self):
        incident = self.pull("leaf-r1-p01", 9)
        self.open()
        self.do("wait", at="a.entry")
        self.do("press", key="Tab")
        self.assertEqual("Skip to the content", self.do("evaluate", script="document.activeElement.textContent"))
        self.do("press", key="Enter")
        self.do("press", key="Tab")
        self.do("press", key="Enter")
        self.do("wait", at=f".crumbs:has-text('{incident['id']}')")
        self.do("press", key="/")
        self.do("type", text="gpu-0007 mlx5_2")
        self.do("wait", at="[role=option]:has-text('gpu-0007 mlx5_2')")
        self.do("press", key="Enter")
        self.do("wait", at="h2:has-text('gpu-0007 mlx5_2')")
        self.do("press", key="/")
        self.do("type", text="link down")
        self.do("wait", at=f"[role=option]:has-text('{incident['id']}')")
        self.do("press", key="Escape")
        self.assertEqual(0, self.do("count", at="[role=option]"))
        self.do("focus", at="canvas")
        before = self.do("evaluate", script="location.hash")
        self.do("press", key="ArrowRight")
        self.do("wait", at="h2:has-text('gpu-0008 mlx5_2')")
        self.assertNotEqual(before, self.do("evaluate", script="location.hash"))
        self.expect_clean()

    def test_dark_page_on_a_narrow_screen(self):
        incident = self.pull("leaf-r0-p02", 11)
        self.open(**PHONE)
        self.do("wait", at=f"a.entry:has-text('{incident['id']}')")
        self.picture("phone-dark")
        self.expect_accessible()
        above = self.do("evaluate", script="document.querySelector('a.entry').getBoundingClientRect().bottom <= document.querySelector('canvas').getBoundingClientRect().top")
        self.assertTrue(above, "a phone shows the incident first")
        self.do("tap", at="a.entry")
        self.do("wait", at="h3:has-text('Evidence')")
        top = self.do("evaluate", script="document.querySelector('h2').getBoundingClientRect().top")
        self.assertLess(top, 370, "what the incident is stands in the upper half of the screen")
        self.picture("phone-dark-incident")
        wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertEqual(0, wide, "the page is wider than the phone")
        dark = self.do("evaluate", script="getComputedStyle(document.body).backgroundColor")
        self.assertLess(max(int(part) for part in dark[4:-1].split(",")), 60, dark)
        self.expect_accessible()
        self.expect_clean()

    def test_asks_no_more_than_once_a_second(self):
        self.open()
        self.wait_drawn()
        self.do("wait", at=WELL)
        wait_until(lambda: len(self.do("requests")) >= 6, why="the page does not ask")
        self.do("forget")
        wait_until(lambda: len(self.do("requests")) >= 6, why="the page does not ask any more")
        asked = self.do("requests")
        spans = [(later["at"] - sooner["at"]) / 1000 for sooner, later in zip(asked, asked[1:])]
        self.assertGreater(sum(spans) / len(spans), 0.9, asked)
        self.assertFalse([each["url"] for each in asked if each["url"].endswith("/map")], "the topology is read once")

    def test_says_who_is_not_signed_in_and_what_that_allows(self):
        self.open()
        self.do("click", at="button:has-text('Not signed in · read only')")
        self.do("wait", at="text=Without a token everything can be read.")
        self.expect_accessible()
        self.do("click", at="nav a:has-text('Plans')")
        self.do("wait", at=".popup", state="detached")

    def test_a_silent_subnet_manager_is_told_in_each_view(self):
        self.open()
        pid = self.subnet.opensm_pid()
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: self.weftd.client.json("/api/v1/remedy")["silentManagers"], 60, why="it is not known to be silent")
            for view in ("Fabric", "Incidents", "Plans"):
                self.do("click", at=f"nav a:has-text('{view}')")
                self.do("wait", at=".notice:has-text('does not answer (noticed at'):has-text('no link is taken out of service') >> text=What to do")
            self.expect_accessible()
        finally:
            os.kill(pid, signal.SIGCONT)
        self.do("wait", at=".notice:has-text('does not answer (noticed at')", state="detached")

    def test_says_that_the_server_is_lost_and_that_it_is_back(self):
        self.open()
        self.wait_drawn()
        self.weftd.kill()
        try:
            self.do("wait", at="text=weftd is unreachable")
            self.do("wait", at="text=/The data shown is [2-9] s old/")
            self.assertIn("grayscale", self.do("evaluate", script="getComputedStyle(document.querySelector('main')).filter"))
            self.picture("server-lost")
            self.do("forget")
        finally:
            self.weftd.start()
        self.do("wait", at="text=weftd is unreachable", state="detached")
        self.do("wait", at=WELL)
        self.assertEqual("none", self.do("evaluate", script="getComputedStyle(document.querySelector('main')).filter"))


if __name__ == "__main__":
    weft_testing.main()
