# SPDX-License-Identifier: Apache-2.0
"""Collectors that get their certificates from weftd: weftctl enroll, weft-collector, and whoever tries it without a right."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import unittest.mock
import urllib.request

import security_testing
from security_testing import Authority, GuardedWeftd, SecurityTest, field, free_address, grpc, program, read, run, wait_until

sys.path.insert(0, os.path.join(security_testing.ROOT, "tests", "collector"))
import postgres_pair  # noqa: E402
import sysfs_tree  # noqa: E402

LIST = "/weft.v1.FabricService/ListNodes"
ENROLL = "/weft.v1.EnrollService/Enroll"
RENEW = "/weft.v1.EnrollService/Renew"


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


class Renewal(EnrollmentTest):
    LIFETIME = "20s"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.state = os.path.join(cls.place, "renewing")

    def start(self, grpc_address: str = "") -> GuardedWeftd:
        """On the same store, and at the same address as before."""
        weftd = GuardedWeftd(self.place, self.lines() + self.enroll_lines(), grpc_address=grpc_address, state=self.state)
        self.addCleanup(weftd.stop)
        return weftd

    def test_certificates_are_renewed_while_batches_go_on(self):
        first = self.start()
        token_file = self.token_for(first, "gpu-01")
        first.stop()
        weftd = self.start(first.grpc)  # the token is in the store
        collector = self.collector(weftd, "gpu-01", token_file)
        self.wait_connected(weftd, collector, "gpu-01")
        serials = {collector.serial()}
        for _ in range(2):
            wait_until(lambda: collector.serial() not in serials, 40, why=lambda: f"it is not renewed:\n{collector.log()}\n{weftd.log()}")
            serials.add(collector.serial())
        collector.wait_log("renewed: the certificate ends at")
        weftd.wait_log("gpu-01 has a new certificate, until")
        self.assertEqual([True], [one["ok"] for one in self.told(weftd)["gpu-01"]["sources"] if one["name"] == "certificate"])
        # The new one counts: the first one has ended by now, and weftd asks again.
        weftd.stop()
        again = self.start(first.grpc)
        self.wait_connected(again, collector, "gpu-01")
        self.assertEqual(0, int(self.told(again)["gpu-01"].get("lostBatches", 0)))
        self.assertEqual(0, collector.metric("weft_agent_lost_batches_total{reason=\"disk\"}"))
        # Away for longer than a certificate lasts: a new token helps.
        again.stop()
        collector.stop()
        own = collector.file("certificate.pem")
        wait_until(lambda: subprocess.run(["openssl", "x509", "-in", own, "-noout", "-checkend", "0"], capture_output=True, check=False).returncode == 1,
                   40, 0.5, lambda: "the certificate does not end")
        last = self.start(first.grpc)
        late = self.collector(last, "gpu-01", token_file)
        late.wait_log("the certificate was not renewed", "the certificate ended at", "weftctl enroll gpu-01")
        self.token_for(last, "gpu-01")
        self.wait_connected(last, late, "gpu-01")


class FailingRenewal(EnrollmentTest):
    LIFETIME = "60s"

    def test_weftd_hears_of_it_before_the_end(self):
        """The disk of the node is full, in a way: its folder is one no more."""
        weftd = self.weftd_with(self.lines() + self.enroll_lines())
        collector = self.collector(weftd, "gpu-01", self.token_for(weftd, "gpu-01"))
        self.wait_connected(weftd, collector, "gpu-01")
        folder = collector.file("")[:-1]
        os.rename(folder, folder + ".away")
        with open(folder, "w", encoding="utf-8"):
            pass

        def said() -> str:
            return next(one for one in self.told(weftd)["gpu-01"]["sources"] if one["name"] == "certificate").get("message", "")

        wait_until(lambda: "it is not renewed and ends at" in said(), 60, why=lambda: f"{self.told(weftd)}\n{collector.log()[-3000:]}")
        self.assertEqual(1, self.metric(weftd, 'weft_collector_sources_failing{source="certificate"}'))
        self.assertIn("certificate FAILS: it is not renewed", self.weftctl(weftd, "collectors").stdout)
        self.assertGreater(collector.metric("weft_agent_certificate_failures_total"), 0)
        os.remove(folder)
        os.rename(folder + ".away", folder)
        wait_until(lambda: said() == "", 60, why=lambda: f"{self.told(weftd)}\n{collector.log()[-3000:]}")
        self.assertEqual(0, int(self.told(weftd)["gpu-01"].get("lostBatches", 0)))


class Pair(EnrollmentTest):
    """Two weftd on one PostgreSQL, with the same authority."""

    def test_the_weftd_that_takes_over_knows_the_tokens(self):
        if postgres_pair.missing():
            self.skipTest(f"not installed: {', '.join(postgres_pair.missing())}")
        postgres = postgres_pair.PostgresPair()
        self.addCleanup(postgres.stop)
        postgres.start_alone()
        store = f'\n[store]\nurl = "postgresql://weft@127.0.0.1:{postgres.primary.port}/postgres"\n'
        pair = []
        for _ in range(2):
            pair.append(GuardedWeftd(self.mine, self.lines() + self.enroll_lines() + store))
            self.addCleanup(pair[-1].stop)
        leader, standby = pair
        token_file, used = self.token_for(leader, "gpu-01"), self.token_for(leader, "gpu-02")
        request = self.request()
        self.assertEqual("OK", self.enroll(leader, used, "gpu-02", request))
        done = self.weftctl(standby, "enroll", "gpu-03")
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual("UNAVAILABLE", self.enroll(standby, token_file, "gpu-01", request), "it could not use it up")
        leader.process.kill()
        leader.process.wait()
        collector = Collector(self, os.path.join(self.mine, "collector"), "gpu-01", f"{leader.grpc},{standby.grpc}", token_file)
        wait_until(lambda: self.told(standby).get("gpu-01", {}).get("state") == "CONNECTED", 90,
                   why=lambda: f"{collector.log()[-3000:]}\n{standby.log()[-3000:]}")
        self.assertEqual("OK", self.enroll(standby, used, "gpu-02", request), "the same key")
        self.assertEqual("UNAUTHENTICATED", self.enroll(standby, used, "gpu-02", self.request("other")), "another one")
        self.assertEqual("OK", self.enroll(standby, self.token_for(standby, "gpu-03"), "gpu-03", request))


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
        codes = {self.code(channel, ENROLL, field(1, "x") + field(2, "gpu-01")) for _ in range(100)}
        self.assertEqual({"UNAUTHENTICATED", "RESOURCE_EXHAUSTED"}, codes)
        self.assertIn("retry later", self.details)
        self.assertEqual("OK", self.code(self.channel(weftd, "viewer"), LIST), "others do not wait")

    def test_a_credential_needs_its_unit(self):
        path = os.path.join(self.mine, "weft-collector.toml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write('[analyzer]\naddress = "127.0.0.1:9641"\nenroll_token_file = "$CREDENTIALS_DIRECTORY/collector_enroll.token"\n')

        def check(**environment: str) -> subprocess.CompletedProcess:
            return subprocess.run([program("weft-collector"), "--config", path, "--check-config"], env={**os.environ, **environment},
                                  capture_output=True, text=True, timeout=60, check=False)
        done = check()
        self.assertEqual(2, done.returncode)
        self.assertIn("analyzer.enroll_token_file", done.stderr)
        self.assertIn("is a credential of the unit", done.stderr)
        self.assertEqual(0, check(CREDENTIALS_DIRECTORY=self.mine).returncode, "the token may come later")
        for text, code in (("none", 0), ("nonsense", 2)):
            with open(os.path.join(self.mine, "collector_enroll.token"), "w", encoding="utf-8") as stream:
                stream.write(text)
            done = check(CREDENTIALS_DIRECTORY=self.mine)
            self.assertEqual(code, done.returncode, done.stderr)
        self.assertIn("this is no token of weftctl enroll", done.stderr)


def blocks(heading: str) -> list[str]:
    """The fenced blocks of a section of the guide's security.md."""
    text = read(os.path.join(security_testing.ROOT, "deploy", "guide", "security.md")).decode()
    section = re.search(rf"(?ms)^#+ {re.escape(heading)}$(.*?)(?=^#+ \S|\Z)", re.sub(r"(?m)^# /etc", "@ /etc", text)).group(1)
    return [block.replace("@ /etc", "# /etc") for block in re.findall(r"(?ms)^```\n(.*?)^```$", section)]


