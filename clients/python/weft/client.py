# SPDX-License-Identifier: Apache-2.0
"""A connection to weftd, with a deadline on every call."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Iterator

import grpc

from weft.v1 import fabric_pb2_grpc, health_pb2, health_pb2_grpc, incident_pb2, incident_pb2_grpc, remedy_pb2_grpc

# What fits into one BatchGet.
_MOST_NAMES = 10_000
_MOST_MESSAGE = 64 * 1024 * 1024


class Client:
    """`server` is HOST:PORT of weftd's gRPC, or unix:PATH; "": its Unix socket where it listens on one, else 127.0.0.1:9641. Every call
    raises grpc.RpcError: DEADLINE_EXCEEDED after `timeout` seconds, UNAVAILABLE when weftd is not there, UNAUTHENTICATED and
    PERMISSION_DENIED when it knows us not or not enough.

    TLS is used when `ca` (file of the authority; "" for the system's) or `certificate` and `key` (files of our own) are given. `token` is
    a bearer token; without TLS it is sent to loopback addresses only. Use it in a `with`, or close() it.
    """

    def __init__(self, server: str = "", *, timeout: float = 5, token: str | None = None, ca: str | None = None,
                 certificate: str | None = None, key: str | None = None):
        self.timeout = timeout
        secure = ca is not None or certificate is not None
        server = server or ("127.0.0.1:9641" if secure else _local_server())
        if token is not None and not secure and not _is_loopback(server):
            raise ValueError("a token goes over TLS, or to a loopback address: give ca")
        self._metadata = (("authorization", f"Bearer {token}"),) if token is not None else ()
        # A server that was cut off without a word is noticed, and sought again at once when it is back.
        options = [("grpc.max_receive_message_length", _MOST_MESSAGE), ("grpc.keepalive_time_ms", 30_000),
                   ("grpc.keepalive_timeout_ms", 10_000), ("grpc.max_reconnect_backoff_ms", 5_000)]
        if secure:
            credentials = grpc.ssl_channel_credentials(_read(ca), _read(key), _read(certificate))
            self.channel = grpc.secure_channel(server, credentials, options)
        else:
            self.channel = grpc.insecure_channel(server, options)
        # All of weft.v1 that has no method of its own here: client.incidents_stub.Acknowledge(request, timeout=…, metadata=…)
        self.fabric_stub = fabric_pb2_grpc.FabricServiceStub(self.channel)
        self.health_stub = health_pb2_grpc.HealthServiceStub(self.channel)
        self.incidents_stub = incident_pb2_grpc.IncidentServiceStub(self.channel)
        self.remedies_stub = remedy_pb2_grpc.RemedyServiceStub(self.channel)

    def close(self) -> None:
        self.channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def health(self, node: str) -> health_pb2.NodeHealth:
        """By host name, node name or GUID; NOT_FOUND when it was never seen."""
        return self._call(self.health_stub.Get, health_pb2.GetHealthRequest(node=node))

    def health_of(self, nodes: Iterable[str]) -> list[health_pb2.NodeHealth]:
        """Of many nodes, in their order; UNKNOWN for what was never seen."""
        names, found = list(nodes), []
        for start in range(0, len(names), _MOST_NAMES):
            request = health_pb2.BatchGetHealthRequest(nodes=names[start:start + _MOST_NAMES])
            found += self._call(self.health_stub.BatchGet, request).nodes
        return found

    def job_health(self, job: str, nodes: Iterable[str] = ()) -> health_pb2.JobHealth:
        """Nodes, links and ways of a job; `nodes` of one that no collector reports yet."""
        return self._call(self.health_stub.GetJobHealth, health_pb2.GetJobHealthRequest(job=job, nodes=nodes))

    def watch_health(self, nodes: Iterable[str] = (), timeout: float | None = None) -> Iterator[health_pb2.WatchHealthResponse]:
        """Verdicts as they stand, INITIAL_COMPLETE, then changes, until `timeout`, if any, or the connection ends. No nodes: all."""
        return self.health_stub.Watch(health_pb2.WatchHealthRequest(nodes=nodes), timeout=timeout, metadata=self._metadata)

    def incidents(self, only_open: bool = True) -> list[incident_pb2.Incident]:
        states = [incident_pb2.Incident.OPEN, incident_pb2.Incident.ACKNOWLEDGED] if only_open else []
        request, found = incident_pb2.ListIncidentsRequest(states=states), []
        while True:
            page = self._call(self.incidents_stub.List, request)
            found += page.incidents
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _call(self, method, request):
        return method(request, timeout=self.timeout, metadata=self._metadata)


def _read(path: str | None) -> bytes | None:
    if not path:
        return None
    with open(path, "rb") as stream:
        return stream.read()


def _local_server() -> str:
    """Accounts of this host may act over the socket; over TCP that takes a token."""
    path = "/run/weft/weftd.sock"
    with socket.socket(socket.AF_UNIX) as probe:
        return f"unix:{path}" if probe.connect_ex(path) == 0 else "127.0.0.1:9641"


def _is_loopback(server: str) -> bool:
    host = server.rsplit(":", 1)[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or server.startswith("unix:")
