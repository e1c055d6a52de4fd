# SPDX-License-Identifier: Apache-2.0
"""Two weftd as two shards of one site: each has a subnet of its own, both have one PostgreSQL. Either answers for both; what does not
answer is named."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("infiniband", "collector")]

import sysfs_tree  # noqa: E402
import weft_testing  # noqa: E402
from collector_testing import Collector  # noqa: E402
from pair_testing import TAKEOVER, leads  # noqa: E402
from postgres_pair import PostgresPair, missing  # noqa: E402
from weft_testing import Answer, Weftd, fat_tree, program, simulated_subnet, wait_until, weftctl, weftctl_json  # noqa: E402

SITE = """
[store]
url = "{url}"
history_interval = "1s"
[remedy]
isolate_link = "propose"
[site]
shard = "{shard}"
collectors = ["{shard}-*"]
"""


class TwoShards(unittest.TestCase):
    """north watches 8 hosts, south 16: the last 8 are known in south alone. The first 8 have the same names in both."""

    SUBNETS = {"north": (8, 1), "south": (16, 1)}  # adapters and rails

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(f"not installed: {', '.join(missing())}")
        weft_testing.require_simulator()
        cls.postgres = PostgresPair()
        cls.subnets: dict[str, simulated_subnet.SimulatedSubnet] = {}
        cls.shards: dict[str, Weftd] = {}
        try:
            cls.postgres.start_alone()
            for shard, (adapters, rails) in cls.SUBNETS.items():
                subnet = simulated_subnet.SimulatedSubnet(fat_tree.build(adapters, rails=rails, radix=8))
                cls.subnets[shard] = subnet
                subnet.start()
                cls.shards[shard] = cls.make_weftd(shard, 0)
                cls.shards[shard].start()
                cls.shards[shard].wait_sweeps(1)
            for weftd in cls.shards.values():
                cls.wait_answers(weftd, {"north": True, "south": True})
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def make_weftd(cls, shard: str, host: int) -> Weftd:
        """On a host of the shard's subnet."""
        subnet = cls.subnets[shard]
        url = f"postgresql://weft@127.0.0.1:{cls.postgres.primary.port}/postgres"
        return Weftd(subnet.environment(subnet.network.hosts()[host].identity), infiniband=SITE.format(url=url, shard=shard))

    @classmethod
    def tearDownClass(cls):
        for weftd in cls.shards.values():
            weftd.stop()
        for subnet in cls.subnets.values():
            subnet.stop()
        cls.postgres.stop()

    @classmethod
    def wait_answers(cls, weftd: Weftd, wanted: dict[str, bool]) -> None:
        def answers():
            return {each["name"]: each.get("answers", False) for each in weftd.client.json("/api/v1/status").get("shards", [])}

        wait_until(lambda: answers() == wanted, 30, why=lambda: f"{weftd.client.json('/api/v1/status')}\n{weftd.log()}")

    def setUp(self):
        self.north, self.south = self.shards["north"], self.shards["south"]

    def pull(self, shard: str, number: int) -> set:
        """The cable of a host; gives both of its ends. One that is pulled in several tests may be a LINK_FLAP in the last of them."""
        subnet = self.subnets[shard]
        host = subnet.network.hosts()[number]
        subnet.unlink(host.identity, 1)
        self.addCleanup(subnet.relink, host.identity, 1)
        end = host.ports[1]
        return {(weft_testing.guid_text(host.guid), 1), (weft_testing.guid_text(subnet.network.nodes[end.node].guid), end.port)}

    def expect(self, weftd: Weftd, shard: str, ends: set) -> dict:
        """As `weftd` shows the incident of a cable of that shard: GUIDs of the two subnets are the same."""
        def found():
            return next((each for each in weftd.incidents("LINK_DOWN")
                         if each["shard"] == shard and weft_testing.ends_of(each["cause"]) <= ends), None)

        return wait_until(found, 30, why=lambda: f"{weftd.incidents(open_only=False)}\n{weftd.log()}")

    def is_stopped(self, weftd: Weftd) -> bool:
        """Of all its threads: one takes the signal, and stops the others when it gets a processor."""
        states = []
        for task in os.listdir(f"/proc/{weftd.process.pid}/task"):
            with open(f"/proc/{weftd.process.pid}/task/{task}/stat", encoding="utf-8") as stream:
                states.append(stream.read().rpartition(") ")[2][0])
        return set(states) == {"T"}

    def name(self, number: int) -> str:
        """Of a host, in either shard."""
        return f"gpu-{number + 1:04}"

    def test_1_either_lists_what_is_open_in_both(self):
        in_north, in_south = self.pull("north", 3), self.pull("south", 13)
        ids = {}
        for shard, ends in (("north", in_north), ("south", in_south)):
            shown = [self.expect(weftd, shard, ends) for weftd in (self.north, self.south)]
            self.assertEqual(shown[0]["id"], shown[1]["id"])
            ids[shard] = shown[0]["id"]
        numbers = [int(each.removeprefix("INC-")) % 100 for each in (ids["north"], ids["south"])]
        self.assertEqual([1, 2], numbers, "the last two digits are the shard's number")
        for weftd in (self.north, self.south):
            listed = weftctl(weftd, "incidents")
            self.assertEqual(0, listed.returncode, listed.stderr)
            for each in ids.values():
                self.assertIn(each, listed.stdout)
                self.assertEqual(each, weftd.client.json(f"/api/v1/incidents/{each}")["id"])
                self.assertEqual(each, weftctl_json(weftd, "incident", each)["id"])

    def test_2_pages_of_a_list_go_through_all_shards(self):
        for shard, number in (("north", 3), ("north", 4), ("south", 12), ("south", 13)):
            self.expect(self.south, shard, self.pull(shard, number))
        whole = [each["id"] for each in self.north.client.json("/api/v1/incidents?state=open")["incidents"]]
        found, token = [], ""
        for _ in range(100):
            page = self.north.client.json(f"/api/v1/incidents?state=open&page_size=1&page_token={token}")
            found += [each["id"] for each in page["incidents"]]
            token = page["nextPageToken"]
            if not token:
                break
        self.assertEqual(sorted(whole), sorted(found))
        self.assertEqual(len(found), len(set(found)))

    def test_3_health_of_any_host(self):
        only_south = self.name(14)
        known = self.north.client.json(f"/api/v1/nodes/{only_south}/health")
        self.assertEqual(["south"], known["shards"])
        self.assertNotEqual("UNKNOWN", known["verdict"])
        self.assertEqual([], known["missingShards"])
        self.assertEqual({"north", "south"}, set(self.north.client.json(f"/api/v1/nodes/{self.name(1)}/health")["shards"]))
        batch = weftctl_json(self.north, "health", only_south, self.name(2), "nobody")["nodes"]
        self.assertEqual([only_south, self.name(2), "nobody"], [each["node"] for each in batch])
        self.assertEqual("UNKNOWN", batch[2]["verdict"])
        with self.assertRaises(Answer) as refused:
            self.north.client.json("/api/v1/nodes/nobody/health")
        self.assertEqual(404, refused.exception.status)

    def test_3_lists_have_what_any_shard_watches(self):
        only_south = self.name(14)
        for weftd in (self.north, self.south):
            for path, entries in (("nodes", "nodes"), ("links", "links"), ("ports", "ports")):
                answer = weftd.client.json(f"/api/v1/{path}")
                self.assertEqual({"north", "south"}, {each["shard"] for each in answer[entries]}, path)
                self.assertEqual([], answer["missingShards"])
            hosts = {(each["shard"], each["host"]) for each in weftctl_json(weftd, "nodes")["nodes"] if each["host"].startswith("gpu-")}
            self.assertEqual({("north", self.name(i)) for i in range(8)} | {("south", self.name(i)) for i in range(16)}, hosts)
            found = weftd.client.json(f"/api/v1/nodes?contains={only_south.upper()}")["nodes"]
            self.assertEqual([("south", only_south)], [(each["shard"], each["host"]) for each in found])
            self.assertEqual({"south"}, {each["shard"] for each in weftctl_json(weftd, "ports", only_south)["ports"]})
            self.assertEqual({"south"}, {each["shard"] for each in weftctl_json(weftd, "links", only_south)["links"]})
            for text in ("leaf-r0-p04:3", "LEAF-R0-P04 port 3", f"leaf-r0-p04 {only_south}"):
                cables = weftctl_json(weftd, "links", "--contains", text)["links"]
                self.assertEqual([("south", f"{only_south} mlx5_0")], [(each["shard"], each["a"]["node"]) for each in cables], text)
            self.assertRegex(weftctl(weftd, "nodes").stdout, rf"{only_south} .* south")
            path = wait_until(lambda weftd=weftd: self.arrived(weftd, only_south, self.name(13)), 60, why=weftd.log)
            self.assertEqual("south", path["shard"])
            self.assertIn("Shard south: ", weftctl(weftd, "path", only_south, self.name(13)).stdout)
        for words in (("ports", "nobody"), ("path", only_south, "nobody")):
            self.assertIn("named nobody", weftctl(self.north, *words).stderr)

    def arrived(self, weftd: Weftd, one: str, other: str) -> dict | None:
        """The path, once the forwarding tables are read."""
        done = weftctl(weftd, "path", one, other, "--json")
        return next((each for each in json.loads(done.stdout or "{}").get("paths", []) if each["end"] == "ARRIVED"), None)

    def test_3_the_drawing_of_any_shard(self):
        for weftd in (self.north, self.south):
            for shard, hosts in (("north", 8), ("south", 16)):
                drawn = weftd.client.json(f"/api/v1/map?shard={shard}")["fabrics"]
                self.assertEqual(hosts, drawn[0]["types"].count("C"), shard)
                state = weftd.client.json(f"/api/v1/map/state?shard={shard}")["fabrics"]
                self.assertEqual(drawn[0]["shape"], state[0]["shape"])
        with self.assertRaises(Answer) as refused:
            self.north.client.json("/api/v1/map?shard=west")
        self.assertEqual(404, refused.exception.status)

    def test_4_a_command_on_a_name_of_another_shard_names_that_shard(self):
        host = self.subnets["south"].network.hosts()[14]
        leaf = self.subnets["south"].network.nodes[host.ports[1].node]
        only_south, link = self.name(14), f"{leaf.name} port {host.ports[1].port}"
        self.assertNotIn(leaf.name, [each["name"] for each in self.north.client.json("/api/v1/nodes")["nodes"] if each["shard"] == "north"])
        for words, name in ((("drain", only_south), only_south), (("isolate", link), link), (("isolate", link, "--dry-run"), link),
                            (("maintenance", "add", only_south, "--for", "5m"), only_south), (("maintenance", "add", link, "--for", "5m"), link)):
            refused = weftctl(self.north, *words, *([] if "--dry-run" in words else ["--reason", "a test", "--who", "ann"]))
            self.assertNotEqual(0, refused.returncode, refused.stdout)
            self.assertIn(f"{name} belongs to shard south: ask {self.south.grpc}", refused.stderr, words)
        unknown = weftctl(self.north, "drain", "nobody", "--reason", "a test", "--who", "ann")
        self.assertNotEqual(0, unknown.returncode)
        self.assertNotIn("belongs to", unknown.stderr)
        self.assertEqual([], weftctl_json(self.north, "maintenance")["windows"])

    def test_4_a_command_at_the_wrong_shard_names_the_right_one(self):
        incident = self.expect(self.north, "south", self.pull("south", 11))
        refused = weftctl(self.north, "acknowledge", incident["id"], "--who", "ann")
        self.assertNotEqual(0, refused.returncode, refused.stdout)
        self.assertIn(f"{incident['id']} belongs to shard south: ask {self.south.grpc}", refused.stderr)
        done = weftctl(self.south, "acknowledge", incident["id"], "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)

    def watch(self, weftd: Weftd, *words: str):
        """What `weftctl watch` prints until the test ends, line by line."""
        process = subprocess.Popen([program("weftctl"), "--server", weftd.grpc, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True)
        lines: list[str] = []
        reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")))
        reader.start()

        def end():
            process.kill()
            process.wait()
            reader.join()
            process.stdout.close()

        self.addCleanup(end)
        return lines

    def test_6_watches_at_any_shard_tell_of_both(self):
        watches = [self.watch(weftd, "watch") for weftd in (self.north, self.south)]
        ids = {shard: self.expect(self.north, shard, self.pull(shard, number))["id"] for shard, number in (("north", 6), ("south", 12))}
        for lines in watches:
            for incident in ids.values():
                wait_until(lambda lines=lines, incident=incident: any(incident in line for line in lines), 30, why=lambda lines=lines: str(lines))
        later = self.watch(self.north, "watch", "--json")
        wait_until(lambda: any("INITIAL_COMPLETE" in line for line in later), 30, why=lambda: str(later))
        first = [json.loads(line)["incident"] for line in later if json.loads(line)["type"] == "INITIAL"]
        self.assertLessEqual({(ids[shard], shard) for shard in ids}, {(each["id"], each["shard"]) for each in first})
        self.assertEqual(len(first), len({each["id"] for each in first}), "each once")
        done = weftctl(self.south, "acknowledge", ids["south"], "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        wait_until(lambda: any(ids["south"] in line and "ACKNOWLEDGED" in line for line in watches[0]), 30, why=lambda: str(watches[0]))

    def test_6_watches_name_a_shard_that_hangs_and_go_on(self):
        lines = self.watch(self.north, "watch")
        known = self.expect(self.north, "south", self.pull("south", 6))["id"]
        wait_until(lambda: any(known in line for line in lines), 30, why=lambda: str(lines))
        os.killpg(self.south.process.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: any("shard south does not answer" in line for line in lines), 30, why=lambda: str(lines))
            before = len(lines)
        finally:
            os.killpg(self.south.process.pid, signal.SIGCONT)
        wait_until(lambda: any("shard south answers again" in line for line in lines[before:]), 60, why=lambda: str(lines))
        news = self.expect(self.south, "south", self.pull("south", 14))["id"]
        wait_until(lambda: any(news in line for line in lines), 30, why=lambda: str(lines))
        self.assertEqual(set(), {line for line in lines[before:] if known in line}.intersection(lines[:before]), "what did not change is not told again")
        self.wait_answers(self.north, {"north": True, "south": True})

    def test_6_the_topology_of_both(self):
        for weftd in (self.north, self.south):
            hosts = [(each["shard"], each["host"]) for each in weftctl_json(weftd, "topology")["nodes"] if each["type"] == "CHANNEL_ADAPTER"]
            self.assertEqual({"north": 8, "south": 16}, {shard: sum(each[0] == shard for each in hosts) for shard in ("north", "south")})
            served = weftd.client.json("/api/v1/topology")
            self.assertEqual({"north", "south"}, {each["shard"] for each in served["links"]})
            self.assertEqual(hosts, [(each["shard"], each["host"]) for each in served["nodes"] if each["type"] == "CHANNEL_ADAPTER"])
            shown = weftctl(weftd, "topology").stdout
            self.assertRegex(shown, rf"adapter {self.name(14)} .*shard south")
            self.assertEqual(0, weftctl(weftd, "topology", "--differences").returncode)

    def test_6_the_history_of_a_host_of_the_other_shard(self):
        host = self.name(14)
        asked = ("history", host, "--last", "1h")
        wait_until(lambda: weftctl(self.south, *asked).returncode == 0, 30, why="there is no history")
        for weftd in (self.north, self.south):
            self.assertIn(host, weftctl(weftd, *asked).stdout)
            served = weftd.client.json(f"/api/v1/ports/{host}/history?points=60")
            self.assertEqual(host, served["ports"][0]["node"].split()[0])
            for form in ("html", "json"):
                file = weftd.client.text(f"/api/v1/ports/{host}/evidence?format={form}")
                self.assertIn(host, file)
                self.assertIn("south", file)
        unknown = weftctl(self.north, "history", "nobody")
        self.assertEqual((1, "weftctl: unknown node or port nobody\n"), (unknown.returncode, unknown.stderr))

    def test_5_plans_of_both(self):
        asked = weftctl(self.south, "isolate", "leaf-r0-p01 port 5", "--reason", "a test", "--who", "ann", "--json")
        self.assertEqual(0, asked.returncode, asked.stderr)
        plan = json.loads(asked.stdout)["id"]
        self.addCleanup(weftctl, self.south, "abort", plan, "--reason", "the test is over")
        self.assertEqual(2, int(plan.removeprefix("PLAN-")) % 100)
        listed = wait_until(lambda: [each for each in weftctl_json(self.north, "plans", "--all")["plans"] if each["id"] == plan], 30, why=self.north.log)
        self.assertEqual("south", listed[0]["shard"])
        self.assertEqual(plan, weftctl_json(self.north, "plan", plan)["id"])
        refused = weftctl(self.north, "approve", plan, "--who", "ann")
        self.assertNotEqual(0, refused.returncode, refused.stdout)
        self.assertIn(f"{plan} belongs to shard south: ask {self.south.grpc}", refused.stderr)
        self.see_trails(plan)

    def see_trails(self, plan: str) -> None:
        """The plan stands in south's trail, as either weftd shows it; a line that is changed there is found."""
        for weftd in (self.north, self.south):
            records = weftctl_json(weftd, "audit", "--limit", "0")["records"]
            self.assertEqual({"south"}, {each["shard"] for each in records if each["planId"] == plan})
            shown = weftctl(weftd, "audit")
            self.assertEqual(0, shown.returncode, shown.stderr)
            self.assertRegex(shown.stdout, r"(?s)Shard north\n.*Shard south\n.*The hashes of all \d+ lines match")
        sql = self.postgres.primary.sql
        sql("UPDATE weft_shard_south.audit SET detail = detail || '!' WHERE sequence = 1")
        try:
            damaged = weftctl(self.north, "audit")
            self.assertNotEqual(0, damaged.returncode, damaged.stdout)
            self.assertIn("shard south: ", damaged.stderr)
            self.assertRegex(damaged.stdout, r"(?s)Shard north\n.*Shard south\n")
        finally:
            sql("UPDATE weft_shard_south.audit SET detail = left(detail, -1) WHERE sequence = 1")

    def test_6_a_collector_that_asks_the_wrong_shard_goes_to_the_right_one(self):
        sysfs = tempfile.mkdtemp(prefix="weft-sysfs-")
        self.addCleanup(shutil.rmtree, sysfs, True)
        sysfs_tree.make(sysfs, 1)
        collector = Collector(sysfs, self.north.grpc, interval="100ms", node_name="south-1")
        self.addCleanup(collector.remove)
        collector.start()

        def state(weftd):
            return [each["state"] for each in weftd.client.json("/api/v1/collectors").get("collectors", []) if each["host"] == "south-1"]

        wait_until(lambda: state(self.south) == ["CONNECTED"], 30, why=lambda: f"{collector.log()}\n{self.south.log()}")
        self.assertIn("belongs to shard south", collector.log())
        for weftd in (self.north, self.south):
            listed = [each for each in weftd.client.json("/api/v1/collectors")["collectors"] if each["host"] == "south-1"]
            self.assertEqual(["south"], [each["shard"] for each in listed], "in the shard that it reports to, and nowhere else")
            self.assertRegex(weftctl(weftd, "collectors", "south-1").stdout, r"south-1 +CONNECTED .* south ")
        found = self.north.client.json("/api/v1/nodes/south-1/health")
        self.assertEqual("south-1", found["node"])

    def test_6_the_health_of_a_job_that_runs_in_both(self):
        place = tempfile.mkdtemp(prefix="weft-jobs-")
        self.addCleanup(shutil.rmtree, place, True)
        jobs = os.path.join(place, "jobs")
        with open(jobs, "w", encoding="utf-8") as stream:
            stream.write("train-1\n")
        for host, weftd in (("north-7", self.north), ("south-7", self.south)):
            sysfs_tree.make(os.path.join(place, host), 1)
            collector = Collector(os.path.join(place, host), weftd.grpc, interval="100ms", node_name=host, extra=("--jobs-file", jobs))
            self.addCleanup(collector.remove)
            collector.start()

        def hosts(weftd) -> set[str]:
            answer = json.loads(weftctl(weftd, "health", "--job", "train-1", "--json").stdout or "{}")
            return {each["node"] for each in answer.get("nodes", [])}

        for weftd in (self.north, self.south):
            wait_until(lambda weftd=weftd: hosts(weftd) == {"north-7", "south-7"}, 30, why=lambda weftd=weftd: f"{hosts(weftd)}\n{weftd.log()}")
        os.killpg(self.south.process.pid, signal.SIGSTOP)
        try:
            self.wait_answers(self.north, {"north": True, "south": False})
            said = weftctl(self.north, "--json", "health", "--job", "train-1")
            self.assertEqual(3, said.returncode, "not all is known: " + said.stderr)
            answer = json.loads(said.stdout)
            self.assertEqual((["south"], "UNKNOWN"), (answer["missingShards"], answer["verdict"]), "what nobody tells of is not well")
            self.assertEqual({"north-7"}, hosts(self.north))
        finally:
            os.killpg(self.south.process.pid, signal.SIGCONT)
        self.wait_answers(self.north, {"north": True, "south": True})

    def test_7_what_does_not_answer_is_named(self):
        lost = self.expect(self.north, "south", self.pull("south", 8))
        here = self.expect(self.south, "north", self.pull("north", 5))
        os.killpg(self.south.process.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: self.is_stopped(self.south), why="it does not stop")
            answer = self.north.client.json("/api/v1/incidents?state=open")
            self.assertEqual(["south"], answer["missingShards"], "already the first answer says so")
            self.assertIn(here["id"], [each["id"] for each in answer["incidents"]])
            self.wait_answers(self.north, {"north": True, "south": False})
            wait_until(lambda: sorted(re.findall(r'weft_shard_answers\{shard="(\w+)"\} (\d)', self.north.metrics())) == [("north", "1"), ("south", "0")],
                       30, why=self.north.log)
            listed = weftctl(self.north, "incidents")
            self.assertIn("shard south does not answer", listed.stdout + listed.stderr)
            self.assertRegex(weftctl(self.north, "status").stdout, r"south +.*does not answer")
            for path in (f"/api/v1/incidents/{lost['id']}", f"/api/v1/nodes/{self.name(14)}/health"):
                with self.assertRaises(Answer) as refused:
                    self.north.client.json(path)
                self.assertEqual(503, refused.exception.status, path)
                self.assertIn("south", str(refused.exception), path)
            self.assertEqual(["south"], self.north.client.json(f"/api/v1/nodes/{self.name(2)}/health")["missingShards"])
            for path in ("nodes", "ports", "links", "collectors"):
                self.assertEqual(["south"], self.north.client.json(f"/api/v1/{path}")["missingShards"], path)
            for words in (("nodes",), ("links",), ("ports", self.name(2)), ("audit",), ("topology",), ("topology", "--differences")):
                self.assertIn("shard south does not answer", weftctl(self.north, *words).stderr, words)
            with self.assertRaises(Answer) as refused:
                self.north.client.json("/api/v1/map/state?shard=south")
            self.assertEqual(503, refused.exception.status)
            self.assertIn("shard south does not answer", str(refused.exception))
            refused = weftctl(self.north, "drain", self.name(14), "--reason", "a test", "--who", "ann")
            self.assertEqual(3, refused.returncode, "it may be in the shard that is silent: " + refused.stderr)
            self.assertIn("no answer from south", refused.stderr)
            self.assertEqual("No plan holds anything in the shards that answer.\n", weftctl(self.north, "plans", "--in-force").stdout)
        finally:
            os.killpg(self.south.process.pid, signal.SIGCONT)
        self.wait_answers(self.north, {"north": True, "south": True})
        wait_until(lambda: self.north.client.json("/api/v1/incidents").get("missingShards") == [], 30, why=self.north.log)

    def test_8_each_shard_has_tables_of_its_own(self):
        sql = self.postgres.primary.sql
        self.assertEqual("north|1\nsouth|2", sql("SELECT name, number FROM weft_site.shard ORDER BY name"))
        for shard in ("north", "south"):
            wait_until(lambda shard=shard: re.fullmatch(r"\d+", sql(f"SELECT epoch FROM weft_shard_{shard}.weft_store")), why=sql)
        self.assertEqual("0", sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))

    def test_9_a_takeover_in_one_shard_is_seen_in_the_others(self):
        before = self.expect(self.north, "south", self.pull("south", 9))
        second = self.make_weftd("south", 1)
        self.addCleanup(second.stop)
        second.start()

        def south() -> dict:
            return next(each for each in self.north.client.json("/api/v1/status")["shards"] if each["name"] == "south")

        wait_until(lambda: "standing by" in second.log() and south()["addresses"] == [self.south.grpc, second.grpc], 30, why=second.log)
        epoch = int(south()["epoch"])
        began = time.monotonic()
        self.south.kill()
        self.addCleanup(self.south.start)

        def is_listed_by_the_new_leader():
            answer = self.north.client.json("/api/v1/incidents?state=open")
            listed = before["id"] in [each["id"] for each in answer["incidents"]]
            self.assertTrue(listed or answer["missingShards"] == ["south"], f"what is not there is not named: {answer}")
            return listed and leads(second)

        wait_until(is_listed_by_the_new_leader, 60, why=lambda: f"{self.north.client.json('/api/v1/status')}\n{second.log()}")
        took = time.monotonic() - began
        print(f"    listed by the new leader after {took:.1f} s", flush=True)
        self.assertLess(took, TAKEOVER)
        self.wait_answers(self.north, {"north": True, "south": True})
        wait_until(lambda: int(south()["epoch"]) > epoch and south()["addresses"][0] == second.grpc, 30, why=lambda: str(south()))
        self.assertNotEqual(before["id"], self.expect(self.north, "south", self.pull("south", 10))["id"])
        refused = weftctl(self.north, "acknowledge", before["id"], "--who", "ann")
        self.assertIn(f"{before['id']} belongs to shard south: ask {second.grpc}", refused.stderr)


if __name__ == "__main__":
    weft_testing.main()
