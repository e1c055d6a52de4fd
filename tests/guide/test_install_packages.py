#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""install-packages and quickstart on a host that is not Debian: they say so."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


class NotDebian(unittest.TestCase):
    def run_without_packages(self, *command):
        with tempfile.TemporaryDirectory(prefix="weft-tools-") as tools:
            for name in ("bash", "awk", "sed", "sort", "tr", "grep", "id", "dirname", "date"):
                os.symlink(shutil.which(name), os.path.join(tools, name))
            return subprocess.run([str(DEPLOY / command[0]), *command[1:]], env={"PATH": tools}, stdin=subprocess.DEVNULL, text=True,
                                  check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def assert_says_so(self, done):
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("no dpkg-query here; Weft is built on Debian 12", done.stdout)

    def test_install_packages(self):
        self.assert_says_so(self.run_without_packages("install-packages", "build"))

    def test_list_needs_no_debian(self):
        done = self.run_without_packages("install-packages", "--list", "build")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("cmake", done.stdout)

    def test_quickstart(self):
        self.assert_says_so(self.run_without_packages("quickstart", "--demonstration"))


if __name__ == "__main__":
    unittest.main()
