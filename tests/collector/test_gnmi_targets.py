# SPDX-License-Identifier: Apache-2.0
"""Switches that do not do as they should, beside one that does: clear errors, and nothing else is harmed. The switches are stand-ins."""

import base64
import os
import subprocess
import tempfile
import time
import unittest

import collector_testing  # noqa: F401
import certificates
from collector_testing import main, program, wait_until
from gnmi_testing import GnmiTest, gnmi_switches

LOGIN = "weft\nsecret words\n"


class OddSwitches(GnmiTest):
    """leaf01 is well all the time."""

    def setUp(self):
        wait_until(lambda: self.states().get("leaf01") == "READING", 60, why=self.state)

    def have(self, name: str, **quirks) -> None:
        """The switch is like that from its next connection on, until the test is over."""
        switch = self.fabric.switches[name]

        def restart(now) -> None:
            switch.stop()
            switch.quirks = now
            switch.subscriptions.clear()
            switch.start()
        restart(gnmi_switches.Quirks(**quirks))
        self.addCleanup(self.expect_read, name, "Ethernet1")
        self.addCleanup(restart, gnmi_switches.Quirks())

    def expect_reason(self, name: str, state: str, words: str) -> None:
        wait_until(lambda: self.states().get(name) == state and words in self.reason(name), 60,
                   why=lambda: f"{name}: {self.status().get(name)}\n{self.log()}")
        self.assert_others_are_well(name)

    def assert_others_are_well(self, name: str) -> None:
        others = {other: state for other, state in self.states().items() if other != name}
        self.assertEqual({"READING"}, set(others.values()), self.state())
        before = self.counters("leaf01", "Ethernet51").get("receive_bytes", 0)
        wait_until(lambda: self.counters("leaf01", "Ethernet51").get("receive_bytes", 0) > before, 30, why=self.state)

    def expect_read(self, name: str, port: str) -> None:
        """It was connected to anew, and its counters move."""
        wait_until(lambda: self.fabric.switches[name].subscriptions, 30, why=self.state)
        before = self.counters(name, port).get("receive_bytes")

        def is_read():
            return self.states().get(name) == "READING" and self.counters(name, port).get("receive_bytes") not in (None, before)
        wait_until(is_read, 60, why=lambda: f"{self.status().get(name)}\n{self.state()}")

    def test_json_of_whole_containers_is_read(self):
        self.have("spine01", json=True, encodings=(gnmi_switches.pb2.JSON_IETF,))
        self.expect_read("spine01", "Ethernet1")

    def test_without_capabilities_openconfig_is_asked_for(self):
        self.have("spine01", has_capabilities=False)
        self.expect_read("spine01", "Ethernet1")

    def test_without_on_change_everything_is_sampled(self):
        self.have("spine01", refuses_on_change=True)
        self.expect_read("spine01", "Ethernet1")
        self.assertIn("SAMPLE /interfaces/interface[name=*]/state/oper-status", self.fabric.switches["spine01"].subscriptions)
        self.assertEqual(self.planned(), set(self.links()))

    def test_without_the_end_of_its_first_values_a_switch_is_read_a_little_later(self):
        self.have("spine01", tells_sync=False)
        self.expect_read("spine01", "Ethernet1")

    def test_a_group_that_is_refused_is_told_and_the_others_are_read(self):
        self.have("spine01", refuses=("/lldp",))
        self.expect_read("spine01", "Ethernet1")
        wait_until(lambda: "lldp (" in self.status()["spine01"].get("notTold", ""), why=self.state)
        self.assertIn("not told: ", self.weftctl("status", exit_code=None))

    def test_a_switch_that_tells_no_states_is_refused(self):
        self.have("spine01", refuses=("/interfaces/interface[name=*]/state/oper-status",))
        self.expect_reason("spine01", "REFUSED", "it tells no states of its ports")

    def test_a_switch_that_hangs_is_told(self):
        self.have("spine01", hangs=True)
        self.expect_reason("spine01", "CONNECTING", "told nothing")

    def test_a_switch_that_falls_silent_is_told(self):
        quirks = self.fabric.switches["spine01"].quirks
        wait_until(lambda: self.states().get("spine01") == "READING", 60, why=self.state)
        quirks.hangs = True
        self.addCleanup(lambda: wait_until(lambda: self.states().get("spine01") == "READING", 60, why=self.state))
        self.addCleanup(setattr, quirks, "hangs", False)
        wait_until(lambda: self.states().get("spine01") == "SILENT" and "told nothing" in self.reason("spine01"), 60, every=0.2, why=self.state)

    def test_an_update_of_10_mb_is_refused_and_harms_nobody(self):
        self.have("spine01", big=10 << 20)
        self.expect_reason("spine01", "REFUSED", "it sends more than 4096 KiB in one message (gnmi.max_message)")

    def test_a_flood_waits_in_the_switch_that_makes_it(self):
        self.have("spine01", flood=1_000_000)
        wait_until(lambda: int(self.status()["spine01"].get("unknownValues", 0)) > 10_000, 60, why=self.state)
        self.assert_others_are_well("spine01")
        before = time.monotonic(), int(self.status()["spine01"]["unknownValues"])
        time.sleep(12)
        after = time.monotonic(), int(self.status()["spine01"]["unknownValues"])
        self.assertLess((after[1] - before[1]) / (after[0] - before[0]), 40_000)
        self.fabric.switches["spine01"].quirks.flood = 0

    def test_strange_values_are_counted_and_dropped(self):
        self.have("spine01", strange=True)
        self.expect_read("spine01", "Ethernet1")
        wait_until(lambda: int(self.status()["spine01"].get("badValues", 0)) > 0 and int(self.status()["spine01"].get("unknownValues", 0)) > 0,
                   why=self.state)
        self.assertIn(self.counters("spine01", "Ethernet1").get("receive_errors"), (None, 0))

    def test_a_clock_that_lies_is_shown_and_changes_nothing(self):
        self.have("spine01", clock=-86_400)
        self.expect_read("spine01", "Ethernet1")
        wait_until(lambda: self.status()["spine01"].get("clockDifferenceSeconds", 0) < -86_000, why=self.state)
        self.assertEqual([], [one for one in self.open_incidents() if "TELEMETRY" not in one], self.state())


