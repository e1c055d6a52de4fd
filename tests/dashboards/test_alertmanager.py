# SPDX-License-Identifier: Apache-2.0
"""From a cable to a pager: weftd on a simulated subnet, Prometheus with our rules, Alertmanager with our example, and a webhook."""

import datetime
import json
import os
import subprocess
import sys
import time
import unittest
import urllib.request

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", *parts) for parts in (("support",), ("infiniband",), ("pair",))]

import weft_testing  # noqa: E402
from pair_testing import WithPair  # noqa: E402
from prometheus_stack import Inbox, alertmanager, prometheus, which  # noqa: E402
from weft_testing import wait_until  # noqa: E402

PROMETHEUS = os.path.join(ROOT, "deploy", "prometheus", "prometheus.yml")
ALERTMANAGER = os.path.join(ROOT, "deploy", "alertmanager", "alertmanager.yml")

SCRAPE, EVALUATION, GROUP_WAIT = 1, 1, 1  # seconds
SLACK = 3  # of a machine that does much else


def example(path: str) -> dict:
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def quick_alertmanager(inbox: Inbox) -> str:
    """The example with short waits, sending to `inbox`."""
    made = example(ALERTMANAGER)

    def hasten(route: dict) -> None:
        for key in ("group_wait", "group_interval"):
            if key in route:
                route[key] = f"{GROUP_WAIT}s"
        for child in route.get("routes", []):
            hasten(child)

    hasten(made["route"])
    for receiver in made["receivers"]:
        for hook in receiver["webhook_configs"]:
            hook["url"] = inbox.url + "/" + hook["url"].rsplit("/", 1)[1]
    return yaml.safe_dump(made)


