# SPDX-License-Identifier: Apache-2.0
"""deploy/rollout on hosts with a real sshd, a root of their own and the real package: in waves, with certificates of both kinds. It stops where a
wave is unhealthy, leaves alone what is done, and goes back.

What it leaves out: systemd, which a script plays (tests/kernel has it), and more hosts than four."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for folder in ("support", "security"):
    sys.path.insert(0, os.path.join(ROOT, "tests", folder))

from program_testing import main, program, wait_until  # noqa: E402
from security_testing import CERTS, GuardedWeftd, run  # noqa: E402
from separate_network import can_separate, enter_own_network, ip  # noqa: E402
import ssh_hosts  # noqa: E402
from minimal_debian import with_version  # noqa: E402
import package_repository  # noqa: E402

NAMES = ["dgx-01", "dgx-02", "dgx-03", "dgx-04"]
WEFTD = "10.98.0.1"
PORT = 9641
CERTIFICATES = """\
[analyzer]
address = "10.98.0.1:9641"
reconnect_limit = "500ms"
authorities = "$CREDENTIALS_DIRECTORY/collector_site-ca.crt"
certificate = "$CREDENTIALS_DIRECTORY/collector_node.crt"
key = "$CREDENTIALS_DIRECTORY/collector_node.key"
"""
ENROLL = """\
[analyzer]
address = "10.98.0.1:9641"
reconnect_limit = "500ms"
enroll_token_file = "$CREDENTIALS_DIRECTORY/collector_enroll.token"
"""


@unittest.skipUnless(can_separate(), "network namespaces need root")
@unittest.skipIf([name for name in (*package_repository.NEEDS, *ssh_hosts.NEEDS) if not shutil.which(name)],
                 f"one of {', '.join((*package_repository.NEEDS, *ssh_hosts.NEEDS))} is not installed")
class Rollout(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-rollout-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.package, = glob.glob(os.path.join(package_repository.repository(), "weft-collector_*.deb"))
        with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as stream:
            cls.older = stream.read().strip() + "~before"  # the program in it calls itself as it did
        ip("address", "add", f"{WEFTD}/32", "dev", "lo")
        cls.certificates = os.path.join(cls.place, "certs")
        run(os.path.join(CERTS, "make-certificates"), cls.certificates, "--server", WEFTD)
        paths = {name: os.path.join(cls.certificates, name) for name in ("server.crt", "server.key", "ca.crt", "ca.key")}
        cls.weftd = GuardedWeftd(cls.place, f"""\
