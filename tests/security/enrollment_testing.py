# SPDX-License-Identifier: Apache-2.0
"""What the tests of enrolment share: a collector that gets its certificate from weftd, and a test with such a weftd."""

import json
import os
import subprocess
import sys
import urllib.request

import security_testing
from security_testing import Authority, GuardedWeftd, SecurityTest, field, free_address, grpc, program, read, run, wait_until

sys.path.insert(0, os.path.join(security_testing.ROOT, "tests", "collector"))
import sysfs_tree  # noqa: E402

LIST = "/weft.v1.FabricService/ListNodes"
ENROLL = "/weft.v1.EnrollService/Enroll"


class Collector:
    """A real one of `node`, whose state is in `place`."""

    def __init__(self, test, place: str, node: str, analyzer: str, token_file: str, *arguments: str):
        self.place, self.http = place, free_address()
        os.makedirs(place, exist_ok=True)
        self.log_path = os.path.join(place, "log")
        environment = dict(os.environ, CREDENTIALS_DIRECTORY=os.path.dirname(token_file))
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [program("weft-collector"), "--state-dir", os.path.join(place, "state"), "--http", self.http, "--sysfs-root", test.sysfs, "--interval",
                 "100ms", "--node-name", node, "--analyzer", analyzer, "--analyzer-reconnect-limit", "500ms", "--analyzer-enroll-token-file",
                 "$CREDENTIALS_DIRECTORY/" + os.path.basename(token_file), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        test.addCleanup(self.stop)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def wait_log(self, *words: str) -> None:
        wait_until(lambda: any(all(word in line for word in words) for line in self.log().splitlines()), 30,
                   why=lambda: f"no line with {words} in the collector's log:\n{self.log()[-3000:]}")

    def file(self, name: str) -> str:
        return os.path.join(self.place, "state", "certificate", name)

    def serial(self) -> str:
        if not os.path.exists(self.file("certificate.pem")):
            return ""
        return run("openssl", "x509", "-in", self.file("certificate.pem"), "-noout", "-serial")

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=20) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.rsplit(" ", 1)[1])
        return float("nan")


class EnrollmentTest(SecurityTest):
    LIFETIME = "30d"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sysfs = os.path.join(cls.place, "sysfs")
        os.mkdir(cls.sysfs)
        sysfs_tree.make(cls.sysfs, 1)

    @classmethod
    def enroll_lines(cls, authority: Authority | None = None, **more: str) -> str:
        authority = authority or cls.ours
        keys = {"certificate": f'"{authority.path("ca.crt")}"', "key": f'"{authority.path("ca.key")}"', "lifetime": f'"{cls.LIFETIME}"'}
        keys.update(more)
        return "\n[security.enroll]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())

    def setUp(self):
        self.mine = os.path.join(self.place, self.id().rsplit(".", 1)[-1])
        os.mkdir(self.mine)

    def weftctl(self, weftd: GuardedWeftd, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess:
        """As an account of weftd's host."""
        return subprocess.run([program("weftctl"), "--server", f"unix:{weftd.socket}", *arguments], input=stdin, capture_output=True, text=True,
                              timeout=60, check=False)

    def token_for(self, weftd: GuardedWeftd, node: str, *arguments: str) -> str:
        """The file with its token."""
        done = self.weftctl(weftd, "enroll", node, *arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("/etc/weft/collector/enroll.token", done.stderr)
        return self.keep(node, done.stdout)

    def keep(self, node: str, text: str) -> str:
        folder = os.path.join(self.mine, "credentials")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{node}.token")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def collector(self, weftd: GuardedWeftd, node: str, token_file: str, *arguments: str, place: str = "") -> Collector:
        return Collector(self, os.path.join(self.mine, place or node), node, weftd.grpc, token_file, *arguments)

    def told(self, weftd: GuardedWeftd) -> dict[str, dict]:
        return {one["host"]: one for one in json.loads(self.weftctl(weftd, "--json", "collectors").stdout or "{}").get("collectors", [])}

    def wait_connected(self, weftd: GuardedWeftd, collector: Collector, node: str) -> None:
        wait_until(lambda: self.told(weftd).get(node, {}).get("state") == "CONNECTED", 40,
                   why=lambda: f"{node} does not report: {self.told(weftd)}\n{collector.log()[-3000:]}\n{weftd.log()[-3000:]}")

    def request(self, name: str = "x") -> bytes:
        """A certificate request of a new key, whose subject claims to be the admin."""
        path = os.path.join(self.mine, name)
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=admin", "-addext",
            "subjectAltName=DNS:admin,URI:weft://collector/dgx-01", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", path + ".key",
            "-outform", "DER", "-out", path + ".der")
        return read(path + ".der")

    def enroll(self, weftd: GuardedWeftd, token_file: str, node: str, request: bytes) -> str:
        secret = read(token_file).decode().split(":")[2]
        channel = self.channel(weftd)
        try:
            self.answer = channel.unary_unary(ENROLL)(field(1, secret) + field(2, node) + field(3, request), timeout=20)
        except grpc.RpcError as error:
            self.details = error.details()
            return error.code().name
        return "OK"
