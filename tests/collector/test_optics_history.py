# SPDX-License-Identifier: Apache-2.0
"""Optical power and temperature over time: a collector tells of them, weftd keeps them, and JSON and weftctl show them, with their gaps."""

import os
import subprocess
import tempfile
import time
import unittest

import collector_testing
import telemetry_client
from collector_testing import program, wait_until

HOST, PORT, SWITCH = "gpu-01", "eth2", "leaf01"
LANES = 4
TEMPERATURE = telemetry_client.series(PORT, 0, "module_temperature", gauge=True)
POWER = [telemetry_client.series(PORT, 0, "module_receive_power", gauge=True, lane=lane) for lane in range(LANES)]


class OpticsHistory(unittest.TestCase):
    def setUp(self):
        collector_testing.require_programs("weftd", "weftctl")
        place = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(place.cleanup)
        cabling = os.path.join(place.name, "topology.dot")
        with open(cabling, "w", encoding="ascii") as stream:
            stream.write(f'graph fabric {{\n "{SWITCH}":"swp1" -- "{HOST}":"{PORT}"\n}}\n')
        self.weftd = collector_testing.Weftd(place.name, ("--cabling", cabling, "--ethernet-interval", "1s", "--store-history-interval", "1s",
                                                          "--infiniband-sweep-interval", "1s"))
        self.weftd.start()
        self.addCleanup(self.weftd.end)
        self.start_readings()
        self.addCleanup(lambda: self.readings.end())

    def start_readings(self) -> None:
        self.readings = telemetry_client.StandIn(self.weftd.grpc, HOST, [telemetry_client.port(PORT, 0, netdev=PORT)],
                                                 {TEMPERATURE: 41_000, **dict.fromkeys(POWER, 500_000)})
        self.readings.start()

    def history(self, query: str = "", node: str = HOST) -> dict:
        try:
            return self.weftd.client.json(f"/api/v1/ports/{node}/history?from={int(time.time()) - 600}&points=1000{query}")
        except OSError:
            return {}

    def gauge(self, name: str) -> dict | None:
        ports = self.history().get("ports", [])
        return next((gauge for port in ports for gauge in port["gauges"] if gauge["gauge"] == name), None)

    def wait_gauge(self, name: str, wanted) -> dict:
        def found():
            gauge = self.gauge(name)
            return gauge if gauge and wanted(gauge) else None
        return wait_until(found, why=lambda: f"{name} is {self.gauge(name)}; weftd says:\n{self.weftd.log()}")

    def weftctl(self, *words: str) -> str:
        done = subprocess.run([program("weftctl"), "--server", self.weftd.grpc, *words], capture_output=True, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def test_from_the_module_to_the_terminal(self):
        steady = self.wait_gauge("module_receive_power", lambda gauge: len(gauge["bucket"]) >= 5)
        self.assertEqual("watts", steady["unit"])
        for value in steady["last"] + steady["low"] + steady["high"]:
            self.assertAlmostEqual(500e-6, value, delta=18e-6)
        # One lane fades for a moment, which is shorter than the time between two rows of the history.
        self.readings.values[POWER[2]] = 50_000
        time.sleep(1.5)
        self.readings.values[POWER[2]] = 500_000
        self.readings.values[TEMPERATURE] = 52_000
        dip = self.wait_gauge("module_receive_power", lambda gauge: min(gauge["low"]) < 60e-6)
        self.assertGreater(max(dip["high"]), 450e-6)
        warm = self.wait_gauge("module_temperature", lambda gauge: gauge["last"][-1] == 52)
        self.assertEqual((41, "degrees Celsius"), (warm["low"][0], warm["unit"]))

        # Of the other end nobody tells.
        self.assertEqual([], [port["gauges"] for port in self.history(node=SWITCH).get("ports", []) if port["gauges"]])
        asked = self.history("&counters=module_temperature")["ports"][0]
        self.assertEqual(([], ["module_temperature"]), (asked["counters"], [gauge["gauge"] for gauge in asked["gauges"]]))
        drawn = self.weftctl("history", HOST, "--last", "10m")
        self.assertRegex(drawn, r"\noptical in +\S.* -13\.\d to -3\.\d, last -3\.\d dBm\n")
        self.assertRegex(drawn, r"\ntemperature +\S.* 41\.0 to 52\.0, last 52\.0 \S+\n")
        self.assertIn("optical in", self.weftctl("history", HOST, "--last", "10m", "--counter", "optical in"))

        # A collector that is silent is a gap, and so is a weftd that is away; what was stored stays.
        self.readings.silent = True
        time.sleep(12)
        self.readings.silent = False
        buckets = self.wait_gauge("module_temperature", lambda gauge: max(
            late - early for early, late in zip(gauge["bucket"], gauge["bucket"][1:])) >= 4)["bucket"]
        self.assertGreater(len(buckets), 10)
        self.readings.end()
        self.weftd.end(9)
        self.weftd.start()
        wait_until(self.history, why=self.weftd.log)
        self.assertLess(min(self.gauge("module_receive_power")["low"]), 60e-6)
        self.start_readings()
        before = len(buckets)
        self.wait_gauge("module_temperature", lambda gauge: len(gauge["bucket"]) > before)


if __name__ == "__main__":
    collector_testing.main()
