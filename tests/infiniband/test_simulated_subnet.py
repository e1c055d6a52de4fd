# SPDX-License-Identifier: Apache-2.0
"""The ground that the other tests stand on: topology files, the generator, the simulator and the subnet manager."""

import io
import os
import subprocess
import sys
import unittest

import weft_testing
from faults import harmless_cable, schedule
from physical_layer import PhysicalLayer, Snapshot
from weft_testing import fat_tree, netfile, simulated_subnet


class FatTree(unittest.TestCase):
    # adapters, rails, levels, radix -> switches, port entries (management ports included)
    SIZES = (((512, 8, 2, 32), 48, 2_096), ((2_048, 8, 2, 64), 96, 8_288), ((2_000, 5, 3, 20), 500, 12_500),
             ((10_240, 8, 3, 64), 896, 62_336), ((39_936, 8, 3, 64), 3_520, 243_136))

    def test_has_the_switches_and_ports_of_its_size(self):
        for arguments, switches, ports in self.SIZES:
            with self.subTest(arguments):
                network = fat_tree.build(*arguments)
                self.assertEqual((arguments[0], switches, ports),
                                 (len(network.adapters), len(network.switches), network.port_entries()))

    def test_is_the_same_each_time(self):
        texts = []
        for _ in range(2):
            stream = io.StringIO()
            fat_tree.build(64, rails=4).write(stream)
            texts.append(stream.getvalue())
        self.assertEqual(texts[0], texts[1])

    def test_rails_meet_at_their_own_leaf(self):
        network = fat_tree.build(512)
        for rail in range(8):
            leaves = {network.find(f"gpu-{host:04d} mlx5_{rail}").ports[1].node for host in range(1, 17)}
            self.assertEqual({network.find(f"leaf-r{rail}-p01").identity}, leaves)

    def test_every_leaf_reaches_every_other(self):
        network = fat_tree.build(2_000, rails=5, levels=3, radix=20)
        reached = {network.switches[0].identity}
        frontier = list(reached)
        while frontier:
            for end in network.nodes[frontier.pop()].ports.values():
                if end.node not in reached:
                    reached.add(end.node)
                    frontier.append(end.node)
        self.assertEqual(set(network.nodes), reached)

    def test_chooses_a_shape_that_fits(self):
        self.assertEqual(896, len(fat_tree.build(10_240).switches))
        self.assertEqual(96, len(fat_tree.build(2_048).switches))

    def test_refuses_sizes_that_do_not_make_one(self):
        for arguments in ((100, 8), (0, 1), (4_096, 8, 2, 32), (512, 8, 2, 31), (80, 8, 3, 20), (70_000 * 8, 8, 3, 64)):
            with self.subTest(arguments), self.assertRaises(fat_tree.SizeError):
                fat_tree.build(*arguments)

    def test_the_cable_that_a_person_is_told_to_pull_is_of_nobody_else(self):
        for network in (fat_tree.build(512, rails=8, radix=32), fat_tree.build(64, rails=4, radix=16), fat_tree.build(16, radix=16)):
            keep_away = {network.hosts()[0].identity, network.hosts()[-1].identity}
            node, port = harmless_cable(network, keep_away)
            ends = {node.identity, node.ports[port].node}
            self.assertFalse(ends & keep_away)
            if network.trunks():
                self.assertTrue(all(network.nodes[end].is_switch for end in ends))
                leaves = {end.node for name in keep_away for end in network.nodes[name].ports.values()}
                self.assertFalse(ends & leaves, "the leaf of the subnet manager's host keeps all its uplinks")
        pair = fat_tree.build(2, rails=1, radix=16)
        self.assertIsNone(harmless_cable(pair, {host.identity for host in pair.hosts()}))