certificate = "{paths['server.crt']}"
key = "{paths['server.key']}"
client_authorities = "{paths['ca.crt']}"
certificate_roles = ["dgx-*=collector"]
[security.enroll]
certificate = "{paths['ca.crt']}"
key = "{paths['ca.key']}"
""", grpc_address=f"{WEFTD}:{PORT}")
        cls.addClassCleanup(cls.weftd.stop)
        cls.hosts = ssh_hosts.SshHosts(cls.place, NAMES, WEFTD)
        cls.addClassCleanup(cls.hosts.stop)
        cls.hosts.start()
        for name in NAMES:
            wait_until(lambda name=name: cls.hosts.answers(name), why=lambda name=name: f"no sshd on {name}:\n{cls.read(cls.hosts.log(name))}")
        cls.write("hosts", "# the rack\n" + "\n".join(NAMES) + "\n")
        cls.write("certificates.toml", CERTIFICATES)
        cls.write("enroll.toml", ENROLL)

    @staticmethod
    def read(path: str) -> str:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()

    @classmethod
    def write(cls, name: str, text: str) -> str:
        path = os.path.join(cls.place, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def rollout(self, *arguments: str, hosts: str = "hosts", package: str = "", configuration: str = "certificates.toml") -> subprocess.CompletedProcess:
        where = dict(os.environ, PATH=os.path.dirname(program("weftctl")) + ":" + os.environ["PATH"], WEFT_SERVER=f"unix:{self.weftd.socket}")
        return subprocess.run([os.path.join(ROOT, "deploy", "rollout"), "--hosts", os.path.join(self.place, hosts), "--package", package or self.package,
                               "--configuration", os.path.join(self.place, configuration), "--ssh-config", self.hosts.configuration, "--waves", "1,2",
                               "--settle", "1", *arguments],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=where, check=False, timeout=300)

    def version(self, name: str) -> str:
        return self.hosts.run(name, "dpkg-query -W -f '${Version}' weft-collector 2>/dev/null || true")

    def test_1_a_dry_run_and_what_is_wrong_change_nothing(self):
        dry = self.rollout("--certificates", self.certificates, "--dry-run")
        self.assertEqual(0, dry.returncode, dry.stdout)
        for line in ("wave 1: dgx-01\n", "wave 2: dgx-02, dgx-03\n", "wave 3: dgx-04\n", "dgx-04 lacks the package, the configuration, a certificate\n"):
            self.assertIn(line, dry.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.certificates, "dgx-01.crt")))
        unasked = self.rollout("--certificates", self.certificates)
        self.assertEqual(1, unasked.returncode)
        self.assertIn("nothing was changed: --yes", unasked.stdout)
        self.write("wrong", "dgx-01\ndgx-09 dgx-02\n")
        another = self.rollout("--yes", "--enroll", hosts="wrong", configuration="enroll.toml")
        self.assertEqual(1, another.returncode)
        self.assertIn("dgx-09: calls itself dgx-02", another.stdout)
        self.assertIn("nothing was changed", another.stdout)
        self.write("twice", "dgx-01\ndgx-01\n")
        self.assertIn("twice:2: dgx-01 is there twice", self.rollout(hosts="twice").stdout)
        others = os.path.join(self.place, "others")
        run(os.path.join(CERTS, "make-certificates"), others, "--person", "dgx-01")
        foreign = self.rollout("--yes", "--certificates", others)
        self.assertEqual(1, foreign.returncode)
        self.assertIn("dgx-01.crt was not made for a collector", foreign.stdout)
        self.assertEqual([""] * 4, [self.version(name) for name in NAMES])

    def test_2_a_wrong_configuration_stops_the_first_wave(self):
        self.write("wrong.toml", "[analyzer]\naddres = 1\n")
        wrong = self.rollout("--yes", configuration="wrong.toml")
        self.assertEqual(1, wrong.returncode, wrong.stdout)
        self.assertIn("dgx-01 is not well", wrong.stdout)
        self.assertIn("addres", wrong.stdout)
        self.assertIn("not touched: dgx-02, dgx-03, dgx-04", wrong.stdout)
        self.assertNotIn("addres ", self.hosts.run("dgx-01", "cat /etc/weft/weft-collector.toml"))

    def test_3_it_stops_where_a_wave_is_unhealthy_and_goes_on_later(self):
        self.hosts.way_out("dgx-03", False)
        stopped = self.rollout("--yes", "--certificates", self.certificates, "--within", "4")
        self.assertEqual(1, stopped.returncode, stopped.stdout)
        self.assertIn("wave 1 is well", stopped.stdout)
        self.assertIn("dgx-03 is not well: weftd has not heard of its collector", stopped.stdout)
        self.assertIn("stopped in wave 2: 1 of 2 hosts are not well; not touched: dgx-04", stopped.stdout)
        self.assertEqual("", self.version("dgx-04"))
        self.hosts.way_out("dgx-03", True)
        began = self.hosts.run("dgx-01", "cat /run/played/pid")
        done = self.rollout("--yes", "--certificates", self.certificates)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertIn("4 of 4 hosts have weft-collector", done.stdout)
        self.assertEqual(began, self.hosts.run("dgx-01", "cat /run/played/pid"), "who is well is left alone")
        self.assertEqual("600 0", self.hosts.run("dgx-04", "stat -c '%a %u' /etc/weft/collector/node.key").strip())
        again = self.rollout("--yes", "--certificates", self.certificates)
        self.assertEqual(0, again.returncode, again.stdout)
        self.assertIn("4 hosts have weft-collector", again.stdout)
        self.assertNotIn("wave", again.stdout)

    def test_4_certificates_from_weftd(self):
        self.write("two", "dgx-01\ndgx-02\n")
        done = self.rollout("--yes", "--enroll", "--waves", "2", hosts="two", configuration="enroll.toml")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertIn("2 of 2 hosts have weft-collector", done.stdout)
        # A host whose disk is a copy of another one's has that one's certificate.
        copied = self.hosts.run("dgx-01", "tar -C /var/lib/weft-collector -c certificate | base64 -w 0")
        self.hosts.run("dgx-02", f"echo {copied} | base64 -d | tar -C /var/lib/weft-collector -x && systemctl restart weft-collector")
        wait_until(lambda: "dgx-02 lacks a connection" in self.rollout("--enroll", "--dry-run", hosts="two", configuration="enroll.toml").stdout)
        mended = self.rollout("--yes", "--enroll", hosts="two", configuration="enroll.toml")
        self.assertEqual(0, mended.returncode, mended.stdout)
        self.assertIn("1 hosts have weft-collector", mended.stdout)

    def test_5_the_way_back(self):
        older = with_version(self.package, self.older, self.place)
        self.write("back", "dgx-03\n")
        done = self.rollout("--yes", "--certificates", self.certificates, hosts="back", package=older)
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(self.older, self.version("dgx-03"))


if __name__ == "__main__":
    enter_own_network()
    main()