def quick_prometheus(alerts: str, *weftds: str) -> str:
    made = example(PROMETHEUS)
    made["global"].update(scrape_interval=f"{SCRAPE}s", scrape_timeout=f"{SCRAPE}s", evaluation_interval=f"{EVALUATION}s")
    made["scrape_configs"][0]["static_configs"][0]["targets"] = [*weftds]
    made["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [alerts]
    return yaml.safe_dump(made)


def require(*names: str) -> None:
    if missing := [name for name in names if not which(name)]:
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")


class Examples(unittest.TestCase):
    def test_amtool_and_promtool_accept_them(self):
        require("amtool", "promtool")
        for command in (["amtool", "check-config", ALERTMANAGER], ["promtool", "check", "config", "--syntax-only", PROMETHEUS]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_pages_and_tickets_go_where_they_belong(self):
        require("amtool")
        for labels, receiver in ((["incident=INC-1", "severity=page"], "pager"), (["incident=INC-1", "severity=ticket"], "tickets"),
                                 (["alertname=WeftDown", "severity=page"], "pager"), (["alertname=WeftStoreFailing", "severity=ticket"], "tickets")):
            done = subprocess.run(["amtool", "config", "routes", "test", f"--config.file={ALERTMANAGER}", *labels], capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual((receiver, 0), (done.stdout.strip(), done.returncode), f"{labels}: {done.stderr}")

    def test_the_labels_it_goes_by_are_ours(self):
        with open(os.path.join(ROOT, "api", "metrics", "incident_families.cpp"), encoding="utf-8") as stream:
            source = stream.read()
        for rule in example(ALERTMANAGER)["inhibit_rules"]:
            for label in {*rule["equal"]} - {"instance", "pair"}:  # those are of the target
                self.assertIn(f'label("{label}"', source)


class Inhibition(unittest.TestCase):
    """Alertmanager alone, given alerts as our rules make them."""

    def setUp(self):
        require("prometheus-alertmanager")
        self.inbox = Inbox()
        self.addCleanup(self.inbox.stop)
        self.alertmanager = alertmanager(quick_alertmanager(self.inbox))
        self.addCleanup(self.alertmanager.stop)

    def send(self, *alerts: dict) -> None:
        body = [{"labels": {"alertname": "WeftIncidentCritical", "severity": "page", "job": "weft", "instance": "a", "subnet": "rail", **labels}}
                for labels in alerts]
        request = urllib.request.Request(f"http://{self.alertmanager.address}/api/v2/alerts", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            self.assertEqual(200, answer.status)

    def told(self, *expected: str) -> None:
        """Incidents that were notified of, each once: these and no others."""
        wait_until(lambda: len(self.inbox.taken) >= len(expected), why=lambda: str(self.inbox.shown()))
        time.sleep(4 * GROUP_WAIT)
        self.assertEqual(sorted(expected), sorted(message["groupLabels"]["incident"] for _, _, message in self.inbox.taken),
                         self.inbox.shown())

    def test_a_dead_switch_pages_once(self):
        dead = {"kind": "SWITCH_DOWN", "entity": "node", "guid": "0x2", "node": "spine-2", "peer_guid": "0x2", "peer_node": "spine-2"}
        low = [{"incident": f"INC-{10 + n}", "kind": "LINK_DOWN", "entity": "link", "guid": f"0x{100 + n}", "port": "9", "peer_guid": "0x2",
                "peer_port": str(n)} for n in range(16)]
        high = [{"incident": f"INC-{30 + n}", "kind": "LINK_ERRORS", "entity": "link", "guid": "0x2", "port": str(n), "peer_guid": f"0x{200 + n}",
                 "peer_port": "1", "severity": "ticket"} for n in range(16)]
        elsewhere = {"incident": "INC-60", "kind": "LINK_DOWN", "entity": "link", "guid": "0x3", "port": "1", "peer_guid": "0x4", "peer_port": "1"}
        other_subnet = {"incident": "INC-61", "kind": "LINK_DOWN", "entity": "link", "guid": "0x2", "port": "1", "peer_guid": "0x4", "peer_port": "1",
                        "subnet": "other"}
        silent = {"incident": "INC-62", "kind": "TELEMETRY_LOST", "entity": "node", "guid": "0x2", "node": "spine-2", "severity": "ticket"}
        self.send({"incident": "INC-1", **dead}, *low, *high, elsewhere, other_subnet, silent)
        self.told("INC-1", "INC-60", "INC-61")

    def test_a_flapping_link_and_a_host_that_is_down_inhibit_what_follows(self):
        ends = {"entity": "link", "guid": "0x1", "port": "9", "peer_guid": "0x2", "peer_port": "3"}
        self.send({"incident": "INC-1", "kind": "LINK_FLAP", "severity": "ticket", **ends}, {"incident": "INC-2", "kind": "LINK_DOWN", **ends},
                  {"incident": "INC-3", "kind": "LINK_DOWN", **ends, "port": "10"},
                  {"incident": "INC-4", "kind": "NODE_DOWN", "entity": "node", "host": "gpu-1"},
                  {"incident": "INC-5", "kind": "RDMA_ERRORS", "entity": "host_port", "host": "gpu-1", "device": "mlx5_0", "severity": "ticket"},
                  {"incident": "INC-6", "kind": "RDMA_ERRORS", "entity": "host_port", "host": "gpu-2", "device": "mlx5_0", "severity": "ticket"})
        self.told("INC-1", "INC-3", "INC-4", "INC-6")


class FromCableToPager(weft_testing.SubnetTest):
    analyzer = 'flap_fast.half_life = "4s"\ncritical_ways_left = 1.0\n[incidents]\nlink_down_hold = "0s"'  # each link pages at once

    @classmethod
    def setUpClass(cls):
        require("prometheus", "prometheus-alertmanager")
        super().setUpClass()
        cls.inbox = cls.alerts = cls.prometheus = None
        try:
            cls.inbox = Inbox()
            cls.alerts = alertmanager(quick_alertmanager(cls.inbox))
            cls.prometheus = prometheus(quick_prometheus(cls.alerts.address, cls.weftd.http), True, "--rules.alert.resend-delay=2s")
            wait_until(lambda: cls.prometheus.query('up{job="weft"} == 1'), why=lambda: cls.prometheus.log())
            wait_until(lambda: cls.prometheus.asked("/api/v1/alertmanagers")["activeAlertmanagers"], why="Alertmanager is not found")
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for running in (cls.prometheus, cls.alerts, cls.inbox):
            if running:
                running.stop()
        super().tearDownClass()

    def one_notification(self, incident: dict, path: str) -> dict:
        """The one notification of it, in time."""
        opened = datetime.datetime.fromisoformat(incident["opened"].replace("Z", "+00:00")).timestamp()
        told = wait_until(lambda: self.inbox.messages("firing", incident=incident["id"]), why=lambda: str(self.inbox.shown()))
        when, where, message = told[0]
        bound = SCRAPE + EVALUATION + GROUP_WAIT
        print(f"    {incident['kind']}: notified {when - opened:.1f} s after it was opened; one scrape, evaluation and wait are {bound} s", file=sys.stderr)
        self.assertLess(when - opened, bound + SLACK)
        self.assertEqual(path, where)
        alert, = message["alerts"]
        self.assertEqual(incident["kind"], alert["labels"]["kind"])
        self.assertEqual(f"http://weft.example.com:9640/#/incident/{incident['id']}", alert["annotations"]["incident_url"])
        address = alert["annotations"]["runbook_url"]
        self.assertEqual(f"http://weft.example.com:9640{incident['runbook']}", address)
        page = f"http://{self.weftd.http}{incident['runbook']}"
        with urllib.request.urlopen(page, timeout=10) as answer:
            self.assertIn(f"<h1>{incident['kind']}:", answer.read().decode())
        self.assertNotIn("weft_url", alert["labels"])
        return message

    def ends_by_itself(self, incident: dict) -> None:
        wait_until(lambda: self.inbox.messages("resolved", incident=incident["id"]), why=lambda: str(self.inbox.shown()))

    def count_since(self, mark: int) -> list[str]:
        return [line.split(" ", 1)[1] for line in self.inbox.shown()[mark:]]

    def test_a_flap_is_one_notification(self):
        mark = len(self.inbox.taken)
        link = self.link("leaf-r1-p01", 12)
        peer, port = "spine-01", self.network.find("leaf-r1-p01").ports[12].port
        for count in range(1, 7):
            for name, number in (("leaf-r1-p01", 12), (peer, port)):
                self.subnet.set_counter(name, number, "PortCounters.LinkDownedCounter", count)
            self.weftd.wait_sweeps(0)
        incident = self.expect("LINK_FLAP", lambda i: self.is_link(i, link))
        self.one_notification(incident, "/ticket")
        self.ends_by_itself(incident)
        identity = incident["id"]
        self.assertEqual([f"/ticket firing firing LINK_FLAP {identity}", f"/ticket resolved resolved LINK_FLAP {identity}"], self.count_since(mark))

    def test_a_cable_that_was_pulled_and_put_back_is_one_page(self):
        mark = len(self.inbox.taken)
        self.subnet.unlink("leaf-r0-p01", 9)
        incident = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r0-p01", 9)))
        self.one_notification(incident, "/page")
        self.subnet.relink("leaf-r0-p01", 9)
        self.ends_by_itself(incident)
        identity = incident["id"]
        self.assertEqual([f"/page firing firing LINK_DOWN {identity}", f"/page resolved resolved LINK_DOWN {identity}"], self.count_since(mark))

    def test_a_dead_switch_is_one_page(self):
        mark = len(self.inbox.taken)
        self.subnet.unlink("spine-02")
        incident = self.expect("SWITCH_DOWN", lambda i: self.is_node(i, "spine-02"))
        self.one_notification(incident, "/page")
        self.weftd.wait_sweeps(4)
        self.subnet.relink("spine-02")
        self.ends_by_itself(incident)
        identity = incident["id"]
        self.assertEqual([f"/page firing firing SWITCH_DOWN {identity}", f"/page resolved resolved SWITCH_DOWN {identity}"], self.count_since(mark))


class OfAPair(WithPair):
    """Both weftd of a pair are scraped, as the guide says. Each shows the incident."""

    ANALYZER = "critical_ways_left = 1.0\n[incidents]\nlink_down_hold = \"0s\""

    @classmethod
    def setUpClass(cls):
        require("prometheus", "prometheus-alertmanager")
        cls.inbox = cls.alerts = cls.prometheus = None
        super().setUpClass()
        try:
            cls.inbox = Inbox()
            cls.alerts = alertmanager(quick_alertmanager(cls.inbox))
            cls.prometheus = prometheus(quick_prometheus(cls.alerts.address, *(each.http for each in cls.pair)), True, "--rules.alert.resend-delay=2s")
            wait_until(lambda: len(cls.prometheus.query('up{job="weft"} == 1')) == 2, why=lambda: cls.prometheus.log())
            wait_until(lambda: cls.prometheus.asked("/api/v1/alertmanagers")["activeAlertmanagers"], why="Alertmanager is not found")
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for running in (cls.prometheus, cls.alerts, cls.inbox):
            if running:
                running.stop()
        super().tearDownClass()

    def told(self) -> list[str]:
        """What was notified of incidents."""
        return [line.split(" ", 1)[1] for line in self.inbox.shown() if "INC-" in line]

    def test_an_incident_is_one_page_through_a_takeover(self):
        leader, standby = self.roles()
        host = self.subnet.network.hosts()[0]
        self.subnet.unlink(host.identity, 1)
        incident = wait_until(lambda: next(iter(leader.incidents("LINK_DOWN")), None), 30, why=leader.log)
        wait_until(lambda: any(each["id"] == incident["id"] for each in standby.incidents()), 10, why=standby.log)
        first = wait_until(lambda: self.inbox.messages("firing", incident=incident["id"]), why=lambda: str(self.inbox.shown()))[0]
        self.assertNotIn("instance", first[2]["alerts"][0]["labels"])
        time.sleep(4 * (SCRAPE + EVALUATION + GROUP_WAIT))
        one = [f"{first[1]} firing firing LINK_DOWN {incident['id']}"]
        self.assertEqual(one, self.told())
        since = time.monotonic()
        leader.kill()
        self.wait_leads(standby, since)
        time.sleep(4 * (SCRAPE + EVALUATION + GROUP_WAIT))
        self.assertEqual(one, self.told())
        leader.start()  # stands by now
        wait_until(lambda: len(self.prometheus.query('up{job="weft"} == 1')) == 2, why=leader.log)
        time.sleep(4 * (SCRAPE + EVALUATION + GROUP_WAIT))
        self.assertEqual(one, self.told())
        self.subnet.relink(host.identity, 1)
        wait_until(lambda: self.inbox.messages("resolved", incident=incident["id"]), why=lambda: str(self.inbox.shown()))
        time.sleep(4 * (SCRAPE + EVALUATION + GROUP_WAIT))
        self.assertEqual([*one, f"{first[1]} resolved resolved LINK_DOWN {incident['id']}"], self.told())


if __name__ == "__main__":
    weft_testing.main()
