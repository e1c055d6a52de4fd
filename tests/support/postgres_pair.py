# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL on loopback, in a folder of its own: a primary and a standby that has every commit before it is acknowledged.
Both run as an ordinary user, `nobody` where we are root.

    with PostgresPair() as postgres:
        postgres.sql("SELECT 1")

Needs Debian's package postgresql-15.
"""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "deploy", "demonstration"))

from separate_network import SeparateNetwork  # noqa: E402
from child_process import start_child  # noqa: E402
from program_testing import wait_until  # noqa: E402
from weft_client import free_port  # noqa: E402

PROGRAMS = "/usr/lib/postgresql/15/bin"
PATIENCE = 120
CONFIGURATION = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
wal_level = replica
wal_receiver_timeout = 5s
wal_sender_timeout = 5s
shared_buffers = 16MB
fsync = off
"""


def missing() -> list[str]:
    return [] if os.access(os.path.join(PROGRAMS, "postgres"), os.X_OK) else ["postgresql-15"]


class Server:
    """One of the two."""

    def __init__(self, pair: "PostgresPair", name: str):
        self.pair = pair
        self.data = os.path.join(pair.place, name)
        self.log = os.path.join(pair.place, name + ".log")
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        self.environment: dict | None = None  # None: as ours
        self.network: SeparateNetwork | None = None  # where it runs; None: here
        self.address = "127.0.0.1"  # where the other one reaches it

    def start(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            # It refuses while processes of one that was killed are still there.
            if self.process is None or self.process.poll() is not None:
                self.process = self.pair.spawn(self, "postgres", "-D", self.data, "-p", str(self.port))
            if time.monotonic() > deadline:
                raise AssertionError("PostgreSQL does not start:\n" + open(self.log, encoding="utf-8").read()[-2000:])
            time.sleep(0.1)

    def answers(self) -> bool:
        return self.process is not None and self.run("pg_isready", "-h", "127.0.0.1", "-p", str(self.port), check=False).returncode == 0

    def kill(self) -> None:
        """As a power cut would end it. Left alone, a connection's process may answer once more before it notices that the server is gone."""
        self.process.send_signal(signal.SIGSTOP)  # it makes no more
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def signal(self, number: int) -> None:
        """To the server and all its processes: SIGSTOP hangs it, SIGCONT wakes it, SIGKILL ends it."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # a connection that ended
                os.kill(process, number)

    def processes(self) -> list[int]:
        """The server, and those that it made."""
        processes = [self.process.pid]
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stream:
                    if int(stream.read().rsplit(")", 1)[1].split()[1]) == self.process.pid:
                        processes.append(int(name))
            except OSError:
                continue  # it ended meanwhile
        return processes

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
            self.process = None

    def run(self, name: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess:
        return self.pair.run(name, *arguments, check=check, server=self)

    def sql(self, text: str) -> str:
        """What a statement gives, one line a row, columns with | between."""
        return self.run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "weft", "-d", "postgres", "-XAtq", "-v",
                             "ON_ERROR_STOP=1", "-c", text).stdout.strip()


class PostgresPair:
    """`configuration` is added to the servers' own; `accounts` takes the place of pg_hba.conf."""

    def __init__(self, configuration: str = "", accounts: str = ""):
        self.configuration = CONFIGURATION + configuration
        self.accounts = accounts
        self.user = "nobody" if os.geteuid() == 0 else None
        self.place = tempfile.mkdtemp(prefix="weft-postgres-")
        if self.user:
            shutil.chown(self.place, self.user)
        self.primary = Server(self, "a")
        self.standby = Server(self, "b")

    def __enter__(self) -> "PostgresPair":
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *exception) -> None:
        self.stop()

    def spawn(self, server: Server, name: str, *arguments: str) -> subprocess.Popen:
        with open(server.log, "ab") as stream:
            return start_child(self.command(server, name, *arguments), user=None if server.network else self.user, cwd=self.place,
                               stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=server.environment)

    def command(self, server: Server, name: str, *arguments: str) -> list[str]:
        words = [os.path.join(PROGRAMS, name), *arguments]
        if not server.network:
            return words
        nobody = pwd.getpwnam(self.user)
        return server.network.command(*words, user=(nobody.pw_uid, nobody.pw_gid))

    def run(self, name: str, *arguments: str, check: bool = True, server: Server | None = None) -> subprocess.CompletedProcess:
        """A program of PostgreSQL, where that server runs; without one, where the primary does."""
        server = server or self.primary
        done = subprocess.run(self.command(server, name, *arguments), user=None if server.network else self.user, cwd=self.place,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE, text=True, check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(arguments)} gave {done.returncode}: {done.stderr}")
        return done

    def hold(self, test: unittest.TestCase, lock: str, called: str = "blocker {pid}", database: str = "postgres") -> subprocess.Popen:
        """A psql on the primary that holds `lock` until COMMIT, or the end of `test`. It is called so in pg_stat_activity."""
        server = self.primary
        psql = subprocess.Popen(self.command(server, "psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "weft", "-d", database, "-Xq"),
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        test.addCleanup(psql.wait)
        test.addCleanup(psql.stdin.close)
        called = called.format(pid=psql.pid)
        psql.stdin.write(f"SET application_name = '{called}'; BEGIN; {lock};\n")
        psql.stdin.flush()
        holding = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{called}' AND state = 'idle in transaction'"
        wait_until(lambda: server.sql(holding) == "1", 30, why=lambda: lock)
        return psql

    def take_certificate(self, pair: tuple[str, str]) -> tuple[str, str]:
        """Before the start: the servers speak TLS with (certificate, key). Gives their own copies."""
        copies = tuple(shutil.copy(file, self.place) for file in pair)
        for file in copies:
            os.chmod(file, 0o600)
            if self.user:
                shutil.chown(file, self.user)
        self.configuration += f"ssl = on\nssl_cert_file = '{copies[0]}'\nssl_key_file = '{copies[1]}'\n"
        return copies

    def start_alone(self) -> "PostgresPair":
        """The primary without a standby."""
        self.primary.run("initdb", "-D", self.primary.data, "-A", "trust", "-U", "weft", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        with open(os.path.join(self.primary.data, "postgresql.conf"), "a", encoding="utf-8") as stream:
            stream.write(self.configuration)
        if self.accounts:
            with open(os.path.join(self.primary.data, "pg_hba.conf"), "w", encoding="utf-8") as stream:
                stream.write(self.accounts)
        self.primary.start()
        return self

    def start(self) -> "PostgresPair":
        self.start_alone()
        self.add_standby()
        return self

    def add_standby(self) -> None:
        """A new standby of the primary."""
        self.standby.stop()
        shutil.rmtree(self.standby.data, ignore_errors=True)
        self.standby.run("pg_basebackup", "-h", self.primary.address, "-p", str(self.primary.port), "-U", "weft", "-D", self.standby.data, "-R", "-X", "stream",
                 "--checkpoint=fast", "--no-sync")
        self.standby.start()
        self.set_standbys(self.primary, "ANY 1 (*)")

    def set_standbys(self, server: Server, names: str) -> None:
        """What a commit waits for. Empty: for nobody."""
        server.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        server.sql("SELECT pg_reload_conf()")
        deadline = time.monotonic() + PATIENCE
        while server.sql("SHOW synchronous_standby_names") != names:
            if time.monotonic() > deadline:
                raise AssertionError("the configuration is not read")
            time.sleep(0.1)

    def fail_over(self) -> None:
        """The primary is killed; the standby takes its place, alone, and its name."""
        self.primary.kill()
        self.promote()

    def promote(self) -> None:
        """The standby takes the place and the name of the primary, alone. Nobody tells the former primary, if it still runs."""
        self.standby.run("pg_ctl", "-D", self.standby.data, "-w", "promote")
        self.primary, self.standby = self.standby, self.primary
        self.set_standbys(self.primary, "")

    @property
    def url(self) -> str:
        return f"postgresql://weft@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}/postgres"

    def stop(self) -> None:
        for server in (self.standby, self.primary):
            server.stop()
        shutil.rmtree(self.place, ignore_errors=True)
