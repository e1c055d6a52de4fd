# SPDX-License-Identifier: Apache-2.0
"""Jobs that hang, told by the real weft-collector on made sysfs trees and judged by the real weftd: which port they wait for."""

import os
import shutil
import subprocess
import tempfile
import threading
import unittest

import collector_testing
import sysfs_tree
from collector_testing import program, wait_until
from ras_stand_in import RasStandIn, status

JOB = "slurm:77"
SILENCE = 10  # seconds
WORDS = 4     # port_xmit_data counts words of four bytes


class Host:
    """A host with one adapter, which sends while it is told to."""

    def __init__(self, place: str, number: int):
        self.name = f"gpu-{number:04d}"
        self.tree = os.path.join(place, self.name)
        os.makedirs(os.path.join(self.tree, "class", "net"))
        self.port = os.path.join(sysfs_tree.add_adapter(self.tree, 0, 0xB83FD203_0000_0000 + number * 16), "ports", "1")
        self.jobs = os.path.join(place, f"{self.name}.jobs")
        self.set_jobs(JOB)
        self.sent = 2_000_000
        self.counts = {}

    def set_jobs(self, text: str) -> None:
        with open(f"{self.jobs}.new", "w", encoding="ascii") as stream:
            stream.write(f"{text}\n")
        os.replace(f"{self.jobs}.new", self.jobs)

    def send(self, count: int) -> None:
        self.sent += count // WORDS
        for name in ("port_xmit_data", "port_rcv_data"):
            sysfs_tree.rewrite(os.path.join(self.port, "counters", name), self.sent)

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1
        sysfs_tree.rewrite(os.path.join(self.port, "hw_counters", name), self.counts[name])


class Hangs(collector_testing.CollectorTest):
    adapters = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in ("weftd", "weftctl"):
            if not os.access(program(name), os.X_OK):
                raise unittest.SkipTest(f"{name} is not built in {collector_testing.BUILD}")

    def setUp(self):
        super().setUp()
        self.place = tempfile.mkdtemp(prefix="weft-hangs-")
        self.addCleanup(shutil.rmtree, self.place, True)
        self.weftd = collector_testing.Weftd(self.place, ("--hang-silence", f"{SILENCE}s", "--analyzer-telemetry-start-grace", "5s"))
        self.addCleanup(self.weftd.end)
        self.hosts = [Host(self.place, number) for number in range(3)]
        self.is_moving, self.retrying, self.is_over = True, None, threading.Event()
        self.traffic = threading.Thread(target=self.work, daemon=True)

    def work(self) -> None:
        """Four times a second: the job's data, and every other second the retries of one host."""
        beat = 0
        while not self.is_over.wait(0.25):
            beat += 1
            for host in self.hosts if self.is_moving else []:
                host.send(100_000_000)
            if self.retrying is not None and beat % 8 == 0:
                self.hosts[self.retrying].count("local_ack_timeout_err")

    def start(self, extra: tuple[str, ...] = ()) -> None:
        self.weftd.start()
        for host in self.hosts:
            one = collector_testing.Collector(host.tree, self.weftd.grpc, "500ms", ("--jobs-file", host.jobs, "--jobs-interval", "500ms", *extra), host.name)
            self.addCleanup(one.remove)
            one.start(wait=False)
        self.traffic.start()
        self.addCleanup(self.traffic.join)
        self.addCleanup(self.is_over.set)
        wait_until(lambda: len([one for one in self.weftd.client.json("/api/v1/collectors").get("collectors", []) if one.get("jobs")]) == 3, 120, why=self.weftd.log)

    def incidents(self) -> list[dict]:
        return self.weftd.client.json("/api/v1/incidents?state=open").get("incidents", [])

    def wait_for(self, expected: dict[str, str]) -> None:
        def told():
            return {one["kind"]: one["cause"]["label"] for one in self.incidents()} == expected
        wait_until(told, 90, why=lambda: f"{self.incidents()}\n{self.weftd.log()[-2000:]}")

    def ctl(self, *arguments: str) -> str:
        return subprocess.run([program("weftctl"), "--server", self.weftd.grpc, *arguments], capture_output=True, text=True, check=False).stdout

    def test_the_port_that_goes_on_retrying_is_named(self):
        self.start()
        self.retrying = 1  # while the job goes on it means nothing
        threading.Event().wait(SILENCE + 5)
        self.assertEqual([], self.incidents())
        self.is_moving = False
        self.wait_for({"JOB_HANG": "gpu-0001 mlx5_0 port 1"})
        incident = self.incidents()[0]
        self.assertEqual(([JOB], "CRITICAL"), (incident["jobs"], incident["severity"]))
        self.assertEqual(f"Job {JOB} hangs: its 3 hosts move no data, and gpu-0001 mlx5_0 port 1 goes on retrying without an answer", incident["summary"])
        self.assertIn("a job hangs", self.ctl("incident", incident["id"]))
        self.assertIn("JOB_HANG", self.weftd.client.text("/metrics"))
        wait_until(lambda: {one["node"]: one["verdict"] for one in self.weftd.client.json("/api/v1/health").get("nodes", [])}.get("gpu-0001") == "DEGRADED", 30)
        # weftd is started again: the same incident, until the job is gone.
        self.weftd.end()
        self.weftd.start()
        threading.Event().wait(15)
        self.assertEqual([incident["id"]], [one["id"] for one in self.incidents()])
        for host in self.hosts:
            host.set_jobs("")
        self.wait_for({})

    def test_a_link_that_is_down_tells_of_it(self):
        self.start()
        threading.Event().wait(5)
        self.is_moving = False
        sysfs_tree.rewrite(os.path.join(self.hosts[2].port, "state"), "1: DOWN")
        self.wait_for({"LINK_DOWN": "gpu-0002 mlx5_0 port 1"})
        wait_until(lambda: self.incidents()[0]["summary"].endswith(f"; job {JOB} hangs"), 60, why=lambda: str(self.incidents()))
        self.assertEqual(["LINK_DOWN"], [one["kind"] for one in self.incidents()])

    def test_nccl_is_asked_for_ranks_that_do_not_answer(self):
        # A stand-in of NCCL's RAS port. All collectors of this test are on one machine, whose addresses name none of its hosts.
        ras = RasStandIn(status(3, {2: ("192.0.2.213", True)}, lambda rank: f"192.0.2.{rank}"))
        self.addCleanup(ras.end)
        self.start(("--jobs-nccl-ras", "true", "--jobs-nccl-ras-address", ras.address, "--jobs-nccl-ras-interval", "2s"))
        threading.Event().wait(8)
        self.assertEqual(0, ras.asked, "the job goes on")
        self.is_moving = False
        self.wait_for({"JOB_HANG": f"job {JOB}"})
        self.assertEqual(f"Job {JOB} hangs: its 3 hosts move no data, and NCCL says that rank 2 on 192.0.2.213 is dead", self.incidents()[0]["summary"])
        self.assertIn("3 ranks: dead 2 at 192.0.2.213", self.ctl("collectors", "gpu-0000"))
        # Whoever else listens there is refused, and nothing else is harmed.
        ras.answer = "HTTP/1.1 400 Bad Request\r\n\r\n"
        self.is_moving = True
        self.wait_for({})
        self.is_moving = False
        wait_until(lambda: "cannot be read" in str(self.weftd.client.json("/api/v1/collectors")) or "no status" in str(self.weftd.client.json("/api/v1/collectors")), 60)
        threading.Event().wait(SILENCE)
        self.assertEqual([], self.incidents())


if __name__ == "__main__":
    collector_testing.main()
