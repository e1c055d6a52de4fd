"""The page of a weftd on a simulated subnet, in Chromium, while cables are pulled. Pictures for a person to look at are left in the folder of
results."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "infiniband"))

import weft_testing  # noqa: E402
from browser import Browser  # noqa: E402
from weft_testing import BUILD, ROOT, fat_tree, guid_text, wait_until  # noqa: E402

PICTURES = os.environ.get("WEFT_TEST_RESULTS", os.path.join(BUILD, "tests", "web"))
PHONE = {"width": 360, "height": 740, "touch": True, "dark": True}
REMEDIES = """
[remedy]
isolate_link = "propose"
[remedy.limits]
reading_interval = "500ms"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.verification]
within = "10s"
"""
WELL = "text=Everything that Weft sees is well"


class PageTest(weft_testing.SubnetTest):
    browser: Browser
    pulled: set[tuple[str, int]] = set()

    @classmethod
    def make_network(cls):
        return fat_tree.build(64, rails=4, radix=16)

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BUILD)
        try:
            super().setUpClass()
        except BaseException:
            cls.browser.close()
            raise

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.browser.close()

    def do(self, verb, **given):
        return self.browser.do(verb, **given)

    def open(self, **how):
        self.do("open", url=f"http://{self.weftd.http}/", **how)
        self.do("wait", at="canvas[data-frames]")

    def wait_drawn(self) -> None:
        """All that the subnet has is drawn, and well."""
        self.do("wait", at=f".legend:has-text('well {len(self.network.adapters) + len(self.network.switches)}')")

    def picture(self, name: str) -> None:
        os.makedirs(PICTURES, exist_ok=True)
        self.do("screenshot", path=os.path.join(PICTURES, name + ".png"))

    def pull(self, node: str, port: int, kind: str = "LINK_DOWN") -> dict:
        self.subnet.unlink(node, port)
        self.pulled.add((node, port))
        self.addCleanup(self.expect_quiet, sweeps=1)
        self.addCleanup(self.put_back, node, port)
        return self.expect(kind, lambda incident: self.is_link(incident, self.link(node, port)))

    def put_back(self, node: str, port: int) -> None:
        if (node, port) in self.pulled:
            self.pulled.remove((node, port))
            self.subnet.relink(node, port)

    def expect_clean(self) -> None:
        """No error on the console, nothing asked of another origin."""
        self.assertEqual([], self.do("problems"))

    def expect_accessible(self) -> None:
        self.assertEqual([], self.do("accessibility"))


class Watching(PageTest):
    def test_a_pulled_cable_appears_by_itself_and_leads_to_its_port(self):
        self.open()
        self.do("wait", at=WELL)
        self.wait_drawn()
        self.picture("desktop-light")
        incident = self.pull("leaf-r0-p01", 10)
        self.do("wait", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at=".legend:has-text('unhealthy or down 0, 1 cable')")  # the switches are well
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="h3:has-text('Evidence')")
        shown = self.do("text", at="article")
        for words in (incident["summary"], incident["evidence"][0]["description"], "Critical", "confidence"):
            self.assertIn(words, shown)
        self.picture("incident-open")
        self.do("click", at=".facts a")
        self.do("wait", at="h2:has-text('port')")
        self.do("wait", at="article .mark:has-text('Down')")
        self.assertIn("Symbol errors", self.do("text", at="article"))
        self.do("click", at=".crumbs a >> nth=1")
        self.do("wait", at="tr:has-text('Down') >> a:has-text('spine-')")
        self.expect_accessible()
        self.put_back("leaf-r0-p01", 10)
        self.do("click", at="nav a:has-text('Incidents')")
        self.do("wait", at=f"h2:has-text('Ended') + ul a:has-text('{incident['id']}')")
        self.do("wait", at=WELL)
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
        for mode in ("Stall", "Errors"):
            self.do("click", at=f".choice label:has-text('{mode}')")
            self.do("wait", at=".legend:has-text('not known')")
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

    def test_on_a_phone_at_night(self):
        incident = self.pull("leaf-r0-p02", 11)
        self.open(**PHONE)
        self.do("wait", at=f"a.entry:has-text('{incident['id']}')")
        self.picture("phone-dark")
        self.expect_accessible()
        self.do("tap", at="a.entry")
        self.do("wait", at="h3:has-text('Evidence')")
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

    def test_says_that_the_server_is_lost_and_that_it_is_back(self):
        self.open()
        self.wait_drawn()
        self.weftd.kill()
        try:
            self.do("wait", at="text=Weft does not answer")
            self.do("wait", at="text=/What you see is [2-9] s old/")
            self.assertIn("grayscale", self.do("evaluate", script="getComputedStyle(document.querySelector('main')).filter"))
            self.picture("server-lost")
            self.do("forget")
        finally:
            self.weftd.start()
        self.do("wait", at="text=Weft does not answer", state="detached")
        self.do("wait", at=WELL)
        self.assertEqual("none", self.do("evaluate", script="getComputedStyle(document.querySelector('main')).filter"))


def token(file: str, name: str, role: str) -> str:
    return subprocess.run([os.path.join(ROOT, "deploy", "certs", "make-token"), file, name, role], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class Deciding(PageTest):
    """Plans that wait for a person; everybody has a token, and a role with it."""

    analyzer = 'error_window_minimum = "2s"'
    BAD = (("leaf-r0-p01", 9), ("leaf-r2-p02", 12))

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-tokens-")
        cls.addClassCleanup(shutil.rmtree, place)
        tokens = os.path.join(place, "tokens")
        cls.viewer, cls.operator = token(tokens, "vic", "viewer"), token(tokens, "ola", "operator")
        weft_testing.WeftClient.headers = {"Authorization": f"Bearer {cls.operator}"}
        cls.addClassCleanup(setattr, weft_testing.WeftClient, "headers", {})
        cls.infiniband = f'[security]\ntokens_file = "{tokens}"\n' + REMEDIES
        super().setUpClass()

    def plan_of(self, node: str, port: int) -> dict:
        """The plan that waits for a word, after symbol errors at both ends of a link."""
        ends = ((node, port), self.far_end(node, port))
        errors = 0

        def proposed():
            nonlocal errors
            errors = min(60_000, errors + 20_000)
            self.subnet.set_counters((name, number, "PortCounters.SymbolErrorCounter", errors) for name, number in ends)
            self.weftd.wait_sweeps(1)
            plans = self.weftd.client.json("/api/v1/plans?state=proposed")["plans"]
            return next((plan for plan in plans if plan["action"] == "ISOLATE_LINK" and not plan["refused"] and
                         {plan["target"]["nodeGuid"], plan["target"]["peerGuid"]} == {guid_text(self.network.find(end[0]).guid) for end in ends}), None)

        return wait_until(proposed, why=lambda: f"nothing is proposed: {self.shown()} {self.weftd.log()}")

    def far_end(self, node: str, port: int) -> tuple[str, int]:
        end = self.network.find(node).ports[port]
        return self.network.nodes[end.node].name, end.port

    def state(self, plan: dict) -> dict:
        return self.weftd.client.json(f"/api/v1/plans/{plan['id']}")

    def test_those_who_may_decide(self):
        first = self.plan_of(*self.BAD[0])
        # Without a token there is nothing to see, and a field for one.
        self.do("open", url=f"http://{self.weftd.http}/")
        self.do("wait", at="text=This Weft wants to know who asks")
        self.do("fill", at=".notice input", text="nonsense")
        self.do("press", key="Enter")
        self.do("wait", at="text=This Weft wants to know who asks")
        self.assertEqual(0, self.do("count", at="canvas"))
        # A viewer sees the plan and no way to decide.
        self.do("fill", at=".notice input", text=self.viewer)
        self.do("press", key="Enter")
        self.do("wait", at="canvas[data-frames]")
        self.do("wait", at="button:has-text('vic · viewer')")
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at=f"a.entry:has-text('{first['id']}')")
        self.do("wait", at="h3:has-text('Guards')")
        self.assertEqual(0, self.do("count", at="button:has-text('Approve')"))
        self.do("forget")
        # An operator approves it, by keyboard.
        self.open(storage={"weft-token": self.operator})
        self.do("wait", at="button:has-text('ola · operator')")
        self.do("press", key="/")
        self.do("type", text=first["id"])
        self.do("wait", at=f"[role=option]:has-text('{first['id']}')")
        self.do("press", key="Enter")
        self.do("wait", at="button:has-text('Approve')")
        self.picture("plan")
        self.expect_accessible()
        self.do("focus", at="button:has-text('Approve')")
        self.do("press", key="Enter")
        self.do("wait", at="dialog[open] button[type=submit]")
        self.picture("plan-approve")
        self.expect_accessible()
        self.do("focus", at="dialog[open] button[type=submit]")
        self.do("press", key="Enter")
        self.do("wait", at=".facts:has-text('Approved by') >> text=ola")
        self.assertEqual("ola", self.state(first)["approvedBy"])
        self.do("wait", at="button:has-text('Approve')", state="detached")
        # And says no to the next, which takes a reason.
        second = self.plan_of(*self.BAD[1])
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at=f"a.entry:has-text('{second['id']}')")
        self.do("click", at="button:has-text('Reject')")
        self.do("click", at="dialog[open] button[type=submit]")
        self.assertEqual("PROPOSED", self.state(second)["state"])
        self.do("fill", at="dialog[open] input", text="cable is being changed")
        self.do("press", key="Enter")
        self.do("wait", at="article .mark:has-text('Rejected')")
        self.assertEqual("REJECTED", self.state(second)["state"])
        incident = next(each for each in self.weftd.incidents() if each["id"] == second["incidentId"])
        self.do("click", at=f".facts a:has-text('{incident['id']}')")
        self.do("click", at="button:has-text('Acknowledge')")
        self.do("wait", at=".marks .mark:has-text('Acknowledged')")
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
