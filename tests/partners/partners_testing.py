# SPDX-License-Identifier: Apache-2.0
"""What the tests of partners share: actuators called as weftd calls them, through the program actuate_once."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import program_testing  # noqa: E402
from program_testing import main, wait_until  # noqa: E402, F401

# Of one call, however its partner behaves: kLongestCall, and what a busy machine adds.
LONGEST_CALL = 35


class Partner:
    """One actuator with its options."""

    def __init__(self, actuator: str, **options):
        self.actuator = actuator
        self.options = options

    def command(self, calls: list[str], order: dict) -> list[str]:
        wish = {"actuator": self.actuator, "options": self.options, "calls": calls, "order": order}
        return [os.path.join(program_testing.BUILD, "tests", "actuate_once"), json.dumps(wish)]

    def all(self, calls: list[str], **order) -> list[dict]:
        """What each call gave; one line when the actuator could not be made."""
        done = subprocess.run(self.command(calls, order), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=LONGEST_CALL * len(calls), check=False)
        if done.returncode != 0:
            raise AssertionError(f"actuate_once gave {done.returncode}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def call(self, what: str, **order) -> dict:
        return self.all([what], **order)[-1]

    def observe(self, host: str, action: str = "DRAIN_NODE", **order) -> dict:
        return self.call("observe", host=host, action=action, **order)

    def drain(self, host: str, **order) -> dict:
        return self.call("apply", host=host, action="DRAIN_NODE", **order)

    def undrain(self, host: str, **order) -> dict:
        return self.call("apply", host=host, action="UNDRAIN_NODE", **order)

    def dry_run(self, host: str, action: str, **order) -> dict:
        return self.call("dry_run", host=host, action=action, **order)
