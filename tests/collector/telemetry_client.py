# SPDX-License-Identifier: Apache-2.0
"""A collector in Python: messages from the .proto file, batches packed by hand as api/telemetry/batch_codec.hpp says."""

import importlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

import grpc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_generated = tempfile.TemporaryDirectory(prefix="weft-proto-")


def _load():
    proto = os.path.join(ROOT, "api", "proto")
    subprocess.run(["protoc", f"--proto_path={proto}", f"--python_out={_generated.name}", "weft/v1/telemetry.proto"], check=True)
    sys.path.insert(0, _generated.name)
    return importlib.import_module("weft.v1.telemetry_pb2")


pb2 = _load()


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def difference(value: int) -> bytes:
    value &= 2**64 - 1
    signed = value - 2**64 if value >> 63 else value
    return varint(((signed << 1) ^ (signed >> 63)) & (2**64 - 1))


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(0) + varint(len(data)) + data


def port(device: str, number: int = 1, state: int = 4, netdev: str = "", guid: int = 0, flags: int = 2, rate: int = 10**11) -> bytes:
    return (text(device) + bytes([number]) + text(netdev) + text("") + text("") + text("mlx5") + text("") + bytes([flags]) +
            bytes(8) + guid.to_bytes(8, "little") + varint(0) + bytes([state, 5 if state == 4 else 2]) + varint(rate) + text(""))


def series(device: str, number: int, name: str, bits: int = 64, direction: str = "", priority: int | None = None,
           lane: int | None = None, gauge: bool = False) -> bytes:
    flags = ("", "transmit", "receive").index(direction) << 1 | (2 if gauge else 1) << 3
    flags |= (priority is not None) << 5 | (lane is not None) << 6
    return (text(device) + bytes([number]) + text(name) + bytes([flags, bits]) + bytes([place for place in (priority, lane) if place is not None]))


def whole(taken: int, ports: list[bytes], all_series: list[bytes], values: list[int], jobs=()) -> bytes:
    """A body that refers to nothing."""
    body = bytes([1, 0x3F])
    body += varint(len(ports)) + b"".join(ports)
    body += varint(len(all_series)) + b"".join(all_series)
    body += difference(taken)
    if values:
        body += varint((len(values) - 1) * 4 + 2) + b"".join(difference(value) for value in values)
    body += varint(1) + text("sysfs") + bytes([1]) + text("")
    body += varint(len(jobs)) + b"".join(text(job) for job in jobs)
    return body


def further(after: int, changes: list[int]) -> bytes:
    """A body with a reading that is `after` ns later and has these differences."""
    body = bytes([1, 0x08]) + difference(after)
    if changes:
        body += varint((len(changes) - 1) * 4 + 2) + b"".join(difference(change) for change in changes)
    return body


def events(*one: tuple[str, int, bool], at: int = 0) -> bytes:
    """Link events (device, port, up) in a body of their own that refers to nothing."""
    body = bytes([1, 0x41]) + varint(len(one))
    for device, number, up in one:
        body += difference(at) + text(device) + bytes([number]) + text("") + bytes([1 if up else 0]) + text("")
        at = 0
    return body


class Collector:
    """One stream. Messages are sent as they are given; answers wait in `answers`, the end in `status`."""

    def __init__(self, channel: grpc.Channel):
        self._outgoing: queue.Queue = queue.Queue()
        call = channel.stream_stream("/weft.v1.TelemetryService/Stream", request_serializer=lambda message: message if isinstance(message, bytes) else message.SerializeToString(),
                                     response_deserializer=pb2.AnalyzerMessage.FromString)
        self.call = call(iter(self._outgoing.get, None))

    def send(self, message) -> None:
        self._outgoing.put(message)

    def hello(self, host: str, spool: int = 1, **fields) -> None:
        values = {"protocol": 1, "host": host, "spool": spool, "version": "test", "interval_milliseconds": 1000, **fields}
        self.send(pb2.CollectorMessage(hello=pb2.Hello(**values)))

    def batch(self, sequence: int, body: bytes, late: bool = False) -> None:
        self.send(pb2.CollectorMessage(batch=pb2.Batch(sequence=sequence, body=body, late=late)))

    def close(self) -> None:
        self._outgoing.put(None)

    def next(self, kind: str):
        """The next answer of that kind; clock probes are left unanswered."""
        for message in self.call:
            if message.WhichOneof("message") == kind:
                return getattr(message, kind)
        raise AssertionError(f"the stream ended without {kind}: {self.call.code()} {self.call.details()}")

    def welcome(self) -> int:
        return self.next("welcome").sequence

    def wait_acknowledged(self, sequence: int) -> None:
        while self.next("acknowledgement").sequence < sequence:
            pass

    def status(self) -> tuple[grpc.StatusCode, str]:
        """How the stream ended; waits for it."""
        try:
            for _ in self.call:
                pass
        except grpc.RpcError:
            pass
        return self.call.code(), self.call.details()


class StandIn(threading.Thread):
    """A collector that reads twice a second what is set here: for values that need an adapter, or a module, that no test machine has.
    `values`: series() to what it says; bytes of the series stay as they are, the values may be set while it runs. `silent`: it says nothing for now."""

    def __init__(self, address: str, host: str, ports: list[bytes], values: dict[bytes, int]):
        super().__init__(daemon=True)
        self.values = values
        self.ports = ports
        self.silent = False
        self._channel = grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)])
        self._collector = Collector(self._channel)
        self._collector.hello(host, interval_milliseconds=500)
        self._sequence = self._collector.welcome()
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.5):
            if self.silent:
                continue
            self._sequence += 1
            self._collector.batch(self._sequence, whole(time.time_ns(), self.ports, list(self.values), list(self.values.values())))

    def end(self) -> None:
        self._done.set()
        self.join()
        self._collector.close()
        self._channel.close()
