# SPDX-License-Identifier: Apache-2.0
"""Counters moved through ibsim's console: errors, tops, resets. And agents that answer late or not at all."""

import re

import weft_testing


class CounterFaults(weft_testing.SubnetTest):
    analyzer = 'error_window_minimum = "2s"'

    def tearDown(self):
        super().tearDown()
        self.expect_quiet(sweeps=1)

    def metric(self, name: str, **labels: str) -> float | None:
        """The value of one series."""
        for line in self.weftd.metrics().splitlines():
            if line.startswith(name + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                return float(line.rsplit(" ", 1)[1])
        return None

    def test_errors_on_a_link(self):
        link = self.link("leaf-r0-p01", 12)
        errors = 0

        def burst():
            nonlocal errors
            errors += 25_000  # a thousand times the limit, also of a window that was clean until now
            self.subnet.set_counter("leaf-r0-p01", 12, "PortCounters.SymbolErrorCounter", errors)

        burst()
        self.weftd.wait_sweeps(1)
        burst()  # one window could be chance
        incident = self.expect("LINK_ERRORS", lambda i: self.is_link(i, link))
        self.assertTrue(any("symbol" in fact["signal"] for fact in incident["evidence"]), incident["evidence"])
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        self.expect_resolved(incident, within=120)

    def test_a_counter_at_its_top(self):
        self.subnet.set_counter("gpu-0004 mlx5_0", 1, "PortCounters.LinkErrorRecoveryCounter", 255)
        incident = self.expect("COUNTER_STUCK", lambda i: i["cause"].get("nodeGuid") in
                               {guid for guid, _ in self.link("gpu-0004 mlx5_0", 1)})
        self.assertEqual(1, self.metric("weft_port_saturated", node="gpu-0004 mlx5_0", counter="link_error_recovery"))
        counter = next(c for c in self.weftd.ports("gpu-0004 mlx5_0")[1]["counters"] if c["name"] == "link_error_recovery")
        self.assertTrue(counter["saturated"])
        self.subnet.set_counter("gpu-0004 mlx5_0", 1, "PortCounters.LinkErrorRecoveryCounter", 0)
        self.expect_resolved(incident)
        self.assertIn(self.metric("weft_port_saturated", node="gpu-0004 mlx5_0", counter="link_error_recovery"), (None, 0))

    def test_a_reset_is_no_trouble(self):
        """Somebody else clears: values restart, rates do not jump, nothing opens."""
        counters = ("PortCountersExtended.PortXmitData", "PortCountersExtended.PortRcvData", "PortCounters.PortRcvErrors",
                    "PortCounters.PortXmitWait")
        for counter in counters:
            self.subnet.set_counter("gpu-0006 mlx5_1", 1, counter, 40_000)
        # Counters that were never read before are not a burst of errors; these were, so let them be old news first.
        weft_testing.wait_until(lambda: self.weftd.counters("gpu-0006 mlx5_1", 1).get("receive_errors") == 40_000)
        raised = [incident["id"] for incident in self.weftd.incidents()]
        for counter in counters:
            self.subnet.set_counter("gpu-0006 mlx5_1", 1, counter, 0)
        weft_testing.wait_until(lambda: self.weftd.counters("gpu-0006 mlx5_1", 1).get("receive_errors") == 0)
        self.weftd.wait_sweeps(1)
        for _ in range(3):
            rates = self.weftd.ports("gpu-0006 mlx5_1")[1].get("rates", {})
            for name in ("transmitBitsPerSecond", "receiveBitsPerSecond"):
                self.assertLess(rates.get(name, 0), 1e9, rates)
                self.assertGreaterEqual(rates.get(name, 0), 0, rates)
            self.weftd.wait_sweeps(1)
        for incident in self.weftd.incidents():
            self.assertIn(incident["id"], raised, "opened by a reset")
        weft_testing.wait_until(lambda: not self.weftd.incidents(), 120, why=lambda: f"still open: {self.shown()}")


class SilentAgents(weft_testing.SubnetTest):
    def tearDown(self):
        super().tearDown()
        self.expect_quiet(sweeps=1)

    def requests(self, result: str) -> int:
        found = re.search(rf'^weft_sweep_requests_total{{[^}}]*result="{result}"[^}}]*}} (\d+)', self.weftd.metrics(), re.M)
        return int(found[1]) if found else 0

    def test_a_node_that_answers_nothing(self):
        self.subnet.drop_requests("gpu-0007 mlx5_0", 100)
        # Its requests must run out of retries first, in each of two sweeps.
        incident = self.expect("TELEMETRY_LOST", lambda i: self.is_node(i, "gpu-0007 mlx5_0"), sweeps=4)
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        self.weftd.wait_sweeps(4)
        self.assertTrue(self.weftd.ports("gpu-0007 mlx5_0")[1]["stale"])
        self.assertEqual("UNKNOWN", self.weftd.client.json("/api/v1/nodes/gpu-0007/health")["verdict"])
        self.subnet.drop_requests("gpu-0007 mlx5_0", 0)
        self.expect_resolved(incident)
        weft_testing.wait_until(lambda: not self.weftd.ports("gpu-0007 mlx5_0")[1].get("stale", False), why="it stays stale")

    def test_lost_datagrams_are_asked_for_again(self):
        before = self.requests("retried")
        self.subnet.drop_requests("gpu-0002 mlx5_1", 20)
        weft_testing.wait_until(lambda: self.requests("retried") > before + 2, why="nothing was asked for again")
        self.subnet.drop_requests("gpu-0002 mlx5_1", 0)
        self.assertEqual(0, self.requests("send_failed"))


if __name__ == "__main__":
    weft_testing.main()
