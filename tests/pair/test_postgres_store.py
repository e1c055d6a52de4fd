# SPDX-License-Identifier: Apache-2.0
"""weftd whose incidents, plans and audit trail are in a PostgreSQL with a synchronous standby: restarts, a database that is killed while
cables are pulled, and one that fails over."""

import os
import re
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from webhook_receiver import EventReceiver  # noqa: E402
from weft_testing import Weftd, fat_tree, run_weftd, wait_until, weftctl, weftctl_json  # noqa: E402

STORE = """
[store]
url = "{url}"
[remedy]
isolate_link = "propose"
[events]
urls = ["{events}"]
key_file = "{key}"
"""
KEY = "a key of the test, long enough"


class PostgresStore(weft_testing.SubnetTest):
    postgres = None

    @classmethod
    def make_network(cls):
        return fat_tree.build(8, rails=1, radix=8)

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        try:
            cls.postgres.start()
            cls.receiver = EventReceiver(KEY)
            cls.addClassCleanup(cls.receiver.stop)
            place = tempfile.TemporaryDirectory()
            cls.addClassCleanup(place.cleanup)
            key = os.path.join(place.name, "key")
            with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as stream:
                stream.write(KEY + "\n")
            cls.infiniband = STORE.format(url=cls.postgres.url, events=cls.receiver.url, key=key)
            super().setUpClass()
        except BaseException:
            cls.postgres.stop()
            raise

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.postgres.stop()

    def pull(self, number: int, sweeps: int = 4):
        """The cable of a host. Its incident, which is there after so many sweeps at most."""
        host = self.network.hosts()[number]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)
        ends = self.link(host.name, 1)
        return self.expect("LINK_DOWN", lambda incident: self.is_link(incident, ends), sweeps=sweeps)

    def stored(self, incident: dict) -> str:
        number = int(incident["id"].removeprefix("INC-"))
        return self.postgres.primary.sql(
            f"SELECT (SELECT count(*) FROM incident WHERE id = {number}), (SELECT count(*) FROM event WHERE incident = {number} AND what = 'opened')")

    def leaf(self):
        return next(node for node in self.network.nodes.values() if node.name.startswith("leaf"))

    def maintenance(self, *arguments):
        return weftctl(self.weftd, "maintenance", "add", self.leaf().name, "--for", "1h", "--reason", "new firmware", *arguments)

    def test_1_the_configuration_is_checked(self):
        place = ["--state-dir", self.weftd.state_dir, "--check-config"]
        good = run_weftd(["--store-url", self.postgres.url, *place])
        self.assertEqual(0, good.returncode, good.stderr)
        self.assertIn("is reachable, with schema version", good.stdout)
        self.assertNotIn("cannot be used", good.stdout, "the hot standby neither")
        for url, words in (("postgresql://weft@127.0.0.1:1/weft", "the database is not reachable"),
                           ("postgresql://weft@db1/weft?sslmode=require", "only verify-full makes sure who answers"),
                           (self.postgres.url + "?sslmode=requir", "store.url has sslmode=requir, which libpq does not know"),
                           ("postgresql://weft:opensesame@db1/weft", "contains a password")):
            bad = run_weftd(["--store-url", url, *place])
            self.assertEqual(2, bad.returncode, bad.stdout)
            self.assertIn(words, bad.stderr)
            self.assertNotIn("opensesame", bad.stdout + bad.stderr)
        half = run_weftd(["--store-url", self.postgres.url.replace(f":{self.postgres.standby.port}/", ":1/"), *place])
        self.assertEqual(0, half.returncode, half.stderr)
        self.assertIn("; its server 127.0.0.1:1 cannot be used: the database is not reachable: ", half.stdout)
        lost = run_weftd(place)
        self.assertEqual(2, lost.returncode, lost.stdout)
        self.assertIn("goes with the database postgresql://weft@127.0.0.1", lost.stderr)

    def test_2_incidents_plans_and_the_trail_outlive_a_restart(self):
        incident = self.pull(0)
        self.assertEqual(0, self.maintenance("--who", "ann").returncode)
        wait_until(lambda: self.stored(incident) == "1|1", why=lambda: self.stored(incident))
        self.weftd.kill()
        self.weftd.start()
        wait_until(lambda: "this weftd leads now" in self.weftd.log(), 30, why=self.weftd.log)  # it waits until the old beat stood still
        self.weftd.wait_sweeps(2)
        again = next(each for each in self.weftd.incidents("LINK_DOWN") if each["id"] == incident["id"])
        self.assertEqual(incident["opened"], again["opened"])
        self.assertEqual("1|1", self.stored(incident))
        self.assertIn("new firmware", weftctl(self.weftd, "maintenance").stdout)
        self.assertFalse(os.path.exists(os.path.join(self.weftd.state_dir, "weft.db")))
        self.assertIn("from postgresql://weft@127.0.0.1", self.weftd.log())
        copy = os.path.join(self.weftd.state_dir, "copy.db")
        refused = weftctl(self.weftd, "backup", copy)
        self.assertEqual((4, ""), (refused.returncode, refused.stdout))
        self.assertRegex(refused.stderr, r"the audit trail are in postgresql://weft@127\.0\.0\.1.* back it up with pg_dump")
        self.assertFalse(os.path.exists(copy))

    def test_3_a_killed_database_stops_neither_watching_nor_serving(self):
        self.weftd.wait_sweeps(1)
        self.postgres.primary.kill()
        incident = self.pull(6)  # no maintenance there: found and shown meanwhile, and people are paged
        wait_until(lambda: self.receiver.told(incident["id"]) == ["opened"], 30, why=lambda: f"{self.receiver.keys}\n{self.weftd.log()}")
        refused = self.maintenance()
        self.assertNotEqual(0, refused.returncode, "nothing is promised that is not stored")
        self.assertIn("the database is not reachable", refused.stderr)
        self.weftd.wait_sweeps(3)
        self.postgres.primary.start()
        wait_until(lambda: self.stored(incident) == "1|1", within=120, why=lambda: self.stored(incident) + self.weftd.log())
        wait_until(lambda: self.maintenance().returncode == 0, why="it is refused still")
        self.assertEqual(["opened"], self.receiver.told(incident["id"]), "told once")
        self.assertEqual("0", self.postgres.primary.sql("SELECT count(*) FROM (SELECT 1 FROM event WHERE what = 'opened' GROUP BY incident "
                                                        "HAVING count(*) > 1) AS twice"))

    def test_3a_what_waited_is_written_when_the_database_is_back_also_by_a_weftd_that_is_stopped(self):
        self.weftd.wait_sweeps(1)
        self.postgres.primary.kill()
        first = self.pull(3)
        self.assertIn("Connection refused", weftctl(self.weftd, "status").stdout)
        self.postgres.primary.start()
        wait_until(lambda: self.stored(first) == "1|1", within=10, why=lambda: self.stored(first) + self.weftd.log())  # not with housekeeping, once a minute
        # Beside it what another test left: its cable is back, and the end of its incident waited, too.
        wait_until(lambda: self.weftd.log().rfind("the database answers again: ") > self.weftd.log().rfind("could not be stored"), 5,
                   why=self.weftd.log)

        def is_whole():
            status = weftctl(self.weftd, "status")
            return status.returncode != 3 and "Connection refused" not in status.stdout
        wait_until(is_whole, 10, why=lambda: weftctl(self.weftd, "status").stdout)

        self.postgres.primary.kill()
        second = self.pull(4)
        self.postgres.primary.start()
        self.weftd.stop(remove=False)
        self.assertEqual("1|1", self.stored(second), self.weftd.log())
        self.weftd.start()
        self.weftd.wait_sweeps(1)

        # Killed before the database is back: what it showed is not stored, and its id is not given to another fault.
        self.postgres.primary.kill()
        third = self.pull(2)
        self.weftd.kill()
        self.postgres.primary.start()
        self.weftd.start()
        # A killed one keeps the lease for some seconds.
        wait_until(lambda: "This weftd leads" in weftctl(self.weftd, "status").stdout, 30, why=self.weftd.log)
        self.weftd.wait_sweeps(2)
        fourth = self.pull(1)
        number = [int(each["id"].removeprefix("INC-")) for each in (third, fourth)]
        self.assertLess(number[0], number[1])
        self.assertEqual("0|0", self.stored(third))

    def test_3b_a_database_that_hangs_holds_nobody_up(self):
        self.postgres.primary.signal(signal.SIGSTOP)
        try:
            incident = self.pull(2, sweeps=40)  # no longer than the bound of an answer, and of a new connection to each server
            self.weftd.wait_sweeps(3)
            refused = self.maintenance()
            self.assertNotEqual(0, refused.returncode, "nothing is promised that is not stored")
        finally:
            self.postgres.primary.signal(signal.SIGCONT)
        wait_until(lambda: self.stored(incident) == "1|1", within=120, why=lambda: self.stored(incident) + self.weftd.log())
        wait_until(lambda: self.maintenance().returncode == 0, why="it is refused still")

    def test_4_a_plan_and_its_records_are_in_the_database(self):
        leaf = self.leaf()
        number = next(number for number, end in sorted(leaf.ports.items()) if self.network.nodes[end.node].name.startswith("spine"))
        proposed = weftctl(self.weftd, "isolate", f"{leaf.name}:{number}", "--reason", "a drill", "--yes")
        self.assertIn("PLAN-", proposed.stdout + proposed.stderr)
        plan = weftctl_json(self.weftd, "plans", "--all")["plans"][-1]
        self.assertEqual("1", self.postgres.primary.sql(f"SELECT count(*) FROM plan WHERE id = {plan['id'].removeprefix('PLAN-')}"))
        trail = weftctl(self.weftd, "audit")
        self.assertEqual(0, trail.returncode, trail.stderr)
        self.assertNotEqual("0", self.postgres.primary.sql("SELECT records FROM audit_end"))

    def test_5_the_standby_takes_over_and_nothing_is_lost(self):
        before = self.pull(3)
        wait_until(lambda: self.stored(before) == "1|1", why=lambda: self.stored(before))
        self.postgres.fail_over()
        self.assertEqual("1|1", self.stored(before))
        after = self.pull(4)
        wait_until(lambda: self.stored(after) == "1|1", within=120, why=lambda: self.stored(after) + self.weftd.log())
        self.assertEqual("0", self.postgres.primary.sql("SELECT count(*) FROM (SELECT 1 FROM event WHERE what = 'opened' GROUP BY incident "
                                                        "HAVING count(*) > 1) AS twice"))

    def test_5b_what_a_standby_never_had_is_missed_and_stored_again(self):
        self.assertNotIn("waits for no standby", self.weftd.log())
        self.postgres.add_standby()
        self.postgres.set_standbys(self.postgres.primary, "")
        self.postgres.standby.stop()
        incident = self.pull(5)
        wait_until(lambda: self.stored(incident) == "1|1", why=lambda: self.stored(incident) + self.weftd.log())
        done = weftctl(self.weftd, "acknowledge", incident["id"], "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        checked = run_weftd(["--store-url", self.postgres.url, "--state-dir", self.weftd.state_dir, "--check-config"])
        self.assertIn("a commit waits for no standby", checked.stdout)
        self.postgres.primary.kill()
        self.postgres.standby.start()
        self.postgres.promote()
        wait_until(lambda: "the database does not have what it had confirmed" in self.weftd.log(), 60, why=self.weftd.log)
        wait_until(lambda: self.stored(incident) == "1|0", 60, why=lambda: self.stored(incident) + self.weftd.log())
        number = incident["id"].removeprefix("INC-")
        self.assertIn("ann", self.postgres.primary.sql(f"SELECT acknowledged_by FROM incident WHERE id = {number}"))
        self.assertIn("stored again", weftctl(self.weftd, "audit").stdout)

    def configure(self, url: str) -> None:
        with open(self.weftd.configuration, encoding="utf-8") as stream:
            text = re.sub(r'^url = ".*"$', f'url = "{url}"', stream.read(), flags=re.MULTILINE)
        with open(self.weftd.configuration, "w", encoding="utf-8") as stream:
            stream.write(text)

    def test_6_a_copy_of_a_store_without_records_says_so(self):
        young = Weftd(dict(os.environ), infiniband="enabled = false")
        self.addCleanup(young.stop)
        young.start(wait=False)
        wait_until(lambda: "HTTP on" in young.log(), 30, why=young.log)
        self.assertEqual(0, young.stop(remove=False))
        self.postgres.primary.sql("CREATE DATABASE young")
        done = run_weftd(["store", "copy", young.state_dir, self.postgres.url.removesuffix("postgres") + "young"], timeout=120)
        self.assertIn("The audit trail is empty.", done.stdout, done.stderr)
        self.assertIn("\nNext: set store.url of weftd.toml to that database, and start weftd.\n", done.stdout)
        self.postgres.primary.sql("CREATE DATABASE site")
        of_site = self.postgres.url.removesuffix("postgres") + "site"
        self.postgres.primary.run("psql", "-h", "127.0.0.1", "-p", str(self.postgres.primary.port), "-U", "weft", "-d", "site", "-Xqc",
                                  "CREATE SCHEMA weft_shard_north")
        done = run_weftd(["store", "copy", young.state_dir, f"{of_site}?options=-csearch_path%3Dweft_shard_north"], timeout=120)
        self.assertIn('\nNext: set site.shard = "north" in weftd.toml, and store.url to that database, without options=: ', done.stdout, done.stderr)

    def test_6_an_upgrade_of_a_shard_that_was_not_started_yet(self):
        self.postgres.primary.sql("CREATE DATABASE upgraded")
        done = run_weftd(["--store-url", self.postgres.url.removesuffix("postgres") + "upgraded", "--site-shard", "north", "--infiniband-enabled",
                          "false", "--state-dir", os.path.join(self.weftd.place, "fresh"), "--check-upgrade"])
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"/upgraded \(schema weft_shard_north\): is made at the first start, with schema version \d+\.")

    def test_6_restore_is_for_directories(self):
        done = run_weftd(["store", "restore", "/nowhere/backup.db", self.postgres.url])
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertEqual("weftd store restore: a backup of a state directory goes back into one. A database goes back with pg_restore: see "
                         "the guide, database.md\n", done.stderr)

    def test_6_copied_to_a_file_and_back(self):
        def known():
            return sorted((incident["id"], incident["opened"]) for incident in self.weftd.incidents(open_only=False))

        def copied(source: str, target: str, words: str = r"[1-9]\d* rows were copied and verified\.") -> str:
            done = run_weftd(["store", "copy", source, target], timeout=120)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertRegex(done.stdout, "^" + words)
            self.assertIn("set store.url" if "://" in target else "remove store.url", done.stdout)
            self.assertEqual("", done.stderr, "there is no terminal to show progress on")
            self.assertRegex(done.stdout, rf"\n{len(before)} incidents?, \d+ plans? and \d+ maintenance windows? are among them\.")
            return re.search(r"(\d+) records, last hash ([0-9a-f]{64})", done.stdout)[0]

        def refused(source: str, target: str) -> None:
            again = run_weftd(["store", "copy", source, target], timeout=120)
            self.assertEqual(1, again.returncode, again.stdout)
            self.assertIn("is not empty", again.stderr)

        before = known()
        self.assertNotEqual([], before)
        self.assertEqual(0, self.weftd.stop(remove=False))
        directory = os.path.join(self.weftd.place, "file")
        trail = copied(self.postgres.url, directory)
        self.assertNotEqual("0", trail.split()[0], "records of the trail")
        nothing = r"All [1-9]\d* rows were there already, and are verified: nothing was copied\."
        self.assertEqual(trail, copied(self.postgres.url, directory, nothing), "it is whole already")
        at_first, self.weftd.state_dir = self.weftd.state_dir, directory
        self.configure("")
        self.weftd.start()
        self.assertEqual(before, known())
        self.weftd.wait_sweeps(1)  # it runs for seconds
        self.assertEqual(0, self.weftd.stop(remove=False))
        refused(self.postgres.url, directory)
        left = run_weftd(["--store-url", self.postgres.url, "--state-dir", directory, "--infiniband-enabled", "false", "--check-config"])
        self.assertEqual(2, left.returncode, left.stdout)
        self.assertIn("weft.db was used after it was copied to postgresql://weft@127.0.0.1", left.stderr)
        self.postgres.primary.sql("CREATE DATABASE second")
        second = self.postgres.url.removesuffix("postgres") + "second"
        trail = copied(directory, second)
        self.assertEqual(trail, copied(directory, second, nothing), "it is whole already")
        self.configure(second)
        self.weftd.start()
        self.assertEqual(before, known())
        self.weftd.wait_sweeps(1)
        self.assertEqual(0, self.weftd.stop(remove=False))
        mark = os.path.join(directory, "store")  # else the source is refused: its weftd uses the database
        os.rename(mark, mark + ".aside")
        refused(directory, second)
        os.rename(mark + ".aside", mark)
        self.weftd.start()
        self.assertEqual(before, known(), "what was refused left it as it was")
        self.assertTrue(os.path.exists(os.path.join(at_first, "store")))


if __name__ == "__main__":
    weft_testing.main()
