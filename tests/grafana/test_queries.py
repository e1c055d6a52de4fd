"""Every query of every panel, asked of a real Prometheus that scrapes a real weftd in trouble."""

import time

import scenario
import dashboards
from prometheus_stack import which
from weft_client import Answer
from weft_testing import main, wait_until

# Empty under this scenario, and why that is no fault of the query.
MAY_BE_EMPTY = {
    ("weft-congestion", "Wait by virtual lane"): "ibsim counts no waits by virtual lane",
    ("weft-links", "Blocks that FEC could not put right", "B"): "ibsim has no counters of forward error correction",
    ("weft-links", "Blocks that FEC put right", "B"): "ibsim has no counters of forward error correction",
    ("weft-self", "Actions of remedies"): "nothing is approved, so no plan ends",
}


# Labels that a series has where there is something to say: a host's incident has no subnet, a swept port no device.
OPTIONAL = {"device", "netdev", "driver", "firmware", "host", "subnet"}


class Queries(scenario.Trouble):
    @classmethod
    def setUpClass(cls):
        if not which("prometheus"):
            raise scenario.weft_testing.unittest.SkipTest("not installed: prometheus")
        super().setUpClass()

    def ask(self, kind: str, expression: str) -> list[dict]:
        """Series with at least one value."""
        if kind == "instant":
            return self.prometheus.query(expression)
        now = time.time()
        return self.prometheus.asked("/api/v1/query_range", query=expression, start=now - dashboards.RANGE, end=now, step=dashboards.STEP)["result"]

    def trouble_with(self, dashboard: dict) -> list[str]:
        """One line for each query that errs, is empty, or has not the labels that its panel shows."""
        variables = dashboards.Variables({})
        found = [f"variable {name} has no values" for name in variables.choose(self.prometheus, dashboard, {"host": "gpu-0001", "job_id": scenario.JOB})]
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
        trouble = {uid: ["not asked yet"] for uid in dashboards.load()}

        def are_well():
            for uid, dashboard in dashboards.load().items():
                if trouble[uid]:
                    trouble[uid] = self.trouble_with(dashboard)
            return not any(trouble.values())

        try:
            wait_until(are_well, 90, every=2)
        except AssertionError:
            pass
        for uid, found in trouble.items():
            with self.subTest(uid):
                self.assertEqual([], found, "\n".join(found))

    def test_what_may_be_empty_is_there(self):
        known = {(uid, panel["title"]) for uid, dashboard in dashboards.load().items() for panel in dashboards.panels(dashboard)}
        self.assertEqual(set(), {entry[:2] for entry in MAY_BE_EMPTY} - known)


if __name__ == "__main__":
    main()
