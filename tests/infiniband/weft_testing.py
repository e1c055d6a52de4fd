"""What the integration tests share: a subnet of their own, weftd on it, waiting that counts sweeps, and results for
tests/run. Each test file ends with `weft_testing.main()`."""

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

import fat_tree  # noqa: E402
import netfile  # noqa: E402
import simulated_subnet  # noqa: E402
from weft_client import Answer, WeftClient, ends_of, free_address, guid_text, is_open  # noqa: E402

BUILD = os.environ.get("WEFT_BUILD", os.path.join(ROOT, "build", "dev"))
FIXTURES = os.path.join(os.path.dirname(ROOT), "shared", "fixtures")
DGX = os.path.join(FIXTURES, "ibnetdiscover", "dgx-h100-ndr-40sw-582ca.ibnetdiscover")

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


def require_simulator(*extra: str) -> None:
    """Skips the test class where the simulator or the programs are not there."""
    if missing := simulated_subnet.missing_programs(*extra):
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
    for name in ("weftd", "weft-sweeper"):
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
        self.client = WeftClient(self.http)
        self.extra = extra
        self.interval = interval
        self.log_path = os.path.join(self.place, "weftd.log")
        self.configuration = os.path.join(self.place, "weftd.toml")
        text = CONFIGURATION.format(window=window, analyzer=analyzer)
        if infiniband:
            text = text.replace("[analyzer]", infiniband + "\n[analyzer]")
        with open(self.configuration, "w", encoding="utf-8") as stream:
            stream.write(text)
        self.process: subprocess.Popen | None = None

    def command(self) -> list[str]:
        return [program("weftd"), "--config", self.configuration, "--state-dir", self.state_dir, "--http", self.http,
                "--grpc", self.grpc, "--sweep-interval", self.interval, *self.extra]

    def start(self, wait: bool = True) -> "Weftd":
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), env=self.environment, cwd=self.place, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True,
                                            preexec_fn=simulated_subnet._die_with_parent)
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


class SubnetTest(unittest.TestCase):
    """A subnet and a weftd for all tests of the class. Set `network` (and what else differs) in the subclass."""

    analyzer = ""
    infiniband = ""
    routing = "updn"
    subnet: simulated_subnet.SimulatedSubnet
    weftd: Weftd

    @classmethod
    def make_network(cls) -> netfile.Network:
        return fat_tree.build(32, rails=2, radix=16)

    @classmethod
    def setUpClass(cls):
        require_simulator()
        cls.subnet = simulated_subnet.SimulatedSubnet(cls.make_network(), routing=cls.routing)
        cls.weftd = None
        try:
            cls.subnet.start()
            cls.watcher = cls.subnet.network.hosts()[-1]
            cls.weftd = Weftd(cls.subnet.environment(cls.watcher.identity), cls.analyzer, infiniband=cls.infiniband)
            cls.weftd.start()
            cls.weftd.wait_sweeps(1)
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        if cls.weftd:
            cls.weftd.stop()
        cls.subnet.stop()

    spoiled = False  # the test before left trouble behind: the next one gets a new subnet

    def setUp(self):
        if type(self).spoiled:
            type(self).spoiled = False
            type(self).tearDownClass()
            type(self).setUpClass()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        type(self).spoiled = type(self).spoiled or len(result.failures) + len(result.errors) > before
        return result

    def tearDown(self):
        self.assertIsNone(self.weftd.process.poll(), "weftd ended; it says:\n" + self.weftd.log())
        self.assertEqual([], self.subnet.ended(), "that is no fault of weftd's, or the worse one")

    # -- names of things

    @property
    def network(self) -> netfile.Network:
        return self.subnet.network

    def link(self, name: str, port: int) -> set[tuple[str, int]]:
        """Both ends as the API names them."""
        node = self.network.find(name)
        end = node.ports[port]
        return {(guid_text(node.guid), port), (guid_text(self.network.nodes[end.node].guid), end.port)}

    def is_link(self, incident: dict, ends) -> bool:
        return incident["cause"]["kind"] in ("LINK", "PORT") and ends_of(incident["cause"]) <= ends

    def is_node(self, incident: dict, name: str) -> bool:
        return incident["cause"].get("nodeGuid") == guid_text(self.network.find(name).guid)

    # -- waiting

    def expect(self, kind: str, names, sweeps: int = 2) -> dict:
        """The open incident of that kind for which names(incident) holds. It must be there when `sweeps` whole sweeps have
        followed this call."""
        epoch, first = self.weftd.sweep()

        def found():
            return next((i for i in self.weftd.incidents(kind) if names(i)), None)

        def found_or_late():
            now = self.weftd.sweep()  # read before the incidents: what it counts, they show
            incident = found()
            late = now[1] - first > sweeps + 1 if now[0] == epoch else now[1] > sweeps + 1
            return incident or ("late" if late else None)

        result = wait_until(found_or_late, why=lambda: f"no {kind}: {self.shown()}")
        if result == "late":
            raise AssertionError(f"no {kind} after {sweeps} sweeps; open are {self.shown()}")
        return result

    def expect_resolved(self, incident: dict, sweeps: int | None = None, within: float = PATIENCE) -> dict:
        def resolved():
            return next((i for i in self.weftd.incidents(open_only=False) if i["id"] == incident["id"] and not is_open(i)), None)

        result = wait_until(resolved, within, why=lambda: f"{incident['id']} {incident['kind']} stays open: {self.shown()}")
        return result

    def expect_quiet(self, sweeps: int = 3) -> None:
        """Nothing is open, now and for some sweeps."""
        wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.shown()}")
        self.weftd.wait_sweeps(sweeps)
        self.assertEqual([], self.shown())

    def shown(self) -> list[str]:
        return [f"{i['id']} {i['kind']} {i['cause'].get('label')}: {i.get('summary')}" for i in self.weftd.incidents()]


def run_weftd(arguments, environment: dict | None = None, timeout: float = 30) -> subprocess.CompletedProcess:
    """weftd run to its end, which is expected soon."""
    return subprocess.run([program("weftd"), *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, text=True, check=False)


def weftctl(weftd: Weftd, *arguments: str, locale: str = "C") -> subprocess.CompletedProcess:
    return subprocess.run([program("weftctl"), "--server", weftd.grpc, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, text=True, encoding="utf-8", check=False,
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
        if element:
            ElementTree.SubElement(case, element, message=message)

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
