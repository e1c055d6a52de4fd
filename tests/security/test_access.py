# SPDX-License-Identifier: Apache-2.0
"""Who gets in, and who does not: refused with the right code, and written down."""

import importlib.machinery
import importlib.util
import os
import ssl
import subprocess
import sys
import time
import unittest
import unittest.mock

import security_testing
from security_testing import SecurityTest, field, grpc, hello, program, read, wait_until

LIST = "/weft.v1.FabricService/ListNodes"
APPROVE = "/weft.v1.RemedyService/ApprovePlan"
RESET = "/weft.v1.RemedyService/ResetBreaker"
STREAM = "/weft.v1.TelemetryService/Stream"


class Access(SecurityTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weftd = cls.weftd_with(cls.lines())

    def refused_handshake(self, channel) -> None:
        self.assertEqual("UNAVAILABLE", self.code(channel, LIST))

    def test_who_shows_nothing_gets_nothing(self):
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(self.weftd), LIST))
        self.weftd.wait_log("refused", LIST, "unauthenticated")
        status, said = self.ask(self.weftd, "GET", "/api/v1/nodes")
        self.assertEqual((401, "UNAUTHENTICATED"), (status, said["code"]))
        self.weftd.wait_log("refused GET /api/v1/nodes from 127.0.0.1:", "unauthenticated")
        self.assertEqual("OK", self.code(self.channel(self.weftd), "/grpc.health.v1.Health/Check"), "a probe has no secrets")
        self.assertEqual(200, self.ask(self.weftd, "GET", "/healthz")[0])
        self.assertGreaterEqual(self.metric(self.weftd, 'weft_access_refused_total{reason="unauthenticated"}'), 2)

    def test_the_health_check_of_the_image_works_with_tls(self):
        loader = importlib.machinery.SourceFileLoader("deploy_image", os.path.join(security_testing.ROOT, "deploy", "image"))
        image = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        with unittest.mock.patch.object(sys, "dont_write_bytecode", True):
            loader.exec_module(image)
        check = image.health_check(next(each for each in image.IMAGES if each.name == "weftd")).replace("/9640", "/" + self.weftd.http.rpartition(":")[2])
        path = os.path.dirname(program("weftctl")) + ":" + os.environ["PATH"]

        def asked(socket: str) -> int:
            return subprocess.run(["bash", "-c", check.replace("/run/weft/weftd.sock", socket)], env={**os.environ, "PATH": path}, timeout=60, check=False).returncode
        self.assertEqual(0, asked(self.weftd.socket))
        self.assertNotEqual(0, asked(self.weftd.socket + ".none"), "bash does not speak TLS")

    def test_plain_text_is_not_spoken_on_a_port_of_tls(self):
        channel = grpc.insecure_channel(self.weftd.grpc, options=[("grpc.enable_http_proxy", 0)])
        self.addCleanup(channel.close)
        self.refused_handshake(channel)
        answer = self.say(self.weftd, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", None)
        self.assertNotIn(b"ok", answer)
        self.weftd.wait_log("refused a TLS handshake on HTTPS from 127.0.0.1:")

    def test_a_certificate_of_another_authority_is_refused(self):
        self.refused_handshake(self.channel(self.weftd, "admin", self.other))
        self.weftd.wait_log("refused a TLS handshake on gRPC", "certificate")
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(self.weftd, "GET", "/api/v1/nodes", context=self.tls("admin", self.other))
        self.weftd.wait_log("refused a TLS handshake on HTTPS from 127.0.0.1:", "verify failed")

    def test_an_expired_certificate_is_refused(self):
        self.ours.expired("old")
        self.refused_handshake(self.channel(self.weftd, "old"))
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(self.weftd, "GET", "/api/v1/nodes", context=self.tls("old"))

    def test_a_client_does_not_talk_to_another_weftd(self):
        self.refused_handshake(self.channel(self.weftd, "viewer", trusted=self.other))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.ask(self.weftd, "GET", "/healthz", context=self.tls(trusted=self.other))

    def test_each_role_may_what_it_may_and_no_more(self):
        expected = {"viewer": ("OK", "PERMISSION_DENIED", "PERMISSION_DENIED"),
                    "operator": ("OK", "NOT_FOUND", "PERMISSION_DENIED"),
                    "admin": ("OK", "NOT_FOUND", "FAILED_PRECONDITION"),
                    "dgx-01": ("PERMISSION_DENIED", "PERMISSION_DENIED", "PERMISSION_DENIED")}
        plan, reset = field(1, "PLAN-1"), field(1, "looked")
        tokens = {"viewer": "vic", "operator": "olga", "admin": "root", "dgx-01": "n1"}
        for person, codes in expected.items():
            with self.subTest(person):
                by_certificate = self.channel(self.weftd, person)
                self.assertEqual(codes, tuple(self.code(by_certificate, method, request)
                                              for method, request in ((LIST, b""), (APPROVE, plan), (RESET, reset))))
                by_token, token = self.channel(self.weftd), self.tokens[tokens[person]]
                self.assertEqual(codes, tuple(self.code(by_token, method, request, token)
                                              for method, request in ((LIST, b""), (APPROVE, plan), (RESET, reset))))
                http = {"OK": 200, "PERMISSION_DENIED": 403, "NOT_FOUND": 404}
                context = self.tls(person)
                for credentials in ({"context": context}, {"token": token}):
                    self.assertEqual(http[codes[0]], self.ask(self.weftd, "GET", "/api/v1/nodes", **credentials)[0])
                    status, said = self.ask(self.weftd, "POST", "/api/v1/plans/PLAN-1/approve", body="{}", **credentials)
                    self.assertEqual((http[codes[1]], codes[1]), (status, said["code"]))
        self.weftd.wait_log("refused", APPROVE, "by viewer", "permission_denied")
        self.weftd.wait_log("refused POST /api/v1/plans/{id}/approve from 127.0.0.1:", "by vic", "permission_denied")

    def test_what_a_viewer_reads_is_refused_to_whoever_shows_nothing_but_runbooks(self):
        for path, status in (("/api/v1/audit", 200), ("/api/v1/links/worst?by=stall", 200), ("/api/v1/worst?of=hosts", 200), ("/api/v1/incidents?kind=LINK_DOWN", 200),
                             ("/api/v1/incidents/INC-99/timeline", 404), ("/api/v1/ports/nobody/1/history", 404),
                             ("/api/v1/switches/stall", 404), ("/api/v1/incidents/INC-99/evidence", 404), ("/api/v1/ports/nobody/1/evidence", 404)):
            with self.subTest(path):
                self.assertEqual(401, self.ask(self.weftd, "GET", path)[0])
                self.assertEqual(status, self.ask(self.weftd, "GET", path, self.tokens["vic"])[0])
                self.assertEqual(403, self.ask(self.weftd, "GET", path, self.tokens["n1"])[0], "a collector reads nothing")
                self.assertEqual(405, self.ask(self.weftd, "POST", path, self.tokens["root"], body="{}")[0])
        for method in ("FabricService/ListWorstLinks", "FabricService/ListWorst", "IncidentService/GetTimeline", "RemedyService/ListAudit", "HistoryService/GetPortHistory",
                       "HistoryService/GetStallMap", "EvidenceService/GetEvidence"):
            self.assertEqual("UNAUTHENTICATED", self.code(self.channel(self.weftd), f"/weft.v1.{method}"))
            self.assertEqual("PERMISSION_DENIED", self.code(self.channel(self.weftd), f"/weft.v1.{method}", token=self.tokens["n1"]))
        status, page = self.ask(self.weftd, "GET", "/runbooks/LINK_FLAP")
        self.assertEqual(200, status)
        self.assertIn("<h1>LINK_FLAP", page)

    def test_who_one_is(self):
        self.assertEqual({"name": "olga", "role": "operator"}, self.ask(self.weftd, "GET", "/api/v1/whoami", self.tokens["olga"])[1])
        self.assertEqual({"name": "admin", "role": "admin"}, self.ask(self.weftd, "GET", "/api/v1/whoami", context=self.tls("admin"))[1])
        self.assertEqual(401, self.ask(self.weftd, "GET", "/api/v1/whoami")[0])

    def test_the_audit_trail_names_the_principal_and_the_claim_beside_it(self):
        request = field(1, 1) + field(2, "a test") + field(3, "somebody else")
        self.assertEqual("OK", self.code(self.channel(self.weftd), "/weft.v1.RemedyService/SetHandsOff", request, self.tokens["olga"]))
        answer = self.channel(self.weftd, "viewer").unary_unary("/weft.v1.RemedyService/ListAudit")(b"", timeout=20)
        self.assertIn(b"olga, for somebody else", answer)

    def test_an_expired_and_an_unknown_token_are_refused(self):
        # Also beside a certificate that would do: who shows a stolen token is not let in by another way.
        for person in (None, "admin"):
            channel = self.channel(self.weftd, person)
            self.assertEqual("UNAUTHENTICATED", self.code(channel, LIST, token=self.tokens["late"]))
            self.assertIn("expired", self.details)
            self.assertEqual("UNAUTHENTICATED", self.code(channel, LIST, token="guessed"))
        self.assertEqual(401, self.ask(self.weftd, "GET", "/api/v1/nodes", self.tokens["late"])[0])
        # What stands in the file is no token.
        hashes = [line.split()[2].decode() for line in read(self.tokens_file).splitlines()]
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(self.weftd), LIST, token=hashes[0]))
        self.weftd.wait_log("refused", "the token of late has expired")
        for token in (*self.tokens.values(), *hashes):
            self.assertNotIn(token, self.weftd.log(), "a token or its hash is in the log")

    def test_a_token_replayed_after_it_was_taken_back_is_refused(self):
        lines = read(self.tokens_file)
        token = security_testing.run(f"{security_testing.CERTS}/make-token", self.tokens_file, "gone", "viewer").strip()
        channel = self.channel(self.weftd)
        wait_until(lambda: self.code(channel, LIST, token=token) == "OK", 20, 0.2, "a new token does not count")
        with open(self.tokens_file, "wb") as stream:
            stream.write(lines)
        # Over the connection that it was good on.
        wait_until(lambda: self.code(channel, LIST, token=token) == "UNAUTHENTICATED", 20, 0.2, "an old token counts")
        self.assertEqual("OK", self.code(channel, LIST, token=self.tokens["vic"]))

    def speak(self, channel, host: str, token: str | None = None) -> str:
        """How a collector's stream ends that says it is `host`; "WELCOME" where it is taken."""
        metadata = (("authorization", f"Bearer {token}"),) if token else ()

        def messages():
            yield hello(host)
            time.sleep(5)

        call = channel.stream_stream(STREAM)(messages(), timeout=20, metadata=metadata)
        try:
            next(call)
            call.cancel()
            return "WELCOME"
        except grpc.RpcError as error:
            return error.code().name

    def test_a_collector_speaks_for_its_own_node_alone(self):
        self.assertEqual("WELCOME", self.speak(self.channel(self.weftd, "dgx-01"), "dgx-01"))
        self.assertEqual("WELCOME", self.speak(self.channel(self.weftd), "dgx-01", self.tokens["n1"]))
        self.assertEqual("PERMISSION_DENIED", self.speak(self.channel(self.weftd, "dgx-01"), "dgx-02"))
        self.weftd.wait_log("refused", STREAM, "by dgx-01", "may not report for the node dgx-02")
        self.assertEqual("PERMISSION_DENIED", self.speak(self.channel(self.weftd), "dgx-02", self.tokens["n1"]))
        self.assertEqual("PERMISSION_DENIED", self.speak(self.channel(self.weftd, "admin"), "dgx-01"))
        self.assertEqual("UNAUTHENTICATED", self.speak(self.channel(self.weftd), "dgx-01"))
        told = self.ask(self.weftd, "GET", "/api/v1/collectors", self.tokens["vic"])[1]["collectors"]
        self.assertNotIn("dgx-02", [collector["host"] for collector in told])


