# SPDX-License-Identifier: Apache-2.0
"""A few lines of HTTP and JSON: what weftd says, for the demonstration and the tests. Standard library only."""

import json
import socket
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


def free_address(host: str = "127.0.0.1") -> str:
    """A loopback address whose port nobody listens on now. Connections begin at 127.0.0.1, so that at another one of 127.0.0.0/8
    none takes the port meanwhile."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return f"{host}:{probe.getsockname()[1]}"


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