OddSwitches.flags = ["--gnmi-max-values-per-second", "20000"]


class Logins(GnmiTest):
    """leaf01 and leaf02 want a certificate, spine01 a login, spine02 HTTP Basic; the targets are in a file."""

    @classmethod
    def prepare(cls):
        cls.folder = os.path.join(cls.place, "credentials")
        os.mkdir(cls.folder)
        server = certificates.make_certificate(cls.place)
        authority = certificates.make_certificate(cls.place, "authority")
        client = certificates.make_client(cls.place, authority, "/CN=weft")
        cls.write("certified.ca", server[0])
        cls.write("certified.crt", client[0])
        cls.write("certified.key", client[1])
        cls.write("login.ca", server[0])
        cls.write_text("login.login", LOGIN)
        cls.write("other.ca", authority[0])
        switches = cls.fabric.switches
        switches["spine01"].quirks = gnmi_switches.Quirks(login=("weft", "secret words"))
        switches["spine02"].quirks = gnmi_switches.Quirks(basic="Basic " + base64.b64encode(b"weft:secret words").decode())
        for name, switch in switches.items():
            switch.start(server, authority[0] if name.startswith("leaf") else None)
        cls.file = os.path.join(cls.place, "targets")
        cls.list_targets()
        cls.flags = ["--gnmi-targets-file", cls.file, "--gnmi-credentials-directory", cls.folder]

    @classmethod
    def list_targets(cls, **words: str) -> None:
        usual = {"leaf01": "credentials=certified", "leaf02": "credentials=certified", "spine01": "credentials=login",
                 "spine02": "credentials=login login=basic"}
        with open(cls.file + ".new", "w", encoding="ascii") as stream:
            for name, switch in cls.fabric.switches.items():
                stream.write(f"{name} {switch.address} {words.get(name, usual[name])}\n")
        os.rename(cls.file + ".new", cls.file)

    @classmethod
    def targets(cls):
        return []

    @classmethod
    def write(cls, name: str, source: str) -> None:
        with open(source, encoding="ascii") as stream:
            cls.write_text(name, stream.read())

    @classmethod
    def write_text(cls, name: str, text: str) -> None:
        path = os.path.join(cls.folder, name)
        with open(path, "w", encoding="ascii") as stream:
            stream.write(text)
        os.chmod(path, 0o600)

    def setUp(self):
        wait_until(self.all_read, 60, why=self.state)

    def expect(self, name: str, state: str, words: str, **listed: str) -> None:
        self.list_targets(**listed)
        self.addCleanup(lambda: wait_until(self.all_read, 60, why=self.state))
        self.addCleanup(self.list_targets)
        wait_until(lambda: self.states().get(name) == state and words in self.reason(name), 60,
                   why=lambda: f"{self.status().get(name)}\n{self.log()}")
        self.assertEqual({"READING"}, {told for other, told in self.states().items() if other != name}, self.state())

    def test_all_ways_to_log_in_are_taken(self):
        self.assertEqual(self.planned(), set(self.links()))

    def test_a_wrong_login_is_refused_with_the_switchs_words(self):
        self.expect("spine02", "REFUSED", "it does not accept our login: HTTP Basic is wanted", spine02="credentials=login")

    def test_a_login_is_read_again_for_each_connection(self):
        self.write_text("login.login", "weft\nanother word\n")
        self.addCleanup(self.write_text, "login.login", LOGIN)
        self.fabric.switches["spine01"].restart()
        wait_until(lambda: self.states().get("spine01") == "REFUSED" and "unknown user or wrong password" in self.reason("spine01"), 60,
                   why=self.state)
        self.write_text("login.login", LOGIN)
        wait_until(self.all_read, 60, why=self.state)

    def test_a_certificate_of_another_authority_is_refused(self):
        self.expect("spine01", "REFUSED", "its certificate is not of the CA", spine01="credentials=other")

    def test_a_certificate_for_another_name_is_refused(self):
        self.expect("spine01", "REFUSED", "its certificate is for another name than spine01.example",
                    spine01="credentials=login certificate=spine01.example")

    def test_without_our_certificate_a_switch_that_wants_one_is_not_read(self):
        self.list_targets(leaf02="credentials=login")
        self.addCleanup(lambda: wait_until(self.all_read, 60, why=self.state))
        self.addCleanup(self.list_targets)
        wait_until(lambda: self.states().get("leaf02") != "READING" and self.reason("leaf02"), 60, why=self.state)

    def test_plain_text_to_a_switch_with_tls_fails_and_is_told(self):
        self.list_targets(spine01="tls=off")
        self.addCleanup(lambda: wait_until(self.all_read, 60, why=self.state))
        self.addCleanup(self.list_targets)
        wait_until(lambda: self.states().get("spine01") != "READING" and self.reason("spine01"), 60, why=self.state)

    def test_a_file_of_targets_that_is_wrong_changes_nothing(self):
        with open(self.file, "a", encoding="ascii") as stream:
            stream.write("nonsense\n")
        self.addCleanup(self.list_targets)
        wait_until(lambda: "the targets stay as they were" in self.log(), 30, why=self.log)
        self.assertIn("line 5: a target is its name and HOST:PORT", self.log())
        self.assertTrue(self.all_read(), self.state())

    def test_a_target_that_is_taken_out_of_the_file_is_read_no_more(self):
        with open(self.file, encoding="ascii") as stream:
            lines = stream.readlines()
        with open(self.file, "w", encoding="ascii") as stream:
            stream.writelines(line for line in lines if not line.startswith("spine02"))
        self.addCleanup(lambda: wait_until(self.all_read, 60, why=self.state))
        self.addCleanup(self.list_targets)
        wait_until(lambda: set(self.states()) == {"leaf01", "leaf02", "spine01"}, 30, why=self.state)
        self.assertIsNone(self.metric('weft_switch_reading{switch="spine02"}'))


