# SPDX-License-Identifier: Apache-2.0
"""What the tests of programs share: where the programs are, weftd in a folder of its own, waiting, and results for tests/run. Each
test file ends with `main()`."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "deploy", "demonstration"))

from child_process import start_child  # noqa: E402
from weft_client import Answer, WeftClient, free_address, is_open  # noqa: E402

BUILD = os.environ.get("WEFT_BUILD", os.path.join(ROOT, "build", "dev"))

# Bounds for a machine that does much else at the same time. What is asserted is counted in sweeps.
PATIENCE = 60
INTERVAL = "500ms"

CONFIGURATION = """\
[infiniband]
detail_interval = "1s"
window = {window}

[analyzer]
{analyzer}
"""


def program(name: str) -> str:
    return os.path.join(BUILD, "bin", name)


def require_programs(*names: str) -> None:
    """Skips the test, or the class, where one of our programs is not built."""
    for name in names:
        if not os.access(program(name), os.X_OK):
            raise unittest.SkipTest(f"{name} is not built in {BUILD}")


def wait_until(what, within: float = PATIENCE, every: float = 0.05, why: str = "it did not happen"):
    """The first truthy `what()`. Raises AssertionError with `why` (or why()) after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        try:
            if result := what():
                return result
        except (Answer, OSError):
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"{why() if callable(why) else why} (waited {within:.0f} s)")
        time.sleep(every)


class Weftd:
    """One weftd with a state directory and ports of its own. `environment` is that of a simulated subnet's client."""

    def __init__(self, environment: dict, analyzer: str = "", state_dir: str | None = None, window: int = 128,
                 infiniband: str = "", extra: tuple[str, ...] = (), interval: str = INTERVAL):
        self.environment = environment
        self.place = tempfile.mkdtemp(prefix="weft-test-")
        self.state_dir = state_dir or os.path.join(self.place, "state")
        os.makedirs(self.state_dir, exist_ok=True)
        self.http = free_address()
        self.grpc = free_address()
        self.socket = os.path.join(self.place, "weftd.sock")
        self.client = WeftClient(self.http)
        self.extra = extra
        self.interval = interval
        self.log_path = os.path.join(self.place, "weftd.log")
        self.configuration = os.path.join(self.place, "weftd.toml")
        text = CONFIGURATION.format(window=window, analyzer=analyzer)
        if infiniband:
            text = text.replace("[analyzer]", infiniband + "\n[analyzer]")
        if "detail_interval" in infiniband:
            text = text.replace('detail_interval = "1s"\n', "", 1)
        with open(self.configuration, "w", encoding="utf-8") as stream:
            stream.write(text)
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        return [program("weftd"), "--config", self.configuration, "--state-dir", self.state_dir, "--http", self.http,
                "--grpc", self.grpc, "--listen-socket", self.socket, "--sweep-interval", self.interval, *self.extra]

    def start(self, wait: bool = True) -> "Weftd":
        with open(self.log_path, "ab") as log:
            self.process = start_child(self.command(), env=self.environment, cwd=self.place, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)
        if wait:
            wait_until(self._ready_or_dead, PATIENCE, why=lambda: f"weftd is not ready; it says:\n{self.log()}")
        return self

    def _ready_or_dead(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"weftd ended with {self.process.returncode}:\n{self.log()}")
        return self.client.ready()

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-40:])

    def kill(self) -> None:
        """As a power cut would end it."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self, remove: bool = True) -> int | None:
        """Its exit code when it was asked to end."""
        code = None
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        if remove:
            shutil.rmtree(self.place, ignore_errors=True)
        return code

    # -- what it says

    def fabric(self) -> dict:
        return self.client.json("/api/v1/status")["fabrics"][0]

    def sweep(self) -> tuple[int, int]:
        """(epoch, number) of the last sweep published."""
        fabric = self.fabric()
        return int(fabric.get("epoch", 0)), int(fabric.get("lastSweep", {}).get("number", 0))

    def wait_sweeps(self, count: int) -> None:
        """Until so many whole sweeps have begun and ended from now on; the one under way does not count."""
        epoch, number = self.sweep()

        def done():
            now_epoch, now = self.sweep()
            return now >= (number + count + 1 if now_epoch == epoch else count + 1)

        wait_until(done, PATIENCE + count, why=lambda: f"sweeps do not go on after {number}: {self.fabric()}")

    def incidents(self, kind: str | None = None, open_only: bool = True) -> list[dict]:
        return [incident for incident in self.client.incidents()
                if (kind is None or incident["kind"] == kind) and (is_open(incident) or not open_only)]

    def ports(self, node: str) -> dict[int, dict]:
        found = self.client.json(f"/api/v1/ports?node={node.replace(' ', '%20')}")
        return {int(port.get("port", 0)): port for port in found.get("ports", [])}

    def counters(self, node: str, port: int) -> dict[str, int]:
        return {counter["name"]: int(counter.get("value", 0)) for counter in self.ports(node)[port].get("counters", [])
                if "instance" not in counter}

    def metrics(self) -> str:
        return self.client.text("/metrics")


def run_weftd(arguments, environment: dict | None = None, timeout: float = 30) -> subprocess.CompletedProcess:
    """weftd run to its end, which is expected soon."""
    return subprocess.run([program("weftd"), *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, text=True, check=False)


def weftctl(weftd: Weftd, *arguments: str, locale: str = "C", within: float = 60) -> subprocess.CompletedProcess:
    return subprocess.run([program("weftctl"), "--server", f"unix:{weftd.socket}", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=within, text=True, encoding="utf-8", check=False,
                          env=dict(os.environ, LC_ALL=locale))


def weftctl_json(weftd: Weftd, *arguments: str):
    done = weftctl(weftd, "--json", *arguments)
    if done.returncode not in (0, 1):
        raise AssertionError(f"weftctl {' '.join(arguments)} gave {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


# -- results for tests/run


class _Results(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.written = ElementTree.Element("testsuite")

    def _write(self, test, element: str | None = None, message: str = ""):
        match = re.match(r"(\S+) \((.*)\)", str(test))
        name, place = (match[1], match[2]) if match else (str(test), "")
        case = ElementTree.SubElement(self.written, "testcase", name=name, classname=place.rsplit(".", 1)[-1] if name == "setUpClass" else
                                      type(test).__name__)
        if element:  # XML has no place for the control characters of a terminal
            ElementTree.SubElement(case, element, message=re.sub(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "?", message))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._write(test)

    def _tell(self, err):
        self.stream.writeln("    " + str(err[1])[:1500])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._tell(err)
        self._write(test, "failure", str(err[1])[:2000])

    def addError(self, test, err):
        super().addError(test, err)
        self._tell(err)
        self._write(test, "error", str(err[1])[:2000])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._write(test, "skipped", reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._write(test, "failure", f"{subtest}: {err[1]}"[:2000])


def main() -> None:
    """Runs the tests of the file that was started; writes their results where tests/run looks for them."""
    def interrupted(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupted)
    runner = unittest.TextTestRunner(resultclass=_Results, verbosity=2)
    ended = unittest.main(module="__main__", testRunner=runner, exit=False)
    folder = os.environ.get("WEFT_TEST_RESULTS")
    name = os.environ.get("WEFT_TEST_NAME")
    if folder and name:
        ElementTree.ElementTree(ended.result.written).write(os.path.join(folder, f"{name}.xml"))
    sys.exit(0 if ended.result.wasSuccessful() else 1)
