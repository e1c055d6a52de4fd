# SPDX-License-Identifier: Apache-2.0
"""The overlays of deploy/kubernetes, built by kubectl, against what the programs, the images and the rules for Prometheus really are. No
API server takes part: see test_kubernetes_overlays_real.py."""

import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

import partners_testing  # noqa: F401, the folders of modules
import kubectl
from program_testing import ROOT, main, program, run_weftd, wait_until
from prometheus_stack import prometheus, which

KUBECTLS = [each for each in (kubectl.installed(), kubectl.debians()) if each]
WHOLE = ("single", "pair", "drain", "accept")
HASH = re.compile(r"\b(weftd|weft-collector)-[2456789bcdfghkmt]{10}\b")  # the letters of Kustomize's hashes
SECRET_MODE = 0o440
RULES = os.path.join(ROOT, "dashboards", "prometheus", "weft.rules.yml")


def deploy_image():
    """The program that makes the images."""
    loader = importlib.machinery.SourceFileLoader("deploy_image", os.path.join(ROOT, "deploy", "image"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


class Overlay:
    """What one builds to."""

    def __init__(self, name: str):
        self.name = name
        self.objects = kubectl.objects(kubectl.built(KUBECTLS[0], os.path.join(kubectl.KUBERNETES, "overlays", name)))

    def all(self, kind: str) -> list[dict]:
        return [each for each in self.objects if each["kind"] == kind]

    def one(self, kind: str, name: str = "weftd") -> dict:
        found, = (each for each in self.all(kind) if each["metadata"]["name"] == name)
        return found

    def workloads(self) -> dict[str, dict]:
        return {each["metadata"]["name"]: each["spec"] for each in self.objects if each["kind"] in ("StatefulSet", "DaemonSet", "Deployment")}

    def pod(self, name: str) -> dict:
        return self.workloads()[name]["template"]["spec"]

    def configuration(self, workload: str) -> str:
        """The text that its container finds at /etc/weft/WORKLOAD.toml."""
        volume, = (each for each in self.pod(workload)["volumes"] if each["name"] == "configuration")
        mount, = (each for each in self.pod(workload)["containers"][0]["volumeMounts"] if each["name"] == "configuration")
        assert mount["mountPath"] == f"/etc/weft/{workload}.toml", mount
        return self.one("ConfigMap", volume["configMap"]["name"])["data"][mount["subPath"]]

    def settings(self, workload: str) -> dict:
        return tomllib.loads(self.configuration(workload))


def paths_in(settings: dict) -> list[str]:
    """All files and folders that a configuration names, those within store.url, too."""
    found = []
    for value in settings.values():
        if isinstance(value, dict):
            found += paths_in(value)
        elif isinstance(value, str):
            found += re.findall(r"(?:^|=)(/[\w./-]+)", value)
    return found


@unittest.skipIf(not KUBECTLS, "there is no kubectl, nor Debian's kubernetes-client")
class Overlays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.overlays = {name: Overlay(name) for name in WHOLE}
        cls.monitoring = Overlay("monitoring")
        cls.outside = Overlay("outside")
        cls.images = {image.name: image for image in deploy_image().IMAGES}
        cls.account = deploy_image().ACCOUNT

    def pods(self) -> list[tuple[Overlay, str, dict]]:
        return [(overlay, name, overlay.pod(name)) for overlay in (*self.overlays.values(), self.outside) for name in overlay.workloads()]

    def test_every_kubectl_builds_the_same(self):
        if len(KUBECTLS) < 2:
            self.skipTest(f"there is only {KUBECTLS[0]}")

        def plain(text: str) -> list[str]:
            return sorted(map(repr, kubectl.objects(HASH.sub(r"\1-HASH", text))))

        for name in (*WHOLE, "monitoring", "outside"):
            folder = os.path.join(kubectl.KUBERNETES, "overlays", name)
            one, other = (plain(kubectl.built(each, folder)) for each in KUBECTLS)
            self.assertEqual(one, other, name)

    def test_no_container_may_more_than_is_said(self):
        for overlay, name, pod in self.pods():
            with self.subTest(overlay=overlay.name, workload=name):
                context = pod["securityContext"]
                self.assertEqual((True, self.account, self.account, self.account, "RuntimeDefault"), (
                    context["runAsNonRoot"], context["runAsUser"], context["runAsGroup"], context["fsGroup"], context["seccompProfile"]["type"]))
                for container in (*pod.get("initContainers", []), *pod["containers"]):
                    self.assertEqual({"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
                                     container["securityContext"])
                    self.assertEqual({"cpu", "memory"}, set(container["resources"]["requests"]))
                    self.assertIn("memory", container["resources"]["limits"])
                self.assertEqual(name == "weft-collector", pod.get("hostNetwork", False))
                self.assertFalse(pod.get("hostPID") or pod.get("hostIPC"))
                host = {each["hostPath"]["path"] for each in pod["volumes"] if "hostPath" in each}
                self.assertEqual({"/sys/fs/cgroup"} if name == "weft-collector" else set(), host)
                account = overlay.one("ServiceAccount", pod["serviceAccountName"])
                has_token = pod.get("automountServiceAccountToken", account.get("automountServiceAccountToken", True))
                self.assertEqual(name == "weft-node-conditions" or (name == "weftd" and overlay.name == "drain"), has_token)

    def test_volumes_and_their_mounts(self):
        for overlay, name, pod in self.pods():
            with self.subTest(overlay=overlay.name, workload=name):
                claims = [each["metadata"]["name"] for each in overlay.workloads()[name].get("volumeClaimTemplates", [])]
                self.assertEqual({SECRET_MODE}, {each["secret"]["defaultMode"] for each in pod["volumes"] if "secret" in each})
                writable = {each["name"] for each in pod["volumes"] if "emptyDir" in each} | set(claims)
                mounts = [mount for container in (*pod.get("initContainers", []), *pod["containers"]) for mount in container["volumeMounts"]]
                self.assertEqual({*claims, *(each["name"] for each in pod["volumes"])}, {mount["name"] for mount in mounts})
                for mount in mounts:
                    self.assertNotEqual(mount["name"] in writable, mount.get("readOnly", False), mount)
                if state := self.images[name].state:
                    where = next(mount["name"] for mount in mounts if mount["mountPath"] == state)
                    self.assertIn(where, writable)

    def test_the_collector_reads_what_is_mounted(self):
        for overlay in self.overlays.values():
            mounts = {each["name"]: each for each in overlay.pod("weft-collector")["containers"][0]["volumeMounts"]}
            jobs = overlay.settings("weft-collector")["jobs"]
            self.assertEqual((True, mounts["cgroup"]["mountPath"]), (jobs["kubernetes"], jobs["cgroup_root"]))
        with open(os.path.join(ROOT, "deploy", "config", "weft-collector.toml"), encoding="utf-8") as stream:
            defaults = stream.read()
        self.assertIn('#cgroup_root = "/sys/fs/cgroup"', defaults)  # which is the hostPath
        self.assertIn('#sysfs_root = "/sys"', defaults)  # which each container has

    def test_files_of_the_configuration_are_in_a_mount(self):
        for overlay in self.overlays.values():
            for name in ("weftd", "weft-collector"):
                mounts = [each["mountPath"] for each in overlay.pod(name)["containers"][0]["volumeMounts"]]
                paths = paths_in(overlay.settings(name))
                self.assertGreaterEqual(len(paths), 3)
                for path in paths:
                    self.assertTrue(any(path == mount or path.startswith(mount + "/") for mount in mounts), f"{overlay.name} {name}: {path}")

    def test_the_password_is_where_the_pair_looks_for_it(self):
        pair = self.overlays["pair"]
        url = pair.settings("weftd")["store"]["url"]
        copy, = pair.pod("weftd")["initContainers"]
        self.assertEqual(["install", "-m", "0600"], copy["command"][:3])
        self.assertEqual(re.search(r"passfile=([^&]+)", url)[1], copy["command"][-1])

    def test_the_programs_take_their_configuration(self):
        with tempfile.TemporaryDirectory(prefix="weft-overlays-") as place:
            self.make_secrets(place)
            for overlay in self.overlays.values():
                weftd = overlay.configuration("weftd")
                self.assertIn("is valid", self.checked(place, "weftd", weftd.split("[store]")[0]), overlay.name)
                self.assertIn("is valid", self.checked(place, "weft-collector", overlay.configuration("weft-collector")), overlay.name)
            self.assertIn("is valid", self.checked(place, "weft-collector", self.outside.configuration("weft-collector")))
            # Not without the database, which is found missing after all else.
            self.assertRegex(self.checked(place, "weftd", self.overlays["pair"].configuration("weftd").replace("example.com", "invalid")),
                             "the database is not reachable: could not translate host name")

    def test_weftd_takes_the_flags_of_drain(self):
        flags = self.overlays["drain"].pod("weftd")["containers"][0]["args"]
        self.assertIn("does not run in a Kubernetes pod", run_weftd([*flags, "--check-config"]).stderr)

    def test_accept_lets_weft_node_conditions_take_taints_away(self):
        overlay = self.overlays["accept"]
        flags, base = (each.pod("weft-node-conditions")["containers"][0]["args"] for each in (overlay, self.overlays["single"]))
        self.assertEqual([*base, "--accept=7200"], flags)
        role = overlay.one("ClusterRole", "weft-acceptance")
        self.assertEqual([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]}], role["rules"])
        binding = overlay.one("ClusterRoleBinding", "weft-acceptance")
        self.assertEqual(("weft-acceptance", overlay.pod("weft-node-conditions")["serviceAccountName"], "weft"),
                         (binding["roleRef"]["name"], binding["subjects"][0]["name"], binding["subjects"][0]["namespace"]))

    def make_secrets(self, place: str) -> None:
        """As the kubelet shows Secrets: below /etc/weft, readable by the group, as links into a folder that it exchanges."""
        certs = os.path.join(place, "certs")
        for command in (["make-certificates", certs, "--server", "weftd.weft.svc"], ["make-token", os.path.join(place, "made"), "n1", "collector", "node=n1"]):
            subprocess.run([os.path.join(ROOT, "deploy", "certs", command[0]), *command[1:]], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, source in (("certificate/tls.crt", "certs/server.crt"), ("certificate/tls.key", "certs/server.key"), ("tokens/tokens", "made"),
                             ("authority/ca.crt", "certs/ca.crt"), ("database/ca.crt", "certs/ca.crt"), ("token", "made")):
            path = os.path.join(place, "weft", name)
            real = os.path.join(os.path.dirname(path), "..data", os.path.basename(path))
            os.makedirs(os.path.dirname(real), exist_ok=True)
            shutil.copy(os.path.join(place, source), real)
            os.chmod(real, SECRET_MODE)
            os.symlink(os.path.relpath(real, os.path.dirname(path)), path)

    @staticmethod
    def checked(place: str, name: str, configuration: str) -> str:
        """What --check-config says of it, with the mounts below `place`."""
        path = os.path.join(place, f"{name}.toml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(configuration.replace("/etc/weft/", f"{place}/weft/").replace("/run/weft/", f"{place}/"))
        done = subprocess.run([program(name), "--config", path, "--state-dir", os.path.join(place, "state"), "--check-config"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.stdout

    def test_ports_are_those_that_weftd_listens_at(self):
        for overlay in self.overlays.values():
            listen = {key: int(value.rsplit(":", 1)[1]) for key, value in overlay.settings("weftd")["listen"].items()}
            container = overlay.pod("weftd")["containers"][0]
            self.assertEqual(listen, {each["name"]: each["containerPort"] for each in container["ports"]})
            self.assertEqual(listen, {each["name"]: each["port"] for each in overlay.one("Service")["spec"]["ports"]})
            self.assertEqual({each["name"]: each["name"] for each in container["ports"]},
                             {each["name"]: each["targetPort"] for each in overlay.one("Service")["spec"]["ports"]})
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                self.assertEqual(("http", "HTTPS"), (container[probe]["httpGet"]["port"], container[probe]["httpGet"]["scheme"]))
            grpc, http = overlay.one("NetworkPolicy")["spec"]["ingress"]
            self.assertEqual(([listen["grpc"]], [listen["http"]]), tuple([each["port"] for each in rule["ports"]] for rule in (grpc, http)))
            probe = overlay.pod("weft-collector")["containers"][0]["livenessProbe"]["httpGet"]
            self.assertEqual(self.images["weft-collector"].health, (probe["port"], probe["path"]))
            self.assertNotIn("listen", overlay.settings("weft-collector"), "by itself it listens on the loopback address")

    def test_clients_know_a_weftd_outside(self):
        self.assertEqual({"weft-collector", "weft-node-conditions"}, set(self.outside.workloads()))
        conditions = self.outside.pod("weft-node-conditions")["containers"][0]
        self.assertEqual([{"name": "WEFT", "value": ",".join(self.outside.settings("weft-collector")["analyzer"]["address"])}], conditions["env"])

    def test_clients_know_each_weftd(self):
        for overlay in self.overlays.values():
            weftd, service = overlay.one("StatefulSet"), overlay.one("Service")
            self.assertEqual((service["metadata"]["name"], "None", True),
                             (weftd["spec"]["serviceName"], service["spec"]["clusterIP"], service["spec"]["publishNotReadyAddresses"]))
            wanted = [f"weftd-{number}.weftd.{weftd['metadata']['namespace']}.svc:9641" for number in range(weftd["spec"]["replicas"])]
            self.assertEqual(wanted, overlay.settings("weft-collector")["analyzer"]["address"])
            conditions = overlay.pod("weft-node-conditions")["containers"][0]
            self.assertEqual([{"name": "WEFT", "value": ",".join(wanted)}], conditions["env"])
            self.assertIn("--weft=$(WEFT)", conditions["args"])

    def test_selectors_find_pods(self):
        for overlay in self.overlays.values():
            labels = {name: spec["template"]["metadata"]["labels"] for name, spec in overlay.workloads().items()}
            for name, spec in overlay.workloads().items():
                self.assertLessEqual(spec["selector"]["matchLabels"].items(), labels[name].items())
            for kind in ("Service", "NetworkPolicy", "PodDisruptionBudget"):
                for each in overlay.all(kind):
                    spec = each["spec"]
                    chosen = spec["podSelector"]["matchLabels"] if kind == "NetworkPolicy" else spec["selector"].get("matchLabels", spec["selector"])
                    found = [name for name, has in labels.items() if chosen.items() <= has.items()]
                    self.assertEqual([each["metadata"]["name"]], found, f"{overlay.name}: {kind}")
            self.assertEqual(overlay.name == "pair", bool(overlay.all("PodDisruptionBudget")))
            for each in overlay.objects:
                if each["kind"].endswith("Binding"):
                    subject, = each["subjects"]
                    self.assertTrue([account for account in overlay.all("ServiceAccount") if (account["metadata"]["name"], account["metadata"]["namespace"]) ==
                                     (subject["name"], subject["namespace"])], each)

    def test_images_are_those_that_deploy_image_makes(self):
        for overlay, name, pod in self.pods():
            with self.subTest(overlay=overlay.name, workload=name):
                for container in (*pod.get("initContainers", []), *pod["containers"]):
                    registry, version = container["image"].rsplit(":", 1)
                    self.assertEqual(name, registry.rsplit("/", 1)[1])
                    with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as stream:
                        self.assertEqual(stream.read().strip(), version)

    def test_what_must_be_there_before_is_made_in_the_readme(self):
        with open(os.path.join(kubectl.KUBERNETES, "README.md"), encoding="utf-8") as stream:
            made = set(re.findall(r"create (?:secret (?:generic|tls)|configmap) ([\w-]+)", stream.read()))
        for overlay, name, pod in self.pods():
            with self.subTest(overlay=overlay.name, workload=name):
                own = {each["metadata"]["name"] for each in overlay.all("ConfigMap")}
                used = {each[kind][key] for each in pod["volumes"] for kind, key in (("secret", "secretName"), ("configMap", "name")) if kind in each}
                self.assertLessEqual(used - own, made)

    def test_a_changed_configuration_starts_the_pods_anew(self):
        with tempfile.TemporaryDirectory(prefix="weft-overlays-") as place:
            copied = shutil.copytree(kubectl.KUBERNETES, os.path.join(place, "kubernetes"))
            with open(os.path.join(copied, "overlays", "single", "weftd.toml"), "a", encoding="utf-8") as stream:
                stream.write('\n[infiniband]\nsweep_interval = "2s"\n')
            changed = kubectl.objects(kubectl.built(KUBECTLS[0], os.path.join(copied, "overlays", "single")))
        before = {(each["kind"], each["metadata"]["name"]): each for each in self.overlays["single"].objects}
        differs = [each["kind"] for each in changed if before.get((each["kind"], each["metadata"]["name"])) != each]
        self.assertEqual(["ConfigMap", "StatefulSet"], sorted(differs))

    def test_the_rule_is_made_of_the_file_of_rules(self):
        made = subprocess.run([os.path.join(kubectl.KUBERNETES, "make-prometheus-rule")], check=True, stdout=subprocess.PIPE, text=True).stdout
        with open(os.path.join(kubectl.KUBERNETES, "overlays", "monitoring", "prometheus-rule.yaml"), encoding="utf-8") as stream:
            self.assertEqual(made, stream.read(), "run deploy/kubernetes/make-prometheus-rule")
        with open(RULES, encoding="utf-8") as stream:
            rules, = kubectl.objects(stream.read())
        self.assertEqual(rules, self.monitoring.one("PrometheusRule", "weft")["spec"])

    def test_dashboards_are_what_the_sidecar_of_grafana_looks_for(self):
        folder = os.path.join(ROOT, "dashboards", "grafana")
        wanted = {}
        for name in sorted(os.listdir(folder)):
            if name.startswith("weft-"):
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    wanted[name] = stream.read()
        for program_ in KUBECTLS:
            found = kubectl.objects(kubectl.built(program_, os.path.join(kubectl.KUBERNETES, "overlays", "dashboards")))
            self.assertEqual(wanted, {name: text for each in found for name, text in each["data"].items()}, "each dashboard, and no other")
            for each in found:
                name, = each["data"]
                self.assertEqual(("ConfigMap", name.removesuffix(".json").replace("weft-", "weft-dashboard-"), "weft"),
                                 (each["kind"], each["metadata"]["name"], each["metadata"]["namespace"]))
                self.assertEqual("1", each["metadata"]["labels"]["grafana_dashboard"], "a text: true or a number would be refused")
                self.assertEqual("Weft", each["metadata"]["annotations"]["grafana_folder"])
                # `kubectl apply` puts the whole object into an annotation, too, and all of these may have 256 KiB; a ConfigMap 1 MiB.
                self.assertLess(len(json.dumps(each)), 256 * 1024)

    @unittest.skipIf(not which("prometheus"), "prometheus is not installed")
    def test_targets_have_the_labels_of_our_prometheus(self):
        monitor = self.monitoring.one("ServiceMonitor")
        service = self.overlays["pair"].one("Service")
        self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        self.assertEqual(service["metadata"]["namespace"], monitor["metadata"]["namespace"])
        endpoint, = monitor["spec"]["endpoints"]
        self.assertIn(endpoint["port"], [each["name"] for each in service["spec"]["ports"]])
        # What the operator puts before ours (prometheus-operator, pkg/prometheus/promcfg.go), written down here: there is no operator.
        operators = [{"source_labels": [f"__meta_kubernetes_{source}"], "target_label": target} for source, target in (
            ("namespace", "namespace"), ("service_name", "service"), ("pod_name", "pod"), ("pod_container_name", "container"))]
        operators += [{"target_label": "endpoint", "replacement": endpoint["port"]}, {"source_labels": ["__meta_kubernetes_service_name"], "target_label": "job"}]
        names = {"sourceLabels": "source_labels", "targetLabel": "target_label"}
        ours = [{names.get(key, key): value for key, value in each.items()} for each in endpoint["relabelings"]]
        found = {"__meta_kubernetes_namespace": "weft", "__meta_kubernetes_service_name": "weftd", "__meta_kubernetes_pod_name": "weftd-1",
                 "__meta_kubernetes_pod_container_name": "weftd"}
        configuration = kubectl.yaml.safe_dump({"scrape_configs": [{
            "job_name": "serviceMonitor/weft/weftd/0", "static_configs": [{"targets": ["127.0.0.1:1"], "labels": found}],
            "relabel_configs": operators + ours}]})
        server = prometheus(configuration)
        self.addCleanup(server.stop)
        target = wait_until(lambda: server.asked("/api/v1/targets")["activeTargets"])[0]
        self.assertEqual({"job": "weft", "instance": "weftd-1.weftd.weft.svc:9640"}, target["labels"])
        with open(os.path.join(ROOT, "deploy", "prometheus", "prometheus.yml"), encoding="utf-8") as stream:
            plain, = kubectl.objects(stream.read())
        self.assertIn(target["labels"]["job"], [each["job_name"] for each in plain["scrape_configs"]])
        self.assertEqual((plain["global"]["scrape_interval"], plain["global"]["scrape_timeout"]), (endpoint["interval"], endpoint["scrapeTimeout"]))


if __name__ == "__main__":
    main()
