# SPDX-License-Identifier: Apache-2.0
"""Tells a process that hangs from one that is slow, by the processor time that it uses."""

import os
import time


class IdleProcess:
    """How long a process has used no processor time (proc(5), /proc/PID/stat). Ask at least every few seconds."""

    def __init__(self, pid: int):
        self._pid = pid
        self._used = -1
        self._since = time.monotonic()

    def seconds(self) -> float:
        """Zero while it works; grows while it only waits."""
        used = self._processor_ticks()
        if used != self._used:
            self._used = used
            self._since = time.monotonic()
        return time.monotonic() - self._since

    def _processor_ticks(self) -> int:
        try:
            with open(f"/proc/{self._pid}/stat", encoding="ascii", errors="replace") as stream:
                words = stream.read().rsplit(")", 1)[1].split()
        except OSError:
            return -1
        return (int(words[11]) + int(words[12])) // max(1, os.sysconf("SC_CLK_TCK") // 10)
