#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Deciding about bad links on three-level fat trees of 6,000 and 100,000 links, half of whose hosts run one job: seconds of one core.
The limit is 10 ms for one link of 100,000."""

import subprocess
import sys

import bench_lib as bench

# (pods, leaves of a pod, aggregation switches of a pod, cores above each)
SHAPES = ((8, 16, 16, 32), (32, 32, 32, 64))
LIMIT = 0.010


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    for shape in SHAPES:
        done = subprocess.run([bench.program(options.build, "remedy_decision"), *map(str, shape), str(LIMIT)], check=True, text=True,
                              stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
