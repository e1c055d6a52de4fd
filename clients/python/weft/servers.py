# SPDX-License-Identifier: Apache-2.0
"""Several weftd, of which one leads: a channel that uses one of them, and the next one when that one does not serve."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

import grpc
from google.protobuf.message import DecodeError

from weft.v1 import errors_pb2

# Longest time for a connection to one of several servers: name, TCP, TLS, HTTP/2.
CONNECT_TIME = 2.0
# What a standby answers; nothing of the call was taken.
_STANDBY = "standby: "
# Where a shard of a site names the one that owns what the call is about: a weft.v1.ErrorStatus with an Owner. The words of an error name nobody.
_DETAILS = "grpc-status-details-bin"
# The leader's address stands first, that of the other weftd of a pair behind it.
_MOST_OWNERS = 2
_READS = ("Get", "BatchGet", "List", "Watch")


class Unreachable(grpc.RpcError):
    """No server could be connected to; nothing was sent."""

    def __init__(self, details: str):
        super().__init__(details)
        self._details = details

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNAVAILABLE

    def details(self) -> str:
        return self._details


def is_standby(error: grpc.RpcError) -> bool:
    return error.code() == grpc.StatusCode.UNAVAILABLE and (error.details() or "").startswith(_STANDBY)


def is_of_other_shard(error: grpc.RpcError) -> bool:
    return error.code() == grpc.StatusCode.FAILED_PRECONDITION and bool(_owners(error))


def _owners(refusal: grpc.RpcError) -> list[str]:
    """The addresses of the owner that the refusal names."""
    metadata = getattr(refusal, "trailing_metadata", tuple)() or ()
    details = next((value for key, value in metadata if key == _DETAILS), b"")
    try:
        status = errors_pb2.ErrorStatus.FromString(details)
    except DecodeError:
        return []
    owner = errors_pb2.Owner()
    if len(status.details) != 1 or not status.details[0].Unpack(owner):
        return []
    return list(owner.addresses)[:_MOST_OWNERS]


def is_away(error: grpc.RpcError) -> bool:
    return error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def _least(seconds: float, bound: float | None) -> float:
    return seconds if bound is None else min(seconds, bound)


def _is_connected(channel: grpc.Channel, within: float) -> bool:
    """Waits until it is, or cannot be."""
    states: queue.SimpleQueue = queue.SimpleQueue()

    def note(state):
        states.put(state)

    channel.subscribe(note, try_to_connect=True)
    until = time.monotonic() + within
    try:
        while True:
            state = states.get(timeout=max(0.0, until - time.monotonic()))
            if state in (grpc.ChannelConnectivity.READY, grpc.ChannelConnectivity.TRANSIENT_FAILURE):
                return state is grpc.ChannelConnectivity.READY
    except queue.Empty:
        return False
    finally:
        channel.unsubscribe(note)


def _is_by_standby(call: grpc.Call) -> bool:
    """The weftd that answered stands by."""
    return ("weft-role", "standby") in {(key, value) for key, value in call.initial_metadata() or ()}


class Servers(grpc.Channel):
    """For the stubs of grpcio. A call that only reads is made on the next server when one fails or is on standby; any other call only when it
    is certain that the server before did not take it. It stays with the server that served. When all of them say that another shard of the
    site owns what a call is about, the address that they name is asked, once. Safe for several threads."""

    def __init__(self, names: list[str], connect: Callable[[str], grpc.Channel], may_ask: Callable[[str], bool] = lambda name: True):
        """`may_ask`: whether a server may be asked that is none of `names`."""
        self._names = names
        self._connect = connect
        self._may_ask = may_ask
        self._channels = [connect(name) for name in names]
        self._current = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        for channel in self._channels:
            channel.close()

    def __enter__(self) -> "Servers":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._names)

    @property
    def current(self) -> int:
        """Place of the server in use, from 0."""
        return self._current

    def name(self, place: int) -> str:
        return self._names[place]

    def leave(self, place: int) -> None:
        """That one does not serve: the next one is used, unless another call has moved on already."""
        with self._lock:
            if self._current == place:
                self._current = (place + 1) % len(self._names)

    def call(self, place: int, form: str, method: str, coders: tuple):
        return getattr(self._channels[place], form)(method, *coders)

    def is_connected(self, place: int, within: float) -> bool:
        """Waits until it is, or cannot be."""
        return _is_connected(self._channels[place], within)

    def call_owner(self, refusal: grpc.RpcError, method: str, coders: tuple, request, timeout: float | None, metadata, **more):
        """The call at the first of the owner's addresses that can be connected to. Raises the refusal when there is none."""
        until = None if timeout is None else time.monotonic() + timeout

        def left() -> float | None:
            return None if until is None else max(0.0, until - time.monotonic())

        for name in filter(self._may_ask, _owners(refusal)):
            with self._connect(name) as channel:
                if _is_connected(channel, _least(CONNECT_TIME, left())):
                    return channel.unary_unary(method, *coders).with_call(request, left(), metadata, **more)
        raise refusal

    # -- what stubs use; weft.v1 has no call with a stream of requests for clients

    def unary_unary(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return _Call(self, method, (request_serializer, response_deserializer))

    def unary_stream(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return _StreamCall(self, method, (request_serializer, response_deserializer))

    def stream_unary(self, method, *coders, **more):
        return self._channels[self._current].stream_unary(method, *coders, **more)

    def stream_stream(self, method, *coders, **more):
        return self._channels[self._current].stream_stream(method, *coders, **more)

    def subscribe(self, callback, try_to_connect=False):
        self._channels[self._current].subscribe(callback, try_to_connect)

    def unsubscribe(self, callback):
        for channel in self._channels:
            channel.unsubscribe(callback)


class _Call(grpc.UnaryUnaryMultiCallable):
    def __init__(self, servers: Servers, method: str, coders: tuple):
        self._servers = servers
        self._method = method
        self._coders = coders
        self._reads = method.rsplit("/", 1)[-1].startswith(_READS)

    def __call__(self, request, timeout=None, metadata=None, **more):
        return self.with_call(request, timeout, metadata, **more)[0]

    def with_call(self, request, timeout=None, metadata=None, **more):
        servers, why, last, refusal, of_standby = self._servers, [], None, None, None
        for left in range(len(servers), 0, -1):
            place, began = servers.current, time.monotonic()
            # Each server has its share of the time. What changes something waits for its answer: it is not asked of another.
            share = None if timeout is None else timeout / left
            try:
                if not self._reads and len(servers) > 1 and not servers.is_connected(place, _least(CONNECT_TIME, share)):
                    raise Unreachable("no connection")
                spent = time.monotonic() - began
                limit = share if self._reads or timeout is None else max(0.0, timeout - spent)
                answer = servers.call(place, "unary_unary", self._method, self._coders).with_call(request, limit, metadata, **more)
                if not self._reads or len(servers) == 1 or not _is_by_standby(answer[1]):
                    return answer
                # A standby hears no collectors: the leader knows more. What the standby knows is better than nothing.
                servers.leave(place)
                why.append(f"{servers.name(place)}: it stands by")
                of_standby = of_standby or answer
            except grpc.RpcError as error:
                if is_of_other_shard(error):
                    refusal = error
                elif self._reads and len(servers) > 1 and not is_away(error) and _is_by_standby(error):
                    of_standby = of_standby or error
                elif not is_away(error) or len(servers) == 1 or not (self._reads or is_standby(error) or isinstance(error, Unreachable)):
                    raise
                servers.leave(place)
                why.append(f"{servers.name(place)}: {error.details()}")
                last = error
            if timeout is not None:
                timeout = max(0.0, timeout - (time.monotonic() - began))
        if isinstance(of_standby, grpc.RpcError):
            raise of_standby
        if of_standby is not None:
            return of_standby
        if refusal is not None:
            return servers.call_owner(refusal, self._method, self._coders, request, timeout, metadata, **more)
        if last.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            raise last
        raise Unreachable("; ".join(why)) from last

    def future(self, request, timeout=None, metadata=None, **more):
        """On the server in use, and on no other."""
        return self._servers.call(self._servers.current, "unary_unary", self._method, self._coders).future(request, timeout, metadata, **more)


class _StreamCall(grpc.UnaryStreamMultiCallable):
    def __init__(self, servers: Servers, method: str, coders: tuple):
        self._servers = servers
        self._method = method
        self._coders = coders

    def __call__(self, request, timeout=None, metadata=None, **more):
        servers, began, of_standby = self._servers, time.monotonic(), None

        def begin(place: int):
            rest = None if timeout is None else max(0.0, timeout - (time.monotonic() - began))
            return servers.call(place, "unary_stream", self._method, self._coders)(request, rest, metadata, **more)

        for left in range(len(servers), 0, -1):
            place = servers.current
            if servers.is_connected(place, _least(CONNECT_TIME, None if timeout is None else timeout / len(servers))):
                call = begin(place)
                if len(servers) == 1 or not _is_by_standby(call):
                    return _Stream(servers, place, call)
                call.cancel()
                if of_standby is None:
                    of_standby = place
            servers.leave(place)
        # Nobody leads: what a standby knows is better than nothing.
        place = servers.current if of_standby is None else of_standby
        return _Stream(servers, place, begin(place))


class _Stream:
    """The call of a stream. When the server fails or is on standby, the next call of anything goes to the next server."""

    def __init__(self, servers: Servers, place: int, call):
        self._servers = servers
        self._place = place
        self._call = call

    def __iter__(self) -> "_Stream":
        return self

    def __next__(self):
        try:
            return next(self._call)
        except grpc.RpcError as error:
            if is_away(error):
                self._servers.leave(self._place)
            raise

    def __getattr__(self, name: str):
        return getattr(self._call, name)
