# SPDX-License-Identifier: Apache-2.0
"""A backup while weftd runs, and the way back to it: what is known again, and what of the time between is taken for nothing else."""

import contextlib
import json
import os
import sqlite3
import stat
import subprocess
import threading
import time

import weft_testing
from weft_testing import run_weftd, weftctl, weftctl_json

CABLE = ("leaf-r0-p01", 12)
GAP = 10_000  # of ids, after a restore


class Backup(weft_testing.SubnetTest):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.weftd.state_dir, "..", "copy.db")
        self.addCleanup(lambda: os.path.exists(self.file) and os.unlink(self.file))

    def restore(self, file: str):
        return run_weftd(["store", "restore", file, self.weftd.state_dir])

    def next_incident(self, cable) -> dict:
        self.subnet.unlink(*cable)
        opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*cable)))
        self.subnet.relink(*cable)
        self.expect_resolved(opened)
        return opened

    def test_a_store_goes_back_to_its_backup_and_takes_nothing_of_the_time_between_for_something_else(self):
        before = self.next_incident(CABLE)
        done = weftctl(self.weftd, "backup", self.file)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn(f"copy.db: incidents, plans, maintenance and the audit trail, {os.path.getsize(self.file)} bytes, checked.\n", done.stdout)
        self.assertRegex(done.stdout, r"\nAudit trail: \d+ records, last hash [0-9a-f]{64}\.\n")
        self.assertIn(f"with weftd stopped: weftd store restore {self.file} STATE_DIR\n", done.stdout)
        self.assertEqual(0o600, stat.S_IMODE(os.stat(self.file).st_mode))
        self.assertEqual([], [name for name in os.listdir(self.weftd.state_dir) if name.startswith(".backup")])
        again = weftctl(self.weftd, "backup", self.file)
        self.assertEqual((2, ""), (again.returncode, again.stdout))
        self.assertIn("is there already", again.stderr)
        self.assertEqual([], self.parts())
        lost = self.next_incident((CABLE[0], 13))

        refused = self.restore(self.file)
        self.assertEqual(1, refused.returncode)
        self.assertRegex(refused.stderr, r"another weftd \(process \d+\) uses")
        self.weftd.kill()  # a log is left beside weft.db
        with open(self.file, "rb") as stream:
            good = stream.read()
        broken = self.file + ".broken"
        self.addCleanup(os.unlink, broken)
        for text, words in ((good[:len(good) // 2], "is damaged"), (b"x" * 5000, "is not a database"), (b"", "is not a backup")):
            with open(broken, "wb") as stream:
                stream.write(text)
            refused = self.restore(broken)
            self.assertEqual((1, ""), (refused.returncode, refused.stdout))
            self.assertIn(words, refused.stderr)
            self.assertIn("copy.db.broken", refused.stderr)
        self.assertEqual([], [name for name in os.listdir(self.weftd.state_dir) if name.startswith((".restore", "weft.db.before"))])

        restored = self.restore(self.file)
        self.assertEqual((0, ""), (restored.returncode, restored.stderr))
        self.assertRegex(restored.stdout, r"The audit trail is empty\.\nWhat was there is .*weft\.db\.before-\d+\.\n")
        with open(self.file, "rb") as stream:
            self.assertEqual(good, stream.read(), "the backup is as it was")
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        known = [incident["id"] for incident in weftctl_json(self.weftd, "incidents", "--all")["incidents"]]
        self.assertIn(before["id"], known)
        self.assertNotIn(lost["id"], known)
        fresh = self.next_incident((CABLE[0], 14))
        self.assertGreater(number(fresh), number(lost), "an id is given once")
        self.assertGreater(number(fresh), GAP)
        status = weftctl(self.weftd, "status").stdout
        self.assertIn("restored from a backup", status)
        self.assertIn("store restored", weftctl(self.weftd, "audit").stdout)
        self.assertEqual((0, ""), ((released := weftctl(self.weftd, "hands-off", "off", "--reason", "looked at it")).returncode, released.stderr))
        self.assertIn("automation resumed", weftctl(self.weftd, "audit").stdout)

    def test_backups_while_incidents_are_written(self):
        opened = []
        writer = threading.Thread(target=lambda: opened.extend(self.next_incident((CABLE[0], port)) for port in (11, 15, 16)))
        writer.start()
        self.addCleanup(writer.join)
        copies = 0
        while writer.is_alive():
            copies += 1
            file = f"{self.file}.{copies}"
            self.addCleanup(os.unlink, file)
            done = weftctl(self.weftd, "--json", "backup", file)
            self.assertEqual(0, done.returncode, done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual(os.path.getsize(file), int(said["size"]))
            with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as copy:
                self.assertEqual([("ok",)], copy.execute("PRAGMA integrity_check").fetchall())
                self.assertEqual([(int(said.get("auditRecords", 0)), said["auditHash"])],
                                 copy.execute("SELECT records, hash FROM audit_end").fetchall())
            time.sleep(0.2)
        writer.join()
        self.assertEqual(3, len(opened))
        self.assertGreater(copies, 3)

    def parts(self) -> list[str]:
        folder = os.path.dirname(self.file)
        return [name for name in os.listdir(folder) if ".part-" in name]

    def test_no_room_for_the_copy_harms_nothing(self):
        room = os.path.join(self.weftd.state_dir, "..", "small")
        os.makedirs(room, exist_ok=True)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", room], capture_output=True, check=False).returncode:
            self.skipTest("file systems cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", room], check=False)
        done = weftctl(self.weftd, "backup", os.path.join(room, "copy.db"))
        self.assertEqual(1, done.returncode)
        self.assertIn("No space left on device", done.stderr)
        self.assertEqual([], os.listdir(room), "no half file")
        self.assertEqual(0, weftctl(self.weftd, "backup", self.file).returncode)

    def test_who_may_only_read_gets_none(self):
        done = subprocess.run([weft_testing.program("weftctl"), "--server", self.weftd.grpc, "backup", self.file],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((4, ""), (done.returncode, done.stdout))
        self.assertIn("only reading is allowed", done.stderr)
        self.assertFalse(os.path.exists(self.file))

    def test_nobody_answers(self):
        done = subprocess.run([weft_testing.program("weftctl"), "--server", weft_testing.free_address(), "backup", self.file],
                              capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(3, done.returncode, done.stderr)
        self.assertFalse(os.path.exists(self.file))


def number(incident: dict) -> int:
    return int(incident["id"].split("-")[1])


if __name__ == "__main__":
    weft_testing.main()
