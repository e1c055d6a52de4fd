# SPDX-License-Identifier: Apache-2.0
"""The page of one shard of a site, in Chromium: it draws and finds what the other shard watches, and shows nothing of it when that one is
away. north watches 8 hosts of one adapter, south 16 of two: the last 8, and the leaves of rail 1, are known in south alone."""

import contextlib
import json
import os
import signal
import sys
import unittest

from page_testing import BUILD, weft_testing
from browser import Browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pair"))

import test_two_shards as pair  # noqa: E402
from physical_layer import PhysicalLayer  # noqa: E402
from weft_testing import weftctl, wait_until  # noqa: E402

ONLY_SOUTH = "gpu-0015"
SILENT = ".notice:has-text('Shard south does not answer')"

# For how long the strip of shards and the banner said different things of south, at most, in ms.
COMPARE = """(() => {
  let since = 0;
  window.apart = 0;
  const says = (at) => [...document.querySelectorAll(at)].some((each) => /south.*does not answer/.test(each.textContent));
  setInterval(() => {
    since = says('.notice') === says('.shards button') ? 0 : since || performance.now();
    if (since) window.apart = Math.max(window.apart, performance.now() - since);
  }, 50);
})()"""


class PageOfASite(unittest.TestCase):
    class Site(pair.TwoShards):
        SUBNETS = {"north": (8, 1), "south": (32, 2)}

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(BUILD)
        cls.addClassCleanup(cls.browser.close)
        cls.Site.setUpClass()
        cls.addClassCleanup(cls.Site.tearDownClass)
        cls.north, cls.south = (cls.Site.shards[name] for name in ("north", "south"))

    def do(self, verb, **given):
        return self.browser.do(verb, **given)

    def setUp(self):
        self.do("open", url=f"http://{self.north.http}/")
        self.do("wait", at="canvas[data-frames]")

    def drawn(self) -> str:
        return self.do("evaluate", script="document.querySelector('canvas')?.getAttribute('aria-label') ?? ''")

    def choose(self, shard: str) -> None:
        self.do("click", at=f".shards button:has-text('{shard}')")
        self.do("wait", at=f".shards button[aria-pressed=true]:has-text('{shard}')")

    def type(self, text: str) -> None:
        self.do("wait", at=".shards")
        self.do("press", key="/")
        self.do("fill", at=".search input", text=text)

    def find(self, text: str, hit: str) -> None:
        """Opens what the search calls so."""
        self.type(text)
        self.do("click", at=f"[role=option]:has-text('{hit}')")

    @contextlib.contextmanager
    def silent_south(self):
        """South hangs meanwhile, and the page knows it."""
        os.killpg(self.south.process.pid, signal.SIGSTOP)
        try:
            self.wait_shown(SILENT)
            yield
        finally:
            os.killpg(self.south.process.pid, signal.SIGCONT)
        self.do("wait", at=SILENT, state="detached")

    def expect_south(self) -> None:
        wait_until(lambda: " 32 adapters" in self.drawn(), 30, why=self.drawn)

    def test_1_it_draws_the_shard_that_is_chosen(self):
        self.assertIn(" 8 adapters", self.drawn())
        self.choose("south")
        self.expect_south()
        self.assertEqual([], self.do("accessibility"))
        self.choose("north")
        wait_until(lambda: " 8 adapters" in self.drawn(), 30, why=self.drawn)
        self.assertEqual([], self.do("problems"))

    def test_2_the_search_finds_nodes_of_the_other_shard_and_leads_there(self):
        adapter = f"{ONLY_SOUTH} mlx5_1"
        self.find(adapter, f"south adapter {adapter}")
        self.do("wait", at=f"h2:has-text('{adapter}')")
        self.do("wait", at=".crumbs:has-text('south')")
        self.expect_south()
        # What is open is found again by its address alone.
        self.do("open", url=f"http://{self.north.http}/{self.do('evaluate', script='location.hash')}")
        self.do("wait", at=".crumbs:has-text('south')")
        self.expect_south()
        self.assertEqual([], self.do("problems"))

    def test_2_the_search_finds_hosts_of_the_other_shard_by_one_hit(self):
        self.type(ONLY_SOUTH)
        self.do("wait", at=f"[role=option]:has-text('south host {ONLY_SOUTH} 2 adapters')")
        self.assertEqual(1, self.do("count", at="[role=option]"))
        self.do("press", key="Enter")
        self.do("wait", at=".mark:has-text('Host, 2 adapters')")
        self.do("wait", at=".crumbs:has-text('south')")
        self.expect_south()
        self.do("open", url=f"http://{self.north.http}/{self.do('evaluate', script='location.hash')}")
        self.do("wait", at=".mark:has-text('Host, 2 adapters')")
        self.expect_south()
        self.assertEqual([], self.do("problems"))

    def test_2_the_search_finds_ports_and_cables_of_the_other_shard(self):
        for text in ("leaf-r1-p01:2", "LEAF-R1-P01 port 2"):
            self.choose("north")
            self.find(text, "south port leaf-r1-p01 port 2 leads to gpu-0002 mlx5_1 port 1")
            self.do("wait", at="h2:has-text('leaf-r1-p01 port 2')")
            self.expect_south()
        self.choose("north")
        self.find(f"leaf-r1 {ONLY_SOUTH}", f"south cable {ONLY_SOUTH} mlx5_1 port 1 to leaf-r1-p04 port 3")
        self.do("wait", at=f"h2:has-text('{ONLY_SOUTH} mlx5_1 port 1')")
        self.expect_south()
        # Both shards have it, and both its ends are a port 1: the one that is named is meant.
        self.type("gpu-0001 mlx5_0:1")
        self.do("wait", at="[role=option]:has-text('south port gpu-0001 mlx5_0 port 1')")
        self.assertEqual(2, self.do("count", at="[role=option]"))
        self.type("leaf-r1-p01:99")
        self.do("wait", at="[role=option]:has-text('No match')")
        self.assertEqual([], self.do("problems"))

    def test_2_the_search_says_how_many_more_there_are(self):
        # Of north the 8 hosts and their adapters, of south 16 hosts.
        self.type("gpu-")
        self.wait_shown("#hits li:has-text('20 more: type on')")
        # The second page of south's adapters is not read.
        self.type("mlx5_")
        self.wait_shown("#hits li:has-text('more: type on')")
        self.type(ONLY_SOUTH)
        self.wait_shown(f"[role=option]:has-text('south host {ONLY_SOUTH} 2 adapters')")
        self.assertEqual(0, self.do("count", at="#hits li:has-text('more: type on')"))

    def test_2_an_incident_of_the_other_shard_leads_to_its_drawing(self):
        self.do("wait", at=".shards button:has-text('north'):has-text('nothing open')")
        case = self.Site("pull")
        self.addCleanup(case.doCleanups)
        incident = case.expect(self.north, "south", case.pull("south", 12))
        self.do("wait", at=f".shards button:has-text('south') .mark:has-text('{incident['severity'].lower()}')")
        self.assertEqual([], self.do("accessibility"))
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="dt:has-text('Shard') + dd:has-text('south')")
        self.expect_south()
        self.assertEqual([], self.do("problems"))

    def test_3_a_shard_that_is_away_is_named_and_not_drawn(self):
        self.choose("south")
        self.expect_south()
        self.do("evaluate", script=COMPARE)
        with self.silent_south():
            self.do("wait", at=".map:has-text('Not shown: shard south does not answer')")
            self.assertEqual("", self.drawn())
            self.do("wait", at=".side:has-text('No open incidents in the shards that answer')")
            self.do("wait", at=".shards button:has-text('south'):has-text('does not answer')")
            for text in (ONLY_SOUTH, "leaf-r1-p01:2"):
                self.type(text)
                self.do("wait", at="#hits:has-text('shard south does not answer')")
                self.assertEqual(1, self.do("count", at="#hits:has-text('shard south') li:has-text('shard south')"))
            self.do("press", key="Escape")
            self.do("evaluate", script="location.hash = '#/lists/stall'")
            self.wait_shown(".side:has-text('Not shown: shard south does not answer')")
        wait_until(lambda: " 32 adapters" in self.drawn(), 60, why=self.drawn)
        self.do("wait", at=".shards button:has-text('south'):not(:has-text('does not answer'))")
        self.assertLess(self.do("evaluate", script="window.apart"), 500)

    def test_4_each_row_of_a_list_has_its_shard(self):
        """The cable of the same host is pulled in both shards: the rows differ in nothing else."""
        case = self.Site("pull")
        self.addCleanup(case.doCleanups)
        found = {shard: case.expect(self.north, shard, case.pull(shard, adapter)) for shard, adapter in (("north", 2), ("south", 4))}
        self.assertEqual(1, len({each["cause"]["label"] for each in found.values()}), found)
        incidents = {shard: each["id"] for shard, each in found.items()}
        plan = self.isolated("leaf-r0-p01 port 5")
        self.addCleanup(weftctl, self.south, "abort", plan, "--reason", "the test is over")
        window = self.asked("maintenance", "add", ONLY_SOUTH, "--for", "5m", "--reason", "a test")
        self.addCleanup(weftctl, self.south, "maintenance", "end", window)
        for shard, incident in incidents.items():
            self.wait_shown(f"a.entry:has-text('{incident}') .mark:text-is('{shard}')")
        self.assertEqual([], self.do("accessibility"))
        self.type("INC-")
        for shard, incident in incidents.items():
            self.wait_shown(f"[role=option]:has-text('{shard} incident {incident}')")
        self.type(plan)
        self.wait_shown(f"[role=option]:has-text('south plan {plan}')")
        self.do("press", key="Escape")
        self.do("evaluate", script="location.hash = '#/plans'")
        self.wait_shown(f"a.entry:has-text('{plan}') .mark:text-is('south')")
        self.do("evaluate", script="location.hash = '#/lists/maintenance'")
        self.wait_shown("th:text-is('Shard')")
        self.wait_shown(f"tr:has-text('{window}') td:text-is('south')")
        self.assertEqual([], self.do("accessibility"))
        self.assertEqual([], self.do("problems"))

    def test_5_nothing_stands_for_what_a_silent_shard_owns(self):
        """Neither what it said last, nor what another shard calls the same."""
        plan = self.isolated("leaf-r1-p01 port 5")
        self.addCleanup(weftctl, self.south, "abort", plan, "--reason", "the test is over")
        self.do("evaluate", script="location.hash = '#/plans'")
        self.wait_shown(f"a.entry:has-text('{plan}')")
        with self.silent_south():
            self.wait_shown(".side:has-text('No open plans in the shards that answer.')")
            self.assertEqual(0, self.do("count", at=f"a.entry:has-text('{plan}')"))
            self.do("evaluate", script=f"location.hash = '#/plan/{plan}'")
            self.wait_shown(f".side:has-text('{plan} belongs to shard south, which does not answer')")
        self.find("gpu-0001", "south host gpu-0001 2 adapters")
        self.wait_shown(".mark:has-text('Host, 2 adapters')")
        with self.silent_south():
            self.wait_shown(".side p:text-is('Shard south does not answer.')")
            self.assertEqual(0, self.do("count", at=".crumbs:has-text('north')"))
        self.wait_shown(".mark:has-text('Host, 2 adapters')")

    def test_5_a_host_is_healthy_only_as_far_as_known_while_a_shard_is_silent(self):
        self.choose("north")
        self.find("gpu-0005", "north host gpu-0005 1 adapter")
        self.wait_shown(".marks .mark.good:text-is('Healthy')")
        with self.silent_south():
            self.wait_shown(".marks .mark:text-is('Unknown')")  # south has a host of that name, too
            self.wait_shown(".side li:has-text('shard south, which knew it, tells nothing of it now')")
            # Nobody asked for this one while south answered: north does not know that south has it.
            self.do("evaluate", script="location.hash = '#/host/gpu-0007'")
            self.wait_shown(".marks .mark.neutral:text-is('Healthy as far as known: shard south does not answer')")
            self.assertEqual([], self.do("accessibility"))

    def test_7_automation_of_which_shard_is_stopped(self):
        """Without a token the page only reads: who may act stops it by weftd's socket."""
        self.do("evaluate", script="location.hash = '#/plans'")
        self.addCleanup(weftctl, self.north, "hands-off", "off", "--reason", "the test is over", "--who", "ann")
        done = weftctl(self.north, "hands-off", "on", "--reason", "a test", "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        self.wait_shown(".notice:has-text('Everything is stopped in shard north (hands-off), also what persons order')")
        self.assertEqual([], self.do("accessibility"))

    def test_6_a_host_of_one_adapter_is_a_host_in_each_shard(self):
        self.do("open", url=f"http://{self.south.http}/")
        self.type("gpu-0001")
        self.wait_shown("[role=option]:has-text('south host gpu-0001 2 adapters')")
        self.wait_shown("[role=option]:has-text('north host gpu-0001 1 adapter')")

    def isolated(self, port: str) -> str:
        """The id of the plan. Without a physical layer routes lead into the link, and what lies behind it is not read."""
        self.enterContext(PhysicalLayer(self.Site.subnets["south"]))
        return self.asked("isolate", port, "--reason", "a test")

    def asked(self, *words: str) -> str:
        """The id of what south then has."""
        done = weftctl(self.south, *words, "--who", "ann", "--json")
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)["id"]

    def wait_shown(self, at: str) -> None:
        self.do("wait", at=at, timeout=20_000)


if __name__ == "__main__":
    weft_testing.main()
