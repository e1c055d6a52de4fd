# SPDX-License-Identifier: Apache-2.0
"""Nothing is lost and nothing doubled, whoever dies: weft-collector, weft-uplink, the analyzer."""

import os
import signal

import collector_testing
from collector_testing import wait_until


class Stream(collector_testing.CollectorTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.messages = collector_testing.telemetry_messages(cls)

    def analyzer(self) -> collector_testing.Analyzer:
        made = collector_testing.Analyzer(self.messages, collector_testing.free_address())
        self.addCleanup(lambda: made._server and made.die())
        return made

    def expect_all(self, analyzer, at_least: int, without: tuple = ()) -> None:
        """The analyzer took every batch up to some number, each once."""
        wait_until(lambda: analyzer.last() >= at_least, why=lambda: f"only {analyzer.last()} of {at_least} batches came")
        taken = analyzer.sequences()
        self.assertEqual([number for number in range(1, taken[-1] + 1) if number not in without], taken)
        self.assertEqual([], analyzer.troubles)

    def test_an_analyzer_that_is_away_for_ten_minutes_misses_nothing(self):
        analyzer = self.analyzer()
        collector = self.collector(analyzer.address).start()
        collector.wait_readings(300)
        collector.kill()
        collector.start().wait_readings(300)
        os.kill(collector.uplink(), signal.SIGKILL)
        spooled = int(collector.metric("weft_agent_spool_batches"))
        self.assertGreaterEqual(spooled, 590)
        analyzer.start()
        wait_until(lambda: analyzer.last() >= 100, why="nothing comes")
        analyzer.forgets = True
        wait_until(lambda: analyzer.forgotten >= 20, why="nothing more comes")
        analyzer.die()
        after_death = analyzer.last()
        collector.kill()
        collector.start()
        analyzer.start()
        self.expect_all(analyzer, max(spooled, after_death) + 100)
        late = [batch.late for batch in analyzer.taken]
        self.assertTrue(all(late[:590]), "what waited is late")
        wait_until(lambda: not analyzer.taken[-1].late, why="even what is new is late")
        self.assertEqual(0, collector.metric('weft_agent_lost_batches_total{reason="bound"'))
        wait_until(lambda: collector.metric("weft_agent_spool_batches") < 50, why="the spool stays full")

    def test_an_uplink_that_is_killed_is_started_again_and_goes_on(self):
        analyzer = self.analyzer().start()
        collector = self.collector(analyzer.address).start()
        for _ in range(3):
            before = analyzer.last()
            wait_until(lambda: analyzer.last() > before + 20, why=lambda: f"nothing comes:\n{collector.log()}")
            # What it had sent may still arrive: only a new process is the next one to kill.
            killed = collector.uplink()
            os.kill(killed, signal.SIGKILL)
            wait_until(lambda: collector.uplink() != killed, why=lambda: f"the same weft-uplink:\n{collector.log()}")
        self.expect_all(analyzer, analyzer.last() + 50)
        self.assertGreaterEqual(collector.metric("weft_agent_uplink_starts_total"), 4)
        self.assertEqual(0, collector.stop(), collector.log())

    def test_an_analyzer_that_dies_again_and_again_gets_each_batch_once(self):
        analyzer = self.analyzer().start()
        collector = self.collector(analyzer.address).start()
        for _ in range(4):
            before = analyzer.last()
            wait_until(lambda: analyzer.last() > before + 10, why=lambda: f"nothing comes:\n{collector.log()}")
            analyzer.forgets = True
            wait_until(lambda: analyzer.forgotten >= 5, why="nothing more comes")
            analyzer.die()
            analyzer.start()
        self.expect_all(analyzer, analyzer.last() + 50)
        self.assertGreater(collector.metric("weft_agent_resent_batches_total"), 0)

    def test_a_batch_that_is_refused_is_left_out_and_the_rest_goes_on(self):
        analyzer = self.analyzer()
        analyzer.refuse = {40, 41, 60}
        collector = self.collector(analyzer.address).start()
        collector.wait_readings(80)
        analyzer.start()
        self.expect_all(analyzer, 100, without=(40, 41, 60))
        self.assertEqual(3, collector.metric("weft_agent_refused_batches_total"))
        self.assertIn("batch 60 is skipped because weftd refused it: batch 60 is wrong", collector.log())

    def test_hello_names_the_node_and_the_clock_is_measured(self):
        analyzer = self.analyzer().start()
        collector = self.collector(analyzer.address).start()
        wait_until(lambda: analyzer.last() > 0 and analyzer.clock_replies, why=collector.log)
        hello = analyzer.hellos[0]
        self.assertEqual(("node-1", 1, 10), (hello.host, hello.protocol, hello.interval_milliseconds))
        self.assertNotEqual(0, hello.spool)
        self.assertEqual(1, analyzer.clock_replies[0].id)
        self.assertGreater(analyzer.clock_replies[0].host_time, 1_600_000_000_000_000_000)

    def test_past_the_bound_the_oldest_goes_and_the_gap_is_counted(self):
        analyzer = self.analyzer()
        collector = self.collector(analyzer.address, extra=("--spool-max-bytes", "256KiB", "--reading-raw-names", "true")).start()

        def churn():
            for value, name in enumerate(("port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets")):
                for device in self.devices:
                    collector_testing.sysfs_tree.write(os.path.join(device, "ports/1/counters", name), int.from_bytes(os.urandom(6), "big") + value)
            return collector.metric('weft_agent_lost_batches_total{reason="bound"') > 0

        wait_until(churn, within=120, every=0.01, why="the bound is never reached")
        analyzer.start()
        wait_until(lambda: analyzer.taken, why=collector.log)
        self.assertGreater(analyzer.sequences()[0], 1)
        first, last = analyzer.sequences()[0], analyzer.last()
        self.assertLessEqual(collector.metric("weft_agent_spool_bytes"), 256 * 1024)
        wait_until(lambda: analyzer.last() > last + 20, why="nothing more comes")
        self.assertEqual(list(range(first, analyzer.sequences()[-1] + 1)), analyzer.sequences())


if __name__ == "__main__":
    collector_testing.main()
