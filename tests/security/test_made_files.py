# SPDX-License-Identifier: Apache-2.0
"""The scripts of deploy/certs: what weftd would refuse they do not write, and nobody gets another one's key."""

import grp
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import security_testing
from security_testing import CERTS, main


@unittest.skipIf(not shutil.which("openssl"), "not installed: openssl")
class MadeFiles(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-made-files-")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.tokens = os.path.join(self.place, "tokens")
        self.certificates = os.path.join(self.place, "certs")

    def made(self, script: str, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([os.path.join(CERTS, script), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)

    def lines(self) -> list[str]:
        with open(self.tokens, encoding="utf-8") as stream:
            return stream.read().splitlines()

    def weftd_accepts(self) -> subprocess.CompletedProcess:
        """weftd's own look at the file of tokens."""
        security_testing.require_programs("weftd")
        self.made("make-certificates", self.certificates)
        configuration = os.path.join(self.place, "weftd.toml")
        with open(configuration, "w", encoding="utf-8") as stream:
            stream.write(f'state_dir = "{self.place}"\n[infiniband]\nenabled = false\n[security]\ncertificate = "{self.certificates}/server.crt"\n'
                         f'key = "{self.certificates}/server.key"\ntokens_file = "{self.tokens}"\n')
        return subprocess.run([security_testing.program("weftd"), "--config", configuration, "--check-config"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_a_line_that_weftd_would_refuse_is_not_written(self):
        for arguments in (("dgx-01", "collector"), ("dgx-01", "viewer", "node=dgx-01"), ("rack 7", "viewer"), ("#ann", "viewer"), ("", "viewer"), ('a"b', "viewer"),
                          ("ann", "viewer", "expires=2027-02-31T00:00:00Z"), ("ann", "viewer", "expires=soon"), ("ann", "viewer", "until=1"), ("ann", "owner"),
                          ("dgx-01", "collector", "node=a", "node=b"), ("ann\nbob", "viewer"), ("x" * 256, "viewer"),
                          ("rack#4", "viewer"), ("dgx-01", "collector", "node=rack#4"), ("ann", "viewer", "expires=1969-12-31T00:00:00Z"),
                          ("ann", "viewer", "expires=2201-01-01T00:00:00Z")):
            with self.subTest(arguments):
                self.assertEqual(2, self.made("make-token", self.tokens, *arguments).returncode)
                self.assertFalse(os.path.exists(self.tokens))
        for arguments in (("ann@example", "viewer"), ("dgx-01", "collector", "node=dgx-01", "expires=2127-02-28T00:00:00Z"), ("bob", "viewer", "expires=2200-12-31T00:00:00Z")):
            self.assertEqual(0, self.made("make-token", self.tokens, *arguments).returncode)
        looked = self.weftd_accepts()
        self.assertEqual(0, looked.returncode, looked.stdout)
        self.assertEqual(1, self.made("make-token", self.tokens, "ann@example", "admin").returncode)

    def test_a_line_that_nobody_ended_and_a_link_stay_what_they_are(self):
        self.assertEqual(0, self.made("make-token", self.tokens, "ann", "viewer").returncode)
        with open(self.tokens, encoding="utf-8") as stream:
            text = stream.read()
        with open(self.tokens, "w", encoding="utf-8") as stream:
            stream.write(text.rstrip("\n"))
        link = os.path.join(self.place, "link")
        os.symlink("tokens", link)
        self.assertEqual(0, self.made("make-token", link, "bob", "viewer").returncode)
        self.assertEqual(["ann", "bob"], [line.split()[0] for line in self.lines()])
        self.assertTrue(os.path.islink(link))
        self.assertEqual(1, self.made("make-token", self.place, "bob", "viewer").returncode)

    def test_weftds_group_may_read_them(self):
        if os.geteuid() != 0:
            self.skipTest("another group takes root")
        self.made("make-token", self.tokens, "ann", "viewer", "--group", "daemon")
        self.made("make-token", self.tokens, "bob", "viewer")
        found = os.stat(self.tokens)
        self.assertEqual((0o640, grp.getgrnam("daemon").gr_gid, 2), (found.st_mode & 0o777, found.st_gid, len(self.lines())))

    def test_without_openssl_there_is_no_token(self):
        programs = os.path.join(self.place, "bin")
        os.mkdir(programs)
        for name in ("sh", "cat", "dirname", "flock", "awk", "mktemp", "tr", "sha256sum", "cut", "chmod", "chown", "mv", "rm", "grep", "date"):
            os.symlink(shutil.which(name), os.path.join(programs, name))
        done = subprocess.run([os.path.join(CERTS, "make-token"), self.tokens, "ann", "viewer"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, env={"PATH": programs})
        self.assertEqual((1, "", False), (done.returncode, done.stdout, os.path.exists(self.tokens)), done.stderr)

    def test_of_many_at_once_none_is_lost(self):
        started = [subprocess.Popen([os.path.join(CERTS, "make-token"), self.tokens, f"user-{number}", "viewer"], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL) for number in range(8)]
        self.assertEqual([0] * 8, [one.wait() for one in started])
        self.assertEqual(8, len(self.lines()))

    def test_a_collector_and_a_person_of_one_name(self):
        self.assertEqual(2, self.made("make-certificates", self.certificates, "--collector", "admin").returncode)
        self.assertFalse(os.path.exists(self.certificates))
        self.assertEqual(0, self.made("make-certificates", self.certificates, "--person", "gateway", "--collector", "dgx-01").returncode)
        refused = self.made("make-certificates", self.certificates, "--collector", "gateway")
        self.assertEqual(1, refused.returncode)
        self.assertIn("was not made for a collector", refused.stderr)
        self.assertEqual(0, self.made("make-certificates", self.certificates, "--collector", "dgx-01").returncode, "once more is nothing new")
        # weftd compares names without case.
        self.assertEqual(2, self.made("make-certificates", self.certificates, "--collector", "Admin").returncode)
        for option, name, why in (("--collector", "Gateway", "takes Gateway for the same name"), ("--person", "DGX-01", "takes DGX-01 for the same name"),
                                  ("--person", "dgx-01", "was made for a collector")):
            refused = self.made("make-certificates", self.certificates, option, name)
            self.assertEqual((1, True), (refused.returncode, why in refused.stderr), refused.stderr)

    def test_what_is_there_and_is_not_what_was_asked_for_is_told(self):
        self.made("make-certificates", self.certificates, "--server", "weft.example,192.0.2.1", "--days", "2")
        self.assertEqual(0, self.made("make-certificates", self.certificates, "--server", "192.0.2.1", "--days", "1").returncode)
        refused = self.made("make-certificates", self.certificates, "--server", "other.example", "--days", "1")
        self.assertEqual(1, refused.returncode)
        self.assertIn("server.crt is there, and not for other.example", refused.stderr)
        longer = self.made("make-certificates", self.certificates, "--collector", "dgx-01", "--days", "30")
        self.assertEqual(0, longer.returncode)
        self.assertTrue(re.search("ca.crt ends before 30 days", longer.stderr), longer.stderr)


if __name__ == "__main__":
    main()
