# SPDX-License-Identifier: Apache-2.0
"""What soft-RoCE lacks - PFC, pause, FEC, CNP, ECN, PCIe, optics, vendor statistics - scripted by a kernel module, and what the collector
makes of it. Each test first asks an independent tool, so that the kernel's interface stands between what was scripted and what is shown."""

import guest_programs
import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest

COUNTERS = {name: 1000 + number for number, name in enumerate([*stage.MLX5_STRINGS, *stage.MLX5_RDMA])}
COUNTERS |= {"outbound_pci_stalled_rd": 37, "outbound_pci_stalled_wr": 4, "np_cnp_sent": 0xF_FFFF_FFFF}


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "big") for value in values)


# (page, offset) to octets, the identifier last.
# SFF-8636 (QSFP28): temperature in 1/256 degrees, supply in 100 uV, power in 0.1 uW, bias in 2 uA.
QSFP28 = {(0, 22): words(0x2A80), (0, 26): words(33000), (0, 34): words(5000, 5500, 6000, 6500),
          (0, 42): words(3500, 3488, 3476, 3464), (0, 50): words(10000, 10280, 10600, 10900), (0, 128): b"\x11", (0, 220): b"\x0c",
          (0, 0): b"\x11\x07\0\0"}
# CMIS 5.0 (QSFP-DD): eight lanes on page 11h; page 01h says which monitors there are. Below zero, to see the sign.
QSFP_DD = {(0, 14): words(0xFD80, 33100), (0, 128): b"\x18", (1, 159): b"\x03\x07",
           (17, 154): words(*range(10000, 10800, 100)), (17, 170): words(*range(3000, 3800, 100)),
           (17, 186): words(*range(5000, 5800, 100)), (0, 0): b"\x18\x50\0\0"}


