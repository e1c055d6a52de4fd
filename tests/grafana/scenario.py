# SPDX-License-Identifier: Apache-2.0
"""A fabric in trouble for the dashboards to show: weftd on ibsim with cables that are pulled, flap and take errors, links that wait for a
slow receiver; hosts with RoCE whose collectors tell of pauses, marks, lost packets and optics; and a Prometheus that scrapes it all."""

import os
import shutil
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("support", "infiniband", "collector")]

import grpc  # noqa: E402

import collector_testing  # noqa: E402
import sysfs_tree  # noqa: E402
import telemetry_client  # noqa: E402
import weft_testing  # noqa: E402
from prometheus_stack import Inbox, Scraper, prometheus  # noqa: E402
from telemetry_client import series  # noqa: E402
from weft_testing import guid_text, wait_until  # noqa: E402

JOB = "slurm:4711"
ROCE_HOSTS = ("gpu-0001", "gpu-0002", "gpu-0003")
DEVICE = "mlx5_8"

PROMETHEUS = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [weft.rules.yml]
scrape_configs:
  - job_name: weft
    static_configs: [{{targets: ["{target}"]}}]
"""


def roce_series(bad: bool) -> list[tuple[bytes, object]]:
    """What a host with one RoCE port tells: each series with its value after so many seconds. `bad`: it is paused and loses packets."""
    told = []

    def add(name: str, value, **more) -> None:
        told.append((series(DEVICE, 1, name, **more), value if callable(value) else lambda _, value=value: value))

    def rising(a_second: float):
        return lambda elapsed: int(a_second * elapsed)

    for name in ("transmit_bytes", "receive_bytes"):
        add(name, rising(4e9 if bad else 9e9))
    for name in ("transmit_packets", "receive_packets"):
        add(name, rising(1e6))
    for priority in range(8):
        add("pfc_enabled", 1 if priority == 3 else 0, priority=priority, gauge=True)
        for direction in ("transmit", "receive"):
            add("pfc_frames", rising(2000 if bad and priority == 3 else 0), priority=priority, direction=direction)
            add("pfc_pause", rising(250_000 if bad and priority == 3 else 0), priority=priority, direction=direction)
        add("priority_receive_discards", rising(5 if bad and priority == 3 else 0), priority=priority)
    for direction in ("transmit", "receive"):
        add("pause_frames", rising(1), direction=direction)
    for name, rate in (("ecn_marked_packets", 900), ("cnp_sent", 300), ("cnp_handled", 200), ("cnp_ignored", 2), ("receive_discards", 7),
                       ("pause_storm_warnings", 0.5), ("pause_storm_errors", 0.3), ("carrier_down", 0.4), ("link_down_events", 0.4),
                       ("crc_errors", 3), ("fec_corrected_blocks", 5000), ("fec_uncorrectable_blocks", 0.5)):
        add(name, rising(rate if bad or name.startswith(("ecn", "cnp_sent", "fec_corr")) else 0))
    for name, rate in (("out_of_sequence", 40), ("retransmit", 25), ("ack_timeout", 4), ("retries_exhausted", 0.6)):
        add(name, rising(rate if bad else 0))
    add("module_temperature", 71_000 if bad else 48_000, gauge=True)
    add("module_supply", 3_290_000, gauge=True)
    for name in ("pcie_read_stall", "pcie_write_stall"):
        add(name, 12 if bad else 0, gauge=True)
    for lane in range(4):
        add("module_receive_power", 120_000 if bad else 800_000, lane=lane, gauge=True)
        add("module_transmit_power", 900_000, lane=lane, gauge=True)
        add("module_bias", 7_500 + lane, lane=lane, gauge=True)
    return told


class RoceHosts:
    """Streams of hosts to weftd, a reading each half second."""

    def __init__(self, address: str):
        self._channel = grpc.insecure_channel(address)
        self._done = threading.Event()
        self._streams = []
        for position, host in enumerate(ROCE_HOSTS):
            stream = telemetry_client.Collector(self._channel)
            stream.hello(host, spool=100 + position, interval_milliseconds=500)
            self._streams.append((stream, roce_series(bad=position == 0)))
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        begun, sequence = time.time() - 1, 0
        port = telemetry_client.port(DEVICE, netdev="eth8", flags=2, rate=4 * 10**11)
        while not self._done.is_set():
            sequence += 1
            now = time.time()
            for stream, told in self._streams:
                stream.batch(sequence, telemetry_client.whole(int(now * 1e9), [port], [one for one, _ in told],
                                                              [value(now - begun) for _, value in told], jobs=[JOB]))
            self._done.wait(0.5)

    def stop(self) -> None:
        self._done.set()
        self._thread.join()
        for stream, _ in self._streams:
            stream.close()
        self._channel.close()


def ethernet_sysfs() -> str:
    """A sysfs tree with one adapter that speaks RoCE, for a real weft-collector."""
    place = tempfile.mkdtemp(prefix="weft-sysfs-")
    device, = sysfs_tree.make(place, 1)
    sysfs_tree.write(os.path.join(device, "ports", "1", "link_layer"), "Ethernet")
    return place


class Trouble(weft_testing.SubnetTest):
    """The whole of it, for all tests of a class."""

    analyzer = 'flap_fast.half_life = "10m"'
    hosts: RoceHosts | None = None
    collector = None
    prometheus: Scraper | None = None
    sysfs = ""

    @classmethod
    def setUpClass(cls):
        cls.inbox = Inbox()
        cls.keys = tempfile.mkdtemp(prefix="weft-keys-")
        key = os.path.join(cls.keys, "events")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as stream:
            stream.write("a key of the test, long enough\n")
        cls.infiniband = f'\n[events]\nurls = ["{cls.inbox.url}/events"]\nkey_file = "{key}"\n[metrics]\nscrape_interval = "1s"\n'
        cls._over = threading.Event()
        cls._pusher = cls.prometheus = cls.hosts = cls.collector = None
        super().setUpClass()
        try:
            cls.hosts = RoceHosts(cls.weftd.grpc)
            cls.sysfs = ethernet_sysfs()
            cls.collector = collector_testing.Collector(cls.sysfs, cls.weftd.grpc, interval="500ms").start()
            cls.prometheus = prometheus(PROMETHEUS.format(target=cls.weftd.http), True)
            wait_until(lambda: cls.prometheus.query('up{job="weft"} == 1'), why=lambda: cls.prometheus.log())
            cls.break_things()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        cls._over.set()
        if cls._pusher:
            cls._pusher.join()
        for running in (cls.prometheus, cls.hosts):
            if running:
                running.stop()
        if cls.collector:
            cls.collector.remove()
        if cls.sysfs:
            shutil.rmtree(cls.sysfs, ignore_errors=True)
        super().tearDownClass()
        cls.inbox.stop()
        shutil.rmtree(cls.keys, ignore_errors=True)

    @classmethod
    def break_things(cls) -> None:
        network = cls.subnet.network
        receiver, sender = "gpu-0003 mlx5_0", "gpu-0014 mlx5_0"

        def path():
            found, = cls.weftd.client.json(f"/api/v1/path?from={sender.replace(' ', '%20')}&to={receiver.replace(' ', '%20')}")["paths"]
            return found["end"] == "ARRIVED" and [(hop["from"]["node"], hop["from"]["port"]) for hop in found["hops"]]

        # On the first rail links only wait; what is broken is on the second.
        waiting = wait_until(path, why="no path")
        ticks = {end: cls.weftd.ports(guid_text(network.find(end[0]).guid))[end[1]]["waitTickSeconds"] for end in waiting}
        flapping = network.find("gpu-0001 mlx5_1").ports[1]
        flap_ends = (("gpu-0001 mlx5_1", 1), (network.nodes[flapping.node].name, flapping.port))
        noisy = (("leaf-r1-p01", 13), ("gpu-0001 mlx5_1", 1))
        adapters = [node.name for node in network.hosts() if node.name not in (receiver, sender)][:12]
        cls.subnet.unlink("leaf-r1-p02", 11)
        cls._pusher = threading.Thread(target=cls._push, args=(waiting, ticks, flap_ends, noisy, adapters), daemon=True)
        cls._pusher.start()

    @classmethod
    def _push(cls, waiting, ticks, flap_ends, noisy, adapters) -> None:
        """Sets counters as if time and again something went wrong, and pulls and plugs one cable."""
        begun, pulled = time.monotonic(), False
        while not cls._over.is_set():
            elapsed = time.monotonic() - begun
            # Low enough that a push which comes late is no jump; and 32 bits stick at their end, so it is cleared before that.
            values = [(node, port, "PortCounters.PortXmitWait", int(elapsed * 0.35 / ticks[node, port]) % 4_000_000_000) for node, port in waiting]
            for count, name in enumerate(adapters):
                words = int(elapsed * (3 + count % 4) * 1e8)  # of four octets
                values += [(name, 1, "PortCountersExtended.PortXmitData", words), (name, 1, "PortCountersExtended.PortRcvData", words)]
            for name, port in flap_ends:
                values.append((name, port, "PortCounters.LinkDownedCounter", min(int(elapsed / 3), 250)))
                values.append((name, port, "PortCounters.LinkErrorRecoveryCounter", min(int(elapsed / 2), 250)))
            for counter, rate in (("SymbolErrorCounter", 20), ("PortRcvErrors", 5), ("PortXmitDiscards", 3)):
                values += [(*end, f"PortCounters.{counter}", min(int(elapsed * rate), 60_000)) for end in noisy]
            try:
                cls.subnet.set_counters(values)
                if pulled != (elapsed % 20 > 14):
                    pulled = not pulled
                    (cls.subnet.unlink if pulled else cls.subnet.relink)("leaf-r1-p02", 10)
            except Exception as error:  # pylint: disable=broad-except  # the simulator ended: tearDown says so
                print(f"    counters are not set any more: {error}", file=sys.stderr)
                return
            cls._over.wait(0.15)
