# SPDX-License-Identifier: Apache-2.0
"""Scraped by real Prometheus and VictoriaMetrics; what is exposed is as promtool wants it."""

import gzip
import re
import subprocess
import time
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

    def test_no_answer_of_a_healthy_subnet_is_counted_as_bad(self):
        self.weftd.wait_sweeps(3)  # by then the subnet administrator was asked as well
        text = self.weftd.metrics()
        counts = dict(re.findall(r'(?m)^weft_sweep_requests_total{[^}]*result="(\w+)"} (\d+)$', text))
        self.assertGreater(int(counts["ok"]), 0)
        for result in ("malformed", "send_failed"):
            self.assertEqual("0", counts[result], result)
        # On a busy machine an answer may come after its time: then it was given up before.
        self.assertLessEqual(int(counts["unexpected"]), int(counts["timeout"]) + int(counts["retried"]), counts)

    def test_compressed_and_open_metrics_are_the_same(self):
        request = urllib.request.Request(self.weftd.client.base + "/metrics", headers={"Accept-Encoding": "gzip"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as response:
            self.assertEqual("gzip", response.headers["Content-Encoding"])
            text = gzip.decompress(response.read()).decode()
        self.assertIn("weft_port_up{", text)
        opened = self.weftd.client.text("/metrics", {"Accept": "application/openmetrics-text; version=1.0.0"})
        self.assertTrue(opened.endswith("# EOF\n"))


class WithZeros(weft_testing.SubnetTest):
    infiniband = "[metrics]\nzeros = true\n"

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


PORT = ("leaf-r0-p01", 12)
ERRORS = f'weft_port_symbol_errors_total{{node="{PORT[0]}",guid="'
OF_PORT = f'weft_port_symbol_errors_total{{node="{PORT[0]}", port="{PORT[1]}"}}'
TWO_SCRAPERS = """\
scrape_configs:
  - {{job_name: often, scrape_interval: 1s, scrape_timeout: 1s, static_configs: [{{targets: ["{target}"]}}]}}
  - {{job_name: rarely, scrape_interval: 4s, scrape_timeout: 2s, static_configs: [{{targets: ["{target}"]}}]}}
  - job_name: errors
    scrape_interval: 2s
    scrape_timeout: 2s
    params: {{"collect[]": [errors, self]}}
    static_configs: [{{targets: ["{target}"]}}]
"""


class LeftOut(weft_testing.SubnetTest):
    """Counters that never moved have no series; the first increment is seen all the same."""

    infiniband = '[metrics]\nscrape_interval = "4s"\n'  # of the slower scraper

    def errors(self, query: str = "") -> dict[str, str]:
        """The values of the port's errors that are shown, by number of the port."""
        lines = [line for line in self.weftd.client.text("/metrics" + query).splitlines() if line.startswith(ERRORS)]
        return {line.split('port="')[1].split('"')[0]: line.split()[-1] for line in lines}

    def test_1_a_healthy_subnet_has_no_series_of_errors(self):
        self.weftd.wait_sweeps(3)
        text = self.weftd.metrics()
        for name in ("weft_port_symbol_errors_total", "weft_port_link_downed_total", "weft_port_virtual_lane_transmit_wait_seconds_total"):
            self.assertNotIn(name, text)
        for name in ("weft_port_transmit_bytes_total", "weft_port_transmit_wait_seconds_total", "weft_link_error_rate", "weft_port_info"):
            self.assertIn(name + "{", text)

    def test_2_prometheus_sees_the_first_increment(self):
        if not which("prometheus"):
            self.skipTest("not installed: prometheus")
        scraper = prometheus(TWO_SCRAPERS.format(target=self.weftd.http))
        self.addCleanup(scraper.stop)
        weft_testing.wait_until(lambda: len(scraper.query("up == 1")) == 3, 60, why=lambda: f"never scraped: {scraper.log()}")
        self.assertEqual({}, self.errors())
        self.subnet.set_counter(*PORT, "PortCounters.SymbolErrorCounter", 5)
        self.assertEqual({"12": "0"}, weft_testing.wait_until(self.errors, 10))
        weft_testing.wait_until(lambda: self.errors() == {"12": "5"}, 10, why=lambda: f"{self.errors()} after the time that is withheld")

        def seen():
            return {series["metric"]["job"]: float(series["value"][1]) for series in scraper.query(f"increase({OF_PORT}[2m]) > 0")}
        weft_testing.wait_until(lambda: len(seen()) == 3, 20, why=lambda: f"only {seen()} see an increase; {scraper.log()}")
        for series in scraper.query(f"min_over_time({OF_PORT}[2m])"):
            self.assertEqual("0", series["value"][1], series)
        for job, increase in seen().items():
            self.assertGreaterEqual(increase, 5, job)

        # A restart shows what there is at once: a zero would be a reset, after which everything counted again.
        self.subnet.set_counter(*PORT, "PortCounters.SymbolErrorCounter", 8)
        weft_testing.wait_until(lambda: self.errors() == {"12": "8"}, 10)
        self.weftd.kill()
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        self.assertEqual({"12": "8"}, self.errors())
        ends = f'timestamp({OF_PORT}) > {time.time()}'
        weft_testing.wait_until(lambda: len(scraper.query(ends)) == 3, 30, why="not scraped after the restart")
        for series in scraper.query(f"resets({OF_PORT}[5m])"):
            self.assertEqual("0", series["value"][1], series)
        only = {series["metric"]["__name__"] for series in scraper.query('{job="errors", __name__=~"weft_.*"}')}
        self.assertIn("weft_store_ok", only)
        self.assertEqual(set(), {name for name in only if name in ("weft_port_up", "weft_port_transmit_bytes_total", "weft_incidents")})

    def test_3_groups_that_do_not_exist_are_refused_with_those_that_do(self):
        with self.assertRaises(weft_testing.Answer) as refused:
            self.weftd.client.text("/metrics?collect[]=ports&collect[]=cpu")
        self.assertEqual(400, refused.exception.status)
        self.assertRegex(str(refused.exception), "'cpu' is no group of metrics; the groups are fabrics, .*, self")


if __name__ == "__main__":
    weft_testing.main()
