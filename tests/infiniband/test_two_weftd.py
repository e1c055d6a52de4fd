# SPDX-License-Identifier: Apache-2.0
"""Two weftd that both may act on one subnet notice each other by their records at OpenSM, and both stop acting."""

import os
import shutil
import signal
import subprocess
import tempfile

import weft_testing
from weft_testing import Weftd, guid_text, wait_until, weftctl, weftctl_json

WATCHES = "\n".join(["[remedy]"] + [f'{action} = "off"' for action in (
    "isolate_link", "restore_link", "raise_link_cost", "drain_node", "undrain_node")])


class TwoWeftd(weft_testing.SubnetTest):
    def setUp(self):
        super().setUp()
        self.others = []

    def tearDown(self):
        for other in self.others:
            other.stop()
        super().tearDown()

    def another(self, host: int, infiniband: str = "", state_dir: str | None = None) -> Weftd:
        """At another host, with a state directory of its own."""
        node = self.network.hosts()[host]
        other = Weftd(self.subnet.environment(node.identity), infiniband=infiniband, interval=self.interval, state_dir=state_dir)
        self.others.append(other)
        return other.start()

    def breaker(self, weftd: Weftd) -> str:
        return weftctl_json(weftd, "hands-off").get("breakerReason", "")

    def port_guid(self, weftd: Weftd) -> str:
        node = self.network.find(weftd.environment["SIM_HOST"])
        return guid_text(node.guid + 1)  # ibsim numbers the ports of an adapter so

    def expect_stopped(self, weftd: Weftd, other: Weftd, who: str = "") -> None:
        reason = wait_until(lambda: self.breaker(weftd), 60, why=lambda: f"not tripped; it says:\n{weftd.log()}")
        self.assertRegex(reason, f"^another weftd may act on fabric [^ ]+: {who}installation [0-9a-f]{{16}} at port GUID ")
        self.assertIn(f"port GUID {self.port_guid(other)} ({self.network.find(other.environment['SIM_HOST']).name})", reason)

    def test_both_stop_and_each_goes_on_after_a_reset_once_alone(self):
        self.assertEqual("", self.breaker(self.weftd), "alone")
        other = self.another(3)
        self.expect_stopped(other, self.weftd)
        self.expect_stopped(self.weftd, other)
        self.assertIn('weft_acting_others{subnet="', self.weftd.metrics())
        refused = weftctl(self.weftd, "breaker", "reset", "--reason", "impatient")
        self.assertEqual(4, refused.returncode, refused.stdout + refused.stderr)
        self.assertIn("Stop one of them", refused.stderr)
        self.assertEqual(0, other.stop(remove=False))

        def reset():
            return weftctl(self.weftd, "breaker", "reset", "--reason", "the other is gone").returncode == 0

        wait_until(reset, 40, why="its record was not taken out when it stopped")
        self.weftd.wait_sweeps(30)
        self.assertEqual("", self.breaker(self.weftd))

    def test_two_with_copies_of_one_state_directory_stop_each_other(self):
        """A clone of the machine: both have one store id. Where they run does not matter."""
        for host in (3, self.network.hosts().index(self.watcher)):
            with self.subTest(host=host), tempfile.TemporaryDirectory() as place:
                self.weftd.stop(remove=False)
                copy = os.path.join(place, "state")
                shutil.copytree(self.weftd.state_dir, copy)
                self.weftd.start()
                other = self.another(host, state_dir=copy)
                self.expect_stopped(other, self.weftd, "a copy of this weftd's state directory, ")
                self.expect_stopped(self.weftd, other, "a copy of this weftd's state directory, ")
                self.assertEqual(0, other.stop(remove=False))
                wait_until(lambda: weftctl(self.weftd, "breaker", "reset", "--reason", "the copy is gone").returncode == 0, 40,
                           why="its record was not taken out when it stopped")

    def test_one_that_only_watches_stops_nobody(self):
        other = self.another(4, WATCHES)
        other.wait_sweeps(30)
        self.assertEqual("", self.breaker(other))
        self.assertEqual("", self.breaker(self.weftd))
        self.assertNotIn("weft_acting_registered{", other.metrics())

    def test_the_same_one_again_is_nobody_else(self):
        """Killed with its sweeper, so that its record stays, and started again at another port."""
        sweepers = subprocess.run(["pgrep", "-P", str(self.weftd.process.pid), "weft-sweeper"], capture_output=True, text=True, check=True)
        for process in [*sweepers.stdout.split(), self.weftd.process.pid]:
            os.kill(int(process), signal.SIGKILL)
        self.weftd.kill()
        self.assertIn("weftd remedies", self.subnet.run(["saquery", "SR"]), "the record of the one that was killed")
        self.subnet.free_dead_clients()
        self.weftd.environment = self.subnet.environment(self.network.hosts()[5].identity)
        self.weftd.start()
        self.weftd.wait_sweeps(80)  # some rounds of questions
        self.assertEqual("", self.breaker(self.weftd))


if __name__ == "__main__":
    weft_testing.main()
