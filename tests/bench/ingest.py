#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""weftd and ten thousand simulated collectors that tell 200 values each second, everything on this machine: its share of the
CPU, its resident memory, and the time from a link event's being sent to an incident's arrival at a watcher.

The simulated collectors run on the same CPUs. In the first run they share connections, a hundred streams on each; in the second each has
one of its own, as real ones have, which keeps both CPUs busy here: their client skips a reading when the last one is still on its way.
Limits: 1,000 MB, and one core's worth of CPU, for 10,000 collectors. Then half as many more are tried until weftd cannot follow any
more: there is the limit. The ratio is limit / ours: at least 1 keeps the limit.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import bench_lib as bench
from weft_client import free_port

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "collector"))

VALUES = 200
SECONDS = 20
LIMIT_MEGABYTES = 1000
LIMIT_CPU = 1.0
# Of what was sent; the rest is still on its way at the end. The first turn of each collector answers a clock probe.
FOLLOWS = 0.93
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def megabytes(pid, what):
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1000


@contextlib.contextmanager
def weftd(build, *more):
    """(process, HTTP port, gRPC address) of a weftd without fabrics; `more` are arguments."""
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        http, grpc_port = free_port(), free_port()
        process = subprocess.Popen([bench.program(build, "weftd"), "--infiniband-enabled", "false", "--state-dir", folder, "--http",
                                    f"127.0.0.1:{http}", "--grpc", f"127.0.0.1:{grpc_port}", "--telemetry-max-collectors", "50000",
                                    "--listen-socket", f"{folder}/weftd.sock", "--log-level", "error", *more], stdin=subprocess.DEVNULL, stdout=sys.stderr)
        try:
            for _ in range(100):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{http}/healthz", timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield process, http, f"127.0.0.1:{grpc_port}"
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def latencies(server, count=20):
    """Milliseconds from sending each of some link events to its incident's arrival at a watcher, or None."""
    try:
        import grpc
        import telemetry_client as telemetry
    except ImportError as error:
        bench.say(f"no latency: {error}")
        return None
    import importlib
    subprocess.run(["protoc", f"--proto_path={bench.ROOT}/api/proto", f"--python_out={telemetry._generated.name}",
                    "weft/v1/incident.proto"], check=True)
    incident_pb2 = importlib.import_module("weft.v1.incident_pb2")
    channel = grpc.insecure_channel(server)
    arrived = {}
    watch = channel.unary_stream("/weft.v1.IncidentService/Watch", request_serializer=lambda message: message.SerializeToString(),
                                 response_deserializer=incident_pb2.WatchIncidentsResponse.FromString)(incident_pb2.WatchIncidentsRequest())

    def follow():
        with contextlib.suppress(grpc.RpcError):
            for message in watch:
                arrived.setdefault(message.incident.cause.host, time.monotonic())

    threading.Thread(target=follow, daemon=True).start()
    times = []
    for number in range(count):
        host = f"event-{number}"
        one = telemetry.Collector(channel)
        one.hello(host)
        one.welcome()
        one.batch(1, telemetry.whole(time.time_ns(), [telemetry.port("mlx5_0")], [telemetry.series("mlx5_0", 1, "transmit_bytes")], [1]))
        one.wait_acknowledged(1)
        sent = time.monotonic()
        one.batch(2, telemetry.events(("mlx5_0", 1, False), at=time.time_ns()))
        while host not in arrived and time.monotonic() - sent < 10:
            time.sleep(0.0002)
        times.append((arrived.get(host, sent + 10) - sent) * 1000)
        one.close()
    watch.cancel()
    return sorted(times)


@contextlib.contextmanager
def collectors(build, servers, count, connections, seconds=SECONDS, storm=False):
    """So many collectors at each of the servers, no two of one host. When it is entered they are connected, and tell their readings for so
    many seconds; in a storm every second link of each host flaps. Gives a client for each server; see result()."""
    with contextlib.ExitStack() as stack:
        clients = []
        for number, server in enumerate(servers):
            clients.append(stack.enter_context(subprocess.Popen(
                [bench.program(build, "ingest"), server, str(count), str(VALUES), str(seconds), str(connections), str(number * count),
                 *(["storm"] if storm else [])],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)))
            stack.callback(clients[-1].kill)
        for client in clients:
            if client.stdout.readline().strip() != "ready":
                raise RuntimeError("the collectors did not come up")
        yield clients


def result(client):
    """What a client of collectors() did, at its end."""
    said = json.loads(client.stdout.readline())
    client.wait(60)
    return said


def cores(pids, seconds):
    """The CPU that each process takes from now on, in cores."""
    before, began = [cpu_seconds(pid) for pid in pids], time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    return [(cpu_seconds(pid) - earlier) / took for pid, earlier in zip(pids, before)]


def measure(build, count, connections, with_events):
    with weftd(build) as (process, http, server), collectors(build, [server], count, connections) as (client,):
        time.sleep(5)
        cpu, client_cpu = cores([process.pid, client.pid], SECONDS - 10)
        resident = megabytes(process.pid, "VmHWM")
        times = latencies(server) if with_events else None
        said = result(client)
        scrape = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/metrics", timeout=60) as answer:
            size = len(answer.read())
        bench.say(f"{count} collectors on {connections} connections: {said}; weftd {cpu:.2f} of a core, the client {client_cpu:.2f}; "
                  f"{resident:.0f} MB; a scrape of {size / 1e6:.0f} MB took {time.monotonic() - scrape:.2f} s")
        return said, cpu, resident, times


def report(name, value, limit, text):
    bench.report(name, text.format(value), text.format(limit), bench.ratio(limit / value))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=bench.ROOT / "build" / "bench", help="the build folder (default: build/bench)")
    parser.add_argument("--collectors", type=int, default=10_000)
    options = bench.parse(parser)
    count = options.collectors
    for connections in (max(1, count // 100), count):
        said, cpu, resident, times = measure(options.build, count, connections, True)
        name = f"{count:,} collectors × {VALUES} values a second, {connections:,} connections"
        bench.report(f"{name}: batches taken and acknowledged, of those sent", f"{said['acknowledged']:,}", f"{said['sent']:,}",
                     bench.ratio(said["acknowledged"] / said["sent"]))
        report(f"{name}: weftd's CPU, cores (limit)", cpu, LIMIT_CPU, "{:.2f}")
        report(f"{name}: weftd's resident memory, MB, highest (limit)", resident, LIMIT_MEGABYTES, "{:.0f}")
        if times:
            report(f"{name}: link event to watcher, ms, median of {len(times)} (limit)", times[len(times) // 2], 1000, "{:.1f}")
    kept = count
    for more in range(3, 9):
        said, cpu, resident, _ = measure(options.build, count * more // 2, count * more // 200, False)
        if min(said["acknowledged"] / said["sent"], said["sent"] / (count * more // 2 * SECONDS)) < FOLLOWS:
            break
        kept = count * more // 2
    bench.report("most collectors, of those tried, that weftd follows (10,000 wanted)", f"{kept:,}", f"{count:,}", bench.ratio(kept / count))


if __name__ == "__main__":
    sys.exit(main())
