# SPDX-License-Identifier: Apache-2.0
"""Parts around ports, told by the real weft-collector on made sysfs trees and judged by the real weftd: what is planted is named, and nothing else."""

import json
import os
import shutil
import subprocess
import tempfile
import time

import collector_testing
import sysfs_tree
from collector_testing import program, wait_until

FULL = ("32.0 GT/s PCIe", "16")


class Host:
    """A host with a root port for each adapter."""

    def __init__(self, place: str, number: int, adapters: int):
        self.name = f"gpu-{number:04d}"
        self.tree = os.path.join(place, self.name)
        os.makedirs(os.path.join(self.tree, "class", "net"))
        sysfs_tree.write(os.path.join(self.tree, "class", "dmi", "id", "product_name"), "DGXH100")
        self.functions = []
        self.log = os.path.join(place, f"{self.name}.kmsg")
        sysfs_tree.write(self.log, "6,1,1,-;Linux version 6.1.0")
        for adapter in range(adapters):
            sysfs_tree.add_adapter(self.tree, adapter, 0xB83FD203_0000_0000 + number * 16 + adapter, bridge=f"0000:00:{adapter + 1:02x}.0")
            self.functions.append(sysfs_tree.function_of(self.tree, adapter))
            self.set_link(adapter, FULL)
            self.set_most(adapter, FULL, FULL)
            for kind in ("correctable", "nonfatal", "fatal"):
                self.set_errors(adapter, kind, 1000)
            sensor = os.path.join(self.functions[adapter], "hwmon", "hwmon1")
            sysfs_tree.write(os.path.join(sensor, "temp1_crit"), 105000)
            self.set_temperature(adapter, 60000)

    def set_errors(self, adapter: int, kind: str, count: int) -> None:
        """Of the port above: the adapter itself sees none."""
        total = {"correctable": "COR", "nonfatal": "NONFATAL", "fatal": "FATAL"}[kind]
        for function, errors in ((self.functions[adapter], 0), (os.path.dirname(self.functions[adapter]), count)):
            sysfs_tree.write(os.path.join(function, f"aer_dev_{kind}"), f"RxErr {errors}\nTOTAL_ERR_{total} {errors}")

    def set_temperature(self, adapter: int, thousandths: int) -> None:
        sysfs_tree.write(os.path.join(self.functions[adapter], "hwmon", "hwmon1", "temp1_input"), thousandths)

    def say(self, adapter: int, text: str) -> None:
        """A line of the driver in the kernel's log, now."""
        address = os.path.basename(self.functions[adapter])
        with open(self.log, "a", encoding="ascii") as stream:
            stream.write(f"3,2,{time.monotonic_ns() // 1000},-;mlx5_core {address}: {text}\n SUBSYSTEM=pci\n DEVICE=+pci:{address}\n")

    def set_link(self, adapter: int, now: tuple[str, str]) -> None:
        self._write(self.functions[adapter], "current", now)

    def set_most(self, adapter: int, below: tuple[str, str], above: tuple[str, str]) -> None:
        self._write(self.functions[adapter], "max", below)
        self._write(os.path.dirname(self.functions[adapter]), "max", above)

    @staticmethod
    def _write(function: str, which: str, rate: tuple[str, str]) -> None:
        sysfs_tree.write(os.path.join(function, f"{which}_link_speed"), rate[0])
        sysfs_tree.write(os.path.join(function, f"{which}_link_width"), rate[1])


