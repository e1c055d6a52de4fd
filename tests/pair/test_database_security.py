# SPDX-License-Identifier: Apache-2.0
"""weftd and a PostgreSQL over TLS, with a password and a role that owns its schema alone: who is not the server is refused, and the password
is seen nowhere. The server is on loopback under the name db1.example: what a resolver tells is left out."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

from certificates import make_certificate  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from program_testing import Weftd, main, run_weftd, wait_until, weftctl  # noqa: E402

NAME = "db1.example"
PASSWORD = "correct-horse-7"
ACCOUNTS = """
host all weft 127.0.0.1/32 trust
hostssl weft analyzer 127.0.0.1/32 scram-sha-256
"""
ROLE = f"""
CREATE ROLE analyzer LOGIN PASSWORD '{PASSWORD}';
CREATE DATABASE weft;
REVOKE ALL ON DATABASE weft FROM PUBLIC;
GRANT CONNECT ON DATABASE weft TO analyzer;
"""
MAY = "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls FROM pg_roles WHERE rolname = 'analyzer'"
OWNS_ELSEWHERE = """
SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolname = 'analyzer' AND n.nspname NOT IN ('fabric', 'pg_toast')"""


class DatabaseSecurity(unittest.TestCase):
    postgres = None

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.postgres = PostgresPair(accounts=ACCOUNTS)
        cls.addClassCleanup(cls.postgres.stop)
        cls.certificate = cls.postgres.take_certificate(make_certificate(cls.place, NAME, f"DNS:{NAME}"))
        cls.postgres.start_alone()
        for statement in filter(str.strip, ROLE.split(";")):
            cls.postgres.primary.sql(statement)
        cls.sql("CREATE SCHEMA fabric AUTHORIZATION analyzer")
        cls.passwords = os.path.join(cls.place, "pgpass")
        cls.write_password(PASSWORD)

    @classmethod
    def sql(cls, text: str) -> str:
        return cls.postgres.run("psql", "-h", "127.0.0.1", "-p", str(cls.postgres.primary.port), "-U", "weft", "-d", "weft", "-XAtq", "-v",
                                "ON_ERROR_STOP=1", "-c", text).stdout.strip()

    @classmethod
    def write_password(cls, password: str, mode: int = 0o600) -> None:
        with open(cls.passwords, "w", encoding="utf-8") as stream:
            stream.write(f"*:*:weft:analyzer:{password}\n")
        os.chmod(cls.passwords, mode)

    def url(self, name: str = NAME, authority: str = "") -> str:
        return (f"postgresql://analyzer@{name}:{self.postgres.primary.port}/weft?hostaddr=127.0.0.1&sslmode=verify-full"
                f"&sslrootcert={authority or self.certificate[0]}&passfile={self.passwords}&options=-csearch_path%3Dfabric")

    def check(self, url: str):
        done = run_weftd(["--store-url", url, "--infiniband-enabled", "false", "--state-dir", os.path.join(self.place, "state"), "--check-config"])
        for password in (PASSWORD, "another-secret-8"):
            self.assertNotIn(password, done.stdout + done.stderr)
        return done

    def refused(self, url: str) -> str:
        done = self.check(url)
        self.assertEqual(2, done.returncode, done.stdout)
        return done.stderr

    def test_1_who_is_not_the_server_is_refused(self):
        good = self.check(self.url())
        self.assertEqual(0, good.returncode, good.stderr)
        self.assertIn("does not match host name", self.refused(self.url("db2.example")))
        stranger = make_certificate(self.place, "stranger", f"DNS:{NAME}")
        self.assertIn("certificate verify failed", self.refused(self.url(authority=stranger[0])))
        self.assertIn("does not exist", self.refused(self.url(authority="/nowhere/ca.pem")))

    def test_2_a_wrong_or_open_password_file_is_told_without_its_content(self):
        self.addCleanup(self.write_password, PASSWORD)
        self.write_password("another-secret-8")
        self.assertIn("password authentication failed", self.refused(self.url()))
        self.assertIn("the database refuses the connection: ", self.refused(self.url()))
        self.write_password(PASSWORD, 0o644)
        open_to_all = self.refused(self.url())
        self.assertIn("no password supplied", open_to_all)
        self.assertIn(f"its passfile {self.passwords} is open to others, so libpq does not use it: chmod 600", open_to_all)
        with open(os.open(self.passwords, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as stream:
            stream.write(f"*:*:weft:another:{PASSWORD}\n")
        os.chmod(self.passwords, 0o600)
        self.assertIn(f"its passfile {self.passwords} has no line for that host, port, database and role", self.refused(self.url()))
        os.unlink(self.passwords)
        self.assertIn(f"its passfile {self.passwords} cannot be read: No such file or directory", self.refused(self.url()))
        unnamed = self.url().replace(f"&passfile={self.passwords}", "")
        self.assertIn("store.url names no file with a password: passfile=FILE", self.refused(unnamed))

    def test_3_it_runs_encrypted_and_shows_no_secret(self):
        weftd = Weftd(dict(os.environ), extra=("--infiniband-enabled", "false", "--store-url", self.url()))
        self.addCleanup(weftd.stop)
        weftd.start(wait=False)
        self.wait_for_tables(weftd)
        self.assertEqual("t|TLSv1.3", self.sql("SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                                               "WHERE application_name LIKE 'weftd %'"))
        for file in ("cmdline", "environ"):
            with open(f"/proc/{weftd.process.pid}/{file}", "rb") as stream:
                self.assertNotIn(PASSWORD.encode(), stream.read())
        said = "".join(weftctl(weftd, *words).stdout for words in (("status",), ("--json", "status"), ("audit",)))
        self.assertNotIn(PASSWORD, said + weftd.client.text("/metrics") + weftd.log())
        # It needs no right but that of its schema.
        self.assertEqual("f", self.sql(MAY))
        self.assertEqual("0", self.sql(OWNS_ELSEWHERE))

    def wait_for_tables(self, weftd: Weftd) -> None:
        wait_until(lambda: self.sql("SELECT to_regclass('fabric.incident') IS NOT NULL") == "t" and
                   "HTTP on" in weftd.log(), why=lambda: f"weftd says:\n{weftd.log()}")


if __name__ == "__main__":
    main()
