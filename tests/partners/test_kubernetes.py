# SPDX-License-Identifier: Apache-2.0
"""Kubernetes: nodes that we take out of service and give back, and everything of others that stays as it is.

Everyday against a stand-in. By test_kubernetes_real.py, with WEFT_KUBERNETES=real, against a real kube-apiserver on etcd: all but
what only a stand-in can be made to do.
"""

import json
import os
import shutil
import ssl
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from partners_testing import Partner, main
from certificates import make_certificate, make_client
from kubernetes_stand_in import EVERYTHING, KubernetesStandIn

REAL = os.environ.get("WEFT_KUBERNETES") == "real"
if REAL:
    from kube_apiserver import KubeApiserver

MARK = "weft PLAN-7 INC-17: adapter mlx5_0 is dead"
OURS = {"key": "weft.dev/unhealthy", "value": "PLAN-7", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
EVICTING = {"key": "maintenance", "value": "x", "effect": "NoExecute"}
TOKENS = {"admin": "admin-token-1", "weft": "weft-token-1", "reader": "reader-token-1", "quiet": "quiet-token-1",
          "conditions": "conditions-token-1"}
WEFT_RIGHTS = {"nodes": {"get", "list", "update"}, "events": {"create"}}


class StandIn:
    """The stand-in with the users of the suite."""

    def __init__(self, place: str):
        self.certificate, key = make_certificate(place)
        self.client = make_client(place, (self.certificate, key), "/O=system:masters/CN=weftd")
        self.server = KubernetesStandIn((self.certificate, key), {
            TOKENS["admin"]: EVERYTHING, TOKENS["weft"]: WEFT_RIGHTS, TOKENS["reader"]: {"nodes": {"get", "list"}},
            TOKENS["quiet"]: {"nodes": {"get", "list", "update"}},
            TOKENS["conditions"]: {"nodes": {"get", "list"}, "nodes/status": {"patch"}}}, self.certificate)
        self.url = self.server.url

    def stop(self) -> None:
        self.server.stop()


class WithServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-kubernetes-")
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.cluster = KubeApiserver(cls.place, TOKENS) if REAL else StandIn(cls.place)
        cls.addClassCleanup(cls.cluster.stop)
        cls.partner = cls.made("weft")

    def tearDown(self):
        for node in self.admin("GET", "/api/v1/nodes")["items"]:
            self.admin("DELETE", f"/api/v1/nodes/{node['metadata']['name']}")

    @classmethod
    def kubeconfig(cls, name: str, user: dict, **cluster) -> str:
        path = os.path.join(cls.place, f"{name}.conf")
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "here",
                  "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
                  "clusters": [{"name": "c", "cluster": {"server": cls.cluster.url, "certificate-authority": cls.cluster.certificate, **cluster}}],
                  "users": [{"name": "u", "user": user}]}
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(config, stream)  # JSON is YAML
        os.chmod(path, 0o600)
        return path

    @classmethod
    def made(cls, user: str, **options) -> Partner:
        return Partner("kubernetes", kubeconfig=cls.kubeconfig(user, {"token": TOKENS[user]}), **{"timeout": 5, **options})

    # -- the world, as an administrator sees and changes it

    def admin(self, method: str, path: str, body=None, kind: str = "application/json") -> dict:
        request = urllib.request.Request(self.cluster.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {TOKENS['admin']}", "Content-Type": kind,
                                                  "User-Agent": "kubectl-of-the-test"})
        context = ssl.create_default_context(cafile=self.cluster.certificate)
        with urllib.request.urlopen(request, context=context, timeout=20) as answer:
            return json.load(answer)

    def create(self, name: str, hostname: str | None = None, taints=(), **spec) -> None:
        self.admin("POST", "/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": hostname or name}, "annotations": {"owner": "team-a"}},
            "spec": {"podCIDR": "10.1.0.0/24", "taints": list(taints), **spec}})
        if REAL:  # its admission marks nodes that were never ready; the stand-in has no such plug-in
            self.change(name, {"spec": {"taints": list(taints) or None}}, "application/merge-patch+json")

    def change(self, name: str, patch, kind: str = "application/strategic-merge-patch+json") -> None:
        self.admin("PATCH", f"/api/v1/nodes/{name}", patch, kind)

    def add_taint(self, name: str, taint: dict) -> None:
        self.change(name, [{"op": "add", "path": "/spec/taints/-", "value": taint}], "application/json-patch+json")

    def node(self, name: str) -> dict:
        return self.admin("GET", f"/api/v1/nodes/{name}")

    def taints(self, name: str) -> list[dict]:
        """Without when they were set, and without those that servers keep themselves."""
        return [{key: value for key, value in taint.items() if key != "timeAdded"} for taint in self.node(name)["spec"].get("taints", [])
                if not taint["key"].startswith("node.kubernetes.io/")]

    def is_cordoned(self, name: str) -> bool:
        return self.node(name)["spec"].get("unschedulable", False)

    def stands(self, name: str, state: str) -> None:
        answer = self.partner.observe(name)
        self.assertEqual(answer.get("state"), state, answer)

    def done(self, answer: dict) -> None:
        self.assertTrue(answer["ok"], answer)

    def refused(self, answer: dict, code: str = "failed_precondition") -> dict:
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["code"], code, answer)
        return answer


