# SPDX-License-Identifier: Apache-2.0
"""What weftd shows is what infiniband-diags show on the same subnet: nodes, ports, links and every counter of every port."""

import os
import re
import time
import unittest

import exporter_lines
import weft_testing
from weft_testing import PATIENCE, fat_tree, guid_text, netfile, simulated_subnet

# Counters as perfquery and ibqueryerrors call them, the attribute that ibsim's console sets, our name, and the most it takes.
ERRORS = (
    ("SymbolErrorCounter", "symbol_errors", 0xFFFE),
    ("LinkErrorRecoveryCounter", "link_error_recovery", 0xFE),
    ("LinkDownedCounter", "link_downed", 0xFE),
    ("PortRcvErrors", "receive_errors", 0xFFFE),
    ("PortRcvRemotePhysicalErrors", "receive_remote_physical_errors", 0xFFFE),
    ("PortRcvSwitchRelayErrors", "receive_switch_relay_errors", 0xFFFE),
    ("PortXmitDiscards", "transmit_discards", 0xFFFE),
    ("PortXmitConstraintErrors", "transmit_constraint_errors", 0xFE),
    ("PortRcvConstraintErrors", "receive_constraint_errors", 0xFE),
    ("LocalLinkIntegrityErrors", "local_link_integrity_errors", 0xE),
    ("ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors", 0xE),
    ("VL15Dropped", "vl15_dropped", 0xFFFE),
    ("PortXmitWait", "transmit_wait", 0xFFFFFFFE),
)
# Of the 64-bit attribute: these move with every datagram, so ours lies between one reading of the tool and the next.
TRAFFIC = (
    ("PortXmitData", "transmit_bytes", 4),
    ("PortRcvData", "receive_bytes", 4),
    ("PortXmitPkts", "transmit_packets", 1),
    ("PortRcvPkts", "receive_packets", 1),
    ("PortUnicastXmitPkts", "unicast_transmit_packets", 1),
    ("PortUnicastRcvPkts", "unicast_receive_packets", 1),
    ("PortMulticastXmitPkts", "multicast_transmit_packets", 1),
    ("PortMulticastRcvPkts", "multicast_receive_packets", 1),
)
# ibsim spells two of them otherwise.
CONSOLE = {"PortMulticastXmitPkts": "PortMultiCastXmitPkts", "PortMulticastRcvPkts": "PortMultiCastRcvPkts"}
# Compared with what was set: ibqueryerrors 44 prints the details of errors under the names of those of discards, and the
# other way round.
DETAILS = (
    ("PortRcvErrorDetails.PortLocalPhysicalErrors", "local_physical_errors"),
    ("PortRcvErrorDetails.PortMalformedPacketErrors", "malformed_packet_errors"),
    ("PortRcvErrorDetails.PortBufferOverrunErrors", "buffer_overrun_errors"),
    ("PortRcvErrorDetails.PortDLIDMappingErrors", "dlid_mapping_errors"),
    ("PortRcvErrorDetails.PortVLMappingErrors", "vl_mapping_errors"),
    ("PortRcvErrorDetails.PortLoopingErrors", "looping_errors"),
    ("PortXmitDiscardDetails.PortInactiveDiscards", "inactive_discards"),
    ("PortXmitDiscardDetails.PortNeighborMTUDiscards", "neighbor_mtu_discards"),
    ("PortXmitDiscardDetails.PortSwLifetimeLimitDiscards", "switch_lifetime_discards"),
    ("PortXmitDiscardDetails.PortSwHOQLifetimeLimitDiscards", "head_of_queue_lifetime_discards"),
)
PORT_KEY = tuple[int, int]


def scattered(guid: int, port: int, number: int, most: int) -> int:
    """A value of its own for each port and counter, the same in each run."""
    mixed = (guid * 0x9E3779B97F4A7C15 + port * 0xC2B2AE3D27D4EB4F + number * 0x165667B19E3779F9) & 0xFFFFFFFFFFFFFFFF
    mixed ^= mixed >> 29
    return 1 + mixed % (most - 1)


