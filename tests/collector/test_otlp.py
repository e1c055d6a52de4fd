# SPDX-License-Identifier: Apache-2.0
"""Two switches that push their metrics by OpenTelemetry's own exporter (npm), and a weftd with a table of their names. The link between
them is in a file of cables: OTLP tells of no neighbours."""

import json
import os
import shutil
import subprocess
import tempfile

import collector_testing
import node_packages
from collector_testing import ClassPrograms, free_address, main, program, wait_until
from weft_client import WeftClient

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "otlp")
NAMES = """
node = ["net.host.name", "host.name"]
port = ["interface.name"]
[[metrics]]
name = "interface.octets"
where = { direction = "in" }
counter = "receive_bytes"
[[metrics]]
name = "interface.octets"
where = { direction = "out" }
counter = "transmit_bytes"
[[metrics]]
name = "interface.errors"
counter = "receive_errors"
[[metrics]]
name = "interface.pause"
counter = "pfc_frames"
direction = "receive"
priority = "class"
[[metrics]]
name = "interface.status"
is = "state"
up = 1
[[metrics]]
name = "interface.speed"
is = "speed"
scale = 1e6
"""
LINK = (("leaf01", "Ethernet51"), ("spine01", "Ethernet1"))


class Switch:
    """One that pushes; what it has is told with each push()."""

    def __init__(self, modules: str, endpoint: str, name: str, port: str, **how):
        self.name, self.attributes = name, {"interface.name": port}
        self.octets, self.errors, self.up = 10**12, 5, 1
        self.process = subprocess.Popen(["node", os.path.join(FOLDER, "push.js"), modules, endpoint], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.write({"resource": {"host.name": name}, **how})

    def write(self, what: dict) -> None:
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def tell(self, *metrics: tuple[str, str, dict, float]) -> dict:
        """(name, kind, attributes, value) each; the exporter's answer."""
        self.write({"metrics": [{"name": name, "kind": kind, "attributes": {**self.attributes, **more}, "value": value} for name, kind, more, value in metrics]})
        return json.loads(self.process.stdout.readline())

    def push(self) -> dict:
        self.octets += 10**9
        return self.tell(("interface.octets", "counter", {"direction": "in"}, self.octets), ("interface.octets", "counter", {"direction": "out"}, self.octets),
                         ("interface.errors", "counter", {}, self.errors), ("interface.status", "gauge", {}, self.up), ("interface.speed", "gauge", {}, 100_000),
                         ("interface.pause", "counter", {"class": 3}, 7), ("process.memory", "gauge", {}, 1))

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class Pushed(ClassPrograms):
    @classmethod
    def setUpClass(cls):
        collector_testing.require_programs("weftd", "weftctl")
        cls.modules = node_packages.modules(FOLDER)
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.running = []
        cls.addClassCleanup(cls.end)
        cls.write("names.toml", NAMES)
        cls.write("cables.dot", "graph fabric {\n" + " -- ".join(f'"{node}":"{port}"' for node, port in LINK) + "\n}\n")
        cls.http, cls.grpc = free_address(), free_address()
        cls.client = WeftClient(cls.http)
        cls.start_weftd("--otlp-names-file", os.path.join(cls.place, "names.toml"), "--otlp-interval", "2s", "--otlp-max-nodes", "3")
        cls.switches = []
        for name, port in LINK:
            cls.switches.append(Switch(cls.modules, cls.grpc, name, port))
            cls.addClassCleanup(cls.switches[-1].end)

    @classmethod
    def start_weftd(cls, *flags: str) -> subprocess.Popen:
        started = cls.start([program("weftd"), "--state-dir", os.path.join(cls.place, "state"), "--http", cls.http, "--grpc", cls.grpc, "--listen-socket",
                             os.path.join(cls.place, "weftd.sock"), "--infiniband-enabled", "false", "--cabling", os.path.join(cls.place, "cables.dot"), *flags])
        wait_until(lambda: cls.client.text("/healthz"), why=cls.log)
        return started

    @classmethod
    def write(cls, name: str, text: str) -> str:
        path = os.path.join(cls.place, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def setUp(self):
        for switch in self.switches:
            switch.up = 1
        wait_until(lambda: self.push() and not self.open_incidents() and self.link_is_up(), 60, why=self.state)

    def state(self) -> str:
        return f"{self.open_incidents()} {self.client.json('/api/v1/links')} {self.client.json('/api/v1/status')}\n{self.log()}"

    def push(self) -> bool:
        for switch in self.switches:
            self.assertEqual({"error": None, "told": []}, switch.push())
        return True

    def open_incidents(self) -> list[str]:
        """Of the two switches; others of these tests come and go."""
        found = [f"{one['kind']} {one['cause']['label']}" for one in self.client.json("/api/v1/incidents?state=open").get("incidents", [])]
        return [each for each in found if any(node in each for node, _ in LINK)]

    def link_is_up(self) -> bool:
        links = self.client.json("/api/v1/links").get("links", [])
        return len(links) == 1 and links[0]["up"]

    def port(self, node: str) -> dict:
        [found] = self.client.json(f"/api/v1/nodes/{node}")["nodes"]
        return next((port for port in found["ports"] if port["name"] == dict(LINK)[node]), {})

    def counters(self, node: str) -> dict[str, int]:
        return {f"{one['name']}{one.get('priority', '')}": int(one["value"]) for one in self.port(node).get("counters", [])}

    def metric(self, name: str) -> float:
        return next((float(line.rsplit(" ", 1)[1]) for line in self.client.text("/metrics").splitlines() if line.startswith(name + " ")), 0.0)

    def test_what_is_pushed_is_what_the_port_shows(self):
        leaf = self.switches[0]
        self.push()
        wait_until(lambda: self.counters("leaf01").get("receive_bytes") == leaf.octets, 30, why=lambda: f"{self.counters('leaf01')} {self.state()}")
        counters = self.counters("leaf01")
        self.assertEqual(5, counters["receive_errors"], counters)
        self.assertEqual(leaf.octets, counters["transmit_bytes"], counters)
        self.assertEqual("ACTIVE", self.port("leaf01")["state"].upper())
        text = self.client.text("/metrics")
        self.assertRegex(text, r'weft_port_pfc_frames_total\{[^}]*node="leaf01"[^}]*priority="3"[^}]*\} 7\n')
        self.assertGreater(self.metric('weft_otlp_points_total{result="unknown"}'), 0, "process.memory")
        self.assertGreaterEqual(self.metric("weft_otlp_switches"), 2)
        listed = subprocess.run([program("weftctl"), "--server", self.grpc, "collectors"], capture_output=True, text=True, timeout=60, check=False).stdout
        self.assertIn("OTLP", listed)

    def test_a_link_whose_switches_say_down_is_named_and_comes_back(self):
        for switch in self.switches:
            switch.up = 2  # ifOperStatus: down
        wait_until(lambda: self.push() and self.open_incidents(), 30, why=self.state)
        [incident] = self.open_incidents()
        self.assertTrue(incident.startswith("LINK_DOWN") and "leaf01" in incident and "spine01" in incident, incident)

    def test_increments_are_added_up(self):
        delta = Switch(self.modules, self.grpc, "leaf01", "Ethernet52", temporality="delta")
        self.addCleanup(delta.end)
        for octets in (1_000, 2_500, 4_000):
            self.assertIsNone(delta.tell(("interface.octets", "counter", {"direction": "in"}, octets))["error"])

        def found():
            [node] = self.client.json("/api/v1/nodes/leaf01")["nodes"]
            return {one["name"]: int(one["value"]) for port in node["ports"] if port["name"] == "Ethernet52" for one in port.get("counters", [])}
        text = wait_until(lambda: "Ethernet52" in (text := self.client.text("/metrics")) and text, 30, why=self.state)
        self.assertRegex(text, r'weft_port_receive_bytes_total\{[^}]*device="Ethernet52"[^}]*\} 4000\n', found)

    def test_what_cannot_be_is_rejected_and_harms_nothing(self):
        odd = Switch(self.modules, self.grpc, "leaf01", "Ethernet51")
        self.addCleanup(odd.end)
        answer = odd.tell(("interface.speed", "gauge", {}, -5), ("interface.errors", "gauge", {}, 6))
        self.assertIn("interface.speed of leaf01 has a value that cannot be", json.dumps(answer))
        nameless = Switch(self.modules, self.grpc, "", "Ethernet51")
        self.addCleanup(nameless.end)
        self.assertIn("no attribute of the resource names the switch: net.host.name, host.name", json.dumps(nameless.push()))
        for number in range(3):
            other = Switch(self.modules, self.grpc, f"other{number}", "Ethernet1")
            self.addCleanup(other.end)
            answer = json.dumps(other.push())
        self.assertIn("other2 is one switch too many: otlp.max_nodes", answer)
        self.push()

    def test_a_switch_that_pushes_no_more_is_not_heard_any_more(self):
        third = Switch(self.modules, self.grpc, "leaf09", "Ethernet1")
        self.addCleanup(third.end)
        third.push()
        collector = lambda: {one["host"]: one["state"] for one in self.client.json("/api/v1/collectors")["collectors"]}.get("leaf09")  # noqa: E731
        wait_until(lambda: collector() == "CONNECTED", 30, why=self.state)
        wait_until(lambda: self.push() and collector() == "DISCONNECTED", 60, why=self.state)
        self.assertEqual([], self.open_incidents())

    def test_a_bad_table_is_named_with_its_line(self):
        for text, said in (("node = 5\n", "line 1: node must be a list of 1 to 16 texts"), (NAMES.replace('"receive_errors"', '"errors_of_mine"'), "there is no counter 'errors_of_mine'"),
                           (NAMES.replace('direction = "receive"\n', ""), 'pfc_frames needs direction = "transmit" or "receive"'), (NAMES + "[[metrics]]\nname = 'x'\n", "either counter or is must be there"),
                           (NAMES.replace("scale", "scales"), "unknown key scales; there are name, where, counter"), ("node = [\n", "line 1: ")):
            path = self.write("bad.toml", text)
            done = subprocess.run([program("weftd"), "--check-config", "--otlp-names-file", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(0, done.returncode, text)
            self.assertIn(f"{path}: ", done.stderr + done.stdout)
            self.assertIn(said, done.stderr + done.stdout)


class NobodyMayPush(ClassPrograms):
    def test_it_is_off_unless_a_table_is_named(self):
        modules = node_packages.modules(FOLDER)
        type(self).place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.place, True)
        type(self).running = []
        self.addCleanup(self.end)
        http, grpc = free_address(), free_address()
        self.start([program("weftd"), "--state-dir", os.path.join(self.place, "state"), "--http", http, "--grpc", grpc, "--listen-socket", os.path.join(self.place, "weftd.sock"),
                    "--infiniband-enabled", "false"])
        wait_until(lambda: WeftClient(http).text("/healthz"), why=self.log)
        switch = Switch(modules, grpc, "leaf01", "Ethernet51")
        self.addCleanup(switch.end)
        self.assertIn("weftd takes no pushed metrics: it has no otlp.names_file", json.dumps(switch.push()))


if __name__ == "__main__":
    main()
