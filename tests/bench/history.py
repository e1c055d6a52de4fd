#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How long questions about port history take: one port, and all 64 ports of a busy switch, over an hour, a day and a month, at a moment a
minute, among 1,024 ports, in processor time. The limit is SQLite reading the same chunks and doing nothing with them. Ratio: ours / limit."""

import subprocess
import sys
import tempfile

import bench_lib as bench


def main():
    parser = bench.arguments(__doc__, [])
    parser.add_argument("--days", type=int, default=30)
    options = bench.parse(parser)
    with tempfile.TemporaryDirectory(prefix="weft-bench-") as folder:
        return subprocess.run([bench.program(options.build, "history_read"), folder, str(options.days)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
