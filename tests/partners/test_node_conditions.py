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
import types
import unittest

try:
    import grpc
except ImportError:
    grpc = None

import weftd_partners
import python_client
from child_process import start_child
from test_kubernetes import TOKENS, WithServer
from weftd_partners import wait_until, weft_testing

PROGRAM = os.path.join(weft_testing.ROOT, "deploy", "kubernetes", "weft-node-conditions")
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "of another", "lastHeartbeatTime": "2026-01-01T00:00:00Z",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}


def load_program(case: unittest.TestCase):
    """As a module."""
    loader = importlib.machinery.SourceFileLoader("weft_node_conditions", PROGRAM)
    program = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    case.addCleanup(setattr, sys, "dont_write_bytecode", dont_write)
    loader.exec_module(program)
    return program


class Refused(grpc.RpcError if grpc else Exception):
    """What weftd's client raises."""

    def __init__(self, code: str):
        super().__init__(code)
        self._code = code

    def code(self):
        return grpc.StatusCode[self._code]

    def details(self) -> str:
        return "refused"


class ConditionOf(unittest.TestCase):
    def test_a_host_is_not_well_while_a_shard_is_silent_that_may_know_of_a_fault(self):
        python_client.install(type(self))
        from weft.v1.health_pb2 import NodeHealth
        program = load_program(self)
        for verdict, expected in ((NodeHealth.HEALTHY, "Unknown"), (NodeHealth.UNKNOWN, "Unknown"), (NodeHealth.DEGRADED, "False"),
                                  (NodeHealth.UNHEALTHY, "False")):
            status, reason, message = program.condition_of(NodeHealth(node="n1", verdict=verdict, missing_shards=["south"]))
            self.assertEqual(expected, status)
            if expected == "Unknown":
                self.assertEqual(("ShardNotReached", "shard south does not answer"), (reason, message))
        self.assertEqual("True", program.condition_of(NodeHealth(node="n1", verdict=NodeHealth.HEALTHY))[0])


class FakeKubernetes:
    """One Node, as a real one: what was changed meanwhile is not changed."""

    def __init__(self):
        self.node = {"metadata": {"name": "n1.cluster.example", "resourceVersion": "7", "annotations": {}},
                     "spec": {"taints": [{"key": "weft/acceptance", "value": "pending", "effect": "NoSchedule"}, {"key": "other", "effect": "NoExecute"}]}}

    def nodes(self, metadata_only: bool):
        assert not metadata_only
        yield self.node

    def set_acceptance(self, node: dict, text: str, passed: bool) -> None:
        self.node["metadata"]["annotations"]["weft/acceptance"] = text
        if passed:
            self.node["spec"]["taints"] = [taint for taint in node["spec"]["taints"] if taint["key"] != "weft/acceptance"]

    def told(self) -> tuple[str, list[str]]:
        return self.node["metadata"]["annotations"].get("weft/acceptance", ""), [taint["key"] for taint in self.node["spec"]["taints"]]


class FakeWeft:
    def __init__(self, acceptance_pb2):
        self._messages = acceptance_pb2
        self.runs = {}
        self.started: list[tuple] = []
        self.away = False

    def accept(self, hosts, *, seconds, ber_limit, who):
        self.started.append((hosts, seconds, ber_limit, who))
        run = self._messages.Acceptance(id=f"ACC-{len(self.runs) + 1}", who=f"cluster, for {who}")
        self.runs[run.id] = run
        return run

    def acceptances(self, *, running, host):
        return [run for run in self.runs.values() if not run.HasField("ended")]

    def acceptance(self, name: str):
        if self.away or name not in self.runs:
            raise Refused("UNAVAILABLE" if self.away else "NOT_FOUND")
        return self.runs[name]

    def over(self, name: str, verdict: str) -> None:
        run = self.runs[name]
        run.ended.FromSeconds(1_700_000_000)
        run.verdict = self._messages.Acceptance.Verdict.Value(verdict)
        check = run.report.checks.add(name="bit error rate", verdict=run.verdict, required=True)
        check.ports.add(verdict=run.verdict, port="n1 mlx5_0 port 1", told="9 errors")


class Accept(unittest.TestCase):
    """Taints go by a PASS, and by nothing else."""

    @classmethod
    def setUpClass(cls):
        python_client.install(cls)

    def setUp(self):
        from weft.v1 import acceptance_pb2
        program = load_program(self)
        self.weft, self.kubernetes = FakeWeft(acceptance_pb2), FakeKubernetes()
        options = types.SimpleNamespace(accept=7200.0, accept_interval=0, accept_ber_limit=1e-14)
        self.acceptor = program.Acceptor(self.weft, self.kubernetes, options)

    def test_a_node_keeps_its_taint_until_it_is_accepted(self):
        self.acceptor.round()
        self.assertEqual([(["n1"], 7200.0, 1e-14, "weft-accept")], self.weft.started)
        self.assertEqual(("ACC-1 is under way", ["weft/acceptance", "other"]), self.kubernetes.told())
        self.acceptor.round()
        self.weft.over("ACC-1", "PASS")
        self.acceptor.round()
        self.assertEqual(("ACC-1 PASS", ["other"]), self.kubernetes.told())
        self.acceptor.round()
        self.assertEqual(1, len(self.weft.started))

    def test_whatever_is_no_pass_keeps_the_taint(self):
        for verdict in ("FAIL", "NOT_YET", "INCOMPLETE"):
            self.setUp()
            self.acceptor.round()
            self.weft.over("ACC-1", verdict)
            for _ in range(2):
                self.acceptor.round()
            text, taints = self.kubernetes.told()
            self.assertEqual(f"ACC-1 {verdict}: " + ("" if verdict == "INCOMPLETE" else "bit error rate: n1 mlx5_0 port 1 9 errors"), text)
            self.assertEqual(["weft/acceptance", "other"], taints)
            self.assertEqual(1, len(self.weft.started))
            # The annotation is taken away after the repair.
            self.kubernetes.node["metadata"]["annotations"].clear()
            self.acceptor.round()
            self.assertEqual("ACC-2 is under way", self.kubernetes.told()[0])

    def test_without_weftd_nothing_changes(self):
        self.acceptor.round()
        self.weft.over("ACC-1", "PASS")
        self.weft.away = True
        self.acceptor.round()
        self.assertEqual(("ACC-1 is under way", ["weft/acceptance", "other"]), self.kubernetes.told())
        self.weft.away = False
        del self.weft.runs["ACC-1"]  # it has forgotten it
        self.acceptor.round()
        self.assertEqual("ACC-1 is under way", self.kubernetes.told()[0])
        self.assertEqual(2, len(self.weft.started))


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
