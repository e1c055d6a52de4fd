# SPDX-License-Identifier: Apache-2.0
"""What the tests of a site share that need no fabric: two shards on one PostgreSQL."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Weftd, wait_until  # noqa: E402

SECTIONS = """
enabled = false
[store]
url = "{url}"
[site]
shard = "{shard}"
"""


class FabriclessSite(unittest.TestCase):
    """Two weftd without fabrics, as two shards of one site."""

    TELEMETRY = ""  # a section of the configuration

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        cls.postgres = PostgresPair()
        cls.addClassCleanup(cls.postgres.stop)
        cls.postgres.start_alone()
        cls.url = f"postgresql://weft@127.0.0.1:{cls.postgres.primary.port}/postgres"
        cls.north, cls.south = cls.make("north"), cls.make("south")
        for weftd in (cls.north, cls.south):
            cls.addClassCleanup(weftd.stop)
            weftd.start(wait=False)
            cls.wait_log(weftd, "HTTP on")

    @classmethod
    def make(cls, shard: str, collectors: list[str] | None = None) -> Weftd:
        own = f"collectors = {json.dumps(collectors)}\n" if collectors else ""
        return Weftd(dict(os.environ), infiniband=SECTIONS.format(url=cls.url, shard=shard) + own + cls.TELEMETRY)

    @staticmethod
    def wait_log(weftd: Weftd, words: str) -> None:
        wait_until(lambda: words in weftd.log(), 30, why=lambda: f"{words!r} is not in:\n{weftd.log()}")
