# SPDX-License-Identifier: Apache-2.0
"""weft-node-conditions between a real weftd on ibsim and an API server: the everyday stand-in, or with WEFT_KUBERNETES=real a real
kube-apiserver (see test_kubernetes_real.py)."""

import datetime
import importlib.machinery
import importlib.util
import os
import signal
import subprocess
import sys
import unittest

import weftd_partners
import python_client
from child_process import start_child
from test_kubernetes import TOKENS, WithServer
from weftd_partners import wait_until, weft_testing

PROGRAM = os.path.join(weft_testing.ROOT, "deploy", "kubernetes", "weft-node-conditions")
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "of another", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}


class ConditionOf(unittest.TestCase):
    def test_a_host_is_not_well_while_a_shard_is_silent_that_may_know_of_a_fault(self):
        python_client.install(type(self))
        from weft.v1.health_pb2 import NodeHealth
        loader = importlib.machinery.SourceFileLoader("weft_node_conditions", PROGRAM)
        program = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        self.addCleanup(setattr, sys, "dont_write_bytecode", dont_write)
        loader.exec_module(program)
        for verdict, expected in ((NodeHealth.HEALTHY, "Unknown"), (NodeHealth.UNKNOWN, "Unknown"), (NodeHealth.DEGRADED, "False"),
                                  (NodeHealth.UNHEALTHY, "False")):
            status, reason, message = program.condition_of(NodeHealth(node="n1", verdict=verdict, missing_shards=["south"]))
            self.assertEqual(expected, status)
            if expected == "Unknown":
                self.assertEqual(("ShardNotReached", "shard south does not answer"), (reason, message))
        self.assertEqual("True", program.condition_of(NodeHealth(node="n1", verdict=NodeHealth.HEALTHY))[0])


class Start(unittest.TestCase):
    def test_a_token_for_weftd_goes_to_no_other_machine_in_clear_text(self):
        site = python_client.install(type(self))
        token = os.path.join(site, "token")
        with open(token, "w", encoding="ascii") as stream:
            stream.write("s3cret\n")
        done = subprocess.run([sys.executable, PROGRAM, "--weft", "192.0.2.2:9641", "--weft-token-file", token, "--ca-file", ""], capture_output=True,
                              text=True, env=dict(os.environ, PYTHONPATH=site), stdin=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual((1, "weft-node-conditions: the token would go to 192.0.2.2:9641 in clear text: give ca (--weft-ca)\n"),
                         (done.returncode, done.stderr))


class NodeConditions(WithServer, weftd_partners.WithScheduler):
    @classmethod
    def setUpClass(cls):
        cls.site = python_client.install(cls)
        WithServer.setUpClass.__func__(cls)
        weftd_partners.WithScheduler.setUpClass.__func__(cls)

    def setUp(self):
        weftd_partners.WithScheduler.setUp(self)
        for name in ("n1", "n2.cluster.example", "control-plane"):
            self.create(name)
        self.admin("PATCH", "/api/v1/nodes/n1/status", {"status": {"conditions": [READY]}}, "application/strategic-merge-patch+json")
        token = os.path.join(self.place, "conditions.token")
        with open(token, "w", encoding="ascii") as stream:
            stream.write(TOKENS["conditions"] + "\n")
        self.log_path = os.path.join(self.place, "conditions.log")
        command = [sys.executable, PROGRAM, "--weft", self.weftd.grpc, "--api-server", self.cluster.url, "--token-file", token, "--ca-file",
                   self.cluster.certificate, "--interval", "0.2", "--deadline", "2", "--grace", "1", "--heartbeat", "3"]
        with open(self.log_path, "wb") as log:
            self.publisher = start_child(command, env=dict(os.environ, PYTHONPATH=self.site), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def tearDown(self):
        self.publisher.kill()
        self.publisher.wait()
        WithServer.tearDown(self)
        weftd_partners.WithScheduler.tearDown(self)

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8") as stream:
            return stream.read()[-3000:]

    def conditions(self, name: str) -> dict[str, dict]:
        return {condition["type"]: condition for condition in self.admin("GET", f"/api/v1/nodes/{name}").get("status", {}).get("conditions", [])}

    def wait_for(self, name: str, status: str) -> dict:
        def there():
            self.assertIsNone(self.publisher.poll(), self.log())
            condition = self.conditions(name).get("FabricHealthy")
            return condition if condition and condition["status"] == status else None

        return wait_until(there, why=lambda: f"{name} has {self.conditions(name)}; it says\n{self.log()}")

    def test_the_condition_follows_the_cable(self):
        well = self.wait_for("n1", "True")
        self.wait_for("n2.cluster.example", "True")
        self.subnet.unlink("n1 mlx5_0", 1)
        bad = self.wait_for("n1", "False")
        self.assertEqual("LinkDown", bad["reason"])
        self.assertRegex(bad["message"], r"^INC-\d+ ")
        self.assertGreaterEqual(bad["lastTransitionTime"], well["lastTransitionTime"])
        self.assertEqual(READY, self.conditions("n1")["Ready"], "conditions of others stay")
        self.wait_for("n2.cluster.example", "True")
        self.subnet.relink("n1 mlx5_0", 1)
        self.wait_for("n1", "True")
        self.assertNotIn("FabricHealthy", self.conditions("control-plane"), "weftd has never seen it")

    def test_a_heartbeat_moves_and_the_transition_does_not(self):
        first = self.wait_for("n1", "True")
        later = wait_until(lambda: (now := self.conditions("n1")["FabricHealthy"])["lastHeartbeatTime"] > first["lastHeartbeatTime"] and now,
                           why="no heartbeat")
        self.assertEqual(first["lastTransitionTime"], later["lastTransitionTime"])
        datetime.datetime.strptime(later["lastHeartbeatTime"], "%Y-%m-%dT%H:%M:%SZ")

    def test_it_is_unknown_without_weftd(self):
        self.wait_for("n1", "True")
        self.weftd.process.send_signal(signal.SIGSTOP)  # it takes connections and says nothing
        try:
            self.assertEqual("WeftdNotReached", self.wait_for("n1", "Unknown")["reason"])
            self.wait_for("n2.cluster.example", "Unknown")
        finally:
            self.weftd.process.send_signal(signal.SIGCONT)
        self.wait_for("n1", "True")
        self.weftd.kill()
        try:
            self.wait_for("n1", "Unknown")
        finally:
            self.weftd.start()
        self.wait_for("n1", "True")


if __name__ == "__main__":
    weft_testing.main()
