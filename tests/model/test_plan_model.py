#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of a plan's life, plan.pml, checked by spin over every interleaving; and the same model with faults put in, each of which
spin must find: a check that cannot fail shows nothing."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from tests.model import model_checking  # noqa: E402
from tests.support.program_testing import main  # noqa: E402

SEARCHES = {"assertions": ("-noclaim",), "claim": ("-a", "-f")}


def check(text: str, what: str) -> dict:
    return model_checking.check(text, SEARCHES[what])


@model_checking.needs_spin
class PlanModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = model_checking.model("plan.pml")

    def find(self, what: str, old: str, new: str):
        """Spin finds the fault of having `new` for `old`, by an assertion or by the claim."""
        self.assertEqual(self.model.count(old), 1, f"the model has changed: {old!r} stands not once in it")
        self.assertGreater(check(self.model.replace(old, new), what)["errors"], 0)

    def test_every_promise_holds(self):
        claim = check(self.model, "claim")
        self.assertEqual(claim["errors"], 0, claim["told"])
        found = check(self.model, "assertions")
        self.assertEqual(found["errors"], 0, found["told"])
        self.assertGreater(found["states"], 10_000, "so small a model leaves most of it out")
        # The processes beside weftd never end, and weftd never leaves its last line: all else must have been tried.
        self.assertEqual([line for line in found["unreached"] if line[1] not in ("-end-", "0")], [])

    def test_acting_before_the_journal_is_found(self):
        self.find("assertions", ":: intent == NONE -> intent = APPLY; stage = ACT; journal()",
                  ":: intent == NONE -> intent = APPLY; stage = ACT")

    def test_sending_twice_is_found(self):
        self.find("assertions", ":: intent == NONE -> intent = APPLY; stage = ACT; journal()",
                  ":: true -> intent = APPLY; stage = ACT; journal()")

    def test_touching_what_a_stranger_holds_is_found(self):
        self.find("assertions", ":: !failed && last_read == FOREIGN && (foreign || untouched) ->\n        in_force = false;\n        if\n",
                  ":: !failed && last_read == FOREIGN && (foreign || untouched) ->\n        in_force = false;\n        if\n"
                  "        :: state == EXECUTING && intent == NONE -> intent = APPLY; stage = ACT\n")

    def test_looking_at_the_brake_only_when_deciding_is_found(self):
        self.find("assertions", ":: atomic { order != NONE && !begun && !braked -> begun = true }",
                  ":: atomic { order != NONE && !begun -> begun = true }")

    def test_looking_at_the_brake_and_starting_in_two_steps_is_found(self):
        self.find("assertions", ":: atomic { order != NONE && !begun && !braked -> begun = true }",
                  ":: order != NONE && !begun && !braked -> begun = true")

    def test_acknowledging_before_the_brake_holds_is_found(self):
        self.find("assertions", ":: atomic { hands_off > 0 && !braked -> hands_off--; braked = true }",
                  ":: atomic { hands_off > 0 && !braked -> hands_off--; acknowledged = true; reported = begun }; braked = true")

    def test_not_saying_what_is_under_way_is_found(self):
        self.find("assertions", "acknowledged = true; reported = begun", "acknowledged = true; reported = false")

    def test_forgetting_what_may_still_land_is_found(self):
        self.find("claim", ":: unresolved && waits\n", ":: false\n")

    def test_trusting_a_reading_from_before_the_wait_was_over_is_found(self):
        self.find("claim", ":: unresolved && waits\n", ":: unresolved && landing_take\n")

    def test_forgetting_what_may_land_when_a_stranger_has_gone_is_found(self):
        self.find("claim", ":: else -> unresolved = unanswered; end_plan(FAILED)\n", ":: else -> end_plan(FAILED)\n")

    def test_forgetting_after_a_crash_is_found(self):
        # Whoever trusts the answer more than the world says that it did not take, when the answer was lost.
        self.find("claim", ":: else -> unresolved = unanswered; end_plan(ROLLED_BACK); journal()",
                  ":: else -> end_plan(ROLLED_BACK); journal()")


if __name__ == "__main__":
    main()
