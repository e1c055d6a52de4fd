# SPDX-License-Identifier: Apache-2.0
"""A few lines of HTTP and JSON: what weftd says, for the demonstration and the tests. Standard library only."""

import json
import random
import socket
import threading
import urllib.error
import urllib.request


class Answer(Exception):
    """weftd answered with an error: `status` and the JSON body's words."""

    def __init__(self, status: int, text: str):
        super().__init__(f"HTTP {status}: {text}")
        self.status = status


class WeftClient:
    """`address` is HOST:PORT of weftd's HTTP listener. Methods raise Answer, or OSError when there is no connection."""

    headers: dict = {}  # of every request, where a weftd wants a token

    def __init__(self, address: str, timeout: float = 20):
        self.base = f"http://{address}"
        self._timeout = timeout
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def text(self, path: str, headers: dict | None = None) -> str:
        request = urllib.request.Request(self.base + path, headers={**self.headers, **(headers or {})})
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            raise Answer(error.code, error.read().decode(errors="replace")[:300]) from error

    def json(self, path: str):
        return json.loads(self.text(path))

    def ready(self) -> bool:
        try:
            self.text("/readyz")
            return True
        except (Answer, OSError):
            return False

    def incidents(self, state: str | None = None) -> list[dict]:
        """Open and resolved ones; `state`: "open", "resolved"."""
        return self.json("/api/v1/incidents" + (f"?state={state}" if state else "")).get("incidents", [])


_given: set[str] = set()
_giving = threading.Lock()


def free_address(host: str = "127.0.0.1") -> str:
    """HOST:PORT where nobody listens now. Each is given once, and its port is none that the kernel gives to connections or to
    whoever asks for any (ip_local_port_range, ip(7)): whoever got it has time to listen there."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as stream:
        first, last = (int(word) for word in stream.read().split())
    ports = range(10_000, first) if first > 20_000 else range(last + 1, 65_536)
    with _giving:
        while True:
            address = f"{host}:{random.SystemRandom().choice(ports)}"
            if address not in _given and is_free(address):
                _given.add(address)
                return address


def free_port() -> int:
    """The port of a free address of 127.0.0.1."""
    return int(free_address().rpartition(":")[2])


def is_free(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
            return True
        except OSError:
            return False


def guid_text(guid: int) -> str:
    """As the API spells GUIDs."""
    return f"0x{guid:016x}"


def ends_of(entity: dict) -> set[tuple[str, int]]:
    """(GUID, port) of a link's two ends or of a port."""
    ends = {(entity.get("nodeGuid", ""), int(entity.get("port", 0)))}
    if entity.get("peerGuid"):
        ends.add((entity["peerGuid"], int(entity.get("peerPort", 0))))
    return ends


def is_open(incident: dict) -> bool:
    return incident.get("state") != "RESOLVED"
