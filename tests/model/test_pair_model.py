#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of two weftd and one ledger, pair.pml, checked by spin over every interleaving; and the same model with faults put in, each of
which spin must find."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, ROOT)

from tests.model.model_checking import check, model, needs_spin  # noqa: E402
from tests.support.program_testing import main  # noqa: E402


@needs_spin
class PairModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = model("pair.pml")

    def find_cycles(self, *macros):
        """Errors are runs without an end. Cycles do not depend on how often something goes wrong."""
        return check(self.model, ("-E", "-l"), macros=(*macros, "FEWER"), build=("NP", "COLLAPSE"))

    def judge(self, *macros):
        return check(self.model, ("-E",), macros=macros, build=("SAFETY", "COLLAPSE"))

    def holds(self, *macros):
        found = self.judge(*macros)
        self.assertEqual(found["errors"], 0, found["told"])
        self.assertGreater(found["states"], 500_000, "so small a model leaves most of it out")
        return found

    def find(self, *macros, promise):
        """Spin finds a run of this faulty model that breaks the promise."""
        found = self.judge(*macros)
        self.assertGreater(found["errors"], 0, found["told"])
        self.assertIn(f"assertion violated {promise}", found["told"])

    def test_every_promise_holds(self):
        found = self.holds()
        # The processes never come to their last brace: all else must have been tried.
        self.assertEqual([line for line in found["unreached"] if line[1] != "-end-"], [])

    def test_every_run_ends(self):
        found = self.find_cycles()
        self.assertEqual(found["errors"], 0, found["told"])

    def test_with_compare_and_set_neither_deadline_nor_bound_is_needed(self):
        self.holds("CAS", "NO_DEADLINE", "FEWER")

    def test_with_compare_and_set_every_run_ends(self):
        found = self.find_cycles("CAS", "NO_DEADLINE")
        self.assertEqual(found["errors"], 0, found["told"])

    # What is left of the hazard without compare-and-set: each of the assumptions is needed.
    def test_an_old_order_wins_without_the_wait(self):
        self.find("NO_WAIT", promise="(n==sent)")
        self.find("NO_WAIT", "ONLY_THE_END", promise="((((j_op==")

    def test_an_old_order_wins_that_lands_after_the_bound(self):
        self.find("NO_BOUND", promise="(n==sent)")
        self.find("NO_BOUND", "ONLY_THE_END", promise="((((j_op==")

    def test_an_old_order_wins_that_is_sent_after_a_stop_without_a_look_at_the_lease(self):
        self.find("NO_DEADLINE", promise="(n==sent)")
        self.find("NO_DEADLINE", "ONLY_THE_END", promise="((((j_op==")

    def test_trusting_what_was_read_before_the_wait_is_found(self):
        self.find("READ_BEFORE_THE_WAIT", promise="((((j_op==")

    def test_reading_before_the_target_knows_the_newest_number_is_found(self):
        self.find("CAS", "NO_DEADLINE", "NO_NUMBER_FIRST", promise="(n==sent)")
        self.find("CAS", "NO_NUMBER_FIRST", "ONLY_THE_END", promise="((((j_op==")

    # The lease and the ledger.
    def test_a_lease_from_when_the_beat_was_acknowledged_is_found(self):
        self.find("LEASE_FROM_ANSWER", promise="(mine[me]==epoch)")

    def test_taking_over_without_comparing_the_beat_is_found(self):
        self.find("TAKEOVER_WITHOUT_THE_BEAT", promise="(mine[me]==epoch)")

    def test_never_taking_over_is_found(self):
        self.find("NO_TAKEOVER", promise="")

    def test_writing_without_the_fence_is_found(self):
        self.find("UNFENCED", promise="(mine[me]==epoch)")

    def test_taking_a_lost_commit_for_done_is_found(self):
        self.find("TRUST_LOST_COMMIT", promise="(((j_op==op)")

    def test_acting_before_the_intent_is_committed_is_found(self):
        self.find("ACT_BEFORE_INTENT", promise="(((j_op==op)")

    def test_sending_an_open_intent_again_is_found(self):
        self.find("SEND_AGAIN", promise="(n!=sent)")


if __name__ == "__main__":
    main()