class Netfile(unittest.TestCase):
    def parse(self, text):
        return netfile.parse(io.StringIO(text), "x")

    def test_reads_back_what_it_writes(self):
        network = fat_tree.build(64, rails=4)
        network.set_width(network.switches[0].identity, 17, 1)
        stream = io.StringIO()
        network.write(stream)
        again = io.StringIO()
        self.parse(stream.getvalue()).write(again)
        self.assertEqual(stream.getvalue(), again.getvalue())

    def test_says_where_a_file_is_wrong(self):
        good = 'Switch\t2 "S-0000000000000001"\t\t# "a"\n[1]\t"S-0000000000000002"[1]\n\nSwitch\t2 "S-0000000000000002"\t\t# "b"\n'
        for text, words in (("", "not an ibnetdiscover file"), ("[1] nonsense\n", "x:1: not a port"),
                            ('[1]\t"S-1"[1]\n', "x:1: a port before any node"), (good, "disagree on their cable"),
                            (good + '[3]\t"S-0000000000000001"[1]\n', "x:5: port 3"), (good + good, "twice"),
                            ('Switch\t2 "S-1" # "a"\n[1] "S-2"[1]\n', "x: S-1[1] is cabled to S-2, which is not in the file")):
            with self.subTest(words), self.assertRaisesRegex(netfile.NetfileError, words.replace("[", r"\[")):
                self.parse(text)

    def test_reads_a_published_fabric(self):
        if not os.path.exists(weft_testing.DGX):
            self.skipTest("no fixtures")
        network = netfile.read(weft_testing.DGX)
        self.assertEqual((40, 582, 1_114), (len(network.switches), len(network.adapters), network.links()))
        self.assertEqual(2 * 1_114, network.cap_speeds())
        self.assertFalse(any("Aggregation" in node.name for node in network.hosts()))


