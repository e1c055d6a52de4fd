#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of a plan's life, plan.pml, checked by spin over every interleaving; and the same model with faults put in, each of which
spin must find: a check that cannot fail shows nothing."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from tests.support.program_testing import main  # noqa: E402

MODEL = os.path.join(ROOT, "tests", "model", "plan.pml")
SPIN = shutil.which("spin")
COMPILER = shutil.which("gcc") or shutil.which("cc")
LIMIT = 180


def check(text: str) -> dict:
    """What spin says of that model: errors of assertions and of the claim, states, and lines that are never reached."""
    with tempfile.TemporaryDirectory(prefix="weft-model-") as folder:
        with open(os.path.join(folder, "plan.pml"), "w", encoding="utf-8") as file:
            file.write(text)

        def run(*words):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
            return done.stdout

        run(SPIN, "-a", "plan.pml")
        run(COMPILER, "-O1", "-w", "-o", "pan", "pan.c")
        safety = run("./pan", "-noclaim", "-m1000000", "-w24")
        claim = run("./pan", "-a", "-f", "-m1000000", "-w24")
    def number(pattern, out):
        return int(re.search(pattern, out).group(1))
    return {"assertions": number(r"errors: (\d+)", safety), "claim": number(r"errors: (\d+)", claim),
            "states": number(r"(\d+) states, stored", safety), "safety": safety, "told": claim,
            "unreached": re.findall(r"^\tplan\.pml:(\d+), state \d+, \"(.*)\"$", safety, re.M)}


@unittest.skipIf(SPIN is None or COMPILER is None, "spin or a C compiler is not installed")
class PlanModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(MODEL, encoding="utf-8") as file:
            cls.model = file.read()

    def broken(self, old: str, new: str) -> dict:
        self.assertEqual(self.model.count(old), 1, f"the model has changed: {old!r} stands not once in it")
        return check(self.model.replace(old, new))

    def test_every_promise_holds(self):
        found = check(self.model)
        self.assertEqual(found["assertions"], 0, found["safety"])
        self.assertEqual(found["claim"], 0, found["told"])
        self.assertGreater(found["states"], 10_000, "so small a model leaves most of it out")
        # The processes beside weftd never end, and weftd never leaves its last line: all else must have been tried.
        self.assertEqual([line for line in found["unreached"] if line[1] not in ("-end-", "0")], [])

    def test_acting_before_the_journal_is_found(self):
        found = self.broken(":: intent == NONE -> intent = APPLY; stage = ACT; journal()",
                            ":: intent == NONE -> intent = APPLY; stage = ACT")
        self.assertGreater(found["assertions"], 0)

    def test_sending_twice_is_found(self):
        found = self.broken(":: intent == NONE -> intent = APPLY; stage = ACT; journal()",
                            ":: true -> intent = APPLY; stage = ACT; journal()")
        self.assertGreater(found["assertions"], 0)

    def test_touching_what_a_stranger_holds_is_found(self):
        found = self.broken(":: !failed && last_read == FOREIGN ->\n        in_force = false;\n        if\n",
                            ":: !failed && last_read == FOREIGN ->\n        in_force = false;\n        if\n"
                            "        :: state == EXECUTING && intent == NONE -> intent = APPLY; stage = ACT\n")
        self.assertGreater(found["assertions"], 0)

    def test_forgetting_what_may_still_land_is_found(self):
        self.assertGreater(self.broken(":: unresolved && waits\n", ":: false\n")["claim"], 0)

    def test_trusting_a_reading_from_before_the_wait_was_over_is_found(self):
        self.assertGreater(self.broken(":: unresolved && waits\n", ":: unresolved && landing_take\n")["claim"], 0)

    def test_forgetting_what_may_land_when_a_stranger_has_gone_is_found(self):
        found = self.broken(":: else -> unresolved = unanswered; end_plan(FAILED)\n", ":: else -> end_plan(FAILED)\n")
        self.assertGreater(found["claim"], 0)

    def test_forgetting_after_a_crash_is_found(self):
        # Whoever trusts the answer more than the world says that it did not take, when the answer was lost.
        found = self.broken(":: else -> unresolved = unanswered; end_plan(ROLLED_BACK); journal()",
                            ":: else -> end_plan(ROLLED_BACK); journal()")
        self.assertGreater(found["claim"], 0)


if __name__ == "__main__":
    main()
