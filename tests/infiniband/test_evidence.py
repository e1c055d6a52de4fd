# SPDX-License-Identifier: Apache-2.0
"""A cable takes errors, is isolated, and its evidence is made: the document is read by a parser, and compared with what the API says."""

import html.parser
import json
import os
import shutil
import subprocess
import tempfile
import urllib.request

import weft_testing
from weft_testing import fat_tree, guid_text, wait_until, weftctl, weftctl_json

SETTINGS = """
detail_interval = "1m"
[store]
history_interval = "1s"
[remedy]
isolate_link = "auto"
[remedy.limits]
reading_interval = "500ms"
stale_intervals = 20
[remedy.limits.capacity]
leaf_share_idle = 0.75
[remedy.limits.budget]
cool_down = "0s"
[remedy.limits.verification]
windows = 3
within = "40s"
"""
LINK = ("spine-p02-03", 9)
PATIENCE = 90


class Document(html.parser.HTMLParser):
    """The text of each section by its id, rows of its tables, and what a browser would load."""

    def __init__(self, text: str):
        super().__init__()
        self.text: dict[str, str] = {"": ""}
        self.rows: dict[str, list[list[str]]] = {}
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.charts: list[str] = []
        self.gaps = 0
        self._section = ""
        self._open: list[str] = []
        self._in_cell = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.loads += [f"{tag} {name}={value}" for name, value in attrs if name in ("src", "href", "data", "action") and not value.startswith("#")]
        if tag == "section":
            self._section = given["id"]
            self._in_cell = False
            self.text[self._section] = ""
        if tag == "svg":
            self.charts.append(given["aria-label"])
        if tag == "rect" and given.get("class") == "gap":
            self.gaps += 1
        if tag == "tr":
            self.rows.setdefault(self._section, []).append([])
            self._in_cell = False
        if tag in ("td", "th"):
            self.rows[self._section][-1].append("")
            self._in_cell = True
        if tag in ("td", "th", "br"):
            self.text[self._section] += " "

    def handle_endtag(self, tag):
        if tag in ("td", "th", "table", "section"):  # cells need no end tag of their own
            self._in_cell = False

    def handle_data(self, data):
        self.text[self._section] += data
        if self._in_cell:
            self.rows[self._section][-1][-1] += data


