#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One sweep of a subnet that is 200 microseconds away in each direction, in seconds.

Peer: ibqueryerrors --counters --details, which reads the counters of every port one request at a time. The distance is made
by mad_shim.so in each client. ibsim stays on CPU 0; clients and their delay lines may use both.
"""

import sys

import bench_lib as bench

DELAY_US = 200


def measure(adapters, build):
    with bench.subnet(adapters) as net, bench.Measured():
        variables = bench.environment(net, build, DELAY_US)
        round_trip = 1 / bench.bare_loop(net, build, (1,), DELAY_US)[1]
        bench.say(f"{adapters} adapters: one request takes {round_trip * 1e6:.0f} microseconds")
        sweeps = bench.sweeper(net, build, 5, variables)[1]
        ours = min(sweep["seconds"] for sweep in sweeps)
        peer, _ = bench.run(["ibqueryerrors", "--counters", "--details", "--skip-sl"], variables, 900)
    bench.report(f"sweep of {adapters:,} adapters at 200 µs, s, against ibqueryerrors (goal 60)",
                 f"{ours:.3f}", f"{peer:.2f}", bench.ratio(peer / ours))


def main():
    options = bench.parse(bench.arguments(__doc__, [2048]))
    for adapters in options.adapters:
        measure(adapters, options.build)


if __name__ == "__main__":
    sys.exit(main())
