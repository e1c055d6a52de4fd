# SPDX-License-Identifier: Apache-2.0
"""The package weft-client, built by pip from a copy of clients/python, the protos and VERSION as a source distribution holds them, without
the network; import it after install()."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def install(case) -> str:
    """The folder that it is installed in, on sys.path from then on; or a skipped test. It goes with the test class."""
    if missing := [name for name in ("protoc", "grpc_python_plugin") if not shutil.which(name)]:
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
    place = tempfile.mkdtemp(prefix="weft-python-")
    case.addClassCleanup(shutil.rmtree, place, True)
    package, site = os.path.join(place, "package"), os.path.join(place, "site")
    shutil.copytree(os.path.join(ROOT, "clients", "python"), package)
    shutil.copytree(os.path.join(ROOT, "api", "proto", "weft"), os.path.join(package, "proto", "weft"))
    shutil.copy(os.path.join(ROOT, "VERSION"), package)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile",
                           "--root-user-action", "ignore", "--target", site, package], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if "No module named pip" in done.stderr:
        raise unittest.SkipTest("not installed: python3-pip")
    if done.returncode != 0:
        raise AssertionError(f"pip: {done.stdout}{done.stderr}")
    sys.path.insert(0, site)
    return site
