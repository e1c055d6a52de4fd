# SPDX-License-Identifier: Apache-2.0
"""Packages of npm for tests: installed once for each content of a package-lock.json, by dashboards/npm-packages."""

import os
import shutil
import subprocess
import unittest

from program_testing import BUILD, ROOT


def modules(folder: str) -> str:
    """The node_modules of the folder's package-lock.json; a skipped test where npm is not there or reaches no registry."""
    for name in ("node", "npm"):
        if not shutil.which(name):
            raise unittest.SkipTest(f"not installed: {name}")
    done = subprocess.run([os.path.join(ROOT, "dashboards", "npm-packages"), folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=dict(os.environ, WEFT_NPM=os.path.join(os.path.dirname(BUILD), "npm")), timeout=600)
    if done.returncode != 0:
        raise unittest.SkipTest(f"npm cannot install what {os.path.relpath(folder, ROOT)}/package-lock.json names: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


def run(*arguments: str, text: str | None = None, timeout: float = 120) -> subprocess.CompletedProcess:
    """node with these arguments."""
    return subprocess.run(["node", *arguments], input=text, capture_output=True, text=True, timeout=timeout, check=False)
