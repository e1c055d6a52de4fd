"""weft-collector streams to weftd over loopback in one guest: cables are pulled and flap, connections are given up, and weftd says so."""

import re

import kernel_testing
import guest_programs
from kernel_testing import NODE, CollectorTest, wait_until
from weft_client import is_open


def seconds(timestamp: str) -> float:
    """Of a protobuf timestamp in JSON: "2026-11-21T14:05:23.120Z", in seconds since 1970."""
    from datetime import datetime, timezone
    whole, fraction = re.match(r"([^.Z]*)(\.\d+)?Z$", timestamp).groups()
    return datetime.fromisoformat(whole).replace(tzinfo=timezone.utc).timestamp() + float(fraction or 0)


class Incidents(CollectorTest):
    programs = ("weftd", "weft-collector", "weft-uplink")
    configuration = """
[analyzer]
address = "127.0.0.1:9641"
"""

    @classmethod
    def set_up_guest(cls):
        cls.guest.get("roce_pair 0 && roce_pair 1 && roce_pair 2")
        cls.weftd = guest_programs.Weftd(cls.guest)
        cls.weftd.start()
        super().set_up_guest()
        wait_until(cls.is_heard, why=lambda: cls.weftd.log() + cls.collector.log())
        cls.guest.get("traffic 2 doomed")

    @classmethod
    def is_heard(cls) -> bool:
        return cls.weftd.answers() and any(
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

    def expect_soon_after(self, when: str, fault: float) -> None:
        """By the guest's clock, which weftd and the fault share, so that a slow machine here changes little."""
        self.assertGreaterEqual(seconds(when), fault - 0.001)
        self.assertLess(seconds(when), fault + 1)

    def test_1_cable_pulled(self):
        pulled = float(self.guest.get("inject 0 pull"))
        incident = self.incident("LINK_DOWN", "rxe00")
        self.expect_soon_after(incident["opened"], pulled)
        self.assertEqual([], [other for other in self.weftd.incidents("LINK_DOWN") if other["cause"]["device"] == "rxe01"],
                         "the other end was set down by hand")
        self.guest.get("inject 0 plug")
        self.incident("LINK_DOWN", "rxe00", lambda known: not is_open(known))

    def test_2_short_flap(self):
        pulled, plugged = (float(word) for word in self.guest.get("inject 1 flap 0.3").split())
        incident = self.incident("LINK_DOWN", "rxe10", lambda known: True)
        self.expect_soon_after(incident["opened"], pulled)
        incident = self.incident("LINK_DOWN", "rxe10", lambda known: not is_open(known))
        self.assertGreater(seconds(incident["resolved"]), plugged)

    def test_3_flapping(self):
        self.guest.get("for _ in 1 2 3; do inject 1 flap 0.3; sleep 0.3; done")
        self.incident("LINK_FLAP", "rxe10")

    def test_4_retries_exhausted(self):
        wait_until(lambda: self.rdma_statistics()["rxe20"]["retry_exceeded_err"], why="the doomed connection lives")
        self.incident("RDMA_ERRORS", "rxe20")

    def test_5_collector_lost(self):
        self.collector.kill()
        found = wait_until(lambda: [incident for incident in self.weftd.incidents("TELEMETRY_LOST") if is_open(incident)])
        self.assertEqual(("COLLECTOR", NODE), (found[0]["cause"]["kind"], found[0]["cause"]["host"]))
        self.collector.start()
        wait_until(lambda: not [incident for incident in self.weftd.incidents("TELEMETRY_LOST") if is_open(incident)],
                   why=lambda: self.weftd.log() + self.collector.log())


if __name__ == "__main__":
    kernel_testing.main()
