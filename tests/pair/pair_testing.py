# SPDX-License-Identifier: Apache-2.0
"""What the tests of two weftd on one PostgreSQL share: the pair on two hosts of one subnet, who leads, and how long a takeover took."""

import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from webhook_receiver import EventReceiver  # noqa: E402
from weft_testing import Answer, Weftd, fat_tree, simulated_subnet, wait_until  # noqa: E402

STORE = """
[store]
url = "postgresql://weft@{servers}/postgres"
"""
KEY = "a key of the test, long enough"
TAKEOVER = 10  # seconds, as the guide promises


def leads(weftd: Weftd) -> bool:
    """As a load balancer asks."""
    try:
        return weftd.client.text("/readyz?role=leader") == "ready\n"
    except (Answer, OSError):
        return False


class Wire:
    """Between one weftd and the database: a port of its own on loopback. While it is cut nothing passes and nobody is told."""

    def __init__(self, port: int):
        self.to = port
        self.is_cut = False
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near = self.server.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError), source, target:
            while piece := source.recv(65536):
                while self.is_cut:
                    time.sleep(0.05)
                target.sendall(piece)
            target.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.is_cut = False
        self.server.close()


class WithPair(unittest.TestCase):
    """Two weftd on two hosts of a small subnet, on one PostgreSQL with a synchronous standby. Each has a wire of its own to the primary, and, if
    it knows both servers, one to the standby."""

    KNOWS_BOTH = False

    CONFIGURATION = ""  # what follows [store]; {receiver} and {key}: a receiver of webhooks and the file with its key
    ANALYZER = ""  # of its table [analyzer]
    make_receiver = EventReceiver

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        cls.subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8))
        cls.pair: list[Weftd] = []
        cls.wires: list[Wire] = []
        cls.wires_to_standby: list[Wire] = []
        cls.receiver = cls.make_receiver(KEY)
        cls.place = tempfile.mkdtemp(prefix="weft-pair-")
        key = os.path.join(cls.place, "key")
        with open(key, "w", encoding="utf-8") as stream:
            stream.write(KEY + "\n")
        os.chmod(key, 0o600)
        try:
            cls.postgres.start()
            cls.subnet.start()
            for host in cls.subnet.network.hosts()[-2:]:
                cls.wires.append(Wire(cls.postgres.primary.port))
                servers = f"127.0.0.1:{cls.wires[-1].port}"
                if cls.KNOWS_BOTH:
                    cls.wires_to_standby.append(Wire(cls.postgres.standby.port))
                    servers += f",127.0.0.1:{cls.wires_to_standby[-1].port}"
                cls.pair.append(Weftd(cls.subnet.environment(host.identity), infiniband=STORE.format(servers=servers) + cls.CONFIGURATION.format(
                    receiver=cls.receiver.url, status=cls.receiver.status_url, key=key), analyzer=cls.ANALYZER))
                cls.pair[-1].start()
                cls.pair[-1].wait_sweeps(1)
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for wire in cls.wires + cls.wires_to_standby:
            wire.is_cut = False
        for weftd in cls.pair:
            weftd.stop()
        for wire in cls.wires + cls.wires_to_standby:
            wire.close()
        cls.subnet.stop()
        cls.postgres.stop()
        cls.receiver.stop()
        shutil.rmtree(cls.place, ignore_errors=True)

    def sql(self, text: str) -> str:
        return self.postgres.primary.sql(text)

    def epoch(self) -> int:
        return int(self.sql("SELECT epoch FROM weft_store"))

    def roles(self) -> tuple[Weftd, Weftd]:
        """The leader and the standby, when both have found their role."""
        def found():
            leaders = [each for each in self.pair if leads(each)]
            return len(leaders) == 1 and leaders[0]

        leader = wait_until(found, why=lambda: self.sql("SELECT * FROM weft_store") + "".join(each.log() for each in self.pair))
        return leader, next(each for each in self.pair if each is not leader)

    def wait_leads(self, weftd: Weftd, since: float, within: float = TAKEOVER) -> float:
        """Seconds from `since` until it leads."""
        wait_until(lambda: leads(weftd), 60, why=weftd.log)
        took = time.monotonic() - since
        print(f"    took over after {took:.1f} s", flush=True)
        self.assertLess(took, within)
        return took
