# SPDX-License-Identifier: Apache-2.0
"""Settings that drift apart, told by the real weft-collector on made sysfs trees and judged by the real weftd: what was planted is named, and nothing else."""

import json
import os
import random
import shutil
import subprocess
import tempfile
import time

import collector_testing
import sysfs_tree
from collector_testing import program, wait_until

FIRMWARE, OTHER_FIRMWARE = "28.41.1000", "28.39.1002"


class Host:
    """A host with its tree. What no setting is (GUIDs, counters, LIDs) differs from host to host."""

    def __init__(self, place: str, name: str, number: int, adapters: int, firmware: str, mtu: str):
        self.name = name
        self.tree = os.path.join(place, name)
        dice = random.Random(number)
        self.adapters = []
        os.makedirs(os.path.join(self.tree, "class", "net"))
        sysfs_tree.write(os.path.join(self.tree, "class", "dmi", "id", "product_name"), "DGXH100")
        for i in range(adapters):
            guid = 0xB83FD203_0000_0000 + number * 16 + i
            device = sysfs_tree.add_adapter(self.tree, i, guid)
            self.adapters.append(device)
            function = os.path.dirname(os.path.dirname(device))
            for file, text in {"current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16", "max_link_speed": "32.0 GT/s PCIe",
                               "max_link_width": "16", "sriov_numvfs": "0", "vendor": "0x15b3", "device": "0x1021"}.items():
                sysfs_tree.write(os.path.join(function, file), text)
            net = os.path.join(function, "net", f"ib{i}")
            sysfs_tree.write(os.path.join(net, "ifindex"), 10 + i + dice.randrange(100) * 8)
            sysfs_tree.write(os.path.join(net, "dev_port"), "0")
            sysfs_tree.write(os.path.join(net, "mtu"), mtu)
            sysfs_tree.link(net, os.path.join(self.tree, "class", "net", f"ib{i}"))
            sysfs_tree.write(os.path.join(device, "fw_ver"), firmware)
            sysfs_tree.write(os.path.join(device, "ports", "1", "lid"), hex(dice.randrange(1, 40_000)))
            sysfs_tree.write(os.path.join(device, "ports", "1", "counters", "port_xmit_data"), dice.randrange(10**9))

    def set(self, adapter: int, **files: str) -> None:
        device = self.adapters[adapter]
        function = os.path.dirname(os.path.dirname(device))
        places = {"firmware": os.path.join(device, "fw_ver"), "mtu": os.path.join(function, "net", f"ib{adapter}", "mtu"),
                  "width": os.path.join(function, "current_link_width")}
        for name, text in files.items():
            sysfs_tree.write(places[name], text)


