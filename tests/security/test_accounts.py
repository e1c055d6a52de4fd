# SPDX-License-Identifier: Apache-2.0
"""Accounts of the host: who may act over the Unix socket of a real weftd, and what its audit trail says of them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from program_testing import main, program, wait_until  # noqa: E402
from security_testing import GuardedWeftd  # noqa: E402

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534")
NOBODY_ALONE = (*NOBODY, "--clear-groups")


@unittest.skipUnless(os.geteuid() == 0, "takes root, to be others")
@unittest.skipUnless(shutil.which("setpriv"), "not installed: setpriv")
class Accounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-accounts-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        os.chmod(cls.place, 0o755)
        # Where the programs are may be closed to others.
        cls.weftctl = shutil.copy(program("weftctl"), cls.place)
        cls.weftd = cls.started("[security]\noperator_group = \"operator\"")

    @classmethod
    def started(cls, configuration: str) -> GuardedWeftd:
        weftd = GuardedWeftd(cls.place, configuration.replace("[security]\n", ""))
        cls.addClassCleanup(weftd.stop)
        os.chmod(weftd.place, 0o755)
        return weftd

    def run_as(self, account: tuple[str, ...], server: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if name not in ("SUDO_USER", "WEFT_SERVER")}
        return subprocess.run([*account, self.weftctl, "--server", server, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False, env={**environment, **variables})

    def socket(self, weftd: GuardedWeftd | None = None) -> str:
        return f"unix:{(weftd or self.weftd).socket}"

    def trail(self, weftd: GuardedWeftd | None = None) -> list[str]:
        return [record["who"] for record in json.loads(self.run_as((), self.socket(weftd), "--json", "audit").stdout).get("records", [])]

    def test_nobody_reads_and_does_not_act(self):
        before = self.trail()
        for server in (self.socket(), self.weftd.grpc):
            self.assertEqual(0, self.run_as(NOBODY_ALONE, server, "plans").returncode)
            done = self.run_as(NOBODY_ALONE, server, "hands-off", "on", "--reason", "x", "--who", "cto")
            self.assertEqual(4, done.returncode, done.stdout + done.stderr)
            self.assertIn("only reading is allowed", done.stderr)
            self.assertIn("usermod -aG GROUP USER", done.stderr, "it says how one gets the right")
            self.assertEqual(0, self.run_as(NOBODY_ALONE, server, "hands-off").returncode, "it is not stopped")
        self.assertEqual(before, self.trail())
        self.weftd.wait_log("refused /weft.v1.RemedyService/SetHandsOff", "permission_denied")

    def test_root_over_tcp_is_nobody_known(self):
        self.assertEqual(4, self.run_as((), self.weftd.grpc, "hands-off", "on", "--reason", "x").returncode)

    def test_the_trail_names_the_account_and_the_claim_beside_it(self):
        for arguments, variables in ((("--who", "cto"), {}), ((), {}), ((), {"SUDO_USER": "ann"})):
            done = self.run_as((), self.socket(), "hands-off", "on", "--reason", "drill", *arguments, **variables)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(0, self.run_as((), self.socket(), "hands-off", "off", "--reason", "over").returncode)
        self.assertEqual(["root (uid 0), for cto", "root (uid 0)", "root (uid 0)", "root (uid 0)", "root (uid 0), for ann", "root (uid 0)"],
                         self.trail()[-6:])

    def test_names_of_weftd_and_control_characters_get_nowhere(self):
        before = self.trail()
        for more, words in ((("--reason", "x", "--who", "weftd"), "is a name of Weft's own parts"),
                            (("--reason", "x", "--who", "the file"), "is a name of Weft's own parts"),
                            (("--reason", "x", "--who", "ann\nweftd"), "control character"),
                            (("--reason", "a\x1b]0;owned\x07"), "control character"),
                            (("--reason", "a\n2026-01-01 weftd approved PLAN-7"), "control character")):
            done = self.run_as((), self.socket(), "hands-off", "on", *more)
            self.assertNotEqual(0, done.returncode, f"{more}: {done.stdout}")
            self.assertIn(words, done.stderr)
        self.assertEqual(before, self.trail())
        self.assertEqual(0, self.run_as((), self.socket(), "hands-off").returncode, "it is not stopped")
        self.assertNotIn("\x1b", self.weftd.log())

    def test_members_of_the_group_are_operators(self):
        group = next(line.split(":")[2] for line in open("/etc/group", encoding="ascii") if line.startswith("operator:"))
        member = (*NOBODY, f"--groups={group}")
        for word in ("on", "off"):
            done = self.run_as(member, self.socket(), "hands-off", word, "--reason", "drill")
            self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(["nobody (uid 65534)"] * 2, self.trail()[-2:])
        done = self.run_as(member, self.socket(), "breaker", "reset", "--reason", "drill")
        self.assertIn("it needs an admin", done.stderr)

    def test_weftd_need_not_be_root(self):
        place = tempfile.mkdtemp(prefix="other-", dir=self.place)
        os.chown(place, 65534, 65534)
        os.chmod(place, 0o755)
        socket = os.path.join(place, "weftd.sock")
        log_path = os.path.join(place, "log")
        with open(log_path, "wb") as log:
            process = subprocess.Popen([*NOBODY_ALONE, shutil.copy(program("weftd"), self.place), "--infiniband-enabled", "false", "--state-dir",
                                        os.path.join(place, "state"), "--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--listen-socket",
                                        socket], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=place)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_until(lambda: os.path.exists(socket), why=lambda: open(log_path, encoding="utf-8").read())
        for account, word in ((NOBODY_ALONE, "on"), ((), "off")):
            done = self.run_as(account, f"unix:{socket}", "hands-off", word, "--reason", "drill")
            self.assertEqual(0, done.returncode, done.stderr)
        done = self.run_as(("setpriv", "--reuid=1", "--regid=1", "--clear-groups"), f"unix:{socket}", "hands-off", "on", "--reason", "x")
        self.assertEqual(4, done.returncode, done.stdout)
        done = self.run_as((), f"unix:{socket}", "--json", "audit")
        self.assertEqual(["nobody (uid 65534)", "root (uid 0)"], [record["who"] for record in json.loads(done.stdout)["records"]])


if __name__ == "__main__":
    main()
