# SPDX-License-Identifier: Apache-2.0
"""The units of the packages under a real systemd: a minimal Debian in qemu, in which the guide's way to certificates from weftd is gone in its own words. Users,
credentials, hardening, the watchdog, the udev rule, weft.target; and a rollout to it.

What it leaves out: a fabric. The one adapter is soft-RoCE, which has a management device and no subnet."""

import glob
import os
import re
import shutil
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for each in ("support", "security"):
    sys.path.insert(0, os.path.join(ROOT, "tests", each))

from program_testing import BUILD, main  # noqa: E402
import debian_guest  # noqa: E402
import machine  # noqa: E402
from kernel_testing import wait_until  # noqa: E402
from minimal_debian import MinimalDebian  # noqa: E402
from package_repository import NEEDS, repository  # noqa: E402
from packages import Unavailable  # noqa: E402
from test_collector_ways import blocks  # noqa: E402

NODE = "dgx-01"
OURS = ("weftd", "weftctl", "weft-collector", "weft-common", "weft-doc")
EXPOSURE = 2.0
TOOLS = ("systemd-sysv", "udev", "iproute2", "openssl", "openssh-server", "openssh-client", "sudo", "python3")


@unittest.skipUnless(os.environ.get("WEFT_LONG"), "minutes of building and booting: tests/run --long")
@unittest.skipIf(os.geteuid() != 0, "a chroot needs root")
@unittest.skipIf([name for name in (*NEEDS, machine.QEMU) if not shutil.which(name)], f"one of {', '.join((*NEEDS, machine.QEMU))} is not installed")
class Units(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-systemd-")
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        made = repository()
        debian = MinimalDebian(place).make()
        for name in OURS:
            shutil.copy(glob.glob(os.path.join(made, f"{name}_*.deb"))[0], debian.path("/tmp"))
        debian.run("sh", "-c", f"apt-get install -y -q --no-install-recommends {' '.join(TOOLS)} /tmp/weft*.deb && apt-get clean && "
                   "mv /tmp/weft-collector_*.deb /root && rm /tmp/*.deb")
        try:
            cls.guest = machine.Machine(debian_guest.make_image(debian, BUILD, NODE), adapters=0)
        except Unavailable as error:
            raise unittest.SkipTest(str(error)) from error
        cls.addClassCleanup(cls.guest.stop)
        cls.guest.start()

    def active(self, unit: str) -> str:
        return self.guest.run(f"systemctl is-active {unit}").out.strip()

    def show(self, unit: str, what: str) -> str:
        return self.guest.get(f"systemctl show --value --property={what} {unit}").strip()

    def status(self, unit: str) -> str:
        return self.guest.run(f"systemctl status --no-pager --lines=20 {unit}").out

    def wait_active(self, unit: str) -> None:
        wait_until(lambda: self.active(unit) == "active", why=lambda: f"{unit}: {self.status(unit)}")

    def test_1_both_run_after_the_boot(self):
        for unit in ("weftd", "weft-collector"):
            self.wait_active(unit)
            self.assertEqual("0", self.show(unit, "NRestarts"), self.status(unit))
        self.assertEqual("", self.guest.get("systemctl --failed --plain --no-legend"))
        self.assertEqual("weft", self.guest.get(f"stat -c %U /proc/{self.show('weftd', 'MainPID')}").strip())
        self.assertIn(self.user_of_the_collector(), range(61184, 65520), "one of DynamicUser=")

    def user_of_the_collector(self) -> int:
        return int(self.guest.get(f"stat -c %u /proc/{self.show('weft-collector', 'MainPID')}"))

    def test_2_the_hardening(self):
        for unit in ("weftd", "weft-collector"):
            said = self.guest.get(f"systemd-analyze security --no-pager {unit}")
            score = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)[1])
            print(f"{unit}: exposure {score}", file=sys.stderr)
            self.assertLessEqual(score, EXPOSURE)
            self.assertRegex(self.guest.get(f"cat /proc/{self.show(unit, 'MainPID')}/status"), r"CapEff:\t0+\n(.*\n)*NoNewPrivs:\t1\nSeccomp:\t2\n")

    def test_3_the_management_devices_belong_to_weftd(self):
        self.guest.get("ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up && rdma link add rxe0 type rxe netdev veth0")
        wait_until(lambda: self.guest.run("stat -c '%G %a' /dev/infiniband/umad0").out.strip() == "weft 660",
                   why=lambda: self.guest.run("ls -l /dev/infiniband").out)

    def test_4_certificates_from_weftd_by_the_guides_words(self):
        make, weftd_toml, enroll, install, collector_toml = (text.replace("weft.example", "localhost") for text in blocks("Certificates from weftd"))
        self.guest.get(f"cd /usr/share/doc/weft && {make}")
        self.put("/etc/weft/weftd.toml", weftd_toml)
        self.guest.get("systemctl restart weftd", 240)
        self.guest.get(f"cd /root && {enroll}")
        self.guest.get(f"cd /root && set -e; {install}")
        self.put("/etc/weft/weft-collector.toml", collector_toml)
        self.guest.get("systemctl restart weft-collector")
        wait_until(lambda: re.search(rf"(?m)^{NODE}\b.*CONNECTED", self.guest.run("weftctl collectors").out),
                   why=lambda: self.guest.run("weftctl collectors").out + self.status("weft-collector") + self.status("weftd"))
        self.assertIn("enrolled", self.guest.get("journalctl --no-pager --unit=weft-collector"))
        self.assertEqual("root 600", self.guest.get("stat -c '%U %a' /etc/weft/collector/enroll.token").strip())
        self.assertEqual(self.user_of_the_collector(), int(self.guest.get("stat -c %u /var/lib/weft-collector/certificate/")))
        # The token is used, and gone: what was enrolled connects again without it.
        self.guest.get("rm /etc/weft/collector/enroll.token && systemctl restart weft-collector")
        wait_until(lambda: re.search(rf"(?m)^{NODE}\b.*CONNECTED", self.guest.run("weftctl collectors").out),
                   why=lambda: self.guest.run("weftctl collectors").out + self.status("weft-collector"))

    def test_5_keys_of_weftd_that_only_root_may_read(self):
        self.guest.get("install -d -m 700 /etc/weft/weftd && install -m 600 /etc/weft/certs/server.* /etc/weft/weftd && "
                       "chmod 600 /etc/weft/certs/server.key && chown root:root /etc/weft/certs/server.key && "
                       "sed -i -E 's,\"/etc/weft/certs/(server\\.[a-z]+)\",\"$CREDENTIALS_DIRECTORY/weftd_\\1\",' /etc/weft/weftd.toml")
        self.assertIn("weftd_server.key", self.guest.get("systemctl restart weftd && cat /etc/weft/weftd.toml", 240))
        wait_until(lambda: re.search(rf"(?m)^{NODE}\b.*CONNECTED", self.guest.run("weftctl collectors").out), why=lambda: self.status("weftd"))

    def test_6_what_ends_is_started_again_and_what_is_wrong_is_not(self):
        self.guest.get("mkdir -p /run/systemd/system/weftd.service.d && printf '[Service]\\nWatchdogSec=3s\\n' >/run/systemd/system/weftd.service.d/test.conf && "
                       "systemctl daemon-reload && systemctl restart weftd", 240)
        self.guest.get("kill -STOP $(systemctl show --value --property=MainPID weftd)")
        wait_until(lambda: self.show("weftd", "NRestarts") == "1" and self.active("weftd") == "active", why=lambda: self.status("weftd"))
        self.assertIn("Watchdog timeout", self.guest.get("journalctl --no-pager --unit=weftd"))
        self.guest.get("kill -KILL $(systemctl show --value --property=MainPID weft-collector)")
        wait_until(lambda: self.show("weft-collector", "NRestarts") == "1" and self.active("weft-collector") == "active", why=lambda: self.status("weft-collector"))
        self.put("/etc/weft/weft-collector.toml", "[analyzer]\naddres = 1\n")
        self.guest.run("systemctl restart weft-collector")
        wait_until(lambda: self.active("weft-collector") == "failed", why=lambda: self.status("weft-collector"))
        self.guest.get("sleep 3")
        self.assertEqual("failed", self.active("weft-collector"))
        self.assertIn("addres", self.guest.get("journalctl --no-pager --unit=weft-collector"))

    def test_7_a_rollout_mends_it(self):
        """deploy/rollout from the guest to itself, as a user who may use sudo, with what systemctl and journalctl really say."""
        self.guest.get("useradd --create-home deploy && echo 'deploy ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/deploy && ssh-keygen -q -t ed25519 -N '' -f /root/key && "
                       "install -d -o deploy -m 700 /home/deploy/.ssh && install -o deploy -m 600 /root/key.pub /home/deploy/.ssh/authorized_keys && "
                       "printf 'IdentityFile /root/key\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n' >/root/ssh_config && "
                       f"echo '{NODE} deploy@127.0.0.1' >/root/hosts && rm -rf /etc/weft/collector /var/lib/private/weft-collector")
        self.put("/root/good.toml", blocks("Certificates from weftd")[4].replace("weft.example", "localhost"))
        self.put("/root/bad.toml", "[analyzer]\naddress = \"localhost:1\"\n")
        command = ("cd /root && /usr/share/doc/weft/deploy/rollout --hosts hosts --package $(ls /root/weft-collector_*.deb) --ssh-config ssh_config --yes --settle 5 "
                   "--within {} --configuration {} {}")
        bad = self.guest.run(command.format(5, "bad.toml", ""), 600)
        self.assertEqual(1, bad.code, bad.out + bad.err)
        self.assertIn(f"{NODE} is not well: weftd has its collector as ", bad.out)
        self.assertRegex(bad.out, r"rollout:   .*localhost:1", "the last lines of its log")
        good = self.guest.run(command.format(200, "good.toml", "--enroll"), 600)
        self.assertEqual(0, good.code, good.out + good.err)
        self.assertIn("1 of 1 hosts have weft-collector", good.out)
        self.assertEqual(("enabled", "active"), (self.guest.get("systemctl is-enabled weft-collector").strip(), self.active("weft-collector")))

    def test_8_the_target_starts_and_stops_what_is_enabled(self):
        both = ("weftd", "weft-collector")
        self.assertEqual(("enabled", "active"), (self.guest.get("systemctl is-enabled weft.target").strip(), self.active("weft.target")), "since the boot")
        self.guest.get("systemctl stop weft.target", 240)
        self.assertEqual(["inactive"] * 2, [self.active(unit) for unit in both])
        self.guest.get("systemctl start weft.target", 240)
        for unit in both:
            self.wait_active(unit)
        before = [self.show(unit, "MainPID") for unit in both]
        self.guest.get("systemctl restart weft.target", 240)
        for unit, process in zip(both, before):
            self.wait_active(unit)
            self.assertNotEqual(process, self.show(unit, "MainPID"))
        self.guest.get("systemctl disable --now weft-collector && systemctl stop weft.target && systemctl start weft.target", 240)
        self.wait_active("weftd")
        self.assertEqual("inactive", self.active("weft-collector"), "nobody enabled it")
        self.guest.get("systemctl enable weft-collector && systemctl start weft.target", 240)
        self.wait_active("weft-collector")
        self.guest.get("apt-get remove -y -q weft-common", 240)
        for unit in both:
            self.assertEqual("active", self.active(unit), "the services do without the target")

    def put(self, path: str, text: str) -> None:
        self.guest.get(f"cat >{path} <<'END'\n{text}\nEND")


if __name__ == "__main__":
    main()
