"""What soft-RoCE lacks - PFC, CNP, ECN, FEC, pause, PCIe, optics - scripted by a kernel module and read through the real interfaces."""

import kernel_testing
import stage
from kernel_testing import GuestTest

VALUES = {name: 1000 + number for number, name in enumerate([*stage.MLX5_STRINGS, *stage.MLX5_RDMA])}
VALUES |= {"outbound_pci_stalled_rd": 37, "outbound_pci_stalled_wr": 4, "np_cnp_sent": 0xFFFF_FFFF_F, "rx_prio3_pause_duration": 1_500_000}
STANDARD = {"pfc.enabled": 1 << 3, "pfc.requests.3": 71, "pfc.indications.3": 72, "fec.corrected_blocks": 81, "fec.uncorrectable_blocks": 2,
            "pause.rx": 91, "pause.tx": 92, "eth_phy.symbol_errors": 17, "pma.link_downed": 255, "pma.symbol_error": 12,
            "pma.port_xmit_data": 1 << 40}


class ScriptedNic(GuestTest):
    @classmethod
    def set_up_guest(cls):
        cls.nic = stage.ScriptedNic(cls.guest, "mlx5_core", "mlx5_%d", stage.MLX5_STRINGS, [*stage.MLX5_RDMA, "?cc_rx_ce_pkts"])
        cls.guest.get("ip link set eth0 up")
        cls.nic.set(VALUES | STANDARD)

    def test_1_tools_see_what_was_scripted(self):
        """Else the tests after this one show nothing."""
        self.assertEqual({name: VALUES[name] for name in stage.MLX5_STRINGS}, self.ethtool_statistics("eth0"))
        self.assertEqual({name: VALUES[name] for name in stage.MLX5_RDMA}, self.rdma_statistics()["mlx5_0"])
        self.assertIn("driver: mlx5_core", self.guest.get("ethtool -i eth0"))
        pfc = self.guest.json("dcb -j -s pfc show dev eth0")
        self.assertEqual((71, 72), (pfc["requests"][3], pfc["indications"][3]))
        fec = self.guest.json("ethtool --json --include-statistics --show-fec eth0")[0]["statistics"]
        self.assertEqual({"corrected_blocks": {"total": 81}, "uncorrectable_blocks": {"total": 2}}, fec)
        pause = self.guest.json("ethtool --json --include-statistics --show-pause eth0")[0]["statistics"]
        self.assertEqual({"tx_pause_frames": 92, "rx_pause_frames": 91}, pause)
        self.assertEqual("255", self.guest.get("cat /sys/class/infiniband/mlx5_0/ports/1/counters/link_downed").strip())


if __name__ == "__main__":
    kernel_testing.main()
