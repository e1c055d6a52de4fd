#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each query of each Grafana panel on a real Prometheus that holds an hour of a site: how long it takes, in seconds.

The series are those that the panels ask for, as many for each port as deploy/guide/series.md has it, a sample a minute; they are given to Prometheus, which makes blocks of
them. What the recording rules add is not made up: each rule is evaluated on that Prometheus, which tells what it takes, and promtool then records it over that hour. Rules that
find nothing in these series are left out by name. A dashboard is as it opens: the last hour, all of everything chosen, a point a minute; and once more with one
node chosen. The limit is one second.
"""

import argparse
import contextlib
import functools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import yaml

import bench_lib as bench

sys.path[:0] = [str(bench.ROOT / "tests" / folder) for folder in ("support", "grafana")]

import dashboards  # noqa: E402
from weft_client import free_port  # noqa: E402

ADAPTERS = 8  # of a host
SWITCH_PORTS = 5  # for each adapter: a fat tree of three stages
RADIX = 64
MINUTES = 61
STEP = 60
LIMIT = 1.0
BLOCK_SERIES = 250_000
RULES = bench.ROOT / "dashboards" / "prometheus" / "weft.rules.yml"
JOB_HOSTS = 128
dashboards.TIMES.update({"__rate_interval": "240s", "__interval": "60s", "__range": "3600s"})


def promtool(*arguments: str) -> None:
    subprocess.run(["promtool", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number: int, data: bytes) -> bytes:
    """Of a message of protobuf."""
    return bytes([number << 3 | 2]) + varint(len(data)) + data


@functools.lru_cache(maxsize=100_000)
def label(name: str, value: str) -> bytes:
    return field(1, field(1, name.encode()) + field(2, value.encode()))


def labels_of(**labels: str) -> bytes:
    """With those of the target; sorted, as Prometheus wants them, and without those that are empty."""
    return b"".join([label(name, value) for name, value in sorted({**labels, "job": "weft", "instance": "m:9640"}.items()) if value])


class Writer:
    """Gives series to a Prometheus by its remote write protocol (prometheus.WriteRequest), a sample a minute until `end`, and has it make a block of each some
    hundred thousand series: so it needs few GB however large the site is."""

    def __init__(self, place: str, end: int):
        self.place = place
        self.times = [end - 60 * minute for minute in range(MINUTES - 1, -1, -1)]
        self.series = self.in_block = 0
        self.server = None
        self.waiting: list[bytes] = []
        self.samples: dict[tuple, bytes] = {}

    def family(self, name: str) -> None:
        if self.in_block > BLOCK_SERIES:
            self.close()
        if not self.server:
            self.making = tempfile.mkdtemp(prefix="making-", dir=self.place)
            self.server = Server(self.making, "--web.enable-remote-write-receiver", "--web.enable-admin-api", "--storage.tsdb.min-block-duration=4h")
        self.common = label("__name__", name)
        self.samples.clear()

    def add(self, labels: bytes, value, slope: float = 0.0) -> None:
        """`value` at first; then it rises by `slope` a second, or, of a float, moves a little, each at its own time."""
        samples = self.samples.get((value, slope))
        if samples is None:
            if slope:
                values = [value + int(slope * 60 * at) for at in range(MINUTES)]
            elif isinstance(value, float):
                values = [value * (1 + 0.01 * ((at + int(value * 1e6)) % 7)) for at in range(MINUTES)]
            else:
                values = [value] * MINUTES
            samples = self.samples[value, slope] = self.encoded(values)
        self.send(labels, samples)

    def encoded(self, values: list) -> bytes:
        return b"".join([field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(when * 1000)) for value, when in zip(values, self.times)])

    def send(self, labels: bytes, samples: bytes) -> None:
        self.series += 1
        self.in_block += 1
        self.waiting.append(field(1, self.common + labels + samples))
        if len(self.waiting) >= 2000:
            self.flush()

    def flush(self) -> None:
        data = b"".join(self.waiting)
        self.waiting.clear()
        if data:  # snappy: one literal
            self.server.get("/api/v1/write", body=varint(len(data)) + b"\xfc" + struct.pack("<I", len(data) - 1) + data)

    def close(self) -> None:
        """Prometheus writes what it holds as a block, which is moved to the others."""
        if not self.server:
            return
        self.flush()
        name = json.loads(self.server.get("/api/v1/admin/tsdb/snapshot", body=b""))["data"]["name"]
        self.server.stop()
        os.makedirs(os.path.join(self.place, "data"), exist_ok=True)
        for block in Path(self.server.data, "snapshots", name).iterdir():
            block.rename(Path(self.place, "data", block.name))
        shutil.rmtree(self.making)
        self.server, self.in_block = None, 0


def ports_of(hosts: int) -> list[tuple[str, str, int, bool]]:
    """(node, guid, port, whether it is a switch's)."""
    found = [(f"gpu-{host + 1:05d} mlx5_{adapter}", f"0x{host * ADAPTERS + adapter + 1:016x}", 1, False) for host in range(hosts) for adapter in range(ADAPTERS)]
    for port in range(hosts * ADAPTERS * SWITCH_PORTS):
        found.append((f"leaf-{port // RADIX:05d}", f"0x{(1 << 40) + port // RADIX:016x}", port % RADIX + 1, True))
    return found


def write_site(place: str, hosts: int, end: int) -> int:
    """The number of series. Values differ from port to port, so that the worst have to be looked for; a hundred ports of the site go down for some minutes."""
    out = Writer(place, end)
    ports = ports_of(hosts)
    labels = [{"node": node, "guid": guid, "port": str(port)} for node, guid, port, _ in ports]
    encoded = [labels_of(**each) for each in labels]
    everywhere = range(len(ports))

    def spread(at: int) -> int:
        return at * 7919 % 1009

    def each(name: str, value, slope=0.0, where=everywhere, **more: str) -> None:
        out.family(name)
        for at in where:
            out.add(labels_of(**labels[at], **more) if more else encoded[at], value(at) if callable(value) else value, slope(at) if callable(slope) else slope)

    out.family("weft_port_info")
    for at, (node, _, _, is_switch) in enumerate(ports):
        peer = ports[-at - 1]
        out.add(labels_of(**labels[at], subnet="ib0", host=node.split()[0], node_type="switch" if is_switch else "channel_adapter", peer_node=peer[0], peer_port=str(peer[2]),
                          rail=str(at % ADAPTERS), pod=str(at // 8192), link_layer="InfiniBand", driver="" if is_switch else "mlx5_core"), 1)
    out.family("weft_port_up")
    for at in everywhere:
        fault, healthy = divmod(at, len(ports) // 100)
        if not healthy:
            out.send(encoded[at], out.encoded([int(not fault % 60 <= minute < fault % 60 + 1 + fault % 9) for minute in range(MINUTES)]))
        else:
            out.add(encoded[at], int(at % 997 != 0))
    each("weft_port_stale", 0)
    each("weft_port_rate_bytes_per_second", 50_000_000_000)
    each("weft_link_stall_ratio", lambda at: 0.5 + 0.0004 * spread(at) if at % 499 == 0 else 0.0001 * spread(at))
    each("weft_link_utilization_ratio", lambda at: 0.0009 * spread(at))
    each("weft_link_error_rate", lambda at: 1e-14 * spread(at))
    for name in ("transmit_bytes", "receive_bytes"):
        each(f"weft_port_{name}_total", 10**15, lambda at: 2e7 * spread(at))
    each("weft_port_virtual_lane_transmit_wait_seconds_total", 100, lambda at: 0.0005 * spread(at), vl="0")
    each("weft_port_rs_fec_correctable_blocks_total", 10**6, lambda at: 10 * spread(at))
    each("weft_port_link_downed_total", 3, lambda at: 0.0002 * spread(at) if at % 100 == 0 else 0, where=range(0, len(ports), 5), source="switch")
    for offset, name in enumerate(("symbol_errors", "receive_errors", "transmit_discards", "link_error_recovery")):
        each(f"weft_port_{name}_total", 100, lambda at: 0.001 * spread(at), where=range(offset, len(ports), 50), source="switch")
    adapters = range(hosts * ADAPTERS)
    each("weft_rdma_errors_total", 10, 0.1, where=adapters[::50], error="retransmit")
    each("weft_port_module_temperature_celsius", lambda at: 40 + 0.03 * spread(at), where=adapters)
    each("weft_port_module_supply_volts", lambda at: 3.2 + 0.0002 * spread(at), where=adapters)
    for name in ("receive_power_watts", "transmit_power_watts", "bias_amperes"):
        out.family(f"weft_port_module_{name}")
        for lane in range(4):
            for at in adapters:
                out.add(labels_of(**labels[at], lane=str(lane)), 0.0001 + 1e-6 * spread(at + lane))
    nodes = sorted({node for node, *_ in ports})
    out.family("weft_node_health")
    for name in sorted({node.split()[0] for node in nodes}):
        out.add(labels_of(node=name, verdict="HEALTHY"), 1)
    out.family("weft_collector_batches_total")
    for host in range(hosts):
        out.add(labels_of(node=f"gpu-{host + 1:05d}"), 100, 1)
    out.family("weft_job_info")
    for host in range(hosts):
        out.add(labels_of(node=f"gpu-{host + 1:05d}", job_id=f"slurm:{host // JOB_HOSTS}"), 1)
    for name in ("weft_incidents", "weft_fabric_watching"):
        out.family(name)
        out.add(labels_of(subnet="ib0", kind="LINK_DOWN", severity="WARNING") if name == "weft_incidents" else labels_of(subnet="ib0"), 1)
    out.close()
    return out.series


class Server:
    def __init__(self, place: str, *more: str, quiet: bool = False):
        self.address = f"127.0.0.1:{free_port()}"
        self.data = os.path.join(place, "data")
        Path(place, "prometheus.yml").write_text("global: {}\n", encoding="ascii")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data", f"--web.listen-address={self.address}", "--log.level=error",
             "--storage.tsdb.retention.time=10y", "--query.timeout=1h", "--query.max-samples=500000000", *more],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL if quiet else None)
        for _ in range(600):
            try:
                self.get("/-/ready")
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("prometheus did not start")

    def get(self, path: str, body: bytes | None = None, **parameters) -> bytes:
        text = urllib.parse.urlencode(parameters, doseq=True)
        data = text.encode() if "query" in parameters else body  # as Grafana asks: a query may be too long for an address
        path = path if data or not text else f"{path}?{text}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(f"http://{self.address}{path}", data=data), timeout=3700) as answer:
            return answer.read()

    def asked(self, path: str, **parameters):
        return json.loads(self.get(path, **parameters))["data"]

    def wait_for_one_block(self) -> None:
        """Prometheus joins blocks of the same time, a minute after it began: not while anything is measured."""
        while len([each for each in os.listdir(self.data) if len(each) == 26]) > 1:
            time.sleep(2)
        time.sleep(5)

    def timed(self, path: str, **parameters) -> tuple[float, float, int]:
        """(seconds, of them computed by Prometheus, series), the better of two; of what takes longer than five seconds the first. Other work on the machine makes
        the first longer, not the second. The answer is not parsed: of all ports it has some hundred MB."""
        best, computed, series = float("inf"), float("inf"), 0
        for _ in range(2):
            began, before = time.monotonic(), self.processor()
            data = self.get(path, **parameters)
            best, computed, series = min(best, time.monotonic() - began), min(computed, self.processor() - before), data.count(b'{"metric":')
            if best > 5:
                break
        return best, computed, series

    def processor(self) -> float:
        """Seconds that it computed."""
        return sum(int(each) for each in Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii"))[1]) / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def rules_of_records() -> list[tuple[str, dict]]:
    """(group, rule)."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [(group["name"], rule) for group in groups for rule in group["rules"] if "record" in rule]


def record(place: str, end: int, every: int) -> None:
    """What the recording rules give over the hour, each `every` seconds. A rule that asks for what another one records comes after that one."""
    waiting = [rule for _, rule in rules_of_records()]
    # A folder like that of a block, and none: with it Prometheus does not join blocks of the same time, which would go on while rules are evaluated.
    no_block = Path(place, "data", "0" * 26)
    no_block.mkdir(exist_ok=True)
    while waiting:
        names = {rule["record"] for rule in waiting}
        now = [rule for rule in waiting if not names & asked_for(rule)]
        waiting = [rule for rule in waiting if rule not in now]
        server = Server(place, quiet=True)
        try:
            there = set(server.asked("/api/v1/label/__name__/values"))
            now = [rule for rule in now if rule["record"] not in there]  # there is what a run before recorded
            for rule in now:
                if asked_for(rule) - there:
                    bench.say(f"left out, for nothing here feeds it: {rule['record']}")
            rules = os.path.join(place, "rules.yml")
            Path(rules).write_text(yaml.safe_dump({"groups": [{"name": "recorded", "rules": [rule for rule in now if not asked_for(rule) - there]}]}), encoding="utf-8")
            promtool("tsdb", "create-blocks-from", "rules", f"--url=http://{server.address}", f"--start={end - 3600}", f"--end={end}", f"--eval-interval={every}s",
                     f"--output-dir={server.data}", rules)
        finally:
            server.stop()
    no_block.rmdir()


def asked_for(rule: dict) -> set[str]:
    return set(re.findall(r"\bweft[_:][a-z0-9_:]+", rule["expr"]))


def measure_rules(server: Server, end: int) -> None:
    there = set(server.asked("/api/v1/label/__name__/values"))
    groups: dict[str, list[tuple[float, float, int, str]]] = {}
    for group, rule in rules_of_records():
        if not asked_for(rule) - there:
            groups.setdefault(group, []).append((*server.timed("/api/v1/query", query=rule["expr"], time=end), rule["record"]))
    for group, found in groups.items():
        total, computed = (sum(each[place] for each in found) for place in (0, 1))
        bench.say(f"rules of {group}: {total:.2f} s for one evaluation of {len(found)}, {computed:.2f} s of it computed, Prometheus {server.resident():.1f} GB")
        for took, computed, series, name in sorted(found, reverse=True):
            bench.say(f"  {took:8.2f} s  {computed:8.2f} s  {series:7} series  {name}")


def measure(server: Server, end: int, one_node: bool) -> list[tuple[float, float, int, str]]:
    """(seconds, of them computed, series, where) of each query."""
    found = []
    for uid, dashboard in dashboards.load().items():
        began, before = time.monotonic(), server.processor()
        variables = dashboards.Variables({})
        variables.choose(server, dashboard, {"host": "gpu-00001", "job_id": "slurm:0"}, by_name=one_node)
        found.append((time.monotonic() - began, server.processor() - before, 0, f"{uid}: the variables"))
        if one_node:
            for name in ("node", "switch"):
                if name in variables.values:
                    variables.values[name] = variables.values[name][:1]
        for panel in dashboards.panels(dashboard):
            for query in dashboards.queries(panel):
                expression = variables.put_in(query["expr"])
                try:
                    took, computed, series = server.timed("/api/v1/query", query=expression, time=end) if query.get("instant") else server.timed(
                        "/api/v1/query_range", query=expression, start=end - 3600, end=end, step=STEP)
                except urllib.error.HTTPError as error:
                    bench.say(f"{uid}: {panel.get('title')} {query['refId']}: {error.read()[:200]}")
                    took, computed, series = float("inf"), 0.0, 0
                found.append((took, computed, series, f"{uid}: {panel.get('title', '')} {query['refId']}"))
    return found


def measure_size(place: str, hosts: int, shown: int, every: int) -> None:
    made, recorded = Path(place, "made"), Path(place, "recorded")  # of a run before
    if made.exists():
        end = int(made.read_text(encoding="ascii"))
    else:
        end = int(time.time()) // 7200 * 7200 - 60
        began = time.monotonic()
        series = write_site(place, hosts, end)
        made.write_text(str(end), encoding="ascii")
        bench.say(f"{hosts} hosts: {series} series, made in {time.monotonic() - began:.0f} s")
    if not recorded.exists():
        record(place, end, every)
        recorded.touch()
    server = Server(place)
    try:
        server.wait_for_one_block()
        measure_rules(server, end)
        for one_node in (False, True):
            found = sorted(measure(server, end, one_node), reverse=True)
            choice = "one node" if one_node else "all"
            bench.say(f"{hosts} hosts, {choice}: {len(found)} queries, {sum(seconds > LIMIT for seconds, *_ in found)} above {LIMIT:g} s, Prometheus {server.resident():.1f} GB")
            for seconds, computed, count, where in found[:shown]:
                bench.say(f"  {seconds:8.2f} s  {computed:8.2f} s  {count:7} series  {where}")
            bench.report(f"slowest of {len(found)} panel queries, {hosts} hosts, {choice}", f"{found[0][0]:.2f} s", f"{LIMIT:g} s", f"{found[0][0] / LIMIT:.2f}")
    finally:
        server.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="not used")
    parser.add_argument("--hosts", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--shown", type=int, default=12, help="of the slowest queries")
    parser.add_argument("--record-every", type=int, default=60, help="seconds; above 300 panels have gaps (default: 60, as the rules say)")
    parser.add_argument("--keep", help="a folder that keeps the data of the one size that is measured, or has it from a run before")
    parser.add_argument("--dashboards", help="a folder with other dashboards, to compare with")
    options = parser.parse_args()
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("prometheus is not installed")
        return 77
    if options.keep and len(options.hosts) > 1:
        parser.error("--keep is for one size")
    if options.dashboards:
        dashboards.FOLDER = options.dashboards
    for hosts in options.hosts:
        with contextlib.nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory(prefix="weft-panels-") as place:
            measure_size(place, hosts, options.shown, options.record_every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
