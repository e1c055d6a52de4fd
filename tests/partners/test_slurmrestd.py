# SPDX-License-Identifier: Apache-2.0
"""Slurm over slurmrestd's API v0.0.39, shown on a stand-in."""

import os
import shutil
import tempfile
import unittest

from partners_testing import Partner, main
from slurmrestd_stand_in import ROOT, SlurmrestdStandIn

MARK = "weft PLAN-7 INC-17: adapter mlx5_0 is dead"


class Slurmrestd(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-slurmrestd-")
        self.addCleanup(shutil.rmtree, self.place)
        self.slurm = SlurmrestdStandIn({"n1": "dgx-01", "n2": "dgx-02.example.org"})
        self.addCleanup(self.slurm.stop)
        self.token = os.path.join(self.place, "token")
        self.write_token("token\n")
        self.partner = Partner("slurm", rest_url=self.slurm.url, rest_user="weft", rest_token_file=self.token, timeout=5)

    def write_token(self, text: str, mode: int = 0o600) -> None:
        with open(self.token, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(self.token, mode)

    def posts(self) -> list[dict]:
        return [body for method, _, body in self.slurm.requests if method == "POST"]

    def refused(self, answer: dict, code: str = "failed_precondition") -> None:
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["code"], code, answer)

    def test_a_node_is_drained_once_and_given_back(self):
        self.assertEqual(self.partner.dry_run("dgx-01", "DRAIN_NODE")["would"],
                         f'POST {self.slurm.url}{ROOT}/node/n1 {{"reason":"{MARK}","state":["DRAIN"]}}')
        for _ in range(2):
            self.assertTrue(self.partner.drain("dgx-01")["ok"])
        self.assertEqual(self.posts(), [{"state": ["DRAIN"], "reason": MARK}])
        self.assertEqual(self.partner.observe("dgx-01")["state"], "ours")
        self.assertTrue(self.partner.undrain("dgx-01")["ok"])
        self.assertEqual(self.posts()[1:], [{"state": ["UNDRAIN"]}])
        self.assertEqual(self.partner.observe("dgx-01")["state"], "clear")

    def test_what_others_drained_is_left_alone(self):
        self.slurm.drain("n2", "fan", "eve")
        self.assertEqual(self.partner.observe("dgx-02")["state"], "foreign")
        self.refused(self.partner.drain("dgx-02"))
        self.refused(self.partner.undrain("dgx-02"))
        self.slurm.drain("n2", MARK, "eve")  # she took our words
        self.refused(self.partner.undrain("dgx-02"))
        self.assertEqual(self.posts(), [])

    def test_an_order_whose_time_is_over_is_not_sent(self):
        """Another weftd leads by then. The time ends while the nodes are read, and had ended before."""
        for left, takes in ((1, 0.8), (0, 0)):
            self.slurm.reading_takes = takes
            answer = self.partner.drain("dgx-01", epoch=4, permit=left)
            self.refused(answer)
            self.assertIn("nothing was sent", answer["message"])
        self.assertEqual(self.posts(), [])

    def test_names_tokens_and_versions_that_are_wrong(self):
        self.refused(self.partner.drain("dgx-03"), "not_found")
        self.write_token("old token")
        self.refused(self.partner.drain("dgx-01"), "unavailable")
        self.write_token("token", 0o644)
        self.refused(self.partner.drain("dgx-01"))
        self.refused(Partner("slurm", rest_url=self.slurm.url, rest_version="v0.0.38").drain("dgx-01"), "invalid_argument")
        self.write_token("token")
        newer = dict(self.partner.options, rest_version="v0.0.41")
        self.refused(Partner("slurm", **newer).drain("dgx-01"))
        self.assertEqual(self.posts(), [])

    def test_one_that_is_not_there_is_unavailable(self):
        self.slurm.stop()
        self.refused(self.partner.drain("dgx-01"), "unavailable")
        self.slurm = SlurmrestdStandIn({})


if __name__ == "__main__":
    main()
