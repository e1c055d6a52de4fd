# SPDX-License-Identifier: Apache-2.0
"""A real kube-apiserver 1.20 on etcd, on loopback. Debian 12 has no package of it, only the source: it is built from that once and
kept in a cache folder.

    python3 kube_apiserver.py          builds it where it is missing, and prints where it is

Needs the packages of the sections [tests] and [kubernetes] of deploy/packages.txt.
"""

import glob
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "deploy", "demonstration"))

from certificates import make_certificate, make_client, make_key_pair  # noqa: E402
from child_process import start_child  # noqa: E402
from weft_client import free_address  # noqa: E402

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weft")
REFLECT2 = "/usr/share/gocode/src/github.com/modern-go/reflect2"  # the one in the source does not work with Go 1.19
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
START = 120


def binary() -> str | None:
    """Where it is, or None where it was not built yet."""
    path = os.path.join(CACHE, "kube-apiserver")
    return path if os.access(path, os.X_OK) else None


def build() -> str:
    """Where it is. Takes minutes the first time."""
    if found := binary():
        return found
    os.makedirs(CACHE, exist_ok=True)
    place = tempfile.mkdtemp(prefix="build-", dir=CACHE)
    try:
        _fetch_source(place)
        source = next(path for path in glob.glob(os.path.join(place, "kubernetes-*")) if os.path.isdir(path))
        reflect2 = os.path.join(source, "vendor", "github.com", "modern-go", "reflect2")
        shutil.rmtree(reflect2)
        shutil.copytree(REFLECT2, reflect2)
        environment = dict(os.environ, GOPROXY="off", CGO_ENABLED="0", GOCACHE=os.path.join(place, "cache"), GOFLAGS="-mod=vendor")
        _run(["nice", "-n", "19", "make", "WHAT=cmd/kube-apiserver"], source, environment, os.path.join(CACHE, "kube-apiserver.log"))
        shutil.move(os.path.join(source, "_output", "bin", "kube-apiserver"), os.path.join(CACHE, "kube-apiserver"))
    finally:
        subprocess.run(["chmod", "-R", "u+w", place], check=False)
        shutil.rmtree(place, ignore_errors=True)
    return binary()


def _fetch_source(place: str) -> None:
    lists = os.path.join(place, "lists")
    os.makedirs(os.path.join(lists, "partial"))
    sources = os.path.join(place, "sources.list")
    with open(sources, "w", encoding="utf-8") as stream:
        stream.writelines(f"deb-src [signed-by={KEYRING}] {archive} main\n" for archive in _archives())
    options = [word for setting in (f"Dir::Etc::SourceList={sources}", "Dir::Etc::SourceParts=/dev/null", f"Dir::State::Lists={lists}",
                                    "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=", "APT::Sandbox::User=root") for word in ("-o", setting)]
    log = os.path.join(CACHE, "kubernetes-source.log")
    _run(["apt-get", *options, "update"], place, None, log)
    _run(["apt-get", *options, "source", "kubernetes"], place, None, log)


def _archives() -> list[str]:
    """Mirror and suite of each part of Debian that apt takes packages from here: "https://mirror.example/debian bookworm"."""
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages", "Origin: Debian"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(set(told.stdout.splitlines()))


def _run(command: list[str], place: str, environment: dict | None, log: str) -> None:
    with open(log, "wb") as stream:
        done = subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, check=False)
    if done.returncode != 0:
        with open(log, encoding="utf-8", errors="replace") as stream:
            end = "".join(stream.readlines()[-15:])
        raise AssertionError(f"{' '.join(command)} gave {done.returncode}; all of it is in {log}:\n{end}")