class CertificatesOnly(SecurityTest):
    def test_without_a_certificate_not_even_a_token_helps(self):
        weftd = self.weftd_with(self.lines(require_client_certificate="true"))
        self.assertEqual("UNAVAILABLE", self.code(self.channel(weftd), LIST, token=self.tokens["root"]))
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(weftd, "GET", "/healthz")
        weftd.wait_log("refused a TLS handshake on HTTPS from 127.0.0.1:", "did not return a certificate")
        weftd.wait_log("refused a TLS handshake on gRPC", "did not return a certificate")
        self.assertEqual("OK", self.code(self.channel(weftd, "viewer"), LIST))
        self.assertEqual(200, self.ask(weftd, "GET", "/api/v1/nodes", context=self.tls("viewer"))[0])

    def test_a_certificate_without_a_role_is_nobodys(self):
        weftd = self.weftd_with(self.lines(certificate_roles='["alice=admin"]'))
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(weftd, "admin"), LIST))
        self.assertIn("admin", self.details)
        self.assertEqual(401, self.ask(weftd, "GET", "/api/v1/nodes", context=self.tls("admin"))[0])


class TokensOnly(SecurityTest):
    def test_over_tls_without_certificates_of_clients(self):
        weftd = self.weftd_with(self.lines(client_authorities="", certificate_roles=""))
        self.assertEqual(["UNAUTHENTICATED", "OK"], [self.code(self.channel(weftd), LIST, token=token) for token in (None, self.tokens["vic"])])
        self.assertEqual("UNAUTHENTICATED", self.code(self.channel(weftd, "admin"), LIST), "nobody asked for that certificate")
        self.assertEqual([401, 200], [self.ask(weftd, "GET", "/api/v1/nodes", token)[0] for token in (None, self.tokens["vic"])])


