# SPDX-License-Identifier: Apache-2.0
"""One weftd watches two subnets between which things are moved: a host with a bad cable is put into the other one; a cable joins the two by mistake,
and is pulled again. Nothing stays open of what is well, also after a restart."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import weft_testing
from child_process import start_child
from test_moved_cable import two_trees
from weft_testing import simulated_subnet, wait_until


class MovedNodes(unittest.TestCase):
    def setUp(self):
        weft_testing.require_simulator()
        self.network = two_trees()
        self.first, self.second = ([host for host in self.network.hosts() if host.name.startswith("b-") is is_second] for is_second in (False, True))
        leaves = [next(switch for switch in self.network.switches if switch.name.startswith(name)) for name in ("leaf", "b-leaf")]
        for leaf in leaves:
            leaf.port_count += 1  # for the cable between them
        self.between = [(leaf.identity, leaf.port_count) for leaf in leaves]
        self.subnet = simulated_subnet.SimulatedSubnet(self.network)
        self.addCleanup(self.subnet.stop)
        self.subnet.start()
        self.start_other_manager()
        self.weftd = weft_testing.Weftd(dict(os.environ))
        self.addCleanup(self.weftd.stop)
        sweeper = weft_testing.write_chooser(os.path.join(self.weftd.place, "sweeper"), "weft-sweeper", {
            "--fabric one": self.subnet.environment(self.first[-1].identity), "--fabric two": self.subnet.environment(self.second[-1].identity)}, "--port", "1")
        self.weftd.extra = ("--infiniband-ports", "one=ibsim0:1,two=ibsim0:2", "--infiniband-sweeper", sweeper, "--analyzer-telemetry-start-grace", "5s")
        self.weftd.start()
        wait_until(self.is_well, 90, why=self.tell)

    def start_other_manager(self) -> None:
        """OpenSM of the second subnet; that of the first one is the simulated subnet's."""
        folder = tempfile.mkdtemp(prefix="weft-opensm-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        environment = self.subnet.environment(self.second[0].identity)
        environment.update(OSM_CACHE_DIR=folder, OSM_TMP_DIR=folder)
        opensm = shutil.which("opensm", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
        with open(os.path.join(folder, "out"), "wb") as out:
            process = start_child([opensm, "-F", os.path.join(self.subnet.directory, "opensm.conf"), "-e", "-f", os.path.join(folder, "log"), "-s", "10", "-R", "updn"],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=folder, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGKILL)

    def tell(self) -> str:
        return "\n".join([*(each["summary"] for each in self.weftd.incidents()), str(self.bad_hosts()), self.weftd.log()])

    def bad_hosts(self) -> dict[str, str]:
        return {each["node"]: each["verdict"] for each in self.weftd.client.json("/api/v1/health")["nodes"] if each["verdict"] != "HEALTHY"}

    def is_well(self) -> bool:
        fabrics = self.weftd.client.json("/api/v1/fabrics")["fabrics"]
        return len(fabrics) == 2 and all(each.get("watching") for each in fabrics) and not self.weftd.incidents() and not self.bad_hosts()

    def expect_well(self) -> None:
        """Now, and after a restart, and it stays so."""
        wait_until(self.is_well, 90, why=self.tell)
        self.weftd.stop(remove=False)
        self.weftd.start()
        wait_until(self.is_well, 90, why=self.tell)
        time.sleep(15)
        self.assertTrue(self.is_well(), self.tell())

    def test_a_host_with_a_bad_cable_is_put_into_the_other_subnet(self):
        moved, left = self.first[2], self.second[4]
        place = left.ports[1]
        errors = 0

        def is_told() -> bool:
            nonlocal errors
            errors += 1000
            self.subnet.set_counter(moved.identity, 1, "PortCounters.SymbolErrorCounter", min(errors, 60000))
            return bool(self.weftd.incidents("LINK_ERRORS"))

        wait_until(is_told, 120, why=self.tell)
        self.subnet.unlink(left.identity, 1)
        self.subnet.unlink(moved.identity, 1)
        wait_until(lambda: len(self.weftd.incidents("LINK_DOWN")) == 2, 30, why=self.tell)
        self.subnet.command(f'Link "{moved.identity}"[1] "{place.node}"[{place.port}]')

        def is_settled() -> bool:
            """The one that lost its place to it has none, and nobody knows of it."""
            return not self.weftd.incidents() and set(self.bad_hosts()) <= {left.name.split()[0]}

        wait_until(is_settled, 90, why=self.tell)
        self.weftd.stop(remove=False)
        self.weftd.start()
        wait_until(is_settled, 90, why=self.tell)

    def test_a_cable_joins_them_by_mistake(self):
        (one, at_one), (two, at_two) = self.between
        self.subnet.command(f'Link "{one}"[{at_one}] "{two}"[{at_two}]')
        nodes = len(self.network.nodes)
        wait_until(lambda: len(self.weftd.client.json("/api/v1/topology?fabric=one")["nodes"]) == nodes, 60, why=self.tell)
        self.weftd.wait_sweeps(10)
        self.subnet.unlink(one, at_one)
        self.weftd.wait_sweeps(5)  # a weftd that is started before it saw that knows the two as one
        self.expect_well()


if __name__ == "__main__":
    weft_testing.main()
