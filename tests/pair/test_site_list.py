# SPDX-License-Identifier: Apache-2.0
"""The list of shards of a site in PostgreSQL, and what two weftd without fabrics make of it when it is wrong: another shard at an address, a
shard that was taken out, a name that was mistyped, a weftd in a schema that is another's."""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from fabricless_site import SECTIONS, FabriclessSite  # noqa: E402
from weft_testing import Weftd, run_weftd, wait_until, weftctl, weftctl_json  # noqa: E402


class SiteList(FabriclessSite):
    def setUp(self):
        self.sql = self.postgres.primary.sql

    def shards(self) -> str:
        return self.sql("SELECT name, number FROM weft_site.shard ORDER BY number").replace("\n", " ")

    def shown(self, weftd: Weftd, shard: str) -> dict:
        found = weftctl_json(weftd, "status").get("shards", [])
        return next((each for each in found if each["name"] == shard), {})

    def wait_missing(self, why: str) -> None:
        """South is missing at north, for that reason, and what it owns is said to be missing."""
        wait_until(lambda: re.search(why, self.shown(self.north, "south").get("trouble", "")), 30,
                   why=lambda: f"{self.shown(self.north, 'south')}\n{self.north.log()}")
        self.assertEqual(["south"], self.north.client.json("/api/v1/incidents")["missingShards"])

    def wait_answers(self) -> None:
        for weftd, other in ((self.north, "south"), (self.south, "north")):
            wait_until(lambda weftd=weftd, other=other: self.shown(weftd, other).get("answers"), 30,
                       why=lambda weftd=weftd, other=other: f"{self.shown(weftd, other)}\n{weftd.log()}")

    def told(self, column: str, value: str) -> None:
        self.sql(f"UPDATE weft_site.weftd SET {column} = '{value}' WHERE shard = 'south'")

    def run_to_its_end(self, weftd: Weftd) -> str:
        """A start that is refused: what it says."""
        self.addCleanup(weftd.stop)
        weftd.start(wait=False)
        wait_until(lambda: weftd.process.poll() is not None, 30, why=weftd.log)
        self.assertNotEqual(0, weftd.process.returncode, weftd.log())
        return weftd.log()

    def check(self, *arguments: str) -> str:
        """--check-config refuses it: what it says. Nothing is changed by that."""
        before = self.shards(), self.sql("SELECT * FROM weft_site.given"), self.sql("SELECT count(*) FROM pg_namespace")
        with tempfile.TemporaryDirectory(prefix="weft-check-") as place:
            done = run_weftd(["--infiniband-enabled", "false", "--state-dir", place, *arguments, "--check-config"])
        self.assertEqual(before, (self.shards(), self.sql("SELECT * FROM weft_site.given"), self.sql("SELECT count(*) FROM pg_namespace")))
        self.assertEqual(2, done.returncode, done.stdout)
        return done.stderr

    def test_1_another_shard_at_the_address_is_not_believed(self):
        self.wait_answers()
        self.told("address", self.north.grpc)
        self.wait_missing(rf"shard 1/north answers at {re.escape(self.north.grpc)}, not shard 2/south")
        self.told("address", self.south.grpc)
        self.wait_answers()

    def test_2_a_weftd_of_no_site_at_the_address_is_not_believed(self):
        self.wait_answers()
        alone = Weftd(dict(os.environ), infiniband="enabled = false")
        self.addCleanup(alone.stop)
        alone.start(wait=False)
        self.wait_log(alone, "HTTP on")
        self.told("address", alone.grpc)
        self.wait_missing(f"what answers at {re.escape(alone.grpc)} is no weftd of this site")
        self.told("address", self.south.grpc)
        self.wait_answers()

    def test_3_a_loopback_address_of_another_host_is_not_followed(self):
        self.wait_answers()
        machine = self.sql("SELECT machine FROM weft_site.weftd WHERE shard = 'south'")
        self.told("machine", "elsewhere")
        self.wait_missing("is a loopback address of another host: set site.address")
        self.told("machine", machine)
        self.wait_answers()

    def test_4_a_shard_that_is_taken_out_says_so_and_comes_back_when_it_is_started(self):
        self.wait_answers()
        self.sql("DELETE FROM weft_site.shard WHERE name = 'south'")
        self.wait_log(self.south, "the site lists the shard south no more")
        wait_until(lambda: 'weft_shard_answers{shard="south"} 0' in self.south.metrics(), 30, why=self.south.log)
        self.assertIn("the site lists this shard no more", self.shown(self.south, "south")["trouble"])
        status = weftctl(self.south, "status")
        self.assertRegex(status.stdout, r"south +taken out")
        self.assertEqual(1, status.returncode)
        self.assertEqual([], self.south.client.json("/api/v1/incidents")["missingShards"], "it answers for itself")
        wait_until(lambda: not self.shown(self.north, "south"), 30, why=self.north.log)
        self.assertEqual("north|1", self.shards(), "it is not entered again")
        self.assertIsNone(self.south.process.poll(), "it goes on")
        self.south.stop(remove=False)
        self.south.start(wait=False)
        self.wait_log(self.south, "shard south is back in the site, with its number 2")
        self.wait_answers()

    def test_5_the_name_of_a_start_that_failed_does_not_stay(self):
        mistyped = self.make("sotuh")
        mistyped.grpc = self.north.grpc  # in use
        said = self.run_to_its_end(mistyped)
        self.assertIn("cannot listen", said)
        self.assertIn("the entry of shard sotuh, number 3, is taken back", said)
        self.assertEqual("north|1 south|2", self.shards())
        # The state directory is that of another shard.
        self.south.stop(remove=False)
        self.addCleanup(self.south.start, wait=False)
        other = Weftd(dict(os.environ), infiniband=SECTIONS.format(url=self.url, shard="soutth"), state_dir=self.south.state_dir)
        self.assertIn("is taken back", self.run_to_its_end(other))
        self.assertEqual("north|1 south|2", self.shards())
        east = self.make("east")
        self.addCleanup(east.stop)
        east.start(wait=False)
        self.wait_log(east, "new shard east registered as number 3")
        # As the guide has it: the number was never used, and is there for another shard.
        east.stop()
        self.sql("DELETE FROM weft_site.shard WHERE name = 'east'")
        self.sql("UPDATE weft_site.given SET shard = NULL WHERE shard = 'east' AND (SELECT max(value) FROM weft_shard_east.number) = 1")
        self.assertEqual("3", self.sql("SELECT number FROM weft_site.given WHERE shard IS NULL"))
        west = self.make("west")
        self.addCleanup(west.stop)
        west.start(wait=False)
        self.wait_log(west, "new shard west registered as number 3")
        self.addCleanup(self.sql, "DELETE FROM weft_site.shard WHERE name = 'west'")

    def test_6_a_shards_schema_is_refused_to_a_weftd_without_its_name(self):
        url = f"{self.url}?options=-csearch_path%3Dweft_shard_north"
        words = "its schema is that of shard north of a site, and this weftd is not that shard"
        self.assertIn(words, self.check("--store-url", url))
        alone = Weftd(dict(os.environ), infiniband=f'enabled = false\n[store]\nurl = "{url}"')
        self.assertIn(words, self.run_to_its_end(alone))

    def test_7_a_check_fails_where_a_start_would(self):
        self.sql("CREATE ROLE plain LOGIN")
        plain = self.url.replace("weft@", "plain@")
        self.assertIn("permission denied", self.check("--store-url", plain, "--site-shard", "far"))
        last = self.sql("SELECT last_number FROM weft_site.site")
        self.sql("UPDATE weft_site.site SET last_number = 99")
        self.addCleanup(self.sql, f"UPDATE weft_site.site SET last_number = {last}")
        words = "the site has had 99 shards already"
        self.assertIn(words, self.check("--store-url", self.url, "--site-shard", "far"))
        self.assertIn(words, self.run_to_its_end(self.make("far")))

    def test_8_a_token_in_clear_text_is_refused(self):
        said = self.check("--store-url", self.url, "--site-shard", "north", "--site-token-file", "/nowhere", "--site-address", "mgmt1:9641")
        self.assertIn("site.token_file: would go to the other shards in clear text: set site.authorities", said)

    def test_8_files_that_show_a_weftd_to_the_others_are_read_before_it_starts(self):
        # Else only the others' status tells that nobody answers it.
        words = "cannot read /nowhere: No such file or directory"
        for key in ("token_file", "authorities"):
            with self.subTest(key=key):
                flag = "--site-" + key.replace("_", "-")
                arguments = ["--store-url", self.url, "--site-shard", "far", "--site-address", "127.0.0.1:1", flag, "/nowhere"]
                self.assertIn(f"site.{key}: {words}", self.check(*arguments))
        far = Weftd(dict(os.environ), infiniband=SECTIONS.format(url=self.url, shard="far") + 'authorities = "/nowhere"\n')
        self.assertIn(words, self.run_to_its_end(far))
        self.assertNotIn("far", self.shards())

    def test_8_a_file_without_a_certificate_is_refused(self):
        # With it no shard would be reached, and gRPC says of it that there is no address.
        words = "site.authorities: /etc/hostname has no valid PEM certificate"
        arguments = ["--store-url", self.url, "--site-shard", "far", "--site-address", "127.0.0.1:1", "--site-authorities", "/etc/hostname"]
        self.assertIn(words, self.check(*arguments))
        far = Weftd(dict(os.environ), infiniband=SECTIONS.format(url=self.url, shard="far") + 'authorities = "/etc/hostname"\n')
        self.assertIn(words, self.run_to_its_end(far))
        self.assertNotIn("far", self.shards())

    def test_8_a_weftd_of_another_shard_by_its_configuration_is_told(self):
        """It would stand by for south, and own other collectors when it took over."""
        self.wait_answers()
        wrong = Weftd(dict(os.environ), infiniband=SECTIONS.format(url=self.url, shard="south") + 'collectors = ["gpu-*"]\n')
        self.addCleanup(wrong.stop)
        wrong.start(wait=False)
        self.wait_log(wrong, "has site.collectors")
        words = (f"its weftd at {self.south.grpc} has site.collectors none, the one at {wrong.grpc} gpu-*: a takeover changes what the shard "
                 "owns. Compare the weftd.toml of both, site.shard first")
        self.wait_log(self.south, "shard south: " + words)
        for weftd in (self.north, self.south, wrong):
            wait_until(lambda weftd=weftd: self.shown(weftd, "south").get("disagreement") == words, 30,
                       why=lambda weftd=weftd: self.shown(weftd, "south"))
        self.assertEqual("", self.shown(self.north, "north").get("disagreement", ""))
        self.assertIn("has site.collectors none", " ".join(weftctl(self.north, "status").stdout.split()))
        with tempfile.TemporaryDirectory(prefix="weft-check-") as place:
            done = run_weftd(["--infiniband-enabled", "false", "--state-dir", place, "--store-url", self.url, "--site-shard", "south",
                              "--site-collectors", "gpu-*", "--check-config"])
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stdout, r"shard south was last led by \S+, process \d+, which watches none, with site.collectors none")

    def test_9_a_first_start_that_is_killed_is_nobody_to_wait_for(self):
        self.wait_answers()
        killed = self.make("esat")
        self.addCleanup(killed.stop)
        killed.start(wait=False)
        wait_until(lambda: "esat" in self.shards(), 30, why=killed.log)
        killed.kill()
        self.addCleanup(self.sql, "DELETE FROM weft_site.shard WHERE name = 'esat'")
        shown = wait_until(lambda: self.shown(self.north, "esat"), 30, why=self.north.log)
        self.assertIn("no weftd of it has led yet", shown["trouble"])
        status = weftctl(self.north, "status")
        self.assertRegex(status.stdout, r"esat +never led")
        self.assertEqual([], self.north.client.json("/api/v1/incidents")["missingShards"])
        self.assertNotIn('shard="esat"', self.north.metrics())
        killed.start(wait=False)
        wait_until(lambda: self.shown(self.north, "esat").get("answers"), 30, why=lambda: f"{self.shown(self.north, 'esat')}\n{killed.log()}")
        self.assertFalse(self.shown(self.north, "esat").get("neverLed", False))
        killed.kill()
        wait_until(lambda: self.north.client.json("/api/v1/incidents")["missingShards"] == ["esat"], 30, why=self.north.log)


if __name__ == "__main__":
    weft_testing.main()
