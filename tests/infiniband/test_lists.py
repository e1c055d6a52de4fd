# SPDX-License-Identifier: Apache-2.0
"""Lists with conditions of a real weftd, over HTTP and by weftctl: incidents, timelines, the worst links, the audit trail; and the runbooks."""

import urllib.request

import weft_testing
from weft_testing import wait_until, weftctl, weftctl_json

PORT = ("leaf-r0-p01", 12)


class Lists(weft_testing.SubnetTest):
    def json(self, path: str) -> dict:
        return self.weftd.client.json(path)

    def page(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.weftd.http}{path}", timeout=10) as answer:
            self.assertIn("default-src 'self'", answer.headers["Content-Security-Policy"])
            return answer.read().decode()

    def refused(self, path: str, words: str, status: int = 400) -> None:
        with self.assertRaises(weft_testing.Answer) as caught:
            self.json(path)
        self.assertEqual(status, caught.exception.status)
        self.assertIn(words, str(caught.exception))

    def test_incidents_by_condition_and_what_was_done_about_one(self):
        self.subnet.unlink(*PORT)
        opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link(*PORT)))

        def ids(query: str) -> list[str]:
            return [each["id"] for each in self.json(f"/api/v1/incidents?{query}")["incidents"]]
        self.assertIn(opened["id"], ids("state=open&kind=LINK_DOWN&entity=leaf-r0-p01"))
        self.assertNotIn(opened["id"], ids("kind=LINK_FLAP,NODE_DOWN"))
        self.assertNotIn(opened["id"], ids("entity=leaf-r0-p0"))
        self.assertNotIn(opened["id"], ids("job=77"))
        self.assertNotIn(opened["id"], ids("to=2020-01-01T00:00:00Z"))
        self.assertIn(opened["id"], ids(f"from={opened['opened']}"))
        self.refused("/api/v1/incidents?kind=LINK_GONE", "there is no kind LINK_GONE")
        listed = weftctl(self.weftd, "incidents", "--kind", "link_down", "--entity", "leaf-r0-p01", "--ids")
        self.assertIn(opened["id"], listed.stdout.split())
        self.assertEqual(2, weftctl(self.weftd, "incidents", "--kind", "LINK_GONE").returncode)
        self.assertIn(opened["id"], weftctl(self.weftd, "incidents", "--from", "1h", "--ids").stdout.split())
        self.assertNotIn(opened["id"], weftctl(self.weftd, "incidents", "--to", "1h", "--ids").stdout.split())

        self.assertEqual(0, weftctl(self.weftd, "acknowledge", opened["id"], "--who", "ada").returncode)
        self.subnet.relink(*PORT)
        self.expect_resolved(opened)
        events = self.json(f"/api/v1/incidents/{opened['id']}/timeline")["events"]
        self.assertEqual("OPENED", events[0]["what"])
        self.assertEqual("RESOLVED", events[-1]["what"])
        self.assertTrue(any(each["what"] == "ACKNOWLEDGED" and "ada" in each["who"] for each in events), events)
        self.assertEqual(sorted(events, key=lambda each: each["at"]), events)
        told = weftctl(self.weftd, "timeline", opened["id"])
        self.assertEqual((0, ""), (told.returncode, told.stderr))
        self.assertLess(told.stdout.index("OPENED"), told.stdout.index("ACKNOWLEDGED"))
        self.refused("/api/v1/incidents/INC-99999/timeline", "INC-99999", 404)

    def test_the_worst_links(self):
        self.assertEqual([], self.json("/api/v1/links/worst?by=errors")["links"])
        self.subnet.set_counter(*PORT, "PortCounters.LinkDownedCounter", 3)
        worst = wait_until(lambda: self.json("/api/v1/links/worst?by=flaps&limit=1")["links"], 30, why="nobody counts flaps")
        self.assertEqual((3, PORT), (worst[0]["value"], (worst[0]["at"]["node"], worst[0]["at"]["port"])))
        listed = weftctl(self.weftd, "links", "--worst", "flaps", "--top", "1")
        self.assertRegex(listed.stdout, rf"\n *3  {PORT[0]} port {PORT[1]} ")
        self.assertEqual(2, weftctl(self.weftd, "links", "--worst", "beauty").returncode)
        self.refused("/api/v1/links/worst?by=beauty", "by must be one of errors, flaps, stall")

    def test_the_audit_trail(self):
        for verb, reason in (("on", "a look"), ("off", "looked")):
            self.assertEqual(0, weftctl(self.weftd, "hands-off", verb, "--reason", reason, "--who", "zoe", "--yes").returncode)
        records = self.json("/api/v1/audit?who=ZOE")["records"]
        self.assertEqual(["automation stopped", "automation resumed"], [each["what"] for each in records])
        self.assertEqual(["automation stopped"], [each["what"] for each in self.json("/api/v1/audit?who=zoe&what=stopped")["records"]])
        self.assertEqual([], self.json("/api/v1/audit?to=2020-01-01T00:00:00Z")["records"])
        newest = self.json("/api/v1/audit?page_size=1")
        self.assertEqual(records[-1], newest["records"][0])
        older = self.json(f"/api/v1/audit?page_size=1&page_token={newest['nextPageToken']}")
        self.assertEqual(int(records[-1]["sequence"]) - 1, int(older["records"][0]["sequence"]))
        self.assertEqual(2, len(weftctl_json(self.weftd, "audit", "--user", "zoe")["records"]))
        self.assertEqual("No such line.\nThe hashes of all lines that were searched match.\n", weftctl(self.weftd, "audit", "--user", "nobody").stdout)
        self.refused("/api/v1/audit?page_size=-1", "page_size")

    def test_runbooks_are_served_and_printed(self):
        self.assertIn("<h1>LINK_FLAP: ", self.page("/runbooks/LINK_FLAP"))
        self.assertIn('<a href="/runbooks/LINK_ERRORS">', self.page("/runbooks/LINK_FLAP"))
        self.assertIn('id="WeftDown"', self.page("/runbooks/weft-itself"))
        for path in ("/runbooks", "/runbooks/"):
            self.assertIn('<a href="/runbooks/STRAGGLER">', self.page(path))
        self.refused("/runbooks/LINK_GONE", "no such file", 404)
        self.assertTrue(weftctl(self.weftd, "runbook", "LINK_FLAP").stdout.startswith("# LINK_FLAP: "))


if __name__ == "__main__":
    weft_testing.main()
