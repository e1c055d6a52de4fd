# SPDX-License-Identifier: Apache-2.0
"""Each view of the page on a desktop and on a phone, light and dark: readable to all, nowhere wider than the screen, and a picture of it."""

from page_testing import PHONE, REMEDIES, PageTest, weft_testing
from weft_testing import guid_text

DESKTOP = {"width": 1440, "height": 900}
SCREENS = {f"{name}-{'dark' if dark else 'light'}": {**screen, "dark": dark} for name, screen in (("desktop", DESKTOP), ("phone", PHONE)) for dark in (False, True)}
BAD = ("leaf-r0-p01", 9)


class Views(PageTest):
    # Gross errors open an incident at once, and it stays.
    analyzer = 'error_window_minimum = "10m"'
    infiniband = PageTest.infiniband + REMEDIES

    def test_each_on_each_screen(self):
        plan = self.plan_of(*BAD)
        leaf = guid_text(self.network.find(BAD[0]).guid)
        views = {
            "fabric": ("", "canvas[data-frames]"),
            "incidents": ("incidents", f"a.entry:has-text('{plan['incidentId']}')"),
            "incident": (f"incident/{plan['incidentId']}", "h3:has-text('Evidence')"),
            "plans": ("plans", f"a.entry:has-text('{plan['id']}')"),
            "plan": (f"plan/{plan['id']}", "h3:has-text('Guards')"),
            "switch": (f"node/{leaf}", ".rows td"),
            "port": (f"node/{leaf}/port/{BAD[1]}", ".chart"),
            "host": ("host/gpu-0001", ".rows td"),
            "worst-links": ("lists/worst", "td a"),
            "collectors": ("lists/collectors", "h2:has-text('Collectors'), .quiet"),
            "maintenance": ("lists/maintenance", "h2:has-text('Maintenance'), .quiet"),
            "audit": ("lists/audit", "td"),
        }
        for screen, how in SCREENS.items():
            for name, (path, sign) in views.items():
                with self.subTest(view=name, screen=screen):
                    self.do("open", url=f"http://{self.weftd.http}/#/{path}", **how)
                    self.do("wait", at=sign)
                    self.judge(f"{name}-{screen}")
            with self.subTest(view="search", screen=screen):
                self.do("press", key="/")
                self.do("type", text="leaf-r0")
                self.do("wait", at="[role=option]")
                self.judge(f"search-{screen}")

    def judge(self, name: str) -> None:
        self.picture(name)
        self.expect_accessible()
        self.expect_clean()
        wide = self.do("evaluate", script="document.scrollingElement.scrollWidth - innerWidth")
        self.assertLessEqual(wide, 0, f"{name} must be moved sideways")


if __name__ == "__main__":
    weft_testing.main()
