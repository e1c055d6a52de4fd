# SPDX-License-Identifier: Apache-2.0
"""Certificates and tokens that change while weftd runs, and new ones that are no good."""

import os
import shutil
import ssl

import security_testing
from security_testing import Authority, SecurityTest, wait_until

LIST = "/weft.v1.FabricService/ListNodes"


class Rotation(SecurityTest):
    def setUp(self):
        self.live = os.path.join(self.place, self.id().rsplit(".", 1)[-1])
        os.mkdir(self.live)
        self.copy(self.ours)
        shutil.copy(self.tokens_file, self.live)
        paths = {key: f'"{os.path.join(self.live, name)}"' for key, name in
                 (("certificate", "server.crt"), ("key", "server.key"), ("client_authorities", "ca.crt"), ("tokens_file", "tokens"))}
        self.weftd = self.weftd_with(self.lines(**paths))

    def copy(self, authority: Authority, *names: str) -> None:
        for name in names or ("server.crt", "server.key", "ca.crt"):
            shutil.copy(authority.path(name), self.live)

    def http_trusts(self, authority: Authority) -> bool:
        try:
            return self.ask(self.weftd, "GET", "/api/v1/nodes", self.tokens["vic"], self.tls(trusted=authority))[0] == 200
        except ssl.SSLError:
            return False

    def test_new_certificates_count_without_a_restart(self):
        kept = self.channel(self.weftd, "viewer")
        self.assertEqual("OK", self.code(kept, LIST))
        pid = self.weftd.process.pid
        self.copy(self.other)
        wait_until(lambda: self.http_trusts(self.other), 20, 0.2, lambda: f"HTTPS shows the old one:\n{self.weftd.log()}")
        self.assertFalse(self.http_trusts(self.ours))
        self.assertEqual("OK", self.code(self.channel(self.weftd, "viewer", self.other, self.other), LIST))
        self.assertEqual("UNAVAILABLE", self.code(self.channel(self.weftd, "viewer", self.ours, self.ours), LIST), "the old server's certificate")
        self.assertEqual("UNAVAILABLE", self.code(self.channel(self.weftd, "viewer", self.ours, self.other), LIST), "a client of the old authority")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(self.weftd, "GET", "/api/v1/nodes", context=self.tls("viewer", self.ours, self.other))
        self.assertEqual("OK", self.code(kept, LIST), "a connection that was let in stays")
        self.assertEqual((pid, None), (self.weftd.process.pid, self.weftd.process.poll()))
        wait_until(lambda: self.metric(self.weftd, "weft_security_files_loaded_total", self.tls(trusted=self.other)) == 2, 20)

    def test_bad_files_leave_the_old_ones_in_force(self):
        def bad() -> bool:
            return self.metric(self.weftd, "weft_security_files_refused") == 1

        def good() -> bool:
            return self.metric(self.weftd, "weft_security_files_refused") == 0

        def write(name: str, text: str) -> None:
            with open(os.path.join(self.live, name), "w", encoding="utf-8") as stream:
                stream.write(text)

        troubles = (("key of another certificate", lambda: self.copy(self.other, "server.key"), "is not the key of"),
                    ("not PEM", lambda: write("server.crt", "nonsense"), "has no valid PEM certificate"),
                    ("empty authorities", lambda: write("ca.crt", ""), "is empty"),
                    ("gone", lambda: os.remove(os.path.join(self.live, "server.crt")), "cannot read"),
                    ("key that others may read", lambda: os.chmod(os.path.join(self.live, "server.key"), 0o644), "is accessible to others"),
                    ("half a line of tokens", lambda: write("tokens", "vic viewer 12"), "line 1: "),
                    ("tokens that others may write", lambda: os.chmod(os.path.join(self.live, "tokens"), 0o666), "is accessible to others"))
        for name, make, why in troubles:
            with self.subTest(name):
                make()
                wait_until(bad, 20, 0.2, lambda: f"nothing is said of it:\n{self.weftd.log()}")
                self.weftd.wait_log("error security: certificates and tokens were not reloaded, the previous ones stay in use", why)
                self.assertTrue(self.http_trusts(self.ours))
                self.assertEqual("OK", self.code(self.channel(self.weftd, "viewer"), LIST))
                self.assertEqual("OK", self.code(self.channel(self.weftd), LIST, token=self.tokens["vic"]))
                self.copy(self.ours)
                os.chmod(os.path.join(self.live, "server.key"), 0o600)
                shutil.copy(self.tokens_file, self.live)
                wait_until(good, 20, 0.2, lambda: f"it is not good again:\n{self.weftd.log()}")

    def test_bad_files_at_the_start_end_it_with_a_reason(self):
        os.chmod(os.path.join(self.live, "server.key"), 0o640)
        for change, why in ((lambda: os.chmod(os.path.join(self.live, "server.key"), 0o604), "server.key is accessible to others: run chmod 0600"),
                            (lambda: self.ours.expired("gone") or shutil.copy(self.ours.path("gone.crt"), f"{self.live}/server.crt")
                             and shutil.copy(self.ours.path("gone.key"), f"{self.live}/server.key"), "has expired")):
            change()
            done = security_testing.run_weftd(["--config", self.weftd.configuration, "--state-dir", os.path.join(self.live, "state"),
                                               "--http", security_testing.free_address(), "--grpc", security_testing.free_address()])
            self.assertNotEqual(0, done.returncode)
            self.assertIn(why, done.stderr)
            os.chmod(os.path.join(self.live, "server.key"), 0o600)


if __name__ == "__main__":
    security_testing.main()
