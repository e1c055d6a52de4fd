# SPDX-License-Identifier: Apache-2.0
"""Congestion by what switches count: waits pushed into ibsim's counters, roots and victims found along OpenSM's routes."""

import threading
import time

import weft_testing
from weft_testing import guid_text


class Congestion(weft_testing.SubnetTest):
    def stall(self, ends, share: float) -> threading.Event:
        """Makes PortXmitWait of the given (node, port) grow as if each had waited for that share of the time, until the event is set."""
        ticks = {end: self.weftd.ports(guid_text(self.network.find(end[0]).guid))[end[1]]["waitTickSeconds"] for end in ends}
        done = threading.Event()

        def push():
            begun = time.monotonic()
            while not done.is_set():
                waited = (time.monotonic() - begun) * share
                self.subnet.set_counters([(node, port, "PortCounters.PortXmitWait", min(int(waited / ticks[node, port]), 0xFFFFFFFE))
                                          for node, port in ends])
                done.wait(0.1)

        thread = threading.Thread(target=push, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(done.set)
        return done

    def path(self, source: str, target: str):
        path, = self.weftd.client.json(f"/api/v1/path?from={source.replace(' ', '%20')}&to={target.replace(' ', '%20')}")["paths"]
        return [(hop["from"]["node"], hop["from"]["port"]) for hop in path["hops"]] if path["end"] == "ARRIVED" else None

    def tells_who_waits(self, identity: str, hops, receiver: str):
        """The tree that is drawn is the path, from the receiver back to the sender."""
        told = weft_testing.weftctl(self.weftd, "--plain", "incident", identity)
        self.assertEqual(0, told.returncode, told.stderr)
        tree = [line.strip(" |`-*") for line in told.stdout.split("waiting links\n")[1].split("\n\n")[0].splitlines()]
        for (node, port), line in zip(reversed(hops), tree, strict=True):
            self.assertTrue(line.startswith(f"{node} port {port} "), told.stdout)
        self.assertIn(f"-> {receiver} port 1", tree[0])
        self.assertIn(" -> ".join(f"{node} port {port}" for node, port in hops) + f" -> {receiver} port 1", told.stdout)
        self.assertRegex(told.stdout, r"transmit_wait = 0\.\d+, threshold [0-9.]+, over [0-9.]+ m?s, at " + f"{hops[-1][0]} port {hops[-1][1]}")
        self.assertTrue(told.stdout.isascii(), told.stdout)
        drawn = weft_testing.weftctl(self.weftd, "incident", identity, locale="C.UTF-8")
        self.assertIn("└─ ", drawn.stdout)

    def test_a_slow_receiver_is_found_behind_all_that_waits_for_it(self):
        receiver, sender = "gpu-0003 mlx5_0", "gpu-0014 mlx5_0"
        hops = weft_testing.wait_until(lambda: self.path(sender, receiver), why="no path")
        self.assertEqual(4, len(hops), "over a spine")
        done = self.stall(hops, 0.6)
        opened = self.expect("SLOW_RECEIVER", lambda i: self.is_node(i, receiver), sweeps=8)
        self.assertEqual("PORT", opened["cause"]["kind"])
        self.assertEqual([], [shown for shown in self.shown() if "SLOW_RECEIVER" not in shown])
        weft_testing.wait_until(lambda: any(sender in entity.get("label", "") for i in self.weftd.incidents("SLOW_RECEIVER")
                                            for entity in i.get("affected", [])), why=lambda: str(self.weftd.incidents()))
        self.tells_who_waits(opened["id"], hops, receiver)
        done.set()
        self.expect_resolved(opened)
        self.expect_quiet()


if __name__ == "__main__":
    weft_testing.main()
