# SPDX-License-Identifier: Apache-2.0
"""What the tests in the guest share: a booted machine with our programs, what independent tools say, waiting. Each test file ends with
`kernel_testing.main()`."""

import os
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))

import machine  # noqa: E402
import guest_programs  # noqa: E402
import stage  # noqa: E402
from packages import Unavailable  # noqa: E402
from program_testing import BUILD, main, program, require_programs  # noqa: E402, F401

# Bounds for a machine that does much else at the same time; nothing is concluded from how long a thing took.
PATIENCE = 240
NODE = "node-1"  # the guest's name for itself


def wait_until(what, within: float = PATIENCE, every: float = 0.1, why="it did not happen"):
    """The first truthy `what()`. Raises AssertionError with `why` (or why()) after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        if result := what():
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"{why() if callable(why) else why} (waited {within:.0f} s)")
        time.sleep(every)


class GuestTest(unittest.TestCase):
    """A guest for all tests of the class. Tests run in the order of their names and go on where the one before left."""

    programs: tuple[str, ...] = ()  # of ours, that the guest gets
    adapters = 1  # PCI devices that scripted_nic can take
    hardware: tuple[str, ...] = ()  # further options of qemu
    guest: machine.Machine

    @classmethod
    def setUpClass(cls):
        require_programs(*cls.programs)
        try:
            image = machine.make_image(BUILD, [program(name) for name in cls.programs])
        except Unavailable as error:
            raise unittest.SkipTest(str(error)) from error
        cls.guest = machine.Machine(image, cls.adapters, cls.hardware)
        try:
            cls.guest.start()
            cls.set_up_guest()
        except BaseException:
            cls.guest.stop()
            raise

    @classmethod
    def set_up_guest(cls) -> None:
        """What the subclass needs in the guest before its first test."""

    @classmethod
    def tearDownClass(cls):
        try:
            guest_programs.check_logs(cls.guest)
        finally:
            cls.guest.stop()

    # -- what independent tools say

    def rdma_statistics(self) -> dict[str, dict[str, int]]:
        """Device to what `rdma statistic` says of its port 1."""
        return {entry["ifname"]: {name: value for name, value in entry.items() if name not in ("ifname", "port")}
                for entry in self.guest.json("rdma -j statistic show")}

    def hw_counters(self, device: str) -> dict[str, int]:
        """The same from sysfs."""
        text = self.guest.get(f"cd /sys/class/infiniband/{device}/ports/1/hw_counters && grep -v '^$' * /dev/null")
        return {name: int(value) for name, value in (line.split(":", 1) for line in text.splitlines()) if name != "lifespan"}

    def ethtool_statistics(self, netdev: str) -> dict[str, int]:
        """What `ethtool -S` says."""
        lines = self.guest.get(f"ethtool -S {netdev}").splitlines()[1:]
        return {name.strip(): int(value) for name, value in (line.rsplit(":", 1) for line in lines)}

    def carrier_changes(self, netdev: str) -> tuple[int, int]:
        """(up, down) counts of sysfs."""
        text = self.guest.get(f"cat /sys/class/net/{netdev}/carrier_up_count /sys/class/net/{netdev}/carrier_down_count")
        up, down = (int(word) for word in text.split())
        return up, down

    def module_readings(self, netdev: str) -> dict[str, list[float]]:
        """What `ethtool -m` decodes of the optical module, in base units; lane by lane where there are lanes."""
        units = {"degrees C": 1, "V": 1, "mA": 1e-3, "mW": 1e-3}
        found: dict[str, list[float]] = {}
        for line in self.guest.get(f"ethtool -m {netdev}").splitlines():
            match = re.match(r"\s*(.*?)\s*(?:\(Channel \d+\)\s*)?: (-?[0-9.]+) (degrees C|V|mA|mW)\b", line)
            if match and "threshold" not in match[1]:
                found.setdefault(match[1], []).append(float(match[2]) * units[match[3]])
        return found

    def dropped(self, netdev: str) -> int:
        """By netem, as `tc` says."""
        return int(re.search(r"dropped (\d+)", self.guest.get(f"tc -s qdisc show dev {netdev}"))[1])


SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Samples:
    """A page of /metrics."""

    def __init__(self, text: str):
        self._values: dict[tuple[str, frozenset], float] = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, labels, value = SAMPLE.match(line).groups()
                series = name, frozenset(LABEL.findall(labels or ""))
                if series in self._values:
                    raise AssertionError(f"{line} is listed twice")
                self._values[series] = float(value)

    def get(self, name: str, **labels: str) -> float | None:
        """The value of the one series that has these labels among its own; None where there is none."""
        wanted = set(labels.items())
        found = [value for (known, its), value in self._values.items() if known == name and wanted <= its]
        if len(found) > 1:
            raise AssertionError(f"{len(found)} series are called {name}{labels}")
        return found[0] if found else None

    def names(self, **labels: str) -> set[str]:
        wanted = set(labels.items())
        return {name for name, its in self._values if wanted <= its}

    def series(self, name: str) -> list[dict[str, str]]:
        return [dict(its) for known, its in self._values if known == name]


class CollectorTest(GuestTest):
    """A collector runs in the guest, without any privilege. Counters that stand still must be shown as they stand; those that move, never
    lower than before nor higher than afterwards."""

    programs = ("weft-collector",)
    configuration = """
[reading]
interval = "250ms"

[metrics]
zeros = true
"""
    rights = guest_programs.WITHOUT_RIGHTS

    @classmethod
    def set_up_guest(cls):
        cls.collector = guest_programs.Collector(cls.guest, cls.configuration)
        cls.collector.start(cls.rights)
        wait_until(cls.collector.page, why=cls.collector.log)

    def tearDown(self):
        self.assertTrue(self.collector.is_running(), f"weft-collector ended; {self.collector.log()}")

    def page(self) -> Samples:
        return Samples(self.collector.page())

    def shown(self, page: Samples, device: str, expected: stage.Expected) -> float | None:
        return page.get(expected.metric, node=NODE, device=device, **dict(expected.labels))

    def differences(self, page: Samples, device: str, table: dict[str, stage.Expected], told: dict[str, int]) -> list[str]:
        """Where the page does not say what the kernel told to a tool; `table` has the names."""
        lines = []
        for name, expected in table.items():
            shown = self.shown(page, device, expected)
            if shown is None or abs(shown - told[name] * expected.factor) > 1e-9 * abs(shown):
                lines.append(f"{device} {name}: told {told[name]}, shown {shown} as {expected.metric}{dict(expected.labels)}")
        return lines

    def expect_same(self, differences) -> Samples:
        """Waits until `differences(page)`, lines of text, has none to tell: a page may be older than what the tool was told."""
        last: list = []

        def same():
            page = self.page()
            last[:] = differences(page)
            return page if not last else None

        return wait_until(same, why=lambda: "\n".join(last[:20]))

    def expect_same_statistics(self, *devices: str) -> Samples:
        """Every counter of these soft-RoCE devices is shown as `rdma statistic` and sysfs have it."""
        def differences(page):
            told = self.rdma_statistics()
            lines = [line for device in devices for line in self.differences(page, device, stage.RXE, told[device])]
            return lines + [f"rdma and sysfs differ on {device}" for device in devices if told[device] != self.hw_counters(device)]

        return self.expect_same(differences)
