# SPDX-License-Identifier: Apache-2.0
"""What a weftd that was started anew knows of links that were taken out before: which end it set itself, from wherever it looks,
which ones others disabled, and where their cables lead."""

import time

import weft_testing
from physical_layer import Snapshot
from weft_testing import fat_tree, guid_text, wait_until, weftctl, weftctl_json

LIMITS = """
[remedy]
isolate_link = "propose"
restore_link = "propose"
[remedy.limits]
reading_interval = "500ms"
check_interval = "2s"
stale_intervals = 20
[remedy.limits.capacity]
leaf_share_idle = 0.5
[remedy.limits.budget]
cool_down = "0s"
actions_per_hour = 20
out_per_switch = 2
[remedy.limits.verification]
windows = 8
within = "40s"
probation = "5s"
"""
PATIENCE = 90


WATCHES = "\n".join(["[remedy]"] + [f'{action} = "off"' for action in (
    "isolate_link", "restore_link", "raise_link_cost", "drain_node", "undrain_node")])


class Restarts(weft_testing.LayeredSubnetTest):
    infiniband = LIMITS
    analyzer = 'error_window_minimum = "2s"'

    @classmethod
    def make_network(cls):
        return fat_tree.build(8, rails=1, radix=8)

    def uplinks(self, leaf) -> list[int]:
        return [number for number, end in sorted(leaf.ports.items()) if self.network.nodes[end.node].name.startswith("spine")]

    def wait_state(self, plan: str, *states: str) -> dict:
        def there():
            found = next((each for each in weftctl_json(self.weftd, "plans", "--all").get("plans", []) if each["id"] == plan), None)
            return found if found and found["state"] in states else None

        return wait_until(there, within=PATIENCE, why=lambda: f"{plan} is not {states}: {self.weftd.log()}")

    def ask(self, verb: str, link: str) -> str:
        done = weftctl(self.weftd, verb, link, "--reason", "a drill", "--yes")
        self.assertEqual(0, done.returncode, done.stderr)
        return weftctl_json(self.weftd, "plans", "--all")["plans"][-1]["id"]

    def listed(self, weftd, end) -> dict:
        """The link at that end, as the list has it."""
        identity, number = end
        guid = guid_text(self.network.nodes[identity].guid)
        return next((link for link in weftctl_json(weftd, "links")["links"]
                     if any(each and (each["nodeGuid"], each["port"]) == (guid, number) for each in (link["a"], link.get("b")))), {})

    def wait_in_use(self, *ends) -> None:
        """Until routes lead over the links again, to the knowledge of weftd: the next test stops OpenSM."""
        def back():
            seen = Snapshot.of(self.subnet)
            return all(seen.ports[end].state == "Active" and seen.routed_over(end) for end in ends)

        wait_until(back, within=PATIENCE, why="they are not in use again")
        self.weftd.wait_sweeps(2)

    def set_errors(self, ends, value: int) -> None:
        for identity, port in ends:
            self.subnet.set_counter(self.network.nodes[identity].name, port, "PortCounters.SymbolErrorCounter", value)

    def proposed_for_errors(self, ends) -> str:
        """The plan to isolate that link."""
        errors = 0

        def proposed():
            nonlocal errors
            errors = min(60_000, errors + 20_000)
            self.set_errors(ends, errors)
            self.weftd.wait_sweeps(1)
            return next((plan["id"] for plan in weftctl_json(self.weftd, "plans").get("plans", [])
                         if (plan["action"], plan["state"]) == ("ISOLATE_LINK", "PROPOSED")), None)

        return wait_until(proposed, within=PATIENCE, why=lambda: f"no plan: {self.weftd.log()}")

    def approve(self, plan: str) -> None:
        done = weftctl(self.weftd, "approve", plan)
        self.assertEqual(0, done.returncode, done.stderr)

    def restart(self) -> None:
        self.weftd.stop(remove=False)
        self.weftd.start()
        self.weftd.wait_sweeps(3)

    def test_isolated_because_of_errors_and_restarted_while_it_verifies(self):
        """Errors of a link that is out cannot be measured again: they are no newer after a restart. It is then listed with both ends."""
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[1]
        end = leaf.ports[number]
        ends = ((leaf.identity, number), (end.node, end.port))
        isolation = self.proposed_for_errors(ends)
        with self.opensm_stopped():
            self.approve(isolation)
            self.wait_state(isolation, "VERIFYING")
            self.weftd.wait_sweeps(3)
            self.weftd.kill()
        self.layer.settle()
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        plan = self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", plan["state"], plan)
        self.restart()
        link = self.listed(self.weftd, ends[0])
        self.assertEqual(link, self.listed(self.weftd, ends[1]))
        self.assertEqual((isolation, True), (link["planId"], link["disabled"]), link)
        down = weftctl(self.weftd, "links", "--down").stdout
        self.assertRegex(down, rf"leaf-r0-p02.*down \(taken out by {isolation}\)")
        errors_of = [i["cause"]["kind"] for i in self.weftd.incidents("LINK_ERRORS", open_only=False)]
        self.assertEqual(["LINK"], errors_of, "not one more for the port alone")
        self.set_errors(ends, 0)
        back = self.wait_state(self.ask("restore", f"{leaf.name}:{number}"), "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", back["state"], back)
        self.assertEqual("", self.listed(self.weftd, ends[0])["planId"])
        incident = next(each for each in self.weftd.incidents("LINK_ERRORS", open_only=False) if each["id"] == plan["incidentId"])
        self.assertIn(incident["state"], ("OPEN", "RESOLVED"), f"its plan has ended: {incident}")
        self.wait_in_use(ends[0])

    def test_a_person_isolates_a_link_for_its_incident(self):
        """Nothing was proposed for it: the plan takes the incident up, and lets it go with the end of the return."""
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[1]
        self.subnet.unlink(leaf.name, number)
        down = wait_until(lambda: next(iter(self.weftd.incidents("LINK_DOWN")), None), within=PATIENCE, why="nobody tells that it is down")
        plan = self.wait_state(self.ask("isolate", f"{leaf.name}:{number}"), "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual(("COMMITTED", down["id"]), (plan["state"], plan["incidentId"]), plan)

        def incident() -> dict:
            return next(each for each in self.weftd.incidents(open_only=False) if each["id"] == down["id"])

        wait_until(lambda: incident()["state"] == "ACKNOWLEDGED", within=PATIENCE, why=lambda: f"nobody looks after it: {incident()}")
        self.assertIn(plan["id"], weftctl(self.weftd, "incident", down["id"]).stdout)
        self.assertIn("only by hand: weftctl restore", " ".join(weftctl(self.weftd, "plans", "--in-force").stdout.split()))
        self.subnet.relink(leaf.name, number)
        self.layer.settle()
        back = self.wait_state(self.ask("restore", f"{leaf.name}:{number}"), "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", back["state"], back)
        wait_until(lambda: incident()["state"] in ("OPEN", "RESOLVED"), within=PATIENCE, why=lambda: f"its plan has ended: {incident()}")
        self.wait_in_use((leaf.identity, number))

    def test_when_somebody_else_enables_it_it_is_trouble_again_and_stays_up(self):
        """A person enables a link that automation took out: its plan says so and lets go, its incident is open again, and nothing disables it
        a second time."""
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[2]
        end = leaf.ports[number]
        ends = ((leaf.identity, number), (end.node, end.port))
        isolation = self.proposed_for_errors(ends)
        self.approve(isolation)
        plan = self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", plan["state"], plan)

        def incident() -> dict:
            return next(each for each in self.weftd.incidents(open_only=False) if each["id"] == plan["incidentId"])

        wait_until(lambda: incident()["state"] == "ACKNOWLEDGED", within=PATIENCE, why=lambda: f"nobody looks after it: {incident()}")
        disabled = next(key for key in ends if Snapshot.of(self.subnet).ports[key].physical == "Disabled")
        self.subnet.run(["ibportstate", "-G", guid_text(self.network.nodes[disabled[0]].guid), str(disabled[1]), "enable"])
        errors = 0

        def one_more_error() -> None:
            """Its trouble does not end: it would be a new matter when it begins again."""
            nonlocal errors
            errors = min(60_000, errors + 1_000)
            self.set_errors(ends, errors)

        def is_let_go() -> bool:
            one_more_error()
            return self.listed(self.weftd, ends[0]).get("planId") == ""

        self.set_errors(ends, 0)
        wait_until(is_let_go, within=30,
                   why=lambda: f"{isolation} holds it: {weftctl(self.weftd, 'plan', isolation).stdout}\n{self.weftd.log()}")
        story = weftctl(self.weftd, "plan", isolation).stdout
        self.assertRegex(story, r"20\d\d-.*COMMITTED +weftd +somebody else enabled the link again: ")
        self.assertIn("somebody else enabled the link again, seen at 20", self.wait_state(isolation, "COMMITTED")["outcome"])
        self.assertIn("Given back by others while a plan held them: 1 ", weftctl(self.weftd, "plans").stdout)
        self.assertIn("\nweft_remedy_undone_by_others 1\n", self.weftd.client.text("/metrics"))
        wait_until(lambda: incident()["state"] == "OPEN", within=30, why=lambda: f"nobody is paged again: {incident()}")
        self.assertEqual("", self.listed(self.weftd, ends[0]).get("maintenanceId", ""))

        plans = len(weftctl_json(self.weftd, "plans", "--all")["plans"])
        for _ in range(10):
            one_more_error()
            self.weftd.wait_sweeps(1)
        self.assertEqual(plans, len(weftctl_json(self.weftd, "plans", "--all")["plans"]), "nothing is proposed against a person's word")
        self.assertEqual("LinkUp", Snapshot.of(self.subnet).ports[disabled].physical)
        self.assertEqual("OPEN", incident()["state"])
        self.set_errors(ends, 0)
        self.wait_in_use(ends[0])

    def test_when_somebody_else_enables_it_while_it_is_verified_the_plan_ends_at_once(self):
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[2]
        end = leaf.ports[number]
        ends = ((leaf.identity, number), (end.node, end.port))
        with self.opensm_stopped():  # the routes stay on the link, so the plan is still being verified
            isolation = self.ask("isolate", f"{leaf.name}:{number}")
            self.wait_state(isolation, "VERIFYING")
            self.layer.settle()
            seen = Snapshot.of(self.subnet).ports
            disabled = next(key for key in ends if seen[key].physical == "Disabled")
            self.subnet.run(["ibportstate", str(seen[disabled[0], 0].lid), str(disabled[1]), "enable"])
        plan = self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("ROLLED_BACK", plan["state"], plan)
        self.assertRegex(plan["outcome"], r"^somebody else enabled the link again: .* port \d+ is .*LinkUp")
        self.assertEqual("", self.listed(self.weftd, ends[0]).get("planId", ""))
        self.wait_in_use(ends[0])

    def test_a_return_that_fails_for_a_cut_cable_looks_after_what_it_failed_on(self):
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[2]
        link = f"{leaf.name}:{number}"
        isolation = self.ask("isolate", link)
        self.assertEqual("COMMITTED", self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")["state"])
        back = self.ask("restore", link)
        wait_until(lambda: self.wait_state(back, "VERIFYING", "COMMITTED")["windowsGood"] > 0, within=PATIENCE, why="no probation")
        self.subnet.unlink(leaf.name, number)
        plan = self.wait_state(back, "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("ROLLED_BACK", plan["state"], plan)
        looked_after = ("ACKNOWLEDGED", f"weftd ({back})")
        wait_until(lambda: looked_after in [(i["state"], i.get("acknowledgedBy")) for i in self.weftd.incidents("LINK_DOWN")], within=PATIENCE,
                   why=lambda: f"{back} does not look after it: {self.weftd.incidents()}")
        story = weftctl(self.weftd, "plan", isolation).stdout
        self.assertRegex(story, f"out of service again since 20.* UTC, by {back}, whose return did not last")
        self.assertRegex(story, f"to bring it back +weftctl restore .*{leaf.name}")

        self.subnet.relink(leaf.name, number)  # which enables it as well
        wait_until(lambda: not weftctl_json(self.weftd, "plans", "--in-force").get("plans"), within=PATIENCE, why="it is held")
        for each in (isolation, back):
            self.assertRegex(weftctl(self.weftd, "plan", each).stdout, "now +reverted since 20.*: somebody else enabled the link again")
        self.wait_in_use((leaf.identity, number))

    def test_a_link_whose_other_end_somebody_disabled_stays_listed_after_its_return(self):
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[1]
        far = leaf.ports[number]
        ends = {(leaf.identity, number), (far.node, far.port)}
        link = f"{leaf.name}:{number}"
        isolation = self.ask("isolate", link)
        self.assertEqual("COMMITTED", self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")["state"])
        ours = next(end for end in ends if Snapshot.of(self.subnet).ports[end].physical == "Disabled")
        other, = ends - {ours}
        switch = self.network.nodes[other[0]]

        def turn(what):
            self.subnet.run(["ibportstate", "-G", guid_text(switch.guid), str(other[1]), what])

        def preview():
            return weftctl(self.weftd, "restore", link, "--dry-run").stdout

        turn("disable")
        told = f"will not come up: somebody else disabled {switch.name} port {other[1]}, and restore does not touch that end"
        wait_until(lambda: told in preview(), within=PATIENCE, why=preview)
        back = self.wait_state(self.ask("restore", link), "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("FAILED", back["state"], back)
        self.assertRegex(back["outcome"], "^it was given back, but somebody else keeps it out of service: ")
        wait_until(lambda: "down (disabled by somebody else)" in weftctl(self.weftd, "links", "--down").stdout, within=PATIENCE, why="not listed")
        for which in ([], ["--in-force"], ["--all"]):
            self.assertRegex(weftctl(self.weftd, "plans", *which).stdout,
                             rf"Disabled by somebody else, and held by no plan.*\n  .*leaf-r0-p02.* \(last: {back['id']} RESTORE_LINK, FAILED\)")
        turn("enable")
        self.layer.settle()
        wait_until(lambda: "somebody else, and" not in weftctl(self.weftd, "plans").stdout, within=PATIENCE, why="it is listed still")
        self.wait_in_use(ours)

    def test_a_cable_that_nobody_ever_saw_is_listed_with_its_one_end(self):
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[-1]
        self.subnet.run(["ibportstate", "-G", guid_text(leaf.guid), str(number), "disable"])
        self.layer.settle()
        other = weft_testing.Weftd(self.subnet.environment(self.network.hosts()[0].identity), infiniband=WATCHES, interval=self.interval)
        self.addCleanup(other.stop)
        other.start()
        other.wait_sweeps(1)
        half = self.listed(other, (leaf.identity, number))
        self.assertEqual((True, False), (half.get("disabled"), bool(half.get("b"))), half)
        self.assertRegex(weftctl(other, "links", "--down").stdout, rf"leaf-r0-p02.*{number} +not known +down \(disabled by somebody else\)")
        # Who saw it before knows where it leads, also after a restart.
        self.restart()
        self.assertTrue(self.listed(self.weftd, (leaf.identity, number)).get("b"))
        self.assertRegex(weftctl(self.weftd, "links", "--down").stdout, r"leaf-r0-p02.*spine-.*down \(disabled by somebody else\)")
        self.subnet.run(["ibportstate", "-G", guid_text(leaf.guid), str(number), "enable"])
        self.layer.settle()
        self.wait_in_use((leaf.identity, number))

    def test_moved_beside_the_other_end_while_it_verifies(self):
        leaf = self.network.find("leaf-r0-p02")
        number = self.uplinks(leaf)[1]  # the physical layer's own way over the first one would be lost while OpenSM is stopped
        end = leaf.ports[number]
        ends = ((leaf.identity, number), (end.node, end.port))
        far = next(host for host in self.network.hosts() if host.ports[1].node != self.watcher.ports[1].node)
        with self.opensm_stopped():
            isolation = self.ask("isolate", f"{leaf.name}:{number}")
            self.wait_state(isolation, "VERIFYING")
            self.weftd.kill()
        self.layer.settle()
        set_before = [end for end in ends if Snapshot.of(self.subnet).ports[end].physical == "Disabled"]
        self.assertEqual(1, len(set_before))
        self.weftd.environment = self.subnet.environment(far.identity)
        self.weftd.start()
        self.weftd.wait_sweeps(1)
        plan = self.wait_state(isolation, "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", plan["state"], plan)
        self.weftd.wait_sweeps(5)  # it is read again meanwhile
        self.assertEqual(0, weftctl(self.weftd, "restore", f"{leaf.name}:{number}", "--dry-run").returncode)
        back = self.wait_state(self.ask("restore", f"{leaf.name}:{number}"), "COMMITTED", "ROLLED_BACK", "FAILED")
        self.assertEqual("COMMITTED", back["state"], back)
        self.wait_in_use(ends[0])

    def test_rolled_back_as_soon_as_a_switch_at_its_end_falls_silent(self):
        """All other cables of a leaf are pulled while its link is out: that it answers no more is no reason to wait."""
        leaf = next(node for node in self.network.switches if node.name.startswith("leaf") and
                    node.identity != self.watcher.ports[1].node)
        _, out, *_ = self.uplinks(leaf)  # not the physical layer's own way, which would be lost while OpenSM is stopped
        others = [number for number in self.uplinks(leaf) if number != out]
        end = (leaf.identity, out)
        with self.opensm_stopped():
            isolation = self.ask("isolate", f"{leaf.name}:{out}")
            self.wait_state(isolation, "VERIFYING")
            self.layer.settle()
            begun = time.monotonic()
            for number in others:
                self.subnet.unlink(leaf.name, number)
            plan = self.wait_state(isolation, "ROLLING_BACK", "COMMITTED", "ROLLED_BACK", "FAILED")
            self.assertEqual("ROLLING_BACK", plan["state"], plan)
            self.assertLess(time.monotonic() - begun, 30, "it waited for the end of its time")
            self.assertRegex(plan["outcome"], r"answers? no more")
            wait_until(lambda: Snapshot.of(self.subnet).ports[end].physical == "LinkUp", within=PATIENCE, why="the port is not set back")
            self.weftd.wait_sweeps(4)
            self.assertEqual("ROLLING_BACK", self.wait_state(isolation, "ROLLING_BACK", "ROLLED_BACK", "FAILED")["state"],
                             "nothing is as before while no subnet manager has activated the link")
            for number in others:
                self.subnet.relink(leaf.name, number)
        plan = self.wait_state(isolation, "ROLLED_BACK", "FAILED")
        self.assertEqual("ROLLED_BACK", plan["state"], plan)
        self.wait_in_use(end)

    def test_links_that_others_disabled_still_count(self):
        leaf = self.network.find("leaf-r0-p02")
        up = self.uplinks(leaf)

        def turn(what):
            for number in up[-2:]:
                self.subnet.run(["ibportstate", "-G", guid_text(leaf.guid), str(number), what])

        def refused():
            done = weftctl(self.weftd, "isolate", f"{leaf.name}:{up[0]}", "--dry-run")
            return "links of one switch isolated or avoided reached" in done.stdout

        turn("disable")
        wait_until(refused, within=PATIENCE, why="they are not counted before the restart")
        self.weftd.stop(remove=False)
        self.weftd.start()
        self.weftd.wait_sweeps(3)
        self.assertTrue(refused(), weftctl(self.weftd, "isolate", f"{leaf.name}:{up[0]}", "--dry-run").stdout)
        turn("enable")
        wait_until(lambda: not refused(), within=PATIENCE, why="they still count")
        self.wait_in_use(*((leaf.identity, number) for number in up[-2:]))


if __name__ == "__main__":
    weft_testing.main()
