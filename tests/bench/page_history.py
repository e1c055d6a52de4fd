#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A month of history while sweeps go on: a real weftd on a simulated subnet of 10,240 adapters, with 30 days of each of its ports on the disk, is
asked for one port, for the ports of a switch and for the stall of all switches; and the page draws them in Chromium. Limits: one port 100 ms, a switch
500 ms. Beside them stand the processor time of the thread that answers, and how long it waited for a processor: sweeps, and whatever else runs on the
machine. ibsim and OpenSM run on CPU 0, all else on both."""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import bench_lib as bench
import end_to_end
from weft_client import free_port

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "web"))
import browser as driver  # noqa: E402

DAYS = 30
ROUNDS = 15
ROW_COUNTERS = "transmit_bytes,receive_bytes,transmit_wait,symbol_errors,link_downed,link_error_recovery"


class Weftd:
    """While it is entered, it watches the subnet and answers at `url`."""

    def __init__(self, net, build, folder, interval):
        self._port, self._grpc = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self._port}/"
        config = Path(folder) / "weft.toml"
        config.write_text(f'[store]\nhistory_interval = "{interval}"\n', encoding="ascii")
        command = [bench.program(build, "weftd"), "--config", str(config), "--state-dir", f"{folder}/state", "--http", f"127.0.0.1:{self._port}",
                   "--grpc", f"127.0.0.1:{self._grpc}", "--listen-socket", f"{folder}/weftd.sock", "--log-level", "warn"]
        self._process = subprocess.Popen(command, env=bench.environment(net, build), cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def sweeps(self):
        """(number of the last sweep, how long it took to its publication)."""
        return end_to_end.last_sweep(self._port)

    def wait_for(self, what, seconds=300):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"weftd ended with {self._process.returncode}")
            try:
                if found := what():
                    return found
            except OSError:
                pass
            time.sleep(0.5)
        raise RuntimeError(f"not in {seconds} s")

    def history_thread(self):
        """Milliseconds of processor time of the thread that answers questions about the past, and those that it waited for a processor (proc(5),
        schedstat)."""
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            if (thread / "comm").read_text(encoding="ascii").strip() == "history":
                ran, waited, _ = (thread / "schedstat").read_text(encoding="ascii").split()
                return int(ran) / 1e6, int(waited) / 1e6
        raise RuntimeError("weftd has no thread of that name")

    def get(self, path):
        """Milliseconds, and the octets of the answer."""
        began = time.monotonic()
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            size = len(answer.read())
        return (time.monotonic() - began) * 1000, size


def ask(weftd, name, path, limit):
    """As the page asks, ROUNDS times."""
    times, ran, waited = [], [], []
    size = 0
    for _ in range(ROUNDS):
        before = weftd.history_thread()
        try:
            milliseconds, size = weftd.get(path)
            times.append(milliseconds)
            after = weftd.history_thread()
            ran.append(after[0] - before[0])
            waited.append(after[1] - before[1])
        except urllib.error.HTTPError as refused:  # more than two seconds' work on this machine
            bench.say(f"{name}: {refused.code} {refused.read().decode()[:200]}")
        time.sleep(0.2)
    if not times:
        bench.report(name, "not answered", f"{limit} ms" if limit else "-", "-")
        return
    bench.report(f"{name}: median, slowest of {ROUNDS}", f"{statistics.median(times):.0f} ms, {max(times):.0f} ms ({size / 1000:.0f} kB)",
                 f"{limit} ms" if limit else "-", bench.ratio(limit / max(times)) if limit else "-")
    bench.report(f"{name}: its processor time, median; the longest wait for a processor",
                 f"{statistics.median(ran):.0f} ms; {max(waited):.0f} ms", "-", "-")


def draw(page, name, path, sign):
    """From the click to what is drawn, by the page that is open already."""
    times = []
    for _ in range(3):
        page.do("evaluate", script="location.hash = '#/'")
        time.sleep(1.5)
        began = time.monotonic()
        page.do("evaluate", script=f"location.hash = {path!r}")
        page.do("wait", at=sign)
        times.append(time.monotonic() - began)
    bench.report(f"{name}, drawn by the page: median, slowest of 3", f"{statistics.median(times) * 1000:.0f} ms, {max(times) * 1000:.0f} ms", "-", "-")


def measure(adapters, build):
    with bench.subnet(adapters) as net, tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        leaf = max(net.network.switches, key=lambda each: len(each.ports))
        guid = f"0x{leaf.guid:016x}"
        recent = f"api/v1/ports/{guid}/history?points=12"
        with Weftd(net, build, folder, "2s") as weftd:  # so that it begins a history soon
            weftd.wait_for(lambda: weftd.get(recent))
        filled = subprocess.run([bench.program(build, "history_fill"), f"{folder}/state", str(DAYS)], check=True, stdout=subprocess.PIPE, text=True)
        bench.say(filled.stdout.strip())
        with Weftd(net, build, folder, "60s") as weftd:
            weftd.wait_for(lambda: (seen := weftd.sweeps()) and seen[0] > 3)
            begin, before = time.monotonic(), weftd.sweeps()[0]
            name = f"{adapters:,} adapters, {DAYS} days, sweeping"
            since = int(time.time()) - DAYS * 86_400 + 3600
            ask(weftd, f"{name}: one port", f"api/v1/ports/{guid}/12/history?from={since}&points=362&still=1", 100)
            ask(weftd, f"{name}: a switch's {len(leaf.ports)} ports", f"api/v1/ports/{guid}/history?from={since}&points=72&counters={ROW_COUNTERS}", 500)
            for words, seconds in (("1 h", 3600), ("24 h", 86_400), (f"{DAYS} d", DAYS * 86_400 - 3600)):
                ask(weftd, f"{name}: stall of all {len(net.network.switches)} switches, {words}",
                    f"api/v1/switches/stall?from={int(time.time()) - seconds}&points=124&rows=64", 0)
            if shutil.which("chromium"):
                page = driver.Browser(str(build))
                try:
                    began = time.monotonic()
                    page.do("open", url=weftd.url)
                    page.do("wait", at="canvas[data-frames]")
                    bench.report(f"{name}: page opened and drawn", f"{time.monotonic() - began:.1f} s", "2 s", bench.ratio(2 / (time.monotonic() - began)))
                    draw(page, f"{name}: one port", f"#/node/{guid}/port/12?last={DAYS * 86_400 - 3600}", ".chart")
                    draw(page, f"{name}: a switch", f"#/node/{guid}?last={DAYS * 86_400 - 3600}", "table.rows td")
                    draw(page, f"{name}: stall of all switches", f"#/lists/stall?last={DAYS * 86_400 - 3600}", "table.heat td")
                    if results := os.environ.get("WEFT_TEST_RESULTS"):
                        page.do("screenshot", path=os.path.join(results, "page-history-stall.png"))
                finally:
                    page.close()
            swept = weftd.sweeps()[0] - before
            bench.report(f"{name}: sweeps meanwhile", f"{swept} in {time.monotonic() - begin:.0f} s", "-", "-")


def main():
    options = bench.parse(bench.arguments(__doc__, [10240]))
    for adapters in options.adapters:
        measure(adapters, options.build)


if __name__ == "__main__":
    sys.exit(main())
