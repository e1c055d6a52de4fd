#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Discovery of a whole subnet by directed routes, in seconds, on ibsim without a subnet manager.

Peer: ibnetdiscover with the window that suits it best. Both are tried beside ibsim on CPU 0 and on CPU 1, the shorter time
counts; ours is the discovery and the time that the program takes to start.
"""

import sys

import bench_lib as bench

WINDOWS = (2, 16, 64, 256)
SLOW = 10_000  # adapters from which on ibnetdiscover spends its time in look-ups, whatever the window


def ours_seconds(net, build, variables):
    times = []
    for place in bench.PLACES.values():
        with bench.Placement(*place):
            start, _ = bench.run([bench.program(build, "weft-sweeper"), "--list"], variables, 60)
            times += [start + bench.sweeper(net, build, 1, variables)[0]["discovery_seconds"] for _ in range(2)]
    return min(times)


def measure(adapters, build, most_windows):
    with bench.subnet(adapters, with_manager=False) as net, bench.Measured():
        variables = bench.environment(net, build)
        ours = ours_seconds(net, build, variables)
        windows = (WINDOWS if adapters < 2 * SLOW else WINDOWS[2:3])[:most_windows]
        peers = {window: bench.fastest(["ibnetdiscover", "-o", str(window)], variables, 600, 2 if adapters < SLOW else 1)
                 for window in windows}
        bench.say(f"{adapters} adapters: ibnetdiscover by window {peers}")
    peer = min(peers.values())
    goal = 10 if adapters > 2 * SLOW else 1
    bench.report(f"discovery of {adapters:,} adapters, s, against ibnetdiscover (goal {goal})",
                 f"{ours:.3f}", f"{peer:.3f}", bench.ratio(peer / ours))


def main():
    parser = bench.arguments(__doc__, [512, 2048, 10240, 39936])
    parser.add_argument("--windows", type=int, default=len(WINDOWS), help="try only so many of the peer's windows")
    options = bench.parse(parser)
    for adapters in options.adapters:
        measure(adapters, options.build, options.windows)


if __name__ == "__main__":
    sys.exit(main())
