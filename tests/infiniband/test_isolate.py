# SPDX-License-Identifier: Apache-2.0
"""Links of a three-level fat tree of 144 hosts taken out of service and brought back by the state of one port; OpenSM routes round
them by itself. What the tables say is read from the simulator, not only through our own eyes."""

import json
import os
import signal
import subprocess
import tempfile

import actuate_testing
from actuate_testing import Snapshot, guid_text, program, wait_until


class Isolate(actuate_testing.ActuateTest):
    SPINE = "spine-p02-03"

    def act(self, verb: str, action: str, link) -> dict:
        return self.driver.ask(verb, "infiniband_port", action, *link)

    def apply(self, action: str, link) -> None:
        """What is unclear is resolved by reading: the physical layer makes a port poll for a moment, which hardware does not."""
        answer = self.act("apply", action, link)
        if answer.get("error") == "timeout":
            self.layer.settle()
            answer = {"done": self.state(link) == ("ours" if action == "ISOLATE_LINK" else "clear")}
        self.assertEqual({"done": True}, answer)

    def state(self, link) -> str:
        seen = self.act("observe", "ISOLATE_LINK", link)
        self.assertNotIn("error", seen)
        return seen["state"]

    def expect_refused(self, action: str, link, words: str) -> None:
        answer = self.act("apply", action, link)
        self.assertEqual("failed_precondition", answer.get("error"), answer)
        self.assertIn(words, answer["message"])

    def isolate_and_restore(self, name: str, port: int, near: str) -> None:
        ends, link = self.ends(name, port), self.link(name, port)
        ours = next(end for end in ends if end[0] == self.subnet.network.find(near).identity)
        other = next(end for end in ends if end != ours)
        self.expect_used(ends, link)
        self.assertEqual("clear", self.state(link))

        told = self.act("dry_run", "ISOLATE_LINK", link)["text"]
        self.assertIn(near + " port", told)
        self.assertRegex(told, r"PortPhysicalState = Disabled \(3\).*ibportstate -D 0,1(,\d+)* \d+ disable")
        self.assertEqual("clear", self.state(link), "a dry run changes nothing")

        self.apply("ISOLATE_LINK", link)
        self.layer.settle()  # while it cuts the link, the port polls
        self.assertEqual("Disabled", self.physical(ours))
        self.assertEqual("Down", Snapshot.of(self.subnet).ports[other].state)
        self.expect_rerouted(ends, link)
        self.assertEqual("ours", self.state(link))
        self.assertEqual("Disabled", self.physical(ours), "OpenSM leaves it as it is")
        # It is so already, and the port does not say who did it.
        self.assertEqual("already_exists", self.act("apply", "ISOLATE_LINK", link)["error"])

        self.apply("RESTORE_LINK", link)
        self.expect_used(ends, link)
        self.assertEqual("clear", self.state(link))
        self.apply("RESTORE_LINK", link)  # it is so already
        self.assertEqual("LinkUp", self.physical(ours))

    def test_link_of_a_spine_and_a_leaf(self):
        """Leaf, and spine of another pod than ours: the spine is the nearer end."""
        self.isolate_and_restore(self.SPINE, 4, self.SPINE)

    def test_link_of_a_spine_and_a_core(self):
        """The core is nearer to us than a spine of another pod."""
        core = self.subnet.network.nodes[self.subnet.network.find(self.SPINE).ports[9].node].name
        self.isolate_and_restore(self.SPINE, 9, core)

    def test_uplink_of_our_own_leaf(self):
        leaf = self.subnet.network.nodes[self.host.ports[1].node].name
        self.isolate_and_restore(leaf, 12, leaf)

    def test_brought_back_from_beside_the_other_end(self):
        """From there the end that was set is the farther one. Its plan knows which it was, and the way to it leads round the link."""
        ends, link = self.ends(self.SPINE, 4), self.link(self.SPINE, 4)
        self.expect_used(ends, link)
        self.apply("ISOLATE_LINK", link)
        self.layer.settle()
        self.assertEqual("Disabled", self.physical(ends[0]))
        leaf = self.subnet.network.nodes[ends[1][0]]
        host = next(node for node in self.subnet.network.hosts() if any(end.node == leaf.identity for end in node.ports.values()))
        moved = actuate_testing.Driver(self.subnet, host.identity, **self.settings())
        self.addCleanup(moved.stop)
        self.assertNotIn("error", moved.ask("sweep", 1))

        def ask(verb, action):
            return moved.ask(verb, "infiniband_port", action, *link, *link[:2])

        self.assertEqual("foreign", moved.ask("observe", "infiniband_port", "ISOLATE_LINK", *link).get("state"))
        self.assertEqual("ours", ask("observe", "ISOLATE_LINK").get("state"))
        self.assertIn(self.SPINE + " port 4", ask("dry_run", "RESTORE_LINK")["text"])
        answer = ask("apply", "RESTORE_LINK")
        if answer.get("error") == "timeout":  # unclear: the physical layer makes a port poll for a moment
            self.layer.settle()
            answer = {"done": ask("observe", "RESTORE_LINK").get("state") == "clear"}
        self.assertEqual({"done": True}, answer)
        self.expect_used(ends, link)

    def test_the_command_of_the_dry_run_does_it_by_hand(self):
        ends, link = self.ends(self.SPINE, 5), self.link(self.SPINE, 5)
        told = self.act("dry_run", "ISOLATE_LINK", link)["text"]
        self.subnet.run(told.split("by hand: ")[1].split(), host=self.host.identity)
        self.layer.settle()
        self.assertEqual("Disabled", self.physical(ends[0]))
        self.assertIn(frozenset(ends), self.layer.cut)
        self.sweep()
        told = self.act("dry_run", "RESTORE_LINK", link)["text"]
        self.subnet.run(told.split("by hand: ")[1].split(), host=self.host.identity)
        self.expect_used(ends, link)

    def test_somebody_else_disabled_the_other_end(self):
        ends, link = self.ends(self.SPINE, 6), self.link(self.SPINE, 6)
        leaf, port = ends[1]
        lid = Snapshot.of(self.subnet).ports[leaf, 0].lid
        self.subnet.run(["ibportstate", str(lid), str(port), "disable"])
        self.layer.settle()
        self.assertIn(frozenset(ends), self.layer.cut)
        wait_until(lambda: self.state(link) == "foreign", why="the other end is not seen")
        for action in ("ISOLATE_LINK", "RESTORE_LINK"):
            self.expect_refused(action, link, "not changed by Weft")
        self.assertEqual("Polling", self.physical(ends[0]))
        self.subnet.run(["ibportstate", str(lid), str(port), "enable"])
        self.expect_used(ends, link)

    def test_what_could_not_be_undone_is_refused(self):
        leaf = self.subnet.network.nodes[self.host.ports[1].node].name
        self.expect_refused("ISOLATE_LINK", self.link(self.host.name, 1), "that weftd uses")
        self.expect_refused("ISOLATE_LINK", self.link("leaf-r0-p01", 3), "access link")
        self.assertIn("error", self.act("dry_run", "ISOLATE_LINK", self.link("leaf-r0-p01", 3)))
        # All uplinks of a leaf but one are pulled: the last one is never taken out, and nothing else is touched.
        for port in range(8, 13):
            self.subnet.unlink("leaf-r0-p09", port)
        self.addCleanup(lambda: [self.subnet.relink("leaf-r0-p09", port) for port in range(8, 13)])
        self.sweep(2)
        self.expect_refused("ISOLATE_LINK", self.link("leaf-r0-p09", 7), "last path")
        self.assertEqual("LinkUp", self.physical(self.ends(leaf, 7)[0]))

    def test_a_cable_that_was_moved_since_the_sweep_is_not_touched(self):
        """Two cables of a spine change places behind the driver's back."""
        first, second = self.ends(self.SPINE, 1), self.ends(self.SPINE, 3)
        link = self.link(self.SPINE, 1)
        for end, _ in (first, second):
            self.subnet.unlink(*end)
        # A port whose cable is just being moved is not up: whoever comes next is not taken out in its stead.
        wait_until(lambda: self.physical(first[0]) == "Polling", why="the cable is still there")
        answer = self.act("apply", "ISOLATE_LINK", link)
        self.assertEqual("not_found", answer.get("error"), answer)
        self.assertIn("cannot be asked", answer["message"])
        self.assertEqual("Polling", self.physical(first[0]))
        cross = [f'Link "{first[0][0]}"[{first[0][1]}] "{second[1][0]}"[{second[1][1]}]',
                 f'Link "{second[0][0]}"[{second[0][1]}] "{first[1][0]}"[{first[1][1]}]']
        self.subnet.command(*cross)
        wait_until(lambda: self.physical(first[0]) == "LinkUp", why="no link")
        answer = self.act("apply", "ISOLATE_LINK", link)
        self.assertEqual("failed_precondition", answer.get("error"), answer)
        self.assertIn("the cabling has changed", answer["message"])
        self.assertEqual("LinkUp", self.physical(first[0]))
        # Once a sweep has seen it, the graph says so before anybody is asked. Every cable is looked at once in 60 sweeps.
        for _ in range(61):
            self.sweep()
            answer = self.act("observe", "ISOLATE_LINK", link)
            if "now cabled to" in answer.get("message", ""):
                break
        self.assertIn("now cabled to", answer.get("message", ""))
        for end, _ in (first, second):
            self.subnet.unlink(*end)
        self.subnet.command(f'Link "{first[0][0]}"[{first[0][1]}] "{first[1][0]}"[{first[1][1]}]',
                            f'Link "{second[0][0]}"[{second[0][1]}] "{second[1][0]}"[{second[1][1]}]')
        self.expect_used(first, link)

    def test_lost_datagrams_are_repeated_or_reported(self):
        ends, link = self.ends(self.SPINE, 2), self.link(self.SPINE, 2)
        outcomes = {"done": 0, "unclear": 0, "refused": 0}
        self.addCleanup(self.subnet.drop_requests, self.SPINE, 0)
        for _ in range(8):
            self.subnet.drop_requests(self.SPINE, 15)
            answer = self.act("apply", "ISOLATE_LINK", link)
            self.subnet.drop_requests(self.SPINE, 0)
            kind = "done" if "done" in answer else {"timeout": "unclear", "failed_precondition": "refused"}[answer["error"]]
            outcomes[kind] += 1
            self.layer.settle()
            now = self.state(link)  # what became of it is found by reading, as the contract has it
            if kind != "unclear":
                self.assertEqual("ours" if kind == "done" else "clear", now, answer)
            if now == "ours":
                self.apply("RESTORE_LINK", link)
                self.layer.settle()
                self.assertEqual(set(), self.layer.cut)
        self.assertGreater(outcomes["done"], 0, outcomes)
        self.expect_swept(ends, link)  # what OpenSM sets while nothing arrives, it would not set again
        self.subnet.drop_requests(self.SPINE, 100)
        answer = self.act("observe", "ISOLATE_LINK", link)
        self.assertEqual("unavailable", answer.get("error"), answer)
        answer = self.act("apply", "ISOLATE_LINK", link)
        self.assertEqual("failed_precondition", answer.get("error"), answer)
        self.assertIn("nothing was set", answer["message"])
        self.subnet.drop_requests(self.SPINE, 0)
        self.expect_swept(ends, link)

    def expect_swept(self, ends, link) -> None:
        """A port that changed more often than OpenSM heeds traps of it (osm_trap_rcv.c counts them) waits in Initialize until a sweep."""
        os.kill(self.subnet.opensm_pid(), signal.SIGHUP)
        self.expect_used(ends, link)

    # -- the program by hand

    def port_program(self, *arguments, stdin: str = "") -> tuple[int, dict]:
        with tempfile.TemporaryDirectory(dir=self.subnet.directory) as place:
            done = subprocess.run([program("weft-port"), *arguments], env=self.subnet.environment(self.host.identity), cwd=place,
                                  input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60, check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else {}

    def test_the_program_by_hand(self):
        leaf = self.subnet.network.nodes[self.host.ports[1].node]
        place = ["--route", "1", "--node", guid_text(leaf.guid)]
        code, report = self.port_program(*place, "--port", "9")
        self.assertEqual(("read", "Active", "LinkUp"), (report["outcome"], report["state"], report["physical_state"]))
        self.assertEqual(0, code)
        code, report = self.port_program(*place, "--port", "9", "--m-key-fd", "0", stdin="0x1234\n")
        self.assertEqual((0, "read"), (code, report["outcome"]))
        own = str(self.host.ports[1].port)
        code, report = self.port_program(*place, "--port", own, "--set", "disabled", "--peer", guid_text(self.host.guid), "--peer-port", "1")
        self.assertEqual((4, "not_that"), (code, report["outcome"]))
        beyond = leaf.ports[9]
        peer = ["--peer", guid_text(self.subnet.network.nodes[beyond.node].guid), "--peer-port", str(beyond.port)]
        code, report = self.port_program(*place, "--port", "9", "--set", "disabled", *peer, "--before-ms", "1")
        self.assertEqual("late", report["outcome"], "the time of the order is over")
        code, report = self.port_program(*place, "--port", "9")
        self.assertEqual(("read", "LinkUp"), (report["outcome"], report["physical_state"]), "nothing was set")
        self.assertEqual(2, self.port_program(*place, "--port", "9", "--set", "disabled")[0], "without a peer")
        self.assertEqual(2, self.port_program(*place, "--port", "9", "--set", "up")[0])
        self.assertEqual(2, self.port_program("--route", "1,x", "--node", guid_text(leaf.guid), "--port", "9")[0])
        self.assertEqual(2, self.port_program(*place, "--port", "9", "--m-key-fd", "0", stdin="twelve")[0])
        code, report = self.port_program(*place, "--port", "9", "--local-node", "0x1")
        self.assertEqual((3, "unavailable"), (code, report["error"]))


if __name__ == "__main__":
    actuate_testing.main()
