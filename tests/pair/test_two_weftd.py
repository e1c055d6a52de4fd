# SPDX-License-Identifier: Apache-2.0
"""Two weftd on one PostgreSQL, on two hosts of one subnet: one leads, the other stands by and takes over. Leaders are ended, killed and
stopped while cables are pulled; a receiver of events hears of each incident once."""

import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time

from pair_testing import WithPair, leads

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "collector"))

import sysfs_tree  # noqa: E402
import weft_testing  # noqa: E402
from collector_testing import Collector  # noqa: E402
from weft_testing import Weftd, wait_until, weftctl, weftctl_json  # noqa: E402


class TwoWeftd(WithPair):
    CONFIGURATION = """
history_shared = true
history_interval = "1s"
[remedy]
isolate_link = "propose"
[events]
urls = ["{receiver}"]
key_file = "{key}"
"""
    ANALYZER = 'telemetry_start_grace = "5s"'


    def pull(self, number: int) -> set:
        host = self.subnet.network.hosts()[number]
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)
        end = host.ports[1]
        return {(weft_testing.guid_text(host.guid), 1), (weft_testing.guid_text(self.subnet.network.nodes[end.node].guid), end.port)}

    def ends_of(self, incident: dict) -> set:
        return weft_testing.ends_of(incident["cause"])

    def shown(self, weftd: Weftd, ends: set) -> dict | None:
        return next((each for each in weftd.incidents("LINK_DOWN") if weft_testing.ends_of(each["cause"]) <= ends), None)

    def expect(self, weftd: Weftd, ends: set) -> dict:
        """Its incident, once the receiver was told of it and that is stored."""
        incident = wait_until(lambda: self.shown(weftd, ends), 30, why=lambda: f"{weftd.incidents(open_only=False)}\n{weftd.log()}")
        wait_until(lambda: "opened" in self.receiver.told(incident["id"]), 30, why=lambda: f"{self.receiver.keys}\n{weftd.log()}")
        wait_until(lambda: f'"{incident["id"]}"' in self.sql("SELECT text FROM told"), 30, why=lambda: self.sql("SELECT text FROM told"))
        return incident

    def wait_quiet(self) -> None:
        """Until a while has passed without an event."""
        last = [0, 0.0]

        def is_quiet():
            if last[0] != len(self.receiver.keys):
                last[:] = len(self.receiver.keys), time.monotonic()
            return time.monotonic() - last[1] > 6

        wait_until(is_quiet, 90, why=lambda: str(self.receiver.keys))

    def assert_whole(self) -> None:
        """No incident is there twice, and nothing happened twice to one."""
        self.assertEqual("", self.sql("SELECT incident FROM event WHERE what = 'opened' GROUP BY incident HAVING count(*) > 1"))
        self.assertEqual(self.sql("SELECT count(*) FROM incident"), self.sql("SELECT count(DISTINCT incident) FROM event WHERE what = 'opened'"))
        keys = self.receiver.keys
        self.assertEqual(len(keys), len(set(keys)), f"an event was sent twice: {self.receiver.keys}")
        for each in self.roles()[0].incidents(open_only=False):
            self.assertEqual(1, self.receiver.told(each["id"]).count("opened"), f"{each['id']}: {self.receiver.keys}")

    def test_1_the_standby_follows(self):
        leader, standby = self.roles()
        incident = self.expect(leader, self.pull(0))
        wait_until(lambda: any(each["id"] == incident["id"] for each in standby.incidents()), 10, why=standby.log)
        standby.wait_sweeps(1)
        refused = weftctl(standby, "acknowledge", incident["id"], "--who", "ann")
        self.assertNotEqual(0, refused.returncode, refused.stdout)
        self.assertIn("standby: ", refused.stderr)
        self.assertIn(leader.grpc, refused.stderr)
        self.assertIn(f"This weftd stands by: {self.sql('SELECT holder FROM weft_store')} leads at {leader.grpc}; ", weftctl(standby, "status").stdout)
        self.assertIn("This weftd leads (epoch ", weftctl(leader, "status").stdout)
        there = wait_until(lambda: re.search(r"\nStandby: (.*), seen (\d+) s ago\n", weftctl(leader, "status").stdout), 15, why=leader.log)
        self.assertTrue(there[1].endswith(f", process {standby.process.pid}"), there[0])
        self.assertIn("\nweft_standby_seen 1\n", leader.metrics())
        self.assertNotIn("weft_standby_seen ", standby.metrics())
        host = self.subnet.network.hosts()[4].name.split()[0]
        wait_until(lambda: int(self.sql("SELECT count(*) FROM moment")) > 2, 30, why=leader.log)
        for weftd in (leader, standby):
            self.assertIn(host, weftctl(weftd, "history", host, "--last", "1h").stdout)
            self.assertFalse(os.path.exists(os.path.join(weftd.state_dir, "history.db")))
            refused = weftctl(weftd, "backup", os.path.join(weftd.state_dir, "copy.db"))
            self.assertEqual(4, refused.returncode, refused.stdout)
            self.assertIn("back it up with pg_dump", refused.stderr)
        self.assertIn("\nweft_leader 0\n", standby.metrics())
        self.assertIn("\nweft_leader 1\n", leader.metrics())
        done = weftctl(leader, "acknowledge", incident["id"], "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        wait_until(lambda: any(each["state"] == "ACKNOWLEDGED" for each in standby.incidents()), 10, why=lambda: str(standby.incidents()))
        self.assert_whole()

    def test_2_a_leader_that_ends_gives_the_database_back(self):
        leader, standby = self.roles()
        before = self.expect(leader, self.pull(1))
        began = time.monotonic()
        self.assertEqual(0, leader.stop(remove=False))
        self.wait_leads(standby, began)
        self.assertEqual(before["id"], self.expect(standby, self.ends_of(before))["id"])
        wait_until(lambda: "\nNo standby: " in weftctl(standby, "status").stdout, 15, why=standby.log)
        self.assertIn("\nweft_standby_seen 0\n", standby.metrics())
        leader.start()
        wait_until(lambda: "standing by" in leader.log(), why=leader.log)
        self.assert_whole()

    def timeline(self, weftd, incident: str) -> list[dict]:
        return weftd.client.json(f"/api/v1/incidents/{incident}/timeline")["events"]

    def test_3_a_leader_that_is_killed(self):
        leader, standby = self.roles()
        before = self.expect(leader, self.pull(2))
        done = weftctl(leader, "acknowledge", before["id"], "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        told = self.timeline(leader, before["id"])
        self.assertGreater(len(told), 1, told)
        revision = int(self.shown(leader, self.ends_of(before))["revision"])
        began = time.monotonic()
        leader.kill()
        oldest, newest = self.sql("SELECT min(at), max(at) FROM moment").split("|")
        during = self.pull(3)
        self.wait_leads(standby, began)
        wait_until(lambda: self.sql(f"SELECT count(*) FROM moment WHERE at > {newest}") != "0", 30, why=standby.log)
        self.assertEqual(oldest, self.sql("SELECT min(at) FROM moment"), "history goes along")
        host = self.subnet.network.hosts()[4].name.split()[0]
        self.assertIn(host, weftctl(standby, "history", host, "--last", "1h").stdout)
        after = self.expect(standby, self.ends_of(before))
        self.assertEqual((before["id"], before["opened"], "ACKNOWLEDGED"), (after["id"], after["opened"], after["state"]))
        self.assertGreaterEqual(int(after["revision"]), revision)
        self.assertEqual(told, self.timeline(standby, before["id"])[:len(told)], "what was told stays told")
        self.assertNotEqual(before["id"], self.expect(standby, during)["id"])
        # The record of the one that was killed is still at the subnet administrator.
        wait_until(lambda: re.search(r"\nweft_acting_registered\{.*\} 1\n", standby.metrics()), 30, why=standby.log)
        self.assertIn("weft_acting_others{", standby.metrics())
        self.assertEqual("", weftctl_json(standby, "hands-off").get("breakerReason", ""), "they take each other for strangers")
        leader.start()
        leader.wait_sweeps(1)
        self.assert_whole()

    def test_4_a_leader_that_hangs_for_a_minute(self):
        leader, standby = self.roles()
        before = self.expect(leader, self.pull(4))
        began = time.monotonic()
        os.killpg(leader.process.pid, signal.SIGSTOP)
        try:
            during = self.pull(5)
            self.wait_leads(standby, began)
            found = self.expect(standby, during)
            self.assertEqual(before["id"], self.expect(standby, self.ends_of(before))["id"])
            time.sleep(max(0.0, 60 - (time.monotonic() - began)))
            epoch = self.epoch()
        finally:
            os.killpg(leader.process.pid, signal.SIGCONT)
        wait_until(lambda: "has taken the database" in leader.log() and "standing by" in leader.log().rpartition("has taken")[2], 60, why=leader.log)
        wait_until(lambda: (self.shown(leader, during) or {}).get("id") == found["id"], 60, why=leader.log)
        self.assertEqual(epoch, self.epoch(), "the one that woke took nothing")
        self.assert_whole()

    def test_5_a_leader_that_is_cut_off_from_the_database(self):
        leader, standby = self.roles()
        wire = self.wires[self.pair.index(leader)]
        before = self.expect(leader, self.pull(0))
        self.wait_quiet()  # an event that was sent and is not stored is sent again, with its key
        began = time.monotonic()
        wire.is_cut = True
        try:
            self.wait_leads(standby, began)
            self.assertFalse(leads(leader))
            sweep = leader.sweep()
            self.assertEqual(before["id"], self.expect(standby, self.ends_of(before))["id"])
            refused = weftctl(leader, "acknowledge", before["id"], "--who", "ann")
            self.assertNotEqual(0, refused.returncode, "nothing is promised that is not stored")
            self.assertIn("its lease is not renewed", refused.stderr)
            leader.wait_sweeps(2)
            self.assertNotEqual(sweep, leader.sweep(), "it goes on watching")
        finally:
            wire.is_cut = False
        wait_until(lambda: "has taken the database" in leader.log() and "standing by" in leader.log().rpartition("has taken")[2], 60, why=leader.log)
        self.assert_whole()

    def test_6_the_job_of_a_host_outlives_leader_and_collector(self):
        """A host and the leader fail together: the other one heard of its job through the database alone."""
        place = tempfile.mkdtemp(prefix="weft-jobs-")
        self.addCleanup(shutil.rmtree, place, True)
        with open(os.path.join(place, "jobs"), "w", encoding="utf-8") as stream:
            stream.write("train-7\n")
        sysfs_tree.make(os.path.join(place, "gpu-lost"), 1)
        leader, standby = self.roles()
        collector = Collector(os.path.join(place, "gpu-lost"), leader.grpc, interval="100ms", node_name="gpu-lost", extra=("--jobs-file", os.path.join(place, "jobs")))
        self.addCleanup(collector.remove)
        collector.start()

        def health(weftd: Weftd) -> dict[str, str]:
            answer = json.loads(weftctl(weftd, "health", "--job", "train-7", "--json").stdout or "{}")
            return {each["node"]: each["verdict"] for each in answer.get("nodes", [])}

        wait_until(lambda: health(leader).get("gpu-lost") == "HEALTHY", 30, why=lambda: f"{health(leader)}\n{leader.log()}")
        wait_until(lambda: "train-7" in self.sql("SELECT jobs FROM collector WHERE host = 'gpu-lost'"), 30, why=lambda: self.sql("SELECT * FROM collector"))
        collector.kill()
        began = time.monotonic()
        leader.kill()
        self.wait_leads(standby, began)
        wait_until(lambda: health(standby).get("gpu-lost", "HEALTHY") != "HEALTHY", 30, why=lambda: f"{health(standby)}\n{standby.log()}")
        incident = wait_until(lambda: next(iter(standby.incidents("TELEMETRY_LOST")), None), 60, why=lambda: f"{standby.incidents()}\n{standby.log()}")
        self.assertEqual("gpu-lost", incident["cause"]["host"])
        self.assertEqual(["train-7"], incident["jobs"])
        leader.start()
        leader.wait_sweeps(1)
        self.assertIn("gpu-lost", health(leader), "the one that stands by asks the leader")
        self.assert_whole()

    def test_7_a_leader_that_loses_its_own_port_says_who_sees_the_fabric_and_gives_the_lead_away(self):
        leader, standby = self.roles()
        host = self.subnet.network.hosts()[-2:][self.pair.index(leader)]
        process = leader.process.pid
        began = time.monotonic()
        self.subnet.unlink(host.identity, 1)
        self.addCleanup(self.subnet.relink, host.identity, 1)
        advice = f"process {standby.process.pid} stands by and sees it: systemctl stop weftd here lets that one lead"
        wait_until(lambda: advice in weftctl(leader, "status").stdout, 40, why=lambda: weftctl(leader, "status").stdout + leader.log())
        wait_until(lambda: leads(standby), 90, why=lambda: leader.log() + standby.log())
        took = time.monotonic() - began
        print(f"    the one that sees the fabric leads after {took:.0f} s", flush=True)
        self.assertGreater(took, 60)
        self.assertIn("it gives the lead to that one", leader.log())
        wait_until(lambda: "This weftd stands by" in weftctl(leader, "status").stdout, 30, why=leader.log)
        self.assertEqual(process, leader.process.pid)
        wait_until(lambda: any(each["kind"] == "LINK_DOWN" for each in standby.incidents()), 30, why=standby.log)
        # Blind as it is, it does not ask for the lead again.
        time.sleep(8)
        self.assertTrue(leads(standby))
        self.assertNotIn("stands by and sees it", weftctl(standby, "status").stdout)
        self.assert_whole()


if __name__ == "__main__":
    weft_testing.main()