class Draining(WithServer):
    def test_a_node_is_cordoned_tainted_annotated_and_gets_an_event(self):
        self.create("dgx-01", taints=[GPU])
        before = self.node("dgx-01")
        self.stands("dgx-01", "clear")
        self.assertIn('"PLAN-7"', self.partner.dry_run("dgx-01", "DRAIN_NODE")["would"])
        self.assertEqual(self.node("dgx-01"), before, "a dry run changed the node")
        self.done(self.partner.drain("dgx-01"))
        self.assertEqual(self.taints("dgx-01"), [GPU, OURS])
        self.assertTrue(self.is_cordoned("dgx-01"))
        after = self.node("dgx-01")
        self.assertEqual(after["metadata"]["annotations"]["weft.dev/reason"], MARK)
        self.stands("dgx-01", "ours")
        event = next(event for event in self.admin("GET", "/api/v1/events")["items"]
                     if event["involvedObject"].get("uid") == after["metadata"]["uid"])
        self.assertEqual((event["reason"], event["message"], event["type"]), ("WeftDrained", MARK, "Warning"))
        self.done(self.partner.undrain("dgx-01"))
        self.stands("dgx-01", "clear")
        given_back = self.node("dgx-01")
        for part in (("metadata", "annotations"), ("metadata", "labels"), ("spec",)):
            was, now = before, given_back
            for key in part:
                was, now = was[key], now[key]
            self.assertEqual(was, now)

    def test_what_is_so_already_is_not_written_again(self):
        self.create("dgx-01")
        self.done(self.partner.undrain("dgx-01"))
        self.done(self.partner.drain("dgx-01"))
        version = self.node("dgx-01")["metadata"]["resourceVersion"]
        self.done(self.partner.drain("dgx-01", plan=8, reason="another"))
        self.assertEqual(self.node("dgx-01")["metadata"]["resourceVersion"], version)

    def test_taints_of_others_survive_also_those_that_came_later(self):
        self.create("dgx-01", taints=[GPU])
        self.done(self.partner.drain("dgx-01"))
        self.add_taint("dgx-01", EVICTING)
        self.done(self.partner.undrain("dgx-01"))
        self.assertEqual(sorted(taint["key"] for taint in self.taints("dgx-01")), ["maintenance", "nvidia.com/gpu"])
        self.assertFalse(self.is_cordoned("dgx-01"))

    def test_a_node_that_somebody_cordoned_stays_as_it_was(self):
        self.create("dgx-01", taints=[GPU], unschedulable=True)
        before = self.node("dgx-01")
        self.stands("dgx-01", "foreign")
        self.refused(self.partner.drain("dgx-01"))
        self.refused(self.partner.undrain("dgx-01"))
        self.assertEqual(self.node("dgx-01"), before)

    def test_an_operator_who_cordons_anew_keeps_the_node(self):
        self.create("dgx-01")
        self.done(self.partner.drain("dgx-01"))
        self.change("dgx-01", {"spec": {"unschedulable": None}})
        self.change("dgx-01", {"spec": {"unschedulable": True}})
        self.done(self.partner.undrain("dgx-01"))
        self.assertEqual(self.taints("dgx-01"), [])
        self.assertTrue(self.is_cordoned("dgx-01"))
        self.stands("dgx-01", "foreign")

    def test_an_operator_who_takes_the_annotation_off_keeps_the_cordon(self):
        self.create("dgx-01")
        self.done(self.partner.drain("dgx-01"))
        self.change("dgx-01", {"metadata": {"annotations": {"weft.dev/cordoned": None}}})
        self.done(self.partner.undrain("dgx-01"))
        self.assertTrue(self.is_cordoned("dgx-01"))

    def test_an_operator_who_takes_half_of_it_back(self):
        self.create("dgx-01")
        self.done(self.partner.drain("dgx-01"))
        self.change("dgx-01", {"spec": {"taints": None}}, "application/merge-patch+json")
        self.stands("dgx-01", "ours")
        self.done(self.partner.undrain("dgx-01"))
        self.assertFalse(self.is_cordoned("dgx-01"))
        self.done(self.partner.drain("dgx-01"))
        self.change("dgx-01", {"spec": {"unschedulable": None}})
        self.stands("dgx-01", "ours")
        self.done(self.partner.undrain("dgx-01"))
        self.assertEqual(self.taints("dgx-01"), [])

    def test_our_taint_with_words_that_are_not_ours_is_somebody_elses(self):
        self.create("dgx-01", taints=[{**OURS, "value": "broken"}])
        self.stands("dgx-01", "foreign")
        self.refused(self.partner.undrain("dgx-01"))
        self.refused(self.partner.drain("dgx-01"))

    def test_hosts_are_found_short_or_qualified_on_every_page(self):
        for number in range(1, 6):
            self.create(f"dgx-0{number}.example.org")
        self.create("worker-a", hostname="dgx-06")
        for name in ("twin-1", "twin-2"):
            self.create(name, hostname="twin")
        for host in ("DGX-05", "dgx-05.example.org", "dgx-06.example.org"):
            self.stands(host, "clear")
        self.done(self.partner.drain("dgx-05"))
        self.assertTrue(self.is_cordoned("dgx-05.example.org"))
        self.refused(self.partner.drain("twin"))
        self.refused(self.partner.drain("dgx-05.example.com"), "not_found")
        self.refused(self.partner.drain("../pods"), "invalid_argument")
        self.refused(self.partner.call("apply", host="dgx-05", action="ISOLATE_LINK"), "invalid_argument")

    def test_a_node_that_may_be_another_hosts_is_not_cordoned(self):
        self.create("dgx-01")
        self.create("dgx-02.alpha", hostname="dgx-02")
        for host, other in (("dgx-01.beta", "dgx-01.alpha"), ("dgx-02.beta", "dgx-02.alpha")):
            answer = self.refused(self.partner.drain(host, namesakes=[other]))
            self.assertIn(f"may be host {host} or host {other}", answer["message"])
        self.assertFalse(self.is_cordoned("dgx-01"))
        self.assertFalse(self.is_cordoned("dgx-02.alpha"))
        self.done(self.partner.drain("dgx-02.alpha", namesakes=["dgx-02.beta"]))
        self.assertTrue(self.is_cordoned("dgx-02.alpha"))

    def test_others_who_write_all_the_time_lose_nothing(self):
        self.create("dgx-01", taints=[GPU])
        stop = threading.Event()
        written = []

        def write():
            while not stop.is_set():
                written.append(f"v{len(written)}")
                self.change("dgx-01", {"metadata": {"labels": {"busy": written[-1]}}})
                time.sleep(0.02)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(5):
                for act in (self.partner.drain, self.partner.undrain):
                    while (answer := act("dgx-01")) and not answer["ok"]:
                        self.assertIn("modified", self.refused(answer)["message"])  # five times in a row: then the caller decides
        finally:
            stop.set()
            writer.join()
        self.assertEqual(self.node("dgx-01")["metadata"]["labels"]["busy"], written[-1])
        self.assertEqual(self.taints("dgx-01"), [GPU])
        self.assertFalse(self.is_cordoned("dgx-01"))

    def test_a_merge_patch_would_have_lost_the_taints(self):
        """That the stand-in is as merciless as the real one, so that the tests above mean something."""
        self.create("dgx-01", taints=[GPU])
        for kind, taint in (("merge", OURS), ("strategic-merge", EVICTING)):
            self.change("dgx-01", {"spec": {"taints": [taint]}}, f"application/{kind}-patch+json")
            self.assertEqual(self.taints("dgx-01"), [taint])
        stale = self.node("dgx-01")
        self.change("dgx-01", {"metadata": {"labels": {"a": "b"}}})
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.admin("PUT", "/api/v1/nodes/dgx-01", stale)
        self.assertEqual(caught.exception.code, 409)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.change("dgx-01", [{"op": "test", "path": "/spec/podCIDR", "value": "x"}], "application/json-patch+json")
        self.assertEqual(caught.exception.code, 422)


