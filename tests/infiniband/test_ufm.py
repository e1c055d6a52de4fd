# SPDX-License-Identifier: Apache-2.0
"""Links that UFM is asked to keep out of its routing, against a stand-in for its list of unhealthy ports."""

import os
import shutil
import tempfile

import actuate_testing
from actuate_testing import fat_tree, wait_until

import certificates
import fake_ufm


class Ufm(actuate_testing.ActuateTest):
    @classmethod
    def make_network(cls):
        return fat_tree.build(32, rails=2, radix=16)

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-ufm-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.certificate = certificates.make_certificate(cls.place)
        cls.credentials = cls.write("credentials", "weft:se:cret\n")
        known = [f"{node.guid:016x}_{port}" for node in cls.make_network().switches for port in node.ports]
        cls.ufm = fake_ufm.FakeUfm(known, cls.certificate)
        cls.addClassCleanup(cls.ufm.stop)
        super().setUpClass()

    @classmethod
    def write(cls, name: str, text: str, mode: int = 0o600) -> str:
        path = os.path.join(cls.place, name)
        with open(path, "w", encoding="ascii") as stream:
            stream.write(text)
        os.chmod(path, mode)
        return path

    @classmethod
    def settings(cls) -> dict:
        return {"ufm": cls.ufm.url, "ufm_credentials": cls.credentials, "ufm_authorities": cls.certificate[0]}

    def setUp(self):
        self.ufm.trouble = ""
        self.ufm.reading_takes = 0.0
        for port in self.ufm.unhealthy():
            self.ufm.mark(port, None)
        self.ufm.unhealthy()
        self.ufm.changes.clear()

    def act(self, verb: str, action: str, link, driver=None) -> dict:
        return (driver or self.driver).ask(verb, "ufm", action, *link)

    def state(self, link) -> str:
        return self.act("observe", "ISOLATE_LINK", link)["state"]

    def name(self, end: tuple[str, int]) -> str:
        return f"{self.subnet.network.nodes[end[0]].guid:016x}_{end[1]}"

    def leaf_link(self, port: int):
        """A link of a leaf that is not ours: the spine's end is the nearer one."""
        ends = self.ends("leaf-r0-p01", port)
        return ends[1], ends[0], self.link("leaf-r0-p01", port)

    def test_isolated_and_restored(self):
        ours, _, link = self.leaf_link(10)
        self.assertEqual("clear", self.state(link))
        told = self.act("dry_run", "ISOLATE_LINK", link)["text"]
        self.assertEqual(f'PUT {self.ufm.url}{fake_ufm.PATH} {{"ports":["{self.name(ours)}"],"ports_policy":"UNHEALTHY","action":"isolate"}}',
                         told)
        self.assertEqual([], self.ufm.changes, "a dry run changes nothing")
        self.assertEqual({"done": True}, self.act("apply", "ISOLATE_LINK", link))
        wait_until(lambda: self.state(link) == "ours", why="it does not come into force")
        self.assertEqual({self.name(ours): "MANUAL"}, self.ufm.unhealthy())
        self.assertEqual("already_exists", self.act("apply", "ISOLATE_LINK", link)["error"], "the list does not tell who asked for it")
        self.assertEqual(1, len(self.ufm.changes), "it is so already")
        self.assertEqual({"done": True}, self.act("apply", "RESTORE_LINK", link))
        wait_until(lambda: self.state(link) == "clear", why="it is not taken back")
        self.assertEqual({}, self.ufm.unhealthy())
        self.assertEqual({"ports": [self.name(ours)], "ports_policy": "HEALTHY"}, self.ufm.changes[-1])

    def test_what_others_marked_is_left_alone(self):
        ours, other, link = self.leaf_link(11)
        for end, condition in ((ours, "FLAPPING"), (other, "MANUAL")):
            self.ufm.mark(self.name(end), condition)
            self.assertEqual("foreign", self.state(link))
            for action in ("ISOLATE_LINK", "RESTORE_LINK"):
                self.assertEqual("failed_precondition", self.act("apply", action, link)["error"])
            self.ufm.mark(self.name(end), None)
        self.assertEqual([], self.ufm.changes)

    def test_the_ports_that_others_marked_are_told(self):
        def told() -> dict:
            return self.driver.ask("out", "ufm", "ISOLATE_LINK")

        self.assertEqual({"ports": []}, told())
        ours, other, _ = self.leaf_link(11)
        self.ufm.mark(self.name(ours), "FLAPPING")
        self.ufm.mark(self.name(other), "MANUAL")
        self.assertEqual(sorted(f"0x{self.subnet.network.nodes[node].guid:016x} {port}" for node, port in (ours, other)), sorted(told()["ports"]))
        for trouble, code in (("500", "unavailable"), ("junk", "protocol")):
            self.ufm.trouble = trouble
            self.assertEqual(code, told()["error"], trouble)
        self.assertEqual([], self.ufm.changes)

    def test_an_unanswered_action_is_resolved_by_reading(self):
        _, _, link = self.leaf_link(12)
        self.ufm.trouble = "drop"
        answer = self.act("apply", "ISOLATE_LINK", link)
        self.assertIn(answer["error"], ("unavailable", "timeout"), answer)
        self.ufm.trouble = ""
        wait_until(lambda: self.state(link) == "ours", why="it was taken")
        self.assertEqual(1, len(self.ufm.changes))

    def test_an_order_whose_time_is_over_is_not_sent(self):
        """Another weftd leads by then. The time ends while the list is read, and had ended before."""
        _, _, link = self.leaf_link(12)
        for left, takes in ((1, 1.5), (0, 0)):
            self.ufm.reading_takes = takes
            driver = self.other_driver()
            driver.ask("permit", 4, left)
            answer = self.act("apply", "ISOLATE_LINK", link, driver)
            self.assertEqual("failed_precondition", answer["error"], answer)
            self.assertIn("nothing was sent", answer["message"])
            driver.stop()
        self.assertEqual(([], {}), (self.ufm.changes, self.ufm.unhealthy()))

    def test_a_ufm_that_hangs_fails_or_says_nonsense(self):
        _, _, link = self.leaf_link(13)
        for trouble, code in (("hang", "timeout"), ("500", "unavailable"), ("junk", "protocol")):
            self.ufm.trouble = trouble
            self.assertEqual(code, self.act("observe", "ISOLATE_LINK", link)["error"], trouble)
            answer = self.act("apply", "ISOLATE_LINK", link)
            self.assertEqual("failed_precondition", answer["error"], answer)
            self.assertIn("nothing was requested", answer["message"])
        self.assertEqual([], self.ufm.changes)

    def other_driver(self, **changed):
        driver = actuate_testing.Driver(self.subnet, self.subnet.network.hosts()[-2].identity, **{**self.settings(), **changed})
        self.addCleanup(driver.stop)
        driver.ask("sweep")
        return driver

    def test_wrong_credentials_and_certificates_are_refused(self):
        _, _, link = self.leaf_link(14)
        wrong = self.other_driver(ufm_credentials=self.write("wrong", "weft:guess"))
        self.assertIn("401", self.act("observe", "ISOLATE_LINK", link, wrong)["message"])
        wrong.stop()
        for changed, words in (({"ufm_credentials": self.write("open", "weft:se:cret", 0o644)}, "accessible to others"),
                               ({"ufm_credentials": self.write("one-word", "weft")}, "user:password"),
                               ({"ufm_authorities": ""}, ""),
                               ({"ufm": "http://ufm.example"}, "https")):
            driver = self.other_driver(**changed)
            answer = self.act("apply", "ISOLATE_LINK", link, driver)
            self.assertIn("error", answer)
            self.assertIn(words, answer["message"])
            driver.stop()
        self.assertEqual([], self.ufm.changes, "nobody was told a password, nothing was asked for")

    def test_what_could_not_be_undone_is_refused(self):
        for link in (self.link("leaf-r0-p01", 3), self.link(self.host.name, 1)):
            self.assertEqual("failed_precondition", self.act("apply", "ISOLATE_LINK", link)["error"])
        self.assertEqual([], self.ufm.changes)


if __name__ == "__main__":
    actuate_testing.main()
