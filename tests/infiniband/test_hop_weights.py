# SPDX-License-Identifier: Apache-2.0
"""Links that stay up while OpenSM avoids them: its hop weights file and a reroute, by the console and by SIGHUP. What the tables say
is read from the simulator."""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile

import actuate_testing
from actuate_testing import Snapshot, guid_text
from weft_testing import free_port, wait_until


class HopWeights(actuate_testing.ActuateTest):
    routing = "minhop"
    SPINE = "spine-p02-03"
    OTHERS = "# weights of the operators\n0x0ec0de0300000100 3 7\n\n0x0ec0de0300000200 2 1 # as by default"

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-weights-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.file = os.path.join(cls.place, "hop-weights.conf")
        cls.pid_file = os.path.join(cls.place, "opensm.pid")
        cls.console = free_port()
        with open(cls.file, "w", encoding="ascii") as stream:
            stream.write(cls.OTHERS)
        os.chmod(cls.file, 0o640)
        cls.opensm_options = ("-w", cls.file, "--console", "loopback", "-C", str(cls.console))
        super().setUpClass()
        with open(cls.pid_file, "w", encoding="ascii") as stream:  # as start-stop-daemon does
            stream.write(f"{cls.subnet.opensm_pid()}\n")

    @classmethod
    def settings(cls) -> dict:
        return {"weights_file": cls.file, "console": cls.console}

    def setUp(self):
        with open(self.file, "w", encoding="ascii") as stream:
            stream.write(self.OTHERS)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.file + ".weft.lock")

    def another_driver(self, host: int) -> actuate_testing.Driver:
        driver = actuate_testing.Driver(self.subnet, self.subnet.network.hosts()[host].identity, weights_file=self.file, console=self.console)
        self.addCleanup(driver.stop)
        driver.ask("sweep")
        return driver

    def text(self) -> str:
        with open(self.file, encoding="ascii") as stream:
            return stream.read()

    def act(self, verb: str, action: str, link, driver=None) -> dict:
        return (driver or self.driver).ask(verb, "opensm_weights", action, *link)

    def raise_and_restore(self, link, ends, driver) -> None:
        self.assertEqual({"done": True}, self.act("apply", "RAISE_LINK_COST", link, driver))
        lines = self.text().splitlines()
        self.assertEqual(self.OTHERS.splitlines(), lines[:-2], "lines of others stay as and where they are")
        self.assertEqual({(guid_text(self.subnet.network.nodes[node].guid), str(port), "64") for node, port in ends},
                         {tuple(line.split()[:3]) for line in lines[-2:]})
        for line in lines[-2:]:
            self.assertIn("# weft PLAN-7 INC-17: symbol errors", line)
        self.assertEqual(0o640, stat.S_IMODE(os.stat(self.file).st_mode))
        self.assertEqual(["hop-weights.conf", "opensm.pid"], sorted(os.listdir(self.place)))
        self.expect_rerouted(ends, link)
        self.assertEqual(["Active"] * 2, [Snapshot.of(self.subnet).ports[end].state for end in ends], "the link itself stays up")
        self.assertEqual({"done": True}, self.act("apply", "RESTORE_LINK", link, driver))
        self.assertEqual(self.OTHERS, self.text().rstrip("\n"))
        self.expect_used(ends, link)

    def test_raised_and_restored_by_the_console(self):
        ends, link = self.ends(self.SPINE, 4), self.link(self.SPINE, 4)
        self.expect_used(ends, link)
        told = self.act("dry_run", "RAISE_LINK_COST", link)["text"]
        self.assertRegex(told, r"add '0x0ec0de0\w+ \d+ 64' and '0x0ec0de0\w+ \d+ 64' to .*, then reroute at OpenSM's console")
        self.assertEqual("clear", self.act("observe", "RAISE_LINK_COST", link)["state"])
        self.raise_and_restore(link, ends, self.driver)
        before = os.stat(self.file).st_ino
        self.assertEqual({"done": True}, self.act("apply", "RESTORE_LINK", link))
        self.assertEqual(before, os.stat(self.file).st_ino, "it is so already")

    def test_observed_by_the_mark_and_the_tables(self):
        ends, link = self.ends(self.SPINE, 9), self.link(self.SPINE, 9)
        self.assertEqual({"done": True}, self.act("apply", "RAISE_LINK_COST", link))
        self.expect_rerouted(ends, link)
        seen = self.act("observe", "RAISE_LINK_COST", link)
        self.assertEqual("ours", seen["state"])
        self.assertIn("; 0 LIDs are routed over it", seen["detail"])
        self.assertEqual({"done": True}, self.act("apply", "RESTORE_LINK", link))
        self.expect_used(ends, link)

    def test_raised_and_restored_by_a_signal(self):
        driver = actuate_testing.Driver(self.subnet, self.subnet.network.hosts()[-2].identity, weights_file=self.file, pid_file=self.pid_file)
        self.addCleanup(driver.stop)
        driver.ask("sweep")
        self.assertIn("SIGHUP", self.act("dry_run", "RAISE_LINK_COST", self.link(self.SPINE, 5), driver)["text"])
        self.raise_and_restore(self.link(self.SPINE, 5), self.ends(self.SPINE, 5), driver)

    def test_weights_of_others_are_left_alone(self):
        link = self.link(self.SPINE, 6)
        with open(self.file, "a", encoding="ascii") as stream:
            stream.write(f"\n{link[2]} {link[3]} 20 # ours, says the operator\n")
        text = self.text()
        self.assertEqual("foreign", self.act("observe", "RAISE_LINK_COST", link)["state"])
        for action in ("RAISE_LINK_COST", "RESTORE_LINK"):
            answer = self.act("apply", action, link)
            self.assertEqual("failed_precondition", answer.get("error"), answer)
        self.assertEqual(text, self.text())

    def test_without_an_opensm_nothing_is_written(self):
        link = self.link(self.SPINE, 7)
        for settings in ({"console": free_port()}, {"pid_file": "/nonexistent"}, {"pid_file": self.pid_of_somebody_else()}):
            driver = actuate_testing.Driver(self.subnet, self.subnet.network.hosts()[-3].identity, weights_file=self.file, **settings)
            self.addCleanup(driver.stop)
            driver.ask("sweep")
            answer = self.act("apply", "RAISE_LINK_COST", link, driver)
            self.assertEqual("failed_precondition", answer.get("error"), answer)
            self.assertEqual(self.OTHERS, self.text())
            driver.stop()

    def pid_of_somebody_else(self) -> str:
        path = os.path.join(tempfile.mkdtemp(dir=self.subnet.directory), "pid")
        with open(path, "w", encoding="ascii") as stream:
            stream.write(f"{os.getpid()}\n")
        return path

    def test_the_heavy_ports_of_all_are_told(self):
        def told() -> dict:
            return self.driver.ask("out", "opensm_weights", "RAISE_LINK_COST")

        self.assertEqual({"ports": []}, told(), "a weight of 7 shapes the routes")
        with open(self.file, "a", encoding="ascii") as stream:
            stream.write("\n0x0ec0de0300000300 4 64 # until the cable is here\n")
        self.assertEqual({"ports": ["0x0ec0de0300000300 4"]}, told())
        os.rename(self.file, self.file + ".away")
        self.assertEqual({"ports": []}, told(), "no file, no weights")
        os.rename(self.place, self.place + ".away")  # as a mount that is missing
        try:
            self.assertEqual("unavailable", told()["error"])
        finally:
            os.rename(self.place + ".away", self.place)
            os.rename(self.file + ".away", self.file)

    def test_a_former_leader_does_not_write(self):
        ends, link = self.ends(self.SPINE, 8), self.link(self.SPINE, 8)
        former, leader = self.another_driver(-5), self.another_driver(-4)
        former.ask("permit", 4, 600)
        leader.ask("permit", 5, 600)
        self.assertEqual({"done": True}, self.act("apply", "RAISE_LINK_COST", link, former))
        self.assertTrue(self.text().startswith("# weft epoch 4 of 1c9e0b7a5d3f2468\n"), self.text())
        self.expect_rerouted(ends, link)  # OpenSM reads the rest of the file
        self.assertIn("# weft PLAN-7.1c9e0b7a5d3f2468 INC-17 epoch 4: symbol errors", self.text())
        self.assertEqual({"done": True}, self.act("apply", "RESTORE_LINK", link, leader))
        text = self.text()
        self.assertTrue(text.startswith("# weft epoch 5 of "), text)
        refused = self.act("apply", "RAISE_LINK_COST", link, former)
        self.assertEqual("failed_precondition", refused.get("error"), refused)
        self.assertIn("(epoch 5)", refused["message"])
        self.assertEqual(5, self.act("observe", "RAISE_LINK_COST", link, former)["epoch"], "one whose database went back sees why")
        leader.ask("permit", 5, 0)

        def answered() -> str | None:
            """None: OpenSM's console has not noticed yet that the one before is gone, and serves one at a time."""
            message = self.act("apply", "RAISE_LINK_COST", link, leader).get("message", "")
            return None if "no prompt from OpenSM's console" in message else message

        self.assertIn("nothing was sent", wait_until(answered, 60, why="OpenSM's console is taken"))
        self.assertEqual(text, self.text())
        self.expect_used(ends, link)

    def test_while_another_holds_the_lock_nothing_is_written(self):
        link = self.link(self.SPINE, 8)
        driver = self.another_driver(-4)
        driver.ask("permit", 6, 600)
        with open(self.file + ".weft.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            refused = self.act("apply", "RAISE_LINK_COST", link, driver)
        self.assertIn("another weftd holds", refused.get("message", ""), refused)
        self.assertEqual(self.OTHERS, self.text())

    def test_what_is_no_link_between_switches_is_refused(self):
        for action, link in (("RAISE_LINK_COST", self.link("leaf-r0-p01", 3)), ("ISOLATE_LINK", self.link(self.SPINE, 7))):
            self.assertIn("error", self.act("apply", action, link))
        with open(self.file, "w", encoding="ascii") as stream:
            stream.write("spine-1 3 7\n")
        answer = self.act("apply", "RAISE_LINK_COST", self.link(self.SPINE, 7))
        self.assertIn(":1: not a GUID", answer["message"])


if __name__ == "__main__":
    actuate_testing.main()