class Guide(EnrollmentTest):
    """Each way of the guide, by its own words: the commands and the configurations as they stand there, below another root."""

    def here(self, text: str, port: str) -> str:
        text = text.replace("/etc/weft", os.path.join(self.mine, "etc")).replace("weft.example:9641", f"localhost:{port}")
        return text.replace("weft.example", "localhost").replace("weft --", "root --").replace("--group weft", "--group root")

    def shell(self, commands: str, weftd: GuardedWeftd | None = None) -> None:
        environment = dict(os.environ, PATH=os.path.dirname(program("weftctl")) + ":" + os.environ["PATH"])
        if weftd:
            environment["WEFT_SERVER"] = f"unix:{weftd.socket}"
        for command in commands.splitlines():
            command = command.replace("deploy/certs", os.path.join(security_testing.ROOT, "deploy", "certs"))
            done = subprocess.run(["sh", "-ec", command], cwd=self.mine, env=environment, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(0, done.returncode, f"{command}: {done.stderr}")

    def weftd(self, text: str, port: str) -> GuardedWeftd:
        """With the sections of security of a configuration."""
        lines = self.here(text[text.index("[security]") + len("[security]"):], port)
        weftd = GuardedWeftd(self.mine, lines, grpc_address=f"127.0.0.1:{port}")
        self.addCleanup(weftd.stop)
        return weftd

    def run_collector(self, weftd: GuardedWeftd, node: str, text: str) -> None:
        """As the unit starts it: as a user who may read nothing of /etc/weft but the copies that LoadCredential= makes."""
        unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", "weft-collector.service")).decode()
        name, folder = re.search(r"(?m)^LoadCredential=(\w+):/etc/weft/(\w+)$", unit).groups()
        credentials, state, programs = (os.path.join(self.mine, name) for name in ("run", "state", "bin"))
        for path in (credentials, state, programs):
            os.makedirs(path)
        for each in ("weft-collector", "weft-uplink"):
            shutil.copy(program(each), programs)
        for each in os.listdir(os.path.join(self.mine, "etc", folder)):
            path = os.path.join(self.mine, "etc", folder, each)
            self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode), path)
            shutil.copy(path, os.path.join(credentials, f"{name}_{each}"))
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        if user:
            for path in (state, credentials, *(os.path.join(credentials, each) for each in os.listdir(credentials))):
                shutil.chown(path, "nobody", "nogroup")
            os.chmod(self.place, 0o755)
            self.assertEqual(0o700, stat.S_IMODE(os.stat(os.path.join(self.mine, "etc", folder)).st_mode))
        config = os.path.join(self.mine, "weft-collector.toml")
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(self.here(text, weftd.grpc.rsplit(":", 1)[1]))
        log_path = os.path.join(self.mine, "collector.log")
        with open(log_path, "wb") as log:
            process = subprocess.Popen(
                [os.path.join(programs, "weft-collector"), "--config", config, "--state-dir", state, "--http", free_address(), "--sysfs-root",
                 self.sysfs, "--node-name", node], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, CREDENTIALS_DIRECTORY=credentials), **user)
        self.addCleanup(lambda: (process.terminate(), process.wait(20)))
        wait_until(lambda: self.told(weftd).get(node, {}).get("state") == "CONNECTED", 40,
                   why=lambda: f"{node} does not report:\n{read(log_path).decode()[-3000:]}\n{weftd.log()[-3000:]}")

    def test_the_units_are_valid(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("not installed: systemd-analyze")
        for name in ("weftd", "weft-collector"):
            path = os.path.join(self.mine, name + ".service")
            with open(path, "w", encoding="utf-8") as stream:
                unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", name + ".service")).decode()
                stream.write(unit.replace("/usr/bin/" + name, "/bin/true"))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr.strip()))
            # A missing folder must not keep the unit from starting: systemd.exec(5), SetCredential=.
            credential = re.search(r"(?m)^LoadCredential=(\w+):", unit).group(1)
            self.assertRegex(unit, rf"(?m)^SetCredential={credential}:none$")

    def test_weftd_takes_keys_and_tokens_from_its_unit(self):
        unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", "weftd.service")).decode()
        name = re.search(r"(?m)^LoadCredential=(\w+):/etc/weft/weftd$", unit).group(1)
        for path in (self.ours.path("server.crt"), self.ours.path("server.key"), self.ours.path("ca.crt"), self.tokens_file):
            copy = os.path.join(self.mine, f"{name}_{os.path.basename(path)}")
            shutil.copy(path, copy)
            os.chmod(copy, 0o400)
        files = {key: f'"$CREDENTIALS_DIRECTORY/{name}_{file}"' for key, file in
                 (("certificate", "server.crt"), ("key", "server.key"), ("client_authorities", "ca.crt"), ("tokens_file", "tokens"))}
        with unittest.mock.patch.dict(os.environ, CREDENTIALS_DIRECTORY=self.mine):
            weftd = self.weftd_with(self.lines(**files))
        self.assertEqual("OK", self.code(self.channel(weftd), LIST, token=self.tokens["vic"]))
        self.assertEqual("OK", self.code(self.channel(weftd, "viewer"), LIST))

    def test_certificates_from_weftd(self):
        make, weftd_toml, enroll, install, collector_toml = blocks("Certificates from weftd")
        port = free_address().rsplit(":", 1)[1]
        self.shell(self.here(make, port))
        weftd = self.weftd(weftd_toml, port)
        self.shell(enroll, weftd)
        self.shell(self.here(install, port))
        self.run_collector(weftd, "dgx-01", collector_toml)

    def test_certificates_of_the_site_and_of_a_trial(self):
        """The site's are those of the trial here, brought to the node as the guide says."""
        install, collector_toml = blocks("Certificates of your site")
        trial = read(os.path.join(security_testing.ROOT, "deploy", "guide", "security.md")).decode().split("### For a trial")[1]
        make = re.search(r"`(deploy/certs/make-certificates .*?)`", trial).group(1)
        roles = re.search(r"`(certificate_roles = \[.*?\])`", trial).group(1)
        port = free_address().rsplit(":", 1)[1]
        self.shell(self.here(make, port))
        for name, copy in (("dgx-01.crt", "node.crt"), ("dgx-01.key", "node.key"), ("ca.crt", "site-ca.crt")):
            shutil.copy(os.path.join(self.mine, "etc", "certs", name), os.path.join(self.mine, copy))
        weftd_toml = blocks("Certificates from weftd")[1].split("[security.enroll]")[0]
        weftd = self.weftd(re.sub(r"(?m)^certificate_roles = .*$", roles, weftd_toml), port)
        self.shell(self.here(install, port))
        self.run_collector(weftd, "dgx-01", collector_toml)


if __name__ == "__main__":
    security_testing.main()
