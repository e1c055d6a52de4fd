# SPDX-License-Identifier: Apache-2.0
"""Parts around a port under a real kernel: the limits of a module beside what ethtool prints of the same memory, a module that gets too hot, and
what a driver says in the kernel's log. Then nothing of it: no incident."""

import re
import time

import guest_programs
import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest, wait_until
from machine import Refused
from test_scripted_nic import QSFP28, words

# SFF-8636, page 03h: high alarm, low alarm, high warning, low warning of temperature, laser bias (2 uA) and transmit power (0.1 uW).
LIMITS = {(3, 128): words(75 * 256, 0xFB00, 70 * 256 + 128, 0), (3, 184): words(40000, 1000, 37500, 1500), (3, 192): words(31623, 316, 19953, 501)}
COMPROMISED = "poll_health:471:(pid 0): device's health compromised - reached miss count"


class Parts(CollectorTest):
    programs = ("weftd", "weft-collector", "weft-uplink", "weftctl")
    rights = guest_programs.WITH_NET_ADMIN
    configuration = """
[analyzer]
address = "127.0.0.1:9641"
[reading]
interval = "500ms"
module_interval = "1s"
rescan_interval = "1s"
"""

    @classmethod
    def set_up_guest(cls):
        cls.nic = stage.ScriptedNic(cls.guest, stage.MLX5)
        for (page, offset), octets in {**LIMITS, **QSFP28}.items():
            cls.nic.set_eeprom(page, offset, octets)
        cls.guest.get("sysctl -q -w kernel.dmesg_restrict=1")
        cls.weftd = guest_programs.Weftd(cls.guest, """[analyzer]
telemetry_start_grace = "2s"
[parts]
pcie_hold = "1s"
gauge_hold = "3s"
""")
        cls.weftd.start()
        wait_until(cls.weftd.is_ready, why=cls.weftd.log)
        super().set_up_guest()

    def facts(self) -> dict[str, str]:
        return self.weftd.facts(NODE).get("mlx5_0", {})

    def open(self) -> list[dict]:
        try:
            return [one for one in self.weftd.json("/api/v1/incidents?state=open").get("incidents", []) if one["kind"].endswith("_DEGRADED")]
        except Refused:
            return []

    def wait_open(self, summaries: set[str]) -> list[dict]:
        def found():
            incidents = self.open()
            return incidents or [True] if {one["summary"] for one in incidents} == summaries else None

        return wait_until(found, why=lambda: f"{self.open()}\n{self.facts()}\n{self.weftd.log()}\n{self.collector.log()}")

    def thresholds(self, name: str) -> list[float]:
        """Low alarm, low warning, high warning and high alarm as ethtool prints them."""
        text = self.guest.get("ethtool -m eth0")
        found = [re.search(rf"{name} {which} threshold\s*: (-?[0-9.]+)", text) for which in ("low alarm", "low warning", "high warning", "high alarm")]
        self.assertNotIn(None, found, text)
        return [float(match[1]) for match in found]

    def test_1_limits_are_those_that_ethtool_prints(self):
        facts = wait_until(lambda: (told := self.facts()).get("module_temperature_limits") and told, why=lambda: f"{self.facts()}\n{self.collector.log()}")
        for fact, name in {"module_temperature_limits": "Module temperature", "module_bias_limits": "Laser bias current",
                           "module_transmit_power_limits": "Laser output power"}.items():
            printed = self.thresholds(name)
            told = [float(word) for word in facts[fact].split()]
            for one, other in zip(told, printed, strict=True):
                self.assertAlmostEqual(one, other, delta=0.006, msg=f"{fact}: told {told}, ethtool prints {printed}")
        # The adapter is no PCIe device, and may not read the log: both are absent, and nothing is wrong.
        self.assertNotIn("pcie_links", facts)
        self.assertNotIn("kernel_fault", facts)
        time.sleep(8)
        self.assertEqual([], self.open())

    def test_2_a_hot_module_is_told(self):
        self.nic.set_eeprom(0, 22, words(76 * 256))
        incident = self.wait_open({f"Module at {NODE} mlx5_0 port 1 (eth0): module temperature is above its alarm limit"})[0]
        self.assertEqual(("MODULE_DEGRADED", "WARNING"), (incident["kind"], incident["severity"]))
        evidence = next(one for one in incident["evidence"] if one["signal"] == "module_temperature")
        self.assertAlmostEqual(self.module_readings("eth0")["Module temperature"][0], evidence["value"], delta=0.01)
        self.assertEqual(75, evidence["threshold"])
        self.nic.set_eeprom(0, 22, words(0x2A80))
        self.wait_open(set())

    def test_3_what_a_driver_says(self):
        self.collector.stop()
        self.collector.start(guest_programs.WITH_SYSLOG)
        wait_until(lambda: self.facts().get("kernel_fault") == "none", why=lambda: f"{self.facts()}\n{self.collector.log()}")
        # Programs may write into the log, too: that is nobody's word.
        self.guest.get(f"echo \"mlx5_core $(basename $(readlink /sys/class/net/eth0/device)): {COMPROMISED}\" >/dev/kmsg")
        time.sleep(5)
        self.assertEqual("none", self.facts().get("kernel_fault"))
        self.nic.say(COMPROMISED)
        incident = self.wait_open({f"Adapter of {NODE} mlx5_0 port 1 (eth0): firmware does not answer its driver"})[0]
        self.assertEqual(("HOST_DEGRADED", "WARNING"), (incident["kind"], incident["severity"]))
        line = self.guest.get("dmesg | grep 'health compromised' | tail -n 1").split("] ", 1)[1]
        self.assertIn(line[:60], self.facts()["kernel_fault"])
        self.nic.say("health recovery flow aborted, PCI reads still not working")
        incident = self.wait_open({f"Adapter of {NODE} mlx5_0 port 1 (eth0): driver gave it up: PCIe reads do not work"})[0]
        self.assertEqual("CRITICAL", incident["severity"])
        # The driver is loaded again, as it says.
        self.nic.say("firmware version: 28.39.1002")
        self.wait_open(set())


if __name__ == "__main__":
    kernel_testing.main()
