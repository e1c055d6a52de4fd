# SPDX-License-Identifier: Apache-2.0
"""Chromium, led from Python: browser.js does what it is told line by line."""

import fcntl
import json
import os
import shutil
import subprocess
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def require_browser(build: str) -> str:
    """The folder with the driver's libraries, fetched beside the build where they are not. Skips where there is no browser."""
    missing = [name for name in ("chromium", "node", "npm") if not shutil.which(name)]
    if missing:
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
    work = os.path.join(build, "tests", "web")
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test file may be at it
        _fetch(work)
    return work


def _fetch(work: str) -> None:
    for name in ("package.json", "package-lock.json", "browser.js"):
        source, target = os.path.join(HERE, name), os.path.join(work, name)
        if name != "browser.js" and _same(source, target) and os.path.exists(os.path.join(work, "node_modules", "fetched")):
            continue
        shutil.copyfile(source, target)
        if name == "package-lock.json":
            done = subprocess.run(["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
            if done.returncode:
                raise AssertionError("npm cannot fetch the browser's driver: " + done.stdout[-800:])
            with open(os.path.join(work, "node_modules", "fetched"), "w", encoding="ascii"):
                pass


def _same(one: str, other: str) -> bool:
    if not os.path.exists(other):
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()


class BrowserError(AssertionError):
    """The browser did not do what it was told: nothing of that name appeared, most likely."""


class Browser:
    def __init__(self, build: str):
        work = require_browser(build)
        self._process = subprocess.Popen(["node", "browser.js", shutil.which("chromium")], cwd=work, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, start_new_session=True)

    def do(self, verb: str, **given):
        self._process.stdin.write(json.dumps({"do": verb, **given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise BrowserError(f"the browser ended with {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserError(f"{verb} {given}: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
