# SPDX-License-Identifier: Apache-2.0
"""Scraped by real Prometheus and VictoriaMetrics; what is exposed is as promtool wants it."""

import gzip
import subprocess
import unittest
import urllib.request

import weft_testing
from prometheus_stack import Scraper, prometheus, which


class Exposition(weft_testing.SubnetTest):
    def test_promtool_accepts_the_metrics(self):
        if not which("promtool"):
            self.skipTest("not installed: promtool")
        done = subprocess.run(["promtool", "check", "metrics"], input=self.weftd.metrics(), capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual((0, "", ""), (done.returncode, done.stdout.strip(), done.stderr.strip()))

    def test_a_series_for_each_port_stays_when_the_port_is_down(self):
        self.subnet.unlink("leaf-r0-p01", 9)
        self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r0-p01", 9)))
        text = self.weftd.metrics()
        ports = sum(node.port_count for node in self.network.nodes.values())
        up = [line for line in text.splitlines() if line.startswith("weft_port_up{")]
        self.assertGreaterEqual(len(up), ports)
        self.assertEqual(2, sum(1 for line in up if line.endswith(" 0") and any(
            f'node="{name}"' in line and f'port="{port}"' in line for name, port in (("leaf-r0-p01", 9), ("spine-01", 1)))))
        self.assertIn('weft_incidents{kind="LINK_DOWN",severity=', text)
        self.subnet.relink("leaf-r0-p01", 9)
        weft_testing.wait_until(lambda: not self.weftd.incidents())

    def test_the_names_that_dashboards_rely_on(self):
        text = self.weftd.metrics()
        for name in ("weft_port_up", "weft_port_stale", "weft_port_info", "weft_port_rate_bytes_per_second", "weft_port_width_lanes",
                     "weft_port_transmit_bytes_total", "weft_port_receive_bytes_total", "weft_port_transmit_packets_total",
                     "weft_port_receive_packets_total", "weft_port_transmit_wait_seconds_total", "weft_port_link_downed_total",
                     "weft_port_link_error_recovery_total", "weft_port_symbol_errors_total", "weft_port_receive_errors_total",
                     "weft_port_transmit_discards_total", "weft_link_utilization_ratio", "weft_link_stall_ratio", "weft_node_health",
                     "weft_sweep_duration_seconds", "weft_sweep_requests_total", "weft_fabric_nodes"):
            with self.subTest(name):
                self.assertRegex(text, rf"(?m)^{name}[ {{]")
        for name in ("weft_incidents", "weft_incidents_opened_total"):
            with self.subTest(name):
                self.assertIn(f"# TYPE {name}", text)

    def test_no_answer_of_a_healthy_subnet_is_counted_as_bad(self):
        self.weftd.wait_sweeps(3)  # by then the subnet administrator was asked as well
        text = self.weftd.metrics()
        for result in ("malformed", "unexpected", "send_failed"):
            with self.subTest(result):
                self.assertRegex(text, rf'(?m)^weft_sweep_requests_total{{[^}}]*result="{result}"}} 0$')

    def test_compressed_and_open_metrics_are_the_same(self):
        request = urllib.request.Request(self.weftd.client.base + "/metrics", headers={"Accept-Encoding": "gzip"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as response:
            self.assertEqual("gzip", response.headers["Content-Encoding"])
            text = gzip.decompress(response.read()).decode()
        self.assertIn("weft_port_up{", text)
        opened = self.weftd.client.text("/metrics", {"Accept": "application/openmetrics-text; version=1.0.0"})
        self.assertTrue(opened.endswith("# EOF\n"))


CONFIGURATION = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: weft
    static_configs: [{{targets: ["{target}"]}}]
"""


class Scraped(weft_testing.SubnetTest):
    def scraped_by(self, name: str, start):
        if not which(name):
            raise unittest.SkipTest(f"not installed: {name}")
        scraper = start(CONFIGURATION.format(target=self.weftd.http))
        self.addCleanup(scraper.stop)
        weft_testing.wait_until(lambda: scraper.query('up{job="weft"} == 1'), 60, why=lambda: f"never scraped: {scraper.log()}")
        cabled = sum(len(node.ports) for node in self.network.nodes.values())
        up = 'sum(weft_port_up{port!="0"})'
        weft_testing.wait_until(lambda: scraper.query(up)[0]["value"][1] == str(cabled), 30,
                                why=lambda: f"ports up: {scraper.query(up)}, cabled: {cabled}")
        joined = scraper.query('weft_port_up * on (node, guid, port) group_left (peer_node) weft_port_info{node="gpu-0001 mlx5_0"}')
        self.assertEqual(["leaf-r0-p01"], [series["metric"]["peer_node"] for series in joined])
        self.subnet.unlink("leaf-r1-p01", 9)
        try:
            weft_testing.wait_until(lambda: scraper.query('weft_incidents{kind="LINK_DOWN"} > 0'), 30, why="the incident was not scraped")
        finally:
            self.subnet.relink("leaf-r1-p01", 9)
        weft_testing.wait_until(lambda: not self.weftd.incidents())
        self.assertEqual([], scraper.query('min_over_time(up{job="weft"}[1m]) == 0'))

    def test_by_prometheus(self):
        self.scraped_by("prometheus", prometheus)

    def test_by_victoria_metrics(self):
        self.scraped_by("victoria-metrics", lambda configuration: Scraper(lambda place, address: [
            "victoria-metrics", f"-promscrape.config={place}/scrape.yml", f"-storageDataPath={place}/data", f"-httpListenAddr={address}",
            "-retentionPeriod=1d", "-search.latencyOffset=0s", "-memory.allowedPercent=10"], {"scrape.yml": configuration}, "/health"))


if __name__ == "__main__":
    weft_testing.main()
