# SPDX-License-Identifier: Apache-2.0
"""The dashboards in use, with a real Prometheus that scrapes a real weftd in trouble: every query of every panel has an answer, and
time series are drawn with Grafana's own components. Not proven: Grafana's import, its variables and its transformations."""

import json
import os
import re
import tempfile
import time

import scenario
import dashboards
import node_packages
from prometheus_stack import which
from weft_client import Answer
from weft_testing import BUILD, main, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))

# Empty under this scenario, and why that is no fault of the query.
MAY_BE_EMPTY = {
    ("weft-congestion", "Wait by virtual lane"): "ibsim counts no waits by virtual lane",
    ("weft-links", "Uncorrectable FEC blocks", "B"): "ibsim has no counters of forward error correction",
    ("weft-links", "Corrected FEC blocks", "B"): "ibsim has no counters of forward error correction",
    ("weft-self", "Actions of remedies"): "nothing is approved, so no plan ends",
}
# Empty while all nodes are chosen.
OF_CHOSEN = {("weft-links", "Ports and their cables")}

# Labels that a series has where there is something to say: a host's incident has no subnet, a swept port no device.
OPTIONAL = {"device", "netdev", "driver", "firmware", "host", "subnet"}


class InUse(scenario.Trouble):
    @classmethod
    def setUpClass(cls):
        if not which("prometheus"):
            raise scenario.weft_testing.unittest.SkipTest("not installed: prometheus")
        cls.begun = time.time()
        super().setUpClass()

    def ask(self, kind: str, expression: str) -> list[dict]:
        """Series with at least one value."""
        if kind == "instant":
            return self.prometheus.query(expression)
        now = time.time()
        return self.prometheus.asked("/api/v1/query_range", query=expression, start=now - dashboards.RANGE, end=now, step=dashboards.STEP)["result"]

    def trouble_with(self, dashboard: dict, by_name: bool) -> list[str]:
        """One line for each query that errs, is empty, or has not the labels that its panel shows. `by_name`: with each value chosen, else with all."""
        variables = dashboards.Variables({})
        found = [f"variable {name} has no values" for name in variables.choose(self.prometheus, dashboard, {"host": "gpu-0001", "job_id": scenario.JOB}, by_name)]
        for annotation in dashboard["annotations"]["list"]:
            if "target" in annotation and not self.ask("range", variables.put_in(annotation["target"]["expr"])):
                found.append(f"annotation {annotation['name']} is empty")
        for panel in dashboards.panels(dashboard):
            labels, tables = set(), dashboards.columns(panel)
            for query in dashboards.queries(panel):
                where = (dashboard["uid"], panel["title"])
                try:
                    series = self.ask("instant" if query.get("instant") else "range", variables.put_in(query["expr"]))
                except Answer as error:
                    found.append(f"{where} {query['refId']}: {error}")
                    continue
                if not series and not by_name and where in OF_CHOSEN:
                    continue
                if not series and where not in MAY_BE_EMPTY and (*where, query["refId"]) not in MAY_BE_EMPTY:
                    found.append(f"{where} {query['refId']}: empty: {variables.put_in(query['expr'])}")
                here = {label for one in series for label in one["metric"]}
                labels |= here
                if series and (missing := dashboards.labels_in_legend(query) - here - {"device", "port"}):
                    found.append(f"{where} {query['refId']}: no label {missing}")
            if labels and (missing := tables - labels - OPTIONAL):
                found.append(f"{where}: no columns {missing}")
        return found

    def test_every_query_of_every_panel_has_an_answer(self):
        trouble = {(uid, by_name): ["not asked yet"] for uid in dashboards.load() for by_name in (False, True)}

        def are_well():
            for uid, dashboard in dashboards.load().items():
                for by_name in (False, True):
                    if trouble[uid, by_name]:
                        trouble[uid, by_name] = self.trouble_with(dashboard, by_name)
            return not any(trouble.values())

        try:
            wait_until(are_well, 90, every=2)
        except AssertionError:
            pass
        for (uid, by_name), found in trouble.items():
            with self.subTest(uid, by_name=by_name):
                self.assertEqual([], found, "\n".join(found))

    def test_all_are_of_what_is_recorded_and_chosen_ones_of_their_ports(self):
        """A query for both choices (allOrChosen in parts.ts) gives the worst of all nodes, or those of the chosen one and no others."""
        answered = set()
        for uid, dashboard in dashboards.load().items():
            variables = dashboards.Variables({})
            variables.choose(self.prometheus, dashboard, {})
            for panel in dashboards.panels(dashboard):
                for query in dashboards.queries(panel):
                    found = re.search(r'weft_all=~"\$(\w+)"', query["expr"])
                    if not found:
                        continue
                    with self.subTest(uid, panel=panel["title"]):
                        kind = "instant" if query.get("instant") else "range"

                        def ask(value, query=query, kind=kind, name=found[1]):
                            variables.values[name] = value
                            return self.ask(kind, variables.put_in(query["expr"]))

                        if {(uid, panel["title"]), (uid, panel["title"], query["refId"])} & set(MAY_BE_EMPTY):
                            self.assertEqual([], ask(dashboards.AllValue(".*")))
                            continue
                        whole = wait_until(lambda: ask(dashboards.AllValue(".*")), 60, why=f"empty: {query['expr']}")
                        names = {one["metric"]["__name__"] for one in whole if "__name__" in one["metric"]}
                        self.assertTrue(all(name.startswith("weft:") for name in names), names)
                        node = whole[0]["metric"]["node"]
                        chosen = wait_until(lambda: ask([node]), 60, why=f"empty of {node}: {query['expr']}")
                        self.assertEqual({node}, {one["metric"]["node"] for one in chosen})
                        names = {one["metric"]["__name__"] for one in chosen if "__name__" in one["metric"]}
                        self.assertFalse(any(name.startswith("weft:") for name in names), names)
                        answered.add((uid, panel["title"]))
        self.assertGreater(len(answered), 12)

    def test_what_may_be_empty_is_there(self):
        known = {(uid, panel["title"]) for uid, dashboard in dashboards.load().items() for panel in dashboards.panels(dashboard)}
        self.assertEqual(set(), {entry[:2] for entry in [*MAY_BE_EMPTY, *OF_CHOSEN]} - known)

    # -- pictures

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
        if not which("chromium"):
            self.skipTest("not installed: chromium")
        modules = node_packages.modules(HERE)
        results = os.environ.get("WEFT_TEST_RESULTS") or os.path.join(BUILD, "results-grafana")
        folder = os.path.join(results, "pictures")
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="weft-pictures-") as place:
            bundled = node_packages.run(os.path.join(HERE, "render", "bundle.mjs"), modules, place)
            self.assertEqual(0, bundled.returncode, bundled.stderr)
            # Something to see from edge to edge.
            wait_until(lambda: time.time() - self.begun > dashboards.RANGE - 5, why="time stands still")
            now = int(time.time())
            asked = {"prometheus": self.prometheus.client.base, "range": [now - dashboards.RANGE, now], "step": dashboards.STEP, "folder": folder,
                     "dashboards": [self.time_series(one) for one in dashboards.load().values()]}
            shot = node_packages.run(os.path.join(HERE, "render", "shoot.mjs"), modules, os.path.join(place, "page.html"), text=json.dumps(asked))
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