class Rights(WithServer):
    def test_who_may_only_read_changes_nothing_and_says_so(self):
        self.create("dgx-01")
        reader = self.made("reader")
        self.assertEqual(reader.observe("dgx-01")["state"], "clear")
        self.assertIn("forbidden", self.refused(reader.drain("dgx-01"))["message"])
        self.assertFalse(self.is_cordoned("dgx-01"))

    def test_an_event_that_is_forbidden_is_no_failure(self):
        self.create("dgx-01")
        self.done(self.made("quiet").drain("dgx-01"))
        self.stands("dgx-01", "ours")

    def test_a_client_certificate_will_do(self):
        self.create("dgx-01")
        certificate, key = self.cluster.client
        partner = Partner("kubernetes", kubeconfig=self.kubeconfig("certified", {"client-certificate": certificate, "client-key": key}))
        self.done(partner.drain("dgx-01"))
        self.assertTrue(self.is_cordoned("dgx-01"))

    def test_wrong_tokens_authorities_and_files(self):
        self.create("dgx-01")
        with self.subTest("token"):
            path = self.kubeconfig("stranger", {"token": "nobody"})
            self.refused(Partner("kubernetes", kubeconfig=path).drain("dgx-01"))
        with self.subTest("authority"):
            other, _ = make_certificate(self.place, "other")
            path = self.kubeconfig("misled", {"token": TOKENS["weft"]}, **{"certificate-authority": other})
            self.refused(Partner("kubernetes", kubeconfig=path).drain("dgx-01"))
        with self.subTest("mode"):
            path = self.kubeconfig("open", {"token": TOKENS["weft"]})
            os.chmod(path, 0o644)
            self.refused(Partner("kubernetes", kubeconfig=path).drain("dgx-01"))
        self.assertFalse(self.is_cordoned("dgx-01"))

    def test_a_service_account_whose_token_changes(self):
        self.create("dgx-01")
        account = os.path.join(self.place, "account")
        os.makedirs(account, exist_ok=True)
        shutil.copy(self.cluster.certificate, os.path.join(account, "ca.crt"))
        host, port = self.cluster.url.removeprefix("https://").split(":")
        os.environ.update(KUBERNETES_SERVICE_HOST=host, KUBERNETES_SERVICE_PORT=port)
        self.addCleanup(os.environ.pop, "KUBERNETES_SERVICE_HOST")
        partner = Partner("kubernetes", service_account=account)
        for token, good in (("expired", False), (TOKENS["weft"], True)):
            with open(os.path.join(account, "token"), "w", encoding="utf-8") as stream:
                stream.write(token)
            self.assertEqual(partner.observe("dgx-01")["ok"], good)


