# SPDX-License-Identifier: Apache-2.0
"""Paths by the forwarding tables that real OpenSM wrote: the same as ibtracert's, also after a cut and OpenSM's new routes."""

import random
import re

import weft_testing
from weft_testing import fat_tree, weftctl, weftctl_json

HOP = re.compile(r"^\[(\d+)\] -> \S+ port \{0x[0-9a-f]+\}\[(\d+)\] lid (\d+)-\d+")


class Paths(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        return fat_tree.build(64, rails=2, radix=16)

    def setUp(self):
        super().setUp()
        topology = self.weftd.client.json("/api/v1/topology")
        self.lids = {(port["nodeGuid"], port.get("port", 0)): port.get("lid", 0) for port in topology["ports"]}
        types = {node["guid"]: node["type"] for node in topology["nodes"]}
        self.end_lids = sorted({lid for (guid, port), lid in self.lids.items() if lid and (types[guid] != "SWITCH" or port == 0)})
        self.is_switch = {guid for guid, kind in types.items() if kind == "SWITCH"}

    def ours(self, source: int, target: int):
        """[(out, in, LID behind it)] for each hop, or how it ended."""
        path, = self.weftd.client.json(f"/api/v1/path?from=lid%20{source}&to=lid%20{target}")["paths"]
        if path["end"] != "ARRIVED":
            return path["end"]
        hops = []
        for hop in path.get("hops", []):
            end = hop["to"]["nodeGuid"]
            lid = self.lids[end, 0 if end in self.is_switch else hop["to"]["port"]]
            hops.append((hop["from"]["port"], hop["to"]["port"], lid))
        return hops

    def theirs(self, source: int, target: int):
        text = self.subnet.run(["ibtracert", str(source), str(target)], check=False)
        return [tuple(map(int, match.groups())) for match in map(HOP.match, text.splitlines()) if match]

    def differences(self, pairs):
        wrong = []
        for source, target in pairs:
            ours, theirs = self.ours(source, target), self.theirs(source, target)
            if ours != theirs:
                wrong.append((source, target, ours, theirs))
        return wrong

    def some_pairs(self, seed: int, count: int):
        chosen = random.Random(seed)
        return [tuple(chosen.sample(self.end_lids, 2)) for _ in range(count)]

    def wait_for_tables(self):
        wanted = self.some_pairs(1, 60)
        weft_testing.wait_until(lambda: not any(isinstance(self.ours(*pair), str) for pair in wanted), every=0.5,
                                why="paths do not arrive")

    def test_many_pairs_are_those_of_ibtracert(self):
        self.wait_for_tables()
        self.assertEqual([], self.differences(self.some_pairs(2, 150)))

    def test_after_a_cut_the_new_routes_are_shown(self):
        self.wait_for_tables()
        leaf = self.network.find("leaf-r0-p01")
        up = next(number for number, end in sorted(leaf.ports.items()) if self.network.nodes[end.node].is_switch)
        link = self.link("leaf-r0-p01", up)
        pairs = self.some_pairs(3, 80)
        host, = (lid for (guid, port), lid in self.lids.items() if port == 1 and self.ends_at(guid, "gpu-0001 mlx5_0"))
        pairs += [(host, lid) for lid in self.end_lids if lid != host][:40]
        self.subnet.unlink("leaf-r0-p01", up)
        try:
            self.expect("LINK_DOWN", lambda i: self.is_link(i, link))
            # OpenSM reroutes in its own time; ours follows what the switches then say.
            weft_testing.wait_until(lambda: not any(self.crosses(pair, link) for pair in pairs), every=0.5,
                                    why="some path still goes through the cable that was cut")
            weft_testing.wait_until(lambda: not self.differences(pairs), every=1, why=lambda: str(self.differences(pairs)[:3]))
        finally:
            self.subnet.relink("leaf-r0-p01", up)
        weft_testing.wait_until(lambda: not self.differences(pairs), every=1, why=lambda: str(self.differences(pairs)[:3]))

    def ends_at(self, guid: str, name: str) -> bool:
        return int(guid, 16) == self.network.find(name).guid

    def crosses(self, pair, link) -> bool:
        path, = self.weftd.client.json(f"/api/v1/path?from=lid%20{pair[0]}&to=lid%20{pair[1]}")["paths"]
        ends = {(hop["from"]["nodeGuid"], hop["from"]["port"]) for hop in path.get("hops", [])}
        return bool(ends & link) or path["end"] != "ARRIVED"

    def test_the_command_line(self):
        self.wait_for_tables()
        done = weftctl(self.weftd, "path", "gpu-0001", "gpu-0009")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for rail in ("mlx5_0", "mlx5_1"):
            self.assertIn(f"gpu-0001 {rail} port 1 to gpu-0009 {rail} port 1", done.stdout)
        self.assertEqual(2, len(weftctl_json(self.weftd, "path", "gpu-0001", "gpu-0009")["paths"]))
        self.assertEqual(0, weftctl(self.weftd, "path", "gpu-0001 mlx5_0 port 1", "leaf-r0-p01").returncode)
        for arguments in (("gpu-0001", "nobody"), ("nobody", "gpu-0001"), ("gpu-0001 mlx5_0 port 7", "gpu-0002")):
            with self.subTest(arguments):
                done = weftctl(self.weftd, "path", *arguments)
                self.assertEqual((1, True), (done.returncode, "no node or port is named" in done.stderr), done.stderr)
        self.assertEqual(2, weftctl(self.weftd, "path", "gpu-0001").returncode)

    def test_an_incident_shows_on_its_hop(self):
        self.wait_for_tables()
        self.subnet.unlink("gpu-0004 mlx5_0", 1)
        try:
            opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("gpu-0004 mlx5_0", 1)))
            done = weftctl(self.weftd, "path", "gpu-0004 mlx5_0", "gpu-0001 mlx5_0")
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertIn(opened["id"], done.stdout)
            self.assertIn("whose link is not up", done.stdout)
        finally:
            self.subnet.relink("gpu-0004 mlx5_0", 1)
        self.expect_resolved(opened)


if __name__ == "__main__":
    weft_testing.main()
