# SPDX-License-Identifier: Apache-2.0
"""Real rdma_rxe devices under real traffic - clean, lossy, doubled, unplugged, given up - and what weft-collector makes of them."""

import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest, wait_until


class SoftRoce(CollectorTest):
    """Pair 0 takes the faults one by one; on pair 1 a connection is doomed from the start, because its retries last 13 s."""

    @classmethod
    def set_up_guest(cls):
        cls.guest.get("roce_pair 0 && roce_pair 1")
        cls.guest.get("traffic 1 doomed")
        super().set_up_guest()

    def counter(self, device: str, name: str) -> int:
        return self.rdma_statistics()[device][name]

    def error(self, page, device: str, name: str) -> float | None:
        return page.get("weft_rdma_errors_total", node=NODE, device=device, error=name)

    def test_1_clean(self):
        self.guest.get("traffic 0 write 500")
        told = self.rdma_statistics()
        self.assertGreaterEqual(told["rxe00"]["sent_pkts"], 2000)  # what is slow may be sent again
        self.assertGreaterEqual(told["rxe01"]["rcvd_pkts"], 2000)
        self.expect_same_statistics("rxe00", "rxe01")

    def test_2_once(self):
        """One reading as JSON: the same values, under the catalogue's names."""
        reading = self.guest.json("/opt/weft/weft-collector --once")
        told = self.rdma_statistics()
        for device in ("rxe00", "rxe01"):
            shown = {value["name"]: value["value"] for value in reading["values"] if value["device"] == device and value["port"] == 1}
            self.assertEqual({expected.name: told[device][name] for name, expected in stage.RXE.items()},
                             {expected.name: shown.get(expected.name) for expected in stage.RXE.values()})
        ports = {port["device"]: (port["netdev"], port["state"]) for port in reading["ports"]}
        self.assertEqual({"rxe00": ("veth00", "Active"), "rxe01": ("veth01", "Active")}, {name: ports[name] for name in ("rxe00", "rxe01")})

    def test_3_values_that_move(self):
        expected = stage.RXE["sent_pkts"]
        before = self.counter("rxe00", "sent_pkts")
        self.guest.get("traffic 0 start 3000")
        shown = []
        for _ in range(5):
            shown.append(self.shown(self.page(), "rxe00", expected))
            self.assertLessEqual(shown[-1], self.counter("rxe00", "sent_pkts"))
        self.guest.get("traffic 0 wait")
        self.assertEqual(sorted(shown), shown)
        self.assertGreaterEqual(shown[0], before)
        self.expect_same_statistics("rxe00", "rxe01")

    def test_4_loss(self):
        self.guest.get("tc qdisc add dev veth00 root netem loss 1% && traffic 0 write 1000")
        dropped = self.dropped("veth00")
        self.guest.get("tc qdisc del dev veth00 root")
        self.assertGreater(dropped, 5)
        page = self.expect_same_statistics("rxe00", "rxe01")
        self.assertGreater(self.error(page, "rxe01", "out_of_sequence"), 0)
        self.assertGreater(self.error(page, "rxe00", "sequence_nak"), 0)
        self.assertGreater(self.error(page, "rxe00", "retransmit"), 0)

    def test_5_duplicates(self):
        self.guest.get("tc qdisc add dev veth00 root netem duplicate 5% && traffic 0 write 500 && tc qdisc del dev veth00 root")
        page = self.expect_same_statistics("rxe00", "rxe01")
        self.assertGreater(self.error(page, "rxe01", "duplicate_request"), 0)

    def test_6_flap(self):
        up, down = self.carrier_changes("veth00")
        self.guest.get("traffic 0 start 4000 && inject 0 flap 0.3 && traffic 0 wait")
        self.assertEqual((up + 1, down + 1), self.carrier_changes("veth00"))
        page = self.expect_same_statistics("rxe00", "rxe01")
        for device in ("rxe00", "rxe01"):
            self.assertEqual(1, page.get("weft_port_link_downed_total", node=NODE, device=device))
        self.assertEqual(up + 1, page.get("weft_port_carrier_up_total", node=NODE, device="rxe00"))
        self.assertEqual(down + 1, page.get("weft_port_carrier_down_total", node=NODE, device="rxe00"))
        self.assertEqual(1, page.get("weft_port_up", node=NODE, device="rxe00"))

    def test_7_devices_go_and_come(self):
        self.guest.get("rdma link del rxe01")
        self.expect_same(lambda page: [str(series) for series in page.series("weft_port_link_downed_total") if series["device"] == "rxe01"])
        self.expect_same_statistics("rxe00")
        self.guest.get("rdma link add rxe01 type rxe netdev veth01")
        self.guest.get("traffic 0 write 100")
        page = self.expect_same_statistics("rxe00", "rxe01")
        self.assertEqual(0, page.get("weft_port_link_downed_total", node=NODE, device="rxe01"))

    def test_8_retries_exhausted(self):
        wait_until(lambda: self.counter("rxe10", "retry_exceeded_err"), why="the doomed connection lives")
        page = self.expect_same_statistics("rxe10", "rxe11")
        self.assertGreater(self.error(page, "rxe10", "retries_exhausted"), 0)


if __name__ == "__main__":
    kernel_testing.main()
