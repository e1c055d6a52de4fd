# SPDX-License-Identifier: Apache-2.0
"""Collectors that get their certificates from weftd: weftctl enroll, weft-collector, and whoever tries it without a right."""

import json
import os
import shutil
import stat
import subprocess

import security_testing
from enrollment_testing import ENROLL, LIST, EnrollmentTest
from security_testing import Authority, field, program, read, run, wait_until

RENEW = "/weft.v1.EnrollService/Renew"


class Enrollment(EnrollmentTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weftd = cls.weftd_with(cls.lines() + cls.enroll_lines())

    def test_a_node_is_enrolled_and_reports_for_itself(self):
        token_file = self.token_for(self.weftd, "gpu-07", "--who", "ann")
        self.assertTrue(read(token_file).startswith(b"weft1:gpu-07:"))
        listed = json.loads(self.weftctl(self.weftd, "--json", "enroll", "--list").stdout)["tokens"]
        self.assertEqual([("gpu-07", False)], [(one["node"], "used" in one) for one in listed if one["node"] == "gpu-07"])
        self.assertNotIn(read(token_file).decode().split(":")[2], json.dumps(listed))
        collector = self.collector(self.weftd, "gpu-07", token_file)
        self.wait_connected(self.weftd, collector, "gpu-07")
        collector.wait_log("enrolled: the certificate ends at")
        self.weftd.wait_log("gpu-07 is enrolled from ipv4:127.0.0.1; its certificate ends at")
        # What was signed, looked at by another program.
        own, ca = collector.file("certificate.pem"), self.ours.path("ca.crt")
        self.assertIn("OK", run("openssl", "verify", "-purpose", "sslclient", "-CAfile", ca, own))
        with self.assertRaisesRegex(AssertionError, "unsuitable certificate purpose|unsupported certificate purpose"):
            run("openssl", "verify", "-purpose", "sslserver", "-CAfile", ca, own)
        text = run("openssl", "x509", "-in", own, "-noout", "-text")
        for words in ("Subject: CN = gpu-07", "CA:FALSE", "TLS Web Client Authentication", "DNS:gpu-07, URI:weft://collector/gpu-07", "id-ecPublicKey"):
            self.assertIn(words, text)
        self.assertNotIn("TLS Web Server", text)
        self.assertEqual(read(ca).strip(), read(collector.file("authorities.pem")).strip())
        self.assertEqual({"certificate.pem", "authorities.pem"}, set(os.listdir(collector.file(""))))
        for path, mode in ((collector.file(""), 0o700), (own, 0o600)):
            self.assertEqual(mode, stat.S_IMODE(os.stat(path).st_mode), path)
        self.assertGreater(collector.metric("weft_agent_certificate_expiry_timestamp_seconds"), 1.7e9)
        # Who did it, and when.
        audit = json.loads(self.weftctl(self.weftd, "--json", "audit").stdout)["records"]
        said = [(one["what"], one["who"]) for one in audit if "gpu-07" in one["detail"] or one["who"] == "gpu-07"]
        self.assertEqual([("enrollment allowed", f"{self.account()}, for ann"), ("enrolled", "gpu-07")], said)
        self.assertIn("gpu-07", self.weftctl(self.weftd, "enroll", "--list").stdout)
        # The token is of no more use, and is not needed again.
        os.remove(token_file)
        collector.stop()
        again = self.collector(self.weftd, "gpu-07", token_file)
        self.wait_connected(self.weftd, again, "gpu-07")
        self.assertNotIn("no certificate", again.log().replace(collector.log(), ""))

    def account(self) -> str:
        return run("id", "-un").strip() + f" (uid {os.getuid()})"

    def test_a_token_counts_once_and_for_its_node(self):
        token_file = self.token_for(self.weftd, "gpu-08")
        self.assertEqual("UNAUTHENTICATED", self.enroll(self.weftd, token_file, "gpu-09", self.request()))
        alike = self.details
        self.weftd.wait_log("refused /weft.v1.EnrollService/Enroll from ipv4:127.0.0.1", "the token of gpu-08 was shown for gpu-09")
        request = self.request()
        self.assertEqual("OK", self.enroll(self.weftd, token_file, "gpu-08", request), "a wrong name does not use it up")
        self.assertEqual("OK", self.enroll(self.weftd, token_file, "gpu-08", request), "the answer may have been lost")
        self.assertEqual("UNAUTHENTICATED", self.enroll(self.weftd, token_file, "gpu-08", self.request("other")))
        self.assertEqual(alike, self.details)
        self.assertNotIn("gpu-08", alike)
        self.weftd.wait_log("the token of gpu-08 was used at", "for another key")
        unknown = self.keep("unknown", "weft1:gpu-08:" + "A" * 43 + ":x")
        self.assertEqual("UNAUTHENTICATED", self.enroll(self.weftd, unknown, "gpu-08", request))
        self.assertEqual(alike, self.details)
        second = self.collector(self.weftd, "gpu-08", token_file)
        second.wait_log("this node was not enrolled: the token does not count", "weftctl enroll NODE")
        third = self.collector(self.weftd, "gpu-10", token_file)
        third.wait_log("is for gpu-08, and this node is gpu-10 (node_name)", "weftctl enroll gpu-10")
        self.assertNotIn("gpu-10", self.told(self.weftd))
        old = self.keep("old", read(token_file).decode())
        new = self.token_for(self.weftd, "gpu-08")
        self.assertEqual("INVALID_ARGUMENT", self.enroll(self.weftd, new, "gpu-08", b"nonsense"))
        self.assertEqual("UNAUTHENTICATED", self.enroll(self.weftd, old, "gpu-08", request), "the new token took its place")

    def test_nothing_of_a_request_but_its_key_counts(self):
        token_file = self.token_for(self.weftd, "admin")
        self.assertEqual("OK", self.enroll(self.weftd, token_file, "admin", self.request()))
        certificate = os.path.join(self.mine, "admin.crt")
        with open(certificate, "wb") as stream:
            stream.write(self.answer[self.answer.index(b"-----BEGIN"):self.answer.index(b"-----END CERTIFICATE-----") + 26])
        os.rename(os.path.join(self.mine, "x.key"), os.path.join(self.mine, "admin.key"))
        text = run("openssl", "x509", "-in", certificate, "-noout", "-text")
        self.assertIn("CA:FALSE", text)
        self.assertNotIn("dgx-01", text)
        # Called as the admin is, by name; and yet a collector. Over both doors.
        mine = Authority.__new__(Authority)
        mine.place = self.mine
        channel = self.channel(self.weftd, "admin", mine, self.ours)
        self.assertEqual("PERMISSION_DENIED", self.code(channel, LIST))
        self.assertIn("admin (collector)", self.details)
        self.assertEqual(403, self.ask(self.weftd, "GET", "/api/v1/nodes", context=self.tls("admin", mine, self.ours))[0])
        self.assertEqual("OK", self.code(channel, RENEW, field(1, self.request("y"))))
        # With a token beside it, it is the token that would count.
        self.assertEqual("PERMISSION_DENIED", self.code(channel, RENEW, field(1, self.request("z")), self.tokens["n1"]))
        self.assertEqual("PERMISSION_DENIED", self.code(self.channel(self.weftd), RENEW, field(1, self.request("z")), self.tokens["n1"]))
        self.assertIn("only a certificate that weftd signed", self.details)
        self.assertEqual("PERMISSION_DENIED", self.code(self.channel(self.weftd, "dgx-01"), RENEW, field(1, self.request("z"))), "the site's own")
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(self.weftd), RENEW, field(1, self.request("z"))))

    def test_only_an_admin_makes_tokens(self):
        make = "/weft.v1.EnrollService/MakeTokens"
        for token, code in (("vic", "PERMISSION_DENIED"), ("olga", "PERMISSION_DENIED"), ("n1", "PERMISSION_DENIED"), ("root", "OK")):
            self.assertEqual(code, self.code(self.channel(self.weftd), make, field(1, "gpu-20"), self.tokens[token]), token)
        for nodes, why in (((), "name the nodes"), (("a b",), "a node's name must have"), (("x" * 65,), "a node's name must have"), (("a", "a"), "named twice"),
                           (("a", "--for", "31d"), "a token counts for 1m to 30d"), (("a", "--for", "soon"), "is not a duration"),
                           (("a", "--list"), "--list"), (("a", "--output", "/no/such"), "is not a directory")):
            done = self.weftctl(self.weftd, "enroll", *nodes)
            self.assertEqual((2, True), (done.returncode, why in done.stderr), f"{nodes}: {done.stderr}")

    def test_five_hundred_nodes(self):
        folder = os.path.join(self.mine, "tokens")
        os.mkdir(folder)
        names = [f"rack-{i:03}" for i in range(500)]
        done = self.weftctl(self.weftd, "enroll", "--file", "-", "--output", folder, stdin="# all\n" + "\n".join(names) + "\n")
        self.assertEqual((0, f"500 tokens in {folder}\n"), (done.returncode, done.stdout), done.stderr)
        self.assertEqual(sorted(name + ".token" for name in names), sorted(os.listdir(folder)))
        self.assertEqual(0o600, stat.S_IMODE(os.stat(os.path.join(folder, "rack-007.token")).st_mode))
        done = self.weftctl(self.weftd, "enroll", "--revoke", "rack-007", "rack-008")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertNotIn("rack-007 ", done.stdout)
        self.assertEqual("UNAUTHENTICATED", self.enroll(self.weftd, os.path.join(folder, "rack-007.token"), "rack-007", self.request()))
        done = self.weftctl(self.weftd, "enroll", "--revoke", "rack-007")
        self.assertIn("rack-007 has no token that could be used", done.stderr)
        self.assertNotEqual(0, done.returncode)

    def test_all_of_many_nodes_get_tokens_or_none(self):
        listed = lambda: {one["node"] for one in json.loads(self.weftctl(self.weftd, "--json", "enroll", "--list").stdout).get("tokens", [])}
        good, before = self.token_for(self.weftd, "c-0007"), listed()
        names = [f"c-{i:04}" for i in range(1100)]
        for bad, why in (("no good", "a node's name must have"), ("c-0005", "c-0005 is named twice")):
            done = self.weftctl(self.weftd, "enroll", "--file", "-", stdin="\n".join([*names, bad]) + "\n")
            self.assertEqual((2, "", True), (done.returncode, done.stdout, why in done.stderr), done.stderr)
        self.assertEqual(before, listed())
        # A place that one of the files cannot be written to.
        folder = os.path.join(self.mine, "tokens")
        os.makedirs(os.path.join(folder, "c-1099.token.new", "x"))
        done = self.weftctl(self.weftd, "enroll", "--file", "-", "--output", folder, stdin="\n".join(names) + "\n")
        self.assertEqual(1, done.returncode)
        self.assertRegex(done.stderr, "no token was made: cannot write .*c-1099.token: File exists")
        self.assertEqual((before, ["c-1099.token.new"]), (listed(), os.listdir(folder)))
        done = self.weftctl(self.weftd, "enroll", "../c-0001", "--output", folder)
        self.assertEqual((2, ["c-1099.token.new"]), (done.returncode, os.listdir(folder)), done.stderr)
        self.assertEqual("OK", self.enroll(self.weftd, good, "c-0007", self.request()), "it still counts")
        os.rmdir(os.path.join(folder, "c-1099.token.new", "x"))
        done = self.weftctl(self.weftd, "enroll", "--file", "-", "--output", folder, stdin="\n".join(names) + "\n")
        self.assertEqual((0, f"1100 tokens in {folder}\n"), (done.returncode, done.stdout), done.stderr)
        self.assertEqual(sorted(name + ".token" for name in names), sorted(os.listdir(folder)))
        self.assertEqual({0o600}, {stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in os.listdir(folder)})

    def test_a_stranger_gets_no_token(self):
        """A weftd of another authority at the address: the handshake ends before the token is sent."""
        stranger = self.weftd_with(
            self.lines(certificate=f'"{self.other.path("server.crt")}"', key=f'"{self.other.path("server.key")}"',
                       client_authorities=f'"{self.other.path("ca.crt")}"') + self.enroll_lines(self.other))
        token_file = self.token_for(self.weftd, "gpu-30")
        collector = self.collector(stranger, "gpu-30", token_file)
        collector.wait_log("this node was not enrolled", "certificate")
        self.assertFalse(os.path.exists(collector.file("certificate.pem")))
        self.assertNotIn("EnrollService", stranger.log())
        collector.stop()
        # The same node and token with the right one.
        right = self.collector(self.weftd, "gpu-30", token_file)
        self.wait_connected(self.weftd, right, "gpu-30")

    def test_a_certificate_that_cannot_be_stored_costs_no_token(self):
        token_file = self.token_for(self.weftd, "gpu-40")
        place = os.path.join(self.mine, "gpu-40")
        os.makedirs(os.path.join(place, "state"))
        blocked = os.path.join(place, "state", "certificate")
        with open(blocked, "w", encoding="utf-8"):
            pass
        collector = self.collector(self.weftd, "gpu-40", token_file)
        collector.wait_log("error", blocked)
        unused = [one for one in json.loads(self.weftctl(self.weftd, "--json", "enroll", "--list").stdout)["tokens"] if one["node"] == "gpu-40"]
        self.assertEqual([False], ["used" in one for one in unused])
        os.remove(blocked)
        self.wait_connected(self.weftd, collector, "gpu-40")

    def test_a_new_token_is_used_at_once(self):
        token_file = self.token_for(self.weftd, "gpu-50")
        collector = self.collector(self.weftd, "gpu-50", token_file)
        self.wait_connected(self.weftd, collector, "gpu-50")
        first = collector.serial()
        self.token_for(self.weftd, "gpu-50")
        wait_until(lambda: collector.serial() != first, 30, why=lambda: f"the new token is not used:\n{collector.log()}")
        self.assertEqual(0, int(self.told(self.weftd)["gpu-50"].get("lostBatches", 0)))

    def test_an_empty_file_waits_for_its_token(self):
        token_file = self.keep("gpu-60", "none")
        collector = self.collector(self.weftd, "gpu-60", token_file)
        collector.wait_log("this node has no certificate, and there is no token in", "weftctl enroll gpu-60")
        self.token_for(self.weftd, "gpu-60")
        self.wait_connected(self.weftd, collector, "gpu-60")


