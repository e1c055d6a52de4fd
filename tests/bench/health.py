#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Schedulers' questions to HealthService: 1,000 Get calls a second for a minute, while a tenth of 10,000 hosts change their state each second,
and all 10,000 in one call, and jobs with the ways between their hosts; beside a gRPC server that only sends back what it gets, of the same size, asked in turn at the same rate by the
same client. A call's time runs from when it was due.

The server is weftd's HealthService and the analyzer's verdicts over a made-up fabric; sweeps and other clients are not there. Limit: 50 ms for
the one call. Ratios: echo / ours, and limit / ours.
"""

import contextlib
import subprocess
import sys

import bench_lib as bench

LEAVES, HOSTS = 250, 40
LIMIT = 50.0


@contextlib.contextmanager
def server(command):
    """(its port, the process); what it says in the end is left in its standard output."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip(), process
    finally:
        if process.poll() is None:
            process.stdin.close()
            process.wait(30)


def main():
    parser = bench.arguments(__doc__, [])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=1000, help="calls a second")
    parser.add_argument("--bulks", type=int, default=21, help="calls for all hosts")
    options = bench.parse(parser)
    shape = [str(LEAVES), str(HOSTS)]
    with server([bench.program(options.build, "health_server"), *shape]) as (health, daemon), \
         server([bench.program(options.build, "echo_server")]) as (echo, _):
        done = subprocess.run([bench.program(options.build, "health_client"), health, echo, *shape, str(options.rate), str(options.seconds),
                               str(options.bulks)], check=True, text=True, stdout=subprocess.PIPE)
        daemon.stdin.close()
        pictures, median = daemon.stdout.readline().split()
        daemon.wait(30)
    figures = {line.split()[0]: [float(word) for word in line.split()[1:]] for line in done.stdout.splitlines()}
    seconds = figures.pop("seconds")[0]
    for what, (calls, failed, *_) in figures.items():
        if failed or not calls:
            sys.exit(f"{failed:.0f} of {calls:.0f} calls of {what} failed")
    get, echoed, bulk, bulk_echo = (figures[name] for name in ("get", "echo", "bulk", "bulk_echo"))
    bench.say(f"{get[0]:.0f} calls in {seconds:.1f} s; {get[5] / get[0]:.1%} of the answers not healthy; {pictures} pictures, {median} ms each; "
              f"an answer for all has {bulk[6]:.0f} octets; longest: get {get[4]:.1f} ms, echo {echoed[4]:.1f} ms, bulk {bulk[4]:.1f} ms")
    if not 0.05 < get[5] / get[0] < 0.15:
        sys.exit("a tenth of the answers should be of hosts that are not healthy")
    hosts = LEAVES * HOSTS
    bench.report(f"health: Get at {options.rate:.0f}/s, answered a second", f"{get[0] / seconds:.0f}", f"asked {options.rate:.0f}",
                 bench.ratio(get[0] / seconds / options.rate))
    for name, column in (("median", 2), ("99th percentile", 3)):
        bench.report(f"health: Get at {options.rate:.0f}/s, {name}", f"{get[column]:.2f} ms", f"echo {echoed[column]:.2f} ms",
                     bench.ratio(echoed[column] / get[column]))
    bench.report(f"health: {hosts:,} nodes in one call, median", f"{bulk[2]:.1f} ms", f"echo {bulk_echo[2]:.1f} ms", bench.ratio(bulk_echo[2] / bulk[2]))
    bench.report(f"health: {hosts:,} nodes in one call, longest of {options.bulks}", f"{bulk[4]:.1f} ms", f"limit {LIMIT:.0f} ms",
                 bench.ratio(LIMIT / bulk[4]))
    # Nobody has set a limit for these: the time between two pictures is taken.
    for nodes, name in ((1000, "job"), (hosts, "whole_job")):
        bench.report(f"health: a job of {nodes:,} scattered hosts, all its ways, median", f"{figures[name][2]:.0f} ms", "a second",
                     bench.ratio(1000 / figures[name][2]))


if __name__ == "__main__":
    sys.exit(main())