class Parts(collector_testing.CollectorTest):
    adapters = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        collector_testing.require_programs("weftd", "weftctl")

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-parts-")
        self.addCleanup(shutil.rmtree, self.place, True)
        self.weftd = collector_testing.Weftd(self.place, ("--parts-pcie-hold", "5s", "--parts-gauge-hold", "3s", "--analyzer-telemetry-start-grace", "5s"))
        self.addCleanup(self.weftd.end)
        self.hosts = [Host(self.place, number, 2) for number in range(4)]

    def start(self) -> None:
        """All hosts and weftd, until each has told."""
        self.weftd.start()
        for host in self.hosts:
            one = collector_testing.Collector(host.tree, self.weftd.grpc, "500ms", ("--reading-rescan-interval", "1s", "--reading-kernel-log", host.log), host.name)
            self.addCleanup(one.remove)
            one.start(wait=False)
        wait_until(lambda: len(self.collectors()) == len(self.hosts), 120, why=self.weftd.log)

    def collectors(self) -> list[dict]:
        return [one for one in self.weftd.client.json("/api/v1/collectors?readings=1").get("collectors", []) if one.get("configuration")]

    def incidents(self) -> list[dict]:
        return self.weftd.client.json("/api/v1/incidents?state=open").get("incidents", [])

    def summaries(self) -> dict[str, str]:
        return {one["summary"]: one["severity"] for one in self.incidents()}

    def wait_summaries(self, expected: dict[str, str]) -> None:
        wait_until(lambda: self.summaries() == expected, 90, why=lambda: f"{json.dumps(self.incidents())[:4000]}\n{self.weftd.log()[-2000:]}")

    def named(self) -> dict[str, str]:
        return {one["cause"]["label"]: one["severity"] for one in self.incidents() if one["kind"] == "HOST_DEGRADED"}

    def wait_named(self, expected: dict[str, str]) -> None:
        wait_until(lambda: self.named() == expected, 90, why=lambda: f"{json.dumps(self.incidents())[:4000]}\n{self.weftd.log()[-2000:]}")

    def verdict(self, host: str) -> str:
        return {one["node"]: one["verdict"] for one in self.weftd.client.json("/api/v1/health").get("nodes", [])}.get(host, "")

    def ctl(self, *arguments: str) -> str:
        return subprocess.run([program("weftctl"), "--server", self.weftd.grpc, *arguments], capture_output=True, text=True, check=False).stdout

    def test_a_narrow_link_is_named_and_nothing_else(self):
        self.hosts[0].set_most(0, FULL, ("16.0 GT/s PCIe", "8"))  # a short slot
        self.hosts[0].set_link(0, ("16.0 GT/s PCIe", "8"))
        self.hosts[0].set_link(1, ("Unknown", "255"))  # cannot be read
        self.start()
        time.sleep(15)
        self.assertEqual([], self.incidents())
        self.hosts[2].set_link(1, ("32.0 GT/s PCIe", "8"))
        self.wait_named({"gpu-0002 mlx5_1 port 1": "WARNING"})
        incident = self.incidents()[0]
        self.assertEqual("Adapter of gpu-0002 mlx5_1 port 1: PCIe link 0000:11:00.0 runs at x8 of x16", incident["summary"])
        width = next(one for one in incident["evidence"] if one["signal"] == "pcie_width")
        self.assertEqual((8, 16, "lanes"), (width["value"], width["threshold"], width["unit"]))
        wait_until(lambda: self.verdict("gpu-0002") == "DEGRADED", 30, why=lambda: self.weftd.client.json("/api/v1/health"))
        self.assertEqual("HEALTHY", self.verdict("gpu-0001"))
        self.assertIn("pcie_links", self.ctl("collectors", "gpu-0002"))
        self.assertIn("a host's adapter, or its slot", self.ctl("incident", incident["id"]))
        self.assertIn("HOST_DEGRADED", self.weftd.client.text("/metrics"))
        # weftd is started again: the same incident, and no other.
        self.weftd.end()
        self.weftd.start()
        wait_until(lambda: len(self.collectors()) == len(self.hosts), 120, why=self.weftd.log)
        time.sleep(12)
        self.assertEqual([incident["id"]], [one["id"] for one in self.incidents()])
        # Nobody can read it: that repairs nothing.
        self.hosts[2].set_link(1, ("Unknown", "255"))
        time.sleep(8)
        self.assertEqual({"gpu-0002 mlx5_1 port 1": "WARNING"}, self.named())
        self.hosts[2].set_link(1, FULL)
        self.wait_named({})
        wait_until(lambda: self.verdict("gpu-0002") == "HEALTHY", 30, why=lambda: self.weftd.client.json("/api/v1/health"))

    def test_errors_heat_and_what_the_kernel_says(self):
        self.start()
        time.sleep(12)
        self.assertEqual({}, self.summaries(), "what was counted before, and nothing in the log")
        self.assertIn("kernel_fault", self.ctl("collectors", "gpu-0001"))
        self.hosts[0].set_errors(0, "correctable", 2000)  # the standard allows 3,686 in an hour
        self.hosts[1].set_errors(1, "fatal", 1001)
        self.hosts[2].set_temperature(0, 106500)
        self.hosts[3].say(1, "poll_health:471:(pid 0): device's health compromised - reached miss count")
        expected = {"Adapter of gpu-0001 mlx5_1 port 1: PCIe link fails": "WARNING",
                    "Adapter of gpu-0002 mlx5_0 port 1: adapter temperature is above its alarm limit": "WARNING",
                    "Adapter of gpu-0003 mlx5_1 port 1: firmware does not answer its driver": "WARNING"}
        self.wait_summaries(expected)
        metrics = self.weftd.client.text("/metrics")
        self.assertRegex(metrics, r'weft_port_adapter_temperature_celsius\{[^}]*node="gpu-0002"[^}]*\} 106\.5\n')
        self.hosts[2].set_temperature(0, 60000)
        self.hosts[3].say(1, "health recovery flow aborted, PCI reads still not working")
        self.wait_summaries({"Adapter of gpu-0001 mlx5_1 port 1: PCIe link fails": "WARNING",
                             "Adapter of gpu-0003 mlx5_1 port 1: driver gave it up: PCIe reads do not work": "CRITICAL"})
        self.hosts[3].say(1, "firmware version: 28.39.1002")  # it is loaded again
        self.wait_summaries({"Adapter of gpu-0001 mlx5_1 port 1: PCIe link fails": "WARNING"})


if __name__ == "__main__":
    collector_testing.main()