class SimulatedSubnet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if missing := simulated_subnet.missing_programs("ibnetdiscover"):
            raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
        cls.subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(64, rails=4))
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start()

    def discovered(self) -> netfile.Network:
        return netfile.parse(self.subnet.run(["ibnetdiscover"]).splitlines(), "ibnetdiscover")

    def test_is_what_the_file_says(self):
        found = self.discovered()
        self.assertEqual(set(self.subnet.network.nodes), set(found.nodes))
        for identity, node in self.subnet.network.nodes.items():
            self.assertEqual(node.ports, found.nodes[identity].ports)
            self.assertEqual(node.name, found.nodes[identity].name)

    def test_unlink_and_relink(self):
        self.subnet.unlink("leaf-r1-p01", 17)
        leaf = self.subnet.network.find("leaf-r1-p01").identity
        self.assertNotIn(17, self.discovered().nodes[leaf].ports)
        self.subnet.relink("leaf-r1-p01", 17)
        self.assertIn(17, self.discovered().nodes[leaf].ports)

    def test_complaints_of_the_console_are_errors(self):
        for line in ('Unlink "S-00000000000000ff"', 'PerformanceSet "leaf"[1] PortCounters.VL15Dropped=1', "Nonsense", "x" * 200):
            with self.subTest(line), self.assertRaises(simulated_subnet.SubnetError):
                self.subnet.command(line)

    def test_counters_are_set(self):
        self.subnet.set_counter("gpu-0003 mlx5_2", 1, "PortCounters.SymbolErrorCounter", 41)
        lid = self.subnet.run(["smpquery", "-G", "portinfo", hex(self.subnet.network.find("gpu-0003 mlx5_2").guid + 1), "1"])
        self.assertIn("Active", lid)
        text = self.subnet.run(["perfquery", "-G", hex(self.subnet.network.find("gpu-0003 mlx5_2").guid + 1), "1"])
        self.assertRegex(text, r"SymbolErrorCounter:\.*41\b")

    def test_both_come_back_after_a_kill(self):
        self.subnet.kill_opensm()
        self.subnet.start_opensm(60)
        self.assertEqual(set(self.subnet.network.nodes), set(self.discovered().nodes))

    def test_the_physical_layer_outlasts_a_switch_that_is_cut_off(self):
        """A port that cannot be reached is Disabled again when it can; until then its link stays down."""
        leaf = self.subnet.network.find("leaf-r1-p01")
        end = (leaf.ports[17].node, leaf.ports[17].port)
        spine = self.subnet.network.nodes[end[0]]
        layer = PhysicalLayer(self.subnet)  # its thread is not started: each look is made here
        self.subnet.run(["ibportstate", "-G", hex(spine.guid), str(end[1]), "disable"])
        before = Snapshot.of(self.subnet)
        self.subnet.unlink(spine.name)
        layer._look(before)
        self.subnet.relink(spine.name)

        def is_down():
            layer._look(Snapshot.of(self.subnet))
            port = Snapshot.of(self.subnet).ports[end]
            return port.physical == "Disabled" and port.peer is None
        weft_testing.wait_until(is_down, 60, why="the port is not Disabled again")
        self.subnet.run(["ibportstate", "-G", hex(spine.guid), str(end[1]), "enable"])
        layer._look(Snapshot.of(self.subnet))
        self.assertIsNotNone(Snapshot.of(self.subnet).ports[end].peer)

    def test_a_switch_that_the_demonstration_cuts_off_comes_back_without_the_links_that_are_disabled(self):
        subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(128))
        self.addCleanup(subnet.stop)
        subnet.start()
        fault = next(fault for fault in schedule(subnet, {subnet.manager_host}) if fault.title.startswith("cutting off "))
        switch = subnet.network.find(fault.title.removeprefix("cutting off "))
        port, other = sorted(switch.ports)[:2]
        end = (switch.ports[port].node, switch.ports[port].port)
        with PhysicalLayer(subnet) as layer:
            subnet.run(["ibportstate", "-G", hex(subnet.network.nodes[end[0]].guid), str(end[1]), "disable"])
            layer.settle()
            fault.begin()
            layer.settle()
            self.assertIsNone(Snapshot.of(subnet).ports[switch.identity, other].peer)
            fault.end()
            layer.settle()
            ports = Snapshot.of(subnet).ports
            self.assertIsNotNone(ports[switch.identity, other].peer)
            self.assertEqual("Disabled", ports[end].physical)
            self.assertIsNone(ports[switch.identity, port].peer)
            subnet.run(["ibportstate", "-G", hex(subnet.network.nodes[end[0]].guid), str(end[1]), "enable"])
            weft_testing.wait_until(lambda: Snapshot.of(subnet).ports[switch.identity, port].peer, 60, why="it does not come up")

    def test_a_killed_client_gives_its_place_back(self):
        place = os.path.join(self.subnet.directory, "killed")
        os.mkdir(place)
        for _ in range(12):  # more than ibsim has places
            command = ["/usr/sbin/opensm", "-f", os.path.join(place, "log"), "-F", "/dev/null", "-s", "0"]
            environment = dict(self.subnet.environment("gpu-0009 mlx5_1"), OSM_CACHE_DIR=place, OSM_TMP_DIR=place)
            client = subprocess.Popen(command, env=environment, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            attached = weft_testing.wait_until(
                lambda: any(f"pid {client.pid} " in line for line in self.subnet.command("Attached")), 20, why="it did not attach")
            client.kill()
            client.wait()
            self.assertTrue(attached)
            self.subnet.free_dead_clients()
            self.assertFalse(any(f"pid {client.pid} " in line for line in self.subnet.command("Attached")))
        self.assertEqual(set(self.subnet.network.nodes), set(self.discovered().nodes))


class AsAProgram(unittest.TestCase):
    PROGRAM = os.path.join(weft_testing.ROOT, "deploy", "demonstration", "simulated_subnet.py")

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, self.PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)

    def test_runs_a_command_on_a_subnet(self):
        if missing := simulated_subnet.missing_programs("ibnetdiscover"):
            self.skipTest(f"not installed: {', '.join(missing)}")
        done = self.run_it("--adapters", "32", "--", "ibnetdiscover", "-l")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(32, sum(line.startswith("Ca") for line in done.stdout.splitlines()), done.stdout)

    def test_says_what_is_wrong_with_a_file(self):
        done = self.run_it("--topology", __file__)
        self.assertEqual(1, done.returncode)
        self.assertIn("not an ibnetdiscover file", done.stderr)


if __name__ == "__main__":
    weft_testing.main()
