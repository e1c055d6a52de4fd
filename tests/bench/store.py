#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the store commits a second, on SQLite, on PostgreSQL over loopback alone, and on PostgreSQL with a synchronous standby: incidents, and
batches of collectors that are acknowledged; beside the bare library with the same statements, prepared, and beside libpq with the statements of
a transaction in one pipeline. Everything is on the disk of the temporary directory, with fsync. Ratio: ours / peer."""

import os
import subprocess
import sys
import tempfile

import bench_lib as bench

sys.path.insert(0, str(bench.ROOT / "tests" / "support"))
import postgres_pair  # noqa: E402


def measure(options, name, *urls):
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        os.chmod(folder, 0o700)
        done = subprocess.run([bench.program(options.build, "store_commits"), name, str(options.seconds), folder, *urls], check=True, text=True,
                              stdout=subprocess.PIPE)
    sys.stdout.write(done.stdout)
    sys.stdout.flush()


def schemas(postgres, name):
    """Addresses of two new schemas, of ours and of the peer."""
    for schema in (name, name + "_bare"):
        postgres.primary.sql(f"CREATE SCHEMA {schema}")
        yield f"postgresql://weft@127.0.0.1:{postgres.primary.port}/postgres?options=-csearch_path%3D{schema}"


def main():
    parser = bench.arguments(__doc__, [])
    parser.add_argument("--seconds", type=float, default=1, help="of each of five rounds")
    options = bench.parse(parser)
    measure(options, "SQLite")
    if missing := postgres_pair.missing():
        print(f"PostgreSQL: {', '.join(missing)} is not installed")
        return 77
    with postgres_pair.PostgresPair(configuration="fsync = on\n") as postgres:
        postgres.set_standbys(postgres.primary, "")
        postgres.standby.stop()
        measure(options, "PostgreSQL", *schemas(postgres, "alone"))
        postgres.add_standby()  # a new one: the primary keeps no WAL for one that was stopped so long
        if postgres.primary.sql("SHOW fsync") != "on" or postgres.standby.sql("SHOW fsync") != "on":
            sys.exit("fsync is off")
        measure(options, "PostgreSQL with a synchronous standby", *schemas(postgres, "pair"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
