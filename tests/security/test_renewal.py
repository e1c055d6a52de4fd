# SPDX-License-Identifier: Apache-2.0
"""Certificates of collectors over time: renewed in time and not, and with another weftd of a pair."""

import os
import subprocess

import security_testing
import postgres_pair  # found by way of security_testing
from enrollment_testing import Collector, EnrollmentTest
from security_testing import GuardedWeftd, wait_until


class Renewal(EnrollmentTest):
    LIFETIME = "20s"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.state = os.path.join(cls.place, "renewing")

    def start(self, grpc_address: str = "") -> GuardedWeftd:
        """On the same store, and at the same address as before."""
        weftd = GuardedWeftd(self.place, self.lines() + self.enroll_lines(), grpc_address=grpc_address, state=self.state)
        self.addCleanup(weftd.stop)
        return weftd

    def test_certificates_are_renewed_while_batches_go_on(self):
        first = self.start()
        token_file = self.token_for(first, "gpu-01")
        first.stop()
        weftd = self.start(first.grpc)  # the token is in the store
        collector = self.collector(weftd, "gpu-01", token_file)
        self.wait_connected(weftd, collector, "gpu-01")
        serials = {collector.serial()}
        for _ in range(2):
            wait_until(lambda: collector.serial() not in serials, 40, why=lambda: f"it is not renewed:\n{collector.log()}\n{weftd.log()}")
            serials.add(collector.serial())
        collector.wait_log("renewed: the certificate ends at")
        weftd.wait_log("gpu-01 has a new certificate, until")
        self.assertEqual([True], [one["ok"] for one in self.told(weftd)["gpu-01"]["sources"] if one["name"] == "certificate"])
        # The new one counts: the first one has ended by now, and weftd asks again.
        weftd.stop()
        again = self.start(first.grpc)
        self.wait_connected(again, collector, "gpu-01")
        self.assertEqual(0, int(self.told(again)["gpu-01"].get("lostBatches", 0)))
        self.assertEqual(0, collector.metric("weft_agent_lost_batches_total{reason=\"disk\"}"))
        # Away for longer than a certificate lasts: a new token helps.
        again.stop()
        collector.stop()
        own = collector.file("certificate.pem")
        wait_until(lambda: subprocess.run(["openssl", "x509", "-in", own, "-noout", "-checkend", "0"], capture_output=True, check=False).returncode == 1,
                   40, 0.5, lambda: "the certificate does not end")
        last = self.start(first.grpc)
        late = self.collector(last, "gpu-01", token_file)
        late.wait_log("the certificate was not renewed", "the certificate ended at", "weftctl enroll gpu-01")
        self.token_for(last, "gpu-01")
        self.wait_connected(last, late, "gpu-01")


class FailingRenewal(EnrollmentTest):
    LIFETIME = "60s"

    def test_weftd_hears_of_it_before_the_end(self):
        """The disk of the node is full, in a way: its folder is one no more."""
        weftd = self.weftd_with(self.lines() + self.enroll_lines())
        collector = self.collector(weftd, "gpu-01", self.token_for(weftd, "gpu-01"))
        self.wait_connected(weftd, collector, "gpu-01")
        folder = collector.file("")[:-1]
        os.rename(folder, folder + ".away")
        with open(folder, "w", encoding="utf-8"):
            pass

        def said() -> str:
            return next(one for one in self.told(weftd)["gpu-01"]["sources"] if one["name"] == "certificate").get("message", "")

        wait_until(lambda: "it is not renewed and ends at" in said(), 60, why=lambda: f"{self.told(weftd)}\n{collector.log()[-3000:]}")
        self.assertEqual(1, self.metric(weftd, 'weft_collector_sources_failing{source="certificate"}'))
        self.assertIn("certificate FAILS: it is not renewed", self.weftctl(weftd, "collectors").stdout)
        self.assertGreater(collector.metric("weft_agent_certificate_failures_total"), 0)
        os.remove(folder)
        os.rename(folder + ".away", folder)
        wait_until(lambda: said() == "", 60, why=lambda: f"{self.told(weftd)}\n{collector.log()[-3000:]}")
        self.assertEqual(0, int(self.told(weftd)["gpu-01"].get("lostBatches", 0)))


class Pair(EnrollmentTest):
    """Two weftd on one PostgreSQL, with the same authority."""

    def test_the_weftd_that_takes_over_knows_the_tokens(self):
        if postgres_pair.missing():
            self.skipTest(f"not installed: {', '.join(postgres_pair.missing())}")
        postgres = postgres_pair.PostgresPair()
        self.addCleanup(postgres.stop)
        postgres.start_alone()
        store = f'\n[store]\nurl = "postgresql://weft@127.0.0.1:{postgres.primary.port}/postgres"\n'
        pair = []
        for _ in range(2):
            pair.append(GuardedWeftd(self.mine, self.lines() + self.enroll_lines() + store))
            self.addCleanup(pair[-1].stop)
        leader, standby = pair
        token_file, used = self.token_for(leader, "gpu-01"), self.token_for(leader, "gpu-02")
        request = self.request()
        self.assertEqual("OK", self.enroll(leader, used, "gpu-02", request))
        done = self.weftctl(standby, "enroll", "gpu-03")
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertEqual("UNAVAILABLE", self.enroll(standby, token_file, "gpu-01", request), "it could not use it up")
        leader.process.kill()
        leader.process.wait()
        collector = Collector(self, os.path.join(self.mine, "collector"), "gpu-01", f"{leader.grpc},{standby.grpc}", token_file)
        wait_until(lambda: self.told(standby).get("gpu-01", {}).get("state") == "CONNECTED", 90,
                   why=lambda: f"{collector.log()[-3000:]}\n{standby.log()[-3000:]}")
        self.assertEqual("OK", self.enroll(standby, used, "gpu-02", request), "the same key")
        self.assertEqual("UNAUTHENTICATED", self.enroll(standby, used, "gpu-02", self.request("other")), "another one")
        self.assertEqual("OK", self.enroll(standby, self.token_for(standby, "gpu-03"), "gpu-03", request))


if __name__ == "__main__":
    security_testing.main()
