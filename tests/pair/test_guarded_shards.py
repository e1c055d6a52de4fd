# SPDX-License-Identifier: Apache-2.0
"""Two weftd as two shards of one site, which show each other who they are: certificates and tokens."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "infiniband"))

import weft_testing  # noqa: E402
from certificates import make_certificate  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Weftd, fat_tree, program, simulated_subnet, wait_until, weftctl, weftctl_json  # noqa: E402


class GuardedShards(unittest.TestCase):
    """South watches 8 hosts, north nothing. Each has a certificate of its own, and lets in who has a token; one file has both certificates."""

    SECTIONS = """
enabled = {enabled}
[store]
url = "{url}"
[site]
shard = "{shard}"
authorities = "{place}/authorities.pem"
token_file = "{place}/token-of-{shard}"
[security]
certificate = "{place}/{shard}.crt"
key = "{place}/{shard}.key"
tokens_file = "{place}/tokens"
"""

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        cls.addClassCleanup(cls.postgres.stop)
        cls.postgres.start_alone()
        subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(8, rails=1, radix=8))
        cls.addClassCleanup(subnet.stop)
        subnet.start()
        cls.subnet = subnet
        cls.place = tempfile.mkdtemp(prefix="weft-shards-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        for name in ("north", "south", "stranger"):
            make_certificate(cls.place, name)
        cls.write("authorities.pem", cls.read("north.crt") + cls.read("south.crt"))
        make_token = os.path.join(weft_testing.ROOT, "deploy", "certs", "make-token")
        for shard in ("north", "south"):
            cls.write(f"token-of-{shard}", subprocess.run([make_token, f"{cls.place}/tokens", shard, "viewer"], check=True, text=True,
                                                          stdout=subprocess.PIPE).stdout)
        cls.write("token-of-ann", subprocess.run([make_token, f"{cls.place}/tokens", "ann", "operator"], check=True, text=True,
                                                 stdout=subprocess.PIPE).stdout)
        cls.shards: dict[str, Weftd] = {}
        url = f"postgresql://weft@127.0.0.1:{cls.postgres.primary.port}/postgres"
        for shard, environment in (("north", dict(os.environ)), ("south", subnet.environment(subnet.network.hosts()[0].identity))):
            enabled = "true" if shard == "south" else "false"
            cls.shards[shard] = Weftd(environment, infiniband=cls.SECTIONS.format(enabled=enabled, url=url, shard=shard, place=cls.place))
            cls.addClassCleanup(cls.shards[shard].stop)
            cls.shards[shard].start(wait=False)

    @classmethod
    def read(cls, name: str) -> str:
        with open(os.path.join(cls.place, name), encoding="utf-8") as stream:
            return stream.read()

    @classmethod
    def write(cls, name: str, text: str) -> None:
        with open(os.open(os.path.join(cls.place, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)

    def setUp(self):
        self.north, self.south = self.shards["north"], self.shards["south"]

    def shown(self, weftd: Weftd, shard: str) -> dict:
        """How `weftd` reaches that shard."""
        done = weftctl(weftd, "status", "--json")
        found = json.loads(done.stdout or "{}").get("shards", [])
        return next((each for each in found if each["name"] == shard), {})

    def wait_answers(self) -> None:
        for weftd, other in ((self.north, "south"), (self.south, "north")):
            wait_until(lambda weftd=weftd, other=other: self.shown(weftd, other).get("answers"), 30,
                       why=lambda weftd=weftd, other=other: f"{self.shown(weftd, other)}\n{weftd.log()}")

    def with_other(self, file: str, text: str) -> None:
        """North starts anew with that text in a file; it has its own again after the test."""
        def put(content: str) -> None:
            self.north.stop(remove=False)
            self.write(file, content)
            self.north.start(wait=False)

        self.addCleanup(put, self.read(file))
        put(text)

    def expect_missing(self, why: str) -> None:
        """South is missing in what north answers, for that reason; south hears north as before."""
        wait_until(lambda: re.search(why, self.shown(self.north, "south").get("trouble", "")), 30,
                   why=lambda: f"{self.shown(self.north, 'south')}\n{self.north.log()}")
        self.assertFalse(self.shown(self.north, "south").get("answers", False))
        listed = weftctl(self.north, "incidents")
        self.assertIn("shard south does not answer", listed.stdout + listed.stderr)
        wait_until(lambda: self.shown(self.south, "north").get("answers"), 30, why=self.south.log)

    def test_1_over_tls_with_a_token_they_answer(self):
        self.wait_answers()

        def known():
            return weftctl_json(self.north, "health", "gpu-0003")["nodes"][0]["shards"] == ["south"]

        wait_until(known, 30, why=lambda: f"{weftctl(self.north, 'health', 'gpu-0003')}\n{self.south.log()}")
        for weftd in self.shards.values():
            for shard in self.shards:
                self.assertNotIn(self.read(f"token-of-{shard}").strip(), weftd.log())

    def ask_north(self, who: str, *words: str) -> subprocess.CompletedProcess:
        """As a person does it who has a token, from anywhere."""
        return subprocess.run([program("weftctl"), "--server", self.north.grpc, "--ca", f"{self.place}/authorities.pem", "--token-file",
                               f"{self.place}/token-of-{who}", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)

    def test_1_weftctl_follows_a_refusal_to_the_shard_that_owns_the_incident(self):
        self.wait_answers()
        host = self.subnet.network.hosts()[3]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)
        incident = wait_until(lambda: next((each["id"] for each in weftctl_json(self.south, "incidents").get("incidents", [])), None), 30,
                              why=self.south.log)

        refused = self.ask_north("south", "acknowledge", incident)
        self.assertEqual(4, refused.returncode, "a viewer may not")
        self.assertEqual("OPEN", self.shown_incident(incident)["state"])
        done = self.ask_north("ann", "acknowledge", incident)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f"weftctl: answered by {self.south.grpc}; {self.north.grpc}: {incident} belongs to shard south: ask {self.south.grpc}", done.stderr)
        self.assertEqual("ACKNOWLEDGED", self.shown_incident(incident)["state"])
        self.assertIn("ann", self.shown_incident(incident)["acknowledgedBy"])

    def shown_incident(self, incident: str) -> dict:
        return weftctl_json(self.south, "incident", incident)

    def test_2_a_certificate_of_a_stranger(self):
        self.wait_answers()
        self.with_other("authorities.pem", self.read("stranger.crt"))
        self.expect_missing("certificate verify failed")

    def test_3_a_token_that_is_not_known(self):
        self.wait_answers()
        self.with_other("token-of-north", "guessed\n")
        self.expect_missing("unknown token")


if __name__ == "__main__":
    weft_testing.main()
