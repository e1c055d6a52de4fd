# SPDX-License-Identifier: Apache-2.0
"""The Debian packages as an operator meets them: built by deploy/package, checked by lintian, installed with apt into a minimal Debian 12,
where weftd runs as its own user on a simulated subnet, finds a fault, is upgraded while an incident is open and a link is out of
service, and is purged.

What it leaves out: systemd and udev (test_systemd.py has them), and a version before this one: the older package is this one with a
lower number."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from program_testing import PATIENCE, Weftd, main, wait_until  # noqa: E402
import fat_tree  # noqa: E402
import simulated_subnet  # noqa: E402
from minimal_debian import MinimalDebian, with_version  # noqa: E402
from package_repository import NEEDS, repository  # noqa: E402
from physical_layer import PhysicalLayer  # noqa: E402

ALL = ("weftd", "weft-collector", "weft-common", "weftctl", "python3-weft", "weft-node-conditions", "weft-dashboards", "weft-doc")
OLDER = "0.0.1"
CHANGED = """\
# changed by the operator
[infiniband]
sweep_interval = "500ms"
[store]
history_interval = "1s"
[remedy]
isolate_link = "propose"
restore_link = "propose"
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.verification]
windows = 8
within = "40s"
"""


class InstalledWeftd(Weftd):
    """The weftd of the packages, run as their unit runs it: as the user weft, with its files where they are by default."""

    def __init__(self, debian: MinimalDebian, environment: dict):
        super().__init__(environment)
        self.debian = debian
        self.socket = debian.path("/run/weft/weftd.sock")

    def command(self) -> list[str]:
        simulated = {name: self.environment[name] for name in ("LD_PRELOAD", "IBSIM_SOCKNAME", "SIM_HOST")}
        return self.debian.command("/usr/bin/weftd", "--http", self.http, "--grpc", self.grpc, user="weft", environment=simulated,
                                   folder="/var/lib/weft")

    def weftctl(self, *arguments: str) -> str:
        return self.debian.run("weftctl", *arguments)


@unittest.skipIf(os.geteuid() != 0, "a chroot needs root")
@unittest.skipIf([name for name in NEEDS if not shutil.which(name)], f"one of {', '.join(NEEDS)} is not installed")
@unittest.skipIf(simulated_subnet.missing_programs(), "ibsim or opensm is not installed")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.repository = repository()
        cls.debian = MinimalDebian(cls.place).make()
        cls.before = cls.debian.files()
        cls.debian.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "libumad2sim0")  # the simulated adapter
        cls.subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8))
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start()
        cls.layer = PhysicalLayer(cls.subnet)
        cls.layer.__enter__()
        cls.addClassCleanup(cls.layer.__exit__, None, None, None)
        cls.weftd = InstalledWeftd(cls.debian, cls.subnet.environment(cls.subnet.network.hosts()[-1].identity))
        cls.addClassCleanup(cls.weftd.stop)

    def state(self, plan: str) -> str:
        found = [line.split() for line in self.weftd.weftctl("plans", "--all").splitlines() if line.startswith(plan + " ")]
        return " ".join(found[0]) if found else ""

    def test_1_all_packages_are_there(self):
        for name in ALL:
            self.assertEqual(1, len(glob.glob(os.path.join(self.repository, f"{name}_*.deb"))), name)

    def test_2_an_older_version_is_installed_and_starts_nothing(self):
        older = os.path.join(self.place, "older")
        os.makedirs(older)
        for name in ("weftd", "weftctl", "weft-collector"):
            package = glob.glob(os.path.join(self.repository, f"{name}_*.deb"))[0]
            shutil.copy(with_version(package, OLDER, older), self.debian.path("/tmp"))
        self.debian.run("sh", "-c", f"apt-get install -y -q --no-install-recommends /tmp/weft*_{OLDER}.deb")
        self.assertIn("uid=", self.debian.run("id", "weft"))
        self.assertIn("is valid", self.debian.run("weftd", "--check-config"))

    def test_3_it_finds_a_fault_as_the_user_weft(self):
        self.debian.write("/etc/weft/weftd.toml", CHANGED)
        for folder in ("/run/weft", "/var/lib/weft"):  # the unit's RuntimeDirectory= and StateDirectory=
            self.debian.run("install", "-d", "-o", "weft", "-g", "weft", "-m", "750", folder)
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        with open(f"/proc/{self.weftd.process.pid}/status", encoding="ascii") as stream:
            self.assertRegex(stream.read(), r"\nUid:\t(?!0\t)")
        self.subnet.unlink("leaf-r0-p01", 2)  # a host; the first one runs the subnet manager
        incident = wait_until(lambda: self.weftd.incidents(), why=lambda: f"no incident: {self.weftd.log()}")[0]
        self.assertIn(incident["kind"], ("LINK_DOWN", "NODE_DOWN"))
        type(self).incident = incident["id"]
        self.assertIn(incident["id"], self.weftd.weftctl("incidents"))

    def symbol_errors(self, port: str) -> str:
        """The line of the history of the last hour; empty: there is none."""
        said = self.debian.run("sh", "-c", f"weftctl history {port} --last 1h || true")
        return next((line for line in said.splitlines() if "symbol_errors" in line), "")

    def test_4_an_upgrade_with_an_incident_open_and_a_plan_under_way_loses_nothing(self):
        leaf = self.subnet.network.find("leaf-r0-p02")
        uplink, other = [number for number, end in sorted(leaf.ports.items()) if self.subnet.network.nodes[end.node].name.startswith("spine")][:2]
        counted = f"{leaf.name}:{other}"
        wait_until(lambda: "kept" in self.debian.run("sh", "-c", f"weftctl history {counted} --last 1h > /dev/null 2>&1 && echo kept || true"),
                   within=PATIENCE, why="no history")
        self.subnet.set_counter(leaf.name, other, "PortCounters.SymbolErrorCounter", 7)
        wait_until(lambda: self.symbol_errors(counted).endswith(" 7"), within=PATIENCE, why=lambda: f"not counted: {self.symbol_errors(counted)}")
        said = self.weftd.weftctl("isolate", f"{leaf.name}:{uplink}", "--reason", "a drill", "--yes")
        plan = next(word.strip(".,:") for word in said.split() if word.startswith("PLAN-"))
        wait_until(lambda: "VERIFYING" in self.state(plan), within=PATIENCE, why=lambda: f"{self.state(plan)}: {self.weftd.log()}")
        self.weftd.stop(remove=False)  # as the package's scripts do it through systemd
        self.debian.use_repository(self.repository)
        self.debian.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "weftd", "weftctl", "weft-collector")
        with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as stream:
            self.assertIn(stream.read().strip(), self.debian.run("dpkg-query", "-W", "-f", "${Version}", "weftd"))
        with open(self.debian.path("/etc/weft/weftd.toml"), encoding="utf-8") as stream:
            self.assertEqual(CHANGED, stream.read(), "an upgrade keeps a changed configuration")
        self.weftd.start()
        self.weftd.wait_sweeps(2)
        self.assertIn(self.incident, [each["id"] for each in self.weftd.incidents()])
        self.assertTrue(self.symbol_errors(counted).endswith(" 7"), "what was counted before the upgrade is in the history")
        wait_until(lambda: "COMMITTED" in self.state(plan), within=PATIENCE, why=lambda: f"{self.state(plan)}: {self.weftd.log()}")

    def test_5_all_packages_and_what_they_say_of_themselves(self):
        self.debian.run("apt-get", "install", "-y", "-q", "--no-install-recommends", *ALL)
        self.assertIn("weft.client.Client", self.debian.run("python3", "-c", "import weft; print(weft.Client)"))
        with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as stream:
            self.assertEqual(stream.read(), self.debian.run("weft-collector", "--version"))
        for file in ("/usr/share/doc/weft/deploy/guide/README.md", "/usr/share/weft/prometheus/weft.rules.yml", "/usr/share/weft/grafana/weft-fabric.json"):
            self.assertTrue(os.path.isfile(self.debian.path(file)), file)
        self.assertEqual({"weftd.service", "weft-collector.service"}, set(os.listdir(self.debian.path("/etc/systemd/system/weft.target.wants"))))
        self.assertTrue(os.path.islink(self.debian.path("/etc/systemd/system/multi-user.target.wants/weft.target")), "the boot starts it")
        for script in ("certs/make-certificates", "certs/make-token", "rollout", "slurm/weft-prolog"):
            self.assertTrue(os.access(self.debian.path(f"/usr/share/doc/weft/deploy/{script}"), os.X_OK), f"the guide runs {script} where it lies")

    def test_6_the_packages_own_test(self):
        """That of debian/tests, which autopkgtest runs."""
        self.debian.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "ibsim-utils", "opensm", "infiniband-diags", "procps")
        source = self.debian.path("/srv/source")
        subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", source], check=True, stdin=subprocess.DEVNULL)
        self.assertRegex(self.debian.run("/srv/source/debian/tests/finds-a-fault"), "(LINK|NODE)_DOWN")

    def test_7_what_is_removed_keeps_its_state_and_configuration(self):
        self.weftd.stop(remove=False)
        self.debian.run("apt-get", "remove", "-y", "-q", "weftd", "weft-collector")
        self.assertFalse(os.path.exists(self.debian.path("/usr/bin/weftd")))
        with open(self.debian.path("/etc/weft/weftd.toml"), encoding="utf-8") as stream:
            self.assertEqual(CHANGED, stream.read())
        self.debian.run("apt-get", "install", "-y", "-q", "--no-install-recommends", "weftd", "weft-collector")
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        self.assertIn(self.incident, [each["id"] for each in self.weftd.incidents()])

    def test_8_a_purge_leaves_nothing(self):
        self.weftd.stop(remove=False)
        self.debian.run("apt-get", "purge", "-y", "-q", "--auto-remove", *ALL, "libumad2sim0", "ibsim-utils", "opensm", "infiniband-diags", "procps")
        self.assertEqual(set(), {path for path in self.debian.files() - self.before if "weft" in path} - {"/etc/apt/sources.list.d/weft.list"})
        self.assertFalse(os.path.exists(self.debian.path("/run/weft")))


@unittest.skipUnless(os.environ.get("WEFT_LONG"), "Debian's own judge takes minutes: tests/run --long")
@unittest.skipIf(os.geteuid() != 0, "a chroot needs root")
@unittest.skipIf([name for name in (*NEEDS, "piuparts") if not shutil.which(name)], f"one of {', '.join((*NEEDS, 'piuparts'))} is not installed")
class Piuparts(unittest.TestCase):
    """Every package is installed into a minimal Debian and purged: nothing is left."""

    def test_installing_and_purging_leaves_nothing(self):
        place = tempfile.mkdtemp(prefix="weft-piuparts-")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        folder = repository()
        base = os.path.join(place, "base.tar.gz")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", base], check=True, stdin=subprocess.DEVNULL)
        packages = [found for name in ALL for found in glob.glob(os.path.join(folder, f"{name}_*.deb"))]
        done = subprocess.run(["piuparts", "--distribution=bookworm", f"--basetgz={base}", "--mirror=http://deb.debian.org/debian main", f"--tmpdir={place}",
                               "--no-upgrade-test", "--warn-on-others", f"--extra-repo=deb [trusted=yes] copy:{folder} ./", f"--bindmount={folder}", *packages],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800, check=False)
        self.assertEqual(0, done.returncode, done.stdout[-3000:])
        left = done.stdout.split("Package purging left files on system:")[1:]
        self.assertNotIn("weft", "".join(part.split("These files")[0] for part in left))


if __name__ == "__main__":
    main()
