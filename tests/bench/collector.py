#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""weft-collector beside Debian's prometheus-node-exporter (collectors infiniband and ethtool) on one sysfs tree with 8 adapters.

A reading is a scrape of the node-exporter, and a beat of weft-collector; a scrape of its page is given apart. Both read ten times a
second: between two readings the kernel's data leave the processor's cache, which costs more than all else. Processor time is that of the
whole process, divided by readings; memory is resident at the end. The tree lies in memory, as sysfs does. Limits: a tenth of the processor
time, half the memory, 1 % of a processor at 10 readings a second. The ratio is limit / ours: at least 1 keeps the limit. The floor under a
reading is a bare loop of pread over the same files. weft-uplink is measured while it ships 10 batches a second to a weftd.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import bench_lib as bench

sys.path.insert(0, str(bench.ROOT / "tests" / "collector"))
import sysfs_tree  # noqa: E402
from weft_client import free_address  # noqa: E402

ADAPTERS = 8
INTERVAL = 0.1
SECONDS = 15
SCRAPES = 200


def processor_seconds(pid):
    """Finer than the ticks of /proc/PID/stat: the scheduler's own account, of all threads."""
    return sum(int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text(encoding="ascii").split()[0])
               for task in os.listdir(f"/proc/{pid}/task")) / 1e9


def resident_megabytes(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))[1]) / 1000


def page(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        return answer.read().decode()


def value(text, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])


class Running:
    """A program while it is entered, from when it answers at its address."""

    def __init__(self, command, address):
        self.command, self.address = command, address

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while True:
            try:
                page(self.address)
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{self.command[0]} does not answer") from None
                time.sleep(0.05)

    def __exit__(self, *exception):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def scrape(self, count, pause=0.0):
        """(processor milliseconds of one scrape, the last page)."""
        before = processor_seconds(self.pid)
        for _ in range(count):
            text = page(self.address)
            time.sleep(pause)
        return (processor_seconds(self.pid) - before) / count * 1e3, text


def collector(build, tree, state, interval, *more):
    address = free_address()
    return Running([bench.program(build, "weft-collector"), "--sysfs-root", tree, "--http", address, "--interval", interval,
                    "--state-dir", state, "--log-level", "warn", *more], address)


def of_readings(running):
    """Processor milliseconds of one reading; nobody asks for the page meanwhile."""
    first = value(page(running.address), "weft_agent_readings_total")
    before = processor_seconds(running.pid)
    time.sleep(SECONDS)
    after = processor_seconds(running.pid)
    return (after - before) / (value(page(running.address), "weft_agent_readings_total") - first) * 1e3


def bare_loop(build, tree):
    """Processor milliseconds of a pread of each file that a reading reads."""
    files = sorted(path for folder in ("counters", "hw_counters") for path in Path(tree).glob(f"class/infiniband/*/ports/*/{folder}/*"))
    files += sorted(Path(tree).glob("class/infiniband/*/ports/*/*state")) + sorted(Path(tree).glob("class/infiniband/*/hw_counters/*"))
    done = subprocess.run([bench.program(build, "bare_read_loop"), str(int(INTERVAL * 1e6)), str(int(SECONDS / INTERVAL))],
                          input="\n".join(map(str, files)), capture_output=True, text=True, check=True)
    return float(done.stdout)


def share(pid, seconds):
    before, began = processor_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (processor_seconds(pid) - before) / (time.monotonic() - began)