class Configuration(unittest.TestCase):
    def check(self, *flags: str) -> tuple[int, str]:
        with tempfile.TemporaryDirectory(prefix="weft-test-") as place:
            done = subprocess.run([program("weftd"), "--check-config", "--state-dir", place, "--infiniband-enabled", "false", *flags],
                                  capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_targets_and_their_files_are_checked(self):
        for flags, words in ((("--gnmi-targets", "leaf01"), "gnmi.targets: line 1: a target is its name and HOST:PORT"),
                             (("--gnmi-targets", "leaf01 192.0.2.1:9339 tls=off"), "would be read in clear text"),
                             (("--gnmi-targets-file", "/nonexistent/targets"), "gnmi.targets_file: "),
                             (("--gnmi-targets", "leaf01 192.0.2.1:9339 credentials=x", "--gnmi-credentials-directory", "/nonexistent"),
                              "there is no file /nonexistent/x.ca"),
                             (("--gnmi-targets", "leaf01 192.0.2.1:9339", "--gnmi-program", "/nonexistent/x"), "gnmi.program: ")):
            code, said = self.check(*flags)
            self.assertNotEqual(0, code, said)
            self.assertIn(words, said)
        code, said = self.check("--gnmi-targets", "leaf01 192.0.2.1:9339")
        self.assertEqual(0, code, said)


if __name__ == "__main__":
    main()
