# SPDX-License-Identifier: Apache-2.0
"""Acceptance of an Ethernet fabric whose nodes are told of by played collectors: a hot module, and code words beyond correction, fail with port and limit."""

import json
import os
import subprocess
import tempfile
import unittest

import collector_testing
import telemetry_client
from collector_testing import program, wait_until

LEAF = "leaf01"
HOSTS = [f"gpu-{number:02d}" for number in range(1, 6)]
CABLES = [(f"swp{number}", host, "eth2") for number, host in enumerate(HOSTS, 1)]
COUNTERS = ("crc_errors", "physical_symbol_errors", "fec_uncorrectable_blocks", "transmit_bytes", "receive_bytes")
LIMIT = "1e-10"  # 100 Gb/s show it in a third of a second, where there is no error


def series(port: str, name: str) -> bytes:
    return telemetry_client.series(port, 0, name, gauge=name == "module_temperature")


class Acceptance(unittest.TestCase):
    def setUp(self):
        collector_testing.require_programs("weftd", "weftctl")
        place = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.addCleanup(place.cleanup)
        cabling = os.path.join(place.name, "topology.dot")
        with open(cabling, "w", encoding="ascii") as stream:
            stream.write("graph fabric {\n" + "".join(f' "{LEAF}":"{near}" -- "{host}":"{far}"\n' for near, host, far in CABLES) + "}\n")
        self.weftd = collector_testing.Weftd(place.name, ("--cabling", cabling, "--ethernet-interval", "500ms"))
        self.weftd.start()
        self.addCleanup(self.weftd.end)
        self.told = {LEAF: self.play(LEAF, [near for near, _, _ in CABLES])} | {host: self.play(host, ["eth2"]) for host in HOSTS}
        wait_until(lambda: self.links_up() == len(CABLES), 60, why=self.weftd.log)

    def play(self, node: str, ports: list[str]) -> telemetry_client.StandIn:
        values = {series(port, name): 0 for port in ports for name in COUNTERS} | {series(port, "module_temperature"): 45_000 for port in ports}
        one = telemetry_client.StandIn(self.weftd.grpc, node, [telemetry_client.port(port, 0, netdev=port) for port in ports], values)
        one.start()
        self.addCleanup(one.end)
        return one

    def links_up(self) -> int:
        return int((self.weftd.client.json("/api/v1/status").get("fabrics") or [{}])[0].get("linksUp", 0))

    def weftctl(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([program("weftctl"), "--server", f"unix:{self.weftd.place}/weftd.sock", *words], capture_output=True, text=True, timeout=90, check=False)

    def start(self, *words: str) -> str:
        """Its id."""
        done = self.weftctl("--json", "accept", "--ber-limit", LIMIT, *words)
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout)["id"]

    def get(self, run: str) -> dict:
        return self.weftd.client.json(f"/api/v1/acceptances/{run}")

    def over(self, run: str) -> dict:
        wait_until(lambda: self.get(run).get("ended"), 60, why=lambda: f"{json.dumps(self.get(run))[:3000]}\n{self.weftd.log()}")
        return self.get(run)

    def failed(self, run: dict, kind: str) -> dict[str, str]:
        check = next(one for one in run["report"]["checks"] if one["kind"] == kind)
        self.assertTrue(check["limit"] and check["source"], check)
        return {port["port"]: port["told"] for port in check.get("ports", []) if port["verdict"] == "FAIL"}

    def test_a_hot_module_and_lost_code_words_are_named(self):
        clean = self.over(self.start("--for", "4s"))
        self.assertEqual("PASS", clean["verdict"], json.dumps(clean)[:4000])
        self.assertEqual("PASS", next(one for one in clean["report"]["checks"] if one["kind"] == "TEMPERATURE")["verdict"])

        run, good = self.start("--for", "6s"), self.start("--hosts", f"{HOSTS[0]},{HOSTS[3]}", "--for", "6s")
        wait_until(lambda: all(self.get(one).get("report", {}).get("watchedSince") for one in (run, good)), why=self.weftd.log)
        self.told[HOSTS[1]].values[series("eth2", "fec_uncorrectable_blocks")] = 60_000
        self.told[HOSTS[2]].values[series("eth2", "module_temperature")] = 76_500
        self.told[LEAF].values[series("swp5", "module_temperature")] = 70_001
        told = self.over(run)
        self.assertEqual("FAIL", told["verdict"])
        hot = self.failed(told, "TEMPERATURE")
        self.assertEqual({f"{HOSTS[2]} eth2", f"{LEAF} swp5"}, set(hot))
        self.assertIn("its module has 76.5 degrees Celsius", hot[f"{HOSTS[2]} eth2"])
        lost = self.failed(told, "BIT_ERRORS")
        self.assertEqual({f"{HOSTS[1]} eth2"}, set(lost))
        self.assertIn("60,000 errors in ", lost[f"{HOSTS[1]} eth2"])
        verdicts = {host["name"]: host["verdict"] for host in told["report"]["hosts"]}
        self.assertEqual({HOSTS[0]: "PASS", HOSTS[1]: "FAIL", HOSTS[2]: "FAIL", HOSTS[3]: "PASS"}, {host: verdicts[host] for host in HOSTS[:4]})
        self.assertEqual("PASS", self.over(good)["verdict"])
        shown = self.weftctl("accept", "show", run).stdout
        self.assertIn("modules at 70 degrees Celsius or less", shown)
        self.assertIn(f"{HOSTS[2]} eth2: its module has 76.5 degrees Celsius", shown)


if __name__ == "__main__":
    collector_testing.main()
