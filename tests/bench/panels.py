#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each query of each Grafana panel on a real Prometheus that holds an hour of a site: how long it takes, in seconds.

The series are those that the panels ask for, as many for each port as deploy/guide/series.md has it, a sample a minute; promtool makes blocks of them. A dashboard
is as it opens: the last hour, all of everything chosen, a point a minute; and once more with one node chosen. The limit is one second.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

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
JOB_HOSTS = 128
dashboards.TIMES.update({"__rate_interval": "240s", "__interval": "60s", "__range": "3600s"})


class Writer:
    """An OpenMetrics file. Samples of one family stand together."""

    def __init__(self, path: str, end: int):
        self.stream = open(path, "w", encoding="ascii", buffering=1 << 20)
        self.times = [end - 60 * minute for minute in range(MINUTES - 1, -1, -1)]
        self.series = 0

    def family(self, name: str, kind: str) -> None:
        self.name = name
        self.stream.write(f"# TYPE {name.removesuffix('_total')} {kind}\n")

    def add(self, labels: str, value, slope: float = 0.0) -> None:
        """`value` at first; then it rises, or, of a float, moves a little."""
        self.series += 1
        head = f'{self.name}{{job="weft",instance="m:9640",{labels}}} '
        if slope:
            self.stream.write("".join([f"{head}{value + int(slope * 60) * at} {when}\n" for at, when in enumerate(self.times)]))
        else:
            swing = 0.001 if isinstance(value, float) else 0
            self.stream.write("".join([f"{head}{value + swing * (at % 7)} {when}\n" for at, when in enumerate(self.times)]))

    def close(self) -> None:
        self.stream.write("# EOF\n")
        self.stream.close()


def ports_of(hosts: int) -> list[tuple[str, str, int, bool]]:
    """(node, guid, port, whether it is a switch's)."""
    found = [(f"gpu-{host + 1:05d} mlx5_{adapter}", f"0x{host * ADAPTERS + adapter + 1:016x}", 1, False) for host in range(hosts) for adapter in range(ADAPTERS)]
    for port in range(hosts * ADAPTERS * SWITCH_PORTS):
        found.append((f"leaf-{port // RADIX:05d}", f"0x{(1 << 40) + port // RADIX:016x}", port % RADIX + 1, True))
    return found


def write_site(path: str, hosts: int, end: int) -> int:
    """The number of series."""
    out = Writer(path, end)
    ports = ports_of(hosts)
    labels = [f'node="{node}",guid="{guid}",port="{port}"' for node, guid, port, _ in ports]
    everywhere = range(len(ports))

    def each(name: str, kind: str, value, slope: float = 0.0, where=everywhere, more: str = "") -> None:
        out.family(name, kind)
        for at in where:
            out.add(labels[at] + more, value(at) if callable(value) else value, slope)

    out.family("weft_port_info", "gauge")
    for at, (node, _, _, is_switch) in enumerate(ports):
        peer = ports[-at - 1]
        out.add(f'{labels[at]},subnet="ib0",host="{node.split()[0]}",node_type="{"switch" if is_switch else "channel_adapter"}",peer_node="{peer[0]}",peer_port="{peer[2]}",'
                f'rail="{at % ADAPTERS}",pod="{at // 8192}",link_layer="InfiniBand",driver="{"" if is_switch else "mlx5_core"}"', 1)
    each("weft_port_up", "gauge", lambda at: int(at % 997 != 0))
    each("weft_port_stale", "gauge", 0)
    each("weft_port_rate_bytes_per_second", "gauge", 50_000_000_000)
    each("weft_link_stall_ratio", "gauge", lambda at: 0.5 if at % 499 == 0 else 0.001 * (at % 10))
    each("weft_link_utilization_ratio", "gauge", lambda at: 0.01 * (at % 90))
    each("weft_link_error_rate", "gauge", lambda at: 1e-12 * (at % 50))
    for name in ("transmit_bytes", "receive_bytes"):
        each(f"weft_port_{name}_total", "counter", 10**15, 2e10)
    each("weft_port_virtual_lane_transmit_wait_seconds_total", "counter", 100, 0.1, more=',vl="0"')
    each("weft_port_link_downed_total", "counter", 3, where=range(0, len(ports), 5), more=',source="switch"')
    for place, name in enumerate(("symbol_errors", "receive_errors", "transmit_discards", "link_error_recovery")):
        each(f"weft_port_{name}_total", "counter", 100, 0.1, where=range(place, len(ports), 50), more=',source="switch"')
    adapters = range(hosts * ADAPTERS)
    each("weft_rdma_errors_total", "counter", 10, 0.1, where=adapters[::50], more=',error="retransmit"')
    each("weft_port_module_temperature_celsius", "gauge", 50, where=adapters)
    for name in ("receive_power_watts", "transmit_power_watts", "bias_amperes"):
        out.family(f"weft_port_module_{name}", "gauge")
        for lane in range(4):
            for at in adapters:
                out.add(f'{labels[at]},lane="{lane}"', 0.001)
    nodes = sorted({node for node, *_ in ports})
    for name in ("weft:node_stall:max", "weft:node_utilization:max"):
        out.family(name, "gauge")
        for place, node in enumerate(nodes):
            out.add(f'node="{node}"', 0.01 * (place % 80))
    for name in ("weft:link_stall:avg", "weft:link_stall:max", "weft:link_utilization:avg", "weft:link_utilization:max"):
        out.family(name, "gauge")
        out.add('subnet="ib0"', 0.5)
    out.family("weft_node_health", "gauge")
    for name in sorted({node.split()[0] for node in nodes}):
        out.add(f'node="{name}",verdict="HEALTHY"', 1)
    out.family("weft_collector_batches_total", "counter")
    for host in range(hosts):
        out.add(f'node="gpu-{host + 1:05d}"', 100, 1)
    out.family("weft_job_info", "gauge")
    for host in range(hosts):
        out.add(f'node="gpu-{host + 1:05d}",job_id="slurm:{host // JOB_HOSTS}"', 1)
    for name in ("weft_incidents", "weft_fabric_watching"):
        out.family(name, "gauge")
        out.add('subnet="ib0",kind="LINK_DOWN",severity="WARNING"' if name == "weft_incidents" else 'subnet="ib0"', 1)
    out.close()
    return out.series


