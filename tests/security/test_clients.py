# SPDX-License-Identifier: Apache-2.0
"""Our own clients with certificates and tokens: weftctl, and weft-collector by way of weft-uplink."""

import os
import subprocess
import sys

import security_testing
from security_testing import SecurityTest, program, run, wait_until

sys.path.insert(0, os.path.join(security_testing.ROOT, "tests", "collector"))
import sysfs_tree  # noqa: E402


class Clients(SecurityTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weftd = cls.weftd_with(cls.lines())
        cls.sysfs = os.path.join(cls.place, "sysfs")
        os.mkdir(cls.sysfs)
        sysfs_tree.make(cls.sysfs, 1)
        cls.token_file = os.path.join(cls.place, "my-token")
        with open(cls.token_file, "w", encoding="utf-8") as stream:
            stream.write(cls.tokens["vic"] + "\n")

    def weftctl(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([program("weftctl"), "--server", self.weftd.grpc, *arguments], env=dict(os.environ, **environment),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def with_certificate(self, person: str, authority=None) -> tuple[str, ...]:
        authority = authority or self.ours
        return ("--ca", self.ours.path("ca.crt"), "--cert", authority.path(f"{person}.crt"), "--key", authority.path(f"{person}.key"))

    def test_weftctl(self):
        ca = self.ours.path("ca.crt")
        for arguments, environment in ((self.with_certificate("viewer"), {}),
                                       (("--ca", ca, "--token-file", self.token_file), {}),
                                       ((), {"WEFT_CA": ca, "WEFT_TOKEN": self.tokens["vic"]}),
                                       ((), {"WEFT_CA": ca, "WEFT_TOKEN_FILE": self.token_file}),
                                       ((), {"WEFT_CA": ca, "WEFT_CERT": self.ours.path("viewer.crt"), "WEFT_KEY": self.ours.path("viewer.key")})):
            done = self.weftctl(*arguments, "plans", **environment)
            self.assertEqual(0, done.returncode, f"{arguments} {environment}: {done.stderr}")
        for code, arguments in ((4, (*self.with_certificate("viewer"), "approve", "PLAN-1")), (4, ("--ca", ca, "plans")),
                                (3, ("plans",)), (3, (*self.with_certificate("admin", self.other), "plans")),
                                (3, ("--ca", self.other.path("ca.crt"), "plans")), (2, ("--ca", "/no/such/file", "plans")),
                                (2, ("--cert", self.ours.path("viewer.crt"), "--ca", ca, "plans"))):
            done = self.weftctl(*arguments)
            self.assertEqual(code, done.returncode, f"{arguments}: {done.stdout}{done.stderr}")
            self.assertTrue(done.stderr.startswith("weftctl: "), done.stderr)

    def test_who_approves_is_the_certificates_name(self):
        done = self.weftctl(*self.with_certificate("operator"), "hands-off", "on", "--reason", "a test")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("operator", self.weftctl(*self.with_certificate("viewer"), "--json", "audit").stdout)

    def collector(self, node: str, *arguments: str) -> str:
        """Starts one; the path of its log."""
        place = os.path.join(self.place, f"{self.id().rsplit('.', 1)[-1]}-{node}")
        os.mkdir(place)
        log = os.path.join(place, "log")
        with open(log, "wb") as stream:
            process = subprocess.Popen(
                [program("weft-collector"), "--state-dir", os.path.join(place, "state"), "--http", security_testing.free_address(), "--sysfs-root",
                 self.sysfs, "--interval", "100ms", "--node-name", node, "--analyzer", self.weftd.grpc, "--analyzer-reconnect-limit", "500ms",
                 "--analyzer-authorities", self.ours.path("ca.crt"), *arguments], stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)

        def stop():
            process.terminate()
            process.wait(20)

        self.addCleanup(stop)
        return log

    def told(self) -> dict[str, str]:
        collectors = self.ask(self.weftd, "GET", "/api/v1/collectors", self.tokens["vic"])[1]["collectors"]
        return {collector["host"]: collector["state"] for collector in collectors}

    def test_collectors(self):
        certificate = ("--analyzer-certificate", self.ours.path("dgx-02.crt"), "--analyzer-key", self.ours.path("dgx-02.key"))
        token = os.path.join(self.place, "collector-token")
        with open(token, "w", encoding="utf-8") as stream:
            stream.write(self.tokens["n1"])
        self.collector("dgx-02", *certificate)
        self.collector("dgx-01", "--analyzer-token-file", token)
        wait_until(lambda: self.told() == {"dgx-01": "CONNECTED", "dgx-02": "CONNECTED"}, 30, why=lambda: f"{self.told()}\n{self.weftd.log()}")
        liar = self.collector("dgx-03", *certificate)
        self.weftd.wait_log("refused /weft.v1.TelemetryService/Stream from ipv4:127.0.0.1", "by dgx-02", "may not report for the node dgx-03")
        wait_until(lambda: "may not report for the node dgx-03" in open(liar, encoding="utf-8").read(), 20, why="the liar is not told why")
        self.assertNotIn("dgx-03", self.told())

    def test_certificates_of_clients_are_read_anew(self):
        """A collector that waits with a wrong certificate comes in when it gets the right one."""
        mine = os.path.join(self.place, "mine")
        os.mkdir(mine)
        authority = self.other
        for suffix in ("crt", "key"):
            run("cp", authority.path(f"dgx-02.{suffix}"), os.path.join(mine, f"my.{suffix}"))
        self.collector("dgx-02.", *("--analyzer-certificate", os.path.join(mine, "my.crt"), "--analyzer-key", os.path.join(mine, "my.key")))
        self.weftd.wait_log("refused a TLS handshake on gRPC", "certificate")


if __name__ == "__main__":
    security_testing.main()
