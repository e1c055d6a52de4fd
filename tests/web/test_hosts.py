# SPDX-License-Identifier: Apache-2.0
"""Hosts and switches on the page: eight adapters side by side, why a host is not healthy, its collector, and the history of many ports."""

import os
import sys
import time

import grpc
from page_testing import PHONE, PageTest, weft_testing

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "collector"))

import telemetry_client  # noqa: E402
from weft_testing import fat_tree, guid_text, wait_until  # noqa: E402

HOST = "gpu-0003"


class Hosts(PageTest):
    @classmethod
    def make_network(cls):
        return fat_tree.build(64, rails=8, radix=16)

    def open_at(self, path: str, **how) -> None:
        self.do("open", url=f"http://{self.weftd.http}/{path}", **how)

    def test_a_host_shows_its_adapters_and_why_it_is_not_healthy(self):
        incident = self.pull(f"{HOST} mlx5_1", 1)
        self.open_at(f"#/incident/{incident['id']}")
        self.do("click", at=f"dt:text-is('Host') + dd a:text-is('{HOST}')")
        self.do("wait", at=f"h2:text-is('{HOST}')")
        self.do("wait", at=".mark:has-text('Host, 8 adapters')")
        self.do("wait", at=f"ul[aria-label=Why] a:has-text('{incident['id']}')")
        self.do("wait", at=".mark:has-text('Degraded')")
        self.assertEqual(8, self.do("count", at="table.adapters tbody tr"))
        self.do("wait", at="table.adapters tr:has-text('mlx5_1'):has-text('leaf-r1-p01 port 3')")
        self.do("wait", at="table.rows tbody tr:has-text('mlx5_7')")
        self.do("wait", at=".facts:has-text('none reports')")
        self.do("wait", at=f".happened a:has-text('{incident['id']}')")
        self.picture("host-light")
        self.expect_accessible()
        self.do("click", at="table.rows a:has-text('mlx5_7')")
        self.do("wait", at=f"h2:has-text('{HOST} mlx5_7 port 1')")
        self.do("click", at=".crumbs a:has-text('mlx5_7')")
        self.do("click", at=f".crumbs a:text-is('{HOST}')")
        self.do("wait", at=f"h2:text-is('{HOST}')")
        self.expect_clean()

    def test_a_host_is_found_by_its_name(self):
        self.open()
        self.wait_drawn()
        self.do("press", key="/")
        self.do("type", text=HOST)
        self.do("wait", at=f"[role=option]:has-text('host {HOST}')")
        self.do("press", key="Enter")
        self.do("wait", at=f"h2:text-is('{HOST}')")
        self.expect_clean()

    def test_the_search_says_how_many_more_it_found(self):
        self.open()
        self.wait_drawn()
        self.do("press", key="/")
        # What the GUIDs of all adapters begin with, and nothing else.
        self.do("fill", at=".search input", text=guid_text(self.network.adapters[0].guid)[:10])
        self.do("wait", at=f"#hits li:text-is('{len(self.network.adapters) - 12} more: type on')", timeout=20_000)
        self.assertEqual(12, self.do("count", at="#hits li[aria-selected]:not([aria-disabled])"))
        self.do("fill", at=".search input", text=HOST)
        self.do("wait", at="#hits li:has-text('more: type on')", state="detached", timeout=20_000)
        self.do("wait", at=f"[role=option]:has-text('{HOST} mlx5_7')")
        self.expect_clean()

    def search(self, text: str, hit: str) -> None:
        """Opens what the search calls so."""
        self.do("press", key="/")
        self.do("fill", at=".search input", text=text)
        self.do("click", at=f"[role=option]:has-text('{hit}')")

    def test_ports_and_cables_are_found(self):
        leaf, peer = "leaf-r2-p01", "spine-01"
        port = next(number for number in self.network.find(leaf).ports if self.far_end(leaf, number)[0] == peer)
        self.open()
        self.wait_drawn()
        for text in (f"{leaf}:{port}", f"{leaf} port {port}"):
            self.search(text, f"port {leaf} port {port}")
            self.do("wait", at=f"h2:has-text('{leaf} port {port}')")
        self.search(f"{leaf} {peer}", f"cable {leaf} port {port}")
        self.do("wait", at=f"h2:has-text('{leaf} port {port}')")
        self.search(f"{leaf}:99", "No match")
        self.expect_clean()

    def test_a_job_is_found_and_leads_to_its_hosts(self):
        host = "gpu-0007"  # of which no other test's collector tells
        with grpc.insecure_channel(self.weftd.grpc) as channel:
            collector = telemetry_client.Collector(channel)
            collector.hello(host)
            collector.welcome()
            collector.batch(1, telemetry_client.whole(time.time_ns(), [telemetry_client.port("mlx5_1")], [], [], jobs=("slurm:4711",)))
            collector.wait_acknowledged(1)
            wait_until(lambda: self.weftd.client.json("/api/v1/collectors?job=4711")["collectors"], 30, why="no collector tells of the job")
            self.open()
            self.search("4711", f"job slurm:4711 holds {host}")
            self.do("wait", at=f"h2:text-is('{host}')")
            self.search("slurm:47", "No match")
            collector.close()
        self.expect_clean()

    def test_the_collector_of_a_host_says_its_jobs_and_its_optics(self):
        with grpc.insecure_channel(self.weftd.grpc) as channel:
            collector = telemetry_client.Collector(channel)
            collector.hello(HOST)
            collector.welcome()
            collector.batch(1, telemetry_client.whole(
                time.time_ns(), [telemetry_client.port("mlx5_1")],
                [telemetry_client.series("mlx5_1", 1, "module_temperature", gauge=True),
                 telemetry_client.series("mlx5_1", 1, "module_receive_power", gauge=True, lane=0),
                 telemetry_client.series("mlx5_1", 1, "module_receive_power", gauge=True, lane=1),
                 telemetry_client.series("mlx5_1", 1, "pcie_read_stall", gauge=True)],
                [41_500, 1_000_000, 500_000, 37], jobs=("slurm:1234",)))
            collector.wait_acknowledged(1)
            self.open_at(f"#/host/{HOST}")
            self.do("wait", at=".facts .mark:has-text('Connected')")
            self.do("wait", at="dt:has-text('Jobs') + dd:has-text('slurm:1234')")
            self.do("wait", at="table.adapters tr:has-text('mlx5_1'):has-text('41.5 °C'):has-text('0.0, -3.0 dBm')")
            self.do("wait", at="table.adapters th:text-is('Module')")
            self.do("wait", at="table.adapters tr:has-text('mlx5_1'):has-text('37 %')")
            self.do("wait", at="table.adapters th:text-is('PCIe read stall')")
            self.assertEqual(0, self.do("count", at="table.adapters th:text-is('PCIe write stall')"), "nobody reads it")
            self.assertEqual(1, self.do("count", at="table.adapters td:has-text('°C')"), "of the others nothing is known")
            self.picture("host-optics")
            self.expect_accessible()
            self.open_at("#/host/gpu-0004")
            self.do("wait", at=".facts:has-text('none reports')")
            collector.close()
        self.expect_clean()

    def test_a_host_that_no_fabric_has_shows_its_collector(self):
        host = "storage-01"
        with grpc.insecure_channel(self.weftd.grpc) as channel:
            collector = telemetry_client.Collector(channel)
            collector.hello(host)
            collector.welcome()
            collector.batch(1, telemetry_client.whole(time.time_ns(), [telemetry_client.port("mlx5_9")],
                                                      [telemetry_client.series("mlx5_9", 1, "module_temperature", gauge=True)], [41_500]))
            collector.wait_acknowledged(1)
            self.open_at("#/lists/collectors")
            self.do("click", at=f"th a:text-is('{host}')")
            self.do("wait", at=f"h2:text-is('{host}')")
            # It sends nothing more, and may be silent by then.
            self.do("wait", at="dt:text-is('Collector') + dd:has(.mark):has-text('heard')")
            self.do("wait", at="text=No fabric that is monitored has an adapter of this host.")
            self.do("wait", at="text=Its collector reads mlx5_9 port 1.")
            self.expect_accessible()
            collector.close()

    def test_optical_power_and_temperature_over_time(self):
        host, adapter = "gpu-0005", self.network.find("gpu-0005 mlx5_2")
        port = telemetry_client.port("mlx5_2", guid=adapter.port_guid(1))
        series = [telemetry_client.series("mlx5_2", 1, "module_temperature", gauge=True)]
        series += [telemetry_client.series("mlx5_2", 1, "module_receive_power", gauge=True, lane=lane) for lane in range(2)]
        path = f"/api/v1/ports/{guid_text(adapter.guid)}/1/history?from={int(time.time()) - 600}&points=600"
        with grpc.insecure_channel(self.weftd.grpc) as channel:
            collector = telemetry_client.Collector(channel)
            collector.hello(host)
            collector.welcome()
            sequence = 0

            def is_stored():
                nonlocal sequence
                sequence += 1
                collector.batch(sequence, telemetry_client.whole(time.time_ns(), [port], series, [41_000, 1_000_000, 500_000]))
                time.sleep(0.5)
                return all(len(gauge["bucket"]) >= 8 for gauge in self.weftd.client.json(path)["ports"][0]["gauges"] or [{"bucket": []}])

            wait_until(is_stored, 60, why=lambda: self.weftd.client.json(path)["ports"][0]["gauges"])
            collector.close()
        self.open_at(f"#/node/{guid_text(adapter.guid)}/port/1?last=600")
        label = f"{host} mlx5_2 port 1"
        self.do("wait", at=f".chart:has(b:text-is('Optical power (weakest lane)')):has-text('In, {label}'):has-text('-3.0 dBm')")
        self.do("wait", at=f".chart:has(b:text-is('Temperature of the module')):has-text('{label}'):has-text('41 °C')")
        self.assertEqual(0, self.do("count", at=".chart:has(b:text-is('Laser bias (highest lane)'))"), "nobody tells of it")
        # Of most of the ten minutes nothing is known.
        plot = ".chart:has(b:text-is('Temperature of the module')) [role=slider]"
        self.do("focus", at=plot)
        self.do("press", key="Home")
        self.do("wait", at=f"{plot}[aria-valuetext*='no data']")
        self.picture("port-optics")
        self.expect_accessible()
        self.open_at(f"#/host/{host}?last=600")
        self.do("wait", at="table.rows th:text-is('Least optical in')")
        self.do("wait", at="table.rows tr:has-text('mlx5_2'):has-text('-3.0 dBm'):has-text('41 °C')")
        self.assertEqual(1, self.do("count", at="table.rows td:has-text('dBm')"), "of the other adapters nothing is known")
        self.expect_clean()

    def test_an_unknown_host_is_said(self):
        self.open_at("#/host/nobody")
        self.do("wait", at="text=There is no host nobody.")
        self.assertEqual(0, self.do("count", at="table.adapters"))

    def test_a_switch_shows_all_its_ports_over_time(self):
        leaf = self.network.find("leaf-r2-p01")
        self.open_at(f"#/node/{guid_text(leaf.guid)}?last=86400", dark=True)
        self.do("wait", at="table.rows tbody tr")
        shown = self.do("count", at="table.rows tbody tr")
        self.assertGreaterEqual(shown, 8)
        # Of a day weftd saw a minute: the rest of each strip is empty.
        wide = self.do("evaluate", script="""[...document.querySelector('.strip').children].reduce((sum, each) => sum + each.width.baseVal.value, 0)
          / document.querySelector('.strip').viewBox.baseVal.width""")
        self.assertLess(wide, 0.2)
        self.do("wait", at="table.rows tr:has-text('gpu-0001 mlx5_2 port 1')")
        self.picture("switch-dark")
        self.expect_accessible()
        self.expect_clean()

    def test_on_a_phone(self):
        self.open_at(f"#/host/{HOST}", **PHONE)
        self.do("wait", at="table.rows tbody tr")
        wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
        self.assertEqual(0, wide, "the page is wider than the phone")
        self.do("evaluate", script="document.querySelector('#host').scrollIntoView()")
        self.picture("phone-dark-host")
        self.expect_accessible()
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