class Server:
    def __init__(self, place: str):
        self.address = f"127.0.0.1:{free_port()}"
        Path(place, "prometheus.yml").write_text("global: {}\n", encoding="ascii")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data", f"--web.listen-address={self.address}", "--log.level=error",
             "--storage.tsdb.retention.time=10y", "--query.timeout=5m", "--query.max-samples=500000000"], stdin=subprocess.DEVNULL)
        for _ in range(600):
            try:
                self.get("/-/ready")
                return
            except OSError:
                time.sleep(0.2)
        raise SystemExit("prometheus did not start")

    def get(self, path: str, **parameters) -> bytes:
        text = urllib.parse.urlencode(parameters, doseq=True)
        data = text.encode() if "query" in parameters else None  # as Grafana asks: a query may be too long for an address
        path = path if data or not text else f"{path}?{text}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(f"http://{self.address}{path}", data=data), timeout=330) as answer:
            return answer.read()

    def asked(self, path: str, **parameters):
        return json.loads(self.get(path, **parameters))["data"]

    def resident(self) -> float:
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii"))[1]) / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)



class Chosen(dashboards.Variables):
    """Where all are chosen, Grafana puts in what the dashboard has for that, as it stands."""

    def __init__(self, values: dict, whole: dict):
        super().__init__(values)
        self.whole = whole

    def put_in(self, text: str) -> str:
        for name, all_of_it in self.whole.items():
            text = text.replace(f"${name}", all_of_it)
        return super().put_in(text)


def measure(server: Server, end: int, one_node: bool) -> list[tuple[float, int, str]]:
    """(seconds, series, where) of each query, the better of two."""
    found = []
    for uid, dashboard in dashboards.load().items():
        whole = {} if one_node else {each["name"]: each["allValue"] for each in dashboard["templating"]["list"] if each.get("allValue")}
        began = time.monotonic()
        variables = Chosen({}, {})
        variables.choose(server, dashboard, {"host": "gpu-00001", "job_id": "slurm:0"})
        found.append((time.monotonic() - began, 0, f"{uid}: the variables"))
        if one_node:
            for name in ("node", "switch"):
                if name in variables.values:
                    variables.values[name] = variables.values[name][:1]
        variables.whole = whole
        for panel in dashboards.panels(dashboard):
            for query in dashboards.queries(panel):
                expression = variables.put_in(query["expr"])
                best, series = float("inf"), 0
                for _ in range(2):
                    began = time.monotonic()
                    try:
                        data = server.asked("/api/v1/query", query=expression, time=end) if query.get("instant") else server.asked(
                            "/api/v1/query_range", query=expression, start=end - 3600, end=end, step=STEP)
                    except urllib.error.HTTPError as error:
                        bench.say(f"{uid}: {panel.get('title')} {query['refId']}: {error.read()[:200]}")
                        break
                    best, series = min(best, time.monotonic() - began), len(data["result"])
                found.append((best, series, f"{uid}: {panel.get('title', '')} {query['refId']}"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="not used")
    parser.add_argument("--hosts", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--shown", type=int, default=12, help="of the slowest queries")
    options = parser.parse_args()
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("prometheus is not installed")
        return 77
    for hosts in options.hosts:
        with tempfile.TemporaryDirectory(prefix="weft-panels-") as place:
            end = int(time.time()) // 7200 * 7200 - 60
            text = os.path.join(place, "site.om")
            series = write_site(text, hosts, end)
            bench.say(f"{hosts} hosts: {series} series, {os.path.getsize(text) / 1e9:.1f} GB of text")
            subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", text, os.path.join(place, "data")], check=True, stdout=subprocess.DEVNULL)
            os.unlink(text)
            server = Server(place)
            try:
                for one_node in (False, True):
                    found = sorted(measure(server, end, one_node), reverse=True)
                    choice = "one node" if one_node else "all"
                    bench.say(f"{hosts} hosts, {choice}: {len(found)} queries, {sum(seconds > LIMIT for seconds, *_ in found)} above {LIMIT:g} s, Prometheus {server.resident():.1f} GB")
                    for seconds, count, where in found[:options.shown]:
                        bench.say(f"  {seconds:8.2f} s  {count:7} series  {where}")
                    bench.report(f"slowest of {len(found)} panel queries, {hosts} hosts, {choice}", f"{found[0][0]:.2f} s", f"{LIMIT:g} s", f"{found[0][0] / LIMIT:.2f}")
            finally:
                server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
