#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""weftd and its sweeper on a whole simulated subnet: seconds from the first request of a sweep to the published picture with
every finding in it, and resident memory of both processes together.

Limits: 2 s and 400 MB for 10,240 adapters, 6 s and 1,500 MB for 39,936. ibsim and OpenSM run on CPU 0, weftd and the sweeper
on both. The ratio is limit / ours: at least 1 keeps the limit.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import datetime
from pathlib import Path

import bench_lib as bench
from weft_client import free_port

LIMITS = {512: (2, 400), 2000: (2, 400), 2048: (2, 400), 10240: (2, 400), 39936: (6, 1500)}
SWEEPS = 6


def moment(text):
    """Seconds since 1970 of an RFC 3339 time with up to nine digits behind the point."""
    whole, _, rest = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (rest or "0"))


def last_sweep(port):
    """(number, seconds from its start to its publication, is it watching), or None before there is one."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/fabrics", timeout=10) as answer:
        said = json.load(answer)
    fabrics = said.get("fabrics", [])
    if not fabrics or "lastSweep" not in fabrics[0]:
        return None
    sweep = fabrics[0]["lastSweep"]
    return int(sweep["number"]), moment(said["taken"]) - moment(sweep["started"])


def family(pid):
    """The process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *map(int, children)]


def peak_megabytes(pid):
    """Highest resident memory so far, all of the family together."""
    total = 0
    for process in family(pid):
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        total += int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
    return total / 1000


def watch(weftd, port, timeout):
    """Times of SWEEPS sweeps in a row, the discovery left out."""
    times = {}
    deadline = time.monotonic() + timeout
    while len(times) < SWEEPS + 1:
        if weftd.poll() is not None:
            raise RuntimeError(f"weftd ended with {weftd.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"only {len(times)} sweeps in {timeout} s")
        time.sleep(0.1)
        try:
            seen = last_sweep(port)
        except OSError:
            continue
        if seen:
            times.setdefault(*seen)
    del times[min(times)]
    return list(times.values())


def measure(adapters, build):
    with bench.subnet(adapters) as net, tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        variables = bench.environment(net, build)
        http, grpc = free_port(), free_port()
        command = [bench.program(build, "weftd"), "--state-dir", f"{folder}/state", "--http", f"127.0.0.1:{http}",
                   "--grpc", f"127.0.0.1:{grpc}", "--listen-socket", f"{folder}/weftd.sock", "--log-level", "warn"]
        with bench.Measured():
            weftd = subprocess.Popen(command, env=variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            try:
                times = watch(weftd, http, 300)
                megabytes = peak_megabytes(weftd.pid)
            finally:
                weftd.send_signal(signal.SIGTERM)
                try:
                    weftd.wait(20)
                except subprocess.TimeoutExpired:
                    weftd.kill()
                    weftd.wait()
    bench.say(f"{adapters} adapters: sweeps of {', '.join(f'{seconds:.2f}' for seconds in times)} s")
    seconds_limit, megabytes_limit = LIMITS[adapters]
    slowest = max(times)
    bench.report(f"sweep, analyse and publish {adapters:,} adapters, s, slowest of {len(times)} (limit)",
                 f"{slowest:.2f}", seconds_limit, bench.ratio(seconds_limit / slowest))
    bench.report(f"resident memory watching {adapters:,} adapters, MB, highest (limit)",
                 f"{megabytes:.0f}", megabytes_limit, bench.ratio(megabytes_limit / megabytes))


def main():
    options = bench.parse(bench.arguments(__doc__, [10240, 39936]))
    for adapters in options.adapters:
        measure(adapters, options.build)


if __name__ == "__main__":
    sys.exit(main())