class SameAsTools:
    """Mixed into a test of one topology."""

    # -- nodes, ports, links

    def discovered(self) -> tuple[netfile.Network, dict[PORT_KEY, int]]:
        """The graph as ibnetdiscover prints it, and the LID of each port that has one."""
        text = self.subnet.run(["ibnetdiscover"])
        network = netfile.parse(text.splitlines(), "ibnetdiscover")
        lids = {}
        node = None
        for line in text.splitlines():
            if match := re.match(r'^(Switch|Ca|Rt)\s+\d+ "([^"]+)"', line):
                node = network.nodes[match[2]]
                if lid := re.search(r"port 0 lid (\d+)", line):
                    lids[node.guid, 0] = int(lid[1])
            elif match := re.match(r"^\[(\d+)\]\([0-9a-f]+\).*# lid (\d+) lmc", line):
                lids[node.guid, int(match[1])] = int(match[2])
        return network, lids

    def test_nodes_ports_and_links_are_those_of_ibnetdiscover(self):
        expected, lids = self.discovered()
        topology = self.weftd.client.json("/api/v1/topology")
        types = {netfile.SWITCH: "SWITCH", netfile.ADAPTER: "CHANNEL_ADAPTER", netfile.ROUTER: "ROUTER"}
        self.assertEqual(
            {guid_text(node.guid): (types[node.kind], node.port_count, node.name) for node in expected.nodes.values()},
            {node["guid"]: (node["type"], node["portCount"], node["description"]) for node in topology["nodes"]})
        links = {}
        for node in expected.nodes.values():
            for number, end in node.ports.items():
                ends = frozenset(((guid_text(node.guid), number), (guid_text(expected.nodes[end.node].guid), end.port)))
                links[ends] = (f"{end.width}X", end.speed, True)
        shown = {frozenset(((link["a"]["nodeGuid"], link["a"]["port"]), (link["b"]["nodeGuid"], link["b"]["port"]))):
                 (link.get("width"), link.get("speed"), link.get("up", False)) for link in topology["links"]}
        self.assertEqual(links, shown)
        ports = {(int(port["nodeGuid"], 16), port.get("port", 0)): port for port in topology["ports"]}
        self.assertEqual({(node.guid, number) for node in expected.nodes.values()
                          for number in range(0 if node.is_switch else 1, node.port_count + 1)}, set(ports))
        self.assertEqual(lids, {key: ports[key]["lid"] for key in lids})
        cabled = {(node.guid, number) for node in expected.nodes.values() for number in node.ports}
        external = {key for key, port in ports.items() if key[1] != 0}
        self.assertEqual(cabled, {key for key in external if ports[key]["state"] == "ACTIVE"})
        self.assertEqual({"DOWN"}, {ports[key]["state"] for key in external - cabled} | {"DOWN"})

    # -- counters

    def set_all_counters(self):
        commands = []
        for node in self.network.nodes.values():
            for port in sorted(node.ports):
                for number, (field, _, most) in enumerate(ERRORS):
                    commands.append((node.identity, port, f"PortCounters.{field}", scattered(node.guid, port, number, most)))
                for number, (field, _, _) in enumerate(TRAFFIC):
                    value = scattered(node.guid, port, 100 + number, 1 << 61)
                    commands.append((node.identity, port, f"PortCountersExtended.{CONSOLE.get(field, field)}", value))
                for number, (field, _) in enumerate(DETAILS):
                    commands.append((node.identity, port, field, scattered(node.guid, port, 200 + number, 0xFFFE)))
        self.subnet.set_counters(commands)

    def read_with_perfquery(self) -> dict[PORT_KEY, dict[str, int]]:
        """The extended counters of every cabled port, by one perfquery for each node."""
        _, lids = self.discovered()
        found = {}
        for node in self.network.nodes.values():
            if not node.ports:
                continue
            lid = lids[node.guid, 0] if node.is_switch else lids[node.guid, min(node.ports)]
            last = max(node.ports)
            which = ["-l", str(lid), f"1-{last}"] if last > 1 else [str(lid), "1"]
            port = None
            for line in self.subnet.run(["perfquery", "-x", *which]).splitlines():
                if match := re.match(r"^# Port extended counters: Lid \d+ port (\d+)", line):
                    port = found.setdefault((node.guid, int(match[1])), {})
                elif (match := re.match(r"^(\w+):\.*(\d+)$", line)) and port is not None:
                    port[match[1]] = int(match[2])
        return {(node.guid, port): found[node.guid, port] for node in self.network.nodes.values() for port in node.ports}

    def read_with_ibqueryerrors(self, *options: str) -> dict[PORT_KEY, dict[str, int]]:
        """What it prints of each port: it names an adapter by the port's GUID."""
        text = self.subnet.run(["ibqueryerrors", "--skip-sl", *options], check=False)
        by_port_guid = {node.port_guid(port): node.guid for node in self.network.nodes.values() for port in node.ports}
        found: dict[PORT_KEY, dict[str, int]] = {}
        for match in re.finditer(r"GUID 0x([0-9a-f]+) port (\d+): (.*)", text):
            guid = int(match[1], 16)
            key = (by_port_guid.get(guid, guid), int(match[2]))
            values = {name: int(value) for name, value in re.findall(r"\[(\w+) == (\d+)", match[3])}
            found.setdefault(key, {}).update(values)
        return found

    def read_from_weftd(self) -> dict[PORT_KEY, dict[str, int]]:
        found = {}
        for port in self.weftd.client.json("/api/v1/ports")["ports"]:
            found[int(port["nodeGuid"], 16), int(port.get("port", 0))] = {
                counter["name"]: int(counter.get("value", 0)) for counter in port.get("counters", []) if "instance" not in counter}
        return found

    def test_counters_are_those_of_perfquery_and_ibqueryerrors(self):
        self.set_all_counters()
        before = self.read_with_ibqueryerrors("--counters")
        reported = self.read_with_ibqueryerrors()
        self.weftd.wait_sweeps(1)
        # These stand still. Each sweep reads the optional attributes of some ports; one that was lost is read in a later sweep.
        deadline = time.monotonic() + PATIENCE
        while wrong := self.wrong_errors(ours := self.read_from_weftd(), reported):
            self.assertLess(time.monotonic(), deadline, f"{len(wrong)} differ: {wrong[:10]}")
            self.weftd.wait_sweeps(1)
        self.compare_traffic(before, ours, self.read_with_perfquery())

    def compare_traffic(self, before, ours, after):
        wrong = []
        for key, values in after.items():
            for field, name, factor in TRAFFIC:
                low, high = before[key][field] * factor, values[field] * factor
                if not low <= ours[key].get(name, -1) <= high:
                    wrong.append((guid_text(key[0]), key[1], name, (low, high), ours[key].get(name)))
        self.assertEqual([], wrong[:10], f"{len(wrong)} differ")

    def wrong_errors(self, ours, reported) -> list:
        """Counters of errors that differ from those of ibqueryerrors, or from what was set."""
        cabled = {(node.guid, port) for node in self.network.nodes.values() for port in node.ports}
        self.assertEqual(set(), cabled - set(reported))
        wrong = []
        for key in cabled:
            expected = {name: reported[key].get(field) for field, name, _ in ERRORS}
            if key[0] == self.network.nodes[self.subnet.manager_host].guid:
                self.assertNotIn(DETAILS[0][1], ours[key], "the subnet manager's own node is not asked for them")
            else:
                expected.update((name, scattered(key[0], key[1], 200 + number, 0xFFFE)) for number, (_, name) in enumerate(DETAILS))
            wrong += [(guid_text(key[0]), key[1], name, value, ours[key].get(name)) for name, value in expected.items()
                      if value is None or ours[key].get(name) != value]
        return wrong

    # -- the names of infiniband_exporter

    def read_from_exporter_page(self) -> dict[str, float]:
        return exporter_lines.samples(self.weftd.client.text("/metrics?names=infiniband_exporter"))

    def test_devices_cables_and_rates_are_those_of_infiniband_exporter(self):
        expected = exporter_lines.of_devices(self.subnet.run(["ibnetdiscover", "--ports"]))
        self.assertGreater(len(expected), 100)
        ours = self.read_from_exporter_page()
        shown = {line: value for line, value in ours.items() if re.search("_info{|_rate_bytes_per_second{", line)}
        wrong = sorted(expected.items() ^ shown.items())
        self.assertEqual([], wrong[:6], f"{len(wrong)} are only in one of the two")
        self.assertEqual([], [line for line in ours if not line.startswith("infiniband_")])

    def exported(self, values: dict[PORT_KEY, dict[str, int]], fields: set[str]) -> dict[str, float]:
        """What infiniband_exporter makes of what the tools read."""
        lines = {}
        nodes = {node.guid: node for node in self.network.nodes.values()}
        for (guid, port), counters in values.items():
            node = nodes[guid]
            front = f"infiniband_{'switch' if node.is_switch else 'hca'}_port_"
            shown = guid if node.is_switch else node.port_guid(port)
            for field in fields & counters.keys():
                value = counters[field] * (4 if field.endswith("Data") else 1)
                lines[exporter_lines.series(front + exporter_lines.COUNTERS[field], guid=guid_text(shown), port=port)] = value
        return lines

    def test_counters_are_those_of_infiniband_exporter(self):
        self.set_all_counters()
        cabled = {(node.guid, port) for node in self.network.nodes.values() for port in node.ports}
        reported = {key: values for key, values in self.read_with_ibqueryerrors().items() if key in cabled}
        errors = self.exported(reported, {field for field, _, _ in ERRORS})
        self.assertEqual(len(cabled) * len(ERRORS), len(errors))
        traffic = {field for field, _, _ in TRAFFIC}
        before = self.exported(self.read_with_perfquery(), traffic)
        self.weftd.wait_sweeps(1)

        def differ() -> list:
            ours = self.read_from_exporter_page()
            return [(line, value, ours.get(line)) for line, value in errors.items() if ours.get(line) != value]
        weft_testing.wait_until(lambda: not differ(), why=lambda: f"{len(differ())} differ: {differ()[:5]}")
        ours = self.read_from_exporter_page()
        after = self.exported(self.read_with_perfquery(), traffic)
        outside = {line: (low, ours.get(line), after[line]) for line, low in before.items() if not low <= ours.get(line, -1) <= after[line]}
        self.assertEqual([], list(outside.items())[:5], f"{len(outside)} differ")


