# SPDX-License-Identifier: Apache-2.0
"""Streams that break the rules, from a gRPC client that is not ours: a clear error for each, memory within bounds, and the
other collectors unharmed."""

import os
import re
import resource
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import program_testing  # noqa: E402

try:
    import grpc
    import telemetry_client as telemetry
    from telemetry_client import Collector, pb2
except ImportError as error:
    grpc = None
    MISSING = str(error)

PORTS = 1
SERIES = ("transmit_bytes", "receive_bytes", "retries_exhausted")


class Quiet(program_testing.Weftd):
    """weftd that watches no subnet."""

    def command(self):
        return [program_testing.program("weftd"), "--state-dir", self.state_dir, "--http", self.http, "--grpc", self.grpc,
                "--listen-socket", self.socket, "--infiniband-enabled", "false", *self.extra]


@unittest.skipIf(grpc is None, "python3-grpcio or python3-protobuf is not installed")
class HostileStreams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.weftd = Quiet(dict(os.environ))
        cls.weftd.start()
        cls.channel = cls.connect()
        cls.good = Collector(cls.channel)
        cls.good.hello("good", spool=7)
        cls.good_sequence = cls.good.welcome()

    @classmethod
    def tearDownClass(cls):
        cls.good.close()
        cls.channel.close()
        cls.weftd.stop()

    @classmethod
    def connect(cls, *options):
        return grpc.insecure_channel(cls.weftd.grpc, options=[("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1), *options])

    @staticmethod
    def body(values=(1, 2, 3), ports=PORTS, names=SERIES):
        return telemetry.whole(time.time_ns(), [telemetry.port(f"mlx5_{i}") for i in range(ports)],
                               [telemetry.series("mlx5_0", 1, name) for name in names], list(values))

    def tearDown(self):
        """Whatever the test did, the good collector is heard and acknowledged."""
        self.assertIsNone(self.weftd.process.poll(), "weftd ended; it says:\n" + self.weftd.log())
        type(self).good_sequence += 1
        self.good.batch(self.good_sequence, self.body())
        self.good.wait_acknowledged(self.good_sequence)

    def collector(self, host: str, **hello) -> "Collector":
        one = Collector(self.channel)
        self.addCleanup(one.close)
        one.hello(host, **hello)
        return one

    def refused(self, one, code, words: str):
        got, details = one.status()
        self.assertEqual((code, True), (got, words in details), f"{got} {details}")

    def resident(self) -> int:
        """Octets."""
        with open(f"/proc/{self.weftd.process.pid}/status", encoding="ascii") as stream:
            return int(re.search(r"VmRSS:\s+(\d+) kB", stream.read())[1]) * 1024

    def listed(self, host: str) -> dict:
        found = [one for one in self.weftd.client.json("/api/v1/collectors")["collectors"] if one["host"] == host]
        return found[0] if found else {}

    def test_hellos_that_break_the_rules(self):
        for words, host, fields in (("protocol 2", "bad", {"protocol": 2}), ("255 bytes", "x" * 256, {}), ("255 bytes", "", {}),
                                    ("control characters", "a\nb", {}), ("spool", "bad", {"spool": 0}),
                                    ("interval", "bad", {"interval_milliseconds": 0}), ("version", "bad", {"version": "v" * 65}),
                                    ("sequence", "bad", {"oldest_sequence": 2**63})):
            with self.subTest(words=words, host=host[:8]):
                self.refused(self.collector(host, **fields), grpc.StatusCode.INVALID_ARGUMENT, words)
        self.assertEqual({}, self.listed("bad"))

    def test_a_second_hello(self):
        one = self.collector("twice")
        one.welcome()
        one.hello("twice")
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "second Hello")

    def test_a_batch_before_hello_and_a_message_of_nothing(self):
        one = Collector(self.channel)
        self.addCleanup(one.close)
        one.batch(1, self.body())
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "before Hello")
        one = self.collector("nothing")
        one.welcome()
        one.send(pb2.CollectorMessage())
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "an empty message")

    def test_bodies_that_break_the_rules(self):
        port = telemetry.port("mlx5_0")
        series = telemetry.series("mlx5_0", 1, "transmit_bytes")
        now = time.time_ns()
        bodies = {
            "empty": b"",
            "of another format": bytes([9, 1]),
            "that refers to nothing known": telemetry.further(10**9, [1]),
            "with unknown text ids": bytes([1, 0x3F, 1, 99]) + bytes(64),
            "with a huge name": telemetry.whole(now, [telemetry.port("n" * 5000)], [series], [1]),
            "with more values than series": telemetry.whole(now, [port], [series], [1, 2, 3]),
            "with one series twice": telemetry.whole(now, [port], [series, series], [1, 2]),
            "with a hundred thousand ports": bytes([1, 0x3F]) + telemetry.varint(100_000),
            "cut short": telemetry.whole(now, [port], [series], [1])[:-4],
            "with more behind it": telemetry.whole(now, [port], [series], [1]) + b"x",
        }
        for name, body in bodies.items():
            with self.subTest(body=name):
                one = self.collector("bodies")
                one.welcome()
                one.batch(10**6 + len(name), body)
                code, details = one.status()
                self.assertEqual(grpc.StatusCode.INVALID_ARGUMENT, code, details)
                self.assertTrue(details)

    def test_negative_differences_are_a_reset_and_no_error(self):
        one = self.collector("negative")
        one.welcome()
        one.batch(1, self.body((100, 100, 100)))
        one.batch(2, telemetry.further(10**9, [-50, -100, -100]))
        one.wait_acknowledged(2)
        self.assertEqual([], [i for i in self.weftd.incidents() if i["cause"].get("host") == "negative"])

    def test_replays(self):
        one = self.collector("replay", spool=5)
        self.assertEqual(0, one.welcome())
        one.batch(1, self.body())
        one.batch(2, self.body())
        one.wait_acknowledged(2)
        one.batch(2, self.body())
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "came after")
        again = self.collector("replay", spool=5)
        self.assertEqual(2, again.welcome())
        again.batch(1, self.body())
        again.batch(2, self.body())
        again.batch(5, self.body())
        again.wait_acknowledged(5)
        # What is listed follows within a second.
        program_testing.wait_until(lambda: self.listed("replay")["batches"] == "3")
        listed = self.listed("replay")
        self.assertEqual(("3", "2"), (listed["batches"], listed["lostBatches"]))

    def test_two_for_one_host(self):
        first = self.collector("contested", spool=1)
        first.welcome()
        self.refused(self.collector("contested", spool=2), grpc.StatusCode.ALREADY_EXISTS, "another collector")
        newer = self.collector("contested", spool=1)
        newer.welcome()
        self.refused(first, grpc.StatusCode.UNAVAILABLE, "newer stream")
        newer.batch(1, self.body())
        newer.wait_acknowledged(1)

    def test_a_reply_to_no_probe(self):
        one = self.collector("replies")
        one.welcome()
        one.send(pb2.CollectorMessage(clock_reply=pb2.ClockReply(id=77, host_time=time.time_ns())))
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "without a probe")

    def test_clocks_that_are_off_are_corrected_and_none_is_ahead(self):
        one = self.collector("hour-ahead")
        one.welcome()
        probe = one.next("clock_probe")
        ahead = time.time_ns() + 3600 * 10**9
        one.send(pb2.CollectorMessage(clock_reply=pb2.ClockReply(id=probe.id, host_time=ahead)))
        one.batch(1, telemetry.whole(ahead, [telemetry.port("mlx5_0")], [], []))
        one.wait_acknowledged(1)
        program_testing.wait_until(lambda: abs(self.listed("hour-ahead").get("clockOffsetSeconds", 0) + 3600) < 60)
        self.assertLessEqual(self.listed("hour-ahead")["reading"][:19], time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()))

    def test_messages_that_are_too_large(self):
        one = self.collector("large")
        one.welcome()
        before = self.resident()
        one.batch(1, bytes(8 * 1024 * 1024))
        code, details = one.status()
        self.assertEqual(grpc.StatusCode.RESOURCE_EXHAUSTED, code, details)
        self.assertLess(self.resident() - before, 64 * 1024 * 1024)

    def test_a_hello_that_never_ends(self):
        one = Collector(self.channel)
        self.addCleanup(one.close)
        self.refused(one, grpc.StatusCode.INVALID_ARGUMENT, "no Hello in time")

    def test_ten_thousand_connections(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        before = self.resident()
        sockets = []
        self.addCleanup(lambda: [one.close() for one in sockets])
        host, number = self.weftd.grpc.rsplit(":", 1)
        for _ in range(min(10_000, hard - 1_000)):
            try:
                sockets.append(socket.create_connection((host, int(number)), timeout=10))
            except OSError:
                break
        self.assertGreater(len(sockets), min(8_000, hard - 2_000), "connections are taken while there is room for them")
        # They say nothing; who does is served meanwhile.
        one = self.collector("among-many")
        one.welcome()
        one.batch(1, self.body())
        one.wait_acknowledged(1)
        grown = (self.resident() - before) / len(sockets)
        self.assertLess(grown, 100 * 1024, "octets of resident memory for each connection")


if __name__ == "__main__":
    program_testing.main()
