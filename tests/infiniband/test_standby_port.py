# SPDX-License-Identifier: Apache-2.0
"""A machine with two ports, which `infiniband.ports = ["auto"]` finds: which of two on one subnet is watched, and when the other one takes its
place."""

import os
import unittest

import weft_testing
from weft_testing import PhysicalLayer, fat_tree, guid_text, netfile, simulated_subnet, wait_until, weftctl, weftctl_json

LOOK = 100  # the list of ports is read once a minute
LIMITS = """
[remedy.infiniband_port]
program = "{port}"
[remedy.limits]
reading_interval = "500ms"
check_interval = "2s"
stale_intervals = 20
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.budget]
out_minimum = 3
[remedy.limits.verification]
windows = 2
within = "40s"
probation = "5s"
"""
FIRST, SECOND = "ibsim0-1", "ibsim0-2"


class TwoPorts(unittest.TestCase):
    """A simulated client has one port, so two hosts of the subnet stand for the two ports."""

    def setUp(self):
        weft_testing.require_simulator()
        self.subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8))
        self.addCleanup(self.subnet.stop)
        self.subnet.start()
        self.own = {FIRST: self.subnet.network.hosts()[-1], SECOND: self.subnet.network.hosts()[2]}
        self.weftd = weft_testing.Weftd(dict(os.environ))
        self.addCleanup(self.weftd.stop)
        self.write_sweeper(self.subnet, self.own[SECOND].identity)
        port = weft_testing.write_chooser(os.path.join(self.weftd.place, "port"), "weft-port", {
            f"--local-node {guid_text(host.guid)}": self.subnet.environment(host.identity) for host in self.own.values()})
        with open(self.weftd.configuration, "a", encoding="utf-8") as text:
            text.write(LIMITS.format(port=port))

    def write_sweeper(self, subnet, second: str) -> None:
        """The second port is cabled to that subnet, at that place. It trains later than the first one."""
        sweeper = weft_testing.write_chooser(os.path.join(self.weftd.place, "choose.new"), "weft-sweeper", {
            f"--fabric {FIRST}": self.subnet.environment(self.own[FIRST].identity),
            f"--fabric {SECOND}": subnet.environment(second)}, "--port", "1")
        os.rename(sweeper, os.path.join(self.weftd.place, "choose"))
        path = os.path.join(self.weftd.place, "sweeper")
        with open(path, "w", encoding="utf-8") as script:
            script.write(f"""#!/bin/sh
if [ "$1" = --list ]; then
  for n in 1 2; do [ -e '{self.off("")}'$n ] || printf 'ibsim0:%s\\tInfiniBand\\tActive\\n' $n; done
  exit
fi
case "$* " in *"--fabric {SECOND} "*) sleep 4 ;; esac
exec '{self.weftd.place}/choose' "$@"
""")
        os.chmod(path, 0o755)
        self.weftd.extra = ("--infiniband-ports", "auto", "--infiniband-sweeper", path)

    def off(self, name: str) -> str:
        """While this file exists that port is not Active."""
        return os.path.join(self.weftd.place, "off-") + name[-1:]

    def turn(self, name: str, on: bool) -> None:
        if on:
            os.unlink(self.off(name))
        else:
            open(self.off(name), "w", encoding="utf-8").close()

    def watched(self) -> dict:
        return {fabric["name"]: fabric.get("watching", False) for fabric in self.weftd.client.json("/api/v1/fabrics")["fabrics"]}

    def wait_watched(self, *names: str, within: float = LOOK) -> None:
        wait_until(lambda: self.watched() == dict.fromkeys(names, True), within,
                   why=lambda: f"{self.watched()} in place of {names}\n{self.weftd.log()}")

    def start(self) -> None:
        """The first port is watched, and the second is its standby."""
        self.weftd.start()
        wait_until(lambda: f"{SECOND} is on the same subnet as {FIRST}: kept as standby" in self.weftd.log(), LOOK, why=self.weftd.log)
        self.wait_watched(FIRST)

    def uplinks(self, leaf) -> list[str]:
        return [f"{leaf.name}:{number}" for number, end in sorted(leaf.ports.items())
                if self.subnet.network.nodes[end.node].name.startswith("spine")]

    # Of two ports the first one trains later after a boot.
    def test_the_port_whose_link_a_plan_holds_is_watched_again(self):
        self.turn(SECOND, on=False)
        with PhysicalLayer(self.subnet):
            self.weftd.start()
            self.wait_watched(FIRST)
            leaf = self.subnet.network.find("leaf-r0-p02")
            another, *_, link = self.uplinks(leaf)
            done = weftctl(self.weftd, "isolate", link, "--reason", "a bad cable", "--yes")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)

            def plan(name):
                return next((plan for plan in weftctl_json(self.weftd, "plans", "--all")["plans"] if plan["id"] == name), {})

            wait_until(lambda: plan("PLAN-1")["state"] == "COMMITTED", 60, why=lambda: f"{plan('PLAN-1')}")
            self.weftd.stop(remove=False)
            self.turn(FIRST, on=False)
            self.turn(SECOND, on=True)
            self.weftd.start()
            self.wait_watched(SECOND)
            refused = weftctl(self.weftd, "restore", link, "--reason", "a new cable", "--yes")
            self.assertEqual(4, refused.returncode, refused.stdout + refused.stderr)
            self.assertIn(f'FRESH_DATA: {FIRST} is not watched; {SECOND} is on the same subnet: if {FIRST} stays away, '
                          f'give its name to the other port in infiniband.ports: "{FIRST}=ibsim0:2"', refused.stderr)
            # Under its other name the subnet is known to have lost that way already.
            refused = weftctl(self.weftd, "isolate", another, "--reason", "a bad cable", "--yes")
            self.assertEqual(4, refused.returncode, refused.stdout + refused.stderr)
            self.assertIn(f"FRESH_DATA: PLAN-1 is of this subnet, under the name {FIRST}", refused.stderr)
            shown = weftctl(self.weftd, "links").stdout
            self.assertIn("taken out by PLAN-1", shown)
            self.assertNotIn("somebody else", shown)
            self.turn(FIRST, on=True)
            self.wait_watched(FIRST)
            self.assertIn(f"{SECOND} is on the same subnet as {FIRST}, whose links plans hold: kept as standby", self.weftd.log())
            shown = weftctl(self.weftd, "links").stdout
            self.assertIn("taken out by PLAN-1", shown)
            self.assertNotIn("somebody else", shown)
            done = weftctl(self.weftd, "restore", link, "--reason", "a new cable", "--yes")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            wait_until(lambda: plan("PLAN-2")["state"] == "COMMITTED", 90, why=lambda: f"{plan('PLAN-2')}")
            self.assertIn(FIRST, self.watched())

    def test_a_probation_that_nobody_looks_at_any_more_can_be_ended(self):
        with open(self.weftd.configuration, encoding="utf-8") as text:
            told = text.read()
        with open(self.weftd.configuration, "w", encoding="utf-8") as text:
            text.write(told.replace('probation = "5s"', 'probation = "10m"'))
        self.start()
        with PhysicalLayer(self.subnet):
            leaf = self.subnet.network.find("leaf-r0-p02")
            link = self.uplinks(leaf)[-1]
            isolated = []
            wait_until(lambda: isolated.append(weftctl(self.weftd, "isolate", link, "--reason", "a bad cable", "--wait", "--yes")) or
                       isolated[-1].returncode == 0, 60, why=lambda: isolated[-1].stderr)
            done = weftctl(self.weftd, "restore", link, "--reason", "a new cable", "--yes")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            wait_until(lambda: weftctl_json(self.weftd, "plan", "PLAN-2").get("windowsGood", 0) > 3, 90, why=lambda: weftctl(self.weftd, "plan", "PLAN-2").stdout)
            self.subnet.unlink(self.own[FIRST].name, 1)
            self.turn(FIRST, on=False)
            wait_until(lambda: self.watched().get(SECOND), LOOK, why=lambda: f"{self.watched()}\n{self.weftd.log()}")

            refused = weftctl(self.weftd, "abort", "PLAN-2", "--reason", "end it", "--yes")
            self.assertEqual(4, refused.returncode, refused.stdout)
            self.assertIn("to end it and leave the link in service: weftctl abort PLAN-2 --leave-in-service", refused.stderr)
            done = weftctl(self.weftd, "abort", "PLAN-2", "--leave-in-service", "--reason", "that port is gone", "--yes")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            plan = weftctl_json(self.weftd, "plan", "PLAN-2")
            self.assertEqual("COMMITTED", plan["state"])
            self.assertRegex(plan["outcome"], "^left as it is by .*: that port is gone; it was read to be enabled, and no sweep tells whether it is up; its probation was not over$")
            self.assertEqual([], weftctl_json(self.weftd, "plans").get("plans", []))

    def test_the_standby_is_watched_when_the_cable_is_lost(self):
        self.start()
        self.subnet.unlink(self.own[FIRST].name, 1)
        self.turn(FIRST, on=False)
        lost = wait_until(lambda: next(iter(self.weftd.incidents("TELEMETRY_LOST")), None), why="no TELEMETRY_LOST")
        self.assertEqual(FIRST, lost["cause"]["fabric"])
        wait_until(lambda: self.watched().get(SECOND), LOOK, why=lambda: f"{self.watched()}\n{self.weftd.log()}")
        second = next(fabric for fabric in self.weftd.client.json("/api/v1/fabrics")["fabrics"] if fabric["name"] == SECOND)
        self.assertEqual(len(self.subnet.network.hosts()) - 1, second["adapters"], "all but the one without a cable")
        said = f"Fabric {FIRST} cannot be monitored: the link that we ask through is down; {SECOND}, on the same subnet, is watched instead"
        wait_until(lambda: said in [incident["summary"] for incident in self.weftd.incidents("TELEMETRY_LOST")],
                   why=lambda: f"{self.weftd.incidents('TELEMETRY_LOST')}")
        # Each node is known by both names of the subnet now.
        leaf = self.subnet.network.find("leaf-r0-p02")
        seen = weftctl(self.weftd, "isolate", self.uplinks(leaf)[0], "--dry-run")
        self.assertIn("preview: nothing is done yet", seen.stdout, seen.stderr)
        self.subnet.relink(self.own[FIRST].name, 1)
        self.turn(FIRST, on=True)
        wait_until(lambda: len(self.watched()) == 1, LOOK, why=lambda: f"{self.watched()}\n{self.weftd.log()}")
        wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.weftd.incidents()}")
        self.assertEqual([True], list(self.watched().values()))

    def test_a_standby_that_moved_to_another_subnet_is_watched_there(self):
        self.start()
        second = self.own[SECOND]
        network = netfile.Network()
        switch = network.add(netfile.SWITCH, 0x0EC0DE0900000000, 8, "storage-switch")
        moved = network.add(netfile.ADAPTER, second.guid, 1, second.name, second.device)
        network.connect(moved, 1, switch, 1)
        for number in range(3):
            host = network.add(netfile.ADAPTER, 0x0EC0DE0A00000000 + number * 0x10, 1, f"storage-{number} mlx5_0")
            network.connect(host, 1, switch, 2 + number)
        storage = simulated_subnet.SimulatedSubnet(network, manager_host="storage-0 mlx5_0")
        self.addCleanup(storage.stop)
        storage.start()
        self.subnet.unlink(second.name, 1)
        self.write_sweeper(storage, moved.identity)
        self.wait_watched(FIRST, SECOND)
        nodes = {fabric["name"]: fabric["adapters"] for fabric in self.weftd.client.json("/api/v1/fabrics")["fabrics"]}
        self.assertEqual(4, nodes[SECOND])


if __name__ == "__main__":
    weft_testing.main()