class OnOurFatTree(SameAsTools, weft_testing.SubnetTest):
    """128 adapters, 12 switches, 512 cabled ports."""

    @classmethod
    def make_network(cls):
        return fat_tree.build(128)


class OnAnFdr10Fabric(weft_testing.SubnetTest):
    """Switches and adapters of the days of FDR10. PortInfo shows it as QDR, Mellanox's ExtendedPortInfo as what it is."""

    @classmethod
    def make_network(cls):
        network = fat_tree.build(16, rails=2, radix=8)
        for node in network.nodes.values():
            node.device = 0xC738 if node.is_switch else 0x1003  # SwitchX, ConnectX-3
            for end in node.ports.values():
                end.speed = "FDR10"
        return network

    def test_links_run_at_fdr10_as_ibnetdiscover_says(self):
        told = self.subnet.run(["ibnetdiscover"])
        self.assertIn("4xFDR10", told)
        self.assertNotIn("4xQDR", told)
        links = self.weftd.client.json("/api/v1/topology")["links"]
        self.assertEqual({("4X", "FDR10")}, {(link.get("width"), link.get("speed")) for link in links})
        self.assertEqual([], [incident["kind"] for incident in self.weftd.client.incidents("open")])


class OnAPublishedFabric(SameAsTools, weft_testing.SubnetTest):
    """A real DGX H100 fabric: 582 adapters, 40 switches of 65 ports, aggregation nodes."""

    interval = "2s"
    infiniband = 'detail_interval = "2s"'  # not shorter than a sweep's

    @classmethod
    def make_network(cls):
        return simulated_subnet.load(weft_testing.DGX, 0)

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(weft_testing.DGX):
            raise unittest.SkipTest("no fixtures: ../shared/fixtures/ibnetdiscover is not there")
        super().setUpClass()

    def test_pods_and_rails_are_what_the_names_of_the_leaves_say(self):
        """IBLEAF-RR-UU is the leaf of rail RR in unit UU. Some adapters there have no name, one pair of cables is crossed."""
        leaves = {node["name"]: node for node in self.weftd.client.json("/api/v1/topology")["nodes"] if "IBLEAF" in node["name"]}
        self.assertEqual(31, len(leaves))
        pods, rails = {}, {}
        for name, node in leaves.items():
            self.assertEqual(1, node["tier"], name)
            rail, unit = re.search(r"IBLEAF-(\d+)-(\d+)", name).groups()
            pods.setdefault(unit, set()).add(node.get("pod"))
            rails.setdefault(rail, set()).update(port.get("rail") for port in self.weftd.ports(name).values() if "peer" in port)
        for places in (pods, rails):
            self.assertTrue(all(len(names) == 1 and None not in names for names in places.values()), places)
            self.assertEqual(len(places), len(set.union(*places.values())), places)
        self.assertEqual((8, 4), (len(pods), len(rails)))


if __name__ == "__main__":
    weft_testing.main()
