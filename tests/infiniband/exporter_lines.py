# SPDX-License-Identifier: Apache-2.0
"""What infiniband_exporter 0.10.0 would serve of a subnet, written down from its sources: the names of its counters, and its lines about
devices, cables and rates, made of the output of `ibnetdiscover --ports` as collectors/ibnetdiscover.go takes it apart."""

import re

# The fields of `perfquery -x` (collectors/perfquery.go) and what follows "infiniband_switch_port_" or "infiniband_hca_port_"
# (NewSwitchCollector() in collectors/switch.go, NewHCACollector() in hca.go).
COUNTERS = {
    "PortXmitData": "transmit_data_bytes_total", "PortRcvData": "receive_data_bytes_total", "PortXmitPkts": "transmit_packets_total",
    "PortRcvPkts": "receive_packets_total", "PortUnicastXmitPkts": "unicast_transmit_packets_total",
    "PortUnicastRcvPkts": "unicast_receive_packets_total", "PortMulticastXmitPkts": "multicast_transmit_packets_total",
    "PortMulticastRcvPkts": "multicast_receive_packets_total", "SymbolErrorCounter": "symbol_error_total",
    "LinkErrorRecoveryCounter": "link_error_recovery_total", "LinkDownedCounter": "link_downed_total", "PortRcvErrors": "receive_errors_total",
    "PortRcvRemotePhysicalErrors": "receive_remote_physical_errors_total", "PortRcvSwitchRelayErrors": "receive_switch_relay_errors_total",
    "PortXmitDiscards": "transmit_discards_total", "PortXmitConstraintErrors": "transmit_constraint_errors_total",
    "PortRcvConstraintErrors": "receive_constraint_errors_total", "LocalLinkIntegrityErrors": "local_link_integrity_errors_total",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors_total", "VL15Dropped": "vl15_dropped_total",
    "PortXmitWait": "transmit_wait_total",
}

# Gb/s of a lane: before line coding, and after (laneRates).
LANE_RATES = {"SDR": (2.5, 2), "DDR": (5, 4), "QDR": (10, 8), "FDR10": (10.3125, 10), "FDR": (14.0625, 13.64), "EDR": (25.78125, 25),
              "HDR": (50, 50), "NDR": (100, 100)}

KINDS = {"SW": "switch", "CA": "hca"}
PORT = re.compile(r"^(SW|CA|RT)\s+(\d+)\s+(\d+) (0x[0-9a-f]{16}) (\d+)x (\w+) - (\w+)\s+(\d+)\s+(\d+) (0x[0-9a-f]{16}) \( '(.*)' - '(.*)' \)$")


def series(name: str, **labels) -> str:
    """A series with its labels in the order of the alphabet, as client_golang writes them."""
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in sorted(labels.items())) + "}"


def samples(page: str) -> dict[str, float]:
    """The samples of a page by series(), which each stand there once. Whole numbers stay whole: counters of 64 bits are compared."""
    found = {}
    for name, labels, value in re.findall(r"^(\w+)\{(.*)\} (\S+)$", page, re.MULTILINE):
        key = series(name, **dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))
        if key in found:
            raise AssertionError(f"{key} is there twice")
        found[key] = int(value) if value.isdigit() else float(value)
    return found


def of_devices(ports: str) -> dict[str, float]:
    """Devices, cables and rates, from the output of `ibnetdiscover --ports`."""
    lines = {}
    for line in ports.splitlines():
        match = PORT.match(line)
        if not match or match[1] not in KINDS:
            continue  # not connected, or a router
        kind, lid, port, guid, width, speed, peer_kind, peer_lid, peer_port, peer_guid, name, peer_name = match.groups()
        own = KINDS[kind]
        lines[series(f"infiniband_{own}_info", guid=guid, lid=lid, **{own: name})] = 1
        lines[series(f"infiniband_{own}_uplink_info", guid=guid, port=port, uplink=peer_name, uplink_guid=peer_guid, uplink_type=peer_kind,
                     uplink_port=peer_port, uplink_lid=peer_lid, **{own: name})] = 1
        raw, effective = (int(width) * 1e9 / 8 * rate for rate in LANE_RATES[speed])
        # A switch has them for each port, an adapter once.
        front, labels = ("infiniband_switch_port_", {"guid": guid, "port": port}) if kind == "SW" else ("infiniband_hca_", {"guid": guid})
        lines[series(f"{front}rate_bytes_per_second", **labels)] = effective
        lines[series(f"{front}raw_rate_bytes_per_second", **labels)] = raw
    return lines
