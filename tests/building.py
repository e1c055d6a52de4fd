# SPDX-License-Identifier: Apache-2.0
"""Builds what tests/runner.py runs, ahead of it: one thread builds part after part, at the lowest priority, so that tests which wait
for a simulated fabric leave their processors to the compiler."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass(frozen=True)
class Part:
    """One ctest label in one build."""

    preset: str
    label: str
    targets: tuple[str, ...] = ()  # to build instead of tests_<label>, where only some of its programs are wanted


def say(text: str) -> None:
    print(text, flush=True)


def last_line(path: str) -> str:
    with open(path, "rb") as stream:
        stream.seek(max(0, os.path.getsize(path) - 500))
        return (stream.read().decode(errors="replace").strip().splitlines() or [""])[-1][:110]


def wait_and_count(process: subprocess.Popen) -> tuple[int, float]:
    """Its exit code, and the processor seconds of it and of all below it that were waited for."""
    try:
        _, status, used = os.wait4(process.pid, 0)
    except ChildProcessError:  # interrupted: another thread has looked at it
        return process.wait() or 1, 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def end_group(process: subprocess.Popen) -> None:
    """Asks the leader of a process group and all in it to end, makes them after some seconds, and waits for it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + 15
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < deadline:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.05)
        except ProcessLookupError:
            break
    process.wait()


# What the tests leave over; not the scheduler's idle class, which gets nothing at all beside other work on the machine.
LEFT_OVER = ("nice", "-n", "19")


def leave_to_others(session: int) -> None:
    """The same for a new session as a whole. Where the kernel groups tasks by sessions, a nice value counts within its session alone,
    and this file has the session's own (sched(7), "The autogroup feature")."""
    try:
        with open(f"/proc/{session}/autogroup", "w", encoding="ascii") as stream:
            stream.write("19")
    except OSError:
        pass  # it has ended, or the kernel has no such groups


class Builder:
    """Builds `parts` in their order, each preset configured once. As a context: leaving it ends what is still being built."""

    def __init__(self, build_root: str, parts: list[Part]):
        self._root = build_root
        self._parts = list(dict.fromkeys(parts))
        self._ready = {part: threading.Event() for part in self._parts}
        self._trouble: dict[Part, str] = {}
        self._configured: dict[str, str] = {}
        self._doing = ("", "", 0.0)  # what, its log, since when
        self.spent: dict[str, list[float]] = {}  # what was done to a preset: seconds of the clock, of processors
        self._process: subprocess.Popen | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._build_all, daemon=True)

    def __enter__(self) -> "Builder":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._stopping.set()
        if (process := self._process) and process.poll() is None:
            end_group(process)
        self._thread.join()

    def folder(self, preset: str) -> str:
        return os.path.join(self._root, preset)

    def wait(self, part: Part) -> str:
        """Until the part is built. Empty then; else what went wrong, in a line."""
        told, reported = "", time.monotonic()
        while not self._ready[part].wait(0.2):
            what, log, began = self._doing
            if what and what != told:
                say(f"-- {what} …")
                told, reported = what, time.monotonic()
            if what and time.monotonic() - reported > 20:
                reported = time.monotonic()
                say(f"   {reported - began:.0f} s: {last_line(log)}")
        return self._trouble[part]

    def _build_all(self) -> None:
        for part in self._parts:
            try:
                self._trouble[part] = self._configure(part.preset) or self._build(part)
            except OSError as error:
                self._trouble[part] = f"building {part.preset} {part.label}: {error}"
            self._ready[part].set()

    def _configure(self, preset: str) -> str:
        if preset not in self._configured:
            os.makedirs(self.folder(preset), exist_ok=True)
            if os.path.exists(os.path.join(self.folder(preset), "build.ninja")):  # ninja configures anew what has changed
                self._configured[preset] = ""
                return ""
            self._configured[preset] = self._run(f"configuring {preset}", preset, "configure",
                                                 ["cmake", "--preset", preset, "-S", ROOT, "-B", self.folder(preset)])
        return self._configured[preset]

    def _build(self, part: Part) -> str:
        preset, name = part.preset, f"tests_{part.label}"
        wanted = part.targets or (name,)
        return self._run(f"building {preset} {name}", preset, name, ["cmake", "--build", self.folder(preset), "--target", *wanted])

    def _run(self, what: str, preset: str, name: str, command: list[str]) -> str:
        if self._stopping.is_set():
            return f"{what}: interrupted"
        log_path = os.path.join(self.folder(preset), f"{name}.log")
        began = time.monotonic()
        with open(log_path, "wb") as log:
            self._process = subprocess.Popen([*LEFT_OVER, *command], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                             cwd=ROOT, start_new_session=True)
            leave_to_others(self._process.pid)
            self._doing = (what, log_path, began)
            code, processors = wait_and_count(self._process)
        self._doing = ("", "", 0.0)
        took = time.monotonic() - began
        spent = self.spent.setdefault(f"build {preset}", [0.0, 0.0])
        spent[0] += took
        spent[1] += processors
        if code == 0:
            say(f"   ({what}: {took:.0f} s)")
            return ""
        with open(log_path, encoding="utf-8", errors="replace") as log:
            lines = log.read().splitlines()
        start = next((i for i, line in enumerate(lines) if "error:" in line or "FAILED:" in line or "CMake Error" in line),
                     max(0, len(lines) - 30))
        say("\n".join(lines[start:start + 40]))
        return f"{what} failed; all of it is in {os.path.relpath(log_path, ROOT)}"
