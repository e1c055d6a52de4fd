# SPDX-License-Identifier: Apache-2.0
"""A fleet that is under way from one version to the next: collectors that are older and newer than weftd, and a weftd that is newer than its collectors. The
others are played by hand, for there is one version here: they say what another one may say within protocol 1, more and less than this one."""

import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import collector_testing
from collector_testing import wait_until

try:
    import grpc
    import telemetry_client as telemetry
    from telemetry_client import Collector, pb2
except ImportError as error:
    grpc = None
    MISSING = str(error)

# Fields that no message has: a number, and a text.
UNKNOWN = bytes([0xC0, 0x3E, 1]) + bytes([0xCA, 0x3E, 5]) + b"newer"


@unittest.skipIf(grpc is None, "python3-grpcio or python3-protobuf is not installed")
class MixedFleet(collector_testing.CollectorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.messages = pb2

    def weftd(self) -> collector_testing.Weftd:
        weftd = collector_testing.Weftd(self.sysfs)
        self.addCleanup(weftd.end)
        return weftd.start()

    def stream(self, weftd) -> Collector:
        channel = grpc.insecure_channel(weftd.grpc, options=[("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        one = Collector(channel)
        self.addCleanup(one.close)
        return one

    def read_last(self, weftd, host: str) -> dict[str, int]:
        """Counters that weftd has of it."""
        told = weftd.client.json(f"/api/v1/collectors?host={host}&readings=1")["collectors"][0]
        return {counter["name"]: int(counter.get("value", 0)) for port in told.get("ports", []) for counter in port.get("counters", [])}

    @staticmethod
    def body(**values: int) -> bytes:
        return telemetry.whole(time.time_ns(), [telemetry.port("mlx5_0")], [telemetry.series("mlx5_0", 1, name) for name in values], list(values.values()))

    def test_a_newer_collector_is_heard_in_what_weftd_knows(self):
        weftd = self.weftd()
        one = self.stream(weftd)
        hello = pb2.Hello(protocol=1, host="newer", spool=1, version="9.9.9", interval_milliseconds=1000).SerializeToString() + UNKNOWN
        one.send(pb2.CollectorMessage(hello=pb2.Hello.FromString(hello)).SerializeToString() + UNKNOWN)
        one.welcome()
        batch = pb2.Batch(sequence=1, body=self.body(a_counter_of_tomorrow=5, receive_bytes=7, symbol_errors=0)).SerializeToString() + UNKNOWN
        one.send(pb2.CollectorMessage(batch=pb2.Batch.FromString(batch)))
        one.wait_acknowledged(1)
        one.send(UNKNOWN)  # a kind of message that this weftd has never heard of
        one.batch(2, self.body(a_counter_of_tomorrow=5, receive_bytes=9, symbol_errors=0))
        one.wait_acknowledged(2)
        wait_until(lambda: weftd.told().get("state") == "CONNECTED", why=weftd.log)
        self.assertEqual(("newer", "9.9.9"), (weftd.told()["host"], weftd.told()["version"]))
        self.assertEqual(9, self.read_last(weftd, "newer")["receive_bytes"])

    def test_words_of_a_newer_collector_are_bounded(self):
        """What weftd does not know costs a collector as much of its share as a batch."""
        weftd = self.weftd()
        one = self.stream(weftd)
        one.hello("newer")
        one.welcome()
        for _ in range(500):
            one.send(UNKNOWN)
        one.batch(1, self.body(receive_bytes=1))
        one.wait_acknowledged(1)
        wait_until(lambda: re.search(r'(?m)^weft_collector_batches_throttled_total\{reason="rate"\} [1-9]', weftd.client.text("/metrics")), why="it was not throttled")

    def test_an_older_collector_says_less(self):
        weftd = self.weftd()
        one = self.stream(weftd)
        one.send(pb2.CollectorMessage(hello=pb2.Hello(protocol=1, host="older", spool=1, interval_milliseconds=1000)))
        one.welcome()
        one.batch(1, self.body(receive_bytes=7))
        one.wait_acknowledged(1)
        wait_until(lambda: weftd.told().get("state") == "CONNECTED", why=weftd.log)
        self.assertEqual("", weftd.told().get("version", ""))
        self.assertEqual({"receive_bytes": 7}, self.read_last(weftd, "older"))

    def test_a_newer_weftd_is_understood(self):
        newer = NewerAnalyzer(self.messages, collector_testing.free_address())
        newer.start()
        self.addCleanup(newer.die)
        collector = self.collector(newer.address).start()
        wait_until(lambda: newer.last() >= 50, why=lambda: f"only {newer.last()} batches came:\n{collector.log()}")
        self.assertEqual(1, len(newer.hellos), "one stream was enough")
        self.assertEqual(list(range(1, newer.last() + 1)), newer.sequences()[:newer.last()])
        self.assertEqual([], newer.troubles)


class NewerAnalyzer(collector_testing.Analyzer):
    """It says more with each answer than collectors know of, and between any two something that they do not know at all."""

    def _stream(self, requests, context):
        for answer in super()._stream(requests, context):
            yield self.messages.AnalyzerMessage.FromString(UNKNOWN)
            yield self.messages.AnalyzerMessage.FromString(answer.SerializeToString() + UNKNOWN)


if __name__ == "__main__":
    collector_testing.main()
