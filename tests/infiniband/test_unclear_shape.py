# SPDX-License-Identifier: Apache-2.0
"""Leaves and spines whose leaves are cabled to each other in a row as well: no shape for which weftd can tell what a link's loss costs.
It says so, and isolates nothing without a person."""

import weft_testing
from weft_testing import netfile, wait_until, weftctl, weftctl_json

LEAVES, SPINES = 6, 3
REMEDIES = """
[remedy]
isolate_link = "auto"
[remedy.limits]
reading_interval = "200ms"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.budget]
cool_down = "0s"
"""


class UnclearShape(weft_testing.SubnetTest):
    infiniband = REMEDIES
    routing = "minhop"
    BAD = ("leaf-1", 1)

    @classmethod
    def make_network(cls):
        """Port <n> of a leaf leads to spine n, 4 to the leaf before, 5 to the leaf behind, 6 and 7 to hosts."""
        network = netfile.Network()
        spines = [network.add(netfile.SWITCH, 0x0EC0DE0300000000 + at * 16, LEAVES, f"spine-{at}") for at in range(SPINES)]
        leaves = [network.add(netfile.SWITCH, 0x0EC0DE0200000000 + at * 16, 7, f"leaf-{at}") for at in range(LEAVES)]
        for at, leaf in enumerate(leaves):
            for number, spine in enumerate(spines, 1):
                network.connect(leaf, number, spine, at + 1)
            if at > 0:
                network.connect(leaves[at - 1], 5, leaf, 4)
            for number in (6, 7):
                host = network.add(netfile.ADAPTER, 0x0EC0DE0700000000 + (at * 8 + number) * 16, 1, f"gpu-{at}-{number - 6} mlx5_0")
                network.connect(host, 1, leaf, number)
        return network

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def guard(self, plan: dict, name: str) -> dict:
        return next(guard for guard in plan["guards"] if guard["guard"] == name)

    def test_is_told_and_waits_for_a_person(self):
        node, port = self.BAD
        end = self.network.find(node).ports[port]
        errors = 0

        def proposed():
            nonlocal errors
            errors = min(60_000, errors + 20_000)
            for name, number in ((node, port), (self.network.nodes[end.node].name, end.port)):
                self.subnet.set_counter(name, number, "PortCounters.SymbolErrorCounter", errors)
            self.weftd.wait_sweeps(1)
            return next((plan for plan in self.plans() if plan["guards"]), None)

        wait_until(proposed, within=90, why=lambda: f"nothing is proposed: {self.shown()}\n{self.weftd.log()}")
        self.weftd.wait_sweeps(5)
        plan = self.plans()[-1]
        self.assertEqual(("ISOLATE_LINK", "PROPOSED", ""), (plan["action"], plan["state"], plan.get("approvedBy", "")), plan["steps"])
        self.assertEqual("NEEDS_PERSON", self.guard(plan, "ALTERNATIVE")["result"])
        self.assertIn("only a person may approve it", self.guard(plan, "ALTERNATIVE")["explanation"])
        self.assertEqual([], [guard for guard in plan["guards"] if guard["result"] == "REFUSED"], "nothing else keeps it from acting")

        seen = weftctl(self.weftd, "isolate", f"{node}:{port + 1}", "--dry-run")
        self.assertIn("preview: nothing is done yet", seen.stdout, seen.stderr)
        self.assertRegex(seen.stdout, r"\? ALTERNATIVE +needs a person +.*shape of the fabric: unclear")
        self.assertEqual(1, len(self.plans()))


if __name__ == "__main__":
    weft_testing.main()
