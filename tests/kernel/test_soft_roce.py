"""Real rdma_rxe devices under real traffic: clean, lossy, doubled, unplugged, given up."""

import kernel_testing
from kernel_testing import GuestTest, wait_until


class SoftRoce(GuestTest):
    """Pair 0 takes the faults one by one; on pair 1 a connection is doomed from the start, because its retries last 13 s."""

    @classmethod
    def set_up_guest(cls):
        cls.guest.get("roce_pair 0 && roce_pair 1")
        cls.guest.get("traffic 1 doomed")

    def counter(self, device: str, name: str) -> int:
        return self.rdma_statistics()[device][name]

    def test_1_clean(self):
        self.guest.get("traffic 0 write 500")
        statistics = self.rdma_statistics()
        self.assertEqual((2000, 500), (statistics["rxe00"]["sent_pkts"], statistics["rxe00"]["rcvd_pkts"]))
        self.assertEqual((500, 2000), (statistics["rxe01"]["sent_pkts"], statistics["rxe01"]["rcvd_pkts"]))
        self.assertEqual(statistics["rxe00"], self.hw_counters("rxe00"))

    def test_2_loss(self):
        self.guest.get("tc qdisc add dev veth00 root netem loss 1% && traffic 0 write 1000")
        self.assertGreater(self.dropped("veth00"), 0)
        self.guest.get("tc qdisc del dev veth00 root")
        self.assertGreater(self.counter("rxe01", "out_of_seq_request"), 0)
        self.assertGreater(self.counter("rxe00", "completer_retry_err"), 0)

    def test_3_duplicates(self):
        self.guest.get("tc qdisc add dev veth00 root netem duplicate 5% && traffic 0 write 500 && tc qdisc del dev veth00 root")
        self.assertGreater(self.counter("rxe01", "duplicate_request"), 0)

    def test_4_flap(self):
        up, down = self.carrier_changes("veth00")
        self.guest.get("traffic 0 start 4000 && inject 0 flap 0.3 && traffic 0 wait")
        self.assertEqual((up + 1, down + 1), self.carrier_changes("veth00"))
        self.assertEqual((1, 1), (self.counter("rxe00", "link_downed"), self.counter("rxe01", "link_downed")))

    def test_5_retries_exhausted(self):
        wait_until(lambda: self.counter("rxe10", "retry_exceeded_err"), why="the doomed connection lives")


if __name__ == "__main__":
    kernel_testing.main()
