# SPDX-License-Identifier: Apache-2.0
"""weftd given what it cannot use: it says everything that is wrong, where, and ends with the right code."""

import contextlib
import os
import re
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import weft_testing
from weft_testing import Weftd, free_address, program, run_weftd

USAGE = 2


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        weft_testing.require_programs("weftd")

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.state = os.path.join(self.place, "state")

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def run_it(self, *arguments: str):
        return run_weftd(["--state-dir", self.state, "--http", free_address(), "--grpc", free_address(), *arguments])

    # -- what a start would do

    def test_an_upgrade_is_told_before_it_is_made(self):
        def told() -> str:
            done = run_weftd(["--state-dir", self.state, "--check-upgrade"])
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            return done.stdout

        self.assertRegex(told(), r"weft\.db: is made at the first start, with schema version \d+\.\n.*history\.db: is made")
        self.assertFalse(os.path.exists(self.state), "nothing is changed")
        weftd = Weftd(environment={}, extra=["--infiniband-enabled", "false"])
        self.addCleanup(weftd.stop)
        weftd.start()
        self.state = weftd.state_dir
        self.assertIn("nothing to migrate", told())  # beside the weftd that uses it
        weftd.stop(remove=False)
        self.addCleanup(shutil.rmtree, weftd.state_dir, ignore_errors=True)
        path = os.path.join(self.state, "weft.db")

        def set_version(change: int) -> int:
            with contextlib.closing(sqlite3.connect(path)) as database:  # closing works its log into the file
                version = database.execute("PRAGMA user_version").fetchone()[0]
                database.execute(f"PRAGMA user_version = {version + change}")
                return version

        known = set_version(-2)
        said = told()
        self.assertRegex(said, rf"weft\.db: has schema version {known - 2}; the first start of weftd [\d.]+ brings it to {known} in 2 steps\.")
        self.assertIn("make a backup first", said)
        set_version(3)
        done = run_weftd(["--state-dir", self.state, "--check-upgrade"])
        self.assertEqual(1, done.returncode)
        self.assertIn("it is from a newer weftd", done.stderr)

    # -- configuration and flags

    def test_all_errors_of_a_configuration_at_once_with_their_lines(self):
        path = self.write("weftd.toml", "\n".join((
            'log_level = "loud"',                   # 1
            "[infiniband]",                         # 2
            'sweep_interval = "soon"',              # 3
            "window = 99999",                       # 4
            "no_such_key = 1",                      # 5
            'retries = "two"',                      # 6
            "[listen]",                             # 7
            'http = "127.0.0.1:99999"',             # 8
            "")))
        for more in ((), ("--check-config",)):
            done = run_weftd(["--config", path, *more])
            self.assertEqual(USAGE, done.returncode, done.stderr)
            for line, word in ((1, "loud"), (3, "soon"), (4, "99999"), (5, "no_such_key"), (6, "retries"), (8, "http")):
                with self.subTest(line):
                    self.assertRegex(done.stderr, rf"(?m)weftd\.toml:{line}\b.*{word}")

    def test_orders_go_to_nobody_without_tls(self):
        with open(os.path.join(self.place, "key"), "w", encoding="ascii") as stream:
            stream.write("a key of the test, long enough\n")
        os.chmod(stream.name, 0o600)
        for key, more in (("slurm.rest_url", ""), ("webhook.url", f'webhook.key_file = "{stream.name}"\n')):
            path = self.write("weftd.toml", f'[remedy]\n{more}{key} = "http://192.0.2.1:6820"\n')
            for arguments in ((), ("--check-config",)):
                done = run_weftd(["--config", path, *arguments])
                self.assertEqual(USAGE, done.returncode, done.stderr)
                self.assertIn(f"remedy.{key}: must begin with https://", done.stderr)

    def test_a_configuration_that_is_not_toml(self):
        path = self.write("weftd.toml", "[infiniband\nwindow = 3\n")
        done = run_weftd(["--config", path])
        self.assertEqual(USAGE, done.returncode)
        self.assertIn("weftd.toml:1", done.stderr)

    def test_a_good_configuration_is_said_to_be_good(self):
        path = self.write("weftd.toml", '[infiniband]\nsweep_interval = "2s"\n')
        done = run_weftd(["--config", path, "--check-config"])
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertFalse(os.path.exists(self.state))

    def test_every_named_file_is_opened_by_the_check(self):
        pipe = os.path.join(self.place, "pipe")
        os.mkfifo(pipe)
        names = self.write("names", "0x1 no quotes\n")
        plan = self.write("plan", "no such line\n")
        path = self.write("weftd.toml", f'[infiniband]\nexpected_topology = "{plan}"\nnode_name_map = "{names}"\n'
                          f'management_key_file = "{self.place}/none"\n[ethernet]\ncabling = "{pipe}"\n[security]\ntokens_file = "/dev/zero"\n'
                          '[remedy.infiniband_port]\nprogram = "/nonexistent/weft-port"\n')
        done = run_weftd(["--config", path, "--check-config"])
        self.assertEqual(USAGE, done.returncode)
        for words in (f"{plan}: neither ibnetdiscover's output", f"{names}: line 1: ", "none: No such file", f"{pipe} is not a regular file",
                      "/dev/zero is not a regular file", "remedy.infiniband_port.program: no program /nonexistent/weft-port, or it is not"):
            with self.subTest(words):
                self.assertIn(words, done.stderr)
        self.assertFalse(os.path.exists(self.state))

    def test_values_files_and_roles_are_told_in_one_round(self):
        path = self.write("weftd.toml", '[security]\ncertificate = "/nosuch1"\ntokens_file = "/nosuch2"\ncertificate_roles = ["a=b"]\n'
                          '[infiniband]\nexpected_topology = "/nosuch3"\n[metrics]\nscrape_interval = "2h"\n')
        done = run_weftd(["--config", path, "--check-config"])
        self.assertEqual(USAGE, done.returncode)
        for words in ("security.certificate: cannot read /nosuch1: No such file", "security.tokens_file: cannot read /nosuch2: No such",
                      "infiniband.expected_topology: cannot read /nosuch3: No such", "security.key: must be set too",
                      "security.certificate_roles: ", "metrics.scrape_interval: "):
            with self.subTest(words):
                self.assertIn(words, done.stderr)
        for name in ("/nosuch1", "/nosuch2", "/nosuch3"):
            self.assertEqual(1, done.stderr.count(name), done.stderr)
        many = self.write("many.toml", "".join(f"nonsense{number} = 1\n" for number in range(300)))
        said = run_weftd(["--config", many, "--check-config"]).stderr.splitlines()
        self.assertEqual((101, "and 200 more errors"), (len(said), said[-1]))

    def test_files_and_flags_that_are_not_there(self):
        for arguments, words in ((("--config", os.path.join(self.place, "none.toml")), "none.toml"), (("--no-such-flag",), "no-such-flag"),
                                 (("--sweep-interval", "fast"), "fast"), (("--http", "nowhere"), "nowhere")):
            with self.subTest(arguments):
                done = run_weftd(list(arguments))
                self.assertEqual(USAGE, done.returncode, done.stderr)
                self.assertIn(words, done.stderr + done.stdout)

    def test_version(self):
        done = run_weftd(["--version"])
        self.assertEqual(0, done.returncode)
        self.assertRegex(done.stdout, r"\d+\.\d+\.\d+")

    def test_an_expected_topology_that_does_not_parse(self):
        topology = self.write("expected.ibnetdiscover", 'Switch\t4 "S-0000000000000001"\t\t# "a"\n[9]\t"S-0000000000000002"[1]\n')
        path = self.write("weftd.toml", f'[infiniband]\nexpected_topology = "{topology}"\n')
        done = self.run_it("--config", path)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("expected.ibnetdiscover", done.stderr)
        self.assertRegex(done.stderr, r"expected\.ibnetdiscover\D{0,12}[12]\b", "the line")

    # -- what is taken or out of reach

    def test_a_port_in_use_is_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            for flag in ("--http", "--grpc"):
                with self.subTest(flag):
                    other = "--grpc" if flag == "--http" else "--http"
                    done = run_weftd(["--state-dir", self.state, flag, address, other, free_address()])
                    self.assertNotIn(done.returncode, (0, None))
                    self.assertIn(address, done.stderr)

    def test_a_state_directory_that_is_none(self):
        self.write("file", "x")
        for path in (os.path.join(self.place, "file"), os.path.join(self.place, "file", "below"), "/proc/weft-state"):
            with self.subTest(path):
                done = run_weftd(["--state-dir", path, "--http", free_address(), "--grpc", free_address()])
                self.assertNotEqual(0, done.returncode)
                self.assertIn(path, done.stderr)

    def test_a_management_key_that_cannot_be_used_is_named_and_never_shown(self):
        key = self.write("m-key", "0x5eed5eed5eed5eed\n")
        for mode, text, words in ((0o644, "0x5eed5eed5eed5eed\n", "is accessible to others: run chmod 0600"),
                                  (0o600, "5eed5eed5eed5eed-and-more\n", "an M_Key is a number of 64 bits"),
                                  (0o600, "", "is empty")):
            with self.subTest(words):
                self.write("m-key", text)
                os.chmod(key, mode)
                weftd = self.started(infiniband=f'ports = ["ib=mlx5_0:1"]\nmanagement_key_file = "{key}"\n')
                weft_testing.wait_until(lambda: words in weftd.log(), 20, why=weftd.log)  # noqa: B023
                self.assertIn(key, weftd.log())
                self.assertIn("infiniband.management_key_file", weftd.log())
                self.assertNotIn("5eed5eed", weftd.log())
                weftd.stop()

    # -- the store

    def started(self, **options) -> Weftd:
        weftd = Weftd(dict(os.environ), state_dir=self.state, **options)
        self.addCleanup(weftd.stop)
        weftd.start(wait=False)
        weft_testing.wait_until(lambda: weftd.client.text("/healthz"), 20, why=lambda: f"weftd is not alive: {weftd.log()}")
        return weftd

    def database(self) -> str:
        """A database that weftd made itself."""
        self.started().stop()
        found = sorted(name for name in os.listdir(self.state) if name.endswith(".db"))
        self.assertTrue(found, os.listdir(self.state))
        return os.path.join(self.state, "weft.db" if "weft.db" in found else found[0])

    def refused(self, path: str, words: str):
        with open(path, "rb") as stream:
            before = stream.read()
        done = self.run_it()
        self.assertNotEqual(0, done.returncode, "it went on")
        self.assertIn(os.path.basename(path), done.stderr)
        self.assertRegex(done.stderr.lower(), words)
        with open(path, "rb") as stream:
            self.assertEqual(before, stream.read(), "it touched what it refused")

    def test_a_corrupt_database_is_refused_and_left_alone(self):
        path = self.database()
        with open(path, "r+b") as stream:
            stream.seek(200)  # behind the header, which still says what it is
            stream.write(b"\xde\xad\xbe\xef" * 2000)
        self.refused(path, "corrupt|malformed|not a database|damaged")

    def test_a_file_that_is_no_database_is_refused(self):
        path = self.database()
        for suffix in ("-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
        with open(path, "wb") as stream:
            stream.write(b"these are my notes, do not lose them\n" * 100)
        self.refused(path, "not a database|corrupt|no database")

    def test_a_newer_database_is_refused(self):
        path = self.database()
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 9999")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        self.refused(path, "newer|9999")

    def test_a_second_weftd_on_the_same_state_is_refused(self):
        self.started()
        done = self.run_it()
        self.assertNotEqual(0, done.returncode)
        self.assertIn(self.state, done.stderr)

    # -- from the network

    def test_nonsense_on_the_listeners_does_no_harm(self):
        weftd = self.started()
        junk = (b"", b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00" * 50, b"G" * 100_000,
                b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"GET /api/v1/nodes/%zz%00/../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
                b"POST /api/v1/incidents HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n")
        for address in (weftd.http, weftd.grpc):
            host, _, port = address.rpartition(":")
            for data in junk:
                with socket.create_connection((host, int(port)), 10) as connection:
                    try:
                        connection.sendall(data)
                        connection.shutdown(socket.SHUT_WR)
                        connection.settimeout(10)
                        while connection.recv(65536):
                            pass
                    except OSError:
                        pass  # it may well hang up on us
        self.assertIsNone(weftd.process.poll(), weftd.log())
        self.assertEqual("ok\n", weftd.client.text("/healthz"))

    def test_many_connections_do_not_end_the_listening(self):
        """gRPC stops accepting for good when it once finds no free descriptor: weftd must not stay at a shell's few."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 2048:
            self.skipTest("the limit of descriptors can not be raised here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
        try:
            weftd = self.started()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        host, _, port = weftd.grpc.rpartition(":")
        connections = [socket.create_connection((host, int(port)), 10) for _ in range(300)]
        self.assertEqual("ok\n", weftd.client.text("/healthz"))
        for connection in connections:
            connection.close()
        done = weft_testing.weftctl(weftd, "status")
        self.assertEqual(1, done.returncode, done.stderr)  # 1: it answers, and has nothing to watch

    def test_wrong_questions_get_json_errors(self):
        weftd = self.started()
        for path, status in (("/api/v1/incidents/INC-999", 404), ("/api/v1/nodes/nobody", 404), ("/api/v1/nodes/nobody/health", 404),
                             ("/api/v1/incidents?state=sideways", 400), ("/api/v1/ports?page_size=many", 400), ("/api/v1/nothing", 404),
                             ("/nothing", 404)):
            with self.subTest(path), self.assertRaises(weft_testing.Answer) as caught:
                weftd.client.text(path)
            self.assertEqual(status, caught.exception.status)
            self.assertIn('"message"', str(caught.exception))

    # -- without a fabric

    def test_without_an_adapter_it_lives_waits_and_says_so(self):
        weftd = self.started()
        self.assertFalse(weftd.client.ready())
        self.assertEqual([], weftd.client.incidents("open"))
        done = weft_testing.weftctl(weftd, "status")
        self.assertIn(done.returncode, (0, 1), done.stderr)  # 1: the answer is bad news
        done = weft_testing.weftctl(weftd, "health")
        self.assertEqual(1, done.returncode, "nobody looked at anything, which is not health: " + done.stdout)
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([program("weftctl"), "--server", weftd.grpc, "nodes"], stdout=full, stderr=subprocess.PIPE, timeout=60,
                                  text=True, check=False)
        self.assertNotEqual(0, done.returncode, "half an answer is none")
        self.assertEqual(0, weftd.stop(remove=False), "asked to end, it ends with 0")


class SystemdUnits(unittest.TestCase):
    FOLDER = os.path.join(weft_testing.ROOT, "deploy", "systemd")
    UNITS = ("weftd.service", "weft-collector.service", "weft.target")

    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("not installed: systemd-analyze")
        self.place = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def analyze(self, *arguments: str):
        return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60, check=False)

    def test_verify(self):
        for name in self.UNITS:
            with open(os.path.join(self.FOLDER, name), encoding="utf-8") as unit, open(os.path.join(self.place, name), "w", encoding="utf-8") as copy:
                copy.write(re.sub(r"/usr/bin/weft\S+", "/bin/true", unit.read()))
        done = self.analyze("verify", "--man=no", *(os.path.join(self.place, name) for name in self.UNITS))
        self.assertEqual((0, ""), (done.returncode, done.stderr.strip()))

    def test_what_is_enabled_is_wanted_by_the_target(self):
        units = os.path.join(self.place, "etc", "systemd", "system")
        shutil.copytree(self.FOLDER, units)

        def wanted_by(target: str) -> list[str]:
            folder = os.path.join(units, f"{target}.wants")
            return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

        for names in (self.UNITS, self.UNITS[:2]):
            subprocess.run(["systemctl", f"--root={self.place}", "--quiet", "enable", *names], check=True, timeout=60)
            self.assertEqual(sorted(names), wanted_by("multi-user.target"), "the boot starts each, with the target or without")
            self.assertEqual(sorted(name for name in names if name.endswith(".service")), wanted_by("weft.target"))
            subprocess.run(["systemctl", f"--root={self.place}", "--quiet", "disable", *names], check=True, timeout=60)
            self.assertEqual([], wanted_by("weft.target"))

    def test_is_hardened(self):
        for name in ("weftd.service", "weft-collector.service"):
            done = self.analyze("security", "--offline=true", "--threshold=20", os.path.join(self.FOLDER, name))
            if "Unknown" in done.stderr or "unrecognized" in done.stderr:
                self.skipTest("this systemd-analyze cannot judge files")
            print(done.stdout.strip().splitlines()[-1], file=sys.stderr)
            self.assertEqual(0, done.returncode, "exposure above 2.0: " + done.stdout[-300:])


if __name__ == "__main__":
    weft_testing.main()
