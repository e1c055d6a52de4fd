# SPDX-License-Identifier: Apache-2.0
"""What the tests of switches that are read by gNMI share: stand-ins for switches, and a weftd that reads them."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

import collector_testing
from collector_testing import free_address, program, wait_until
from weft_client import WeftClient

try:
    import gnmi_switches
except ImportError:  # python3-grpcio, or protoc
    gnmi_switches = None

PLAIN = "tls=off"


class GnmiTest(collector_testing.ClassPrograms):
    """Switches as `switches` and `cables` say, and one weftd that reads them with `interval`."""

    switches = ["leaf01", "leaf02", "spine01", "spine02"]
    cables = [("leaf01", "Ethernet1", "gpu-01", "eth1"), ("leaf02", "Ethernet1", "gpu-02", "eth1"),
              ("leaf01", "Ethernet51", "spine01", "Ethernet1"), ("leaf01", "Ethernet52", "spine02", "Ethernet1"),
              ("leaf02", "Ethernet51", "spine01", "Ethernet2"), ("leaf02", "Ethernet52", "spine02", "Ethernet2")]
    interval = "500ms"
    flags: list[str] = []
    words = PLAIN  # behind each target

    @classmethod
    def setUpClass(cls):
        if cls is GnmiTest:
            raise unittest.SkipTest("a base")
        if gnmi_switches is None:
            raise unittest.SkipTest("not installed: python3-grpcio, protobuf-compiler")
        collector_testing.require_programs("weftd", "weft-switches", "weftctl")
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.fabric = gnmi_switches.SwitchFabric(cls.cables, cls.switches, [free_address() for _ in cls.switches])
        for switch in cls.fabric.switches.values():
            cls.addClassCleanup(switch.stop)
        cls.prepare()
        cls.running: list[subprocess.Popen] = []
        cls.addClassCleanup(cls.end)
        cls.ends_traffic = threading.Event()
        traffic = threading.Thread(target=cls._carry, daemon=True)
        cls.addClassCleanup(traffic.join)
        cls.addClassCleanup(cls.ends_traffic.set)
        traffic.start()
        cls.http, cls.grpc = free_address(), free_address()
        cls.client = WeftClient(cls.http)
        cls.start_weftd()

    @classmethod
    def prepare(cls) -> None:
        """Starts the switches."""
        for switch in cls.fabric.switches.values():
            switch.start()

    @classmethod
    def _carry(cls) -> None:
        while not cls.ends_traffic.wait(0.25):
            cls.fabric.carry()

    @classmethod
    def targets(cls) -> list[str]:
        return [f"{switch.name} {switch.address} {cls.words}" for switch in cls.fabric.switches.values()]

    @classmethod
    def start_weftd(cls) -> None:
        flags = ["--gnmi-targets", ",".join(cls.targets())] if cls.targets() else []
        cls.weftd = cls.start([program("weftd"), "--state-dir", os.path.join(cls.place, "state"), "--http", cls.http, "--grpc", cls.grpc,
                               "--listen-socket", os.path.join(cls.place, "weftd.sock"), "--infiniband-enabled", "false",
                               "--ethernet-discovery", "true", "--gnmi-sample-interval", cls.interval, "--gnmi-reconnect-limit", "1s", *flags,
                               *cls.flags])
        wait_until(lambda: cls.client.text("/healthz"), why=cls.log)

    @classmethod
    def stop_weftd(cls) -> None:
        cls.weftd.send_signal(signal.SIGTERM)
        cls.weftd.wait(20)

    @classmethod
    def reader(cls) -> int:
        """The process id of weftd's weft-switches; 0: it has none now."""
        with open(f"/proc/{cls.weftd.pid}/task/{cls.weftd.pid}/children", encoding="ascii") as stream:
            children = stream.read().split()
        return int(children[0]) if children else 0

    @classmethod
    def status(cls) -> dict[str, dict]:
        """By switch."""
        return {one["name"]: one for one in cls.client.json("/api/v1/status").get("switchTargets", [])}

    @classmethod
    def states(cls) -> dict[str, str]:
        return {name: one.get("state", "") for name, one in cls.status().items()}

    @classmethod
    def all_read(cls) -> bool:
        return cls.states() == dict.fromkeys(cls.switches, "READING")

    def reason(self, name: str) -> str:
        return self.status().get(name, {}).get("reason", "")

    def links(self) -> dict[frozenset[str], dict]:
        """By their ends: "leaf01 Ethernet1", "gpu-01 eth1"."""
        def label(end: dict) -> str:
            return end["node"] if end["node"].endswith(f" {end['name']}") else f"{end['node']} {end['name']}"
        return {frozenset((label(link["a"]), label(link["b"]))): link for link in self.client.json("/api/v1/links").get("links", [])}

    def planned(self) -> set[frozenset[str]]:
        return {frozenset((f"{a} {p}", f"{b} {q}")) for a, p, b, q in self.cables}

    def found(self) -> dict:
        fabrics = self.client.json("/api/v1/status").get("fabrics", [])
        return fabrics[0] if fabrics else {}

    def open_incidents(self) -> list[str]:
        return [f"{one['kind']} {one['cause']['label']}" for one in self.client.json("/api/v1/incidents?state=open").get("incidents", [])]

    def port(self, node: str, name: str) -> dict:
        [found] = self.client.json(f"/api/v1/nodes/{node}")["nodes"]
        return next((port for port in found["ports"] if port["name"] == name), {})

    def counters(self, node: str, name: str) -> dict[str, int]:
        return {one["name"]: int(one.get("value", 0)) for one in self.port(node, name).get("counters", [])}

    def weftctl(self, *words: str, exit_code: int | None = 0) -> str:
        done = subprocess.run([program("weftctl"), "--server", self.grpc, *words], capture_output=True, text=True, check=False)
        if exit_code is not None:
            self.assertEqual(exit_code, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def metric(self, name: str) -> float | None:
        for line in self.client.text("/metrics").splitlines():
            if line.startswith(name + " "):
                return float(line.rpartition(" ")[2])
        return None

    def state(self) -> str:
        return f"{self.states()}\n{self.found()}\n{self.open_incidents()}\n{sorted(map(sorted, self.links()))}\n{self.log()}"
