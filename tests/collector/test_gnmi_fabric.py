# SPDX-License-Identifier: Apache-2.0
"""Two leaves and two spines that are read by gNMI, from stand-ins, and two hosts that only LLDP tells of: nobody reads a link between
switches but the switches themselves."""

import os
import signal
import time

from gnmi_testing import GnmiTest
from collector_testing import main, wait_until

UPLINK = ("leaf02", "Ethernet52", "spine02", "Ethernet2")
ERRORS = 1_000_000  # of spine02 Ethernet1, from before it is read


class SwitchesAlone(GnmiTest):
    @classmethod
    def prepare(cls):
        cls.fabric.switches["spine02"].ports["Ethernet1"].counters["in-errors"] = ERRORS
        super().prepare()

    def setUp(self):
        wait_until(lambda: self.all_read() and set(self.links()) == self.planned() and self.found().get("linksUp") == len(self.cables)
                   and not self.open_incidents(), 60, why=self.state)

    def test_the_fabric_is_found_with_its_states_rates_and_counters(self):
        self.assertTrue(self.found()["status"].startswith("monitoring 4 switches, 2 interfaces"), self.found())
        port = self.port("leaf01", "Ethernet51")
        self.assertEqual("ACTIVE", port["state"].upper(), port)
        before = wait_until(lambda: self.counters("leaf01", "Ethernet51").get("receive_bytes"), why=self.state)
        wait_until(lambda: self.counters("leaf01", "Ethernet51")["receive_bytes"] > before, why=self.state)
        # The host's end is told by the switch.
        self.assertTrue(wait_until(lambda: self.port("gpu-01", "eth1").get("counters"), why=self.state))
        self.assertNotIn("Vlan10", self.client.text("/metrics"))
        self.assertIn("weft_port_receive_bytes_total", self.client.text("/metrics"))

    def test_status_and_metrics_say_which_switches_are_read(self):
        self.assertIn("Switches read by gNMI: 4 of 4", self.weftctl("status"))
        self.assertEqual(1, self.metric('weft_switch_reading{switch="leaf01"}'))
        self.assertEqual(0, self.metric('weft_switch_values_dropped{reason="bad",switch="leaf01"}') or 0)
        self.assertGreater(self.metric('weft_switch_values{switch="leaf01"}'), 10)
        self.assertIn("gNMI", self.weftctl("collectors"))

    def test_states_and_neighbours_come_when_they_change(self):
        told = self.fabric.switches["leaf01"].subscriptions
        self.assertIn("ON_CHANGE /interfaces/interface[name=*]/state/oper-status", told)
        self.assertIn("ON_CHANGE /lldp/interfaces/interface[name=*]/neighbors/neighbor[id=*]/state", told)
        self.assertIn("SAMPLE /interfaces/interface[name=*]/state/counters", told)

    def test_a_link_between_two_switches_that_goes_down_is_named_and_comes_back(self):
        self.fabric.pull(UPLINK)
        self.addCleanup(self.fabric.plug, UPLINK)
        wait_until(self.open_incidents, 30, why=self.state)
        time.sleep(3)
        [incident] = self.open_incidents()
        self.assertTrue(incident.startswith("LINK_DOWN"), incident)
        for end in ("leaf02 Ethernet52", "spine02 Ethernet2"):
            self.assertIn(end, incident)
        self.assertEqual(self.planned(), set(self.links()))
        self.fabric.plug(UPLINK)
        wait_until(lambda: not self.open_incidents(), 60, why=self.state)

    def test_a_link_that_flaps_is_seen_though_it_is_up_at_each_look(self):
        ports = self.fabric.switches["leaf01"].ports["Ethernet52"], self.fabric.switches["spine02"].ports["Ethernet1"]

        def flap():
            for port in ports:
                port.transitions += 2
        for _ in range(8):
            self.fabric.switches["leaf01"].change(flap)
            time.sleep(1)
        wait_until(lambda: any(one.startswith("LINK_FLAP") and "leaf01 Ethernet52" in one for one in self.open_incidents()), 30, why=self.state)
        self.addCleanup(self.restart_weftd)

    def restart_weftd(self):
        """What is remembered of the links is forgotten."""
        self.stop_weftd()
        os.rename(os.path.join(self.place, "state"), os.path.join(self.place, f"state-{time.monotonic()}"))
        self.start_weftd()

    def test_a_switch_that_cannot_be_reached_is_telemetry_that_is_lost_and_no_dead_switch(self):
        self.fabric.switches["spine01"].stop()
        try:
            wait_until(lambda: self.states()["spine01"] != "READING", 30, why=self.state)
            wait_until(lambda: any("TELEMETRY_LOST" in one and "spine01" in one for one in self.open_incidents()), 60, why=self.state)
            self.assertEqual(["TELEMETRY_LOST"], sorted({one.split()[0] for one in self.open_incidents()}), self.state())
            self.assertEqual(self.planned(), set(self.links()))
            told = self.weftctl("status", exit_code=None)
            self.assertIn("Switches read by gNMI: 3 of 4", told)
            self.assertIn("refused", told.lower())  # the connection, by the kernel
            # The leaves' ends tell that the links are up.
            self.assertEqual(len(self.cables), self.found()["linksUp"])
        finally:
            self.fabric.switches["spine01"].start()
        wait_until(lambda: self.all_read() and not self.open_incidents(), 60, why=self.state)

    def test_counters_that_begin_at_zero_are_no_errors(self):
        def errors():
            return self.counters("spine02", "Ethernet1").get("receive_errors")
        wait_until(lambda: errors() == ERRORS, 30, why=self.state)
        self.fabric.switches["spine02"].restart()
        wait_until(lambda: errors() == 0 and self.all_read(), 30, why=self.state)
        for _ in range(6):
            self.assertEqual([], self.open_incidents(), self.state())
            time.sleep(0.5)

    def test_a_reader_that_is_killed_is_started_again_and_nothing_is_lost(self):
        before = self.reader()
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: (self.metric("weft_switch_reader_restarts_total") or 0) >= 1, 60, why=self.state)
        wait_until(lambda: self.reader() not in (0, before) and self.all_read(), 60, why=self.state)
        self.assertEqual(self.planned(), set(self.links()))
        time.sleep(2)
        self.assertEqual([], self.open_incidents(), self.state())

    def test_a_reader_that_hangs_does_not_hold_weftd_up(self):
        reader = self.reader()
        os.kill(reader, signal.SIGSTOP)
        try:
            for _ in range(10):
                self.client.text("/healthz")
                time.sleep(0.1)
        finally:
            os.kill(reader, signal.SIGCONT)


if __name__ == "__main__":
    main()
