# SPDX-License-Identifier: Apache-2.0
"""An adapter whose management agent does not answer, while its link is physically up. OpenSM cannot configure such a link and takes it to
Initialize, at once or much later: one incident, whose cause is the adapter. An adapter whose link is down is LINK_DOWN as ever."""

import os
import signal
import unittest

import weft_testing
from weft_testing import wait_until

PATIENCE_SWEEPS = 40  # longer than the subnet manager is given


class SilentAdapter(weft_testing.SubnetTest):
    analyzer = 'sm_patience = "10s"'
    # For each test another one: a link that goes down three times flaps.
    adapters = iter(f"gpu-000{number} mlx5_1" for number in range(2, 9))

    def setUp(self):
        super().setUp()
        self.adapter = next(self.adapters)
        self.expect_quiet(sweeps=1)
        self.before = {i["id"]: i["occurrences"] for i in self.weftd.incidents(open_only=False)}

    def tearDown(self):
        self.subnet.drop_requests(self.adapter, 0)
        super().tearDown()

    def opened(self) -> list[str]:
        """What opened, or came back, since the test began."""
        return [f"{i['id']} {i['kind']} {i['state']} {i['cause'].get('label')}: {i['summary']}" for i in self.weftd.incidents(open_only=False)
                if i["occurrences"] != self.before.get(i["id"])]

    def look_for_changes(self):
        os.kill(self.subnet.opensm_pid(), signal.SIGHUP)

    def wait_for_port(self, state: str):
        """Of the switch at the adapter's link, as the simulator shows it."""
        [end] = self.network.find(self.adapter).ports.values()
        guid = f"{self.network.nodes[end.node].guid:#x}"
        shown = lambda: self.subnet.run(["smpquery", "-G", "portinfo", guid, str(end.port)])  # noqa: E731
        wait_until(lambda: f".{state}" in next(line for line in shown().splitlines() if line.startswith("LinkState:")), every=0.2, why=shown)

    def silence_and_take_out(self):
        """OpenSM sees that the adapter does not answer before weftd can be sure of it."""
        self.subnet.drop_requests(self.adapter, 100)
        self.look_for_changes()
        self.wait_for_port("Initialize")

    def expect_lost(self) -> dict:
        # Three intervals until its last reading is too old, and two sweeps more.
        return self.expect("TELEMETRY_LOST", lambda i: self.is_node(i, self.adapter), sweeps=8)

    def expect_nothing_else(self, incident: dict):
        self.weftd.wait_sweeps(PATIENCE_SWEEPS)
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())

    def repair(self, incident: dict):
        self.subnet.drop_requests(self.adapter, 0)
        self.look_for_changes()
        self.expect_resolved(incident)
        self.wait_for_port("Active")
        self.expect_quiet(sweeps=5)
        self.assertEqual(1, len(self.opened()), self.opened())

    def test_whose_link_opensm_takes_out_is_one_incident(self):
        self.silence_and_take_out()
        lost = self.expect_lost()
        self.assertEqual("WARNING", lost["severity"], "for the first 30 seconds")
        self.assertIn("trained, but the subnet manager cannot activate", lost["summary"])
        self.expect_nothing_else(lost)
        self.repair(lost)

    def test_whose_link_a_slow_opensm_takes_out_later_is_the_same_incident(self):
        with self.opensm_stopped():
            self.subnet.drop_requests(self.adapter, 100)
            lost = self.expect_lost()
            self.assertEqual("WARNING", lost["severity"], "its link is up")
        self.look_for_changes()
        self.wait_for_port("Initialize")
        self.expect_nothing_else(lost)
        self.repair(lost)

    def test_stays_the_same_incident_when_weftd_restarts(self):
        self.silence_and_take_out()
        lost = self.expect_lost()
        self.weftd.stop(remove=False)
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        self.expect_nothing_else(lost)
        self.repair(lost)

    def test_whose_link_is_down_is_link_down(self):
        [port] = self.network.find(self.adapter).ports
        self.subnet.drop_requests(self.adapter, 100)
        self.subnet.unlink(self.adapter, port)
        down = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(self.adapter, port)))
        self.expect_nothing_else(down)
        self.subnet.relink(self.adapter, port)
        self.repair(down)


if __name__ == "__main__":
    weft_testing.main()
