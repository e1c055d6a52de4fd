# SPDX-License-Identifier: Apache-2.0
"""What the tests on a simulated subnet share: a subnet of their own, weftd on it, waiting that counts sweeps. Each test file ends with
`weft_testing.main()`."""

import contextlib
import os
import re
import signal
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from program_testing import (  # noqa: E402, F401
    BUILD, INTERVAL, PATIENCE, Weftd, main, program, require_programs, run_weftd, wait_until, weftctl, weftctl_json)
import fat_tree  # noqa: E402
import netfile  # noqa: E402
import simulated_subnet  # noqa: E402
from physical_layer import PhysicalLayer  # noqa: E402
from weft_client import Answer, WeftClient, ends_of, free_address, free_port, guid_text, is_open  # noqa: E402, F401

FIXTURES = os.path.join(os.path.dirname(ROOT), "shared", "fixtures")
DGX = os.path.join(FIXTURES, "ibnetdiscover", "dgx-h100-ndr-40sw-582ca.ibnetdiscover")


def require_simulator(*extra: str) -> None:
    """Skips the test class where the simulator or the programs are not there."""
    if missing := simulated_subnet.missing_programs(*extra):
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
    require_programs("weftd", "weft-sweeper")


def preview(weftd: Weftd, label: str) -> str:
    """What weftctl shows of isolating the link before it is done, with the result of each guard."""
    seen = weftctl(weftd, "isolate", label, "--dry-run")
    if "preview: nothing is done yet" not in seen.stdout:
        raise AssertionError(f"no preview of {label}: {seen.stdout}{seen.stderr}")
    return seen.stdout


def verdict(text: str, guard: str) -> str:
    """The line of that guard in a preview."""
    return next((line for line in text.splitlines() if guard in line.split()[:2]), "")


def write_chooser(path: str, name: str, environments: dict[str, dict], *more: str) -> str:
    """Writes a script that runs a program of ours with its arguments and `more`, on one of several simulated subnets: `environments` has
    what it sets by words that its arguments have in a row, such as "--fabric compute". Gives the path."""
    with open(path, "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\ncase \"$* \" in\n")
        for words, environment in environments.items():
            wanted = {key: value for key, value in environment.items() if os.environ.get(key) != value}
            exports = " ".join(f"{key}='{value}'" for key, value in wanted.items())
            script.write(f"  *\"{words} \"*) export {exports} ;;\n")
        script.write(f"esac\nexec {program(name)} \"$@\" {' '.join(more)}\n")
    os.chmod(path, 0o755)
    return path


class SeveralSubnets(unittest.TestCase):
    """One weftd on several subnets. The subclass starts them: `subnets` by fabric, and `weftd`."""

    weftd = None
    subnets: dict = {}

    @classmethod
    def tearDownClass(cls):
        if cls.weftd:
            cls.weftd.stop()
        for subnet in cls.subnets.values():
            subnet.stop()

    @classmethod
    def fabrics(cls) -> dict:
        return {fabric["name"]: fabric for fabric in cls.weftd.client.json("/api/v1/fabrics")["fabrics"]}

    @classmethod
    def wait_watched(cls) -> None:
        wait_until(lambda: all(fabric.get("watching") for fabric in cls.fabrics().values()) and set(cls.fabrics()) == set(cls.subnets),
                   why=lambda: f"not all are watched: {cls.fabrics()}\n{cls.weftd.log()}")


