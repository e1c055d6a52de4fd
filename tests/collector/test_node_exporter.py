# SPDX-License-Identifier: Apache-2.0
"""/metrics?names=node_exporter of weft-collector, line by line beside Debian's prometheus-node-exporter on the same sysfs trees."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import collector_testing
import sysfs_tree
from collector_testing import ROOT, free_address, wait_until

RECORDED = os.path.join(os.path.dirname(ROOT), "shared", "fixtures", "sysfs", "mixed-hfi1-mlx4-mlx5")
EXPORTER = "prometheus-node-exporter"

# Families that node_exporter has since 1.11 (its CHANGELOG: "Add hw_counters metrics"), by the file in hw_counters. Written down
# from collector/infiniband_linux.go of node_exporter 1.12 and sysfs/class_infiniband.go of the procfs that it uses.
OF_DRIVERS = {
    "duplicate_requests_packets_total": "duplicate_request", "implied_nak_seq_errors_total": "implied_nak_seq_err",
    "local_ack_timeout_errors_total": "local_ack_timeout_err", "np_cnp_packets_sent_total": "np_cnp_sent",
    "np_ecn_marked_roce_packets_received_total": "np_ecn_marked_roce_packets", "out_of_buffer_drops_total": "out_of_buffer",
    "out_of_sequence_packets_received_total": "out_of_sequence", "packet_sequence_errors_total": "packet_seq_err",
    "req_cqes_errors_total": "req_cqe_error", "req_cqes_flush_errors_total": "req_cqe_flush_error",
    "req_remote_access_errors_total": "req_remote_access_errors", "req_remote_invalid_request_errors_total": "req_remote_invalid_request",
    "resp_cqes_errors_total": "resp_cqe_error", "resp_cqes_flush_errors_total": "resp_cqe_flush_error",
    "resp_local_length_errors_total": "resp_local_length_error", "resp_remote_access_errors_total": "resp_remote_access_errors",
    "rnr_nak_retry_packets_received_total": "rnr_nak_retry_err", "roce_adp_retransmits_total": "roce_adp_retrans",
    "roce_adp_retransmits_timeout_total": "roce_adp_retrans_to", "roce_slow_restart_used_total": "roce_slow_restart",
    "roce_slow_restart_cnps_total": "roce_slow_restart_cnps", "roce_slow_restart_total": "roce_slow_restart_trans",
    "rp_cnp_packets_handled_total": "rp_cnp_handled", "rp_cnp_ignored_packets_received_total": "rp_cnp_ignored",
    "rx_atomic_requests_total": "rx_atomic_requests", "rx_dct_connect_requests_total": "rx_dct_connect",
    "rx_read_requests_total": "rx_read_requests", "rx_write_requests_total": "rx_write_requests",
    "rx_icrc_encapsulated_errors_total": "rx_icrc_encapsulated",
}


def infiniband_lines(page: str) -> tuple[dict[str, float], set[str]]:
    """Samples of node_infiniband_* by name and labels, labels in their order in the alphabet, and the lines that tell types."""
    samples = {}
    for name, labels, value in re.findall(r"^(node_infiniband_\w+)\{(.*)\} (\S+)$", page, re.MULTILINE):
        pairs = ",".join(sorted(re.findall(r'\w+="(?:[^"\\]|\\.)*"', labels)))
        key = f"{name}{{{pairs}}}"
        assert key not in samples, f"{key} is there twice"
        samples[key] = float(value)
    return samples, set(re.findall(r"^# TYPE node_infiniband_.*$", page, re.MULTILINE))


def name_of(line: str) -> str:
    """What follows "node_infiniband_" in a sample or a line that tells a type."""
    return re.search(r"node_infiniband_(\w+)", line)[1]


class SameAsNodeExporter(collector_testing.CollectorTest):
    def setUp(self):
        super().setUp()
        if not shutil.which(EXPORTER):
            raise unittest.SkipTest(f"{EXPORTER} is not installed")

    def exported(self, tree: str) -> str:
        """The page of prometheus-node-exporter."""
        address = free_address()
        exporter = subprocess.Popen([EXPORTER, f"--path.sysfs={tree}", f"--web.listen-address={address}", "--collector.disable-defaults",
                                     "--collector.infiniband", "--log.level=error"], stdin=subprocess.DEVNULL)
        try:
            def page() -> str:
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
                    return answer.read().decode()
            return wait_until(page, why=f"{EXPORTER} does not answer")
        finally:
            exporter.terminate()
            exporter.wait(15)

    def compare(self, tree: str) -> dict[str, float]:
        """Fails where a line differs. Our samples."""
        running = collector_testing.Collector(tree)
        self.addCleanup(running.remove)
        page = running.start().text("/metrics?names=node_exporter")
        self.assertNotIn("weft", page.lower(), "only the other names")
        ours, our_types = infiniband_lines(page)
        theirs, their_types = infiniband_lines(self.exported(tree))
        self.assertGreater(len(theirs), 50)
        self.assertEqual(theirs, {line: value for line, value in ours.items() if line in theirs})
        self.assertEqual(their_types, our_types & their_types)
        beyond = {name_of(line) for line in ours.keys() - theirs.keys()} | {name_of(line) for line in our_types - their_types}
        self.assertEqual(set(), beyond - OF_DRIVERS.keys(), "families that it does not have")
        self.assertEqual(set(), beyond & {name_of(line) for line in theirs}, "series that it does not have of a family that it has")
        self.check_drivers(tree, ours)
        return ours

    def check_drivers(self, tree: str, ours: dict[str, float]) -> None:
        """Each counter of hw_counters that has a name there is shown with the value of its file."""
        expected = {}
        root = os.path.join(tree, "class", "infiniband")
        for device in os.listdir(root):
            for port in os.listdir(os.path.join(root, device, "ports")):
                for name, file in OF_DRIVERS.items():
                    path = os.path.join(root, device, "ports", port, "hw_counters", file)
                    if os.path.exists(path):
                        with open(path, encoding="ascii") as stream:
                            expected[f'node_infiniband_{name}{{device="{device}",port="{port}"}}'] = float(stream.read())
        self.assertEqual(expected, {line: value for line, value in ours.items() if name_of(line) in OF_DRIVERS})

    def test_on_a_made_tree(self):
        # What the readings of weft-collector leave out or give as something else: a port that is down has a rate to the kernel; RoCE
        # counts RDMA alone; a state without a name of ours; old and rare files; a counter at its top.
        sysfs_tree.add_adapter(self.sysfs, 2)
        sysfs_tree.add_adapter(self.sysfs, 3)
        ports = [os.path.join(self.sysfs, "class", "infiniband", f"mlx5_{number}", "ports", "1") for number in range(4)]
        for number, files in enumerate((
                {"state": "1: DOWN", "phys_state": "2: Polling", "rate": "10 Gb/sec (4X SDR)", "counters/link_downed": 255},
                {"link_layer": "Ethernet", "counters/port_rcv_discards": 7, "counters/symbol_error": "N/A (no PMA)",
                 "hw_counters/rx_read_requests": 4_294_967_295},
                {"state": "5: ACTIVE_DEFER", "rate": "2.5 Gb/sec (1X SDR)", "counters/port_rcv_data": 2**64 - 1,
                 "counters/port_xmit_wait": 2**32 - 1},
                {"counters_ext/port_rcv_data_64": 25, "counters_ext/port_multicast_xmit_packets": 3, "hw_counters/rx_dct_connect": 2})):
            for file, text in files.items():
                sysfs_tree.write(os.path.join(ports[number], file), text)
        os.unlink(os.path.join(self.sysfs, "class", "infiniband", "mlx5_3", "hca_type"))
        ours = self.compare(self.sysfs)
        self.assertEqual(1.25e9, ours['node_infiniband_rate_bytes_per_second{device="mlx5_0",port="1"}'])
        self.assertEqual(5, ours['node_infiniband_state_id{device="mlx5_2",port="1"}'])
        self.assertEqual(100, ours['node_infiniband_legacy_data_received_bytes_total{device="mlx5_3",port="1"}'])
        self.assertNotIn('node_infiniband_symbol_error_total{device="mlx5_1",port="1"}', ours)

    def test_on_recorded_hosts(self):
        if not os.path.isdir(RECORDED):
            raise unittest.SkipTest("no fixtures: ../shared/fixtures/sysfs is not there")
        tree = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, tree, True)
        os.makedirs(os.path.join(tree, "class"))
        os.symlink(RECORDED, os.path.join(tree, "class", "infiniband"))
        ours = self.compare(tree)
        self.assertEqual(1_094_233_306_172, ours['node_infiniband_port_data_transmitted_bytes_total{device="hfi1_0",port="1"}'])


class Names(collector_testing.CollectorTest):
    def setUp(self):
        super().setUp()
        self.running = self.collector().start()

    def refused(self, path: str, running=None) -> str:
        with self.assertRaises(urllib.error.HTTPError) as raised:
            (running or self.running).text(path)
        self.assertEqual(400, raised.exception.code)
        return raised.exception.read().decode()

    def test_others_are_refused_with_those_that_there_are(self):
        self.assertEqual("there are no names 'telegraf'; there are names=node_exporter on weft-collector's /metrics and names=infiniband_exporter on weftd's\n",
                         self.refused("/metrics?names=telegraf"))
        self.assertEqual("names=infiniband_exporter is on weftd's /metrics\n", self.refused("/metrics?names=infiniband_exporter"))
        without = self.collector(extra=("--sources-sysfs", "false")).start()
        self.assertIn("needs sources.sysfs", self.refused("/metrics?names=node_exporter", without))

    def test_groups_may_be_chosen(self):
        def families(groups: str) -> set[str]:
            return {name_of(line) for line in infiniband_lines(self.running.text(f"/metrics?names=node_exporter{groups}"))[1]}
        self.assertEqual({"info", "state_id", "physical_state_id", "rate_bytes_per_second"}, families("&collect[]=ports"))
        self.assertIn("port_data_received_bytes_total", families("&collect[]=traffic"))
        self.assertEqual({"rx_atomic_requests_total", "rx_read_requests_total", "rx_write_requests_total"}, families("&collect[]=raw"))
        groups = ("ports", "traffic", "errors", "details", "rdma", "gauges", "raw", "self")
        self.assertEqual(families(""), set().union(*(families(f"&collect[]={group}") for group in groups)))

    def test_promtool_accepts_the_page(self):
        if not shutil.which("promtool"):
            raise unittest.SkipTest("promtool is not installed")
        done = subprocess.run(["promtool", "check", "metrics"], input=self.running.text("/metrics?names=node_exporter"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == "__main__":
    collector_testing.main()
