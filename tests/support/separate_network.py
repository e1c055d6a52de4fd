# SPDX-License-Identifier: Apache-2.0
"""A network namespace with wires to it that can be cut: who is behind one is partitioned. Needs root, and a caller that is alone in its own
network namespace (enter_own_network())."""

import os
import subprocess
import sys

from child_process import start_child


def can_separate() -> bool:
    return os.geteuid() == 0 and subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode == 0


def enter_own_network() -> None:
    """Begins this program anew in a network namespace of its own, with loopback. Returns there; at once when it may not."""
    if "WEFT_TEST_OWN_NETWORK" in os.environ:
        ip("link", "set", "lo", "up")
    elif can_separate():
        os.environ["WEFT_TEST_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "--net", "--", sys.executable, *sys.argv])


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"ip {' '.join(words)}: {done.stderr}")


class SeparateNetwork:
    """`wires`: how many lead here; `first`: the number of the first. Over wire i the namespace has the address far(i)."""

    def __init__(self, wires: int, first: int = 0):
        self.wires = range(first, first + wires)
        self.holder: subprocess.Popen | None = None

    def start(self) -> "SeparateNetwork":
        self.holder = start_child(["unshare", "--net", "--", "sh", "-c", "echo ready; exec sleep infinity"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.within("ip", "link", "set", "lo", "up")
        for wire in self.wires:
            ip("link", "add", f"w{wire}", "type", "veth", "peer", "name", f"f{wire}", "netns", str(self.holder.pid))
            ip("address", "add", f"{self.near(wire)}/24", "dev", f"w{wire}")
            ip("link", "set", f"w{wire}", "up")
            self.within("ip", "address", "add", f"{self.far(wire)}/24", "dev", f"f{wire}")
            self.within("ip", "link", "set", f"f{wire}", "up")
        return self

    def join(self, other: "SeparateNetwork", wire: int) -> None:
        """A wire between two of them, once both are started: far(wire) is here, near(wire) at the other one. Each may cut it."""
        ip("link", "add", f"f{wire}", "netns", str(self.holder.pid), "type", "veth", "peer", "name", f"f{wire}", "netns", str(other.holder.pid))
        for network, address in ((self, self.far(wire)), (other, self.near(wire))):
            network.within("ip", "address", "add", f"{address}/24", "dev", f"f{wire}")
            network.within("ip", "link", "set", f"f{wire}", "up")

    def stop(self) -> None:
        if self.holder is not None:
            self.holder.kill()
            self.holder.wait()
            self.holder.stdout.close()

    @staticmethod
    def far(wire: int) -> str:
        return f"10.99.{wire}.2"

    @staticmethod
    def near(wire: int) -> str:
        return f"10.99.{wire}.1"

    def command(self, *words: str, user: tuple[int, int] | None = None) -> list[str]:
        """Runs the command inside, as that user and group; it ends with the process that starts it."""
        inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--", "setpriv", "--pdeathsig", "KILL"]
        if user:
            inside += [f"--reuid={user[0]}", f"--regid={user[1]}", "--clear-groups"]
        return [*inside, "--", *words]

    def within(self, *words: str) -> None:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(words)}: {done.stderr}")

    # -- the wires. What is sent is lost without a word; addresses and connections stay.

    def cut(self, wire: int) -> None:
        self.within("ip", "link", "set", f"f{wire}", "down")

    def mend(self, wire: int) -> None:
        self.within("ip", "link", "set", f"f{wire}", "up")
