# SPDX-License-Identifier: Apache-2.0
"""What the tests of weft-collector share: the program on a small sysfs tree, and an analyzer that remembers everything."""

import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import sysfs_tree  # noqa: E402
from program_testing import BUILD, free_address, main, program, require_programs, wait_until  # noqa: E402, F401
from weft_client import WeftClient  # noqa: E402

try:
    import grpc
except ImportError:
    grpc = None

PROTOS = os.path.join(ROOT, "api", "proto")


def telemetry_messages(case) -> object:
    """The module generated from telemetry.proto, or a skipped test."""
    if grpc is None:
        raise unittest.SkipTest("python3-grpcio is not installed")
    if not shutil.which("protoc"):
        raise unittest.SkipTest("not installed: protoc")
    place = tempfile.mkdtemp(prefix="weft-protos-")
    case.addClassCleanup(shutil.rmtree, place, True)
    done = subprocess.run(["protoc", f"-I{PROTOS}", f"--python_out={place}", "weft/v1/telemetry.proto"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest(f"protoc: {done.stderr.strip()}")
    sys.path.insert(0, place)
    from weft.v1 import telemetry_pb2
    return telemetry_pb2


class Collector:
    """One weft-collector with a state directory and a port of its own."""

    def __init__(self, sysfs: str, analyzer: str = "", interval: str = "10ms", extra: tuple[str, ...] = (),
                 node_name: str = "node-1"):
        self.place = tempfile.mkdtemp(prefix="weft-collector-")
        self.state_dir = os.path.join(self.place, "state")
        self.http = free_address()
        self.log_path = os.path.join(self.place, "log")
        self.command = [program("weft-collector"), "--state-dir", self.state_dir, "--http", self.http, "--sysfs-root", sysfs,
                        "--interval", interval, "--node-name", node_name, "--analyzer-reconnect-limit", "500ms", *extra]
        if analyzer:
            self.command += ["--analyzer", analyzer]
        self.environment: dict | None = None  # our own
        self.process: subprocess.Popen | None = None

    def start(self, wait: bool = True) -> "Collector":
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        if wait:
            wait_until(self._answers, why=lambda: f"weft-collector does not answer; it says:\n{self.log()}")
        return self

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"weft-collector ended with {self.process.returncode}:\n{self.log()}")
        return self.text("/healthz") == "ok\n"

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-40:])

    def text(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.http}{path}", timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name: str) -> float:
        """The value of the one series whose name and labels begin so."""
        found = re.search(rf"^{re.escape(name)}\S* (\S+)$", self.text("/metrics"), re.MULTILINE)
        if not found:
            raise AssertionError(f"no {name} on /metrics")
        return float(found[1])

    def wait_readings(self, count: int) -> None:
        wait_until(lambda: self.metric("weft_agent_readings_total") >= count, why=lambda: f"no {count} readings:\n{self.log()}")

    def uplink(self) -> int:
        """The process id of its weft-uplink."""
        def child():
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as stream:
                pids = stream.read().split()
            return int(pids[0]) if pids else 0
        return wait_until(child, why=lambda: f"no weft-uplink:\n{self.log()}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int | None:
        code = None
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                code = self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return code

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)


