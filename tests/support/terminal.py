# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own, as a person would use it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Terminal:
    """`command` on a pseudo-terminal. `said` is all that it wrote, decoded."""

    def __init__(self, command: list[str], environment: dict, columns: int = 120, lines: int = 40):
        self.said = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def _read(self, seconds: float) -> bool:
        """False at the end."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._fd, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.said += piece.decode(errors="replace")
        return bool(piece)

    def expect(self, pattern: str, within: float = 30, after: int = 0) -> re.Match:
        """The first match behind position `after` of what was said. AssertionError when it does not come."""
        deadline = time.monotonic() + within
        while True:
            if match := re.compile(pattern, re.DOTALL).search(self.said, after):
                return match
            if time.monotonic() > deadline or not self._read(0.1):
                raise AssertionError(f"{pattern!r} did not come; it said {self.said[after:][-2000:]!r}")

    def end(self, within: float = 20) -> int:
        """The exit status; as subprocess has it, negative for a signal."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read(0) and select.select([self._fd], [], [], 0)[0]:
                    pass
                os.close(self._fd)
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
            self._read(0.05)
        raise AssertionError(f"it does not end; it said {self.said[-2000:]!r}")

    def close(self) -> None:
        """Whatever it does."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self._fd)
            self.pid = 0