class SubnetTest(unittest.TestCase):
    """A subnet and a weftd for all tests of the class. Set `network` (and what else differs) in the subclass."""

    analyzer = ""
    infiniband = ""
    interval = INTERVAL
    routing = "updn"
    opensm_options: tuple[str, ...] = ()
    subnet: simulated_subnet.SimulatedSubnet
    weftd: Weftd

    @classmethod
    def make_network(cls) -> netfile.Network:
        return fat_tree.build(32, rails=2, radix=16)

    @classmethod
    def setUpClass(cls):
        require_simulator()
        cls.subnet = simulated_subnet.SimulatedSubnet(cls.make_network(), routing=cls.routing, opensm_options=cls.opensm_options)
        cls.weftd = None
        try:
            cls.subnet.start()
            cls.watcher = cls.subnet.network.hosts()[-1]
            cls.weftd = Weftd(cls.subnet.environment(cls.watcher.identity), cls.analyzer, infiniband=cls.infiniband, interval=cls.interval)
            cls.weftd.start()
            cls.weftd.wait_sweeps(1)
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        if cls.weftd:
            cls.weftd.stop()
        cls.subnet.stop()

    spoiled = False  # the test before left trouble behind: the next one gets a new subnet

    def setUp(self):
        if type(self).spoiled:
            type(self).spoiled = False
            type(self).tearDownClass()
            type(self).setUpClass()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        type(self).spoiled = type(self).spoiled or len(result.failures) + len(result.errors) > before
        return result

    def tearDown(self):
        self.assertIsNone(self.weftd.process.poll(), "weftd ended; it says:\n" + self.weftd.log())
        self.assertEqual([], self.subnet.ended(), "that is no fault of weftd's, or the worse one")

    # -- names of things

    @property
    def network(self) -> netfile.Network:
        return self.subnet.network

    def link(self, name: str, port: int) -> set[tuple[str, int]]:
        """Both ends as the API names them."""
        node = self.network.find(name)
        end = node.ports[port]
        return {(guid_text(node.guid), port), (guid_text(self.network.nodes[end.node].guid), end.port)}

    def is_link(self, incident: dict, ends) -> bool:
        return incident["cause"]["kind"] in ("LINK", "PORT") and ends_of(incident["cause"]) <= ends

    def is_node(self, incident: dict, name: str) -> bool:
        return incident["cause"].get("nodeGuid") == guid_text(self.network.find(name).guid)

    def wait_for_manager(self) -> None:
        """Until weftd hears OpenSM, which may have stood still or begun anew: before that it takes nothing out."""
        wait_until(lambda: not re.search(r"^weft_acting_registered\{.*\} 0", self.weftd.metrics(), re.M), 60, why="weftd does not hear OpenSM")

    @contextlib.contextmanager
    def opensm_stopped(self):
        """Routes stay as they are."""
        self.wait_for_manager()
        os.kill(self.subnet.opensm_pid(), signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.subnet.opensm_pid(), signal.SIGCONT)

    # -- waiting

    def expect(self, kind: str, names, sweeps: int = 2) -> dict:
        """The open incident of that kind for which names(incident) holds. It must be there when `sweeps` whole sweeps have
        followed this call."""
        epoch, first = self.weftd.sweep()

        def found():
            return next((i for i in self.weftd.incidents(kind) if names(i)), None)

        def found_or_late():
            now = self.weftd.sweep()  # read before the incidents: what it counts, they show
            incident = found()
            late = now[1] - first > sweeps + 1 if now[0] == epoch else now[1] > sweeps + 1
            return incident or ("late" if late else None)

        result = wait_until(found_or_late, why=lambda: f"no {kind}: {self.shown()}")
        if result == "late":
            raise AssertionError(f"no {kind} after {sweeps} sweeps; open are {self.shown()}")
        return result

    def expect_resolved(self, incident: dict, sweeps: int | None = None, within: float = PATIENCE) -> dict:
        def resolved():
            return next((i for i in self.weftd.incidents(open_only=False) if i["id"] == incident["id"] and not is_open(i)), None)

        result = wait_until(resolved, within, why=lambda: f"{incident['id']} {incident['kind']} stays open: {self.shown()}")
        return result

    def expect_quiet(self, sweeps: int = 3) -> None:
        """Nothing is open, now and for some sweeps."""
        wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.shown()}")
        self.weftd.wait_sweeps(sweeps)
        self.assertEqual([], self.shown())

    def shown(self) -> list[str]:
        return [f"{i['id']} {i['kind']} {i['cause'].get('label')}: {i.get('summary')}" for i in self.weftd.incidents()]


class LayeredSubnetTest(SubnetTest):
    """The same with a physical layer: a port that is disabled takes its link down at both ends."""

    layer = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.layer = PhysicalLayer(cls.subnet)
        cls.layer.__enter__()

    @classmethod
    def tearDownClass(cls):
        if cls.layer:
            cls.layer.__exit__(None, None, None)
            cls.layer = None
        super().tearDownClass()