class Analyzer:
    """A TelemetryService that takes batches as weftd does: in order, each once, and remembers them over its own deaths."""

    def __init__(self, messages, address: str, partner: "Analyzer | None" = None):
        """With a `partner` both write into the same ledger."""
        self.messages = messages
        self.address = address
        self.taken: list = partner.taken if partner else []  # batches, in the order in which they were taken
        self.hellos: list = partner.hellos if partner else []
        self.troubles: list[str] = partner.troubles if partner else []
        self.standby = ""  # with a message: takes nothing, and ends every stream with it
        self.streams = 0  # that it was asked for
        self.refuse: set[int] = set()  # sequence numbers that are called wrong
        self.forgets = False  # until it dies: batches are received and neither taken nor acknowledged
        self.forgotten = 0
        self.clock_replies: list = []
        self._lock = partner._lock if partner else threading.Lock()
        self._server = None

    def start(self) -> "Analyzer":
        options = [("grpc.so_reuseport", 0), ("grpc.http2.min_ping_interval_without_data_ms", 10_000)]  # as weftd
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8), options=options)
        handler = grpc.stream_stream_rpc_method_handler(self._stream, request_deserializer=self.messages.CollectorMessage.FromString,
                                                        response_serializer=lambda message: message.SerializeToString())
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("weft.v1.TelemetryService", {"Stream": handler}),))
        if not self._server.add_insecure_port(self.address):
            raise AssertionError(f"{self.address} is taken")
        self._server.start()
        return self

    def die(self) -> None:
        """Every stream breaks at once."""
        self._server.stop(None).wait()
        self._server = None
        self.forgets = False
        self.forgotten = 0

    def sequences(self) -> list[int]:
        with self._lock:
            return [batch.sequence for batch in self.taken]

    def last(self) -> int:
        with self._lock:
            return self.taken[-1].sequence if self.taken else 0

    def _stream(self, requests, context):
        answer = self.messages.AnalyzerMessage
        hello = next(requests).hello
        self.streams += 1
        if self.standby:
            context.abort(grpc.StatusCode.UNAVAILABLE, self.standby)
        with self._lock:
            if self.hellos and hello.spool != self.hellos[0].spool:
                self.troubles.append(f"the spool changed from {self.hellos[0].spool} to {hello.spool}")
            self.hellos.append(hello)
        yield answer(welcome=self.messages.Welcome(sequence=self.last()))
        yield answer(clock_probe=self.messages.ClockProbe(id=len(self.hellos)))
        first = True
        for request in requests:
            kind = request.WhichOneof("message")
            if kind == "clock_reply":
                self.clock_replies.append(request.clock_reply)
                continue
            batch = request.batch
            if self.standby:
                context.abort(grpc.StatusCode.UNAVAILABLE, self.standby)
            with self._lock:
                if first and not batch.body[1] & 1:
                    self.troubles.append(f"the first batch of a stream, {batch.sequence}, refers to another")
                first = False
                if batch.sequence in self.refuse:
                    context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"batch {batch.sequence} is wrong")
                if self.forgets:
                    self.forgotten += 1
                    continue
                if self.taken and batch.sequence <= self.taken[-1].sequence:
                    self.troubles.append(f"batch {batch.sequence} came after {self.taken[-1].sequence}")
                self.taken.append(batch)
            yield answer(acknowledgement=self.messages.Acknowledgement(sequence=batch.sequence))


class Weftd:
    """weftd without a fabric of its own, for collectors. It may be started again on the same state directory."""

    def __init__(self, place: str, extra: tuple[str, ...] = ()):
        self.place = tempfile.mkdtemp(prefix="weftd-", dir=place)
        self.http, self.grpc = free_address(), free_address()
        self.client = WeftClient(self.http)
        self.extra = extra
        self.process: subprocess.Popen | None = None

    def start(self) -> "Weftd":
        with open(os.path.join(self.place, "log"), "wb") as log:
            self.process = subprocess.Popen([program("weftd"), "--state-dir", os.path.join(self.place, "state"), "--http", self.http,
                                             "--grpc", self.grpc, "--listen-socket", os.path.join(self.place, "weftd.sock"),
                                             "--infiniband-enabled", "false", *self.extra], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._listens, why=lambda: f"weftd does not listen; it says:\n{self.log()}")
        return self

    def _listens(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"weftd ended with {self.process.returncode}:\n{self.log()}")
        return "gRPC on" in self.log()

    def log(self) -> str:
        """Since its last start."""
        with open(os.path.join(self.place, "log"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def end(self, how: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def told(self) -> dict:
        """What it says of the one collector."""
        collectors = self.client.json("/api/v1/collectors").get("collectors", [])
        return collectors[0] if collectors else {}


class CollectorTest(unittest.TestCase):
    adapters = 2

    @classmethod
    def setUpClass(cls):
        require_programs("weft-collector", "weft-uplink")

    def setUp(self):
        self.sysfs = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, self.sysfs, True)
        self.devices = sysfs_tree.make(self.sysfs, self.adapters)

    def collector(self, analyzer: str = "", **more) -> Collector:
        made = Collector(self.sysfs, analyzer, **more)
        self.addCleanup(made.remove)
        return made


class ClassPrograms(unittest.TestCase):
    """Programs that all tests of a class share, with one log in `place`. setUpClass sets `place`, and `running` to an empty list."""

    @classmethod
    def start(cls, command: list[str]) -> subprocess.Popen:
        with open(os.path.join(cls.place, "log"), "ab") as log:
            cls.running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return cls.running[-1]

    @classmethod
    def end(cls) -> None:
        for process in reversed(cls.running):
            process.send_signal(signal.SIGTERM)
        for process in cls.running:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @classmethod
    def log(cls) -> str:
        with open(os.path.join(cls.place, "log"), encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-60:])
