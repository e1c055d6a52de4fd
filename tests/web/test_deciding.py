# SPDX-License-Identifier: Apache-2.0
"""Plans approved and rejected on the page by those who may, with real tokens and a real weft-port behind it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

from page_testing import REMEDIES, PageTest, weft_testing
from physical_layer import PhysicalLayer, Snapshot
from weft_testing import ROOT, guid_text, wait_until

def token(file: str, name: str, role: str) -> str:
    return subprocess.run([os.path.join(ROOT, "deploy", "certs", "make-token"), file, name, role], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class Deciding(PageTest):
    """Plans that wait for a person; everybody has a token, and a role with it."""

    # Gross errors open an incident at once; it stays open for longer than a slow browser takes to decide.
    analyzer = 'error_window_minimum = "10m"'
    BAD = (("leaf-r0-p01", 9), ("leaf-r2-p02", 12))

    @classmethod
    def setUpClass(cls):
        place = tempfile.mkdtemp(prefix="weft-tokens-")
        cls.addClassCleanup(shutil.rmtree, place)
        tokens = os.path.join(place, "tokens")
        cls.viewer, cls.operator = token(tokens, "vic", "viewer"), token(tokens, "ola", "operator")
        weft_testing.WeftClient.headers = {"Authorization": f"Bearer {cls.operator}"}
        cls.addClassCleanup(setattr, weft_testing.WeftClient, "headers", {})
        cls.infiniband = f'[security]\ntokens_file = "{tokens}"\n' + PageTest.infiniband + REMEDIES
        super().setUpClass()

    def state(self, plan: dict) -> dict:
        return self.weftd.client.json(f"/api/v1/plans/{plan['id']}")

    def test_only_roles_with_the_right_may_decide(self):
        self.enterContext(PhysicalLayer(self.subnet))  # else the way to OpenSM leads into the link that is isolated
        first = self.plan_of(*self.BAD[0])
        # Without a token there is nothing to see, and a field for one.
        self.do("open", url=f"http://{self.weftd.http}/")
        self.do("wait", at="text=Authentication required")
        # Filled and submitted at once, as a password manager does it.
        self.do("evaluate", script="""(() => {
            const field = document.querySelector('.notice input');
            field.value = 'nonsense';
            field.dispatchEvent(new Event('input', {bubbles: true}));
            field.form.requestSubmit();
        })()""")
        self.do("wait", at="text=The token is not valid")
        self.assertEqual(0, self.do("count", at="canvas"))
        # A viewer sees the plan and no way to decide.
        self.do("fill", at=".notice input", text=self.viewer)
        self.do("press", key="Enter")
        self.do("wait", at="canvas[data-frames]")
        self.do("wait", at="button:has-text('vic · viewer')")
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at=f"a.entry:has-text('{first['id']}')")
        self.do("wait", at="h3:has-text('Guards')")
        self.assertEqual(0, self.do("count", at="button:has-text('Approve')"))
        self.do("forget")
        # An operator approves it, by keyboard.
        self.open(storage={"weft-token": self.operator})
        self.do("wait", at="button:has-text('ola · operator')")
        self.do("press", key="/")
        self.do("type", text=first["id"])
        self.do("wait", at=f"[role=option]:has-text('{first['id']}')")
        self.do("press", key="Enter")
        self.do("wait", at="button:has-text('Approve')")
        self.picture("plan")
        self.expect_accessible()
        self.do("focus", at="button:has-text('Approve')")
        self.do("press", key="Enter")
        self.do("wait", at="dialog[open] button[type=submit]")
        self.picture("plan-approve")
        self.expect_accessible()
        self.do("focus", at="dialog[open] button[type=submit]")
        self.do("press", key="Enter")
        self.do("wait", at=".facts:has-text('Approved by') >> text=ola")
        self.assertEqual("ola", self.state(first)["approvedBy"])
        self.do("wait", at="button:has-text('Approve')", state="detached")
        # And says no to the next, which takes a reason.
        second = self.plan_of(*self.BAD[1])
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at=f"a.entry:has-text('{second['id']}')")
        self.do("click", at="button:has-text('Reject')")
        self.do("click", at="dialog[open] button[type=submit]")
        self.assertEqual("PROPOSED", self.state(second)["state"])
        self.do("fill", at="dialog[open] input", text="cable is being changed")
        self.do("press", key="Enter")
        self.do("wait", at="article .mark:has-text('Rejected')")
        self.assertEqual("REJECTED", self.state(second)["state"])
        incident = next(each for each in self.weftd.incidents() if each["id"] == second["incidentId"])
        self.do("click", at=f".facts a:has-text('{incident['id']}')")
        self.do("click", at="button:has-text('Acknowledge')")
        self.do("wait", at=".marks .mark:has-text('Acknowledged')")
        self.do("choose", at=".actions select", option="8 h")
        self.do("click", at="button:has-text('Silence')")
        silenced = wait_until(lambda: self.weftd.client.json(f"/api/v1/incidents/{incident['id']}").get("silencedUntil"), why="it is not silenced")
        hours = self.do("evaluate", script=f"(Date.parse('{silenced}') - Date.now()) / 3600000")
        self.assertTrue(7.5 < hours <= 8, silenced)
        self.do("wait", at=".facts:has-text('Silenced')")
        self.picture("incident-silenced")
        self.expect_accessible()
        self.expect_clean()

    def test_automation_is_stopped_and_goes_on(self):
        def handed_off() -> str:
            return self.weftd.client.json("/api/v1/remedy")["handsOffByPerson"]

        self.open(storage={"weft-token": self.viewer})
        self.do("click", at="nav a:has-text('Plans')")
        self.do("wait", at="h2:has-text('Plans')")
        self.do("wait", at="button:has-text('vic · viewer')")
        self.assertEqual(0, self.do("count", at="button:has-text('Stop automation')"))
        self.open(storage={"weft-token": self.operator})
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at="button:has-text('Stop automation')")
        self.picture("hands-off")
        self.expect_accessible()
        self.do("click", at="dialog[open] button[type=submit]")
        self.assertEqual("", handed_off(), "it takes a reason")
        self.do("fill", at="dialog[open] input", text="the hall is hot")
        self.do("press", key="Enter")
        stopped = ".notice:has-text('Everything is stopped (hands-off), also what persons order'):has-text('the hall is hot')"
        self.do("wait", at=stopped)
        self.assertIn("ola", handed_off())
        for view in ("", "incidents"):
            self.do("evaluate", script=f"location.hash = '#/{view}'")
            self.do("wait", at=stopped)
        self.do("click", at="nav a:has-text('Plans')")
        self.do("click", at="button:has-text('Let automation go on')")
        self.do("fill", at="dialog[open] input", text="cool again")
        self.do("press", key="Enter")
        self.do("wait", at=".notice:has-text('Everything is stopped')", state="detached")
        self.assertEqual("", handed_off())
        self.expect_clean()

    def test_maintenance_is_begun_and_ended(self):
        self.do("open", url=f"http://{self.weftd.http}/#/lists/maintenance", storage={"weft-token": self.viewer})
        self.do("wait", at="text=No maintenance windows")
        self.do("wait", at="button:has-text('vic · viewer')")
        self.assertEqual(0, self.do("count", at="button:has-text('Begin maintenance')"))
        self.do("open", url=f"http://{self.weftd.http}/#/lists/maintenance", storage={"weft-token": self.operator})
        self.do("fill", at="input[name=what]", text="gpu-0005")
        self.do("fill", at="input[name=reason]", text="new memory")
        self.do("choose", at="select[name=length]", option="4 h")
        self.do("click", at="button:has-text('Begin maintenance')")
        self.do("wait", at="tr:has-text('gpu-0005'):has-text('new memory'):has-text('Active')")
        window, = self.weftd.client.json("/api/v1/maintenance?state=active")["windows"]
        self.assertEqual(("new memory", "ola"), (window["reason"], window["addedBy"]))
        self.picture("maintenance-begun")
        self.expect_accessible()
        self.do("click", at=f"button[aria-label='End {window['id']}']")
        self.do("wait", at=f"tr:has-text('{window['id']}'):has-text('Over')")
        self.assertEqual([], self.weftd.client.json("/api/v1/maintenance?state=active")["windows"])
        self.expect_clean()

    def test_an_acceptance_is_started_and_ended(self):
        address = f"http://{self.weftd.http}/#/lists/acceptance"
        self.do("open", url=address, storage={"weft-token": self.viewer})
        self.do("wait", at="text=No acceptances")
        self.do("wait", at="button:has-text('vic · viewer')")
        self.assertEqual(0, self.do("count", at="button:has-text('Start')"))
        self.do("open", url=address, storage={"weft-token": self.operator})
        self.do("fill", at="input[name=hosts]", text="gpu-0005, gpu-0006")
        self.do("choose", at="select[name=length]", option="1 h")
        self.do("click", at="button:has-text('Start')")
        self.do("click", at="tr:has-text('hosts gpu-0005, gpu-0006') a")
        self.do("wait", at="h3:has-text('What could not be judged yet')")
        run, = self.weftd.client.json("/api/v1/acceptances?state=running")["acceptances"]
        self.assertEqual(("ola", "3600s"), (run["who"], run["length"]))
        self.picture("acceptance-under-way")
        self.expect_accessible()
        self.do("click", at=f"button[aria-label='End {run['id']}']")
        self.do("wait", at=".facts:has-text('ended by ola')")
        self.assertEqual(0, self.do("count", at=f"button[aria-label='End {run['id']}']"))
        self.assertNotEqual("PASS", self.weftd.client.json(f"/api/v1/acceptances/{run['id']}")["verdict"], "it was ended before its time")
        self.expect_clean()

    def test_maintenance_is_begun_from_the_page_of_a_thing(self):
        leaf = guid_text(self.network.find("leaf-r3-p01").guid)
        for path, name in (("host/gpu-0006", "gpu-0006"), (f"node/{leaf}", "leaf-r3-p01"), (f"node/{leaf}/port/12", "leaf-r3-p01 port 12")):
            with self.subTest(of=name):
                self.do("open", url=f"http://{self.weftd.http}/#/{path}", storage={"weft-token": self.viewer})
                self.do("wait", at="button:has-text('vic · viewer')")
                self.do("wait", at="a:has-text('Incidents, also those that ended')")
                self.assertEqual(0, self.do("count", at="a:has-text('Begin maintenance')"))
                self.do("open", url=f"http://{self.weftd.http}/#/{path}", storage={"weft-token": self.operator})
                self.do("click", at="a:has-text('Begin maintenance')")
                self.do("fill", at="input[name=reason]", text="a new fan")
                self.do("click", at="button:has-text('Begin maintenance')")
                self.do("wait", at=f"tr:has-text('{name}'):has-text('a new fan'):has-text('Active')")
                window, = self.weftd.client.json("/api/v1/maintenance?state=active")["windows"]
                self.assertIn(name, window["entity"]["label"])
                self.do("click", at=f"button[aria-label='End {window['id']}']")
                self.do("wait", at=f"tr:has-text('{window['id']}'):has-text('Over')")
        self.expect_clean()

    def test_maintenance_that_takes_long_is_begun_once(self):
        """weftd stands still for longer than the page waits for lists, and the button is pressed twice meanwhile."""
        self.do("open", url=f"http://{self.weftd.http}/#/lists/maintenance", storage={"weft-token": self.operator})
        self.do("fill", at="input[name=what]", text="gpu-0007")
        self.do("fill", at="input[name=reason]", text="new fan")
        os.kill(self.weftd.process.pid, signal.SIGSTOP)
        try:
            self.do("evaluate", script="""for (let i = 0; i < 2; ++i) document.querySelector('form[aria-label="New maintenance window"]').requestSubmit()""")
            time.sleep(12)
            self.assertEqual(0, self.do("count", at=".trouble"), "the answer may still come")
        finally:
            os.kill(self.weftd.process.pid, signal.SIGCONT)
        self.do("wait", at="tr:has-text('gpu-0007'):has-text('Active')")
        windows = [each for each in self.weftd.client.json("/api/v1/maintenance?state=all")["windows"] if each["reason"] == "new fan"]
        self.assertEqual(1, len(windows), windows)
        self.do("click", at=f"button[aria-label='End {windows[0]['id']}']")
        self.do("wait", at=f"tr:has-text('{windows[0]['id']}'):has-text('Over')")
        self.do("forget")  # the lists that had no answer

    def abort_while_it_is_verified(self, plan):
        """OpenSM stands still, so that it is verified while the browser looks."""
        self.assertEqual(0, weft_testing.weftctl(self.weftd, "approve", plan["id"]).returncode)
        wait_until(lambda: self.state(plan)["state"] == "VERIFYING", why=lambda: f"{self.state(plan)} {self.weftd.log()}")
        self.do("forget")
        self.open(storage={"weft-token": self.operator})
        self.do("click", at="nav a:has-text('Plans')")
        self.do("wait", at=f"a.entry:has-text('{plan['id']}'):has-text('sweeps in a row passed; waits: ')")
        self.do("click", at=f"a.entry:has-text('{plan['id']}')")
        self.do("wait", at=".facts:has-text('Verified'):has-text('sweeps in a row passed')")
        self.do("click", at="button:has-text('Abort')")
        self.expect_accessible()
        self.do("click", at="dialog[open] button[type=submit]")
        self.assertEqual("VERIFYING", self.state(plan)["state"], "it takes a reason")
        self.do("fill", at="dialog[open] input", text="wrong link")
        self.do("press", key="Enter")
        self.do("wait", at="article .mark:has-text('Rolling back')")
        self.assertEqual("ROLLING_BACK", self.state(plan)["state"])

    def test_a_plan_under_way_is_aborted(self):
        plan = self.plan_of("leaf-r1-p01", 10)
        end = self.network.find("leaf-r1-p01").identity, 10
        with PhysicalLayer(self.subnet):
            with self.opensm_stopped():
                self.abort_while_it_is_verified(plan)
            wait_until(lambda: self.state(plan)["state"] == "ROLLED_BACK", within=90, why=lambda: f"{self.state(plan)} {self.weftd.log()}")
        self.assertEqual("aborted by ola: wrong link", self.state(plan)["outcome"])
        self.assertEqual("Active", Snapshot.of(self.subnet).ports[end].state)
        self.do("wait", at="article .mark:has-text('Rolled back')")
        self.do("wait", at="button:has-text('Abort')", state="detached")
        self.expect_clean()

    def test_what_a_plan_holds_says_since_when_and_how_it_comes_back(self):
        """A person isolates a link; its return is aborted; the page says what weftctl says."""
        node, port = "leaf-r3-p01", 10
        link = f"{node}:{port}"
        with PhysicalLayer(self.subnet):
            done = weft_testing.weftctl(self.weftd, "isolate", link, "--reason", "new cable", "--wait")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            plan = next(each for each in self.weftd.client.json("/api/v1/plans")["plans"]
                        if each["inForce"] and each["target"]["label"].startswith(f"{node} port {port} "))
            self.do("forget")
            self.do("open", url=f"http://{self.weftd.http}/#/plans", storage={"weft-token": self.operator})
            held = f"h2:has-text('Isolated, avoided or drained') + ul a.entry:has-text('{plan['id']}')"
            self.do("wait", at=f"{held}:has-text('out of service since'):has-text('only by hand: weftctl restore')")
            self.picture("plans-held")
            self.expect_accessible()
            self.do("click", at=held)
            self.do("wait", at=".facts:has-text('Comes back'):has-text('only by hand: weftctl restore')")
            self.assertEqual(0, weft_testing.weftctl(self.weftd, "restore", link, "--reason", "it is changed").returncode)
            back = wait_until(lambda: next((each for each in self.weftd.client.json("/api/v1/plans")["plans"]
                                            if each["undoes"] == plan["id"] and each["state"] == "VERIFYING" and each["windowsGood"] > 0), None),
                              60, why=lambda: self.weftd.log())
            done = weft_testing.weftctl(self.weftd, "abort", back["id"], "--reason", "the wrong one", "--wait")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            self.do("wait", at=f".facts:has-text('held again by its return {back['id']}, which did not last')")
            self.do("wait", at=".facts:has-text('Comes back'):has-text('only by hand: weftctl restore')")
            self.do("click", at="nav a:has-text('Plans')")
            self.do("wait", at=f"{held}:has-text('out of service again since')")
            done = weft_testing.weftctl(self.weftd, "restore", link, "--reason", "it is well")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            last = wait_until(lambda: next((each for each in self.weftd.client.json("/api/v1/plans")["plans"]
                                            if each["undoes"] == back["id"] and each["state"] == "VERIFYING"), None), 60, why=lambda: self.weftd.log())
            done = weft_testing.weftctl(self.weftd, "abort", last["id"], "--leave-in-service", "--reason", "the test is over")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.expect_clean()

    def test_a_roll_back_that_nobody_can_look_at_is_ended(self):
        plan = self.plan_of("leaf-r1-p02", 10)
        end = self.network.find("leaf-r1-p02").identity, 10
        with PhysicalLayer(self.subnet):
            with self.opensm_stopped():
                self.abort_while_it_is_verified(plan)
                wait_until(lambda: "checking whether the fabric is as before" in self.state(plan)["steps"][-1]["what"], 60,
                           why=lambda: f"{self.state(plan)}")
                self.do("click", at="button:has-text('Leave in service')")
                self.expect_accessible()
                self.do("fill", at="dialog[open] input", text="OpenSM is gone for today")
                self.do("press", key="Enter")
                self.do("wait", at="article .mark:has-text('Rolled back')")
            # What the last sweep saw of it is told, too.
            self.assertTrue(self.state(plan)["outcome"].startswith("aborted by ola: wrong link; left as it is by ola: OpenSM is gone for today"),
                            self.state(plan))
            wait_until(lambda: Snapshot.of(self.subnet).ports[end].state == "Active", 90, why="the link is not back")
        self.expect_clean()


if __name__ == "__main__":
    weft_testing.main()
