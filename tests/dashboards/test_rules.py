# SPDX-License-Identifier: Apache-2.0
"""The rules for Prometheus and the runbooks: whole, tested, and about metrics that there are."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import program_testing  # noqa: E402

PROMETHEUS = os.path.join(ROOT, "dashboards", "prometheus")
RUNBOOKS = os.path.join(ROOT, "dashboards", "runbooks")


def text_of(*parts: str) -> str:
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as stream:
        return stream.read()


def rules() -> list[dict]:
    return [rule for group in yaml.safe_load(text_of("dashboards", "prometheus", "weft.rules.yml"))["groups"] for rule in group["rules"]]


def sources(*folders: str) -> str:
    texts = []
    for folder in folders:
        for place, _, names in os.walk(os.path.join(ROOT, folder)):
            texts += [text_of(place, name) for name in names if name.endswith((".cpp", ".hpp"))]
    return "\n".join(texts)


def seconds(text: str) -> float:
    """Of "1m15s"."""
    return sum(float(number) * {"s": 1, "m": 60, "h": 3600}[unit] for number, unit in re.findall(r"([0-9.]+)([smh])", str(text)))


class Rules(unittest.TestCase):
    def promtool(self, *arguments: str):
        done = subprocess.run(["promtool", *arguments], cwd=PROMETHEUS, capture_output=True, text=True, timeout=500, check=False)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_promtool_accepts_them(self):
        self.promtool("check", "rules", "weft.rules.yml")

    def test_alerts_fire_stay_quiet_and_end(self):
        self.promtool("test", "rules", "weft.rules.test.yml")

    def test_what_is_recorded_of_ports_is_bounded(self):
        """Of 300 ports that wait, of 30 switches: the hundred worst, and all ports of the twenty worst switches. Of 150 that go down
        and 150 that come up at once: two hundred, first those that went down, and for six hours."""
        series = []
        for port in range(300):
            labels = f'job="weft", instance="a", node="leaf-{port // 10}", guid="{port // 10}", port="{port % 10}"'
            series += [{"series": f'weft_port_info{{{labels}, subnet="ib0", node_type="switch"}}', "values": "1x6"},
                       {"series": f"weft_link_stall_ratio{{{labels}}}", "values": f"{(port + 1) / 1000:g}x6"},
                       {"series": f"weft_port_up{{{labels}}}", "values": "1x1 0x5" if port < 150 else "0x1 1x5"}]
        asked = [("count(weft:switch_link_stall:worst)", "5m", 100), ("min(weft:switch_link_stall:worst)", "5m", 0.201), ("count(weft:link_stall:victims)", "5m", 100),
                 ("count(weft:switch_stall:worst)", "5m", 30), ("count(weft:switch_link_stall:of_worst_switches)", "5m", 200),
                 ("min(weft:switch_link_stall:of_worst_switches)", "5m", 0.101), ("count(weft:port_up:delta2m)", "3m", 200),
                 ("count(weft:port_up:changed6h)", "5m", 200), ("count(weft:port_up:changed6h == 0)", "5m", 150)]
        went_down = [{"series": 'weft_port_up{job="weft", instance="a", node="leaf", guid="1", port="1"}', "values": "1x1 0x400"}]
        six_hours = [("count(weft:port_up:changed6h == 0)", "6h", 1), ("count(weft:port_up:changed6h) or vector(0)", "6h15m", 0)]
        test = {"rule_files": [os.path.join(PROMETHEUS, "weft.rules.yml")], "evaluation_interval": "1m", "tests": [{
            "interval": "1m", "input_series": given,
            "promql_expr_test": [{"expr": expression, "eval_time": at, "exp_samples": [{"labels": "{}", "value": value}]} for expression, at, value in expected]}
            for given, expected in ((series, asked), (went_down, six_hours))]}
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as stream:
            yaml.safe_dump(test, stream)
            stream.flush()
            self.promtool("test", "rules", stream.name)

    def test_every_alert_has_a_case_that_fires_one_that_does_not_and_one_that_ends(self):
        fires, quiet, ends = set(), set(), set()
        for case in yaml.safe_load(text_of("dashboards", "prometheus", "weft.rules.test.yml"))["tests"]:
            fired: dict[str, float] = {}
            for check in case.get("alert_rule_test", []):
                name, at = check["alertname"], seconds(check["eval_time"])
                if check.get("exp_alerts"):
                    fires.add(name)
                    fired[name] = min(at, fired.get(name, at))
                else:
                    quiet.add(name)
                    if fired.get(name, at) < at:
                        ends.add(name)
        alerts = {rule["alert"] for rule in rules() if "alert" in rule}
        self.assertEqual((alerts, alerts, alerts), (fires, quiet, ends))

    def test_every_record_has_a_case(self):
        asked = " ".join(check["expr"] for case in yaml.safe_load(text_of("dashboards", "prometheus", "weft.rules.test.yml"))["tests"]
                         for check in case.get("promql_expr_test", []))
        self.assertEqual([], [rule["record"] for rule in rules() if "record" in rule and rule["record"] not in asked])

    def test_every_metric_in_a_rule_is_one_that_weftd_has(self):
        # Port counters are named by the catalogue of counters; all others stand in the sources as they are exposed.
        known = set(re.findall(r'"(weft_[a-z_0-9]+)"', sources("api/metrics", "daemon/programs/weftd", "fabric")))
        for counter in re.findall(r'"([a-z_0-9]+)"', text_of("fabric", "counters.cpp")):
            known |= {f"weft_port_{counter}{unit}" for unit in ("_total", "_seconds_total", "", "_celsius", "_volts", "_watts", "_amperes")}
        used = {name for rule in rules() for name in re.findall(r"\bweft_[a-z_0-9]+", rule["expr"])}
        self.assertTrue(used)
        self.assertEqual(set(), used - known)

    def test_every_recorded_name_that_is_used_is_recorded(self):
        recorded = {rule["record"] for rule in rules() if "record" in rule}
        used = {name for rule in rules() for name in re.findall(r"\bweft:[a-z_0-9:]+", rule["expr"])}
        self.assertEqual(set(), used - recorded)


def left_out() -> set[str]:
    """Metrics of counters that have no series while they never moved."""
    found = set()
    for line in text_of("deploy", "guide", "reference", "counters.md").splitlines():
        cells = [cell.strip(" `") for cell in line.split("|")]
        if {"errors", "details", "rdma"} & set(cells):
            found |= {cell for cell in cells if cell.startswith("weft_")}
    return found


def needs_zero(expression: str) -> bool:
    """Whether it has such a counter, and would say zero if the counter had series, but nothing as it has none."""
    parts = re.split(r"\bor\b", expression)
    if not left_out() & set(re.findall(r"\bweft_[a-z_0-9]+", expression)):
        return False
    return len(parts) == 1 and "> 0" not in expression


class LeftOut(unittest.TestCase):
    """Absent is not zero: what asks for a counter that has no series while it never moved must mean the same without it."""

    def test_which_counters_those_are(self):
        self.assertLess({"weft_port_symbol_errors_total", "weft_rdma_errors_total", "weft_port_virtual_lane_transmit_wait_seconds_total",
                         "weft_port_pfc_pause_seconds_total"}, left_out())
        self.assertEqual(set(), {"weft_port_transmit_bytes_total", "weft_port_transmit_wait_seconds_total", "weft_port_cnp_sent_total",
                                 "weft_port_module_temperature_celsius"} & left_out())

    def test_figures_of_dashboards_say_zero(self):
        wrong, seen = [], 0
        for name in sorted(os.listdir(os.path.join(ROOT, "dashboards", "grafana"))):
            if not name.startswith("weft-"):
                continue
            for panel in json.loads(text_of("dashboards", "grafana", name))["panels"]:
                for query in panel.get("targets", []):
                    seen += bool(left_out() & set(re.findall(r"\bweft_[a-z_0-9]+", query["expr"])))
                    # A heat map has a row for each series that there is.
                    if panel["type"] != "heatmap" and needs_zero(query["expr"]):
                        wrong.append(f"{name}: {panel['title']}: {query['expr']}")
        self.assertEqual([], wrong)
        self.assertGreater(seen, 20)

    def test_no_alert_hangs_on_them(self):
        alerts = {rule["alert"]: rule["expr"] for rule in rules() if "alert" in rule}
        self.assertEqual({}, {name: text for name, text in alerts.items() if left_out() & set(re.findall(r"\bweft_[a-z_0-9]+", text))})
        # Nor on what is recorded from them.
        recorded = {rule["record"] for rule in rules() if "record" in rule and left_out() & set(re.findall(r"\bweft_[a-z_0-9]+", rule["expr"]))}
        self.assertEqual({"weft:rdma_errors:rate5m", "weft:pfc_pause:ratio5m", "weft:switch_virtual_lane_wait:worst", "weft:switch_transmit_discards:worst",
                          "weft:port_link_downed:worst", "weft:port_link_error_recovery:worst", "weft:port_symbol_errors:worst", "weft:port_receive_errors:worst",
                          "weft:port_fec_corrected_blocks:worst", "weft:port_rs_fec_correctable_blocks:worst"}, recorded)
        self.assertEqual({}, {name: text for name, text in alerts.items() if any(name_of in text for name_of in recorded)})


class Runbooks(unittest.TestCase):
    def test_every_alert_leads_to_a_page(self):
        for rule in rules():
            if "alert" not in rule:
                continue
            with self.subTest(rule["alert"]):
                copy, served = re.fullmatch(
                    r"\{\{ with \$externalLabels.weft_runbooks }}\{\{ \. }}/(.*)\.md\{\{ else }}\{\{ with \$externalLabels.weft_url }}\{\{ \. }}"
                    r"\{\{ else }}\{\{ with (?:\$labels.instance }}http://\{\{ \. }}(?:\{\{ else }}\{\{ with printf .* \| query .*}}http://\{\{ \. \| first \| label `instance` }}\{\{ end }})?|printf .* \| query .*}}http://\{\{ \. \| first \| label `instance` }})"
                    r"\{\{ end }}\{\{ end }}/runbooks/(.*)\{\{ end }}",
                    rule["annotations"]["runbook_url"]).groups()
                page, _, place = served.partition("#")
                self.assertEqual(copy, page)
                if page != "{{ $labels.kind }}":  # pages of kinds: see the test below
                    self.assertEqual(rule["alert"], place)
                    # What is rendered has a place of that name where a paragraph begins with it: dashboards/web/runbook_pages.py.
                    self.assertTrue(re.search(rf"(?m)^\*\*(Weft\w+, )*{place}\b", text_of("dashboards", "runbooks", page + ".md")),
                                    f"no paragraph of {page}.md begins with it")

    def test_every_kind_that_the_analyzer_opens_has_a_page(self):
        spelt = {}
        for name in re.findall(r'"([A-Z_]+)"', re.search(r"kKinds\{(.*?)\}", text_of("fabric", "incident.cpp"), re.S).group(1)):
            spelt["k" + "".join(part.capitalize() for part in name.split("_"))] = name
        opened = set(re.findall(r"IncidentKind::(k\w+)", sources("analyzer"))) - {"kCount"}
        self.assertGreater(len(opened), 5)
        missing = {spelt[kind] for kind in opened if not os.path.exists(os.path.join(RUNBOOKS, spelt[kind] + ".md"))}
        self.assertEqual(set(), missing)

    def test_every_page_of_a_kind_says_what_to_do(self):
        kinds = [name for name in os.listdir(RUNBOOKS) if name[:-3].isupper()]
        self.assertGreater(len(kinds), 15)
        for name in kinds:
            with self.subTest(name):
                # The incident's page shows this part in place.
                steps = re.findall(r"(?m)^\*\*What to do\*\*.*\n((?:.+\n)+)", text_of("dashboards", "runbooks", name))
                self.assertEqual(1, len(steps))
                self.assertTrue(steps[0].startswith("1. "), steps[0])

    def test_every_page_is_of_a_kind_or_one_of_two_others(self):
        kinds = set(re.findall(r'"([A-Z_]+)"', text_of("fabric", "incident.cpp")))
        pages = {name[:-3] for name in os.listdir(RUNBOOKS)}
        self.assertEqual(set(), pages - kinds - {"maintenance", "remedies", "weft-itself"})


if __name__ == "__main__":
    program_testing.main()
