# SPDX-License-Identifier: Apache-2.0
"""Each view of the page on a desktop and on a phone, light and dark: readable to all, nowhere wider than the screen, and a picture of it. Also while
weftd is away, and when it is back."""

import json

from page_testing import PHONE, REMEDIES, PageTest, weft_testing
from weft_testing import guid_text

DESKTOP = {"width": 1440, "height": 900}
SCREENS = {f"{name}-{'dark' if dark else 'light'}": {**screen, "dark": dark} for name, screen in (("desktop", DESKTOP), ("phone", PHONE)) for dark in (False, True)}
BAD = ("leaf-r0-p01", 9)


class Views(PageTest):
    # Gross errors open an incident at once, and it stays.
    analyzer = 'error_window_minimum = "10m"'
    infiniband = PageTest.infiniband + REMEDIES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = None

    rack = "switch leaf-r0-p01"

    def accept(self, what: str) -> str:
        """A run of the switch with the bad link, that is over: its id."""
        run = json.loads(weft_testing.weftctl(self.weftd, "--json", "accept", "--switches", what.split()[1], "--for", "2s").stdout)["id"]
        weft_testing.wait_until(lambda: self.weftd.client.json(f"/api/v1/acceptances/{run}").get("ended"), 60, why=self.weftd.log)
        return run

    def views(self) -> dict[str, tuple[str, str]]:
        """For each its path, and what is there as soon as it is complete."""
        if self.plan is None:
            type(self).plan = self.plan_of(*BAD)
            type(self).accepted = self.accept(self.rack)
        leaf = guid_text(self.network.find(BAD[0]).guid)
        return {
            "fabric": ("", "canvas[data-frames]"),
            "incidents": ("incidents", f"a.entry:has-text('{self.plan['incidentId']}')"),
            "incidents-found": (f"incidents?entity={BAD[0]}&severity=Warning", f"h2:has-text('Found') + ul a:has-text('{self.plan['incidentId']}')"),
            "incident": (f"incident/{self.plan['incidentId']}", "h3:has-text('Evidence')"),
            "plans": ("plans", f"a.entry:has-text('{self.plan['id']}')"),
            "plan": (f"plan/{self.plan['id']}", "h3:has-text('Guards')"),
            "switch": (f"node/{leaf}", ".rows td"),
            "port": (f"node/{leaf}/port/{BAD[1]}", ".chart"),
            "host": ("host/gpu-0001", ".rows td"),
            "worst-links": ("lists/worst", "td a"),
            "harm": ("lists/harm", "td a"),
            "stall": ("lists/stall", ".heat td"),
            "collectors": ("lists/collectors", "h2:has-text('Collectors') ~ :has-text('No collectors')"),
            "drift": ("lists/drift", "h2:has-text('Settings that differ') ~ p:has-text('0 hosts tell')"),
            "maintenance": ("lists/maintenance", "h2:has-text('Maintenance') ~ :has-text('No maintenance windows')"),
            "acceptance": ("lists/acceptance", f"td:has-text('{self.rack}')"),
            "acceptance-report": (f"lists/acceptance?run={self.accepted}", "h3:has-text('What failed')"),
            "audit": ("lists/audit", "td"),
        }

    def test_each_on_each_screen(self):
        views = self.views()
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
            for name, path in (("runbooks", "runbooks"), ("runbook", "runbooks/LINK_ERRORS")):
                with self.subTest(view=name, screen=screen):
                    self.do("open", url=f"http://{self.weftd.http}/{path}", **how)
                    self.do("wait", at="h1")
                    self.judge(f"{name}-{screen}")

    def test_the_audit_trail_is_asked_for_by_time(self):
        self.views()
        found = f"td a:has-text('{self.plan['id']}')"
        self.do("open", url=f"http://{self.weftd.http}/#/lists/audit")
        self.do("wait", at=found)
        # As a reader types it: in local time, which is that of the browser.
        local = "new Date(Date.now() - new Date().getTimezoneOffset() * 60000 + AHEAD).toISOString().slice(0, 16)"
        for field, ahead, words in (("to", -3600_000, "text=No such records"), ("to", 3600_000, found),
                                    ("from", -3600_000, found)):
            self.do("fill", at=f"input[name={field}]", text=self.do("evaluate", script=local.replace("AHEAD", str(ahead))))
            self.do("click", at="button:has-text('Find')")
            self.do("wait", at=words)
        self.expect_clean()

    def test_each_while_weftd_is_away_and_when_it_is_back(self):
        views = self.views()
        for screen in ("desktop-dark", "phone-light"):
            self.do("open", url=f"http://{self.weftd.http}/", **SCREENS[screen])
            self.do("wait", at="canvas[data-frames]")
            self.weftd.kill()
            try:
                self.do("wait", at=".notice.lost:has-text('weftd is unreachable')")
                for name, (path, _) in views.items():
                    with self.subTest(view=name, screen=screen, weftd="away"):
                        self.do("evaluate", script=f"location.hash = '#/{path}'")
                        self.do("wait", at=".notice.lost")
                        self.picture(f"lost-{name}-{screen}")
                        self.expect_readable(name)
                        # That the browser could not connect stands on the console; an error of the page would, too.
                        self.assertEqual([], [each for each in self.do("problems") if "Failed to load resource" not in each])
            finally:
                self.weftd.start()
            self.do("wait", at=".notice.lost", state="detached")
            for name, (path, sign) in views.items():
                with self.subTest(view=name, screen=screen, weftd="back"):
                    self.do("evaluate", script=f"location.hash = '#/{path}'")
                    self.do("wait", at=sign)
                    self.expect_readable(name)

    def judge(self, name: str) -> None:
        self.picture(name)
        self.expect_readable(name)
        self.expect_clean()

    def expect_readable(self, name: str) -> None:
        self.expect_accessible()
        wide = self.do("evaluate", script="document.scrollingElement.scrollWidth - innerWidth")
        self.assertLessEqual(wide, 0, f"{name} must be moved sideways")


if __name__ == "__main__":
    weft_testing.main()
