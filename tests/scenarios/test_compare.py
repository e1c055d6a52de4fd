#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""compare: each kind of difference between two runs is told, and what is no run is refused with a message."""

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPARE = Path(__file__).resolve().parent / "compare"
RUN = {"seeds": "1-4", "all": {"group": "all", "recall": 0.9, "median": None},
       "groups": [{"group": "quiet", "false_alarms": 1}, {"group": "quiet_day", "false_alarms": 0}],
       "wrong": [{"name": "quiet/3", "seed": 3, "false_alarms": [{"kind": "LINK_DOWN", "expected": True}]},
                 {"name": "quiet_day/4", "seed": 4, "misjudged": []}]}


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weft-compare-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.after = copy.deepcopy(RUN)

    def run_compare(self, before, after):
        for name, run in (("before", before), ("after", after)):
            (self.root / name).write_text(run if isinstance(run, str) else json.dumps(run), encoding="utf-8")
        return subprocess.run([sys.executable, str(COMPARE), str(self.root / "before"), str(self.root / "after")], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_differs(self, *parts, before=None):
        done = self.run_compare(before or RUN, self.after)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stdout)

    def assert_refused(self, run, part):
        for before, after in ((run, RUN), (RUN, run)):
            done = self.run_compare(before, after)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(part, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_the_same(self):
        self.after["wrong"][0]["summary"] = "said otherwise"
        done = self.run_compare(RUN, self.after)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 differences", done.stdout)

    def test_misjudged_are_counted_by_their_group(self):
        done = self.run_compare(RUN, RUN)
        self.assertIn("| quiet | the same | 1 | 1 |", done.stdout)
        self.assertIn("| quiet_day | the same | 1 | 1 |", done.stdout)

    def test_figure(self):
        self.after["groups"][0]["false_alarms"] = 2
        self.assert_differs("quiet.false_alarms: 1 -> 2", "1 differences")

    def test_seeds(self):
        self.after["seeds"] = "5-8"
        self.assert_differs("different seeds", "1 differences")

    def test_null_is_not_missing(self):
        del self.after["all"]["median"]
        self.assert_differs("all.median: null -> missing")

    def test_true_is_not_one(self):
        self.after["wrong"][0]["false_alarms"][0]["expected"] = 1
        self.assert_differs("quiet/3 (seed 3)")

    def test_second_entry_of_a_name(self):
        second = {"name": "quiet/3", "seed": 3, "misjudged": ["CONGESTION"]}
        self.after["wrong"].append(second)
        self.assert_differs("CONGESTION")
        self.after["wrong"] = [second, *RUN["wrong"]]
        self.assert_differs("quiet/3 (seed 3)", before={**RUN, "wrong": [RUN["wrong"][0], *RUN["wrong"]]})

    def test_entry_that_is_gone(self):
        del self.after["wrong"][1], self.after["groups"][1]
        self.assert_differs("quiet_day/4 (seed 4)", "quiet_day: {")

    def test_nothing_to_compare(self):
        done = self.run_compare({"all": {}}, {"all": {}})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("nothing compared", done.stderr)

    def test_what_is_no_run(self):
        self.assert_refused("{", "write it with tests/scenarios/run --json")
        self.assert_refused([], "it is no object")
        self.assert_refused({"seeds": "1-4"}, "it has no object 'all'")
        self.assert_refused({**RUN, "all": 7}, "it has no object 'all'")
        self.assert_refused({**RUN, "groups": {}}, "'groups' is no list")
        self.assert_refused({**RUN, "groups": [{"group": 1}]}, "'groups' lacks 'group'")
        self.assert_refused({**RUN, "wrong": [{"name": "quiet/3"}]}, "'wrong' lacks 'seed'")
        self.assert_refused({**RUN, "wrong": [{"name": "quiet/3", "seed": "3"}]}, "'wrong' lacks 'seed'")
        self.assert_refused({**RUN, "wrong": ["quiet/3"]}, "'wrong' lacks 'name'")


if __name__ == "__main__":
    unittest.main()
