# SPDX-License-Identifier: Apache-2.0
"""A connection to weftd, with a deadline on every call."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Iterable, Iterator

import grpc

from weft.servers import CONNECT_TIME, Servers, is_away
from weft.v1 import acceptance_pb2, acceptance_pb2_grpc, fabric_pb2_grpc, health_pb2, health_pb2_grpc, incident_pb2, incident_pb2_grpc, remedy_pb2_grpc

# What fits into one BatchGet.
_MOST_NAMES = 10_000
_MOST_MESSAGE = 64 * 1024 * 1024
# A watch that broke is sought again for so many seconds: within them another weftd leads, as a rule.
_FOLLOW_PATIENCE = 60
_NEXT_STREAM = 0.3


class Client:
    """`server` is HOST:PORT of weftd's gRPC, or unix:PATH; "": its Unix socket where it listens on one, else 127.0.0.1:9641. Of several weftd,
    of which one leads, a list or a text with commas: what only reads is asked of the next one when one does not answer or is on standby;
    what changes something only when the one before certainly did not take it. They share the `timeout`. What another shard of a site owns is
    asked of that one, at the address that the refusal names; a token goes there under the same conditions. Every call
    raises grpc.RpcError: DEADLINE_EXCEEDED after `timeout` seconds, UNAVAILABLE when weftd is not there, UNAUTHENTICATED and
    PERMISSION_DENIED when it knows us not or not enough.

    TLS is used when `ca` (file of the authority; "" for the system's) or `certificate` and `key` (files of our own) are given. `token` is
    a bearer token; without TLS it is sent to loopback addresses only. Use it in a `with`, or close() it.
    """

    def __init__(self, server: str | Iterable[str] = "", *, timeout: float = 5, token: str | None = None, ca: str | None = None,
                 certificate: str | None = None, key: str | None = None):
        self.timeout = timeout
        secure = ca is not None or certificate is not None
        servers = [name.strip() for name in (server.split(",") if isinstance(server, str) else server) if name.strip()]
        servers = servers or ["127.0.0.1:9641" if secure else _local_server()]
        overheard = [] if token is None or secure else [name for name in servers if not _is_loopback(name)]
        if overheard:
            raise ValueError(f"the token would go to {overheard[0]} in clear text: give ca")
        self._metadata = (("authorization", f"Bearer {token}"),) if token is not None else ()
        credentials = grpc.ssl_channel_credentials(_read(ca), _read(key), _read(certificate)) if secure else None
        # A server that was cut off without a word is noticed, and sought again at once when it is back. weftd takes a ping every 10 s.
        pings = (30_000, 10_000, 5_000) if len(servers) == 1 else (11_000, 4_000, 1_000)
        options = [("grpc.max_receive_message_length", _MOST_MESSAGE), ("grpc.keepalive_time_ms", pings[0]),
                   ("grpc.keepalive_timeout_ms", pings[1]), ("grpc.max_reconnect_backoff_ms", pings[2])]
        if len(servers) > 1:
            limit = int(CONNECT_TIME * 1000)
            options += [("grpc.min_reconnect_backoff_ms", limit), ("grpc.dns_ares_query_timeout", limit), ("grpc.http2.max_pings_without_data", 0)]

        def connect(name: str) -> grpc.Channel:
            return grpc.secure_channel(name, credentials, options) if secure else grpc.insecure_channel(name, options)

        self._has_others = len(servers) > 1
        self.channel = Servers(servers, connect, lambda name: token is None or secure or _is_loopback(name))
        # All of weft.v1 that has no method of its own here: client.incidents_stub.Acknowledge(request, timeout=…, metadata=…)
        self.acceptance_stub = acceptance_pb2_grpc.AcceptanceServiceStub(self.channel)
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
        """Of many nodes, in their order; UNKNOWN for what was never seen. Each has the shards of a site that did not answer: HEALTHY with
        `missing_shards` is so only as far as the others know."""
        names, found = list(nodes), []
        for start in range(0, len(names), _MOST_NAMES):
            request = health_pb2.BatchGetHealthRequest(nodes=names[start:start + _MOST_NAMES])
            answer = self._call(self.health_stub.BatchGet, request)
            for health in answer.nodes:
                if not health.missing_shards:
                    health.missing_shards.extend(answer.missing_shards)
            found += answer.nodes
        return found

    def job_health(self, job: str, nodes: Iterable[str] = ()) -> health_pb2.JobHealth:
        """Nodes, links and ways of a job; `nodes` of one that no collector reports yet."""
        return self._call(self.health_stub.GetJobHealth, health_pb2.GetJobHealthRequest(job=job, nodes=nodes))

    def watch_health(self, nodes: Iterable[str] = (), timeout: float | None = None) -> Iterator[health_pb2.WatchHealthResponse]:
        """Verdicts as they stand, INITIAL_COMPLETE, then changes, until `timeout`, if any, or the connection ends. No nodes: all. With several
        servers the next one goes on, and repeats nothing; it is sought for a minute. Of a site a node has a verdict from each shard that knows
        it; MISSING_SHARDS says which shards do not answer."""
        request = health_pb2.WatchHealthRequest(nodes=nodes)
        if self._has_others:
            return self._watch_health_of_any(request, timeout)
        return self.health_stub.Watch(request, timeout=timeout, metadata=self._metadata)

    def _watch_health_of_any(self, request, timeout: float | None) -> Iterator[health_pb2.WatchHealthResponse]:
        event_type = health_pb2.WatchHealthResponse
        until = None if timeout is None else time.monotonic() + timeout
        known: dict[tuple, bytes] = {}  # what was said last, but for its age
        missing: set[str] = set()  # shards of a site that do not answer
        was_complete, give_up = False, time.monotonic() + 2 * CONNECT_TIME
        while True:
            there: set[tuple] = set()
            rest = None if until is None else max(0.0, until - time.monotonic())
            try:
                for event in self.health_stub.Watch(request, timeout=rest, metadata=self._metadata):
                    give_up = time.monotonic() + _FOLLOW_PATIENCE
                    node, shards = event.health.node, tuple(event.health.shards)
                    key = (node, shards, event.health.fabric, *event.health.guids[:1])
                    if event.type in (event_type.INITIAL_COMPLETE, event_type.MISSING_SHARDS):
                        before, missing = missing, set(event.missing_shards)
                        if event.type == event_type.INITIAL_COMPLETE:
                            # What a shard that does not answer owns may still be there.
                            for gone in [one for one in known if one not in there and not missing.intersection(one[1])]:
                                del known[gone]
                                yield event_type(type=event_type.REMOVED, health=health_pb2.NodeHealth(node=gone[0], shards=gone[1]))
                            if was_complete:
                                event.type = event_type.MISSING_SHARDS
                        if was_complete and missing == before:
                            continue
                        was_complete = True
                    elif event.type == event_type.REMOVED:
                        for gone in [one for one in known if one[:2] == (node, shards)]:
                            del known[gone]
                    else:
                        there.add(key)
                        said = _without_age(event.health)
                        if known.get(key) == said:
                            continue
                        known[key] = said
                        if was_complete:
                            event.type = event_type.CHANGED
                    yield event
            except grpc.RpcError as error:
                now = time.monotonic()
                if not is_away(error) or now > give_up or (until is not None and now >= until):
                    raise
            time.sleep(_NEXT_STREAM)

    def incidents(self, only_open: bool = True) -> list[incident_pb2.Incident]:
        states = [incident_pb2.Incident.OPEN, incident_pb2.Incident.ACKNOWLEDGED] if only_open else []
        request, found = incident_pb2.ListIncidentsRequest(states=states), []
        while True:
            page = self._call(self.incidents_stub.List, request)
            found += page.incidents
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def accept(self, hosts: Iterable[str] = (), *, seconds: float, ber_limit: float = 0, fabric: str = "", who: str = "") -> acceptance_pb2.Acceptance:
        """Starts an acceptance of these hosts, or of all of the fabric: they are watched for so long, and pass or fail. `ber_limit`: errors per bit that
        each link must stay under; 0: by its generation. The role operator is needed."""
        request = acceptance_pb2.StartAcceptanceRequest(hosts=hosts, fabric=fabric, ber_limit=ber_limit, who=who)
        request.length.FromNanoseconds(int(seconds * 1e9))
        return self._call(self.acceptance_stub.Start, request)

    def acceptance(self, run: str) -> acceptance_pb2.Acceptance:
        """With its report; NOT_FOUND for one that there is not, or that was over for long. Only PASS is a pass."""
        return self._call(self.acceptance_stub.Get, acceptance_pb2.GetAcceptanceRequest(id=run))

    def acceptances(self, *, running: bool = False, host: str = "") -> list[acceptance_pb2.Acceptance]:
        """Without reports, oldest first; those that are under way, or of which the host is a target."""
        found, request = [], acceptance_pb2.ListAcceptancesRequest(running=running, host=host)
        while True:
            page = self._call(self.acceptance_stub.List, request)
            found += page.acceptances
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _call(self, method, request):
        return method(request, timeout=self.timeout, metadata=self._metadata)


def _without_age(health: health_pb2.NodeHealth) -> bytes:
    copy = health_pb2.NodeHealth()
    copy.CopyFrom(health)
    copy.ClearField("data_age")
    return copy.SerializeToString(deterministic=True)


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
        return host.lower() == "localhost" or server.startswith("unix:")
