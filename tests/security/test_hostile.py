# SPDX-License-Identifier: Apache-2.0
"""Requests that want too much, take too long or are not what they seem."""

import json
import socket
import time

import security_testing
from security_testing import SecurityTest, field, grpc, read

LIST = "/weft.v1.FabricService/ListNodes"
REJECT = "/weft.v1.RemedyService/RejectPlan"


class Hostile(SecurityTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.weftd = cls.weftd_with(cls.lines())
        cls.limited = cls.weftd_with(cls.lines(max_requests_per_second="5"))

    def request(self, *lines: str, body: str = "") -> str:
        text = "\r\n".join((*lines, f"Authorization: Bearer {self.tokens['olga']}", "Connection: close")) + "\r\n\r\n" + body
        return self.say(self.weftd, text.encode("latin-1"), self.tls()).decode("latin-1")

    def test_oversized_messages(self):
        channel = self.channel(self.weftd)
        for size in (5 << 20, 64 << 20):
            self.assertEqual("RESOURCE_EXHAUSTED", self.code(channel, REJECT, field(2, "x" * size), self.tokens["olga"]), size)
        self.assertEqual("OK", self.code(channel, LIST, token=self.tokens["vic"]), "the connection lives")
        call = channel.unary_unary(LIST)
        with self.assertRaises(grpc.RpcError) as caught:
            call(b"", timeout=20, metadata=(("authorization", f"Bearer {self.tokens['vic']}"), ("x", "y" * 100_000)))
        self.assertIn(caught.exception.code().name, ("RESOURCE_EXHAUSTED", "INTERNAL"), "metadata of 100 kB")
        head = (f"POST /api/v1/plans/1/reject HTTP/1.1", f"Host: {self.weftd.http}", "Content-Type: application/json")
        self.assertTrue(self.request(*head, "Content-Length: 100000000").startswith("HTTP/1.1 413"))
        self.assertTrue(self.request(*head, "X: " + "y" * 100_000).startswith("HTTP/1.1 431"))
        self.weftd.wait_log("refused an HTTP request from 127.0.0.1:", "body limit")
        self.weftd.wait_log("refused an HTTP request from 127.0.0.1:", "header limit")

    def test_too_many_requests(self):
        channel = self.channel(self.limited)
        codes = [self.code(channel, LIST, token=self.tokens["olga"]) for _ in range(40)]
        self.assertIn("RESOURCE_EXHAUSTED", codes)
        self.assertEqual("OK", codes[0])
        self.limited.wait_log("refused", LIST, "by olga", "resource_exhausted", "too many requests")
        self.assertEqual("OK", self.code(channel, LIST, token=self.tokens["vic"]), "others are not held up")
        statuses = [self.ask(self.limited, "GET", "/api/v1/nodes", self.tokens["root"])[0] for _ in range(40)]
        self.assertEqual({200, 503}, set(statuses))

    def test_slow_requests_are_cut_off(self):
        """Slowloris: an octet now and then, so that a connection is never idle."""
        host, port = self.weftd.http.split(":")
        slow = []
        for begin in (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"POST /api/v1/plans/1/reject HTTP/1.1\r\nContent-Length: 50\r\n\r\n", b""):
            plain = socket.create_connection((host, int(port)), timeout=30)
            self.addCleanup(plain.close)
            stream = self.tls().wrap_socket(plain, server_hostname=host)
            stream.sendall(begin)
            slow.append(stream)
        mute = socket.create_connection((host, int(port)), timeout=30)  # not even a handshake
        self.addCleanup(mute.close)
        kept = self.tls().wrap_socket(socket.create_connection((host, int(port)), timeout=30), server_hostname=host)
        self.addCleanup(kept.close)
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /he")  # good once, slow then
        began = time.monotonic()
        open_ones = [*slow, mute, kept]
        while open_ones and time.monotonic() - began < 25:
            time.sleep(0.5)
            for stream in list(open_ones):
                try:
                    if stream is not mute:
                        stream.sendall(b"x")
                    stream.settimeout(0.05)
                    if not stream.recv(4096):
                        open_ones.remove(stream)
                except (TimeoutError, BlockingIOError):
                    pass
                except OSError:
                    open_ones.remove(stream)
        self.assertEqual([], open_ones, "still open")
        self.assertLess(time.monotonic() - began, 20)
        self.weftd.wait_log("refused an HTTP request from 127.0.0.1:", "timeout while reading it")
        self.assertEqual(200, self.ask(self.weftd, "GET", "/healthz")[0])

    def test_many_connections_of_one_address_leave_room_for_others(self):
        host, port = self.limited.http.split(":")
        for _ in range(200):
            connection = socket.create_connection((host, int(port)), timeout=10)
            self.addCleanup(connection.close)
        time.sleep(0.5)
        other = socket.create_connection((host, int(port)), timeout=10, source_address=("127.0.0.77", 0))
        self.addCleanup(other.close)
        stream = self.tls().wrap_socket(other, server_hostname=host)
        stream.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        answer = stream.recv(4096)
        self.assertTrue(answer.startswith(b"HTTP/1."), answer)
        self.assertIn(b" 200 ", answer)
        self.limited.wait_log("refused an HTTP connection from 127.0.0.1:", "too many connections")

    def test_paths_lead_nowhere_else(self):
        for path in ("/../../etc/passwd", "/api/v1/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
                     "/assets/../../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/nodes/../../../etc/passwd",
                     "/api/v1/plans/..%2F..%2Fwhoami", "//etc/passwd", "/etc/passwd", "/....//....//etc/passwd",
                     "/api/v1/plans/1/../../whoami", "/.", "/api/v1/plans/PLAN-1%2Fapprove"):
            with self.subTest(path):
                answer = self.request(f"GET {path} HTTP/1.1", f"Host: {self.weftd.http}")
                self.assertIn(answer.split(" ")[1], ("400", "404"), answer[:200])
                self.assertNotIn("root:", answer)
                self.assertNotIn('"name":"olga"', answer)
        for path in ("/%00", "/%", "/%zz", "*", "http://other/healthz", "/a%"):
            self.assertTrue(self.request(f"GET {path} HTTP/1.1", f"Host: {self.weftd.http}").startswith("HTTP/1.1 400"), path)

    def test_lines_are_not_slipped_in(self):
        for path in ("/api/v1/nodes/x%0d%0aSet-Cookie:%20evil=1", "/x%0d%0a%0d%0aevil", "/api/v1/nodes?page_token=%0d%0aSet-Cookie:%20evil=1"):
            answer = self.request(f"GET {path} HTTP/1.1", f"Host: {self.weftd.http}")
            head, _, body = answer.partition("\r\n\r\n")
            self.assertNotIn("evil", head, path)
            json.loads(body)
        for line in ("X: y\rSet-Cookie: evil=1", "X: y\x00", "X y", "X\x0b: y", "X : y"):
            answer = self.request("GET /api/v1/whoami HTTP/1.1", f"Host: {self.weftd.http}", line)
            self.assertTrue(answer.startswith("HTTP/1.1 400"), f"{line!r}: {answer[:100]}")
        # Two lengths, or a length and chunks, are how a request is smuggled behind another's back.
        for lines in (("Content-Length: 5", "Content-Length: 6"), ("Content-Length: 5", "Transfer-Encoding: chunked")):
            answer = self.request("POST /api/v1/plans/1/approve HTTP/1.1", f"Host: {self.weftd.http}", "Content-Type: application/json", *lines,
                                  body="0\r\n\r\nGET /api/v1/whoami HTTP/1.1\r\n\r\n")
            self.assertTrue(answer.startswith("HTTP/1.1 400"), answer[:200])
            self.assertEqual(1, answer.count("HTTP/1.1 "), answer)
        # A name in the log is one that we know, or none at all.
        channel = self.channel(self.weftd)
        self.code(channel, "/weft.v1.FabricService/Evil%0aline", token=self.tokens["olga"])
        self.assertNotIn("Evil", self.weftd.log())
        self.assertNotIn("evil", self.weftd.log())

    def test_commands_of_other_sites(self):
        cookie = self.ask(self.weftd, "POST", "/api/v1/plans/1/approve", self.tokens["olga"], body="{}", headers=("Origin: https://evil.example",))
        self.assertEqual((403, "PERMISSION_DENIED"), (cookie[0], cookie[1]["code"]))
        self.weftd.wait_log("refused POST /api/v1/plans/{id}/approve from 127.0.0.1:", "by olga", "pages of other sites")
        own = self.ask(self.weftd, "POST", "/api/v1/plans/1/approve", self.tokens["olga"], body="{}", headers=(f"Origin: https://{self.weftd.http}",))
        self.assertEqual(404, own[0], "no such plan, but asked")
        form = self.request("POST /api/v1/plans/1/approve HTTP/1.1", f"Host: {self.weftd.http}", "Content-Type: text/plain", "Content-Length: 2", body="{}")
        self.assertTrue(form.startswith("HTTP/1.1 400"), form[:100])

    def test_a_flood_of_refusals_does_not_fill_the_log(self):
        channel = self.channel(self.weftd)
        for _ in range(500):
            self.code(channel, LIST)
        self.assertLess(self.weftd.log().count(f"refused {LIST}"), 200)
        self.assertLess(len(read(self.weftd.log_path)), 200_000)
        time.sleep(1)
        self.code(channel, LIST)
        self.weftd.wait_log("more refusals, not logged one by one")


if __name__ == "__main__":
    security_testing.main()
