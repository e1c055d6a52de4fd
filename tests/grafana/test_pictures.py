"""The pictures: time series panels drawn with Grafana's own components and what Prometheus has of a fabric in trouble.
Not proven by it: Grafana's import, its variables and its transformations."""

import json
import os
import tempfile
import time

import scenario
import dashboards
import node_packages
from prometheus_stack import which
from weft_testing import BUILD, main, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
CHROMIUM = "/usr/bin/chromium"


class Pictures(scenario.Trouble):
    @classmethod
    def setUpClass(cls):
        for name in ("prometheus", "chromium"):
            if not which(name):
                raise scenario.weft_testing.unittest.SkipTest(f"not installed: {name}")
        cls.modules = node_packages.modules(HERE)
        cls.begun = time.time()
        super().setUpClass()

    def time_series(self, dashboard: dict) -> dict:
        """The dashboard's time series panels with variables put in."""
        variables = dashboards.Variables({})
        variables.choose(self.prometheus, dashboard, {"host": "gpu-0001", "job_id": scenario.JOB})
        panels = [panel for panel in dashboards.panels(dashboard) if panel["type"] == "timeseries"]
        for panel in panels:
            for query in dashboards.queries(panel):
                query["expr"] = variables.put_in(query["expr"])
        return {"uid": dashboard["uid"], "title": dashboard["title"], "panels": panels}

    def test_time_series_are_drawn(self):
        wait_until(lambda: time.time() - self.begun > dashboards.RANGE, why="time stands still")  # something to see from edge to edge
        results = os.environ.get("WEFT_TEST_RESULTS") or os.path.join(BUILD, "results-grafana")
        folder = os.path.join(results, "pictures")
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="weft-pictures-") as place:
            bundled = node_packages.run(os.path.join(HERE, "render", "bundle.mjs"), self.modules, place)
            self.assertEqual(0, bundled.returncode, bundled.stderr)
            now = int(time.time())
            asked = {"prometheus": self.prometheus.client.base, "range": [now - dashboards.RANGE, now], "step": dashboards.STEP, "folder": folder,
                     "dashboards": [self.time_series(one) for one in dashboards.load().values()]}
            shot = node_packages.run(os.path.join(HERE, "render", "shoot.mjs"), self.modules, os.path.join(place, "page.html"), text=json.dumps(asked))
        self.assertEqual(0, shot.returncode, shot.stderr)
        told = json.loads(shot.stdout)
        for one in asked["dashboards"]:
            with self.subTest(one["uid"]):
                drawn = told[one["uid"]]
                self.assertEqual([], drawn["errors"])
                self.assertEqual([panel["title"] for panel in one["panels"]], [panel["title"] for panel in drawn["panels"]])
                self.assertGreater(os.path.getsize(os.path.join(folder, f"{one['uid']}.png")), 20_000)
                bare = [panel["title"] for panel in drawn["panels"] if panel["coloured"] < 20 and "No data" not in panel["text"]]
                self.assertEqual([], bare, "without a line")
                self.assertGreater(sum(panel["coloured"] >= 20 for panel in drawn["panels"]), len(drawn["panels"]) * 0.7)
        print(f"    pictures are in {folder}")


if __name__ == "__main__":
    main()
