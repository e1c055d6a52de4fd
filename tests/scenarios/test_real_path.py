# SPDX-License-Identifier: Apache-2.0
"""What real daemons say of a scenario is what the analyzer says when it is fed straight. See real_path.py."""

import os
import tempfile
import unittest

import host_trees
import real_path
import weft_testing


class Recorder:
    """A subnet that notes what its console is given."""

    def __init__(self, network):
        self.network = network
        self.lines: list[str] = []

    def command(self, *lines: str):
        self.lines += lines

    def taken(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


class MirrorTest(unittest.TestCase):
    """A switch with two hosts, frame by frame."""

    def setUp(self):
        nodes = [{"guid": 0x10, "switch": True, "name": "leaf", "ports": 2}, {"guid": 0x20, "switch": False, "name": "a", "ports": 1},
                 {"guid": 0x30, "switch": False, "name": "b", "ports": 1}]
        ends = [(0, 1), (0, 2), (1, 1), (2, 1)]
        first = {"at": 0.5, "silent": [], "ports": [self.entry(end, {"transmit_bytes": 4000, "symbol_errors": 7, "transmit_wait": 90})
                                                    for end in ends]}
        self.timeline = real_path.Timeline({"nodes": nodes, "cables": [[0, 1, 1, 1], [0, 2, 2, 1]]}, [first], [])
        self.subnet = Recorder(self.timeline.network())
        self.mirror = real_path.Mirror(self.timeline, self.subnet, lambda node, port: 2.0)
        self.mirror.show(first)

    @staticmethod
    def entry(end, values=None, **state):
        entry = {"node": end[0], "port": end[1], "state": {"joined": True, "width": 4, "speed": "HDR", "rate": 8000, "tick": 0.5, **state}}
        return entry | ({"values": values} if values is not None else {})

    def show(self, *ports, silent=()) -> list[str]:
        self.subnet.taken()
        self.mirror.show({"at": 1, "ports": list(ports), "silent": list(silent)})
        return self.subnet.taken()

    def test_traffic_begins_at_zero_and_errors_where_they_are(self):
        lines = self.subnet.taken()
        self.assertIn('PerformanceSet "S-0000000000000010"[1] PortCountersExtended.PortXmitData=0', lines)
        self.assertIn('PerformanceSet "S-0000000000000010"[1] PortCounters.SymbolErrorCounter=7', lines)

    def test_only_what_moves_is_set_in_ibsims_units(self):
        lines = self.show(self.entry((0, 1), {"transmit_bytes": 4800, "symbol_errors": 7, "transmit_wait": 130}))
        self.assertEqual(['PerformanceSet "S-0000000000000010"[1] PortCountersExtended.PortXmitData=200',
                          'PerformanceSet "S-0000000000000010"[1] PortCounters.PortXmitWait=10'], lines)

    def test_what_is_busy_or_waits_moves_in_steps(self):
        busy = self.entry((0, 1), {"transmit_bytes": 5000, "symbol_errors": 9, "transmit_wait": 90})
        idle = self.entry((0, 2), {"transmit_bytes": 4004, "symbol_errors": 7, "transmit_wait": 90})
        waiting = self.entry((1, 1), {"transmit_bytes": 4000, "symbol_errors": 7, "transmit_wait": 130})
        frame = {"at": 1.5, "ports": [busy, idle, waiting], "silent": []}
        self.assertEqual(([busy, waiting], 20), self.mirror.in_steps(frame))
        begun = self.mirror.values([busy, waiting])
        self.subnet.taken()
        for expected in (50, 125):
            self.mirror.creep([busy, waiting], begun, expected / 250)
            self.assertEqual([f'PerformanceSet "S-0000000000000010"[1] PortCountersExtended.PortXmitData={expected}',
                              f'PerformanceSet "H-0000000000000020"[1] PortCounters.PortXmitWait={expected // 25}'], self.subnet.taken())
        self.mirror.show(frame)
        self.assertIn('PerformanceSet "S-0000000000000010"[1] PortCounters.SymbolErrorCounter=9', self.subnet.taken())

    def test_all_moves_in_steps_where_hosts_are_read(self):
        busy = self.entry((0, 1), {"transmit_bytes": 5000, "symbol_errors": 7, "transmit_wait": 90})
        idle = self.entry((0, 2), {"transmit_bytes": 4004, "symbol_errors": 7, "transmit_wait": 90})
        down = self.entry((1, 1))
        self.mirror._hosts = ["a host"]
        self.assertEqual(([busy, idle], 20), self.mirror.in_steps({"at": 1.5, "ports": [busy, idle, down], "silent": []}))
        self.assertEqual(([idle], 5), self.mirror.in_steps({"at": 1.5, "ports": [idle, down], "silent": []}))

    def test_what_went_back_was_cleared(self):
        lines = self.show(self.entry((0, 1), {"transmit_bytes": 400, "symbol_errors": 0, "transmit_wait": 90}))
        self.assertEqual(['PerformanceSet "S-0000000000000010"[1] PortCountersExtended.PortXmitData=100',
                          'PerformanceSet "S-0000000000000010"[1] PortCounters.SymbolErrorCounter=0'], lines)

    def test_cables_are_pulled_once_and_plugged_when_both_ends_are_back(self):
        lines = self.show(self.entry((0, 1), joined=False), self.entry((1, 1), joined=False))
        self.assertEqual(['Unlink "S-0000000000000010"[1]'], lines)
        self.assertEqual([], self.show(self.entry((1, 1))))
        self.assertEqual(['ReLink "S-0000000000000010"[1]'], self.show(self.entry((0, 1))))

    def test_a_node_that_loses_all_loses_it_at_once(self):
        self.assertEqual(['Unlink "S-0000000000000010"'], self.show(*(self.entry(end, joined=False) for end in ((0, 1), (0, 2), (1, 1), (2, 1)))))

    def test_silence_begins_and_ends(self):
        self.assertEqual(['Error "H-0000000000000020" 100'], self.show(silent=[1]))
        self.assertEqual([], self.show(silent=[1]))
        self.assertEqual(['Error "H-0000000000000020" 0'], self.show())

    def test_what_ibsim_has_no_way_to_do_is_said(self):
        with self.assertRaises(real_path.CannotShow):
            self.show(self.entry((0, 1), width=1))


class Switch:
    """A collector that notes when it is switched on and off."""

    def __init__(self):
        self.said: list[str] = []

    def kill(self):
        self.said.append("off")

    def start(self, wait=True):
        self.said.append("on" + " and waits" * wait)


class HostsTest(unittest.TestCase):
    """Two hosts, the first with two adapters."""

    def setUp(self):
        nodes = [{"guid": 0x10, "name": "leaf"}] + [{"guid": 0x0002C903_00000000 + 16 * i, "name": f"adapter {i}"} for i in (1, 2, 3)]
        self.fabric = {"nodes": nodes, "hosts": [{"name": "a", "adapters": [1, 2], "jobs": ["slurm:1", "slurm:2"]},
                                                 {"name": "b", "adapters": [3], "jobs": []}]}
        self.hosts = host_trees.Hosts(self.fabric)
        self.addCleanup(self.hosts.stop)

    def text(self, host: int, file: str) -> str:
        with open(os.path.join(self.hosts.tree(host), "class", "infiniband", file), encoding="ascii") as stream:
            return stream.read().strip()

    def test_each_adapter_is_the_one_of_the_subnet(self):
        self.assertEqual("0002:c903:0000:0020", self.text(0, "mlx5_1/node_guid"))
        self.assertEqual("fe80:0000:0000:0000:0002:c903:0000:0021", self.text(0, "mlx5_1/ports/1/gids/0"))
        self.assertEqual(["mlx5_0"], os.listdir(os.path.join(self.hosts.tree(1), "class", "infiniband")))

    def test_traffic_is_that_of_the_port_in_the_drivers_units(self):
        self.hosts.show_traffic(2, {"transmit_bytes": 400_000_000_000, "receive_packets": 7, "symbol_errors": 3})
        self.assertEqual("100000000000", self.text(0, "mlx5_1/ports/1/counters/port_xmit_data"))
        self.assertEqual("7", self.text(0, "mlx5_1/ports/1/counters/port_rcv_packets"))
        self.hosts.show_traffic(2, {"transmit_bytes": 40})
        self.assertEqual("10", self.text(0, "mlx5_1/ports/1/counters/port_xmit_data"), "nothing of the longer number is left")
        self.hosts.show_traffic(0, {"transmit_bytes": 40})  # a switch is nobody's adapter

    def test_errors_and_states_are_shown_where_they_belong(self):
        errors = {"sequence_nak": 9, "out_of_buffer": 5, "retries_exhausted": 2}
        self.hosts.show({"ports": [{"node": 3, "port": 1, "state": {"joined": False}}], "hosts": [{"host": 0, "devices": {"mlx5_1": errors}}]})
        for file, said in {"packet_seq_err": "9", "out_of_buffer": "5", "req_transport_retries_exceeded": "2"}.items():
            self.assertEqual(said, self.text(0, f"mlx5_1/ports/1/hw_counters/{file}"))
        self.assertEqual("0", self.text(0, "mlx5_0/ports/1/hw_counters/out_of_buffer"))
        self.assertEqual(("1: DOWN", "4: ACTIVE"), (self.text(1, "mlx5_0/ports/1/state"), self.text(0, "mlx5_0/ports/1/state")))

    def test_errors_begin_where_a_host_is_first_read(self):
        frames = [{"ports": []}, {"ports": [], "hosts": [{"host": 1, "devices": {"mlx5_0": {"out_of_sequence": 4000}}}]},
                  {"ports": [], "hosts": [{"host": 1, "devices": {"mlx5_0": {"out_of_sequence": 4100}}}]}]
        self.hosts.stop()
        self.hosts = host_trees.Hosts(self.fabric, frames)
        self.addCleanup(self.hosts.stop)
        for frame, said in zip(frames, ("4000", "4000", "4100")):
            self.hosts.show(frame)
            self.assertEqual(said, self.text(1, "mlx5_0/ports/1/hw_counters/out_of_sequence"))

    def test_a_host_without_power_has_no_collector(self):
        switches = self.hosts._collectors = [Switch(), Switch()]
        for dark in ([], [1], [1], []):
            self.hosts.show({"ports": [], "dark": dark})
        self.hosts._collectors = []
        self.assertEqual([[], ["off", "on"]], [switch.said for switch in switches])


class RealPath(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        for program in (real_path.simulator(weft_testing.BUILD), weft_testing.program("weft-collector"), weft_testing.program("weft-uplink")):
            if not os.access(program, os.X_OK):
                raise unittest.SkipTest(f"{program} is not built")
        cls.verdicts = {verdict.name: verdict for verdict in real_path.run_all(real_path.all_scenarios(), weft_testing.BUILD)}

    def test_most_scenarios_have_something_to_agree_on(self):
        self.assertGreaterEqual(sum(bool(verdict.straight) for verdict in self.verdicts.values()), 8)

    def test_what_weftd_must_not_open_it_does_not(self):
        for name in ("quiet", "quiet_hosts", "counter_reset"):
            self.assertEqual(set(), self.verdicts[name].real, name)

    def test_what_only_hosts_see_is_seen(self):
        for name, kind, told in (("loss_on_link", "SILENT_LOSS", "lost_share"), ("slow_software", "SLOW_RECEIVER", "out_of_buffer"),
                                 ("host_off", "RDMA_ERRORS", "retries_exhausted"), ("host_off", "NODE_DOWN", ""),
                                 ("straggler", "STRAGGLER", "")):
            self.assertTrue(any(said.startswith(kind) and told in said for said in self.verdicts[name].real), str(self.verdicts[name]))
        # Its collector went silent with the host: that is no incident of its own.
        self.assertFalse(any("TELEMETRY_LOST" in said for said in self.verdicts["host_off"].real), str(self.verdicts["host_off"]))

    def test_more_hosts_than_the_machine_has_room_for_are_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".scenario") as file:
            file.write("fabric levels=2 hosts=32 hosts_per_leaf=8 uplinks=4 speed=HDR\nduration 2\njob ring members=0-31\n")
            file.flush()
            with self.assertRaisesRegex(real_path.CannotShow, "32 hosts"):
                real_path.Timeline.of(file.name, weft_testing.BUILD)


def _add(name: str) -> None:
    def test(self):
        self.assertTrue(self.verdicts[name].agree, str(self.verdicts[name]))

    setattr(RealPath, f"test_{name}", test)


for _path in real_path.all_scenarios():
    _add(os.path.splitext(os.path.basename(_path))[0])


if __name__ == "__main__":
    weft_testing.main()
