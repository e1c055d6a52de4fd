# SPDX-License-Identifier: Apache-2.0
"""Functions of the page that draw nothing, without a browser and without weftd: functions.ts, in Node."""

import os
import shutil
import subprocess
import tempfile
import unittest

from page_testing import weft_testing
from weft_testing import BUILD

HERE = os.path.dirname(os.path.abspath(__file__))
# Where the build fetches what the page is built with.
PACKAGES = os.path.join(BUILD, "dashboards", "web", "npm", "node_modules")


class Functions(unittest.TestCase):
    def test_functions(self):
        esbuild = os.path.join(PACKAGES, "esbuild", "bin", "esbuild")
        if not shutil.which("node") or not os.path.exists(esbuild):
            self.skipTest("node is not installed, or the page was not built")
        with tempfile.TemporaryDirectory() as place:
            bundle = os.path.join(place, "functions.mjs")
            environment = {**os.environ, "NODE_PATH": PACKAGES}
            for command in ([esbuild, os.path.join(HERE, "functions.ts"), "--bundle", "--platform=node", "--format=esm", "--jsx=automatic",
                             "--jsx-import-source=preact", "--log-level=warning", f"--outfile={bundle}"], ["node", "--test", bundle]):
                done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)


if __name__ == "__main__":
    weft_testing.main()