@unittest.skipIf(REAL, "a real server does not hang on request")
class Faults(WithServer):
    def setUp(self):
        self.server = self.cluster.server
        self.create("dgx-01", taints=[GPU])

    def tearDown(self):
        self.server.mood = "well"
        self.server.before_put = lambda name: None
        super().tearDown()

    def test_a_conflict_is_tried_again_from_a_fresh_reading(self):
        conflicts = []

        def meddle(name):
            if len(conflicts) < 2:
                conflicts.append(name)
                self.add_taint(name, {**EVICTING, "key": f"late-{len(conflicts)}"})

        self.server.before_put = meddle
        self.done(self.partner.drain("dgx-01"))
        self.assertEqual(len(conflicts), 2)
        self.assertEqual({taint["key"] for taint in self.taints("dgx-01")}, {"nvidia.com/gpu", "late-1", "late-2", "weft.dev/unhealthy"})

    def test_a_conflict_after_its_time_is_not_tried_again(self):
        """Another weftd leads by then, and may have drained and undrained the node."""
        writes = []

        def meddle(name):
            writes.append(name)
            time.sleep(1.5)
            self.change(name, {"metadata": {"labels": {"n": "1"}}})

        self.server.before_put = meddle
        answer = self.refused(self.partner.drain("dgx-01", epoch=4, permit=1))
        self.assertIn("nothing was sent", answer["message"])
        self.assertEqual(["dgx-01"], writes)
        self.assertEqual([GPU], self.taints("dgx-01"))

    def test_the_change_of_an_operator_wins(self):
        self.server.before_put = lambda name: self.change(name, {"spec": {"unschedulable": True}})
        self.refused(self.partner.drain("dgx-01"))
        self.assertEqual(self.taints("dgx-01"), [GPU])

    def test_conflicts_without_end_are_given_up(self):
        count = iter(range(1000))
        self.server.before_put = lambda name: self.change(name, {"metadata": {"labels": {"n": str(next(count))}}})
        self.refused(self.partner.drain("dgx-01"))
        self.assertEqual(next(count), 5)

    def test_a_server_that_hangs_fails_or_breaks_off(self):
        for mood, code in (("hang", "timeout"), ("fail", "unavailable"), ("half", "unavailable")):
            self.server.mood = mood
            answer = self.refused(self.made("weft", timeout=2).drain("dgx-01"), code)
            self.assertLess(answer["seconds"], 2 + 3)
        self.server.mood = "well"
        self.stands("dgx-01", "ours")  # the last one was taken before its answer broke off
        self.done(self.partner.drain("dgx-01"))
        self.assertEqual(self.taints("dgx-01"), [GPU, OURS])


@unittest.skipIf(REAL, "its server is taken away")
class Away(WithServer):
    def tearDown(self):
        pass

    def test_nobody_there_is_unavailable(self):
        self.cluster.server.stop()
        self.refused(self.partner.drain("dgx-01"), "unavailable")
        self.cluster.server = KubernetesStandIn(make_certificate(self.place, "next"), {})


if __name__ == "__main__":
    main()
