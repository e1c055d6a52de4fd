# SPDX-License-Identifier: Apache-2.0
"""The command line as people and scripts use it: tables, --json, exit codes."""

import signal
import subprocess

import weft_testing
from weft_testing import free_address, guid_text, program, weftctl, weftctl_json


class Weftctl(weft_testing.SubnetTest):
    def test_status(self):
        done = weftctl(self.weftd, "status")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        shown = weftctl_json(self.weftd, "status")
        self.assertEqual(len(self.network.switches), shown["fabrics"][0]["switches"])

    def test_lists_are_complete(self):
        self.assertEqual({guid_text(node.guid) for node in self.network.nodes.values()},
                         {node["guid"] for node in weftctl_json(self.weftd, "nodes")["nodes"]})
        self.assertEqual(self.network.port_entries(), len(weftctl_json(self.weftd, "ports")["ports"]))
        self.assertEqual(self.network.links(), len(weftctl_json(self.weftd, "links")["links"]))
        self.assertEqual(16, len(weftctl_json(self.weftd, "links", "--contains", "LEAF-r0-p01")["links"]))
        self.assertEqual("gpu-0002 mlx5_0", weftctl_json(self.weftd, "links", "--contains", "leaf-r0-p01:2")["links"][0]["a"]["node"])
        self.assertEqual('No links contain "leaf-r0-p01:99".\n', weftctl(self.weftd, "links", "--contains", "leaf-r0-p01:99").stdout)
        self.assertIn("more than 16 words", weftctl(self.weftd, "links", "--contains", "a " * 17).stderr)
        ports = weftctl_json(self.weftd, "ports", "leaf-r0-p01")["ports"]
        self.assertEqual(list(range(17)), [port["port"] for port in ports])
        for verb in (("nodes",), ("ports", "leaf-r0-p01"), ("links",), ("topology",), ("incidents",), ("incidents", "--all"),
                     ("plans",), ("plans", "--all"), ("plans", "--ids")):
            with self.subTest(verb):
                done = weftctl(self.weftd, *verb)
                self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("leaf-r0-p01", weftctl(self.weftd, "nodes").stdout)

    def test_nodes_and_topology_in_part(self):
        def names(*choice: str) -> list[str]:
            return sorted(node["name"] for node in weftctl_json(self.weftd, "nodes", *choice)["nodes"])
        self.assertEqual(["gpu-0006 mlx5_0", "gpu-0006 mlx5_1"], names("gpu-0006"))
        self.assertEqual(sorted(node.name for node in self.network.switches), names("--type", "switch"))
        self.assertEqual(["leaf-r0-p01"], names("--type", "switch", "--contains", "LEAF-r0-p01"))
        self.assertEqual("gpu-0006\n", weftctl(self.weftd, "nodes", "gpu-0006", "--names").stdout)
        self.assertEqual("No nodes are cut off.\n", weftctl(self.weftd, "nodes", "--down").stdout)
        self.assertEqual(1, weftctl(self.weftd, "nodes", "gpu-9999").returncode)
        self.assertEqual(2, weftctl(self.weftd, "nodes", "--type", "leaf").returncode)
        walk = weftctl(self.weftd, "topology", "leaf-r0-p01").stdout
        self.assertEqual(1, walk.count("switch "))
        self.assertEqual(16, walk.count("\n  port "))
        self.assertLess(walk.index("\n  port 2 "), walk.index("\n  port 10 "))
        self.assertEqual(2, weftctl(self.weftd, "topology", "leaf-r0-p01", "--differences").returncode)

    def test_incidents_and_health(self):
        self.assertEqual(0, weftctl(self.weftd, "health", "gpu-0006").returncode)
        self.subnet.unlink("gpu-0006 mlx5_0", 1)
        self.subnet.unlink("gpu-0006 mlx5_1", 1)
        opened = self.expect("NODE_DOWN", lambda i: "gpu-0006" in i["cause"].get("label", ""))
        self.assertIn(opened["id"], weftctl(self.weftd, "incidents").stdout)
        detail = weftctl(self.weftd, "incident", opened["id"])
        self.assertEqual(0, detail.returncode)
        self.assertIn("gpu-0006", detail.stdout)
        self.assertRegex(detail.stdout, r"gpu-0006 mlx5_1 port 1 --x-- leaf-r1-p\d+ port \d+")
        self.assertRegex(detail.stdout, r"port_state = Down, expected Active, at leaf-r\d-p\d+ port \d+, 2\d{3}-")
        self.assertEqual(1, weftctl(self.weftd, "health", "gpu-0006").returncode, "the answer is bad news")
        said = weftctl(self.weftd, "silence", opened["id"], "--for", "2h").stdout
        self.assertRegex(said, rf"^{opened['id']} is silenced until 2\d{{3}}-.* UTC: no pages for it until then\nNODE_DOWN  .*gpu-0006")
        said = weftctl(self.weftd, "silence", opened["id"], "--for", "1h").stdout
        self.assertRegex(said, r"no pages for it until then; before, it was until 2\d{3}-.* UTC\n")
        said = weftctl(self.weftd, "acknowledge", opened["id"]).stdout
        self.assertRegex(said, rf"^{opened['id']} is acknowledged by .*\(uid \d+\): no more pages for it\nNODE_DOWN  .*gpu-0006")
        for rail in range(2):
            self.subnet.relink(f"gpu-0006 mlx5_{rail}", 1)
        self.expect_resolved(opened)
        weft_testing.wait_until(lambda: weftctl(self.weftd, "health", "gpu-0006").returncode == 0, why="gpu-0006 stays unhealthy")
        for verb in (("acknowledge", opened["id"]), ("silence", opened["id"], "--for", "2h")):
            done = weftctl(self.weftd, *verb)
            self.assertEqual((4, ""), (done.returncode, done.stdout))
            self.assertIn("already resolved", done.stderr)
        self.assertNotIn(opened["id"], weftctl(self.weftd, "incidents").stdout)
        # Another may say that it is now part of this one.
        listed = next(line for line in weftctl(self.weftd, "incidents", "--all").stdout.splitlines() if line.startswith(opened["id"] + " "))
        self.assertIn(opened["worstSeverity"], listed)
        ended = weftctl(self.weftd, "incident", opened["id"]).stdout
        self.assertIn(f"Resolved. It was: {opened['headline']}", ended)
        self.assertRegex(ended, r"timeline\n  2\d{3}-.* UTC  opened, (CRITICAL|WARNING): .*gpu-0006")
        self.assertRegex(ended, r" UTC  resolved\n")

    def test_announced_work_pages_nobody(self):
        def unattended():
            return sum(float(line.rsplit(" ", 1)[1]) for line in self.weftd.metrics().splitlines()
                       if line.startswith("weft_incidents_unattended{"))
        self.assertEqual(0, unattended())
        self.assertIn("No maintenance windows", weftctl(self.weftd, "maintenance").stdout)
        window = weftctl_json(self.weftd, "maintenance", "add", "gpu-0005", "--for", "1h", "--reason", "new memory", "--who", "ann")
        self.assertEqual(("ACTIVE", "gpu-0005", 2), (window["state"], window["host"], len(window["nodeGuids"])))
        self.assertRegex(window["addedBy"], r"\(uid \d+\), for ann$")
        try:
            self.subnet.unlink("gpu-0005 mlx5_0", 1)
            planned = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("gpu-0005 mlx5_0", 1)))
            self.assertEqual(("INFO", window["id"]), (planned["severity"], planned["maintenanceId"]))
            self.assertIn("new memory", planned["summary"])
            self.assertEqual(0, unattended())
            self.assertNotIn(planned["id"], weftctl(self.weftd, "incidents").stdout)
            self.assertIn("planned work", weftctl(self.weftd, "incidents").stdout)
            self.assertIn(planned["id"], weftctl(self.weftd, "incidents", "--all").stdout)
            health = weftctl_json(self.weftd, "health", "gpu-0005")["nodes"][0]
            self.assertEqual("AVOID_NEW_JOBS", health["recommendedAction"])
            self.assertIn(window["id"], [reason.get("maintenanceId") for reason in health["reasons"]])
            self.assertIn(window["id"], [one["id"] for one in self.weftd.client.json("/api/v1/maintenance")["windows"]])

            done = weftctl(self.weftd, "maintenance", "end", window["id"])
            self.assertEqual(0, done.returncode, done.stderr)
            alarming = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("gpu-0005 mlx5_0", 1)) and not i.get("maintenanceId"))
            self.assertIn(alarming["severity"], ("WARNING", "CRITICAL"))
            self.assertEqual(1, unattended())
            self.assertEqual(4, weftctl(self.weftd, "maintenance", "end", window["id"]).returncode, "it is over")
            self.assertIn("OVER", weftctl(self.weftd, "maintenance", "--all").stdout)
        finally:
            self.subnet.relink("gpu-0005 mlx5_0", 1)
        self.expect_resolved(alarming)
        self.assertEqual(2, weftctl(self.weftd, "maintenance", "add", "leaf-r0-p01", "--for", "99d", "--reason", "x").returncode)
        self.assertEqual(2, weftctl(self.weftd, "maintenance", "add", "leaf-r0-p01", "--for", "1h").returncode, "no reason")
        self.assertNotEqual(0, weftctl(self.weftd, "maintenance", "add", "nobody", "--reason", "x").returncode)

    def test_watch_prints_changes(self):
        watching = subprocess.Popen([program("weftctl"), "--server", self.weftd.grpc, "watch"], stdout=subprocess.PIPE, text=True,
                                    stdin=subprocess.DEVNULL)
        self.addCleanup(watching.stdout.close)
        try:
            self.weftd.wait_sweeps(1)
            self.subnet.unlink("leaf-r1-p01", 9)
            opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r1-p01", 9)))
            self.subnet.relink("leaf-r1-p01", 9)
            self.expect_resolved(opened)
            self.weftd.wait_sweeps(1)
        finally:
            watching.send_signal(signal.SIGINT)
            try:
                watching.wait(20)
            except subprocess.TimeoutExpired:
                watching.kill()
                watching.wait()
        text = watching.stdout.read()
        self.assertIn(opened["id"], text)
        self.assertIn("LINK_DOWN", text)
        self.assertIn("RESOLVED", text.upper())

    def test_wrong_usage_is_2(self):
        for arguments, named in (((), "subcommand"), (("frobnicate",), "frobnicate"), (("incident",), "ID"),
                                 (("incidents", "--sideways"), "--sideways"), (("isolate", "leaf-r1-p01:9"), "--reason"),
                                 (("hands-off", "maybe"), "maybe"), (("hands-off", "on"), "--reason"), (("breaker", "reset"), "--reason"),
                                 (("plan", "INC-1"), "PLAN-7"), (("drain", "", "--reason", "x"), "host"),
                                 (("silence", "INC-1", "--for", "0m"), "3650d"), (("silence", "INC-1", "--for", "4000d"), "3650d"),
                                 (("reject", "PLAN-1", "--reason", "x" * 1025), "1025"),
                                 (("isolate", "leaf-r1-p01:9", "--reason", "x", "--timeout", "5"), "--wait"),
                                 (("approve", "PLAN-1", "--timeout", "5m"), "--wait"), (("abort", "PLAN-1", "--reason", "x", "--timeout", "5m"), "--wait"),
                                 (("isolate", "leaf-r1-p01:9", "--dry-run", "--wait"), "--dry-run"),
                                 (("drain", "gpu-0001", "--dry-run", "--timeout", "5m"), "--timeout")):
            with self.subTest(arguments):
                done = weftctl(self.weftd, *arguments)
                self.assertEqual((2, True), (done.returncode, named in done.stderr), done.stderr)
        for server in ("", "nowhere", ":1", "host:"):
            with self.subTest(server):
                done = subprocess.run([program("weftctl"), f"--server={server}", "status"], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((2, True), (done.returncode, "HOST:PORT" in done.stderr), done.stderr)

    def test_a_server_that_is_not_there_is_3(self):
        done = subprocess.run([program("weftctl"), "--server", free_address(), "status"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertTrue(done.stderr)

    def test_what_is_not_known_is_said(self):
        for arguments in (("incident", "INC-999999"), ("health", "nobody"), ("plan", "PLAN-999999")):
            with self.subTest(arguments):
                done = weftctl(self.weftd, *arguments)
                self.assertNotEqual(0, done.returncode)
                self.assertTrue(done.stderr)


if __name__ == "__main__":
    weft_testing.main()
