#!/usr/bin/python3
"""One analysis pass over two-level fat trees of 1,000 to 100,000 ports: seconds of one core. The limit is 0.2 s for 48,000
ports, and grows with them. Then what hosts tell, judged for one job of 1,250 and 10,000 hosts with eight adapters each."""

import subprocess
import sys

import bench_lib as bench

# (spines, leaves, hosts for each leaf)
SHAPES = ((8, 24, 20), (24, 96, 40), (40, 230, 60), (100, 250, 140))


def ports(spines, leaves, hosts):
    return spines * (leaves + 1) + leaves * (spines + hosts + 1) + leaves * hosts


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    for shape in SHAPES:
        limit = 0.2 * max(1.0, ports(*shape) / 48000)
        done = subprocess.run([bench.program(options.build, "analysis_pass"), *map(str, shape), f"{limit:.2f}"], check=True, text=True,
                              stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()
    for hosts, limit in ((1250, 0.05), (10000, 0.2)):
        done = subprocess.run([bench.program(options.build, "straggler_pass"), str(hosts), "8", f"{limit:.2f}"], check=True, text=True,
                              stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