class Evidence(weft_testing.LayeredSubnetTest):
    analyzer = 'error_window_minimum = "2s"'
    infiniband = SETTINGS

    @classmethod
    def make_network(cls):
        return fat_tree.build(144, rails=1, levels=3, radix=12)

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="weft-evidence-")
        self.addCleanup(shutil.rmtree, self.folder)

    def ends(self) -> list[tuple[str, int]]:
        far = self.network.find(LINK[0]).ports[LINK[1]]
        return [LINK, (self.network.nodes[far.node].name, far.port)]

    def plans(self) -> list[dict]:
        return weftctl_json(self.weftd, "plans", "--all").get("plans", [])

    def isolated(self) -> tuple[dict, dict]:
        """The incident and its plan, after errors at both ends."""
        errors = 0

        def is_done():
            nonlocal errors
            for plan in self.plans():
                if plan["action"] == "ISOLATE_LINK" and plan["state"] not in ("PROPOSED", "APPROVED", "EXECUTING", "VERIFYING"):
                    return plan
            if not any(plan["state"] in ("EXECUTING", "VERIFYING") for plan in self.plans()):
                errors = min(60_000, errors + 20_000)
                for name, number in self.ends():
                    self.subnet.set_counter(name, number, "PortCounters.SymbolErrorCounter", errors)
                self.weftd.wait_sweeps(1)
            return None

        plan = wait_until(is_done, PATIENCE, why=lambda: f"it is not isolated: {self.plans()}\n{self.weftd.log()}")
        self.assertEqual("COMMITTED", plan["state"], (plan["outcome"], plan["steps"]))
        return self.weftd.client.json(f"/api/v1/incidents/{plan['incidentId']}"), plan

    def write(self, *arguments: str) -> tuple[subprocess.CompletedProcess, str, dict]:
        """What the command said, the document and the data."""
        done = weftctl(self.weftd, "evidence", *arguments)
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        page, data = (line.partition(": ")[0] for line in done.stdout.splitlines()[:2])
        with open(page, encoding="utf-8") as stream:
            document = stream.read()
        with open(data, encoding="utf-8") as stream:
            return done, document, json.load(stream)

    def test_a_cable_that_was_isolated_has_its_evidence(self):
        incident, plan = self.isolated()
        folder = os.path.join(self.folder, "case-1")
        done, text, data = self.write(incident["id"], "-o", folder)
        self.assertEqual([f"weft-{incident['id']}.html", f"weft-{incident['id']}.json"], sorted(os.listdir(folder)))
        self.assertIn("Names of jobs and of people, and what people wrote, are not in it; --with-jobs puts them in.", done.stdout)
        for sentence in data["unknown"]:
            self.assertIn(sentence[:40], done.stdout)

        # The same as the API says.
        self.assertEqual(incident["id"], data["incident"]["id"])
        self.assertEqual(incident["opened"], data["incident"]["opened"])
        self.assertEqual(incident["evidence"][0]["signal"], data["incident"]["evidence"][0]["signal"])
        self.assertEqual([plan["id"]], [each["id"] for each in data["plans"]])
        self.assertEqual(plan["outcome"], data["plans"][0]["outcome"])
        self.assertEqual({(guid_text(self.network.find(name).guid), port) for name, port in self.ends()},
                         {(each["port"]["nodeGuid"], each["port"]["port"]) for each in data["ports"]})
        for each in data["ports"]:
            told = self.weftd.client.json(f"/api/v1/ports?node={each['port']['nodeGuid']}")["ports"]
            now = next(port for port in told if port["port"] == each["port"]["port"])
            counted = {counter["name"]: int(counter["value"]) for counter in each["port"]["counters"]}
            self.assertGreaterEqual({counter["name"]: int(counter["value"]) for counter in now["counters"]}["symbol_errors"], counted["symbol_errors"])
            self.assertGreaterEqual(counted["symbol_errors"], 20_000)
            moved = next(counter for counter in each["history"]["counters"] if counter["counter"] == "symbol_errors")
            self.assertEqual(counted["symbol_errors"], int(moved["total"]))
            self.assertLess(len(each["readBucket"]), data["chartsBuckets"], "before weftd was started nothing was read")
        self.assertIn("analyzer.error_rate_limit", [each["key"] for each in data["thresholds"]])
        changed = next(each for each in data["thresholds"] if each["key"] == "analyzer.error_window_minimum")
        self.assertEqual(('"2s"', '"10s"'), (changed["value"], changed["defaultValue"]))
        self.assertNotIn("html", [key for key, value in data.items() if value])

        # And so does the document.
        page = Document(text)
        self.assertEqual([], page.loads)
        self.assertFalse({"script", "img", "link", "iframe", "object", "form"} & set(page.tags))
        self.assertIn(data["incident"]["summary"], page.text["incident"])
        for name, port in self.ends():
            self.assertIn(guid_text(self.network.find(name).guid), page.text["ends"])
            self.assertTrue(any(chart.startswith(f"Symbol errors of {name} port {port}: ") for chart in page.charts), page.charts)
        self.assertGreaterEqual(page.gaps, 2)
        for fact in data["incident"]["evidence"]:
            self.assertIn(fact["description"], page.text["evidence"])
        self.assertIn(plan["id"], page.text["tried"])
        for step in data["plans"][0]["steps"]:
            self.assertIn(step["what"], page.text["tried"])
        counters = {row[0]: [cell.strip() for cell in row[2:]] for row in page.rows["counters"]}
        self.assertEqual([f"{int(value):,}" for each in data["ports"] for value in
                          (counter["value"] for counter in each["port"]["counters"] if counter["name"] == "symbol_errors")], counters["symbol_errors"])
        self.assertIn(incident["id"], page.text["marks"])
        self.assertIn("Opened", page.text["incident"])
        self.assertEqual(len(data["timeline"]["events"]), len(page.rows["timeline"]) - 1)
        self.assertIn("clean the connectors", page.text["runbook"])
        self.assertIn("set here; the default is", page.text["thresholds"])
        for sentence in data["unknown"]:
            self.assertIn(sentence, page.text["unknown"])
        self.assertIn("part number", page.text["unknown"])

        # A browser gets the same file.
        with urllib.request.urlopen(f"http://{self.weftd.http}/api/v1/incidents/{incident['id']}/evidence", timeout=30) as answer:
            self.assertEqual(f'attachment; filename="weft-{incident["id"]}.html"', answer.headers["Content-Disposition"])
            self.assertEqual("text/html; charset=utf-8", answer.headers["Content-Type"])
            served = Document(answer.read().decode())
        self.assertEqual(page.text["ends"].split("Errors per bit now")[0], served.text["ends"].split("Errors per bit now")[0])
        told = self.weftd.client.json(f"/api/v1/incidents/{incident['id']}/evidence?format=json")
        self.assertEqual(data.keys(), told.keys())
        self.assertEqual(data["incident"]["evidence"], told["incident"]["evidence"])

        # Both are made in one place: but for the time, and what was read meanwhile, byte by byte the same.
        with urllib.request.urlopen(f"http://{self.weftd.http}/api/v1/incidents/{incident['id']}/evidence", timeout=30) as answer:
            again = answer.read().decode()
        for part in ("incident", "evidence", "tried", "thresholds", "runbook"):
            begin = f'<section id="{part}">'
            self.assertEqual(text.partition(begin)[2].partition("</section>")[0], again.partition(begin)[2].partition("</section>")[0], part)

        # What is there already is left alone, unless it is to be replaced.
        again = weftctl(self.weftd, "evidence", incident["id"], "-o", folder)
        self.assertEqual((2, ""), (again.returncode, again.stdout))
        self.assertIn("is there already", again.stderr)
        self.assertEqual(2, len(os.listdir(folder)))
        with open(os.path.join(folder, f"weft-{incident['id']}.html"), "w", encoding="utf-8") as stream:
            stream.write("old")
        _, newer, _ = self.write(incident["id"], "-o", folder, "--force")
        self.assertIn(f"<h1>{incident['id']}", newer)
        self.assertEqual([f"weft-{incident['id']}.html", f"weft-{incident['id']}.json"], sorted(os.listdir(folder)))
        self.worst_is_told(incident)

    def worst_is_told(self, incident: dict):
        """The cable and its ends are the worst of that time, wherever one asks."""
        told = self.weftd.client.json("/api/v1/worst")["things"]
        self.assertEqual(incident["cause"]["label"], told[0]["what"]["label"])
        self.assertIn(incident["id"], told[0]["incidentIds"])
        self.assertGreater(float(told[0]["harmHours"]), 0)
        self.assertEqual([each["what"]["identity"] for each in told], [each["what"]["identity"] for each in weftctl_json(self.weftd, "worst")["things"]])
        names = {name for name, _ in self.ends()} & {switch.name for switch in self.network.switches}
        switches = {each["what"]["label"] for each in weftctl_json(self.weftd, "worst", "switches", "--by", "times", "--last", "1h")["things"]}
        self.assertLessEqual(names, switches, "a link counts for the switches at both its ends")
        done = weftctl(self.weftd, "worst", "modules")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn("none of modules is known there", done.stdout, "nobody reads the modules of an InfiniBand switch")
        for wrong, words in (("people", "people not in"), ("--by=beauty", "beauty not in"), ("--last=soon", "--last needs")):
            done = weftctl(self.weftd, "worst", wrong)
            self.assertEqual((2, ""), (done.returncode, done.stdout), wrong)
            self.assertIn(words, done.stderr)

    def test_without_an_incident_a_port_and_a_node_have_theirs(self):
        wait_until(lambda: weftctl(self.weftd, "history", LINK[0]).returncode == 0, 30, why="there is no history")
        name, port = LINK
        _, text, data = self.write(name, str(port), "-o", self.folder, "--last", "1h")
        self.assertEqual([f"{end} port {number}" for end, number in self.ends()], [each["label"] for each in data["ports"]])
        self.assertEqual(f"{name} port {port}", data["title"])
        self.assertNotIn("incident", Document(text).text)
        _, text, data = self.write(name, "-o", self.folder, "--last", "1h")
        self.assertEqual(len(self.network.find(name).ports), len(data["ports"]))
        self.assertIn(guid_text(self.network.find(name).guid), Document(text).text["ends"])
        told = self.weftd.client.json(f"/api/v1/ports/{name}/{port}/evidence?format=json")
        self.assertEqual(2, len(told["ports"]))

    def test_what_people_wrote_is_in_it_only_where_it_is_asked_for(self):
        done = weftctl(self.weftd, "maintenance", "add", f"{LINK[0]} port {LINK[1]}", "--for", "1h", "--reason", "customer Fuchsia moves out", "--who", "ann")
        self.assertEqual(0, done.returncode, done.stderr)
        window = weftctl_json(self.weftd, "maintenance")["windows"][0]["id"]
        self.addCleanup(weftctl, self.weftd, "maintenance", "end", window)
        for flags, is_in in (((), False), (("--with-jobs",), True)):
            folder = os.path.join(self.folder, str(is_in))
            done, text, data = self.write(f"{LINK[0]}:{LINK[1]}", "-o", folder, *flags)
            self.assertEqual(1, len(data["maintenance"]))
            for secret in ("Fuchsia", "ann"):
                self.assertEqual(is_in, secret in json.dumps(data["maintenance"]), secret)
            self.assertEqual(is_in, "Fuchsia" in text)
            self.assertIn("ARE in it (--with-jobs): not for a vendor" if is_in else "are not in it", done.stdout)

    def test_what_goes_wrong_is_said_and_leaves_nothing(self):
        wait_until(lambda: weftctl(self.weftd, "history", LINK[0]).returncode == 0, 30, why="there is no history")
        taken = os.path.join(self.folder, "taken")
        with open(taken, "w", encoding="utf-8"):
            pass
        new = os.path.join(self.folder, "new")
        for arguments, code, words in ((("INC-999999",), 1, "no incident INC-999999"), (("nobody",), 1, "unknown node or port nobody"),
                                       ((LINK[0], "99"), 1, "unknown node or port"), (("INC-1", "--last", "2h"), 2, "are for a node or port"),
                                       ((LINK[0], "--last", "soon"), 2, "--last needs"), ((), 2, "ABOUT")):
            with self.subTest(arguments):
                done = weftctl(self.weftd, "evidence", *arguments, "-o", new)
                self.assertEqual((code, ""), (done.returncode, done.stdout), done.stderr)
                self.assertIn(words, done.stderr)
                self.assertFalse(os.path.exists(new))
        done = weftctl(self.weftd, "evidence", LINK[0], "-o", taken)
        self.assertEqual((2, ""), (done.returncode, done.stdout), done.stderr)
        self.assertIn("taken is no folder", done.stderr)
        small = os.path.join(self.folder, "small")
        os.mkdir(small)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("only root can make a disk that is full")
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        done = weftctl(self.weftd, "evidence", LINK[0], "-o", small)
        self.assertEqual((1, ""), (done.returncode, done.stdout), done.stderr)
        self.assertIn("cannot be written: No space left on device", done.stderr)
        self.assertEqual([], os.listdir(small))


if __name__ == "__main__":
    weft_testing.main()
