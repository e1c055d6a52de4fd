# SPDX-License-Identifier: Apache-2.0
"""A collector with the addresses of two analyzers: it moves to the one that takes its batches, in bounded time, and loses none."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import collector_testing
from collector_testing import free_address, wait_until

CERTIFICATES = os.path.join(collector_testing.ROOT, "deploy", "certs", "make-certificates")


class Pair(collector_testing.CollectorTest):
    def in_use(self, collector) -> str:
        """The address that /metrics names; "" for none."""
        named = [line.split('"')[1] for line in collector.text("/metrics").splitlines()
                 if line.startswith("weft_agent_analyzer_in_use{") and line.endswith(" 1")]
        self.assertLessEqual(len(named), 1)
        return named[0] if named else ""

    def wait_in_use(self, collector, address: str, within: float) -> None:
        wait_until(lambda: self.in_use(collector) == address, within,
                   why=lambda: f"{self.in_use(collector) or 'none'} is in use, not {address}:\n{collector.log()}")

    def expect_nothing_lost(self, collector) -> None:
        for reason in ("bound", "disk"):
            self.assertEqual(0, collector.metric(f'weft_agent_lost_batches_total{{reason="{reason}"'))


class LeaderAndStandby(Pair):
    """Two stand-ins with one ledger, as weftd on one database."""

    def setUp(self):
        super().setUp()
        messages = collector_testing.telemetry_messages(type(self))
        self.first = collector_testing.Analyzer(messages, free_address())
        self.second = collector_testing.Analyzer(messages, free_address(), partner=self.first)
        for analyzer in (self.first, self.second):
            self.addCleanup(lambda one=analyzer: one._server and one.die())

    def pair(self, **more):
        return self.collector(f"{self.first.address},{self.second.address}", **more)

    def wait_taken(self, collector, more: int = 30) -> None:
        last = self.first.last() + more
        wait_until(lambda: self.first.last() > last, why=lambda: f"nothing comes:\n{collector.log()}")

    def expect_each_once(self) -> None:
        taken = self.first.sequences()
        self.assertEqual(list(range(1, taken[-1] + 1)), taken)
        self.assertEqual([], self.first.troubles)

    def test_it_follows_the_leader_back_and_forth(self):
        self.first.standby = "standby: weft2 leads"
        self.first.start()
        self.second.start()
        collector = self.pair().start()
        self.wait_taken(collector)
        self.wait_in_use(collector, self.second.address, 10)
        self.assertIn(f"{self.first.address} does not lead (standby: weft2 leads)", collector.log())
        for leader, standby in ((self.first, self.second), (self.second, self.first), (self.first, self.second)):
            leader.standby, standby.standby = "", "standby: the other leads"
            self.wait_in_use(collector, leader.address, 10)
            self.wait_taken(collector)
        self.expect_each_once()
        self.expect_nothing_lost(collector)

    def test_batches_under_way_to_a_leader_that_dies_go_to_the_next(self):
        self.first.start()
        self.second.standby = "standby: weft1 leads"
        self.second.start()
        collector = self.pair().start()
        self.wait_taken(collector)
        self.first.forgets = True
        wait_until(lambda: self.first.forgotten >= 20, why="nothing more comes")
        self.first.die()
        wait_until(lambda: self.second.streams > 0, 5, why="the next address is not tried")
        self.second.standby = ""
        self.wait_taken(collector)
        self.wait_in_use(collector, self.second.address, 10)
        self.expect_each_once()
        self.assertGreaterEqual(collector.metric("weft_agent_resent_batches_total"), 20)

    def test_without_a_leader_it_waits_between_rounds_and_says_so_once(self):
        for analyzer in (self.first, self.second):
            analyzer.standby = "standby: nobody leads"
            analyzer.start()
        collector = self.pair().start()
        time.sleep(6)
        # 0.2 + 0.4 + 0.5 + 0.5 + … s, each shortened by up to half: at most 25 rounds and one under way.
        self.assertLessEqual(self.first.streams, 26)
        self.assertGreaterEqual(self.first.streams, 5)
        self.assertAlmostEqual(self.first.streams, self.second.streams, delta=1)
        self.assertEqual(2, collector.log().count("standby: nobody leads"))
        self.assertEqual("", self.in_use(collector))
        self.second.standby = ""
        self.wait_taken(collector)
        self.expect_each_once()

    def test_an_analyzer_that_answers_and_stores_nothing_is_left_after_a_minute(self):
        self.first.start()
        self.second.start()
        collector = self.pair().start()
        self.wait_taken(collector)
        self.first.forgets = True
        began = time.monotonic()
        wait_until(lambda: self.second.streams > 0, 100, why=lambda: f"it stays:\n{collector.log()}")
        self.assertGreater(time.monotonic() - began, 55, "a database that fails over takes up to 40 s")
        self.assertIn("no batch was stored for 60 s", collector.log())
        self.wait_taken(collector)
        self.expect_each_once()

    def test_a_batch_that_the_leader_refuses_sends_nobody_to_the_standby(self):
        self.first.refuse = {20}
        self.first.start()
        self.second.standby = "standby: weft1 leads"
        self.second.start()
        collector = self.pair().start()
        wait_until(lambda: self.first.last() > 40, why=lambda: f"nothing comes:\n{collector.log()}")
        self.assertEqual(0, self.second.streams)
        self.assertNotIn(20, self.first.sequences())

    def test_a_host_that_does_not_answer_costs_two_seconds(self):
        # Its queue of connections is full: the kernel drops every further SYN, as behind a silent network.
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen(0)
            fillers = []
            for _ in range(4):
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(silent.getsockname())
                fillers.append(filler)
            self.second.start()
            address = "127.0.0.1:%d" % silent.getsockname()[1]
            collector = self.collector(f"{address},{self.second.address}").start()
            began = time.monotonic()
            self.wait_in_use(collector, self.second.address, 10)
            self.assertLess(time.monotonic() - began, 5)
            self.wait_taken(collector)
            self.expect_each_once()
            for filler in fillers:
                filler.close()


class TwoWeftd(Pair):
    """Two real weftd, each with a store of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        collector_testing.require_programs("weftd")

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.place, True)

    def weftd(self, *extra: str) -> collector_testing.Weftd:
        weftd = collector_testing.Weftd(self.place, extra)
        self.addCleanup(weftd.end, signal.SIGKILL)
        return weftd

    def wait_batches(self, weftd, collector, more: int = 20) -> None:
        least = int(weftd.told().get("sequence", 0)) + more
        wait_until(lambda: int(weftd.told().get("sequence", 0)) > least, why=lambda: f"{weftd.told()}\n{collector.log()}")

    def first_batch(self, weftd) -> int:
        """Sequence of the first batch that it took."""
        told = weftd.told()
        self.assertEqual("0", told.get("lostBatches", "0"))
        return int(told["sequence"]) - int(told["batches"]) + 1

    def move(self, how: int, within: float) -> None:
        """From the first to the second when the first gets that signal, and back when the second ends."""
        first, second = self.weftd().start(), self.weftd().start()
        collector = self.collector(f"{first.grpc},{second.grpc}", interval="100ms").start()
        self.wait_in_use(collector, first.grpc, 20)
        self.wait_batches(first, collector)
        self.assertEqual({}, second.told())
        began = time.monotonic()
        first.process.send_signal(how)
        self.wait_in_use(collector, second.grpc, within)
        print(f"{signal.Signals(how).name}: moved after {time.monotonic() - began:.1f} s", flush=True)
        self.wait_batches(second, collector)
        if how == signal.SIGSTOP:
            first.process.send_signal(signal.SIGCONT)
            wait_until(lambda: first.told().get("state") == "DISCONNECTED", why=lambda: f"{first.told()}")
            self.assertEqual(second.grpc, self.in_use(collector), "it stays with the one that works")
        else:
            first.process.wait(30)
            first.start()
        self.assertLessEqual(self.first_batch(second), int(first.told()["sequence"]) + 1, "a batch is in neither store")
        second.end()
        self.wait_in_use(collector, first.grpc, 10)
        self.wait_batches(first, collector)
        self.expect_nothing_lost(collector)

    def test_a_killed_weftd_is_left_at_once(self):
        self.move(signal.SIGKILL, 10)

    def test_a_weftd_that_stops_is_left_at_once(self):
        self.move(signal.SIGTERM, 10)

    def test_a_frozen_weftd_is_left_within_twenty_seconds(self):
        self.move(signal.SIGSTOP, 20)

    def test_a_frozen_weftd_is_passed_over_at_the_start(self):
        first, second = self.weftd().start(), self.weftd().start()
        first.process.send_signal(signal.SIGSTOP)
        collector = self.collector(f"{first.grpc},{second.grpc}", interval="100ms").start()
        began = time.monotonic()
        self.wait_in_use(collector, second.grpc, 10)
        self.assertLess(time.monotonic() - began, 5)
        first.process.send_signal(signal.SIGCONT)

    def test_with_tls_each_address_is_checked_for_its_own_name(self):
        if not shutil.which("openssl"):
            self.skipTest("not installed: openssl")

        def certified(names: str) -> collector_testing.Weftd:
            folder = os.path.join(self.place, "certificates", names)
            os.makedirs(folder)
            if ca := getattr(self, "ca", None):
                for part in ("ca.crt", "ca.key"):
                    shutil.copy(os.path.join(ca, part), folder)
            subprocess.run([CERTIFICATES, folder, "--server", names, "--collector", "node-1"], check=True, stdout=subprocess.DEVNULL)
            self.ca = folder
            return self.weftd("--security-certificate", f"{folder}/server.crt", "--security-key", f"{folder}/server.key",
                              "--security-client-authorities", f"{folder}/ca.crt", "--security-certificate-roles", "node-1=collector").start()

        wrong, named, numbered = certified("weft3.example"), certified("localhost"), certified("127.0.0.1")
        by_name = named.grpc.replace("127.0.0.1", "localhost")
        collector = self.collector(f"{wrong.grpc},{by_name},{numbered.grpc}", interval="100ms", extra=(
            "--analyzer-authorities", f"{self.ca}/ca.crt", "--analyzer-certificate", f"{self.ca}/node-1.crt",
            "--analyzer-key", f"{self.ca}/node-1.key")).start()
        self.wait_in_use(collector, by_name, 20)
        named.end(signal.SIGKILL)
        self.wait_in_use(collector, numbered.grpc, 20)
        self.assertIn(f"no connection to {wrong.grpc}", collector.log())
        numbered.end(signal.SIGKILL)
        named.start()
        self.wait_in_use(collector, by_name, 20)


if __name__ == "__main__":
    collector_testing.main()
