#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Deciding about bad links on three-level fat trees of 100,000 links, half of whose hosts run one job, where leaves, pairs of leaves and
rails keep 50 % or 75 %: seconds of one core for one more and for all at once, how many bad links stay in service, and the share of the
optimum. The limits are 10 ms for one more and 50 ms for all. The first shape is that of CorrOpt (SIGCOMM'17), where one uplink of a leaf
is a quarter of its ways; there also with all the trouble in four pods. At last what is hardest to search: links that are all alike, in one
pod, where 90 % are kept. Then 300 bad links beside 3,000 that are avoided, within 100 ms, and 300 of 40,000 hosts that plans hold drained,
within 50 ms."""

import subprocess
import sys

import bench_lib as bench

# (pods, leaves of a pod, aggregation switches of a pod, cores above each), pods with bad links
SHAPES = (((254, 48, 4, 48), 254), ((254, 48, 4, 48), 4), ((32, 32, 32, 64), 32))
SHARES = (0.5, 0.75)
BAD_LINKS = (1, 20, 130)
ALIKE = (32, 32, 32, 64, 0.9, 130, 1, 1e-9)
AVOIDED = ((254, 48, 4, 48, 0.75, 300, 254, 0, 3000), (32, 32, 32, 64, 0.75, 300, 32, 0, 3000))
HELD = (40_000, 300)


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    setups = [(*shape, share, bad, pods) for shape, pods in SHAPES for share in SHARES for bad in BAD_LINKS]
    runs = [("remedy_decision", setup) for setup in (*setups, ALIKE, *AVOIDED)] + [("held_hosts", HELD)]
    for program, setup in runs:
        arguments = [str(value) for value in setup]
        done = subprocess.run([bench.program(options.build, program), *arguments], check=True, text=True, stdout=subprocess.PIPE)
        sys.stdout.write(done.stdout)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
