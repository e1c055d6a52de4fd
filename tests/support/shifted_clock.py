# SPDX-License-Identifier: Apache-2.0
"""A clock that a test sets for one program: clock_shim.cpp, preloaded."""

import os
import struct

from program_testing import BUILD

SHIM = os.path.join(BUILD, "tests", "clock_shim.so")
# The same without sanitizers, for programs that are not ours.
SERVER_SHIM = os.path.join(BUILD, "tests", "server_clock_shim.so")


class ShiftedClock:
    """`path` is a file to make; while it stands the programs started with `preload_in` see their wall clock shifted."""

    def __init__(self, path: str, shim: str = SHIM):
        self.path = path
        self.shim = shim
        self.shift = 0.0
        with open(path, "wb") as stream:
            stream.write(bytes(16))

    def preload_in(self, environment: dict) -> dict:
        """The environment, with the shim behind what is preloaded already."""
        environment["LD_PRELOAD"] = ":".join(part for part in (environment.get("LD_PRELOAD"), self.shim) if part)
        environment["WEFT_TEST_CLOCK"] = self.path
        return environment

    def set(self, seconds: float) -> None:
        """So much ahead of the machine's, from now on; negative is behind."""
        self.shift = seconds
        with open(self.path, "r+b") as stream:
            stream.write(struct.pack("q", int(seconds * 1e9)))

    def pass_by(self, seconds: float) -> None:
        """So much time has passed since it was made, on every clock; unlike a step, programs count it."""
        with open(self.path, "r+b") as stream:
            stream.seek(8)
            stream.write(struct.pack("q", int(seconds * 1e9)))
