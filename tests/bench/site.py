#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Several weftd on one PostgreSQL with a synchronous standby, everything on this machine, on two of its cores, with fsync:

- questions for the health of a host of the other shard and of a host of the own shard, both to one weftd of a site of two shards, and to a
  weftd without a site, in turn at the same rate. A call's time runs from when it was due. Ratio: peer / ours;
- the most batches of collectors that two shards acknowledge a second, beside one weftd without a site: more and more collectors, until they
  are not followed any more. Ratio: ours / peer;
- 10,000 collectors on a pair: batches acknowledged, of those sent; CPU and memory of the leader, with the limits of ingest.py, and of the
  standby beside the leader. What the database does for them is said on standard error;
- the same in a storm: four links of each host flap from the first second on. Incidents stored at the end, of those that there are.

The simulated collectors, the questions and PostgreSQL run on the same cores.
"""

import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import bench_lib as bench
import ingest

sys.path.insert(0, str(bench.ROOT / "tests" / "support"))
import postgres_pair  # noqa: E402

CORES = (0, 1)
PATIENCE = 120
FLAPPING = 4  # links of each host, in a storm


def database(postgres, name):
    """The address of a new database."""
    postgres.primary.sql(f"CREATE DATABASE {name}")
    return f"postgresql://weft@127.0.0.1:{postgres.primary.port}/{name}"


def weftd(options, url, shard=""):
    return ingest.weftd(options.build, "--store-url", url, *(["--site-shard", shard] if shard else []))


def get(http, path):
    """What weftd answers, or nothing where it answers with an error."""
    with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(f"http://127.0.0.1:{http}{path}", timeout=10) as answer:
        return answer.read().decode()
    return ""


def wait(what, condition):
    for _ in range(PATIENCE * 10):
        if condition():
            return
        time.sleep(0.1)
    sys.exit(f"{what}: not within {PATIENCE} s")


def wait_leads(http):
    wait("it leads", lambda: get(http, "/readyz?role=leader") == "ready\n")


def wait_site(https):
    """Until each of the shards hears all."""
    for http in https:
        wait("the shards answer each other", lambda http=http: [each.get("answers", False) for each in json.loads(get(http, "/api/v1/status")).get(
            "shards", [])] == [True] * len(https))


def connections(count):
    """Streams share connections, as in the first run of ingest.py."""
    return max(1, count // 100)


def measure_questions(options, postgres):
    count = options.hosts
    with contextlib.ExitStack() as stack:
        site = database(postgres, "questions_site")
        _, alone, alone_grpc = stack.enter_context(weftd(options, database(postgres, "questions_alone")))
        _, north, north_grpc = stack.enter_context(weftd(options, site, "north"))
        _, south, south_grpc = stack.enter_context(weftd(options, site, "south"))
        for http in (alone, north, south):
            wait_leads(http)
        wait_site([north, south])
        stack.enter_context(ingest.collectors(options.build, [alone_grpc, north_grpc, south_grpc], count, connections(count), PATIENCE + options.seconds))
        asked = [("alone", alone, alone_grpc, 0), ("local", north, north_grpc, count), ("other", north, north_grpc, 2 * count)]
        for what, http, _, first in asked:
            wait(f"the hosts of {what} are known", lambda http=http, first=first: all(
                get(http, f"/api/v1/nodes/node-{number}/health") for number in (first, first + count - 1)))
        arguments = [str(each) for what, _, server, first in asked for each in (what, server.rpartition(":")[2], "node-", first, count)]
        done = subprocess.run([bench.program(options.build, "health_client"), "beside", str(options.rate), str(options.seconds), *arguments],
                              check=True, text=True, stdout=subprocess.PIPE)
    figures = {line.split()[0]: [float(word) for word in line.split()[1:]] for line in done.stdout.splitlines()}
    for what, (calls, failed, *_) in figures.items():
        if failed or not calls:
            sys.exit(f"{failed:.0f} of {calls:.0f} questions of {what} failed")
    bench.say(f"longest: {', '.join(f'{what} {each[4]:.1f} ms' for what, each in figures.items())}")
    for ours, name in (("other", "host of the other shard"), ("local", "host of the own shard")):
        for peer in ("local", "alone") if ours == "other" else ("alone",):
            for column, what in ((2, "median"), (3, "99th percentile")):
                bench.report(f"site: health of a {name} at {options.rate:.0f}/s, {what}", f"{figures[ours][column]:.2f} ms",
                             f"{peer} {figures[peer][column]:.2f} ms", bench.ratio(figures[peer][column] / figures[ours][column]))


def take(options, name, processes, servers):
    """The most batches that were acknowledged a second, with more and more collectors until they are not followed any more."""
    most = 0.0
    for offered in options.offered:
        each = offered // len(servers)
        with ingest.collectors(options.build, servers, each, connections(each), options.seconds) as clients:
            cores = ingest.cores([process.pid for process in processes], options.seconds / 2)
            said = [ingest.result(client) for client in clients]
        sent, acknowledged, ended = (sum(each[what] for each in said) for what in ("sent", "acknowledged", "ended"))
        wanted = offered * (options.seconds - 1)  # the first turn answers a clock probe
        bench.say(f"{name}, {offered:,} collectors: {sent:,} of {wanted:,} batches sent, {acknowledged:,} acknowledged, {ended:,} streams ended; "
                  f"weftd {' and '.join(f'{each:.2f}' for each in cores)} of a core")
        most = max(most, acknowledged / (options.seconds - 1))
        if acknowledged < ingest.FOLLOWS * wanted:
            return most
    bench.say(f"{name}: it follows them all: this is not its most")
    return most


def measure_shards(options, postgres):
    with weftd(options, database(postgres, "ingest_alone")) as (process, http, server):
        wait_leads(http)
        one = take(options, "one weftd", [process], [server, server])
    url = database(postgres, "ingest_site")
    with weftd(options, url, "north") as (north, north_http, north_grpc), weftd(options, url, "south") as (south, south_http, south_grpc):
        for http in (north_http, south_http):
            wait_leads(http)
        wait_site([north_http, south_http])
        two = take(options, "two shards", [north, south], [north_grpc, south_grpc])
    if not one:
        sys.exit("one weftd acknowledged nothing")
    bench.report("site: two shards, most batches acknowledged a second", f"{two:,.0f}", f"one weftd {one:,.0f}", bench.ratio(two / one))


def measure_pair(options, postgres, storm=False):
    count, where = options.collectors, "storm" if storm else "pair"
    url = database(postgres, where)
    with contextlib.ExitStack() as stack:
        leader, leader_http, server = stack.enter_context(weftd(options, url))
        wait_leads(leader_http)
        standby, standby_http, _ = stack.enter_context(weftd(options, url))
        wait("the standby is ready", lambda: get(standby_http, "/readyz"))
        (client,) = stack.enter_context(ingest.collectors(options.build, [server], count, connections(count), options.seconds, storm))
        before = wal(postgres)
        served = [server_seconds(each) for each in (postgres.primary, postgres.standby)]
        cpu, standby_cpu, client_cpu = ingest.cores([leader.pid, standby.pid, client.pid], options.seconds / 2)
        served = [(server_seconds(each) - earlier) / (options.seconds / 2) for each, earlier in zip((postgres.primary, postgres.standby), served)]
        written = (wal(postgres) - before) / (options.seconds / 2)
        said = ingest.result(client)
        resident, standby_resident = (ingest.megabytes(each.pid, "VmHWM") for each in (leader, standby))
        if get(leader_http, "/readyz?role=leader") != "ready\n" or get(standby_http, "/readyz?role=leader"):
            sys.exit("the leader did not stay the leader")
        stored = int(postgres.primary.run("psql", "-h", "127.0.0.1", "-p", str(postgres.primary.port), "-U", "weft", "-d", where, "-XAtqc",
                                          "SELECT count(*) FROM incident WHERE kind = 'LINK_FLAP'").stdout)
    name = f"site: {count:,} collectors × {ingest.VALUES} values a second on a pair{', in a storm' if storm else ''}"
    bench.say(f"{name}: {said}; the database wrote {written / 1e6:.2f} MB of WAL a second; its primary took {served[0]:.2f} of a core, "
              f"its standby {served[1]:.2f}, the collectors {client_cpu:.2f}")
    bench.report(f"{name}: batches acknowledged a second, of those sent", f"{said['acknowledged'] / (options.seconds - 1):,.0f}",
                 f"{said['sent'] / (options.seconds - 1):,.0f}", bench.ratio(said["acknowledged"] / said["sent"]))
    if storm:
        bench.report(f"{name}: incidents stored, of those that there are", f"{stored:,}", f"{FLAPPING * count:,}", bench.ratio(stored / (FLAPPING * count)))
    elif stored:
        sys.exit(f"{stored:,} incidents without a storm")
    ingest.report(f"{name}: the leader's CPU, cores (limit)", cpu, ingest.LIMIT_CPU, "{:.2f}")
    ingest.report(f"{name}: the leader's resident memory, MB, highest (limit)", resident, ingest.LIMIT_MEGABYTES, "{:.0f}")
    # A short run may see no tick of it.
    ingest.report(f"{name}: the standby's CPU, cores (leader)", max(standby_cpu, 0.001), cpu, "{:.3f}")
    ingest.report(f"{name}: the standby's resident memory, MB, highest (leader)", standby_resident, resident, "{:.0f}")


def server_seconds(server):
    """The CPU that a server of the database took so far, with its processes and those that have ended."""
    ended = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[13:15]
    seconds = sum(map(int, ended)) / ingest.TICKS
    for pid in server.processes():
        with contextlib.suppress(OSError):  # it ended meanwhile
            seconds += ingest.cpu_seconds(pid)
    return seconds


def wal(postgres):
    """Bytes that the primary has written so far."""
    return int(postgres.primary.sql("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"))


def measure_storm(options, postgres):
    measure_pair(options, postgres, storm=True)


PARTS = {"questions": measure_questions, "shards": measure_shards, "pair": measure_pair, "storm": measure_storm}


def main():
    parser = bench.arguments(__doc__, [])
    parser.add_argument("--seconds", type=int, default=ingest.SECONDS, help="of each part")
    parser.add_argument("--rate", type=float, default=200, help="questions a second, of each kind")
    parser.add_argument("--hosts", type=int, default=500, help="of each weftd that is asked for health")
    parser.add_argument("--offered", type=int, nargs="+", default=[*range(5_000, 20_000, 2_500), *range(20_000, 45_000, 5_000)],
                        help="collectors, each with a batch a second, of one weftd or two shards: one number after the other")
    parser.add_argument("--collectors", type=int, default=10_000, help="of the pair")
    parser.add_argument("--only", choices=sorted(PARTS), help="one part")
    parser.add_argument("--quick", action="store_true", help="few collectors, for a few seconds: shows that it works, measures nothing")
    options = bench.parse(parser)
    if options.quick:
        options.seconds, options.hosts, options.offered, options.collectors = 4, 20, [100, 200], 200
    if missing := postgres_pair.missing():
        print(f"PostgreSQL: {', '.join(missing)} is not installed")
        return 77
    with bench.Placement(*CORES), postgres_pair.PostgresPair(configuration="fsync = on\n") as postgres:
        if postgres.primary.sql("SHOW fsync") != "on" or postgres.standby.sql("SHOW fsync") != "on":
            sys.exit("fsync is off")
        for name, measure in PARTS.items():
            if options.only in (None, name):
                measure(options, postgres)
    return 0


if __name__ == "__main__":
    sys.exit(main())