class Configuration(EnrollmentTest):
    def refused(self, lines: str) -> str:
        path = os.path.join(self.mine, "weftd.toml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f"[infiniband]\nenabled = false\n[security]\n{lines}\n")
        done = security_testing.run_weftd(["--config", path, "--check-config", "--state-dir", os.path.join(self.mine, "state")])
        self.assertEqual(2, done.returncode, done.stdout + done.stderr)
        return done.stderr

    def test_what_could_not_work_is_said_at_the_start(self):
        server = self.ours.path("server.crt")
        for lines, why in ((self.lines() + self.enroll_lines(key='""'), "security.enroll.key"),
                           (self.lines(require_client_certificate="true") + self.enroll_lines(), "a new node has no certificate yet"),
                           (self.lines(client_authorities="", certificate_roles="") + self.enroll_lines(), "takes security.client_authorities"),
                           (self.lines() + self.enroll_lines(self.other), "weftd would refuse the certificates that it signs"),
                           (self.lines() + self.enroll_lines(certificate=f'"{server}"', key=f'"{self.ours.path("server.key")}"'), "is not an authority's"),
                           (self.lines() + self.enroll_lines(authorities=f'"{self.other.path("ca.crt")}"'), "collectors would refuse weftd")):
            with self.subTest(why):
                self.assertIn(why, self.refused(lines))

    def test_without_an_authority_nobody_is_enrolled(self):
        weftd = self.weftd_with(self.lines())
        done = self.weftctl(weftd, "enroll", "gpu-01")
        self.assertEqual(4, done.returncode)
        self.assertIn("set security.enroll.certificate and security.enroll.key", done.stderr)
        self.assertEqual("FAILED_PRECONDITION", self.code(self.channel(weftd), ENROLL, field(1, "x") + field(2, "gpu-01")))

    def test_who_asks_too_often_waits(self):
        weftd = self.weftd_with(self.lines() + self.enroll_lines())
        channel = self.channel(weftd)
        said = {self.code(channel, ENROLL, field(1, "x") + field(2, "gpu-01")): self.details for _ in range(100)}
        self.assertEqual({"UNAUTHENTICATED", "RESOURCE_EXHAUSTED"}, said.keys())
        self.assertIn("retry later", said["RESOURCE_EXHAUSTED"])
        self.assertEqual("OK", self.code(self.channel(weftd, "viewer"), LIST), "others do not wait")

    def test_weftd_is_checked_by_hand_without_its_credentials(self):
        path, state = os.path.join(self.mine, "weftd.toml"), os.path.join(self.mine, "state")
        security = self.lines(certificate='"$CREDENTIALS_DIRECTORY/weftd_server.crt"', key='"$CREDENTIALS_DIRECTORY/weftd_server.key"')
        lines = f"[infiniband]\nenabled = false\n[security]\n{security}\n"

        def check(*flags: str, **environment: str) -> subprocess.CompletedProcess:
            return subprocess.run([program("weftd"), "--config", path, "--state-dir", state, *flags], env={**os.environ, **environment},
                                  capture_output=True, text=True, timeout=60, check=False)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(lines)
        done = check("--check-config", "--check-upgrade")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"is valid, but for what was not looked at\.\n[^\n]*weft\.db: is made at the first start")
        self.assertRegex(done.stderr, r"^warning: not looked at: security\.certificate, security\.key, and [^\n]*\n$")
        done = check("--check-upgrade")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("is a credential of the unit", check().stderr)
        for name in ("crt", "key"):
            shutil.copy(self.ours.path(f"server.{name}"), os.path.join(self.mine, f"weftd_server.{name}"))
        done = check("--check-config", CREDENTIALS_DIRECTORY=self.mine)
        self.assertEqual((0, f"{path} is valid.\n", ""), (done.returncode, done.stdout, done.stderr))
        with open(path, "w", encoding="utf-8") as stream:
            stream.write('drift.profiles_file = "/no/such"\n' + lines)
        done = check("--check-config", "--check-upgrade")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("/no/such: No such file", done.stderr)

    def test_a_credential_needs_its_unit(self):
        path = os.path.join(self.mine, "weft-collector.toml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write('[analyzer]\naddress = "127.0.0.1:9641"\nenroll_token_file = "$CREDENTIALS_DIRECTORY/collector_enroll.token"\n')

        def check(**environment: str) -> subprocess.CompletedProcess:
            return subprocess.run([program("weft-collector"), "--config", path, "--check-config"], env={**os.environ, **environment},
                                  capture_output=True, text=True, timeout=60, check=False)
        done = check()
        self.assertEqual((0, f"{path} is valid, but for what was not looked at.\n"), (done.returncode, done.stdout), done.stderr)
        self.assertIn("warning: not looked at: analyzer.enroll_token_file", done.stderr)
        once = subprocess.run([program("weft-collector"), "--config", path, "--once"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((0, "{"), (once.returncode, once.stdout[:1]), once.stderr + " it sends nothing, and needs no key")
        started = subprocess.run([program("weft-collector"), "--config", path], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(2, started.returncode)
        self.assertIn("is a credential of the unit", started.stderr)
        self.assertEqual(0, check(CREDENTIALS_DIRECTORY=self.mine).returncode, "the token may come later")
        for text, code in (("none", 0), ("nonsense", 2)):
            with open(os.path.join(self.mine, "collector_enroll.token"), "w", encoding="utf-8") as stream:
                stream.write(text)
            done = check(CREDENTIALS_DIRECTORY=self.mine)
            self.assertEqual(code, done.returncode, done.stderr)
        self.assertIn("this is no token of weftctl enroll", done.stderr)


if __name__ == "__main__":
    security_testing.main()
