# SPDX-License-Identifier: Apache-2.0
"""A switch of 600 ports with a collector on it: every port is shown, addressed and stored as itself. A port number that is cut to eight
bits would make port 44 of port 300."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import collector_testing
from collector_testing import free_address, program, wait_until
from weft_client import WeftClient

PORTS = 600


def ip(*words: str, text: str | None = None) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, input=text)


class GreatSwitch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        collector_testing.require_programs("weftd", "weft-collector", "weft-uplink", "weftctl")
        if not shutil.which("ip"):
            raise unittest.SkipTest("not installed: iproute2")
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.make_switch()
        cls.cabling = os.path.join(cls.place, "topology.dot")
        with open(cls.cabling, "w", encoding="ascii") as stream:
            stream.write("graph fabric {\n")
            for leaf in range(1, PORTS + 1):
                stream.write(f' leaf{leaf}:swp51 -- spine01:swp{leaf}\n leaf{leaf}:swp52 -- spine02:swp{leaf}\n leaf{leaf}:swp1 -- gpu{leaf}:eth2\n')
            stream.write("}\n")
        cls.http, cls.grpc = free_address(), free_address(cls.network + ".1")
        cls.client = WeftClient(cls.http)
        cls.running = []
        cls.addClassCleanup(lambda: [cls.stop(process) for process in reversed(cls.running)])
        cls.start_weftd()
        cls.running.append(cls.start(["ip", "netns", "exec", cls.namespace, program("weft-collector"), "--node-name", "spine01",
                                      "--state-dir", os.path.join(cls.place, "spine01"), "--http", "127.0.0.1:9642", "--interval", "1s",
                                      "--reading-interfaces", "^swp", "--analyzer", cls.grpc, "--analyzer-reconnect-limit", "500ms"]))
        wait_until(lambda: cls.links_up() == PORTS, why=lambda: f"{cls.links_up()} links are up\n{cls.log()}")

    @classmethod
    def make_switch(cls):
        tag = f"w{os.getpid() % 100000}"
        cls.namespace, cls.network = f"{tag}-spine", f"198.19.{os.getpid() % 250}"  # 198.18.0.0/15 is for tests (RFC 2544)
        try:
            ip("netns", "add", cls.namespace)
            cls.addClassCleanup(subprocess.run, ["ip", "netns", "del", cls.namespace], check=False, capture_output=True)
            ip("-n", cls.namespace, "-batch", "-", text="link set lo up\n" + "".join(
                f"link add swp{port} type veth peer name far{port}\nlink set swp{port} up\nlink set far{port} up\n" for port in range(1, PORTS + 1)))
            ip("link", "add", f"{tag}m", "type", "veth", "peer", "name", "mgmt0", "netns", cls.namespace)
            ip("addr", "add", f"{cls.network}.1/24", "dev", f"{tag}m")
            ip("link", "set", f"{tag}m", "up")
            ip("-n", cls.namespace, "addr", "add", f"{cls.network}.2/24", "dev", "mgmt0")
            ip("-n", cls.namespace, "link", "set", "mgmt0", "up")
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest(f"no network namespaces here: {error.stderr.strip()}") from error

    @classmethod
    def start(cls, command: list[str]) -> subprocess.Popen:
        with open(os.path.join(cls.place, "log"), "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @classmethod
    def start_weftd(cls):
        cls.weftd = cls.start([program("weftd"), "--state-dir", os.path.join(cls.place, "state"), "--http", cls.http, "--grpc", cls.grpc,
                               "--listen-socket", os.path.join(cls.place, "weftd.sock"), "--infiniband-enabled", "false", "--cabling",
                               cls.cabling, "--security-allow-plain-text", "true"])
        cls.running.append(cls.weftd)
        wait_until(lambda: cls.client.text("/healthz"), why=cls.log)

    @staticmethod
    def stop(process: subprocess.Popen):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @classmethod
    def log(cls) -> str:
        with open(os.path.join(cls.place, "log"), encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-40:])

    @classmethod
    def links_up(cls) -> int:
        fabrics = cls.client.json("/api/v1/status").get("fabrics", [])
        return int(fabrics[0].get("linksUp", 0)) if fabrics else 0

    def weftctl(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([program("weftctl"), "--server", f"unix:{self.place}/weftd.sock", *words], capture_output=True, text=True, check=False)

    def open_incidents(self) -> list[dict]:
        return self.client.json("/api/v1/incidents?state=open").get("incidents", [])

    def test_every_port_is_shown_with_its_counters(self):
        shown = self.weftctl("ports", "spine01", "--json")
        self.assertEqual(0, shown.returncode, shown.stderr)
        ports = {port["name"]: port for port in json.loads(shown.stdout)["ports"]}
        self.assertEqual({f"swp{port}" for port in range(1, PORTS + 1)}, set(ports))
        self.assertEqual(300, ports["swp300"]["port"])
        self.assertEqual("leaf300", ports["swp300"]["peer"]["node"])
        counted = set(re.findall(r'weft_port_transmit_packets_total\{node="spine01",device="(swp\d+)"', self.client.text("/metrics")))
        self.assertEqual(PORTS, len(counted))

    def test_a_plan_names_the_port_and_nobody_shuts_it(self):
        plan = self.weftctl("isolate", "spine01:swp300", "--dry-run")
        self.assertEqual(4, plan.returncode, f"not refused: {plan.stdout}{plan.stderr}")
        self.assertIn("spine01 swp300", plan.stdout)
        self.assertIn("no actuator for Ethernet switch ports: shut down", plan.stdout)
        self.assertNotIn("subnet manager", plan.stdout)
        self.assertNotRegex(plan.stdout, r"leaf44\b")
        for link, error in (("spine01:300", "ports have names"), ("spine01:swp601", "is named 'swp601'"), ("spine01:65836", "ports have names")):
            refused = self.weftctl("isolate", link, "--dry-run")
            self.assertNotEqual(0, refused.returncode, link)
            self.assertIn(error, refused.stderr)

    def test_a_port_beyond_254_that_goes_down_is_itself_after_a_restart_too(self):
        ip("-n", self.namespace, "link", "set", "far300", "down")
        wait_until(self.open_incidents, why=self.log)
        [before] = self.open_incidents()
        self.assertEqual("LINK_DOWN", before["kind"])
        self.assertIn("spine01 swp300", before["cause"]["label"])
        self.assertIn("leaf300 swp51", before["cause"]["label"])
        self.stop(self.weftd)
        self.start_weftd()
        wait_until(lambda: self.links_up() == PORTS - 1, why=self.log)
        [after] = self.open_incidents()
        self.assertEqual((before["id"], before["cause"]), (after["id"], after["cause"]))
        ip("-n", self.namespace, "link", "set", "far300", "up")
        wait_until(lambda: not self.open_incidents(), why=lambda: f"{self.open_incidents()}\n{self.log()}")


if __name__ == "__main__":
    collector_testing.main()
