# SPDX-License-Identifier: Apache-2.0
"""The clock of a host is set while its collector is connected to weftd."""

import os
import shutil
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("infiniband", "support")]

import collector_testing  # noqa: E402
import sysfs_tree  # noqa: E402
from collector_testing import Collector  # noqa: E402
from shifted_clock import SHIM, ShiftedClock  # noqa: E402
from weft_testing import Weftd, wait_until  # noqa: E402


class HostClock(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(SHIM):
            raise unittest.SkipTest(f"not built: {SHIM}")
        cls.weftd = Weftd(dict(os.environ), infiniband="enabled = false\n")
        cls.addClassCleanup(cls.weftd.stop)
        cls.weftd.start(wait=False)
        wait_until(lambda: "HTTP on" in cls.weftd.log(), 30, why=cls.weftd.log)

    def read(self, path: str) -> dict:
        try:
            return self.weftd.client.json(path)
        except OSError as error:  # not known yet
            return {"error": str(error)}

    def check(self, name: str, step: float) -> None:
        place = tempfile.mkdtemp(prefix="weft-host-clock-")
        self.addCleanup(shutil.rmtree, place, True)
        os.makedirs(os.path.join(place, "sysfs", "class", "net"))
        device = sysfs_tree.add_adapter(os.path.join(place, "sysfs"), 0, 0xB83FD203_0000_0021)
        clock = ShiftedClock(os.path.join(place, "clock"))
        collector = Collector(os.path.join(place, "sysfs"), analyzer=self.weftd.grpc, interval="100ms", node_name=name)
        collector.environment = clock.preload_in(dict(os.environ))
        self.addCleanup(collector.remove)
        collector.start()

        def verdict() -> dict:
            return self.read(f"/api/v1/nodes/{name}/health")

        def late() -> int:
            return next(int(each.get("lateBatches", 0)) for each in self.read("/api/v1/collectors")["collectors"] if each["host"] == name)

        wait_until(lambda: verdict().get("verdict") == "HEALTHY", 30, why=collector.log)
        before = late()
        clock.set(step)
        sysfs_tree.rewrite(os.path.join(device, "ports", "1", "state"), "1: DOWN")
        wait_until(lambda: [each for each in self.weftd.incidents("LINK_DOWN") if name in each["summary"]], 20,
                   why=lambda: f"{verdict()}\n{self.weftd.log()}\n{collector.log()}")
        self.assertNotEqual("HEALTHY", verdict()["verdict"])
        self.assertLess(late(), before + 20, "those around the step at most")

    def test_a_clock_that_is_set_back_hides_no_link(self):
        for number, step in enumerate((-25, -600, -3600)):
            with self.subTest(step=step):
                self.check(f"back-{number}", step)

    def test_a_clock_that_is_set_forward_hides_no_link(self):
        self.check("forward", 3600)


if __name__ == "__main__":
    collector_testing.main()
