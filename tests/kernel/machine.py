# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with Debian's kernel, driven command by command: no network card in it, nothing leaves it."""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "deploy", "demonstration"))

import initramfs  # noqa: E402
import scripted_module  # noqa: E402
from child_process import start_child  # noqa: E402
from packages import Packages, Unavailable  # noqa: E402

QEMU = "qemu-system-x86_64"
BOOT_SECONDS = 240  # two to five on a machine that does nothing else
COMMAND_SECONDS = 60


class Refused(AssertionError):
    """A command in the guest failed."""


class Dead(AssertionError):
    """The guest ended, or does not answer."""


@dataclass
class Done:
    code: int
    out: str
    err: str


@dataclass
class Image:
    kernel: str
    initrd: str
    disk: str = ""  # /dev/vda; what the guest writes is gone with it


def make_image(build: str, programs: list[str]) -> Image:
    """Kernel and root with these programs, kept under `build`/kernel. Raises packages.Unavailable."""
    if not shutil.which(QEMU):
        raise Unavailable(f"not installed: {QEMU} (package qemu-system-x86)")
    folder = os.path.join(os.path.abspath(build), "kernel")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        packages = Packages(folder)
        packages.prepare()
        root = initramfs.base(packages, scripted_module.build(packages, folder))
        root += initramfs.programs(programs, packages, folder)
        initrd = os.path.join(folder, f"initrd-{os.getpid()}")
        with open(initrd, "wb") as stream:
            stream.write(root)
        return Image(packages.kernel(), initrd)


class Machine:
    """`with Machine(image) as machine:` boots; leaving ends it. `adapters`: how many PCI devices for scripted_nic. `hardware`: what else
    qemu is told to build, as its options."""

    def __init__(self, image: Image, adapters: int = 1, hardware: tuple[str, ...] = ()):
        self._image = image
        self._adapters = adapters
        self._hardware = hardware
        self._process: subprocess.Popen | None = None
        self._place = tempfile.mkdtemp(prefix="weft-kernel-")
        self._console = os.path.join(self._place, "console")
        self._channel: socket.socket | None = None
        self._unread = b""

    def __enter__(self) -> "Machine":
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self) -> None:
        ours, theirs = socket.socketpair()
        command = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "2048", "-smp", "2", "-display", "none", "-no-reboot",
                   "-nodefaults", "-nic", "none", "-serial", f"file:{self._console}", "-kernel", self._image.kernel,
                   "-initrd", self._image.initrd, "-append", "console=ttyS0 quiet panic=-1 no_timer_check hostname=node-1",
                   "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,fd={theirs.fileno()}",
                   "-device", "virtserialport,chardev=agent,name=agent", *["-device", "pci-testdev"] * self._adapters,
                   *self._hardware]
        if self._image.disk:
            command += ["-drive", f"file={self._image.disk},format=raw,if=virtio,snapshot=on"]
        # no_timer_check: on a machine that does much else the kernel would find that its timer ticks too seldom, and give up.
        with theirs, open(os.path.join(self._place, "qemu.log"), "wb") as log:
            self._process = start_child(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(theirs.fileno(),),
                                        start_new_session=True)
        self._channel = ours
        began = time.monotonic()
        self._line(BOOT_SECONDS)  # "ready"
        self.boot_seconds = time.monotonic() - began
        # The kernel goes on with what had room in half of its memory: programs or libraries would be missing.
        if "unpacking failed" in self.run("dmesg").out:
            raise Dead(f"the root does not fit into the guest's memory; its console says:\n{self.console()}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        shutil.rmtree(self._place, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._image.initrd)

    # -- the channel: a command goes in as one line of base64, its code and what it wrote come out

    def run(self, script: str, within: float = COMMAND_SECONDS) -> Done:
        """Runs a bash script to its end. Raises Dead when the guest does not answer in time."""
        self._channel.sendall(base64.b64encode(script.encode()) + b"\n")
        code, out, err = (int(word) for word in self._line(within).split())
        return Done(code, self._bytes(out, within).decode(errors="replace"), self._bytes(err, within).decode(errors="replace"))

    def get(self, script: str, within: float = COMMAND_SECONDS) -> str:
        """What it wrote. Raises Refused when it fails."""
        done = self.run(script, within)
        if done.code:
            raise Refused(f"in the guest: {script}\ngave {done.code}: {(done.err or done.out).strip()[-1500:]}")
        return done.out

    def json(self, script: str, within: float = COMMAND_SECONDS):
        text = self.get(script, within)
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Refused(f"in the guest: {script}\nwrote no JSON ({error}): {text[:500]}") from error

    def console(self) -> str:
        """The last of what the kernel said."""
        log = ""
        for name in ("qemu.log", "console"):
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self._place, name), "rb") as stream:
                log += stream.read()[-3000:].decode(errors="replace")
        return log

    def _line(self, within: float) -> str:
        deadline = time.monotonic() + within
        while b"\n" not in self._unread:
            self._receive(deadline)
        line, self._unread = self._unread.split(b"\n", 1)
        return line.decode()

    def _bytes(self, count: int, within: float) -> bytes:
        deadline = time.monotonic() + within
        while len(self._unread) < count:
            self._receive(deadline)
        data, self._unread = self._unread[:count], self._unread[count:]
        return data

    def _receive(self, deadline: float) -> None:
        self._channel.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            data = self._channel.recv(1 << 16)
        except TimeoutError as error:
            raise Dead(f"the guest does not answer; its console says:\n{self.console()}") from error
        if not data:
            raise Dead(f"the guest ended; its console says:\n{self.console()}")
        self._unread += data
