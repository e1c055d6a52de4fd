# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: a subnet, a weftd on it, and a browser that looks at it. Pictures for a person are left in the folder of
results. Each test file ends with `weft_testing.main()`."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "infiniband"))

import weft_testing  # noqa: E402
from browser import Browser  # noqa: E402
from weft_testing import BUILD, fat_tree, guid_text, wait_until  # noqa: E402

PICTURES = os.environ.get("WEFT_TEST_RESULTS", os.path.join(BUILD, "tests", "web"))

PHONE = {"width": 360, "height": 740, "touch": True, "dark": True}

# Automation proposes to isolate links.
REMEDIES = """
[remedy]
isolate_link = "propose"
[remedy.limits]
reading_interval = "500ms"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.verification]
within = "30s"
"""


class PageTest(weft_testing.SubnetTest):
    browser: Browser
    # So that there is a history to be shown within seconds.
    infiniband = '[store]\nhistory_interval = "1s"\n'
    pulled: set[tuple[str, int]] = set()

    @classmethod
    def make_network(cls):
        return fat_tree.build(64, rails=4, radix=16)

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BUILD)
        try:
            super().setUpClass()
            cls.wait_history()
        except BaseException:
            cls.browser.close()
            raise

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.browser.close()

    @classmethod
    def wait_history(cls) -> None:
        """Something is stored of the ports; until then the page is told that there is nothing."""
        path = f"/api/v1/ports/{cls.subnet.network.switches[0].name}/history"

        def is_stored():
            try:
                return cls.weftd.client.json(path)
            except weft_testing.Answer:
                return None

        wait_until(is_stored, 30, why="there is no history")

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
