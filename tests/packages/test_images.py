# SPDX-License-Identifier: Apache-2.0
"""The images that deploy/image makes of the packages, as a cluster runs them: as their own user, on a read-only root, without a capability.
weftd finds a fault on a simulated subnet; the collector reads a host; weft-node-conditions asks an API server.

What it leaves out: a registry, a kubelet, and devices: the simulated adapter needs none."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from certificates import make_certificate  # noqa: E402
from program_testing import Weftd, main, wait_until  # noqa: E402
import container  # noqa: E402
import fat_tree  # noqa: E402
import simulated_subnet  # noqa: E402
from package_repository import NEEDS, repository  # noqa: E402
from weft_client import free_address  # noqa: E402

CONFIGURATION = '[infiniband]\nsweep_interval = "500ms"\n'


class ContainedWeftd(Weftd):
    """The weftd of the image."""

    def __init__(self, image: str, place: str, environment: dict):
        super().__init__(environment)
        self.container = container.Container(image, place)
        with open(self.configuration, "w", encoding="utf-8") as stream:
            stream.write(CONFIGURATION)
        os.chmod(self.place, 0o755)  # it is another user's
        os.chown(self.state_dir, self.container.account(), self.container.account())
        self.container.mount(self.configuration, "/etc/weft/weftd.toml")
        self.container.mount(self.state_dir, "/var/lib/weft", writable=True)
        self.container.scratch("/run/weft")
        simulator = environment["LD_PRELOAD"]
        self.container.mount(simulator, simulator)
        libibmad = os.path.realpath("/usr/lib/x86_64-linux-gnu/libibmad.so.5")
        self.container.mount(libibmad, "/usr/lib/x86_64-linux-gnu/libibmad.so.5")

    def command(self) -> list[str]:
        simulated = {name: self.environment[name] for name in ("LD_PRELOAD", "IBSIM_SOCKNAME", "SIM_HOST")}
        return self.container.command("--http", self.http, "--grpc", self.grpc, environment=simulated)


@unittest.skipIf(os.geteuid() != 0, "mmdebstrap and runc need root")
@unittest.skipIf([name for name in (*NEEDS, *container.NEEDS) if not shutil.which(name)], f"one of {', '.join((*NEEDS, *container.NEEDS))} is not installed")
@unittest.skipIf(simulated_subnet.missing_programs(), "ibsim or opensm is not installed")
class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-images-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.repository = repository()
        cls.made = cls.make("images")

    @classmethod
    def make(cls, name: str, *images: str) -> str:
        """The folder with the images."""
        folder = os.path.join(cls.place, name)
        made = subprocess.run([os.path.join(ROOT, "deploy", "image"), "--repository", cls.repository, "--output", folder, *images],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if made.returncode:
            raise AssertionError(f"deploy/image gave {made.returncode}:\n{made.stdout[-3000:]}")
        return folder

    def image(self, name: str, folder: str = "") -> str:
        found, = glob.glob(os.path.join(folder or self.made, f"{name}-[0-9]*.oci.tar"))
        return found

    def inspect(self, name: str, *options: str) -> dict:
        """What skopeo reads in it."""
        return json.loads(subprocess.run(["skopeo", "inspect", *options, f"oci-archive:{self.image(name)}"], check=True, stdout=subprocess.PIPE,
                                         text=True).stdout)

    def test_what_they_say_of_themselves(self):
        with open(os.path.join(self.repository, "weft-build"), encoding="ascii") as stream:
            built = dict(line.rstrip("\n").split("=", 1) for line in stream)
        for name, program in (("weftd", "/usr/bin/weftd"), ("weft-collector", "/usr/bin/weft-collector"),
                              ("weft-node-conditions", "/usr/libexec/weft/weft-node-conditions")):
            labels = self.inspect(name)["Labels"]
            self.assertEqual(built["version"], labels["org.opencontainers.image.version"])
            self.assertEqual(built["commit"], labels["org.opencontainers.image.revision"])
            configuration = self.inspect(name, "--config", "--raw")["config"]
            self.assertRegex(configuration["User"], r"^[1-9][0-9]+:[1-9][0-9]+$")
            self.assertEqual([program], configuration["Entrypoint"])
            if name == "weft-node-conditions":
                self.assertNotIn("Healthcheck", configuration, "it listens at nothing")
            else:
                self.assertEqual("CMD", configuration["Healthcheck"]["Test"][0])
            with open(self.image(name).replace(".oci.tar", ".spdx.json"), encoding="utf-8") as stream:
                bill = json.load(stream)
            listed = {each["name"] for each in bill["packages"]}
            self.assertLessEqual({name, "libc6"}, listed)
            self.assertEqual({each["SPDXID"] for each in bill["packages"]}, {each["relatedSpdxElement"] for each in bill["relationships"]})
            self.assertNotIn("apt", listed, "nothing to install more with")

    def test_the_same_packages_give_the_same_image(self):
        self.assertEqual(*(open(self.image("weft-collector", folder), "rb").read() for folder in (self.made, self.make("again", "weft-collector"))))

    def test_weftd_finds_a_fault_on_a_read_only_root_without_capabilities(self):
        subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8))
        self.addCleanup(subnet.stop)
        subnet.start()
        weftd = ContainedWeftd(self.image("weftd"), self.place, subnet.environment(subnet.network.hosts()[-1].identity))
        self.addCleanup(weftd.stop)
        self.addCleanup(weftd.container.remove)
        weftd.start()
        with open(f"/proc/{weftd.container.process()}/status", encoding="ascii") as stream:
            status = stream.read()
        self.assertRegex(status, rf"\nUid:\t{weftd.container.account()}\t")
        for kind in ("Eff", "Prm", "Bnd", "Amb"):
            self.assertRegex(status, rf"\nCap{kind}:\t0+\n")
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertNotEqual(0, weftd.container.execute("touch", "/usr/bin/another").returncode)
        check = self.inspect("weftd", "--config", "--raw")["config"]["Healthcheck"]["Test"]
        healthy = [word.replace("9640", weftd.http.rsplit(":", 1)[1]) for word in check[1:]]
        self.assertEqual(0, weftd.container.execute(*healthy).returncode)
        over_http = [word.replace("weftd.sock", "none.sock") for word in healthy]
        self.assertEqual(0, weftd.container.execute(*over_http).returncode)
        self.assertNotEqual(0, weftd.container.execute(*(word.replace("/healthz", "/nothing") for word in over_http)).returncode)
        weftd.wait_sweeps(1)
        subnet.unlink("leaf-r0-p01", 2)
        incident = wait_until(weftd.incidents, why=lambda: f"no incident: {weftd.log()}")[0]
        self.assertIn(incident["kind"], ("LINK_DOWN", "NODE_DOWN"))
        self.assertIn(incident["id"], weftd.container.execute("weftctl", "--server", weftd.grpc, "incidents").stdout)
        self.assertEqual(0, weftd.stop(remove=False))

    def test_the_collector_reads_a_host(self):
        collector = container.Container(self.image("weft-collector"), self.place)
        self.addCleanup(collector.remove)
        collector.scratch("/var/lib/weft-collector")
        said = subprocess.run(collector.command("--once"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False)
        self.assertEqual(0, said.returncode, said.stderr)
        self.assertIn("node", json.loads(said.stdout), said.stdout[:300])

    def test_the_conditions_of_nodes_ask_the_api_server(self):
        conditions = container.Container(self.image("weft-node-conditions"), self.place)
        self.addCleanup(conditions.remove)
        authority, _ = make_certificate(self.place)
        token = os.path.join(self.place, "token")
        with open(token, "w", encoding="ascii") as stream:
            stream.write("a-token")
        os.chmod(self.place, 0o755)
        for path in (authority, token):
            os.chmod(path, 0o644)
            conditions.mount(path, path)
        started = subprocess.Popen(conditions.command("--api-server", f"https://{free_address()}", "--token-file", token, "--ca-file", authority),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(conditions.remove)
        self.assertIn("Kubernetes: ConnectionRefusedError", started.stdout.readline())


if __name__ == "__main__":
    main()
