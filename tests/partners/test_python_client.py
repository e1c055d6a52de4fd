# SPDX-License-Identifier: Apache-2.0
"""The Python client, installed as its README says, against a real weftd on ibsim."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import weftd_partners
import certificates
import python_client
from child_process import start_child
from program_testing import free_address, program
from weftd_partners import wait_until, weft_testing, weftctl, weftctl_json

README = os.path.join(weft_testing.ROOT, "clients", "python", "README.md")


class PythonClient(weftd_partners.WithScheduler):
    @classmethod
    def setUpClass(cls):
        cls.site = python_client.install(cls)
        super().setUpClass()

    def setUp(self):
        super().setUp()
        import grpc
        from weft import Client
        from weft.v1.health_pb2 import NodeHealth, WatchHealthResponse
        self.grpc, self.Client, self.NodeHealth, self.Watch = grpc, Client, NodeHealth, WatchHealthResponse
        self.client = Client(self.weftd.grpc, timeout=20)
        self.addCleanup(self.client.close)

    def test_many_nodes_in_the_order_asked(self):
        names = ["n2", "nobody", "n1 mlx5_0"] + [f"no-{number}" for number in range(12_000)]  # two calls
        found = self.client.health_of(names)
        self.assertEqual(names, [health.node for health in found])
        self.assertEqual([self.NodeHealth.HEALTHY, self.NodeHealth.UNKNOWN, self.NodeHealth.HEALTHY], [health.verdict for health in found[:3]])
        with self.assertRaises(self.grpc.RpcError) as refused:
            self.client.health("nobody")
        self.assertEqual(self.grpc.StatusCode.NOT_FOUND, refused.exception.code())

    def test_a_job_of_two_leaves_sees_what_breaks(self):
        nodes = ["n1", "n2", "n3", "n4"]
        job = self.client.job_health("slurm:7", nodes)
        self.assertEqual(self.NodeHealth.HEALTHY, job.verdict, job)
        self.assertEqual((12, 0), (job.paths, job.broken))
        self.assertGreaterEqual(job.links_used, 4)
        with self.assertRaises(self.grpc.RpcError) as refused:
            self.client.job_health("slurm:7")
        self.assertEqual(self.grpc.StatusCode.NOT_FOUND, refused.exception.code())
        watch = self.client.watch_health(["n1"], timeout=120)
        self.assertEqual(self.Watch.INITIAL, next(watch).type)
        self.assertEqual(self.Watch.INITIAL_COMPLETE, next(watch).type)
        self.subnet.unlink("n1 mlx5_0", 1)
        change = next(watch)
        self.assertEqual((self.Watch.CHANGED, "n1"), (change.type, change.health.node))
        self.assertNotEqual(self.NodeHealth.HEALTHY, change.health.verdict)
        watch.cancel()
        self.assertNotEqual(self.NodeHealth.HEALTHY, self.client.job_health("slurm:7", nodes).verdict)
        text = weftctl(self.weftd, "health", "--job", "slurm:7", *nodes)
        self.assertEqual(1, text.returncode, text.stdout + text.stderr)
        self.assertRegex(text.stdout, r"slurm:7: \w+.*4 nodes")
        self.assertRegex(text.stdout, r"n1 +(UNHEALTHY|DEGRADED)")
        self.assertEqual(4, len(weftctl_json(self.weftd, "health", *nodes)["nodes"]))
        shown = self.weftd.client.json("/api/v1/jobs/slurm:7/health?node=n1&node=n2")
        self.assertEqual(["n1", "n2"], [node["node"] for node in shown["nodes"]])
        self.assertNotEqual("HEALTHY", shown["verdict"])
        listed = self.weftd.client.json("/api/v1/health?node=n3&node=nobody")
        self.assertEqual([("n3", "HEALTHY"), ("nobody", "UNKNOWN")], [(node["node"], node["verdict"]) for node in listed["nodes"]])
        self.assertTrue(self.client.incidents())
        self.subnet.relink("n1 mlx5_0", 1)
        wait_until(lambda: self.client.job_health("slurm:7", nodes).verdict == self.NodeHealth.HEALTHY,
                   why=lambda: str(self.client.job_health("slurm:7", nodes)))

    def test_a_job_that_collectors_report(self):
        fifth = self.network.hosts()[4].name.rsplit(" ", 1)[0]
        place = tempfile.mkdtemp(prefix="weft-collectors-")
        self.addCleanup(shutil.rmtree, place, True)
        for host, jobs in ((fifth, "slurm:70\nslurm:71\n"), ("n3", "slurm:71\n")):
            folder = os.path.join(place, host)
            os.makedirs(os.path.join(folder, "sys"))
            with open(os.path.join(folder, "jobs"), "w", encoding="ascii") as stream:
                stream.write(jobs)
            collector = start_child([program("weft-collector"), "--node-name", host, "--analyzer", self.weftd.grpc,
                                     "--jobs-file", f"{folder}/jobs", "--sysfs-root", f"{folder}/sys", "--state-dir", f"{folder}/state", "--http", free_address(), "--interval", "200ms"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(collector.wait, 15)
            self.addCleanup(collector.terminate)

        def job():
            try:
                found = self.client.job_health("71")
            except self.grpc.RpcError as error:
                self.assertEqual(self.grpc.StatusCode.NOT_FOUND, error.code())
                return None
            return found if len(found.nodes) == 2 else None

        found = wait_until(job, why=lambda: self.weftd.log())
        self.assertEqual(sorted((fifth, "n3")), [node.node for node in found.nodes])
        self.assertEqual((2, 0, []), (found.paths, found.broken, list(found.not_followed)))
        self.assertEqual([fifth], [node.node for node in self.client.job_health("slurm:70").nodes])

    def test_a_token_does_not_leave_the_machine_unprotected(self):
        with self.assertRaises(ValueError):
            self.Client("weft.example.org:9641", token="secret")
        self.Client("127.0.0.1:9641", token="secret").close()

    def test_the_example_of_the_readme_runs(self):
        with open(README, encoding="utf-8") as stream:
            example = re.search(r"```python\n(.*?)```", stream.read(), re.DOTALL)[1]
        example = re.sub(r'Client\(.*\) as', f'Client("{self.weftd.grpc}") as', example)
        example = example.replace('"gpu-0001", "gpu-0002"', '"n1", "nobody"').replace('"slurm:1234"', '"slurm:1234", ["n1", "n2"]')
        example = example.replace("watch_health()", "watch_health(timeout=3)")
        done = subprocess.run([sys.executable, "-c", example], env=dict(os.environ, PYTHONPATH=self.site), capture_output=True, text=True, timeout=60,
                              check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(["nobody UNKNOWN []", "HEALTHY"], lines[:2], done.stderr)
        self.assertIn("n4 HEALTHY", lines)
        self.assertIn("DEADLINE_EXCEEDED", done.stderr)


class OverTls(unittest.TestCase):
    """Certificates of both sides and a token, as a server of gRPC's own sees them."""

    def test_credentials_are_sent_to_trusted_servers_only(self):
        python_client.install(type(self))
        import grpc
        from weft import Client
        from weft.v1 import health_pb2, health_pb2_grpc
        place = tempfile.mkdtemp(prefix="weft-tls-")
        self.addCleanup(shutil.rmtree, place)
        authority = certificates.make_certificate(place)
        certificate, key = certificates.make_client(place, authority, "/CN=slurm")
        tokens = []

        class Health(health_pb2_grpc.HealthServiceServicer):
            def Get(self, request, context):
                tokens.append(dict(context.invocation_metadata()).get("authorization"))
                return health_pb2.NodeHealth(node=request.node, verdict=health_pb2.NodeHealth.HEALTHY)

        def read(path):
            with open(path, "rb") as stream:
                return stream.read()

        server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
        health_pb2_grpc.add_HealthServiceServicer_to_server(Health(), server)
        credentials = grpc.ssl_server_credentials([(read(authority[1]), read(authority[0]))], read(authority[0]), require_client_auth=True)
        address = f"127.0.0.1:{server.add_secure_port('127.0.0.1:0', credentials)}"
        server.start()
        self.addCleanup(server.stop, None)
        with Client(address, ca=authority[0], certificate=certificate, key=key, token="s3cret") as client:
            self.assertEqual("n1", client.health("n1").node)
        self.assertEqual(["Bearer s3cret"], tokens)
        other = tempfile.mkdtemp(prefix="weft-tls-")
        self.addCleanup(shutil.rmtree, other)
        strangers = certificates.make_certificate(other)
        for trust in ({"ca": authority[0]}, {"ca": strangers[0], "certificate": certificate, "key": key}, {}):
            with Client(address, timeout=3, **trust) as client, self.assertRaises(grpc.RpcError):
                client.health("n1")
        self.assertEqual(1, len(tokens))


if __name__ == "__main__":
    weft_testing.main()
