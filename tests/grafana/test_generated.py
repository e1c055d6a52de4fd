# SPDX-License-Identifier: Apache-2.0
"""The dashboards that are checked in are what their sources make, are as Grafana's published types say, and lead somewhere."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import dashboards  # noqa: E402
import node_packages  # noqa: E402
import program_testing  # noqa: E402
import yaml  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()



class Generated(unittest.TestCase):
    def test_they_are_what_their_sources_make(self):
        modules = node_packages.modules(dashboards.FOLDER)
        with tempfile.TemporaryDirectory(prefix="weft-dashboards-") as place:
            done = node_packages.run(os.path.join(dashboards.FOLDER, "generate.mjs"), modules, place)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(sorted(os.listdir(place)), [os.path.basename(path) for path in dashboards.paths()])
            for path in dashboards.paths():
                self.assertEqual(read(os.path.join(place, os.path.basename(path))), read(path),
                                 f"{os.path.basename(path)} is not what dashboards/grafana/src makes: run dashboards/grafana/generate")

    def test_they_are_as_the_published_types_say(self):
        modules = node_packages.modules(HERE)
        done = node_packages.run(os.path.join(HERE, "validate.mjs"), modules, *dashboards.paths())
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"^7 dashboards, \d+ panels, 0 faults$")

    def test_the_check_finds_faults(self):
        modules = node_packages.modules(HERE)
        broken = json.loads(read(dashboards.paths()[0]))
        graph = next(panel for panel in broken["panels"] if panel["type"] == "timeseries")
        graph["fieldConfig"]["defaults"]["custom"]["lineWitdh"] = 3
        graph["targets"][0]["legend"] = "x"
        broken["refresh"] = 15
        with tempfile.NamedTemporaryFile("w", suffix=".json") as stream:
            json.dump(broken, stream)
            stream.flush()
            done = node_packages.run(os.path.join(HERE, "validate.mjs"), modules, stream.name)
        self.assertEqual(1, done.returncode)
        for fault in ("lineWitdh", '"legend"', "/refresh must be string"):
            self.assertIn(fault, done.stdout)


class Linked(unittest.TestCase):
    def test_each_has_its_own_name_and_every_link_leads_to_one(self):
        known = dashboards.load()
        self.assertEqual(7, len(known))
        self.assertEqual(7, len({one["title"] for one in known.values()}))
        for uid, one in known.items():
            text = json.dumps(one)
            self.assertTrue(set(re.findall(r"/d/([a-z-]+)", text)) <= set(known), uid)
            # Variables that a link sets are there at its end.
            for target, variable in re.findall(r"/d/([a-z-]+)\?var-(\w+)=", text):
                self.assertIn(variable, {entry["name"] for entry in known[target]["templating"]["list"]})
            identities = [panel["id"] for panel in dashboards.panels(one)]
            self.assertEqual(len(identities), len(set(identities)))

    def test_incidents_lead_to_the_page_of_weft(self):
        leading = [uid for uid, one in dashboards.load().items() if "/#/incident/${__data.fields.incident}" in json.dumps(one)]
        self.assertGreaterEqual(len(leading), 5)
        route = os.path.join(ROOT, "dashboards", "web", "src", "route.ts")
        if os.path.exists(route):
            self.assertIn("`#/incident/${id}`", read(route))

    def test_every_panel_says_what_it_shows(self):
        self.assertEqual([], [(uid, panel["title"]) for uid, one in dashboards.load().items() for panel in dashboards.panels(one)
                              if not panel.get("description") or not dashboards.queries(panel)])

    def test_provisioning_names_what_is_there(self):
        provider, = yaml.safe_load(read(os.path.join(ROOT, "deploy", "grafana", "provisioning", "dashboards", "weft.yaml")))["providers"]
        source, = yaml.safe_load(read(os.path.join(ROOT, "deploy", "grafana", "provisioning", "datasources", "weft.yaml")))["datasources"]
        self.assertEqual(("file", "prometheus"), (provider["type"], source["type"]))
        scrape = yaml.safe_load(read(os.path.join(ROOT, "deploy", "prometheus", "prometheus.yml")))["global"]["scrape_interval"]
        self.assertEqual(scrape, source["jsonData"]["timeInterval"])


class Shell(unittest.TestCase):
    def test_generate_says_what_is_wrong(self):
        done = subprocess.run([os.path.join(ROOT, "dashboards", "npm-packages"), "/nowhere"], capture_output=True, text=True, check=False)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("/nowhere", done.stderr)


if __name__ == "__main__":
    program_testing.main()
