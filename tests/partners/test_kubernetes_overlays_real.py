# SPDX-License-Identifier: Apache-2.0
"""The overlays of deploy/kubernetes applied to a real kube-apiserver 1.20 on etcd by kubectl, in the order of their README; see
support/kube_apiserver.py. Only with WEFT_KUBERNETES=real, as tests/run --kubernetes sets it.

What it leaves out: controllers and a kubelet, so no pod begins. The types of the Prometheus operator are stand-ins that take anything."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

if os.environ.get("WEFT_KUBERNETES") != "real":
    print("skipped: only tests/run --kubernetes runs it")
    sys.exit(77)

import partners_testing  # noqa: E402, F401, the folders of modules
import kubectl  # noqa: E402
from kube_apiserver import KubeApiserver  # noqa: E402
from program_testing import ROOT, main  # noqa: E402

TOKENS = {name: f"{name}-token-1" for name in ("admin", "weft", "reader", "quiet", "conditions")}
NODES = ("gpu-0001", "gpu-0002.cluster.example")
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced", "versions": [{
        "name": "v1", "served": True, "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
# What every account may ask, by rules that the API server makes for itself.
EVERYBODY = {("create", "selfsubjectaccessreviews.authorization.k8s.io"), ("create", "selfsubjectrulesreviews.authorization.k8s.io")}


@unittest.skipIf(not (kubectl.debians() or kubectl.installed()), "there is no kubectl, nor Debian's kubernetes-client")
class Applied(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kubectl = kubectl.debians() or kubectl.installed()  # that of the server's age first
        cls.place = tempfile.mkdtemp(prefix="weft-overlays-")
        cls.addClassCleanup(shutil.rmtree, cls.place)
        cls.cluster = KubeApiserver(cls.place, TOKENS)
        cls.addClassCleanup(cls.cluster.stop)
        cls.configuration = os.path.join(cls.place, "admin.conf")
        with open(cls.configuration, "w", encoding="utf-8") as stream:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "here",
                       "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
                       "clusters": [{"name": "c", "cluster": {"server": cls.cluster.url, "certificate-authority": cls.cluster.certificate}}],
                       "users": [{"name": "u", "user": {"token": TOKENS["admin"]}}]}, stream)
        cls.environment = dict(os.environ, KUBECONFIG=cls.configuration, HOME=cls.place)
        # The suite's own: the overlays bring these.
        cls.call("delete", "clusterrolebindings", "weftd-nodes-weft", "weftd-nodes-quiet", "weft-node-conditions-conditions")
        cls.call("delete", "clusterroles", "weftd-nodes", "weft-node-conditions")
        cls.call("delete", "--namespace=default", "rolebinding/weftd-events-weft", "role/weftd-events")
        for name in NODES:
            cls.call("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
        for plural, kind in (("servicemonitors", "ServiceMonitor"), ("prometheusrules", "PrometheusRule")):
            names = {"plural": plural, "singular": kind.lower(), "kind": kind}
            cls.call("create", "-f", "-", text=json.dumps({**DEFINITION, "metadata": {"name": f"{plural}.monitoring.coreos.com"},
                                                           "spec": {**DEFINITION["spec"], "names": names}}))
            cls.call("wait", "--for=condition=Established", f"crd/{plural}.monitoring.coreos.com")
        cls.make_secrets()

    @classmethod
    def call(cls, *arguments: str, text: str | None = None, codes: tuple[int, ...] = (0,)) -> str:
        """What kubectl prints."""
        done = subprocess.run([cls.kubectl, *arguments], input=text or "", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              env=cls.environment, check=False)
        if done.returncode not in codes:
            raise AssertionError(f"kubectl {' '.join(arguments)} gave {done.returncode}: {done.stderr[-3000:]}")
        return done.stdout

    @classmethod
    def make_secrets(cls) -> None:
        """By the commands of the README, in its order."""
        with open(os.path.join(kubectl.KUBERNETES, "README.md"), encoding="utf-8") as stream:
            chapter = re.search(r"^## 3\. .*?(?=^## 4\. )", stream.read(), re.DOTALL | re.MULTILINE)[0]
        commands = re.findall(r"^```\n(.*?)^```", chapter, re.DOTALL | re.MULTILINE)
        programs = os.path.join(cls.place, "bin")
        os.mkdir(programs)
        os.symlink(cls.kubectl, os.path.join(programs, "kubectl"))
        os.symlink(os.path.join(ROOT, "deploy"), os.path.join(cls.place, "deploy"))
        for name in ("pgpass", "db-ca.pem"):
            with open(os.path.join(cls.place, name), "w", encoding="ascii") as stream:
                stream.write("made up\n")
        done = subprocess.run(["bash", "-e", "-c", "\n".join(commands)], cwd=cls.place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(cls.environment, PATH=f"{programs}:{os.environ['PATH']}"), text=True, timeout=120, check=False)
        assert len(commands) == 2 and done.returncode == 0, done.stdout

    def manifests(self, overlay: str) -> str:
        """What the overlay builds to. The server has the disruption budget as a beta alone."""
        program = kubectl.installed() or self.kubectl
        return kubectl.built(program, os.path.join(kubectl.KUBERNETES, "overlays", overlay)).replace("apiVersion: policy/v1\n", "apiVersion: policy/v1beta1\n")

    @contextlib.contextmanager
    def applied(self, text: str):
        """What kubectl says of each object; they are gone in the end."""
        try:
            yield self.call("apply", "-f", "-", text=text).splitlines()
        finally:
            self.call("delete", "--ignore-not-found", "-f", "-", text=text)

    def there(self) -> dict[tuple, str]:
        """Everything in the cluster that an overlay may bring, and what names it has; with versions."""
        kinds = ("secrets,configmaps,services,serviceaccounts,statefulsets,daemonsets,deployments,networkpolicies,poddisruptionbudgets,roles,rolebindings,"
                 "clusterroles,clusterrolebindings,servicemonitors,prometheusrules,persistentvolumeclaims,namespaces,priorityclasses")
        items = json.loads(self.call("get", kinds, "--all-namespaces", "-o", "json"))["items"]
        return {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): each["metadata"]["resourceVersion"] for each in items}

    def rights(self, account: str, namespace: str) -> set[tuple[str, str]]:
        """(verb, resource) of what the service account may do there."""
        lines = self.call("auth", "can-i", "--list", f"--namespace={namespace}", "--no-headers",
                          f"--as=system:serviceaccount:weft:{account}", "--as-group=system:serviceaccounts", "--as-group=system:authenticated").splitlines()
        found = set()
        for line in lines:
            resource, verbs = line.split()[0], re.search(r"\[([^\]]*)\]$", line)[1]
            if not resource.startswith("["):  # else it is a path such as /healthz
                found |= {(verb, resource) for verb in verbs.split()}
        return found - EVERYBODY

    def test_each_overlay_is_taken_changes_nothing_again_and_goes_without_a_trace(self):
        before = self.there()
        for overlay in ("single", "pair", "drain", "monitoring"):
            text = self.manifests(overlay)
            with self.subTest(overlay=overlay), self.applied(text) as said:
                self.assertEqual(len(kubectl.objects(text)), len(said))
                self.assertEqual([], [line for line in said if not line.endswith(" created")])
                there = self.there()
                self.assertEqual(len(said), len(there.keys() - before.keys()))
                again = self.call("apply", "-f", "-", text=text).splitlines()
                # kubectl calls a StatefulSet with claims "configured" each time, for the server adds a status to these; its version tells.
                self.assertEqual([], [line for line in again if not line.endswith(" unchanged") and line != "statefulset.apps/weftd configured"])
                self.assertEqual("", self.call("diff", "-f", "-", text=text))
                self.assertEqual(there, self.there())
            self.assertEqual(before, self.there(), overlay)

    def test_the_server_keeps_every_field(self):
        for overlay in ("single", "pair", "drain"):
            text = self.manifests(overlay)
            with self.applied(text):
                for each in kubectl.objects(text):
                    kept = json.loads(self.call("get", each["kind"], each["metadata"]["name"], "-o", "json",
                                                f"--namespace={each['metadata'].get('namespace', 'default')}"))
                    self.assertEqual([], lost(each, kept), f"{overlay}: {each['kind']} {each['metadata']['name']}")

    def test_accounts_may_what_they_need_and_no_more(self):
        for overlay, weftd, events in (("single", set(), set()), ("drain", {(verb, "nodes") for verb in ("get", "list", "update")}, {("create", "events")})):
            with self.applied(self.manifests(overlay)):
                conditions = {("get", "nodes"), ("list", "nodes"), ("patch", "nodes/status")}
                for namespace in ("default", "weft", "kube-system"):
                    self.assertEqual(weftd | (events if namespace == "default" else set()), self.rights("weftd", namespace), f"{overlay} {namespace}")
                    self.assertEqual(conditions, self.rights("weft-node-conditions", namespace), f"{overlay} {namespace}")
                    self.assertEqual(set(), self.rights("weft-collector", namespace), f"{overlay} {namespace}")
                as_weftd = ("--as=system:serviceaccount:weft:weftd", f"node/{NODES[0]}")
                self.assertEqual("yes" if weftd else "no", self.call("auth", "can-i", "update", *as_weftd, codes=(0, 1)).strip())
                self.assertEqual("no", self.call("auth", "can-i", "delete", *as_weftd, codes=(0, 1)).strip())

    def test_a_single_weftd_is_made_a_pair_as_the_readme_says(self):
        with self.applied(self.manifests("single")):
            pair = self.manifests("pair")
            with self.assertRaisesRegex(AssertionError, "updates to statefulset spec for fields other than"):
                self.call("apply", "-f", "-", text=pair)
            self.call("--namespace=weft", "delete", "statefulset", "weftd")
            with self.applied(pair):
                pass

    def test_each_node_has_a_token_of_its_own(self):
        secret = json.loads(self.call("--namespace=weft", "get", "secret", "weft-collector-tokens", "-o", "json"))
        self.assertEqual(set(NODES), set(secret["data"]))
        self.assertEqual(len(NODES), len(set(secret["data"].values())))


def lost(wanted, kept, place: str = "") -> list[str]:
    """What of `wanted` is not in `kept`: a field that the server does not know is dropped without a word."""
    if isinstance(wanted, dict) and isinstance(kept, dict):
        return [each for key, value in wanted.items() for each in (lost(value, kept[key], f"{place}.{key}") if key in kept else [f"{place}.{key}"])]
    if isinstance(wanted, list) and isinstance(kept, list) and len(wanted) == len(kept):
        return [each for index, value in enumerate(wanted) for each in lost(value, kept[index], f"{place}[{index}]")]
    return [] if str(wanted) == str(kept) else [f"{place}: {wanted} is {kept}"]


if __name__ == "__main__":
    main()