class KubeApiserver:
    """One with the users that the suite has. `tokens`: of admin, weft, reader and quiet; weft gets what deploy/kubernetes/overlays/drain/
    weftd-role.yaml gives, reader may look at nodes, quiet may change them and tell of nothing."""

    def __init__(self, place: str, tokens: dict[str, str]):
        self.place = place
        self.tokens = tokens
        self.certificate, self.key = make_certificate(place)
        self.client = make_client(place, (self.certificate, self.key), "/O=system:masters/CN=weftd")
        self.processes: list[subprocess.Popen] = []
        self.url = "https://" + free_address()
        try:
            self._start(build())
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []

    def _start(self, program: str) -> None:
        client, peer = (f"http://{free_address()}" for _ in range(2))
        self._spawn("etcd", ["etcd", "--data-dir", os.path.join(self.place, "etcd"), "--listen-client-urls", client, "--advertise-client-urls",
                             client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"])
        users = os.path.join(self.place, "tokens.csv")
        with open(users, "w", encoding="utf-8") as stream:
            for name, token in self.tokens.items():
                stream.write(f"{token},{name},{name}-id" + (',"system:masters"\n' if name == "admin" else "\n"))
        public, private = make_key_pair(self.place, "service-accounts")
        self._spawn("kube-apiserver", [
            program, "--etcd-servers", client, "--bind-address=127.0.0.1", "--secure-port", self.url.rsplit(":", 1)[1], "--insecure-port=0",
            "--tls-cert-file", self.certificate, "--tls-private-key-file", self.key, "--client-ca-file", self.certificate,
            "--token-auth-file", users, "--authorization-mode=RBAC", "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount", "--service-account-issuer=https://weft.test",
            "--service-account-key-file", public, "--service-account-signing-key-file", private,
            "--service-cluster-ip-range=10.0.0.0/24", "--cert-dir", self.place])
        deadline = time.monotonic() + START
        while not self._ready():
            for process in self.processes:
                if process.poll() is not None:
                    raise AssertionError(f"{process.args[0]} ended with {process.returncode}:\n{self._log(process)}")
            if time.monotonic() > deadline:
                raise AssertionError(f"kube-apiserver is not ready after {START} s:\n{self._log(self.processes[-1])}")
            time.sleep(0.2)
        self._give_rights()

    def _spawn(self, name: str, command: list[str]) -> None:
        with open(os.path.join(self.place, f"{name}.log"), "wb") as log:
            self.processes.append(start_child(command, cwd=self.place, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              start_new_session=True))

    def _log(self, process: subprocess.Popen) -> str:
        with open(os.path.join(self.place, f"{os.path.basename(process.args[0])}.log"), encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-20:])

    def _ask(self, method: str, path: str, body=None) -> bytes:
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {self.tokens['admin']}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=self.certificate), timeout=10) as answer:
            return answer.read()

    def _ready(self) -> bool:
        try:
            # It is ready a moment before it has made its first namespace.
            return self._ask("GET", "/readyz") == b"ok" and bool(self._ask("GET", "/api/v1/namespaces/default"))
        except OSError:
            return False

    def _give_rights(self) -> None:
        import yaml

        group = "/apis/rbac.authorization.k8s.io/v1"
        with open(os.path.join(ROOT, "deploy", "kubernetes", "overlays", "drain", "weftd-role.yaml"), encoding="utf-8") as stream:
            nodes, events = yaml.safe_load_all(stream)
        self._ask("POST", f"{group}/clusterroles", nodes)
        self._ask("POST", f"{group}/namespaces/default/roles", events)
        with open(os.path.join(ROOT, "deploy", "kubernetes", "base", "node-conditions", "role.yaml"), encoding="utf-8") as stream:
            self._ask("POST", f"{group}/clusterroles", yaml.safe_load(stream))
        looks = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "looks"},
                 "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]}
        self._ask("POST", f"{group}/clusterroles", looks)
        for user, role in (("weft", "weftd-nodes"), ("quiet", "weftd-nodes"), ("reader", "looks"),
                           ("conditions", "weft-node-conditions")):
            self._ask("POST", f"{group}/clusterrolebindings", binding("ClusterRole", role, user))
        self._ask("POST", f"{group}/namespaces/default/rolebindings", binding("Role", "weftd-events", "weft"))


def binding(kind: str, role: str, user: str) -> dict:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": f"{kind}Binding", "metadata": {"name": f"{role}-{user}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}


if __name__ == "__main__":
    print(build())
