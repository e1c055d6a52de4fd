# SPDX-License-Identifier: Apache-2.0
"""weft-collector by itself: its page, one reading, its command line and its configuration."""

import gzip
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import collector_testing
import sysfs_tree
from collector_testing import program, wait_until


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([program("weft-collector"), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=30, text=True, check=False)


class CommandLine(collector_testing.CollectorTest):
    def test_one_reading_is_printed_as_json(self):
        done = run("--once", "--sysfs-root", self.sysfs, "--node-name", "node-7")
        self.assertEqual(0, done.returncode, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual("node-7", said["node"])
        self.assertEqual(["mlx5_0", "mlx5_1"], [port["device"] for port in said["ports"]])
        self.assertEqual("Active", said["ports"][0]["state"])
        values = {value["name"]: value["value"] for value in said["values"] if value["device"] == "mlx5_1"}
        self.assertEqual(4_000_000, values["receive_bytes"], "sysfs counts words of four octets")
        self.assertEqual(3, values["out_of_sequence"])
        self.assertIn("sysfs", [source["name"] for source in said["sources"]])

    def test_the_jobs_of_a_prolog_are_in_the_reading(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jobs") as file:
            file.write("# of the prolog\nslurm:4711\n  train llama \n")
            file.flush()
            done = run("--once", "--sysfs-root", self.sysfs, "--jobs-file", file.name)
        self.assertEqual(["slurm:4711", "train llama"], json.loads(done.stdout)["jobs"])

    def test_everything_wrong_with_the_configuration_is_said_at_once(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('interval = "1s"\nlog_level = "loud"\n[reading]\ninterval = "1us"\n[analyzer]\naddress = "weft"\n')
            file.flush()
            done = run("--config", file.name, "--http", "9642")
        self.assertEqual(2, done.returncode)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(5, len(lines), done.stderr)
        for number, begin in enumerate(("1: interval: unknown key; did you mean reading.interval?", "2: log_level:",
                                        "4: reading.interval: 1us is too small", "6: analyzer.address:")):
            self.assertIn(f"{os.path.basename(file.name)}:{begin}", lines[number])
        self.assertIn("command line: listen.http", lines[4])
        self.assertEqual(0, run("--check-config", "--interval", "100ms").returncode)

    def test_a_taken_port_is_said_and_ends_it(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            done = run("--http", address, "--sysfs-root", self.sysfs)
        self.assertEqual(1, done.returncode)
        self.assertIn(f"cannot listen on {address}: Address already in use", done.stderr)

    def test_a_spool_that_another_one_writes_is_refused(self):
        first = self.collector(collector_testing.free_address()).start()
        done = run("--http", "127.0.0.1:0", "--sysfs-root", self.sysfs, "--state-dir", first.state_dir, "--analyzer", "127.0.0.1:1")
        self.assertEqual(1, done.returncode)
        self.assertIn("another process writes to", done.stderr)

    def test_version_and_help(self):
        self.assertRegex(run("--version").stdout, r"^\d+\.\d+\.\d+$")
        said = run("--help").stdout
        for flag in ("--config", "--analyzer", "--http", "--interval", "--sysfs-root", "--once", "--state-dir", "--node-name",
                     "--log-level", "--check-config", "--version"):
            self.assertIn(flag, said)
        self.assertEqual(2, run("--nonsense").returncode)


class Page(collector_testing.CollectorTest):
    def setUp(self):
        super().setUp()
        self.running = self.collector(interval="50ms").start()
        self.running.wait_readings(2)

    def test_values_follow_what_they_are_read_from(self):
        page = self.running.text("/metrics")
        self.assertIn('weft_port_up{node="node-1",device="mlx5_0",port="1"} 1\n', page)
        self.assertIn('weft_port_receive_bytes_total{node="node-1",device="mlx5_1",port="1"} 4000000\n', page)
        self.assertIn('weft_port_cnp_sent_total{node="node-1",device="mlx5_0",port="1"} 5\n', page)
        self.assertRegex(page, r'weft_rdma_errors_total\{node="node-1",device="mlx5_0",port="1",error="out_of_sequence"\} 3\n')
        self.assertRegex(page, r'weft_port_info\{node="node-1",device="mlx5_0",port="1"[^}]*driver="mlx5"[^}]*\} 1\n')
        sysfs_tree.write(os.path.join(self.devices[0], "ports/1/hw_counters/out_of_sequence"), 8)
        wait_until(lambda: 'error="out_of_sequence"} 8\n' in self.running.text("/metrics"), why="the change is not seen")

    def refused(self, path: str, running=None) -> str:
        """What it says with status 400."""
        with self.assertRaises(urllib.error.HTTPError) as raised:
            (running or self.running).text(path)
        self.assertEqual(400, raised.exception.code)
        return raised.exception.read().decode()

    def test_a_scrape_may_ask_for_groups(self):
        def families(page: str) -> set[str]:
            return set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
        traffic = families(self.running.text("/metrics?collect[]=traffic"))
        self.assertIn("weft_port_receive_bytes_total", traffic)
        both = families(self.running.text("/metrics?collect[]=traffic&collect%5B%5D=self"))
        own = {name for name in both if name.startswith(("weft_agent_", "weft_collector_", "process_"))}
        self.assertEqual((traffic, set()), (both - own, traffic & own))
        every = families(self.running.text("/metrics"))
        groups = ("ports", "traffic", "errors", "details", "rdma", "gauges", "raw", "self")
        self.assertEqual(every, set().union(*(families(self.running.text(f"/metrics?collect[]={group}")) for group in groups)))
        self.assertEqual(f"'cpu' is no group of metrics; the groups are {', '.join(groups)}\n", self.refused("/metrics?collect[]=self&collect[]=cpu"))
        self.assertIn("the group 'plans' is on weftd's /metrics only", self.refused("/metrics?collect[]=plans"))
        self.assertIn("percent sign", self.refused("/metrics?collect[]=%4"))
        self.assertEqual('there is no parameter "collect" here; there are: collect[] names\n', self.refused("/metrics?collect=self"))

    def test_groups_that_are_not_configured_are_refused(self):
        running = self.collector(extra=("--metrics-groups", "errors,self")).start()
        running.wait_readings(2)
        self.assertNotIn("weft_port_up", running.text("/metrics"))
        self.assertEqual("the group 'ports' is not in metrics.groups, which are errors, self\n", self.refused("/metrics?collect[]=ports", running))

    def test_a_counter_begins_with_the_zero_before_its_first_movement(self):
        running = self.collector(interval="50ms", extra=("--metrics-scrape-interval", "1s")).start()
        running.wait_readings(2)

        def shown() -> list[str]:
            return re.findall(r'error="out_of_buffer"\} (\d+)', running.text("/metrics"))
        self.assertEqual([], shown())
        sysfs_tree.write(os.path.join(self.devices[0], "ports/1/hw_counters/out_of_buffer"), 9)
        self.assertEqual(["0"], wait_until(shown, why="it does not begin"))
        wait_until(lambda: shown() == ["9"], why=lambda: f"{shown()} after three seconds")

    def test_an_adapter_that_goes_takes_its_series_along(self):
        os.unlink(os.path.join(self.sysfs, "class", "infiniband", "mlx5_1"))
        shutil.rmtree(self.devices[1])
        wait_until(lambda: "mlx5_1" not in self.running.text("/metrics"), why="it stays")
        self.assertIn("mlx5_0", self.running.text("/metrics"))

    def test_promtool_accepts_the_metrics(self):
        if not shutil.which("promtool"):
            raise unittest.SkipTest("promtool is not installed")
        done = subprocess.run(["promtool", "check", "metrics"], input=self.running.text("/metrics"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stdout.strip()))

    def test_it_is_packed_where_that_is_asked_for(self):
        request = urllib.request.Request(f"http://{self.running.http}/metrics", headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            self.assertEqual("gzip", answer.headers["Content-Encoding"])
            self.assertIn(b"weft_port_up", gzip.decompress(answer.read()))
        request = urllib.request.Request(f"http://{self.running.http}/metrics", headers={"Accept": "application/openmetrics-text"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            self.assertTrue(answer.read().endswith(b"# EOF\n"))

    def test_other_requests_are_refused_and_do_no_harm(self):
        for method, path, status in (("GET", "/nothing", 404), ("POST", "/metrics", 405)):
            request = urllib.request.Request(f"http://{self.running.http}{path}", method=method)
            with self.assertRaises(urllib.error.HTTPError) as raised:
                urllib.request.urlopen(request, timeout=10)
            self.assertEqual(status, raised.exception.code)
        host, _, port = self.running.http.rpartition(":")
        for nonsense in (b"\0\1\2\r\n\r\n", b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"y" * 20_000 + b"\r\n\r\n"):
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                try:
                    connection.sendall(nonsense)
                    connection.recv(1000)
                except ConnectionError:
                    pass
        crowd = [socket.create_connection((host, int(port)), timeout=10) for _ in range(40)]
        for connection in crowd:
            connection.close()
        wait_until(lambda: self.running.text("/healthz") == "ok\n", why="it does not answer any more")
        self.assertEqual(0, self.running.stop())


if __name__ == "__main__":
    collector_testing.main()
