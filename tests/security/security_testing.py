# SPDX-License-Identifier: Apache-2.0
"""What the tests of security share: an authority made by deploy/certs, a weftd that asks for it, and clients that do as they like."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from program_testing import free_address, main, program, require_programs, run_weftd, wait_until  # noqa: E402, F401

try:
    import grpc
except ImportError:
    grpc = None

CERTS = os.path.join(ROOT, "deploy", "certs")


def run(*command: str, **options) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def read(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def field(number: int, value) -> bytes:
    """One field of a protobuf message: a text or a small number."""
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    octets = value if isinstance(value, bytes) else value.encode()
    return bytes([number << 3 | 2]) + varint(len(octets)) + octets


def varint(value: int) -> bytes:
    octets = b""
    while value > 0x7F:
        octets += bytes([value & 0x7F | 0x80])
        value >>= 7
    return octets + bytes([value])


def hello(host: str) -> bytes:
    """CollectorMessage with Hello, as of telemetry.proto."""
    return field(1, field(1, 1) + field(2, host) + bytes([3 << 3 | 1]) + (7).to_bytes(8, "little") + field(4, "1") + field(5, 1000))


class Authority:
    """A folder of certificates for one test class."""

    def __init__(self, place: str, *collectors: str):
        self.place = place
        arguments = [argument for name in collectors for argument in ("--collector", name)]
        run(os.path.join(CERTS, "make-certificates"), place, "--days", "2", *arguments)

    def path(self, name: str) -> str:
        return os.path.join(self.place, name)

    def expired(self, name: str) -> None:
        """A certificate of that name that was over yesterday."""
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
            "-keyout", self.path(f"{name}.key"), "-out", self.path("old.csr"))
        run("openssl", "x509", "-req", "-in", self.path("old.csr"), "-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key"),
            "-days", "-1", "-out", self.path(f"{name}.crt"))


class GuardedWeftd:
    """weftd without a fabric, with `security` as lines of the section; at `grpc` and on `state` where they are given."""

    def __init__(self, place: str, security: str, *arguments: str, grpc_address: str = "", state: str = ""):
        self.place = tempfile.mkdtemp(prefix="weftd-", dir=place)
        self.http, self.grpc = free_address(), grpc_address or free_address()
        self.socket = os.path.join(self.place, "weftd.sock")
        self.configuration = os.path.join(self.place, "weftd.toml")
        with open(self.configuration, "w", encoding="utf-8") as stream:
            stream.write(f"[infiniband]\nenabled = false\n[security]\n{security}\n")
        self.log_path = os.path.join(self.place, "log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([program("weftd"), "--config", self.configuration, "--state-dir", state or os.path.join(self.place, "state"),
                                             "--http", self.http, "--grpc", self.grpc, "--listen-socket", self.socket, *arguments],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._listens, why=lambda: f"weftd does not listen:\n{self.log()}")

    def _listens(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"weftd ended with {self.process.returncode}:\n{self.log()}")
        return "gRPC on" in self.log()

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def wait_log(self, *words: str) -> None:
        """Until one line of the log has all of the words."""
        wait_until(lambda: any(all(word in line for word in words) for line in self.log().splitlines()), 20,
                   why=lambda: f"no line with {words} in the log:\n{self.log()[-3000:]}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class SecurityTest(unittest.TestCase):
    """Has an authority, another one that weftd does not know, and tokens."""

    COLLECTORS = ("dgx-01", "dgx-02")

    @classmethod
    def setUpClass(cls):
        if grpc is None:
            raise unittest.SkipTest("python3-grpcio is not installed")
        if not shutil.which("openssl"):
            raise unittest.SkipTest("not installed: openssl")
        require_programs("weftd")
        cls.place = tempfile.mkdtemp(prefix="weft-security-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.ours = Authority(os.path.join(cls.place, "ours"), *cls.COLLECTORS)
        cls.other = Authority(os.path.join(cls.place, "other"), *cls.COLLECTORS)
        cls.tokens_file = os.path.join(cls.place, "tokens")
        cls.tokens = {}
        for name, *rest in (("vic", "viewer"), ("olga", "operator"), ("root", "admin"), ("n1", "collector", "node=dgx-01"),
                            ("late", "admin", "expires=2020-01-01T00:00:00Z")):
            cls.tokens[name] = run(os.path.join(CERTS, "make-token"), cls.tokens_file, name, *rest).strip()

    @classmethod
    def lines(cls, **more: str) -> str:
        """The usual [security], changed by `more`."""
        keys = {"certificate": f'"{cls.ours.path("server.crt")}"', "key": f'"{cls.ours.path("server.key")}"',
                "client_authorities": f'"{cls.ours.path("ca.crt")}"', "tokens_file": f'"{cls.tokens_file}"',
                "certificate_roles": '["viewer=viewer", "operator=operator", "admin=admin", "dgx-*=collector"]'}
        keys.update(more)
        return "\n".join(f"{key} = {value}" for key, value in keys.items() if value)

    @classmethod
    def weftd_with(cls, lines: str, *arguments: str) -> GuardedWeftd:
        weftd = GuardedWeftd(cls.place, lines, *arguments)
        cls.addClassCleanup(weftd.stop)
        return weftd

    # -- gRPC

    def channel(self, weftd: GuardedWeftd, person: str | None = None, authority: Authority | None = None, trusted: Authority | None = None):
        """A connection of its own, with the certificate of that person."""
        authority = authority or self.ours
        credentials = grpc.ssl_channel_credentials(
            read((trusted or self.ours).path("ca.crt")),
            *((read(authority.path(f"{person}.key")), read(authority.path(f"{person}.crt"))) if person else (None, None)))
        channel = grpc.secure_channel(weftd.grpc, credentials, options=[("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return channel

    def code(self, channel, method: str, request: bytes = b"", token: str | None = None) -> str:
        """The name of the status that the call ends with."""
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        try:
            channel.unary_unary(method)(request, timeout=20, metadata=metadata)
        except grpc.RpcError as error:
            self.details = error.details()
            return error.code().name
        return "OK"

    # -- HTTP

    def tls(self, person: str | None = None, authority: Authority | None = None, trusted: Authority | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=(trusted or self.ours).path("ca.crt"))
        if person:
            authority = authority or self.ours
            context.load_cert_chain(authority.path(f"{person}.crt"), authority.path(f"{person}.key"))
        return context

    def say(self, weftd: GuardedWeftd, octets: bytes, context: ssl.SSLContext | None) -> bytes:
        """What weftd answers until it closes; `context` none: plain text."""
        host, port = weftd.http.split(":")
        with socket.create_connection((host, int(port)), timeout=30) as plain:
            stream = context.wrap_socket(plain, server_hostname=host) if context else plain
            stream.sendall(octets)
            answer = b""
            while True:
                try:
                    piece = stream.recv(65536)
                except ssl.SSLEOFError:
                    return answer
                if not piece:
                    return answer
                answer += piece

    def ask(self, weftd: GuardedWeftd, method: str, path: str, token: str | None = None, context: ssl.SSLContext | None = None,
            body: str | None = None, headers: tuple[str, ...] = (), secure: bool = True) -> tuple[int, dict | str]:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {weftd.http}", "Connection: close", *headers]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if body is not None:
            lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
        answer = self.say(weftd, ("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode(), context or (self.tls() if secure else None)).decode()
        head, _, text = answer.partition("\r\n\r\n")
        status = int(head.split(" ")[1]) if head.startswith("HTTP/1.1 ") else 0
        return status, json.loads(text) if "application/json" in head else text

    def metric(self, weftd: GuardedWeftd, name: str, context: ssl.SSLContext | None = None) -> float:
        request = f"GET /metrics HTTP/1.0\r\nAuthorization: Bearer {self.tokens['vic']}\r\n\r\n"
        for line in self.say(weftd, request.encode(), context or self.tls()).decode().splitlines():
            if line.startswith(name):
                return float(line.rsplit(" ", 1)[1])
        return float("nan")
