# SPDX-License-Identifier: Apache-2.0
"""A fabric of three tiers whose subnet manager needs its time, as real ones do: OpenSM with its usual sweep of 10 s, and now and then held
back so that it takes tens of seconds to activate links and to program routes. One cause is one incident, two at most, and nothing is
open a minute after the repair.

What ibsim leaves out: a switch that starts anew has forgotten its forwarding table (ibsim's keeps it), and links that train need
seconds (ibsim's none). Both are played by the pause between unplugging and plugging in."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "infiniband"))

import weft_testing  # noqa: E402
from child_process import start_child  # noqa: E402
from idle_process import IdleProcess  # noqa: E402
from weft_testing import fat_tree, simulated_subnet  # noqa: E402

MINUTE = 60


class Held:
    """Stops a process for so many seconds, in the background; at the end of the block it runs in any case."""

    def __init__(self, pid: int, seconds: float = 20):
        self.pid = pid
        os.kill(pid, signal.SIGSTOP)
        self._timer = threading.Timer(seconds, self._go_on)

    def __enter__(self):
        self._timer.start()
        return self

    def __exit__(self, *exception):
        self._timer.cancel()
        self._go_on()

    def _go_on(self):
        try:
            os.kill(self.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # it ended; who needs it says so


class SlowManager(weft_testing.SubnetTest):
    interval = "2s"
    infiniband = 'detail_interval = "1m"'  # as it is by default
    # Damping's shape with times that a test can wait for.
    analyzer = 'flap_fast.half_life = "16s"'

    @classmethod
    def make_network(cls):
        return fat_tree.build(2304, rails=8, levels=3, radix=32)

    def setUp(self):
        super().setUp()
        self.expect_quiet(sweeps=1)
        self.before = {i["id"]: i["occurrences"] for i in self.weftd.incidents(open_only=False)}

    def opened(self) -> list[dict]:
        """What opened, or came back, since the test began, by and by folded incidents too."""
        return [i for i in self.weftd.incidents(open_only=False) if i["occurrences"] != self.before.get(i["id"]) and
                # Sweeps that are late tell of the machine that the test runs on.
                not (i["kind"] == "TELEMETRY_LOST" and "no sweeps" in i["summary"])]

    def in_words(self) -> str:
        return "\n".join(f"{i['id']} {i['kind']} {i['severity']} {i['state']} {i['cause'].get('label')}: {i['summary']}" for i in self.opened())

    def settle(self, most: int = 2) -> list[dict]:
        """From the repair on: quiet within a minute, and no more than `most` incidents since the test began."""
        repaired = time.monotonic()
        weft_testing.wait_until(lambda: not self.weftd.incidents(), within=2 * MINUTE, why=lambda: f"still open:\n{self.in_words()}")
        took = time.monotonic() - repaired
        self.weftd.wait_sweeps(3)
        opened = self.opened()
        print(f"{self.id().rsplit('.', 1)[-1]}: quiet {took:.0f} s after the repair\n{self.in_words()}", file=sys.stderr, flush=True)
        self.assertLessEqual(len(opened), most, self.in_words())
        self.assertLessEqual(took, MINUTE, self.in_words())
        return opened

    def test_switch_reboot(self):
        self.subnet.unlink("spine-p02-03")
        time.sleep(8)
        with Held(self.subnet.opensm_pid()):
            self.subnet.relink("spine-p02-03")
            weft_testing.wait_until(self.all_are_active, within=2 * MINUTE, every=3, why=lambda: f"OpenSM is not done: {self.waiting()}")
        opened = self.settle()
        self.assertEqual({"SWITCH_DOWN"}, {i["kind"] for i in opened}, self.in_words())

    def test_leaf_reboot(self):
        self.subnet.unlink("leaf-r3-p05")
        time.sleep(8)
        with Held(self.subnet.opensm_pid()):
            self.subnet.relink("leaf-r3-p05")
            weft_testing.wait_until(self.all_are_active, within=2 * MINUTE, every=3, why=lambda: f"OpenSM is not done: {self.waiting()}")
        self.assertIn("SWITCH_DOWN", {i["kind"] for i in self.settle()})

    def test_line_card(self):
        ports = [number for number in sorted(self.network.find("spine-p03-02").ports)][:8]
        switch = self.network.find("spine-p03-02").identity
        self.subnet.command(*(f'Unlink "{switch}"[{number}]' for number in ports))
        self.weftd.wait_sweeps(4)
        with Held(self.subnet.opensm_pid()):
            self.subnet.command(*(f'ReLink "{switch}"[{number}]' for number in ports))
            weft_testing.wait_until(self.all_are_active, within=2 * MINUTE, every=3, why=lambda: f"OpenSM is not done: {self.waiting()}")
        opened = self.settle(most=3)
        lasting = [i for i in opened if "part of" not in i["summary"]]
        self.assertEqual(1, len(lasting), self.in_words())

    def test_flap(self):
        for _ in range(4):
            self.subnet.unlink("leaf-r1-p02", 20)
            self.weftd.wait_sweeps(1)
            self.subnet.relink("leaf-r1-p02", 20)
            self.weftd.wait_sweeps(1)
        self.settle()

    def test_host_reboot(self):
        for rail in range(8):
            self.subnet.unlink(f"gpu-0100 mlx5_{rail}", 1)
        time.sleep(8)
        with Held(self.subnet.opensm_pid()):
            for rail in range(8):
                self.subnet.relink(f"gpu-0100 mlx5_{rail}", 1)
            weft_testing.wait_until(self.all_are_active, within=2 * MINUTE, every=3, why=lambda: f"OpenSM is not done: {self.waiting()}")
        opened = self.settle()
        self.assertIn("NODE_DOWN", {i["kind"] for i in opened}, self.in_words())

    def test_manager_restart(self):
        self.subnet.kill_opensm()
        self.weftd.wait_sweeps(3)
        self.subnet.start_opensm()
        self.assertEqual([], self.settle(most=1), self.in_words())

    def test_manager_failover(self):
        standby = self.start_standby()
        try:
            self.subnet.kill_opensm()
            # The standby takes over, and has a switch to take up in its first sweep.
            self.subnet.unlink("spine-p04-01")
            standby = self.until_it_says("Entering MASTER state", standby)
            self.subnet.relink("spine-p04-01")
            weft_testing.wait_until(self.all_are_active, within=2 * MINUTE, every=3, why=lambda: f"OpenSM is not done: {self.waiting()}")
            self.settle()
        finally:
            standby.terminate()
            standby.wait()
            self.subnet.free_dead_clients()
            self.subnet.start_opensm()

    # -- the subnet manager

    def waiting(self) -> list[str]:
        return [line.split("\t")[1] for line in self.subnet.dump() if "/LinkUp" in line and "Active" not in line and "Sma Port" not in line]

    def all_are_active(self) -> bool:
        return not self.waiting()

    def start_standby(self) -> subprocess.Popen:
        return self.until_it_says("STANDBY", self.launch_standby())

    def launch_standby(self) -> subprocess.Popen:
        place = os.path.join(self.subnet.directory, "standby")
        os.makedirs(place, exist_ok=True)
        configuration = os.path.join(place, "opensm.conf")
        with open(configuration, "w", encoding="ascii") as stream:
            stream.write("force_log_flush TRUE\ndaemon FALSE\nqos FALSE\nsminfo_polling_timeout 1000\npolling_retry_number 3\n")
        environment = self.subnet.environment(self.network.hosts()[200].identity)
        environment.update(OSM_CACHE_DIR=place, OSM_TMP_DIR=place)
        opensm = shutil.which("opensm", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        with open(os.path.join(place, "out"), "ab") as out:
            return start_child([opensm, "-F", configuration, "-e", "-f", os.path.join(place, "log"), "-s", "10", "-R", "updn"],
                               stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=place, start_new_session=True)

    def until_it_says(self, words: str, standby: subprocess.Popen) -> subprocess.Popen:
        """On a busy machine OpenSM 3.3.23 now and then waits for ever for a reply in its first sweep, as the one that discovers and as the
        master: then it is started anew, as its operator would, and its log begins anew. Gives the process that said it."""
        idle = IdleProcess(standby.pid)
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline:
            if words in self.standby_log():
                return standby
            if standby.poll() is not None or idle.seconds() > simulated_subnet.IDLE_PATIENCE:
                print(f"the standby hangs or ended ({standby.poll()}), and is started anew", flush=True)
                standby.kill()
                standby.wait()
                self.subnet.free_dead_clients()
                standby = self.launch_standby()
                idle = IdleProcess(standby.pid)
            time.sleep(0.2)
        self.fail(f"the standby does not say {words}: {self.standby_log()[-2000:]}")

    def standby_log(self) -> str:
        try:
            with open(os.path.join(self.subnet.directory, "standby", "log"), encoding="utf-8", errors="replace") as stream:
                return stream.read()
        except OSError:
            return ""


if __name__ == "__main__":
    weft_testing.main()
