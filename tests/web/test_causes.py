# SPDX-License-Identifier: Apache-2.0
"""The page of an incident whose cause is a switch or a host: what its ports did at the time, the worst first, and one click to all of them."""

import contextlib
import os
import sqlite3
import struct

from page_testing import PHONE, PageTest, weft_testing
from weft_testing import guid_text, wait_until, weftctl_json

HOST = "gpu-0005"
ADAPTERS = [f"{HOST} mlx5_{rail}" for rail in range(4)]
SWITCH = "leaf-r1-p02"
MOST_PORTS = 8


class Causes(PageTest):
    # Errors that the ports counted before are no incident of their own.
    analyzer = "error_rate_limit = 1e-3"

    def count(self, ends: list[tuple[str, int]]) -> None:
        """Each port sends something, and counts errors: the first one, the second two and so on. Until all of that is stored."""
        # Counters that were not read yet begin at what they have.
        self.weftd.wait_sweeps(2)
        self.subnet.set_counters((node, port, counter, (at + 1) * factor) for at, (node, port) in enumerate(ends)
                                 for counter, factor in (("PortCounters.SymbolErrorCounter", 1), ("PortCountersExtended.PortXmitData", 1000)))
        node, port = ends[-1]
        wait_until(lambda: self.errors_of(node, port) >= len(ends), 30, why=f"the errors of {node} are not stored")

    def errors_of(self, node: str, port: int) -> int:
        history = weftctl_json(self.weftd, "history", f"{node}:{port}", "--last", "1h")
        return next((int(each["total"]) for each in history["ports"][0]["counters"] if each["counter"] == "symbol_errors"), 0)

    def open_incident(self, incident: dict, **how) -> None:
        self.do("open", url=f"http://{self.weftd.http}/#/incident/{incident['id']}", **how)
        self.do("wait", at="article:has(h3:has-text('Evidence')) table.rows tr.mark-row svg rect")
        self.do("wait", at=f".happened a:has-text('{incident['id']}')")

    def rows(self) -> list[str]:
        return self.do("evaluate", script="[...document.querySelectorAll('table.rows tbody th')].map((each) => each.textContent)")

    def test_a_host_that_is_gone_shows_its_adapters(self):
        self.count([(adapter, 1) for adapter in ADAPTERS])
        for adapter in ADAPTERS:
            self.subnet.unlink(adapter, 1)
            self.addCleanup(self.subnet.relink, adapter, 1)
        incident = self.expect("NODE_DOWN", lambda each: HOST in each["cause"]["label"])
        self.open_incident(incident)
        self.assertEqual([f"mlx5_{rail} port 1" for rail in (3, 2, 1, 0)], self.rows(), "the worst is first")
        self.assertEqual(0, self.do("count", at="a:has-text('All of that time')"))
        self.picture("incident-of-a-host")
        self.expect_accessible()
        self.do("click", at="a:has-text('Charts of that time')")
        self.do("wait", at=f"h2:text-is('{HOST}')")
        self.do("wait", at=f".happened a:has-text('{incident['id']}')")
        self.expect_clean()

    def test_a_switch_that_is_down_shows_the_worst_of_its_ports(self):
        leaf = self.network.find(SWITCH)
        ports = sorted(leaf.ports)
        self.count([(SWITCH, port) for port in ports])
        self.subnet.unlink(SWITCH)
        self.addCleanup(self.subnet.relink, SWITCH)
        incident = self.expect("SWITCH_DOWN", lambda each: self.is_node(each, SWITCH))
        for how, name in (({}, "incident-of-a-switch"), (PHONE, "phone-dark-incident-of-a-switch")):
            self.open_incident(incident, **how)
            self.assertEqual([f"port {port}" for port in ports[:-MOST_PORTS - 1:-1]], self.rows())
            self.do("evaluate", script="document.querySelector('table.rows').scrollIntoView()")
            self.picture(name)
            self.expect_accessible()
            wide = self.do("evaluate", script="document.scrollingElement.scrollWidth - innerWidth")
            self.assertLessEqual(wide, 0)
        self.do("wait", at=f"p:has-text('The worst {MOST_PORTS} of {len(ports)}.')")
        self.do("click", at="a:has-text('All of that time')")
        self.do("wait", at=f"h2:text-is('{SWITCH}')")
        self.do("wait", at=f".happened a:has-text('{incident['id']}')")
        self.assertEqual(len(ports), len(self.rows()))
        self.assertRegex(self.do("evaluate", script="location.hash"), rf"{guid_text(leaf.guid)}\?from=\d+&to=\d+$")
        self.expect_clean()
        # A weftd that was started since then does not know the switch, and shows what is stored of it.
        self.count([self.far_end(SWITCH, port) for port in ports[-4:]])
        self.weftd.kill()
        self.weftd.start()
        self.open_incident(incident)
        self.assertEqual([f"port {port}" for port in ports[:-MOST_PORTS - 1:-1]], self.rows())
        self.do("click", at="a:has-text('All of that time')")
        self.do("wait", at="article p:has-text('No fabric has it now.')")
        self.do("wait", at="table.rows tbody th")
        self.assertEqual(len(ports), len(self.rows()))
        self.picture("switch-that-is-gone")
        self.expect_accessible()
        self.do("click", at=f"table.rows a:text-is('{SWITCH} port {ports[-1]}')")
        self.do("wait", at=f"h2:has-text('{SWITCH} port {ports[-1]}')")
        self.do("wait", at=".chart:has(figcaption b:text-is('Errors'))")
        self.do("wait", at=f".happened a:has-text('{incident['id']}')")
        self.picture("port-that-is-gone")
        self.expect_accessible()
        # Where nothing is, as after longer than the history is kept, the other ends of its cables tell what they saw.
        self.weftd.kill()
        with contextlib.closing(sqlite3.connect(os.path.join(self.weftd.state_dir, "history.db"))) as history, history:
            history.execute("DELETE FROM port WHERE node = ?", (struct.unpack("q", struct.pack("Q", leaf.guid))[0],))
        self.weftd.start()
        self.do("open", url=f"http://{self.weftd.http}/#/incident/{incident['id']}")
        self.do("wait", at="text=These are the other ends of its cables.")
        far = ["{} port {}".format(*self.far_end(SWITCH, port)) for port in ports]
        self.do("wait", at="table.rows tbody th")
        self.assertLessEqual(set(self.rows()), set(far))
        self.picture("incident-of-a-switch-that-is-gone")
        self.expect_accessible()

    def test_a_switch_that_does_not_answer_shows_when_it_was_read_last(self):
        spine = "spine-03"
        ports = sorted(self.network.find(spine).ports)
        self.count([(spine, port) for port in ports])
        self.subnet.drop_requests(spine, 100)
        self.addCleanup(self.subnet.drop_requests, spine, 0)
        incident = self.expect("TELEMETRY_LOST", lambda each: self.is_node(each, spine), sweeps=8)
        self.open_incident(incident)
        self.assertEqual(f"port {ports[-1]}", self.rows()[0])
        self.assertGreater(self.do("count", at="table.rows tbody tr:not(.mark-row) .spark rect"), 0, "of the time since then nothing is known")
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
