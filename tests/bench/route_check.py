#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables of two-level fat trees of 512, 10,000 and 37,500 hosts followed for every pair, and searched for credit loops:
seconds of one core. The limit is 1 s for 500 hosts; a larger fabric may take as long as 10,000 hosts, 5 s."""

import subprocess
import sys

import bench_lib as bench

# (spines, leaves, hosts for each leaf, seconds)
SHAPES = ((16, 32, 16, 1.0), (100, 250, 40, 5.0), (100, 250, 150, 5.0))


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    for shape in SHAPES:
        done = subprocess.run([bench.program(options.build, "route_check"), *map(str, shape)], check=True, text=True, stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
