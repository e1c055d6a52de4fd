#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One analysis pass over two-level fat trees of 1,000 to 100,000 ports: seconds of one core, and memory. The limits, for
48,000 ports × 40 counters: 0.2 s, 1 GB; time may grow with the ports, memory may not. Ends with how both grow. Then what hosts tell,
judged for one job of 1,250 and 10,000 hosts with eight adapters each."""

import subprocess
import sys

import bench_lib as bench

# (spines, leaves, hosts for each leaf)
SHAPES = ((8, 24, 20), (24, 96, 40), (40, 230, 60), (100, 250, 140))
LIMIT_SECONDS = 0.2
LIMIT_PORTS = 48_000
LIMIT_BYTES = 1 << 30


def ports(spines, leaves, hosts):
    return spines * (leaves + 1) + leaves * (spines + hosts + 1) + leaves * hosts


def growth(rows):
    """Lines of a table: for each size and state of the fabric time, how it stands to its limit, and by how much time grew over
    the size before for each time that the ports did (1: in proportion); and the memory."""
    lines = [f"{'ports':>8} {'counters':>8}  {'fabric':<28} {'ms':>8} {'limit':>6} {'of limit':>8} {'growth':>7} {'MB':>7} {'of limit':>8}"]
    before = {}
    for row in rows:
        ratio = ""
        if row["fabric"] in before:
            smaller = before[row["fabric"]]
            ratio = f"{(row['seconds'] / smaller['seconds']) / (row['ports'] / smaller['ports']):.2f}"
        before[row["fabric"]] = row
        lines.append(f"{row['ports']:>8,} {row['counters']:>8}  {row['fabric']:<28} {row['seconds'] * 1e3:>8.2f} {row['limit'] * 1e3:>6.0f} "
                     f"{row['seconds'] / row['limit']:>8.0%} {ratio:>7} {row['bytes'] / 1e6:>7.0f} {row['bytes'] / LIMIT_BYTES:>8.0%}")
    return lines


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    rows = []
    for shape in SHAPES:
        limit = LIMIT_SECONDS * max(1.0, ports(*shape) / LIMIT_PORTS)
        done = subprocess.run([bench.program(options.build, "analysis_pass"), *map(str, shape)], check=True, text=True,
                              stdout=subprocess.PIPE)
        for line in done.stdout.splitlines():
            fabric, count, counters, seconds, memory = line.split("\t")
            row = {"fabric": fabric, "ports": int(count), "counters": int(counters), "seconds": float(seconds), "limit": limit,
                   "bytes": int(memory)}
            rows.append(row)
            bench.report(f"analysis pass over {row['ports']} ports × {row['counters']} counters, {fabric}, s of one core (limit)",
                         f"{row['seconds']:.4f}", f"{limit:.2f}", f"{limit / row['seconds']:.2f}")
        bench.report(f"memory of the analyzer of {rows[-1]['ports']} ports, with the fabric that it is shown, MB (limit)",
                     f"{rows[-1]['bytes'] / 1e6:.0f}", f"{LIMIT_BYTES / 1e6:.0f}", f"{LIMIT_BYTES / rows[-1]['bytes']:.2f}")
    for line in growth(rows):
        bench.say(line)
    for hosts, limit in ((1250, 0.05), (10000, 0.2)):
        done = subprocess.run([bench.program(options.build, "straggler_pass"), str(hosts), "8", f"{limit:.2f}"], check=True, text=True,
                              stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
