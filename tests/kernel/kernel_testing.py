"""What the tests in the guest share: a booted machine with our programs, what independent tools say, waiting. Each test file ends with
`kernel_testing.main()`."""

import os
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "infiniband"))

import machine  # noqa: E402
from packages import Unavailable  # noqa: E402
from weft_testing import BUILD, main, program  # noqa: E402, F401

# Bounds for a machine that does much else at the same time; nothing is concluded from how long a thing took.
PATIENCE = 60


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
    guest: machine.Machine

    @classmethod
    def setUpClass(cls):
        for name in cls.programs:
            if not os.access(program(name), os.X_OK):
                raise unittest.SkipTest(f"{name} is not built in {BUILD}")
        try:
            image = machine.make_image(BUILD, [program(name) for name in cls.programs])
        except Unavailable as error:
            raise unittest.SkipTest(str(error)) from error
        cls.guest = machine.Machine(image, cls.adapters)
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
        return {name.strip(): int(value) for name, value in
                (line.rsplit(":", 1) for line in self.guest.get(f"ethtool -S {netdev}").splitlines()[1:])}

    def carrier_changes(self, netdev: str) -> tuple[int, int]:
        """(up, down) counts of sysfs."""
        text = self.guest.get(f"cat /sys/class/net/{netdev}/carrier_up_count /sys/class/net/{netdev}/carrier_down_count")
        up, down = (int(word) for word in text.split())
        return up, down

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
                self._values[name, frozenset(LABEL.findall(labels or ""))] = float(value)

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
