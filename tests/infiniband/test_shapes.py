# SPDX-License-Identifier: Apache-2.0
"""Fabrics as they are built: a gateway at a spine, leaves without adapters, a pod without leaves, a pod that is switched off, a dragonfly.
What the guards say of isolating a link, read from a weftd that sweeps them; and which of several bad links of one leaf goes."""

import re

import weft_testing
from weft_testing import netfile, preview, verdict, wait_until, weftctl, weftctl_json

SPINES, LEAVES, EMPTY = 8, 6, 2
REMEDIES = """
[remedy]
isolate_link = "propose"
[remedy.limits.capacity]
leaf_share_idle = 0.75
"""


class Shapes(weft_testing.SubnetTest):
    infiniband = REMEDIES

    def look(self, label: str) -> str:
        return preview(self.weftd, label)

    def expect_free(self, label: str) -> None:
        """No guard refuses to isolate the link."""
        seen = weftctl(self.weftd, "isolate", label, "--dry-run")
        self.assertEqual(0, seen.returncode, seen.stdout + seen.stderr)
        self.assertNotIn("REFUSED", seen.stdout)

    def set_errors(self, switch: str, port: int, errors: int) -> None:
        end = self.network.find(switch).ports[port]
        for name, number in ((switch, port), (self.network.nodes[end.node].name, end.port)):
            self.subnet.set_counter(name, number, "PortCounters.SymbolErrorCounter", errors)


class UntidyFatTree(Shapes):
    analyzer = 'error_window_minimum = "2s"'

    @classmethod
    def make_network(cls):
        """Port <n> of a leaf leads to spine n - 1, 9 and 10 to hosts; the last leaves have none. A gateway is at spine-0."""
        network = netfile.Network()
        spines = [network.add(netfile.SWITCH, 0x0EC0DE0300000000 + at * 16, LEAVES + EMPTY + 1, f"spine-{at}") for at in range(SPINES)]
        for at in range(LEAVES + EMPTY):
            leaf = network.add(netfile.SWITCH, 0x0EC0DE0200000000 + at * 16, SPINES + 2, f"leaf-{at}")
            for number, spine in enumerate(spines, 1):
                network.connect(leaf, number, spine, at + 1)
            for number in (SPINES + 1, SPINES + 2) if at < LEAVES else ():
                host = network.add(netfile.ADAPTER, 0x0EC0DE0700000000 + (at * 16 + number) * 16, 1, f"gpu-{at}-{number} mlx5_0")
                network.connect(host, 1, leaf, number)
        gateway = network.add(netfile.ADAPTER, 0x0EC0DE0900000000, 1, "gateway mlx5_0")
        network.connect(gateway, 1, spines[0], LEAVES + EMPTY + 1)
        return network

    def test_1_a_leaf_keeps_what_is_promised(self):
        self.assertRegex(verdict(self.look("leaf-1:2"), "ALTERNATIVE"), "passed")
        self.assertRegex(verdict(self.look("leaf-1:1"), "REACHABILITY"), "REFUSED +leaf-1 and spine-0 would have no path", "the way to the gateway")
        for port in (2, 3):
            self.assertRegex(verdict(self.look(f"leaf-1:{port}"), "LEAF_CAPACITY"), "passed")
            self.subnet.unlink("leaf-1", port)
            self.expect("LINK_DOWN", lambda incident, at=port: self.is_link(incident, self.link("leaf-1", at)))
        seen = verdict(self.look("leaf-1:4"), "LEAF_CAPACITY")
        self.assertRegex(seen, r"REFUSED +.*leaf-1")
        for port in (2, 3):
            self.subnet.relink("leaf-1", port)
        wait_until(lambda: not self.weftd.incidents("LINK_DOWN"), within=60, why="the links are not back")

    def test_2_a_leaf_that_is_off_takes_no_ways_from_others(self):
        self.subnet.unlink("leaf-6")
        self.expect("SWITCH_DOWN", lambda incident: "leaf-6" in str(incident))
        self.assertRegex(verdict(self.look("leaf-1:2"), "LEAF_CAPACITY"), "passed")
        self.subnet.relink("leaf-6")
        wait_until(lambda: not self.weftd.incidents("SWITCH_DOWN"), within=60, why="the leaf is not back")

    def test_3_the_worst_of_three_bad_links_of_a_leaf_go(self):
        errors = {2: 0, 3: 0, 4: 0}
        each = {2: 1_000, 3: 300, 4: 100}

        def plans() -> dict[int, dict]:
            for port in errors:
                errors[port] = min(60_000, errors[port] + each[port])
                self.set_errors("leaf-2", port, errors[port])
            self.weftd.wait_sweeps(1)
            found = {}
            for plan in weftctl_json(self.weftd, "plans").get("plans", []):
                for port in errors:
                    if f"leaf-2 port {port} " in f"{plan['target']['label']} ":
                        found[port] = plan
            return found

        def refused(plan: dict) -> str:
            return "; ".join(f"{guard['guard']}: {guard['explanation']}" for guard in plan["guards"] if guard["result"] == "REFUSED")

        def chosen():
            found = plans()
            return len(found) == 3 and "avoids more loss" in refused(found[4]) and not refused(found[2]) and not refused(found[3])

        wait_until(chosen, within=60, why=lambda: f"{ {port: refused(plan) for port, plan in plans().items()} }\n{self.weftd.log()[-3000:]}")


