#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One million series scraped from the daemon's server by real Prometheus and VictoriaMetrics, in seconds.

The limit is the scrape interval: a scrape that takes longer leaves holes. The first scrape creates all series and is slower
than all later ones; both are given. What the scraper counts must be at least a million samples.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

import bench_lib as bench
from weft_client import free_port

SERIES = 1_000_000
INTERVAL = 30
PATIENCE = 240
CONFIGURATION = """\
global: {{scrape_interval: {interval}s, scrape_timeout: {interval}s}}
scrape_configs:
  - job_name: weft
    {more}
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
SCRAPERS = {
    "prometheus": (lambda place, address: [
        f"--config.file={place}/scrape.yml", f"--storage.tsdb.path={place}/data", f"--web.listen-address={address}", "--log.level=warn"], ""),
    "victoria-metrics": (lambda place, address: [
        f"-promscrape.config={place}/scrape.yml", f"-storageDataPath={place}/data", f"-httpListenAddr={address}", "-retentionPeriod=1d",
        "-search.latencyOffset=0s", "-promscrape.maxScrapeSize=500000000"], "stream_parse: true"),
}


@contextlib.contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def value_of(address, expression):
    """The one value of a query, or None while there is none."""
    url = f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=30) as answer:
            result = json.load(answer)["data"]["result"]
    except OSError:
        return None
    return float(result[0]["value"][1]) if result else None


def durations(address, process, log):
    """How long the first and a later scrape took, and how many samples the last one gave."""
    first = None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        count = value_of(address, "scrape_samples_scraped")
        taken = value_of(address, "scrape_duration_seconds")
        if count and count >= SERIES and taken:
            if first is None:
                first = taken
            elif taken != first:
                return first, taken, int(count)
        time.sleep(1)
    sys.exit(f"not scraped twice within {PATIENCE} s: {log.read_text(errors='replace')[-2000:]}")


def measure(name, build):
    program = shutil.which(name, path=os.environ.get("PATH", "") + bench.SBIN)
    if not program:
        print(f"not installed: {name}")
        sys.exit(77)
    arguments, more = SCRAPERS[name]
    serve = subprocess.Popen([bench.program(build, "metrics_server"), str(SERIES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder, ended(serve):
        place, address = Path(folder), f"127.0.0.1:{free_port()}"
        (place / "scrape.yml").write_text(
            CONFIGURATION.format(interval=INTERVAL, more=more, port=int(serve.stdout.readline())), encoding="ascii")
        with open(place / "log", "wb") as log, ended(subprocess.Popen(
                [program, *arguments(folder, address)], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)) as scraper:
            first, later, count = durations(address, scraper, place / "log")
    bench.report(f"scrape of {count:,} series by {name}, first, s (limit: the interval)", f"{first:.2f}", INTERVAL, bench.ratio(INTERVAL / first))
    bench.report(f"scrape of {count:,} series by {name}, later, s (limit: the interval)", f"{later:.2f}", INTERVAL, bench.ratio(INTERVAL / later))


def main():
    parser = bench.arguments(__doc__, [])
    options = bench.parse(parser)
    for name in SCRAPERS:
        measure(name, options.build)


if __name__ == "__main__":
    sys.exit(main())
