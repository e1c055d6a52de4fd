#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the reference of all metrics that are no counters of the catalogue, made from the families that the sources declare.

    deploy/guide/metrics_reference.py > deploy/guide/reference/metrics.md
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HEAD = """\
# Metrics

Generated from the sources by `deploy/guide/metrics_reference.py`. Counters of ports are in [counters.md](counters.md), each with its metric;
all others are here. Alerts on them: [weft.rules.yml](../../../dashboards/prometheus/weft.rules.yml).

Labels of the series of a port: `node`, `guid`, `port` in a subnet or an Ethernet fabric; `node`, `device`, `port` if only a collector reports
it ([details](../ethernet.md#metrics)). Counters that several sources count have the label `source`: see [counters.md](counters.md). Join further
properties of the port from `weft_port_info`:

```
weft_link_stall_ratio * on (node, guid, port) group_left (peer_node, rail) weft_port_info
```

A value that was not read has no series, and a counter of errors, lanes, priorities and directions has none while it never moved: see
[series](../series.md), which also says how a scrape asks for groups of metrics. `promtool check metrics` accepts all of them.
"""

# Where families are declared, and what they are about.
PARTS = (
    ("weftd: ports, fabrics, incidents, plans, hosts", ("api/metrics/*.cpp",)),
    ("weftd: of itself", ("daemon/programs/weftd/*.cpp", "api/grpc/*.cpp", "api/http/*.cpp")),
    ("weft-collector: of itself, beside the ports of its host", ("daemon/programs/collector/*.cpp",)),
)
FAMILY = re.compile(r'"(weft_[a-z0-9_]+)"\s*,\s*(?:MetricType::k(\w+)\s*,\s*)?"((?:[^"\\]|\\.)*)"(?:\s*,\s*MetricType::k(\w+))?')


def families(patterns: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Name → (type, help), in the order of their names."""
    found: dict[str, tuple[str, str]] = {}
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path, encoding="utf-8") as stream:
                text = re.sub(r'"\s*\n\s*"', "", stream.read())  # one sentence over several lines
            for name, before, sentence, after in FAMILY.findall(text):
                kind = (before or after or ("Counter" if name.endswith("_total") else "Info" if name.endswith("_info") else "Gauge")).lower()
                found.setdefault(name, (kind, sentence.replace('\\"', '"')))
    return dict(sorted(found.items()))


def main() -> int:
    print(HEAD, end="")
    for heading, patterns in PARTS:
        print(f"\n## {heading}\n\n| metric | type | meaning |\n| --- | --- | --- |")
        for name, (kind, sentence) in families(patterns).items():
            print(f"| `{name}` | {kind} | {sentence.replace('|', chr(92) + '|')} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