class ThreeTiers(Shapes):
    """Four pods under eight cores. One is lost: first its leaves, so that only its aggregation switches are left below the cores, then these."""

    # A lost pod is more than the nodes that may be missing; after this time, an hour by default, it is taken for switched off.
    infiniband = REMEDIES.replace("[remedy.limits.capacity]", '[remedy.limits]\nmissing_for = "3s"\n[remedy.limits.capacity]')
    analyzer = 'error_window_minimum = "2s"'
    LEAVES, TOPS, CORES, PODS, LOST = 3, 4, 2, 4, 3

    @classmethod
    def make_network(cls):
        """Port <n> of a leaf leads to aggregation switch n - 1, 5 and 6 to hosts. Port <n> of an aggregation switch leads to leaf n - 1, 4 and
        5 to its two cores. OpenSM and weftd are in the first and in the last pod of the file."""
        network = netfile.Network()
        cores = {(top, at): network.add(netfile.SWITCH, 0x0EC0DE0400000000 + (top * 16 + at) * 16, cls.PODS, f"core-{top}-{at}")
                 for top in range(cls.TOPS) for at in range(cls.CORES)}
        for pod in (0, cls.LOST, 1, 2):
            tops = [network.add(netfile.SWITCH, 0x0EC0DE0300000000 + (pod * 16 + at) * 16, cls.LEAVES + cls.CORES, f"agg-{pod}-{at}")
                    for at in range(cls.TOPS)]
            for at, top in enumerate(tops):
                for number in range(cls.CORES):
                    network.connect(top, cls.LEAVES + 1 + number, cores[at, number], pod + 1)
            for at in range(cls.LEAVES):
                guid = (pod * 16 + at) * 16
                leaf = network.add(netfile.SWITCH, 0x0EC0DE0200000000 + guid, cls.TOPS + 2, f"leaf-{pod}-{at}")
                for number, top in enumerate(tops, 1):
                    network.connect(leaf, number, top, at + 1)
                for number in (1, 2):
                    host = network.add(netfile.ADAPTER, 0x0EC0DE0700000000 + (guid + number) * 16, 1, f"gpu-{pod}-{at}-{number} mlx5_0")
                    network.connect(host, 1, leaf, cls.TOPS + number)
        return network

    def expect_promises(self, leaf: str, port: int) -> None:
        """Links of the other pods may go, and the leaf of pod 0, which loses that port, keeps six of its eight ways up."""
        other = port % self.TOPS + 1
        for label in (f"{leaf}:{port}", f"agg-0-{other - 1}:5", "agg-1-0:4", "leaf-2-1:2"):
            self.expect_free(label)
        self.subnet.unlink(leaf, port)
        down = self.expect("LINK_DOWN", lambda incident: self.is_link(incident, self.link(leaf, port)))
        for label, kept in ((f"{leaf}:{other}", 4), (f"agg-0-{other - 1}:5", 5)):
            self.assertRegex(verdict(self.look(label), "LEAF_CAPACITY"), f"REFUSED +{leaf} would keep {kept} of 8 .*; 6 are needed")
        for label in (f"leaf-0-1:{other}", "agg-1-0:4", "leaf-2-1:2"):
            self.expect_free(label)
        self.subnet.relink(leaf, port)
        self.expect_resolved(down)

    def restart(self) -> None:
        """What is lost is not in its sweeps from then on; its incidents say that it is missing, for as long as before."""
        self.assertEqual(0, self.weftd.stop(remove=False))
        self.weftd.start()
        self.weftd.wait_sweeps(2)
        self.expect_gone(r"\d+")

    def lose_leaves(self) -> None:
        for switch in self.tops():
            for port in range(1, self.LEAVES + 1):
                self.subnet.unlink(switch, port)
        self.expect_down(f"leaf-{self.LOST}-{at}" for at in range(self.LEAVES))

    def lose_tops(self) -> None:
        for switch in self.tops():
            self.subnet.unlink(switch)
        self.expect_down(self.tops())

    def expect_gone(self, nodes: int | str) -> None:
        """They count as missing no more."""
        says = rf"passed +the last sweep is fresh, 0 nodes are missing in it; {nodes} more, gone for longer, do not count"
        wait_until(lambda: re.search(says, verdict(self.look("leaf-1-1:1"), "FRESH_DATA")), within=30,
                   why=lambda: verdict(self.look("leaf-1-1:1"), "FRESH_DATA"))

    def expect_down(self, switches) -> None:
        for name in switches:
            self.expect("SWITCH_DOWN", lambda incident, name=name: self.is_node(incident, name), sweeps=3)

    def tops(self) -> list[str]:
        return [f"agg-{self.LOST}-{at}" for at in range(self.TOPS)]

    def test_1_a_pod_without_leaves(self):
        self.expect_promises("leaf-0-0", 1)
        self.lose_leaves()
        self.expect_gone(self.LEAVES * 3)  # leaves and their hosts
        self.expect_promises("leaf-0-0", 2)
        self.restart()
        tiers = {node["name"]: node.get("tier") for node in weftctl_json(self.weftd, "nodes")["nodes"]}
        self.assertNotIn(f"leaf-{self.LOST}-0", tiers)
        self.assertEqual((1, 2, 2, 3), tuple(tiers[name] for name in ("leaf-0-0", "agg-0-0", self.tops()[0], "core-0-0")))
        self.expect_promises("leaf-0-0", 3)

        errors = 0

        def proposed():
            nonlocal errors
            errors = min(60_000, errors + 1_000)
            self.set_errors("leaf-1-1", 3, errors)
            self.weftd.wait_sweeps(1)
            found = [plan for plan in weftctl_json(self.weftd, "plans").get("plans", []) if plan["guards"]]
            return found and not [guard for guard in found[0]["guards"] if guard["result"] == "REFUSED"] and found[0]

        plan = wait_until(proposed, within=60, why=lambda: f"{weftctl(self.weftd, 'plans').stdout}\n{self.shown()}\n{self.weftd.log()[-3000:]}")
        self.assertEqual(("ISOLATE_LINK", "PROPOSED"), (plan["action"], plan["state"]))
        self.assertIn(f"Plans that wait for approval: {plan['id']} ", weftctl(self.weftd, "status").stdout)

    def test_2_a_pod_that_is_off(self):
        self.lose_tops()
        self.expect_gone(r"\d+")
        self.expect_promises("leaf-0-2", 1)
        self.restart()
        self.assertNotIn(self.tops()[0], weftctl(self.weftd, "nodes", "--names").stdout.split())
        self.expect_promises("leaf-0-2", 2)