class ScriptedNic(CollectorTest):
    configuration = """
[reading]
interval = "250ms"
raw_names = true
module_interval = "1s"

[metrics]
zeros = true
"""

    @classmethod
    def set_up_guest(cls):
        cls.nic = stage.ScriptedNic(cls.guest, stage.MLX5)
        super().set_up_guest()

    def port(self, page, name: str, **labels: str) -> float | None:
        return page.get(f"weft_port_{name}", node=NODE, device="mlx5_0", **labels)

    def expect_port(self, **values: float | None):
        """Metrics of the port without further labels; None where there must be none."""
        return self.expect_same(lambda page: [f"{name}: expected {value}, shown {self.port(page, name)}"
                                              for name, value in values.items() if self.port(page, name) != value])

    def test_1_identity(self):
        told = dict(line.split(": ", 1) for line in self.guest.get("ethtool -i eth0").splitlines() if ": " in line)
        page = self.expect_port(up=1)
        for label, value in {"netdev": "eth0", "pci_address": told["bus-info"], "firmware": told["firmware-version"], "driver": "mlx5",
                             "link_layer": "Ethernet"}.items():
            self.assertEqual([value], [series.get(label) for series in page.series("weft_port_info") if series["device"] == "mlx5_0"])

    def test_2_values_not_reported_are_absent(self):
        """FEC, pause and the standard groups say nothing yet; PFC and counters by name are 0, for the kernel knows no absence there."""
        self.expect_port(fec_corrected_blocks_total=None, fec_uncorrectable_blocks_total=None, module_temperature_celsius=None,
                         cnp_sent_total=0)

    def test_3_vendor_statistics(self):
        self.nic.set(COUNTERS)
        strings, rdma = self.ethtool_statistics("eth0"), self.rdma_statistics()["mlx5_0"]
        self.assertEqual(COUNTERS | {"rx_vport_unicast_packets": 0}, strings | rdma)
        self.expect_same(lambda page: self.differences(page, "mlx5_0", stage.MLX5_STRINGS | stage.MLX5_RDMA, strings | rdma))

    def test_4_pfc_by_dcb(self):
        """An adapter whose ethtool names tell nothing of PFC: dcbnl does, whatever the driver."""
        self.nic.set({"pfc.enabled": 1 << 4, "pfc.requests.4": 71, "pfc.indications.4": 72})
        told = self.guest.json("dcb -j -s pfc show dev eth0")
        self.assertEqual((71, 72), (told["requests"][4], told["indications"][4]))
        self.expect_same(lambda page: [
            f"{name}: {shown}" for name, shown, value in (
                ("requests", self.port(page, "pfc_frames_total", priority="4", direction="transmit"), told["requests"][4]),
                ("indications", self.port(page, "pfc_frames_total", priority="4", direction="receive"), told["indications"][4]),
                ("enabled", self.port(page, "pfc_enabled", priority="4"), 1),
                ("not enabled", self.port(page, "pfc_enabled", priority="5"), 0)) if shown != value])

    def test_5_fec_and_pause(self):
        """Drivers begin to tell of these when the link comes up with FEC."""
        self.nic.set({"carrier": 0})
        self.expect_port(up=0)
        self.nic.set({"fec.corrected_blocks": 81, "fec.uncorrectable_blocks": 2, "fec.corrected_bits": 900, "pause.rx": 91,
                      "pause.tx": 92, "carrier": 1})
        fec = self.guest.json("ethtool --json --include-statistics --show-fec eth0")[0]["statistics"]
        pause = self.guest.json("ethtool --json --include-statistics --show-pause eth0")[0]["statistics"]
        page = self.expect_port(fec_corrected_blocks_total=fec["corrected_blocks"]["total"],
                                fec_uncorrectable_blocks_total=fec["uncorrectable_blocks"]["total"],
                                fec_corrected_bit_errors_total=fec["corrected_bits"]["total"])
        self.assertEqual((pause["rx_pause_frames"], pause["tx_pause_frames"]), tuple(
            self.port(page, "pause_frames_total", direction=direction) for direction in ("receive", "transmit")))

    def test_6_port_counters(self):
        """sysfs counters/: words of four octets, and eight bits that stick."""
        self.nic.set({"pma.link_downed": 255, "pma.symbol_error": 12, "pma.port_xmit_data": 1 << 40})
        folder = "/sys/class/infiniband/mlx5_0/ports/1/counters"
        told = self.guest.get(f"cd {folder} && cat link_downed symbol_error port_xmit_data")
        downed, symbols, data = (int(line) for line in told.split())
        self.expect_port(link_downed_total=downed, symbol_errors_total=symbols, transmit_bytes_total=data * 4)

    def test_8_counters_switched_on(self):
        """Optional counters are there only after somebody asked the RDMA subsystem for them; ours has a name for the first only."""
        def expect(named: float | None, raw: float | None):
            self.expect_port(rdma_ecn_marked_packets_total=named)
            self.expect_same(lambda page: [] if self.port(page, "raw", counter="rdma_unheard_of") == raw else [f"it is not {raw}"])

        self.nic.set({"cc_rx_ce_pkts": 5, "rdma_unheard_of": 6})
        expect(None, None)
        self.guest.get("rdma statistic set link mlx5_0/1 optional-counters cc_rx_ce_pkts,rdma_unheard_of")
        told = self.rdma_statistics()["mlx5_0"]
        self.assertEqual((5, 6), (told["cc_rx_ce_pkts"], told["rdma_unheard_of"]))
        expect(5, 6)
        self.guest.get("rdma statistic unset link mlx5_0/1 optional-counters")
        expect(None, None)

    def test_7_down_and_why(self):
        self.nic.set({"carrier": 0, "ext_state": 5})  # ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE
        self.assertIn("Link detected: no (Cable issue)", self.guest.get("ethtool eth0"))
        self.expect_port(up=0)
        self.nic.set({"carrier": 1})
        self.expect_port(up=1)

    def test_a_unplugged_and_plugged(self):
        address = self.guest.get("basename $(readlink /sys/class/net/eth0/device)").strip()
        self.nic.unplug(address)
        self.assertEqual({}, self.rdma_statistics())
        self.expect_same(lambda page: [str(series) for series in page.series("weft_port_up") if series["device"] == "mlx5_0"])
        self.nic.plug()
        self.guest.get("ip link set eth0 up")
        rdma = self.rdma_statistics()["mlx5_0"]
        self.expect_same(lambda page: self.differences(page, "mlx5_0", stage.MLX5_RDMA, rdma))

    def test_b_other_drivers(self):
        for adapter in stage.OTHERS:
            with self.subTest(adapter.driver):
                self.nic.remove()
                type(self).nic = stage.ScriptedNic(self.guest, adapter)
                self.nic.set({name: 2000 + number for number, name in enumerate([*adapter.strings, *adapter.rdma, *adapter.unknown])})
                device = adapter.ibdev.replace("%d", "0")
                told = self.ethtool_statistics("eth0") | self.rdma_statistics()[device]
                self.expect_same(lambda page: self.differences(page, device, adapter.strings | adapter.rdma, told))

    def test_c_optics(self):
        """Reading the module's memory needs CAP_NET_ADMIN; what ethtool makes of it has four decimals."""
        self.nic.remove()
        type(self).nic = stage.ScriptedNic(self.guest, stage.MLX5)
        for memory, lanes in ((QSFP28, 4), (QSFP_DD, 8)):
            for (page, offset), octets in memory.items():
                self.nic.set_eeprom(page, offset, octets)
            told = self.module_readings("eth0")
            power = next(values for name, values in told.items() if name.startswith("Rcvr") or name.startswith("Receiver"))
            self.assertEqual(lanes, len(power))
            expected = {"temperature_celsius": told["Module temperature"], "supply_volts": told["Module voltage"],
                        "receive_power_watts": power, "transmit_power_watts": told["Transmit avg optical power"],
                        "bias_amperes": told["Laser tx bias current"]}
            if memory is QSFP28:
                self.assertEqual([], self.module_shown(self.page(), "temperature_celsius", 1), "shown without the right")
                self.collector.stop()
                self.collector.start(guest_programs.WITH_NET_ADMIN)

            def differences(page):
                lines = []
                for name, values in expected.items():
                    shown = self.module_shown(page, name, len(values))
                    if len(shown) != len(values) or any(abs(one - two) > 1e-4 * abs(one) for one, two in zip(values, shown)):
                        lines.append(f"{name}: told {values}, shown {shown}")
                return lines

            self.expect_same(differences)

    def module_shown(self, page, name: str, lanes: int) -> list[float]:
        values = [self.port(page, f"module_{name}", **({"lane": str(lane)} if lanes > 1 else {})) for lane in range(lanes)]
        return [value for value in values if value is not None]


if __name__ == "__main__":
    kernel_testing.main()
