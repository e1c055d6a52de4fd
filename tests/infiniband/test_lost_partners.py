# SPDX-License-Identifier: Apache-2.0
"""The subnet manager, the fabric as a whole and weftd itself are killed and come back."""

import sqlite3
import os

import weft_testing
from weft_testing import guid_text


class PartnersKilled(weft_testing.SubnetTest):
    def test_without_a_subnet_manager(self):
        """Watching goes on; a link that nobody activates again stays down until OpenSM is back."""
        self.subnet.kill_opensm()
        self.weftd.wait_sweeps(3)
        self.assertEqual([], self.shown())
        self.subnet.unlink("leaf-r1-p01", 11)
        incident = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r1-p01", 11)))
        self.subnet.relink("leaf-r1-p01", 11)
        self.weftd.wait_sweeps(4)
        self.assertIn(incident["id"], [i["id"] for i in self.weftd.incidents()], "up again although no one activated the port")
        self.assertEqual("INITIALIZE", self.weftd.ports("leaf-r1-p01")[11]["state"])
        self.subnet.start_opensm(60)
        self.expect_resolved(incident)
        self.expect_quiet()

    def test_the_whole_fabric_goes_and_comes_back(self):
        self.subnet.kill_opensm()
        self.subnet.kill_ibsim()
        incident = weft_testing.wait_until(
            lambda: next((i for i in self.weftd.incidents("TELEMETRY_LOST") if i["cause"]["kind"] == "FABRIC"), None),
            why=lambda: f"no TELEMETRY_LOST of the fabric: {self.shown()}")
        self.assertEqual([incident["id"]], [i["id"] for i in self.weftd.incidents()], self.shown())
        verdicts = {entry["verdict"] for entry in self.weftd.client.json("/api/v1/health")["nodes"]}
        self.assertEqual({"UNKNOWN"}, verdicts, "no data is not healthy")
        self.subnet.start()
        self.expect_resolved(incident, within=90)
        self.expect_quiet()
        self.assertEqual(len(self.network.nodes), len(self.weftd.client.json("/api/v1/topology")["nodes"]))


class WeftdKilled(weft_testing.SubnetTest):
    def restart(self):
        self.weftd.kill()
        self.subnet.free_dead_clients()
        self.weftd.start()
        self.weftd.wait_sweeps(1)

    def test_incidents_survive_once_each(self):
        self.subnet.unlink("leaf-r0-p01", 9)
        trunk = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r0-p01", 9)))
        self.subnet.unlink("gpu-0002 mlx5_0", 1)
        adapter = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("gpu-0002 mlx5_0", 1)))
        known = {trunk["id"], adapter["id"]}
        for _ in range(3):
            self.restart()
            self.assertEqual(known, {i["id"] for i in self.weftd.incidents()}, self.shown())
            opened = {i["id"]: i["opened"] for i in self.weftd.incidents()}
            self.assertEqual({trunk["id"]: trunk["opened"], adapter["id"]: adapter["opened"]}, opened)
            # The adapter is in no discovery any more.
            down = weft_testing.weftctl_json(self.weftd, "links", "--down")["links"]
            self.assertEqual({frozenset(self.link("leaf-r0-p01", 9)), frozenset(self.link("gpu-0002 mlx5_0", 1))},
                             {frozenset((link[end]["nodeGuid"], link[end]["port"]) for end in "ab") for link in down})
        self.subnet.relink("leaf-r0-p01", 9)
        self.expect_resolved(trunk)
        self.restart()
        self.assertEqual([adapter["id"]], [i["id"] for i in self.weftd.incidents()])
        self.subnet.relink("gpu-0002 mlx5_0", 1)
        self.expect_resolved(adapter)
        all_ids = [i["id"] for i in self.weftd.incidents(open_only=False)]
        self.assertEqual(len(all_ids), len(set(all_ids)))
        self.expect_quiet()

    def test_what_broke_while_it_was_dead_is_found(self):
        self.weftd.kill()
        self.subnet.unlink("leaf-r1-p02", 14)
        self.subnet.free_dead_clients()
        self.weftd.start()
        incident = weft_testing.wait_until(
            lambda: next((i for i in self.weftd.incidents("LINK_DOWN") if self.is_link(i, self.link("leaf-r1-p02", 14))), None),
            why=lambda: f"no LINK_DOWN: {self.shown()}")
        self.subnet.relink("leaf-r1-p02", 14)
        self.expect_resolved(incident)

    def test_once_shown_an_incident_is_stored(self):
        """Killed the moment an incident is first seen: it is in the database."""
        for port in (10, 11, 12):
            self.subnet.unlink("leaf-r0-p02", port)
            names = lambda incident, port=port: self.is_link(incident, self.link("leaf-r0-p02", port))  # noqa: E731
            incident = weft_testing.wait_until(lambda: next((i for i in self.weftd.incidents("LINK_DOWN") if names(i)), None), every=0.002)
            self.weftd.kill()
            self.subnet.free_dead_clients()
            self.weftd.start(wait=False)
            weft_testing.wait_until(lambda: any(i["id"] == incident["id"] and names(i) for i in self.weftd.incidents(open_only=False)),
                                    why=f"{incident['id']} was shown and is lost")
            weft_testing.wait_until(self.weftd.client.ready)
        for port in (10, 11, 12):
            self.subnet.relink("leaf-r0-p02", port)
        weft_testing.wait_until(lambda: not self.weftd.incidents(), why=lambda: f"still open: {self.shown()}")

    def test_databases_are_sound_after_all_that(self):
        self.restart()
        self.weftd.kill()
        found = [os.path.join(self.weftd.state_dir, name) for name in os.listdir(self.weftd.state_dir) if name.endswith(".db")]
        self.assertTrue(found, os.listdir(self.weftd.state_dir))
        for path in found:
            connection = sqlite3.connect(path)
            try:
                self.assertEqual([("ok",)], connection.execute("PRAGMA integrity_check").fetchall(), path)
            finally:
                connection.close()
        self.subnet.free_dead_clients()
        self.weftd.start()


class DuplicateGuid(weft_testing.SubnetTest):
    def test_is_reported_and_not_merged(self):
        twin, original = self.network.find("gpu-0004 mlx5_1"), self.network.find("gpu-0012 mlx5_1")
        self.subnet.unlink(twin.identity, 1)
        self.subnet.command(f'Guid "{twin.identity}" {original.guid:#x}')
        self.subnet.relink(twin.identity, 1)
        incident = weft_testing.wait_until(lambda: next(iter(self.weftd.incidents("DUPLICATE_GUID")), None),
                                           why=lambda: f"no DUPLICATE_GUID: {self.shown()}")
        self.assertEqual(guid_text(original.guid), incident["cause"].get("nodeGuid"))
        self.subnet.unlink(twin.identity, 1)
        self.subnet.command(f'Guid "{twin.identity}" {twin.guid:#x}')
        self.subnet.relink(twin.identity, 1)
        self.expect_resolved(incident)


if __name__ == "__main__":
    weft_testing.main()