class Dragonfly(Shapes):
    GROUPS, SWITCHES = 5, 4
    infiniband = REMEDIES.replace("[remedy]\n", '[remedy]\nrouting_engine = "dfsssp"\n')
    routing = "dfsssp"

    @classmethod
    def make_network(cls):
        """Groups of four switches, each cabled to each (ports 1 to 3), a host at port 5 and one global link at port 4."""
        network = netfile.Network()
        switches = {}
        for group in range(cls.GROUPS):
            for at in range(cls.SWITCHES):
                number = (group * 16 + at) * 16
                switches[group, at] = network.add(netfile.SWITCH, 0x0EC0DE0600000000 + number, 5, f"s-{group}-{at}")
                host = network.add(netfile.ADAPTER, 0x0EC0DE0700000000 + number, 1, f"gpu-{group}-{at} mlx5_0")
                network.connect(host, 1, switches[group, at], 5)
            for at in range(cls.SWITCHES):
                for other in range(at + 1, cls.SWITCHES):
                    network.connect(switches[group, at], other, switches[group, other], at + 1)
        for group in range(cls.GROUPS):
            for other in range(group + 1, cls.GROUPS):
                network.connect(switches[group, other - 1], 4, switches[other, group], 4)
        return network

    def test_groups_keep_their_links(self):
        seen = self.look("s-0-0:4")  # the only cable between two groups
        self.assertRegex(verdict(seen, "ALTERNATIVE"), "dragonfly")
        self.assertRegex(verdict(seen, "ROUTING"), "passed")
        self.assertRegex(verdict(seen, "BISECTION"), "needs a person|REFUSED")


if __name__ == "__main__":
    weft_testing.main()
