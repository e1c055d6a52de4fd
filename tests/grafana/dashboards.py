# SPDX-License-Identifier: Apache-2.0
"""The dashboards as Grafana would ask them: panels, their queries, and variables put in."""

import glob
import json
import os
import re

from program_testing import ROOT

FOLDER = os.path.join(ROOT, "dashboards", "grafana")

# Times of a dashboard that is open on the last forty seconds, with Prometheus scraping each second.
TIMES = {"__rate_interval": "10s", "__interval": "2s", "__range": "40s"}
STEP = 2
RANGE = 40


def paths() -> list[str]:
    return sorted(glob.glob(os.path.join(FOLDER, "weft-*.json")))


def load() -> dict[str, dict]:
    """By uid."""
    found = {}
    for path in paths():
        with open(path, encoding="utf-8") as stream:
            one = json.load(stream)
        found[one["uid"]] = one
    return found


def panels(dashboard: dict) -> list[dict]:
    """Without rows; those of a row that is folded are in the row."""
    flat = []
    for panel in dashboard["panels"]:
        flat += panel.get("panels", []) if panel["type"] == "row" else [panel]
    return flat


def _escaped(value: str) -> str:
    """As Grafana escapes a value in a regular expression."""
    return re.sub(r"([\\^$*+?.()|\[\]{}/])", r"\\\1", value)


def _regex(values: list[str], backslash: str) -> str:
    escaped = [_escaped(value).replace("\\", backslash) for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


class AllValue(str):
    """What a dashboard has for a variable of which all are chosen: Grafana puts it in as it stands."""


class Variables:
    """Values by name: a text, or a list where several are chosen at once."""

    def __init__(self, values: dict[str, str | list[str]]):
        self.values = dict(values)

    def put_in(self, text: str) -> str:
        def value(match: re.Match) -> str:
            name, how = (match[1], match[2]) if match[1] else (match[3], None)
            if name in TIMES:
                return TIMES[name]
            if name.isdigit():  # a group of a regular expression
                return match[0]
            known = self.values[name]
            if isinstance(known, AllValue):
                return known
            if how == "regex":
                return _regex(known if isinstance(known, list) else [known], "\\")
            if how:
                raise ValueError(f"{match[0]}: a format that this does not know")
            if isinstance(known, list):  # Grafana's Prometheus data source doubles the backslashes, for it stands in quotes
                return _regex(known, "\\\\")
            return known.replace("\\", "\\\\").replace('"', '\\"')

        return re.sub(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)", value, text)

    def choose(self, prometheus, dashboard: dict, wanted: dict[str, str], by_name: bool = False) -> list[str]:
        """Asks for the values of each variable of the dashboard as Grafana does when it is opened: all of them where several may
        be chosen, else `wanted` or the first. `by_name`: as if somebody had chosen each of them. Gives the names of those that have no values."""
        empty = []
        for variable in dashboard["templating"]["list"]:
            name = variable["name"]
            if variable["type"] == "custom":
                self.values[name] = variable["current"]["value"]
            elif variable["type"] == "query":
                selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
                found = prometheus.asked(f"/api/v1/label/{label}/values", **{"match[]": self.put_in(selector)})
                if not found:
                    empty.append(name)
                if variable.get("allValue") and not by_name:
                    self.values[name] = AllValue(variable["allValue"])
                    continue
                self.values[name] = (found or ["none"]) if variable.get("multi") else wanted.get(name, (found or ["none"])[0])
                if name in wanted and found and wanted[name] not in found:
                    empty.append(f"{name}={wanted[name]}")
        return empty


def queries(panel: dict) -> list[dict]:
    return panel.get("targets", [])


def labels_in_legend(query: dict) -> set[str]:
    return set(re.findall(r"\{\{\s*(\w+)\s*\}\}", query.get("legendFormat", "")))


def columns(panel: dict) -> set[str]:
    """Labels that a table's columns are made of."""
    names = set()
    for step in panel.get("transformations", []):
        if step["id"] == "organize":
            names |= set(step["options"]["indexByName"]) - {"Value"}
        if step["id"] == "groupingToMatrix":
            names |= {step["options"]["columnField"], step["options"]["rowField"]}
    return names
