# SPDX-License-Identifier: Apache-2.0
"""Acceptance on ibsim, OpenSM and weftd: a clean fabric passes, what is not measured is never a pass, and each planted fault is named with its port.
Error correction alone is not planted here: agents of ibsim have no PortExtendedSpeedsCounters. tests/collector/test_acceptance.py does what it can of it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import weft_testing
from weft_testing import fat_tree, netfile, program, wait_until, weftctl

sys.path.append(os.path.join(weft_testing.ROOT, "tests", "collector"))

import sysfs_tree  # noqa: E402
import telemetry_client  # noqa: E402
from collector_testing import Collector  # noqa: E402

# 4X HDR: 3e12 bits, which show 1e-12 with no error, take 15 s; 1e-11 takes less than two.
LIMIT, BEYOND_REACH = "1e-11", "1e-17"
PCIE = {"current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16", "max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16"}
NARROW, SLOW = ("leaf-r0-p04", 5), ("leaf-r0-p04", 7)
TOLD_OF = [f"gpu-{number:04d}" for number in range(5, 10)]  # by collectors
MEASURED = "gpu-0010"  # its module, by a collector that is played: no tree has the memory of one
MODULE_TEMPERATURE = telemetry_client.series("mlx5_0", 1, "module_temperature", gauge=True)


class Acceptance(weft_testing.SubnetTest):
    @classmethod
    def make_network(cls):
        return fat_tree.build(16, rails=1, radix=8)

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        cls.place = tempfile.mkdtemp(prefix="weft-acceptance-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.plan = os.path.join(cls.place, "plan.ibnetdiscover")
        cls.write_plan(cls.make_network())
        cls.infiniband = f'expected_topology = "{cls.plan}"\n[drift]\nrollout = "0s"\nleast_hosts = 4\n[incidents]\nlink_down_hold = "1s"\n'
        super().setUpClass()
        cls.collectors = []
        cls.devices = {name: cls.make_tree(number, name) for number, name in enumerate(TOLD_OF)}
        for name in TOLD_OF:
            one = Collector(os.path.join(cls.place, name), cls.weftd.grpc, "500ms", ("--reading-rescan-interval", "1s"), name)
            cls.addClassCleanup(one.remove)
            cls.collectors.append(one.start(wait=False))
        adapter = cls.subnet.network.find(f"{MEASURED} mlx5_0")
        cls.measured = telemetry_client.StandIn(cls.weftd.grpc, MEASURED, [telemetry_client.port("mlx5_0", guid=adapter.port_guid(1), flags=1)],
                                                {MODULE_TEMPERATURE: 45_000})
        cls.measured.start()
        cls.addClassCleanup(lambda: cls.measured.end())
        wait_until(lambda: (cls.weftd.client.json("/api/v1/drift").get("summaries") or [{}])[0].get("hosts") == len(TOLD_OF), 60, why=cls.weftd.log)

    @classmethod
    def write_plan(cls, network: netfile.Network) -> None:
        with open(cls.plan + ".new", "w", encoding="utf-8") as stream:
            network.write(stream)
        os.replace(cls.plan + ".new", cls.plan)

    @classmethod
    def make_tree(cls, number: int, name: str) -> str:
        tree = os.path.join(cls.place, name)
        node = cls.subnet.network.find(f"{name} mlx5_0")
        os.makedirs(os.path.join(tree, "class", "net"))
        device = sysfs_tree.add_adapter(tree, 0, node.guid, node.port_guid(1))
        for file, text in PCIE.items():
            sysfs_tree.write(os.path.join(sysfs_tree.function_of(tree, 0), file), text)
        sysfs_tree.write(os.path.join(device, "ports", "1", "lid"), hex(number + 20))
        return device

    # -- asking

    def accept(self, *arguments: str, expect: int) -> str:
        done = weftctl(self.weftd, "accept", *arguments, within=90)
        self.assertEqual(expect, done.returncode, f"{done.stdout}{done.stderr}{self.weftd.log()}")
        return done.stdout

    def start(self, *arguments: str) -> str:
        """Its id."""
        return json.loads(weftctl(self.weftd, "--json", "accept", *arguments).stdout)["id"]

    def get(self, run: str) -> dict:
        return self.weftd.client.json(f"/api/v1/acceptances/{run}")

    def is_judged(self, run: str, verdict: str) -> bool:
        return self.get(run).get("verdict") == verdict

    def over(self, run: str, within: float = 60) -> dict:
        wait_until(lambda: self.get(run).get("ended"), within, why=lambda: f"{json.dumps(self.get(run))[:3000]}\n{self.weftd.log()}")
        return self.get(run)

    @staticmethod
    def verdicts(run: dict) -> dict[str, str]:
        return {check["kind"]: check["verdict"] for check in run["report"]["checks"]}

    @staticmethod
    def failed(run: dict) -> dict[str, dict[str, str]]:
        """Check → port → what is said of it."""
        found: dict[str, dict[str, str]] = {}
        for check in run["report"]["checks"]:
            for port in check.get("ports", []):
                if port["verdict"] == "FAIL":
                    found.setdefault(check["kind"], {})[port["port"]] = port["told"]
        return found

    def far(self, name: str, port: int) -> str:
        """The other end, as labels have it."""
        end = self.network.find(name).ports[port]
        return f"{self.network.nodes[end.node].name} port {end.port}"

    # -- the tests, in this order

    def test_a_clean_fabric_passes_and_what_is_not_measured_does_not(self):
        self.expect_quiet(sweeps=1)
        file = os.path.join(self.place, "clean.json")
        told = self.accept("--for", "8s", "--ber-limit", LIMIT, "--wait", "-o", "json", file, expect=0)
        self.assertIn(" NOT_YET: ", told, "while it was watched")
        self.assertIn(f"ACC-1 PASS: the report is in {file}", told)
        with open(file, encoding="utf-8") as stream:
            run = json.load(stream)
        self.assertEqual("PASS", run["verdict"])
        verdicts = self.verdicts(run)
        for kind in ("PRESENCE", "CABLING", "LINK_RATE", "BIT_ERRORS", "ERRORS", "INCIDENTS"):
            self.assertEqual("PASS", verdicts[kind], json.dumps(run)[:3000])
        self.assertEqual({}, self.failed(run))
        self.assertEqual({"PASS"}, {host["verdict"] for host in run["report"]["hosts"]})
        self.assertEqual(len(self.network.adapters), len(run["report"]["hosts"]))

        # By what was read so far, without a run.
        self.accept("--now", "--hosts", ",".join(TOLD_OF), "--ber-limit", LIMIT, expect=0)
        report = self.accept("--now", "--links", "leaf-r0-p01:5", "--ber-limit", BEYOND_REACH, expect=5)
        self.assertIn("bit error rate: NOT_YET", report)
        self.assertRegex(report, "can be judged from 2")

        # A measurement that its time does not finish.
        told = self.accept("--hosts", "gpu-0001", "--for", "2s", "--ber-limit", BEYOND_REACH, "--wait", expect=5)
        self.assertIn("ACC-2  NOT_YET  host gpu-0001", told)
        self.assertIn("leaf-r0-p01 port 1: 0 errors in ", told)

        # One that is ended by hand.
        run = self.start("--switches", "spine-01", "--for", "2h", "--who", "ann")
        wait_until(lambda: self.is_judged(run, "NOT_YET"), why=self.weftd.log)
        self.accept("show", run, expect=5)
        self.accept("end", run, expect=5)
        self.assertIn("has already ended", weftctl(self.weftd, "accept", "end", run).stderr)
        self.assertIn("for ann", self.get(run)["who"])
        listed = self.accept("list", expect=0)
        for one in ("ACC-1", "ACC-2", "ACC-3"):
            self.assertIn(one, listed)

        # Whoever may only read may judge, and start nothing.
        for arguments, code in ((("--now", "--ber-limit", LIMIT), 0), (("--for", "2h"), 4), (("end", "ACC-1"), 4)):
            done = subprocess.run([program("weftctl"), "--server", self.weftd.grpc, "accept", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual(code, done.returncode, f"{arguments}: {done.stdout}{done.stderr}")
        self.accept("--for", "2h", "--switches", "leaf-9", expect=1)
        self.accept("show", "ACC-99", expect=1)
        self.accept(expect=2)

    def test_b_weftd_is_restarted_in_the_middle(self):
        run = self.start("--for", "30s", "--ber-limit", LIMIT)
        wait_until(lambda: self.is_judged(run, "NOT_YET"), why=self.weftd.log)
        before = self.get(run)
        self.weftd.kill()
        self.weftd.start()
        wait_until(lambda: self.get(run).get("watchedSince", "") > before["started"] and self.is_judged(run, "NOT_YET"), why=lambda: f"{self.get(run)}{self.weftd.log()}")
        after = self.get(run)
        self.assertEqual(before["started"], after["started"])
        self.assertGreater(after["until"], before["until"], "its whole length once more")
        self.assertIn("weftd was restarted: its readings began anew", self.accept("show", run, expect=5))
        self.accept("end", run, expect=5)
        self.assertEqual("PASS", self.get("ACC-1")["verdict"], "its report is still there")
        self.assertEqual(16, len(self.get("ACC-1")["report"]["hosts"]))

    def test_c_each_planted_fault_is_named(self):
        # weftd was away meanwhile.
        self.measured.end()
        type(self).measured = telemetry_client.StandIn(self.weftd.grpc, MEASURED, self.measured.ports, self.measured.values)
        self.measured.start()

        # A narrow link and a slow one, and all of the subnet's power goes off and on.
        self.subnet.kill_opensm()
        self.subnet.kill_ibsim()
        self.network.set_width(self.network.find(NARROW[0]).identity, NARROW[1], 1)
        self.set_speed(*SLOW, "EDR")
        self.subnet.start()
        wait_until(lambda: self.weftd.ports(NARROW[0]).get(NARROW[1], {}).get("width") == "1X", 60, why=self.weftd.log)
        wait_until(lambda: all(port.get("state") == "ACTIVE" for port in self.weftd.ports("spine-01").values() if port.get("port")), 60, why=self.weftd.log)
        self.weftd.wait_sweeps(2)
        good = self.start("--hosts", "gpu-0005,gpu-0009", "--for", "6s", "--ber-limit", LIMIT)
        run = self.start("--for", "10s", "--ber-limit", LIMIT)
        absent = self.start("--hosts", "gpu-0077", "--for", "2s")
        wait_until(lambda: all(self.get(one).get("report", {}).get("watchedSince") for one in (run, good)), why=self.weftd.log)

        crossed = fat_tree.build(16, rails=1, radix=8)
        leaf = crossed.find("leaf-r0-p03")
        a, b = leaf.ports[5], leaf.ports[6]
        crossed.connect(leaf, 5, crossed.nodes[b.node], b.port)
        crossed.connect(leaf, 6, crossed.nodes[a.node], a.port)
        self.write_plan(crossed)
        self.subnet.unlink("leaf-r0-p01", 5)
        words = 8 * 200_000_000_000 // 32
        self.subnet.set_counters([
            ("gpu-0001 mlx5_0", 1, "PortCounters.SymbolErrorCounter", 60_000),
            ("leaf-r0-p01", 2, "PortCounters.LinkDownedCounter", 1),
            ("gpu-0003 mlx5_0", 1, "PortCounters.PortRcvErrors", 3),
            *(("leaf-r0-p02", port, "PortCountersExtended.PortXmitData", int(words * share)) for port, share in ((5, 0.4), (6, 0.1), (7, 0.1), (8, 0.1))),
        ])
        sysfs_tree.write(os.path.join(self.devices["gpu-0006"], "fw_ver"), "28.39.0999")
        sysfs_tree.write(os.path.join(sysfs_tree.function_of(os.path.join(self.place, "gpu-0007"), 0), "current_link_width"), "8")

        self.measured.values[MODULE_TEMPERATURE] = 76_000

        told = self.over(run)
        failed = self.failed(told)
        self.assertEqual("FAIL", told["verdict"])

        def expect(kind: str, ports: set[str], words: str):
            with self.subTest(kind=kind, ports=ports):
                found = failed.get(kind, {})
                named = ports & found.keys()
                self.assertTrue(named, f"{kind} names {found}")
                for port in named:
                    self.assertIn(words, found[port])

        down = {"leaf-r0-p01 port 5", self.far("leaf-r0-p01", 5)}
        expect("PRESENCE", down, "")
        expect("CABLING", {"leaf-r0-p03 port 5", "leaf-r0-p03 port 6", self.far("leaf-r0-p03", 5), self.far("leaf-r0-p03", 6)}, "the plan has")
        expect("LINK_RATE", {f"{NARROW[0]} port {NARROW[1]}"}, "runs at 1X HDR of 4X HDR, held back")
        expect("LINK_RATE", {f"{SLOW[0]} port {SLOW[1]}"}, "runs at 4X EDR of 4X HDR, held back")
        expect("BIT_ERRORS", {"gpu-0001 mlx5_0 port 1"}, "60,000 errors in ")
        expect("ERRORS", {"leaf-r0-p01 port 2"}, "1 link_downed in ")
        expect("ERRORS", {"gpu-0003 mlx5_0 port 1"}, "3 receive_errors in ")
        expect("CONFIGURATION", {"gpu-0006 mlx5_0 port 1"}, "28.39.0999")
        expect("PCIE", {"gpu-0007 mlx5_0"}, "runs at 8 lanes")
        expect("BALANCE", {"leaf-r0-p02 port 5"}, "of its rate")
        expect("TEMPERATURE", {f"{MEASURED} mlx5_0 port 1"}, "its module has 76 degrees Celsius")
        hosts = {host["name"]: host["verdict"] for host in told["report"]["hosts"]}
        for host in ("gpu-0001", "gpu-0003", "gpu-0006", "gpu-0007", MEASURED):
            self.assertEqual("FAIL", hosts[host], host)
        for check in told["report"]["checks"]:
            self.assertTrue(check["limit"] and check["source"], check)
        shown = self.accept("show", run, expect=1)
        self.assertIn("gpu-0001 mlx5_0 port 1: 60,000 errors", shown)

        # What is an incident by now: on a busy machine it may be none yet when a run of ten seconds is over.
        wait_until(lambda: any(one["kind"] == "LINK_DOWN" and one["severity"] != "INFO" and "leaf-r0-p01 port 5" in one["headline"] for one in self.weftd.client.incidents("open")), 60, why=self.weftd.log)
        now = self.accept("--now", "--links", "leaf-r0-p01:5", "--ber-limit", LIMIT, expect=1)
        self.assertRegex(now, r"INC-\d+ LINK_DOWN is open")

        # A host that is not there fails, and those without a fault pass beside all that.
        self.assertEqual({"gpu-0077"}, set(self.failed(self.over(absent))["PRESENCE"]))
        told = self.over(good)
        self.assertEqual(("PASS", {}), (told["verdict"], self.failed(told)))

    def set_speed(self, name: str, port: int, speed: str) -> None:
        node = self.network.find(name)
        end = node.ports[port]
        self.network.connect(node, port, self.network.nodes[end.node], end.port, speed=speed)


if __name__ == "__main__":
    weft_testing.main()