class PlainText(SecurityTest):
    def test_on_loopback_everybody_reads_and_reports(self):
        weftd = self.weftd_with("")
        channel = grpc.insecure_channel(weftd.grpc, options=[("grpc.enable_http_proxy", 0)])
        self.addCleanup(channel.close)
        self.assertEqual(["OK", "PERMISSION_DENIED"], [self.code(channel, LIST), self.code(channel, APPROVE, field(1, "1"))])
        self.assertEqual({"name": "anybody", "role": "viewer"}, self.ask(weftd, "GET", "/api/v1/whoami", secure=False)[1])
        self.assertEqual(403, self.ask(weftd, "POST", "/api/v1/plans/1/approve", body="{}", secure=False)[0])
        self.assertEqual("WELCOME", Access.speak(self, channel, "any-node"))

    def test_with_tokens_they_are_asked_for(self):
        weftd = self.weftd_with(f'tokens_file = "{self.tokens_file}"')
        channel = grpc.insecure_channel(weftd.grpc, options=[("grpc.enable_http_proxy", 0)])
        self.addCleanup(channel.close)
        self.assertEqual(["UNAUTHENTICATED", "OK", "PERMISSION_DENIED"],
                         [self.code(channel, LIST), self.code(channel, LIST, token=self.tokens["vic"]),
                          self.code(channel, APPROVE, field(1, "1"), self.tokens["vic"])])
        self.assertEqual([401, 200], [self.ask(weftd, "GET", "/api/v1/nodes", token, secure=False)[0] for token in (None, self.tokens["vic"])])

    def test_elsewhere_it_must_be_allowed(self):
        for flag in ("--http", "--grpc"):
            done = security_testing.run_weftd(["--state-dir", self.place, flag, "0.0.0.0:0", "--check-config"])
            self.assertEqual(2, done.returncode)
            self.assertIn("0.0.0.0:0 is no loopback address", done.stderr)
            self.assertIn("security.allow_plain_text", done.stderr)
        done = security_testing.run_weftd(["--http", "0.0.0.0:0", "--security-allow-plain-text", "true", "--check-config"])
        self.assertEqual(0, done.returncode, done.stderr)


if __name__ == "__main__":
    security_testing.main()
