# SPDX-License-Identifier: Apache-2.0
"""The page of the standby of a pair, in Chromium: it shows the leader's incidents and says whose they are. When the leader dies the page
stays where it is, and says that the leader changed."""

import os
import sys
import time

from page_testing import BUILD, weft_testing
from browser import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pair"))

import pair_testing  # noqa: E402
from weft_testing import wait_until  # noqa: E402


class PageOfAPair(pair_testing.WithPair):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BUILD)
        cls.addClassCleanup(cls.browser.close)
        super().setUpClass()

    def do(self, verb, **given):
        return self.browser.do(verb, **given)

    def test_a_leader_without_its_lease_says_so(self):
        leader, _ = self.roles()
        self.do("open", url=f"http://{leader.http}/")
        self.do("wait", at=".toolbar, header")
        wires = self.wires + self.wires_to_standby
        for wire in wires:
            wire.is_cut = True
        try:
            self.do("wait", at=".notice:has-text('its lease is not renewed, so it acts on nothing and refuses changes')")
            self.assertEqual([], self.do("accessibility"))
        finally:
            for wire in wires:
                wire.is_cut = False
        self.roles()

    def test_it_stays_where_it_is_when_the_leader_changes(self):
        leader, standby = self.roles()
        host = self.subnet.network.hosts()[0]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)
        incident = wait_until(lambda: next(iter(leader.incidents("LINK_DOWN")), None), 30, why=leader.log)["id"]
        # A standby shows what the leader has stored, about a second later; until then it has no such incident.
        wait_until(lambda: standby.incidents("LINK_DOWN"), 10, why=standby.log)
        self.do("open", url=f"http://{standby.http}/#/incident/{incident}")
        self.do("wait", at=f".crumbs:has-text('{incident}')")
        self.do("wait", at=f".notice:has-text('leads at {leader.grpc}')")
        self.assertEqual([], self.do("accessibility"))
        before = self.do("evaluate", script="(window.weftTestMark = 'not loaded anew', location.hash)")
        began = time.monotonic()
        leader.kill()
        self.wait_leads(standby, began)
        self.do("wait", at=f".notice:has-text('The leader changed at'):has-text('process {standby.process.pid} leads now')")
        self.do("wait", at=".notice:has-text('standby: ')", state="detached")
        self.do("wait", at=f".crumbs:has-text('{incident}')")
        self.assertEqual(before, self.do("evaluate", script="location.hash"))
        self.assertEqual("not loaded anew", self.do("evaluate", script="window.weftTestMark ?? ''"))
        self.assertEqual([], self.do("accessibility"))
        # No history is stored yet: weftd answers 404, and the browser notes each.
        self.assertEqual([], [problem for problem in self.do("problems") if "/history?" not in problem])


if __name__ == "__main__":
    weft_testing.main()
