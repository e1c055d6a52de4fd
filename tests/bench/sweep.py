#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sweeps of a whole subnet (states and counters of every port) in MADs a second, on ibsim.

Peers: a bare libibumad loop with its best window, and OpenSM's PerfMgr with 64 or 500 outstanding, whichever is faster.
ibsim stays on CPU 0, all clients on CPU 1, where all are fastest. Rounds alternate and the best of each counts: other work
on the machine only ever makes a rate lower.
"""

import sys

import bench_lib as bench

ROUNDS = 3


def measure(adapters, build):
    with bench.subnet(adapters) as net, bench.Placement(*bench.APART), bench.Measured():
        variables = bench.environment(net, build)
        ours, bare = [], {}
        for _ in range(ROUNDS):
            for window, rate in bench.bare_loop(net, build).items():
                bare[window] = max(rate, bare.get(window, 0))
            sweeps = bench.sweeper(net, build, 4, variables)[1]
            ours.append(max(sweep["mads_per_second"] for sweep in sweeps))
        bench.say(f"{adapters} adapters: bare loop by window {bare}, ours {ours}")
        perfmgr = {outstanding: bench.perfmgr_rate(net, build, outstanding) for outstanding in (64, 500)}
        bench.say(f"{adapters} adapters: PerfMgr by requests outstanding {perfmgr}")
    mine, best, manager = max(ours), max(bare.values()), max(perfmgr.values())
    bench.report(f"sweep of {adapters:,} adapters, MADs/s, against a bare umad loop (goal 0.90)",
                 bench.count(mine), bench.count(best), bench.ratio(mine / best))
    bench.report(f"sweep of {adapters:,} adapters, MADs/s, against OpenSM PerfMgr (goal 1.5)",
                 bench.count(mine), bench.count(manager), bench.ratio(mine / manager))


def main():
    options = bench.parse(bench.arguments(__doc__, [2000, 10240]))
    for adapters in options.adapters:
        measure(adapters, options.build)


if __name__ == "__main__":
    sys.exit(main())
