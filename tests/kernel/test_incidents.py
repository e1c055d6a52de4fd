# SPDX-License-Identifier: Apache-2.0
"""weft-collector streams to weftd over loopback in one guest: cables are pulled and flap, connections are given up, and weftd says so."""

import re
from datetime import datetime, timezone

import guest_programs
import kernel_testing
import stage
from kernel_testing import NODE, CollectorTest, wait_until
from weft_client import is_open


def seconds(timestamp: str) -> float:
    """Of a protobuf timestamp in JSON: "2026-11-21T14:05:23.120Z", in seconds since 1970."""
    whole, fraction = re.match(r"([^.Z]*)(\.\d+)?Z$", timestamp).groups()
    return datetime.fromisoformat(whole).replace(tzinfo=timezone.utc).timestamp() + float(fraction or 0)


class Incidents(CollectorTest):
    programs = ("weftd", "weft-collector", "weft-uplink")
    configuration = """
[analyzer]
address = "127.0.0.1:9641"
[reading]
interval = "500ms"
"""

    @classmethod
    def set_up_guest(cls):
        cls.guest.get("roce_pair 0 && roce_pair 1 && roce_pair 2")
        cls.weftd = guest_programs.Weftd(cls.guest)
        cls.weftd.start()
        super().set_up_guest()
        wait_until(cls.is_heard, why=lambda: cls.weftd.log() + cls.collector.log())
        cls.guest.get("traffic 2 doomed")
        cls.nic = stage.ScriptedNic(cls.guest, stage.MLX5)

    @classmethod
    def is_heard(cls) -> bool:
        return cls.weftd.is_ready() and any(
            collector["host"] == NODE and collector["state"] == "CONNECTED" and "reading" in collector
            for collector in cls.weftd.json("/api/v1/collectors").get("collectors", []))

    def tearDown(self):
        super().tearDown()
        self.assertTrue(self.weftd.is_running(), f"weftd ended; {self.weftd.log()}")

    def incident(self, kind: str, device: str, wanted=is_open) -> dict:
        """The incident that blames this host port, once `wanted` holds for it."""
        def found():
            for incident in self.weftd.incidents(kind):
                cause = incident["cause"]
                blamed = cause["kind"], cause.get("host"), cause.get("device"), cause.get("port")
                if blamed == ("HOST_PORT", NODE, device, 1) and wanted(incident):
                    return incident
            return None

        return wait_until(found, why=lambda: f"no such {kind} of {device}: {self.weftd.json('/api/v1/incidents')}")

    def expect_within_a_second(self, pairs: tuple[int, int], fault: str) -> str:
        """The cable of a pair is pulled; LINK_DOWN must be open a second later by the clock of the guest, in which all of this is. A hiccup
        of the machine below stops the guest as well, so there is a second try, on a pair that comes only then. The device's name."""
        delays = []
        for pair in pairs:
            device = f"rxe{pair}0"
            if self.guest.run(f"test -e /sys/class/infiniband/{device}").code:
                self.guest.get(f"roce_pair {pair}")
                wait_until(lambda: self.weftd_shows_up(device), why=lambda: self.weftd.log() + self.collector.log())
            pulled = float(self.guest.get(f"inject {pair} {fault}").split()[0])
            delays.append(seconds(self.incident("LINK_DOWN", device, lambda known: True)["opened"]) - pulled)
            self.assertGreaterEqual(delays[-1], -0.001, "before the fault")
            if delays[-1] < 1:
                print(f"LINK_DOWN {delays[-1]:.3f} s after the cable was pulled ... ", end="", flush=True)
                return device
        raise AssertionError(f"LINK_DOWN came late: {delays} s after the cable was pulled")

    def weftd_shows_up(self, device: str) -> bool:
        page = kernel_testing.Samples(self.guest.get("wget -q -O - http://127.0.0.1:9640/metrics"))
        return page.get("weft_port_up", node=NODE, device=device) == 1

    def test_1_cable_pulled(self):
        device = self.expect_within_a_second((0, 3), "pull")
        peer = device[:-1] + "1"
        self.assertEqual([], [other for other in self.weftd.incidents("LINK_DOWN") if other["cause"]["device"] == peer],
                         "the other end was set down by hand")
        self.guest.get(f"inject {device[3]} plug")
        self.incident("LINK_DOWN", device, lambda known: not is_open(known))

    def test_2_short_flap(self):
        device = self.expect_within_a_second((1, 4), "flap 0.3")
        self.incident("LINK_DOWN", device, lambda known: not is_open(known))

    def test_3_flapping(self):
        self.guest.get("for _ in 1 2 3; do inject 1 flap 0.3; sleep 0.3; done")
        self.incident("LINK_FLAP", "rxe10")

    def test_4_retries_exhausted(self):
        wait_until(lambda: self.rdma_statistics()["rxe20"]["retry_exceeded_err"], why="the doomed connection lives")
        self.incident("RDMA_ERRORS", "rxe20", bool)  # it may be over by now

    def test_5_cable_bad(self):
        """The adapter knows why."""
        wait_until(lambda: self.weftd_shows_up("mlx5_0"))
        self.nic.set({"carrier": 0, "ext_state": 5})  # ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE
        incident = self.incident("LINK_DOWN", "mlx5_0")
        self.assertIn("Cable issue", str(incident))
        self.nic.set({"carrier": 1})
        self.incident("LINK_DOWN", "mlx5_0", lambda known: not is_open(known))

    def test_6_adapter_lost(self):
        """It falls off the bus, and is found again."""
        self.nic.unplug(self.guest.get("basename $(readlink /sys/class/net/eth0/device)").strip())
        self.incident("LINK_DOWN", "mlx5_0")
        self.nic.plug()
        self.guest.get("ip link set eth0 up")
        self.incident("LINK_DOWN", "mlx5_0", lambda known: not is_open(known))

    def test_7_collector_lost(self):
        self.collector.kill()
        found = wait_until(lambda: [incident for incident in self.weftd.incidents("TELEMETRY_LOST") if is_open(incident)])
        self.assertEqual(("COLLECTOR", NODE), (found[0]["cause"]["kind"], found[0]["cause"]["host"]))
        self.collector.start()
        wait_until(lambda: not [incident for incident in self.weftd.incidents("TELEMETRY_LOST") if is_open(incident)],
                   why=lambda: self.weftd.log() + self.collector.log())


if __name__ == "__main__":
    kernel_testing.main()
