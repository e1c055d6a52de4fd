# SPDX-License-Identifier: Apache-2.0
"""What is played to the collector: the pair of soft-RoCE devices and the scripted adapter, and under which names of ours it must arrive.
The names stand here a second time on purpose: a slip in the collector's tables must not change what is expected of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """One series of /metrics; `factor` turns the driver's unit into the metric's."""

    metric: str
    labels: tuple[tuple[str, str], ...] = ()
    factor: float = 1

    @property
    def name(self) -> str:
        """In the catalogue."""
        return dict(self.labels).get("error") or self.metric.removeprefix("weft_port_").removesuffix("_total")


def port(name: str, factor: float = 1, **labels: str) -> Expected:
    return Expected(f"weft_port_{name}", tuple(labels.items()), factor)


def rdma_error(error: str) -> Expected:
    return Expected("weft_rdma_errors_total", (("error", error),))


# `rdma statistic` of rdma_rxe. ack_deferred is bookkeeping; rdma_sends and rdma_recvs count what packets count too.
RXE = {
    "sent_pkts": port("transmit_packets_total"),
    "rcvd_pkts": port("receive_packets_total"),
    "duplicate_request": rdma_error("duplicate_request"),
    "out_of_seq_request": rdma_error("out_of_sequence"),
    "rcvd_seq_err": rdma_error("sequence_nak"),
    "rcvd_rnr_err": rdma_error("rnr_nak"),
    "retry_exceeded_err": rdma_error("retries_exhausted"),
    "retry_rnr_exceeded_err": rdma_error("rnr_retries_exhausted"),
    "completer_retry_err": rdma_error("retransmit"),
    "send_err": rdma_error("send_error"),
    "link_downed": port("link_downed_total"),
}

MICRO = 1e-6
PERCENT = 0.01

# ethtool -S of mlx5_core.
MLX5_STRINGS = {
    "rx_prio3_pause": port("pfc_frames_total", priority="3", direction="receive"),
    "tx_prio3_pause": port("pfc_frames_total", priority="3", direction="transmit"),
    "rx_prio3_pause_duration": port("pfc_pause_seconds_total", MICRO, priority="3", direction="receive"),
    "tx_prio3_pause_duration": port("pfc_pause_seconds_total", MICRO, priority="3", direction="transmit"),
    "tx_pause_storm_warning_events": port("pause_storm_warnings_total"),
    "tx_pause_storm_error_events": port("pause_storm_errors_total"),
    "outbound_pci_stalled_rd": port("pcie_read_stall_ratio", PERCENT),
    "outbound_pci_stalled_wr": port("pcie_write_stall_ratio", PERCENT),
    "outbound_pci_stalled_rd_events": port("pcie_read_stall_events_total"),
    "outbound_pci_stalled_wr_events": port("pcie_write_stall_events_total"),
    "outbound_pci_buffer_overflow": port("pcie_buffer_overflows_total"),
    "rx_discards_phy": port("receive_discards_total"),
    "link_down_events_phy": port("link_down_events_total"),
    "rx_crc_errors_phy": port("crc_errors_total"),
    "rx_symbol_err_phy": port("physical_symbol_errors_total"),
}
# Counters of the RDMA port of mlx5_ib.
MLX5_RDMA = {
    "np_cnp_sent": port("cnp_sent_total"),
    "rp_cnp_handled": port("cnp_handled_total"),
    "rp_cnp_ignored": port("cnp_ignored_total"),
    "np_ecn_marked_roce_packets": port("ecn_marked_packets_total"),
    "out_of_sequence": rdma_error("out_of_sequence"),
    "packet_seq_err": rdma_error("sequence_nak"),
    "local_ack_timeout_err": rdma_error("ack_timeout"),
    "req_transport_retries_exceeded": rdma_error("retries_exhausted"),
    "rnr_nak_retry_err": rdma_error("rnr_nak"),
    "out_of_buffer": rdma_error("out_of_buffer"),
    "duplicate_request": rdma_error("duplicate_request"),
}


@dataclass(frozen=True)
class Adapter:
    """Names that a driver gives to its counters."""

    driver: str  # of the PCI device
    ibdev: str  # pattern of the RDMA device's name
    strings: dict[str, Expected]
    rdma: dict[str, Expected]
    unknown: tuple[str, ...] = ()  # statistics by name that have no place among ours
    optional: tuple[str, ...] = ()  # counters of the RDMA port that are off until somebody switches them on


MLX5 = Adapter("mlx5_core", "mlx5_%d", MLX5_STRINGS, MLX5_RDMA, ("rx_vport_unicast_packets",),
               ("cc_rx_ce_pkts", "rdma_unheard_of"))
OTHERS = (
    Adapter("bnxt_en", "bnxt_re%d", {
        "rx_pfc_ena_frames_pri3": port("pfc_frames_total", priority="3", direction="receive"),
        "tx_pfc_ena_frames_pri3": port("pfc_frames_total", priority="3", direction="transmit"),
        "pfc_pri3_rx_duration_us": port("pfc_pause_seconds_total", MICRO, priority="3", direction="receive"),
        "pfc_pri3_tx_duration_us": port("pfc_pause_seconds_total", MICRO, priority="3", direction="transmit"),
        "link_down_events": port("link_down_events_total"),
        "rx_fcs_err_frames": port("crc_errors_total"),
        "rx_fec_uncorrectable_blocks": port("fec_uncorrectable_blocks_total"),
        "rx_fec_corrected_blocks": port("fec_corrected_blocks_total"),
    }, {
        "tx_cnp_pkts": port("cnp_sent_total"),
        "rx_cnp_pkts": port("cnp_handled_total"),
        "rx_ecn_marked_pkts": port("ecn_marked_packets_total"),
        "oos_drop_count": rdma_error("out_of_sequence"),
        "seq_err_naks_rcvd": rdma_error("sequence_nak"),
        "to_retransmits": rdma_error("ack_timeout"),
        "max_retry_exceeded": rdma_error("retries_exhausted"),
        "rnr_naks_rcvd": rdma_error("rnr_nak"),
        "rx_out_of_buffer": rdma_error("out_of_buffer"),
    }, ("[0]: rx_ucast_packets", "[1]: rx_ucast_packets")),
    Adapter("ice", "irdma%d", {
        "rx_priority_3_xoff.nic": port("pfc_frames_total", priority="3", direction="receive"),
        "tx_priority_3_xoff.nic": port("pfc_frames_total", priority="3", direction="transmit"),
        "rx_dropped.nic": port("receive_discards_total"),
        "rx_crc_errors.nic": port("crc_errors_total"),
    }, {
        "cnpSent": port("cnp_sent_total"),
        "cnpHandled": port("cnp_handled_total"),
        "cnpIgnored": port("cnp_ignored_total"),
        "RxECNMrkd": port("ecn_marked_packets_total"),
    }),
    Adapter("hns3", "hns_%d", {
        "mac_rx_pfc_pri3_pkt_num": port("pfc_frames_total", priority="3", direction="receive"),
        "mac_tx_pfc_pri3_pkt_num": port("pfc_frames_total", priority="3", direction="transmit"),
    }, {
        "tx_cnp_pkt": port("cnp_sent_total"),
        "rx_cnp_pkt": port("cnp_handled_total"),
    }),
)


class ScriptedNic:
    """The test's kernel module in a guest, playing one adapter, or as many of its make as there are PCI functions for it. `functions`:
    "VENDOR DEVICE" in hex of others that it takes, too."""

    def __init__(self, guest, adapter: Adapter, firmware: str = "28.39.1002 (TEST0000000001)", functions: tuple[str, ...] = ()):
        self._guest = guest
        options = {"driver": adapter.driver, "ibdev": adapter.ibdev, "firmware": f'"{firmware}"',
                   "strings": f'"{";".join([*adapter.strings, *adapter.unknown])}"',
                   "hw_counters": f'"{";".join([*adapter.rdma, *("?" + name for name in adapter.optional)])}"'}
        guest.get("insmod /modules/scripted_nic.ko " + " ".join(f"'{name}={value}'" for name, value in options.items()))
        for function in functions:
            guest.get(f"echo {function} >/sys/bus/pci/drivers/{adapter.driver}/new_id")
        guest.get("ip link set eth0 up")

    def remove(self) -> None:
        self._guest.get("rmmod scripted_nic")

    def set(self, values: dict[str, int]) -> None:
        """See module/ethernet.c and module/rdma.c for the names that are not counters' own."""
        pairs = [f"{name}={value}" for name, value in values.items()]
        for start in range(0, len(pairs), 20):  # a module parameter takes a page at most
            self._guest.get(f"echo '{';'.join(pairs[start:start + 20])}' >/sys/module/scripted_nic/parameters/set")

    def set_eeprom(self, page: int, offset: int, octets: bytes) -> None:
        self._guest.get(f"echo {page}:{offset}:{octets.hex()} >/sys/module/scripted_nic/parameters/eeprom")

    def set_register(self, function: str, offset: int, word: int) -> None:
        """A word of the PCI Express capability of a function, as the kernel and lspci read it from now on."""
        self._guest.get(f"echo {function}:{offset:x}:{word:08x} >/sys/module/scripted_nic/parameters/register")

    def say(self, text: str) -> None:
        """What the driver says of the adapter in the kernel's log."""
        self._guest.get(f"cat >/sys/module/scripted_nic/parameters/say <<'END'\n{text}\nEND")

    def unplug(self, pci_address: str) -> None:
        self._guest.get(f"echo 1 >/sys/bus/pci/devices/{pci_address}/remove")

    def plug(self) -> None:
        self._guest.get("echo 1 >/sys/bus/pci/rescan")