def compare(build, tree, state):
    address = free_address()
    exporter = ["prometheus-node-exporter", f"--path.sysfs={tree}", f"--web.listen-address={address}", "--web.max-requests=1",
                "--collector.disable-defaults", "--collector.infiniband", "--collector.ethtool", "--log.level=error"]
    with Running(exporter, address) as peer:
        peer.scrape(20)
        peer_ms, text = peer.scrape(int(SECONDS / INTERVAL), INTERVAL)
        peer_mb = resident_megabytes(peer.pid)
        peer_series = len(re.findall(r"^node_infiniband_", text, re.MULTILINE))
    with collector(build, tree, state, f"{int(INTERVAL * 1e3)}ms") as ours:
        reading_ms = of_readings(ours)
        scrape_ms, text = ours.scrape(SCRAPES)
        our_mb = resident_megabytes(ours.pid)
        our_series = len(re.findall(r"^weft_(port|rdma)_", text, re.MULTILINE))
    bench.say(f"series of the tree: ours {our_series}, node-exporter's {peer_series}")
    bench.report("processor time of one reading, 8 adapters, ms, beside a tenth of node-exporter's", f"{reading_ms:.3f}", f"{peer_ms / 10:.3f}",
                 bench.ratio(peer_ms / 10 / reading_ms))
    floor_ms = bare_loop(build, tree)
    bench.report("the same, beside a bare loop of pread over its files", f"{reading_ms:.3f}", f"{floor_ms:.3f}", bench.ratio(floor_ms / reading_ms))
    bench.report("the same for each of its values, us, beside a tenth of node-exporter's", f"{reading_ms / our_series * 1e3:.2f}", f"{peer_ms / 10 / peer_series * 1e3:.2f}",
                 bench.ratio(peer_ms / peer_series / 10 / (reading_ms / our_series)))
    bench.report("processor time of one scrape of the page, ms, beside a tenth of node-exporter's", f"{scrape_ms:.3f}", f"{peer_ms / 10:.3f}",
                 bench.ratio(peer_ms / 10 / scrape_ms))
    bench.report("resident memory of weft-collector, MB, beside half of node-exporter's", f"{our_mb:.1f}", f"{peer_mb / 2:.1f}",
                 bench.ratio(peer_mb / 2 / our_mb))


def ship(build, tree, state):
    """With an analyzer: everything at 10 readings a second."""
    http, grpc = free_address(), free_address()
    weftd = Running([bench.program(build, "weftd"), "--state-dir", f"{state}/weftd", "--http", http, "--grpc", grpc,
                     "--listen-socket", f"{state}/weftd.sock", "--infiniband-enabled", "false", "--log-level", "warn"], http)
    with weftd, collector(build, tree, f"{state}/collector", "100ms", "--analyzer", grpc) as ours:
        deadline = time.monotonic() + 30
        while value(page(ours.address), "weft_agent_connected") != 1:
            if time.monotonic() > deadline:
                raise RuntimeError("weft-uplink does not connect")
            time.sleep(0.1)
        uplink = int(Path(f"/proc/{ours.pid}/task/{ours.pid}/children").read_text(encoding="ascii").split()[0])
        time.sleep(2)
        before, began = processor_seconds(uplink), time.monotonic()
        ours_share = share(ours.pid, 20) * 100
        uplink_share = (processor_seconds(uplink) - before) / (time.monotonic() - began) * 100
        bench.report("share of a processor at 10 readings a second, weft-collector, % (limit)", f"{ours_share:.2f}", 1, bench.ratio(1 / ours_share))
        bench.report("share of a processor at 10 batches a second, weft-uplink, %", f"{uplink_share:.2f}", "-", "-")
        bench.report("resident memory of weft-collector while it spools, MB", f"{resident_megabytes(ours.pid):.1f}", "-", "-")
        bench.report("resident memory of weft-uplink, MB", f"{resident_megabytes(uplink):.1f}", "-", "-")


def main():
    parser = bench.arguments(__doc__, [512])
    options = bench.parse(parser)
    if not shutil.which("prometheus-node-exporter"):
        print("prometheus-node-exporter is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="weft-bench-", dir="/dev/shm") as folder:
        tree = os.path.join(folder, "sys")
        sysfs_tree.make(tree, ADAPTERS)
        compare(options.build, tree, f"{folder}/alone")
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as state:
            ship(options.build, tree, state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