class ConfigDrift(collector_testing.CollectorTest):
    adapters = 0
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        collector_testing.require_programs("weftd", "weftctl")

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-drift-")
        self.addCleanup(shutil.rmtree, self.place, True)
        self.weftd = collector_testing.Weftd(self.place, ("--drift-rollout", "0s"))
        self.addCleanup(self.weftd.end)
        self.hosts: list[Host] = []
        self.collectors: dict[str, collector_testing.Collector] = {}

    def start(self) -> None:
        """All hosts and weftd, until each has told."""
        self.weftd.start()
        for host in self.hosts:
            one = collector_testing.Collector(host.tree, self.weftd.grpc, "500ms", ("--reading-rescan-interval", "1s"), host.name)
            self.addCleanup(one.remove)
            self.collectors[host.name] = one.start(wait=False)
        wait_until(lambda: self.summary().get("hosts") == len(self.hosts), 120, why=self.weftd.log)

    def drift(self) -> dict:
        return self.weftd.client.json("/api/v1/drift")

    def summary(self) -> dict:
        return (self.drift().get("summaries") or [{}])[0]

    def incidents(self) -> list[dict]:
        every = self.weftd.client.json("/api/v1/incidents?state=open").get("incidents", [])
        return [one for one in every if one["kind"] == "CONFIG_DRIFT"]

    def ctl(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([program("weftctl"), "--server", self.weftd.grpc, *arguments], capture_output=True, text=True, check=False)

    def named(self) -> dict[str, set[str]]:
        """Fact → who has another value, by what incidents say."""
        return {one["cause"]["device"].split("|")[0]: {port["label"] for port in one.get("affected", [])} for one in self.incidents()}

    def wait_named(self, expected: dict[str, set[str]]) -> None:
        wait_until(lambda: self.named() == expected, 90, why=lambda: f"{self.named()}\n{json.dumps(self.drift())[:4000]}\n{self.weftd.log()[-2000:]}")

    def test_what_is_planted_is_named_and_nothing_else(self):
        self.hosts = [Host(self.place, f"gpu-{i:04d}", i, 2, FIRMWARE, "4092") for i in range(10)]
        # The same adapters, set up otherwise on purpose.
        self.hosts += [Host(self.place, f"store-{i}", 100 + i, 2, OTHER_FIRMWARE, "2044") for i in range(5)]
        self.start()
        time.sleep(8)  # some judgements, with all of them
        self.assertEqual([], self.incidents())
        self.assertEqual([], self.drift().get("differences", []))
        self.assertGreater(self.summary()["groups"], 10)
        clean = self.ctl("drift")
        self.assertEqual(0, clean.returncode, clean.stdout + clean.stderr)

        told = self.ctl("collectors", "gpu-0003").stdout
        for text in ("firmware", FIRMWARE, "mtu", "4092", "32.0 GT/s PCIe", "board", "MT_0000000838", "host_model", "DGXH100", "sysfs"):
            self.assertIn(text, told)

        # One adapter of twenty, and the ports of four hosts of ten.
        self.hosts[3].set(1, firmware=OTHER_FIRMWARE)
        for host in self.hosts[4:8]:
            host.set(0, mtu="1500")
            host.set(1, mtu="1500")
        expected = {"firmware": {"gpu-0003 mlx5_1 port 1 (ib1)"},
                    "mtu": {f"gpu-{host:04d} mlx5_{adapter} port 1 (ib{adapter})" for host in range(4, 8) for adapter in range(2)}}
        self.wait_named(expected)
        summaries = {one["summary"] for one in self.incidents()}
        group = "board MT_0000000838 in DGXH100"
        self.assertEqual({f"1 of 20 adapters of {group}, hosts gpu-# has firmware {OTHER_FIRMWARE}, 19 have {FIRMWARE}",
                          f"8 of 20 ports of {group}, InfiniBand, hosts gpu-# have MTU 1500 bytes, 12 have 4092"}, summaries)
        self.assertEqual({"INFO"}, {one["severity"] for one in self.incidents()})
        shown = self.ctl("drift")
        self.assertEqual(1, shown.returncode, shown.stdout + shown.stderr)
        self.assertIn("DIFFERS", shown.stdout)
        self.assertIn("gpu-0003 mlx5_1 port 1 (ib1)", shown.stdout)
        only = json.loads(self.ctl("--json", "drift", "firmware").stdout)
        self.assertEqual(["firmware"], [one["fact"] for one in only["differences"]])
        self.assertEqual(2, self.ctl("drift", "no-such-setting").returncode)
        metrics = self.weftd.client.text("/metrics")
        self.assertIn('weft_config_drift{fact="firmware"} 1\n', metrics)
        self.assertIn('weft_config_drift{fact="mtu"} 8\n', metrics)
        self.assertIn('weft_config_drift{fact="pcie_width"} 0\n', metrics)

        # Who is away changes nothing, over a restart of weftd too.
        self.collectors["gpu-0003"].kill()
        self.weftd.end()
        self.weftd.start()
        wait_until(lambda: self.summary().get("hosts", 0) >= len(self.hosts) - 1, 120, why=self.weftd.log)
        time.sleep(12)
        self.assertEqual({"firmware", "mtu"}, set(self.named()))
        self.collectors["gpu-0003"].start(wait=False)
        wait_until(lambda: self.summary().get("hosts", 0) == len(self.hosts), 120, why=self.weftd.log)
        self.wait_named(expected)

        # Repaired, and over.
        self.hosts[3].set(1, firmware=FIRMWARE)
        for host in self.hosts[4:8]:
            host.set(0, mtu="4092")
            host.set(1, mtu="4092")
        self.wait_named({})
        self.assertEqual(0, self.ctl("drift").returncode)

    def test_on_few_hosts_only_what_is_plain_is_told(self):
        """A hundred adapters in four hosts of names that say nothing. In each host the last adapter is set up
        otherwise: nobody knows why, and it is in all of them."""
        self.hosts = [Host(self.place, name, i, 25, FIRMWARE, "9000") for i, name in enumerate(("anna", "bert", "carl", "dora"))]
        for host in self.hosts:
            host.set(24, mtu="1500")
        self.start()
        self.hosts[2].set(7, firmware=OTHER_FIRMWARE)  # one of a hundred
        for adapter in range(24):
            self.hosts[1].set(adapter, width="8")  # a host as a whole: who is right nobody knows
        self.wait_named({"firmware": {"carl mlx5_7 port 1 (ib7)"}})

        def states() -> dict[str, str]:
            return {one["fact"]: one["state"] for one in self.drift().get("differences", [])}

        expected = {"firmware": "DIFFERS", "mtu": "TOO_FEW", "pcie_width": "TOO_FEW"}
        wait_until(lambda: states() == expected, 60, why=lambda: f"{states()}\n{self.ctl('drift').stdout}")
        time.sleep(6)
        self.assertEqual({"firmware"}, set(self.named()))
        self.assertIn("TOO_FEW", self.ctl("drift").stdout)


if __name__ == "__main__":
    collector_testing.main()
