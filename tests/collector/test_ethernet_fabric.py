# SPDX-License-Identifier: Apache-2.0
"""A leaf-spine fabric of network namespaces, collectors in its hosts and on one leaf, and one weftd that knows its cables."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

import collector_testing
from collector_testing import free_address, program, wait_until
from weft_client import WeftClient

HOSTS = ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]
CABLES = [("leaf01", "swp1", "gpu-01", "eth2"), ("leaf01", "swp2", "gpu-02", "eth2"),
          ("leaf02", "swp1", "gpu-03", "eth2"), ("leaf02", "swp2", "gpu-04", "eth2"),
          ("leaf01", "swp51", "spine01", "swp1"), ("leaf01", "swp52", "spine02", "swp1"),
          ("leaf02", "swp51", "spine01", "swp2"), ("leaf02", "swp52", "spine02", "swp2")]
READERS = [*HOSTS, "leaf01"]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Namespaces:
    """One network namespace for each node, veth pairs for the cables, and a bridge to weftd beside it: the management network."""

    def __init__(self):
        self.tag = f"w{os.getpid() % 100000}"
        self.nodes = sorted({node for a, _, b, _ in CABLES for node in (a, b)})
        self.bridge = f"{self.tag}br"
        # 198.18.0.0/15 is set apart for tests (RFC 2544).
        self.network = f"198.18.{os.getpid() % 250}"
        self.address = f"{self.network}.1"

    def name(self, node: str) -> str:
        return f"{self.tag}-{node}"

    def make(self) -> None:
        for node in self.nodes:
            ip("netns", "add", self.name(node))
            ip("-n", self.name(node), "link", "set", "lo", "up")
        for a, a_port, b, b_port in CABLES:
            ip("link", "add", a_port, "netns", self.name(a), "type", "veth", "peer", "name", b_port, "netns", self.name(b))
            for node, port in ((a, a_port), (b, b_port)):
                ip("-n", self.name(node), "link", "set", port, "up")
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{self.address}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        for place, node in enumerate(READERS):
            near = f"{self.tag}m{place}"
            ip("link", "add", near, "type", "veth", "peer", "name", "mgmt0", "netns", self.name(node))
            ip("link", "set", near, "master", self.bridge, "up")
            ip("-n", self.name(node), "addr", "add", f"{self.network}.{10 + place}/24", "dev", "mgmt0")
            ip("-n", self.name(node), "link", "set", "mgmt0", "up")

    def remove(self) -> None:
        for node in self.nodes:
            subprocess.run(["ip", "netns", "del", self.name(node)], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.bridge], check=False, capture_output=True)

    def set_link(self, node: str, port: str, state: str) -> None:
        ip("-n", self.name(node), "link", "set", port, state)


class EthernetFabric(collector_testing.ClassPrograms):
    @classmethod
    def setUpClass(cls):
        collector_testing.require_programs("weftd", "weft-collector", "weft-uplink", "weftctl")
        if not shutil.which("ip"):
            raise unittest.SkipTest("not installed: iproute2")
        cls.net = Namespaces()
        cls.addClassCleanup(cls.net.remove)
        try:
            cls.net.make()
        except subprocess.CalledProcessError as error:
            raise unittest.SkipTest(f"no network namespaces here: {error.stderr.strip()}") from error
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.running = []
        cls.addClassCleanup(cls.end)
        cabling = os.path.join(cls.place, "topology.dot")
        with open(cabling, "w", encoding="ascii") as stream:
            stream.write("graph fabric {\n" + "".join(f'  "{a}":"{p}" -- "{b}":"{q}"\n' for a, p, b, q in CABLES) + "}\n")
        cls.http, cls.grpc = free_address(), free_address(cls.net.address)
        cls.client = WeftClient(cls.http)
        cls.start([program("weftd"), "--state-dir", os.path.join(cls.place, "state"), "--http", cls.http, "--grpc", cls.grpc,
                   "--listen-socket", os.path.join(cls.place, "weftd.sock"), "--infiniband-enabled", "false", "--cabling", cabling, "--security-allow-plain-text", "true"])
        wait_until(lambda: cls.client.text("/healthz"), why=cls.log)
        for node in READERS:
            cls.start(["ip", "netns", "exec", cls.net.name(node), program("weft-collector"), "--node-name", node,
                       "--state-dir", os.path.join(cls.place, node), "--http", "127.0.0.1:9642", "--interval", "500ms",
                       "--reading-interfaces", "^(eth2|swp)", "--analyzer", cls.grpc, "--analyzer-reconnect-limit", "500ms"])
        wait_until(lambda: cls.active() == 4 + 2, why=lambda: f"{cls.status()}\n{cls.log()}")

    @classmethod
    def status(cls) -> dict:
        return cls.client.json("/api/v1/status")

    @classmethod
    def active(cls) -> int:
        fabrics = cls.status().get("fabrics", [])
        return int(fabrics[0].get("linksUp", 0)) if fabrics else 0

    def weftctl(self, *words: str) -> str:
        done = subprocess.run([program("weftctl"), "--server", self.grpc, *words], capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def open_incidents(self) -> list[dict]:
        return self.client.json("/api/v1/incidents?state=open").get("incidents", [])

    def test_the_fabric_is_shown_with_its_tiers(self):
        [fabric] = self.status()["fabrics"]
        self.assertEqual(("ethernet", True), (fabric["name"], fabric["watching"]))
        self.assertEqual("monitoring 4 switches, 4 interfaces", fabric["status"])
        self.assertTrue(self.client.ready())
        nodes = {node["name"]: node for node in self.client.json("/api/v1/nodes")["nodes"]}
        self.assertEqual({"leaf01", "leaf02", "spine01", "spine02", *(f"{host} eth2" for host in HOSTS)}, set(nodes))
        self.assertEqual({"leaf01": 1, "leaf02": 1, "spine01": 2, "spine02": 2},
                         {name: node.get("tier") for name, node in nodes.items() if node["type"] == "SWITCH"})
        shown = self.weftctl("ports", "leaf01") + self.weftctl("ports", "gpu-03")
        self.assertIn("ACTIVE", shown)
        self.assertIn("ethernet", self.weftctl("status"))

    def one_incident(self, node: str, port: str, ends: tuple[str, str]) -> None:
        self.assertEqual([], self.open_incidents())
        self.net.set_link(node, port, "down")
        wait_until(self.open_incidents, why=self.log)
        time.sleep(2)  # in which a second incident of the same cause would open
        [incident] = self.open_incidents()
        self.assertEqual("LINK_DOWN", incident["kind"])
        for end in ends:
            self.assertIn(end, incident["cause"]["label"])
        self.assertIn("LINK_DOWN", self.weftctl("incidents"))
        self.net.set_link(node, port, "up")
        wait_until(lambda: not self.open_incidents(), why=lambda: f"{self.open_incidents()}\n{self.log()}")

    def test_a_link_that_goes_down_is_one_incident_with_both_ends_and_clears(self):
        # The leaf that nobody reads: what is seen is the host's carrier.
        self.one_incident("leaf02", "swp1", ("leaf02 swp1", "gpu-03 eth2"))

    def test_reports_of_both_ends_are_one_incident(self):
        self.one_incident("leaf01", "swp2", ("leaf01 swp2", "gpu-02 eth2"))


class BadCabling(unittest.TestCase):
    def start_with(self, text: str | None) -> str:
        with tempfile.TemporaryDirectory(prefix="weft-test-") as place:
            path = os.path.join(place, "topology.dot")
            if text is not None:
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
            done = subprocess.run([program("weftd"), "--state-dir", os.path.join(place, "state"), "--http", free_address(), "--grpc",
                                   free_address(), "--listen-socket", os.path.join(place, "weftd.sock"), "--infiniband-enabled", "false",
                                   "--cabling", path], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertNotEqual(0, done.returncode)
            return done.stderr + done.stdout

    def test_a_wrong_file_ends_the_start_with_its_line(self):
        self.assertIn("topology.dot: line 2: syntax error", self.start_with('graph G {\n "a" -- -- "b"\n}\n'))
        self.assertIn('line 3: "leaf":"swp1" already has a cable',
                      self.start_with('graph G {\n leaf:swp1 -- a:eth0\n leaf:swp1 -- b:eth0\n}\n'))
        self.assertRegex(self.start_with(None), r"cannot read \S+/topology.dot: No such file or directory")
        many = "".join(f' leaf:swp{i} -- host{i}:eth0\n' for i in range(1, 65537))
        self.assertIn('switch "leaf" has cables at 65536 ports; 65535 is the maximum', self.start_with("graph G {\n" + many + "}\n"))


if __name__ == "__main__":
    collector_testing.main()
