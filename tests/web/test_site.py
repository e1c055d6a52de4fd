# SPDX-License-Identifier: Apache-2.0
"""The page of one shard of a site, in Chromium: it draws and finds what the other shard watches, and shows nothing of it when that one is
away. north watches 8 hosts, south 16: the last 8 are known in south alone."""

import os
import signal
import sys
import unittest

from page_testing import BUILD, weft_testing
from browser import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pair"))

import test_two_shards as pair  # noqa: E402
from weft_testing import wait_until  # noqa: E402

ONLY_SOUTH = "gpu-0015"


class PageOfASite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BUILD)
        cls.addClassCleanup(cls.browser.close)
        pair.TwoShards.setUpClass()
        cls.addClassCleanup(pair.TwoShards.tearDownClass)
        cls.north, cls.south = (pair.TwoShards.shards[name] for name in ("north", "south"))

    def do(self, verb, **given):
        return self.browser.do(verb, **given)

    def setUp(self):
        self.do("open", url=f"http://{self.north.http}/")
        self.do("wait", at="canvas[data-frames]")

    def drawn(self) -> str:
        return self.do("evaluate", script="document.querySelector('canvas')?.getAttribute('aria-label') ?? ''")

    def test_1_it_draws_the_shard_that_is_chosen(self):
        self.assertIn(" 8 adapters", self.drawn())
        self.do("wait", at="label:has-text('Shard') select")
        self.do("choose", at="label:has-text('Shard') select", option="south")
        wait_until(lambda: " 16 adapters" in self.drawn(), 30, why=self.drawn)
        self.assertEqual([], self.do("accessibility"))
        self.do("choose", at="label:has-text('Shard') select", option="north")
        wait_until(lambda: " 8 adapters" in self.drawn(), 30, why=self.drawn)
        self.assertEqual([], self.do("problems"))

    def test_2_the_search_finds_nodes_of_the_other_shard_and_leads_there(self):
        self.do("wait", at="label:has-text('Shard') select")
        self.do("press", key="/")
        self.do("type", text=ONLY_SOUTH)
        self.do("wait", at=f"[role=option]:has-text('south adapter {ONLY_SOUTH}')")
        self.do("press", key="Enter")
        self.do("wait", at=f"h2:has-text('{ONLY_SOUTH}')")
        self.do("wait", at=".crumbs:has-text('south')")
        wait_until(lambda: " 16 adapters" in self.drawn(), 30, why=self.drawn)
        # What is open is found again by its address alone.
        self.do("open", url=f"http://{self.north.http}/{self.do('evaluate', script='location.hash')}")
        self.do("wait", at=".crumbs:has-text('south')")
        wait_until(lambda: " 16 adapters" in self.drawn(), 30, why=self.drawn)
        self.assertEqual([], self.do("problems"))

    def test_2_an_incident_of_the_other_shard_leads_to_its_drawing(self):
        case = pair.TwoShards("pull")
        self.addCleanup(case.doCleanups)
        incident = case.expect(self.north, "south", case.pull("south", 12))
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="dt:has-text('Shard') + dd:has-text('south')")
        wait_until(lambda: " 16 adapters" in self.drawn(), 30, why=self.drawn)
        self.assertEqual([], self.do("problems"))

    def test_3_a_shard_that_is_away_is_named_and_not_drawn(self):
        self.do("wait", at="label:has-text('Shard') select")
        self.do("choose", at="label:has-text('Shard') select", option="south")
        wait_until(lambda: " 16 adapters" in self.drawn(), 30, why=self.drawn)
        os.killpg(self.south.process.pid, signal.SIGSTOP)
        try:
            self.do("wait", at=".map:has-text('Not shown: shard south does not answer')")
            self.assertEqual("", self.drawn())
            self.do("wait", at=".notice:has-text('Shard south does not answer')")
            self.do("wait", at=".side:has-text('No open incidents in the shards that answer')")
            self.do("wait", at="option:has-text('south (does not answer)')", state="attached")
            self.do("press", key="/")
            self.do("type", text=ONLY_SOUTH)
            self.do("wait", at="#hits:has-text('shard south does not answer')")
            self.do("press", key="Escape")
        finally:
            os.killpg(self.south.process.pid, signal.SIGCONT)
        wait_until(lambda: " 16 adapters" in self.drawn(), 60, why=self.drawn)
        self.do("wait", at=".notice:has-text('Shard south does not answer')", state="detached")


if __name__ == "__main__":
    weft_testing.main()
