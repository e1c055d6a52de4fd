# SPDX-License-Identifier: Apache-2.0
"""What the hooks for Slurm do with every kind of answer, and with none: run as Slurm runs them, between a made-up weftd and a scontrol that
takes notes."""

import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

from partners_testing import main, program_testing
from certificates import make_certificate, make_client
from quiet_http import QuietHandler, QuietServer

HOOKS = os.path.join(program_testing.ROOT, "deploy", "slurm")
DEADLINE = 1.0
# What a process and an interpreter take on a busy machine.
SLACK = 8
SCONTROL = """\
#!/bin/sh
echo "$@" >> {place}/scontrol.log
case "$1 $2" in
  "show hostnames") cat {place}/hostnames ;;
  "show node") cat {place}/node ;;
esac
"""


def health(name: str, verdict: str = "HEALTHY", action: str = "NONE", *reasons: str) -> dict:
    return {"node": name, "verdict": verdict, "recommendedAction": action,
            "reasons": [{"incidentId": "INC-7", "kind": "LINK_FLAP", "message": text} for text in reasons]}


BAD = ("DEGRADED", "AVOID_NEW_JOBS", "it flaps")


class Weftd:
    """Answers every question by `answer(names, path)`, or as its mood is."""

    def __init__(self, context: ssl.SSLContext | None = None):
        self.requests: list[tuple[str, dict]] = []
        self.changes: list[tuple[str, dict]] = []  # what was posted
        self.mood = "well"
        self.role = ""  # of a pair: "leader" or "standby"
        self.answer = lambda names, path: {"nodes": [health(name) for name in names]}
        outer = self

        class Handler(QuietHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.changes.append((self.path, body))
                self.do_GET()

            def do_GET(self):
                outer.requests.append((self.path, dict(self.headers)))
                address = urllib.parse.urlsplit(self.path)
                names = urllib.parse.parse_qs(address.query).get("node", [])
                if outer.mood == "drip":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                    for _ in range(100):
                        time.sleep(0.2)
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    return
                status, text = {"well": (200, None), "refuse": (401, b'{"code":"UNAUTHENTICATED","message":"who are you"}'),
                                "noise": (200, b"\xff\x00<html>"), "list": (200, b"[]")}[outer.mood]
                if text is None:
                    found = outer.answer(names, address.path)
                    status, text = (200, json.dumps(found).encode()) if found is not None else (404, b'{"code":"NOT_FOUND","message":"no such thing"}')
                self.send_response(status)
                if outer.role:
                    self.send_header("weft-role", outer.role)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.server.server_port}"
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class WithHooks(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-hooks-")
        self.addCleanup(shutil.rmtree, self.place)
        self.weftd = Weftd()
        self.addCleanup(self.weftd.stop)
        self.server = self.weftd.url
        self.write("scontrol", SCONTROL.format(place=self.place), 0o755)
        self.nodes("n1", "n2")
        self.node()

    def write(self, name: str, text: str, mode: int = 0o644) -> str:
        path = os.path.join(self.place, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name: str) -> str:
        try:
            with open(os.path.join(self.place, name), encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return ""

    def nodes(self, *names: str) -> None:
        self.write("hostnames", "\n".join(names) + "\n")

    def node(self, state: str = "IDLE", reason: str = "") -> None:
        self.write("node", f"NodeName=n1 Arch=x86_64\n   State={state} ThreadsPerCore=1\n" + (f"   Reason={reason} [root@now]\n" if reason else ""))

    def run_hook(self, hook: str, weft: str = "", **policy: str) -> int:
        lines = "\n".join(f"{key} = {value}" for key, value in policy.items())
        path = self.write("hook.conf", f"[weft]\nserver = {self.server}\ndeadline_seconds = {DEADLINE}\n{weft}\n[policy]\n{lines}\n[slurm]\n"
                          f"scontrol = {self.place}/scontrol\nlog_file = {self.place}/log\nstate_dir = {self.place}/state\n")
        began = time.monotonic()
        done = subprocess.run([os.path.join(HOOKS, hook)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=60, env={"SLURM_JOB_ID": "12", "SLURM_JOB_NODELIST": "n[1-2]", "SLURMD_NODENAME": "n1", "WEFT_SLURM_CONFIG": path})
        self.assertLess(time.monotonic() - began, DEADLINE + SLACK)
        self.assertEqual(b"", done.stdout)
        return done.returncode

    def drained(self) -> list[str]:
        return [line.split()[1].removeprefix("nodename=") for line in self.read("scontrol.log").splitlines() if "state=drain" in line]


class Prolog(WithHooks):
    def judge(self, **policy: str) -> bool:
        return self.run_hook("weft-prolog", **policy) == 0

    def test_healthy_nodes_begin(self):
        self.assertTrue(self.judge())
        self.assertIn("/api/v1/jobs/slurm%3A12/health?node=n1&node=n2", self.weftd.requests[0][0])
        self.assertEqual([], self.drained())

    def test_a_bad_node_is_drained_and_the_job_refused(self):
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) if name == "n2" else health(name) for name in names]}
        self.assertFalse(self.judge())
        self.assertEqual(["n2"], self.drained())
        self.assertIn("reason=weft-health INC-7 LINK_FLAP: it flaps", self.read("scontrol.log"))
        self.assertIn("job 12 does not begin on n2: INC-7", self.read("log"))
        self.assertTrue(self.judge(refuse_at="DRAIN"))
        self.assertTrue(self.judge(refuse_at="never"))

    def test_what_is_out_already_is_not_drained_again(self):
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names]}
        self.node("IDLE+DRAIN", "disk sda")
        self.assertFalse(self.judge())
        self.assertEqual([], self.drained())

    def test_no_answer_of_any_kind_is_for_the_policy(self):
        dead = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
        self.addCleanup(dead.close)
        for mood in ("drip", "refuse", "noise", "list", "silent", "gone", "no such host"):
            with self.subTest(mood):
                self.weftd.mood = mood
                self.server = {"silent": f"http://127.0.0.1:{dead.getsockname()[1]}", "gone": "http://127.0.0.1:1",
                               "no such host": "http://weftd.invalid:9640"}.get(mood, self.weftd.url)
                self.assertTrue(self.judge())
                self.assertIn("policy: allow", self.read("log").splitlines()[-1])
                self.assertFalse(self.judge(no_answer="refuse"))
        self.assertIn("401 who are you", self.read("log"))
        self.assertEqual([], self.drained())

    def test_fewer_answers_than_questions_are_no_answer(self):
        self.weftd.answer = lambda names, _: {"nodes": [health(names[0])]}
        self.assertTrue(self.judge())
        self.assertIn("policy: allow", self.read("log"))

    def test_unknown_nodes_are_for_the_policy(self):
        self.weftd.answer = lambda names, _: {"nodes": [health(name, "UNKNOWN") for name in names]}
        self.assertTrue(self.judge())
        self.assertFalse(self.judge(unknown="refuse"))

    def test_a_silent_shard_is_logged_and_stops_no_job(self):
        """What it may know of the nodes is not in their verdicts; a node that it is known to have is UNKNOWN."""
        self.weftd.answer = lambda names, _: {"nodes": [health(name) for name in names], "verdict": "UNKNOWN", "missingShards": ["south"]}
        self.assertTrue(self.judge(unknown="refuse", no_answer="refuse"))
        self.assertIn("job 12: shard south does not answer: what is known there of its nodes is not counted", self.read("log"))
        self.weftd.answer = lambda names, _: {"nodes": [health(name, "UNKNOWN" if name == "n2" else "HEALTHY") for name in names], "missingShards": ["south"]}
        self.assertTrue(self.judge())
        self.assertFalse(self.judge(unknown="refuse"))

    def test_links_between_healthy_nodes_are_for_the_policy(self):
        link = {**health("", *BAD), "from": {"node": "leaf-1", "port": 3}, "to": {"node": "spine-1", "port": 4}}
        path = {"from": {"node": "n1"}, "to": {"node": "n2"}, "why": "leaf-1 has no route"}
        for trouble in ({"links": [link]}, {"brokenPaths": [path]}):
            self.weftd.answer = lambda names, _, trouble=trouble: {"nodes": [health(name) for name in names], **trouble}
            self.assertTrue(self.judge())
            self.assertFalse(self.judge(links="refuse"))
        self.assertIn("leaf-1 port 3 - spine-1 port 4: INC-7 LINK_FLAP: it flaps", self.read("log"))
        self.assertIn("n1 to n2: leaf-1 has no route", self.read("log"))
        self.assertEqual([], self.drained())

    def test_the_second_server_answers_where_the_first_does_not(self):
        silent = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing, as a weftd that is frozen
        self.addCleanup(silent.close)
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names]}
        for first in ("http://127.0.0.1:1", f"http://127.0.0.1:{silent.getsockname()[1]}", "http://weftd.invalid:9640"):
            for between in (" ", ",", ", "):
                with self.subTest(first=first, between=between):
                    self.server = f"{first}{between}{self.weftd.url}"
                    self.assertFalse(self.judge())

    def test_the_leader_s_answer_counts_before_that_of_its_standby(self):
        """A standby hears no collectors: of a host that only its collector tells of it knows nothing."""
        standby = Weftd()
        self.addCleanup(standby.stop)
        standby.role, self.weftd.role = "standby", "leader"
        standby.answer = lambda names, _: {"nodes": [health(name, "UNKNOWN") for name in names]}
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names]}
        self.server = f"{standby.url} {self.weftd.url}"
        self.assertFalse(self.judge())
        self.assertEqual(1, len(standby.requests), "asked once, and passed over")
        # Without a leader its answer is better than none.
        self.weftd.role = "standby"
        self.assertTrue(self.judge())
        self.server = f"{standby.url} http://127.0.0.1:1"
        standby.answer = self.weftd.answer
        self.assertFalse(self.judge())

    def test_a_slow_first_server_is_heard_while_the_second_is_asked(self):
        def late(names, _):
            time.sleep(0.7 * DEADLINE)
            return {"nodes": [health(name, *BAD) for name in names]}

        self.weftd.answer = late
        self.server = f"{self.weftd.url},http://127.0.0.1:1"
        self.assertFalse(self.judge())

    def test_a_job_of_thousands_is_asked_for_in_parts(self):
        self.nodes(*(f"node-{number:05}.cluster.example" for number in range(3000)))
        self.assertTrue(self.judge())
        self.assertGreater(len(self.weftd.requests), 5)
        self.assertLess(max(len(path) for path, _ in self.weftd.requests), 14_000)
        self.assertEqual(3000, sum(path.count("node=") for path, _ in self.weftd.requests))
        # The first part is bad, the second has no answer: that the policy lets go does not make the first one good.
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names[:1]] + [health(name) for name in names[1:]]
                                              if "node-00000.cluster.example" in names else []}
        self.assertFalse(self.judge())
        self.assertEqual(["node-00000.cluster.example"], self.drained())

    def test_a_token_is_sent(self):
        token = self.write("token", "s3cret\n")
        self.assertEqual(0, self.run_hook("weft-prolog", weft=f"token_file = {token}"))
        self.assertEqual("Bearer s3cret", self.weftd.requests[0][1]["Authorization"])

    def test_a_token_goes_in_clear_text_to_this_host_alone(self):
        token = self.write("token", "s3cret\n")
        port = urllib.parse.urlsplit(self.weftd.url).port
        # It is this host, as the name service finds out. Who may ask that one could make it any host.
        self.server = f"http://2130706433:{port}"
        self.assertFalse(self.run_hook("weft-prolog", weft=f"token_file = {token}", no_answer="refuse") == 0)
        self.assertEqual([], self.weftd.requests)
        self.assertIn(f"{self.server}: the token would go there in clear text, and is not sent: write https:// in server", self.read("log"))
        self.assertIn("hook.conf: weft.token_file is not sent to http://2130706433", self.read("log"))
        # The next one is asked all the same, and one that takes no token.
        self.server += f", http://localhost:{port}"
        self.assertEqual(0, self.run_hook("weft-prolog", weft=f"token_file = {token}", no_answer="refuse"))
        self.assertEqual(["Bearer s3cret"], [headers["Authorization"] for _, headers in self.weftd.requests])
        self.server = f"http://2130706433:{port}"
        self.assertEqual(0, self.run_hook("weft-prolog", no_answer="refuse"))
        self.server = "http://[::1:9640"  # no address
        for hook in ("weft-prolog", "weft-node-health"):
            self.assertEqual(0, self.run_hook(hook, weft=f"token_file = {token}"))
            self.assertIn("policy: allow", self.read("log").splitlines()[-1])

    def test_https_with_certificates_of_both_sides(self):
        authority = make_certificate(self.place)
        certificate, key = make_client(self.place, authority, "/CN=slurm")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority)
        context.load_verify_locations(authority[0])
        context.verify_mode = ssl.CERT_REQUIRED
        weftd = Weftd(context)
        self.addCleanup(weftd.stop)
        weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names]}
        self.server = weftd.url
        ours = f"certificate = {certificate}\nkey = {key}\n"
        self.assertEqual(1, self.run_hook("weft-prolog", weft=f"ca_file = {authority[0]}\n{ours}"), "the answer was heard")
        # A server that nobody vouches for, and one that does not know us, have not answered.
        self.assertEqual(0, self.run_hook("weft-prolog", weft=ours))
        self.assertEqual(0, self.run_hook("weft-prolog", weft=f"ca_file = {authority[0]}"))
        self.assertIn("CERTIFICATE_VERIFY_FAILED", self.read("log"))

    def test_a_mistake_in_the_configuration_stops_no_job(self):
        self.assertTrue(self.judge(refuse_at="ALWAYS", no_answer="perhaps"))
        self.assertIn("policy.refuse_at is one of AVOID_NEW_JOBS, DRAIN, never, not ALWAYS", self.read("log"))


class HealthCheck(WithHooks):
    def check(self, **policy: str) -> str:
        """What it changed in Slurm."""
        before = len(self.read("scontrol.log"))
        self.assertEqual(0, self.run_hook("weft-node-health", **policy))
        return " ".join(line for line in self.read("scontrol.log")[before:].splitlines() if line.startswith("update"))

    def is_now(self, *what: str) -> None:
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *what) for name in names]}

    def test_drains_once_and_follows_the_reason(self):
        self.is_now(*BAD)
        self.assertEqual("update nodename=n1 state=drain reason=weft-health INC-7 LINK_FLAP: it flaps", self.check())
        self.node("IDLE+DRAIN", "weft-health INC-7 LINK_FLAP: it flaps")
        self.assertEqual("", self.check())
        self.node("IDLE+DRAIN", "weft-health INC-6 LINK_DOWN: it was down")
        self.assertIn("it flaps", self.check())

    def test_brings_back_only_what_it_drained(self):
        for state, reason, expected in (("IDLE+DRAIN", "weft-health INC-7: x", "update nodename=n1 state=undrain"),
                                        ("IDLE+DRAIN", "weft-healthy, I say", ""), ("IDLE+DRAIN", "weft PLAN-1 INC-7: x", ""),
                                        ("MIXED+DRAIN", "disk sda", ""), ("DOWN*", "weft-health INC-7: x", ""), ("IDLE", "", "")):
            with self.subTest(state=state, reason=reason):
                shutil.rmtree(os.path.join(self.place, "state"), ignore_errors=True)
                self.node(state, reason)
                self.assertEqual(expected, self.check())

    def test_what_is_unknown_stays_as_it_is(self):
        self.is_now("UNKNOWN")
        self.assertEqual("", self.check())
        self.node("IDLE+DRAIN", "weft-health INC-7: x")
        self.assertEqual("", self.check())

    def test_a_host_is_not_well_while_a_shard_is_silent_that_may_know_of_a_fault(self):
        self.node("IDLE+DRAIN", "weft-health INC-7: x")
        for where in ("answer", "node"):
            with self.subTest(where):
                missing = {"missingShards": ["south"]}
                self.weftd.answer = lambda names, _, where=where, missing=missing: {
                    "nodes": [{**health(name), **(missing if where == "node" else {"missingShards": []})} for name in names],
                    **(missing if where == "answer" else {})}
                self.assertEqual("", self.check())
                self.assertEqual("", self.check(unknown="refuse"), "its verdict is not UNKNOWN")
                self.assertIn("n1 stays drained: shard south does not answer", self.read("log").splitlines()[-1])
        self.is_now()
        self.assertEqual("update nodename=n1 state=undrain", self.check())

    def test_what_a_silent_shard_is_no_part_of_is_done(self):
        self.weftd.answer = lambda names, _: {"nodes": [health(name, *BAD) for name in names], "missingShards": ["south"]}
        self.assertIn("state=drain reason=weft-health INC-7", self.check())
        self.weftd.answer = lambda names, _: {"nodes": [health(name) for name in names], "missingShards": ["south"]}
        self.assertEqual("", self.check(), "it is in service, and stays")

    def test_without_an_answer_nothing_changes_unless_the_policy_says_so(self):
        self.weftd.mood = "refuse"
        self.assertEqual("", self.check())
        self.assertIn("policy: allow", self.read("log"))
        self.assertIn("state=drain reason=weft-health no answer from weftd", self.check(no_answer="refuse"))

    def test_slurm_is_asked_only_every_so_often(self):
        self.check()
        asked = self.read("scontrol.log").count("show node")
        self.check()
        self.assertEqual((1, 1), (asked, self.read("scontrol.log").count("show node")))
        self.is_now(*BAD)
        self.assertIn("state=drain", self.check())


class Accept(WithHooks):
    """weft-accept: nodes come into service by a PASS, and by nothing else."""

    def setUp(self):
        super().setUp()
        self.runs: dict[str, dict] = {}
        self.weftd.answer = self.acceptances

    def acceptances(self, _, path: str):
        if path.endswith("/acceptances"):
            if self.weftd.requests[-1][0].endswith("/acceptances"):  # without a query: it is started
                run = {"id": f"ACC-{len(self.runs) + 1}", "who": "slurm, for weft-accept", "verdict": "VERDICT_UNSPECIFIED"}
                self.runs[run["id"]] = run
                return run
            return {"acceptances": [run for run in self.runs.values() if "ended" not in run]}
        return self.runs.get(path.rsplit("/", 1)[1])

    def over(self, run: str, verdict: str, *ports: tuple[str, str]) -> None:
        check = {"kind": "BIT_ERRORS", "verdict": verdict, "required": True, "told": "nothing is read",
                 "ports": [{"verdict": verdict, "port": port, "told": told} for port, told in ports]}
        self.runs[run].update(verdict=verdict, ended="2026-01-31T14:00:00Z", report={"checks": [check]})

    def accept(self, expect: int = 0, **keys: str) -> str:
        """What Slurm was told."""
        before = len(self.read("scontrol.log"))
        self.assertEqual(expect, self.run_hook("weft-accept", "".join(f"[accept]\n{key} = {value}\n" for key, value in keys.items())), self.read("log"))
        told = self.read("scontrol.log")[before:].splitlines()
        return "\n".join(line for line in told if line.startswith("update"))

    def test_a_node_comes_into_service_when_its_run_passes(self):
        self.node("IDLE+DRAIN", "weft-accept")
        self.assertEqual("update nodename=n1 state=drain reason=weft-accept ACC-1 is under way", self.accept(seconds="600"))
        self.assertEqual([("/api/v1/acceptances", {"hosts": ["n1"], "length": "600s", "who": "weft-accept"})], self.weftd.changes)
        self.node("IDLE+DRAIN", "weft-accept ACC-1 is under way")
        self.assertEqual("", self.accept(), "it goes on")
        self.over("ACC-1", "PASS")
        self.assertEqual("update nodename=n1 state=undrain", self.accept())
        self.assertEqual(1, len(self.weftd.changes))

    def test_whatever_is_no_pass_keeps_it_out_and_says_why(self):
        for number, (verdict, told) in enumerate({"FAIL": "bit errors: n1 mlx5_0 port 1 9 errors", "NOT_YET": "bit errors: n1 mlx5_0 port 1 9 errors",
                                                  "INCOMPLETE": "see weftctl accept show"}.items(), 1):
            with self.subTest(verdict):
                self.node("IDLE+DRAIN", "weft-accept")
                self.assertIn(f"ACC-{number} is under way", self.accept())
                self.node("IDLE+DRAIN", f"weft-accept ACC-{number} is under way")
                self.over(f"ACC-{number}", verdict, ("n1 mlx5_0 port 1", "9 errors"))
                reason = f"weft-accept ACC-{number} {verdict.lower().replace('_', ' ')}: {told}"
                self.assertEqual(f"update nodename=n1 state=drain reason={reason}", self.accept())
                self.node("IDLE+DRAIN", reason)
                self.assertEqual("", self.accept(), "it is said once, and nothing is begun again")
                self.assertEqual(number, len(self.weftd.changes))

    def test_nodes_of_others_are_left_alone(self):
        for state, reason in (("IDLE", ""), ("IDLE+DRAIN", "disk sda"), ("IDLE+DRAIN", "weft-health INC-7"), ("IDLE", "weft-accept"), ("DOWN", "weft-accept"),
                              ("IDLE+DRAIN", "weft-acceptable")):
            self.node(state, reason)
            self.assertEqual("", self.accept(), (state, reason))
        self.assertEqual([], self.weftd.requests)

    def test_a_run_that_was_started_and_not_noted_is_taken_up(self):
        self.runs["ACC-1"] = {"id": "ACC-1", "who": "slurm, for weft-accept", "verdict": "NOT_YET"}
        self.node("IDLE+DRAIN", "weft-accept")
        self.assertIn("ACC-1 is under way", self.accept())
        self.assertEqual([], self.weftd.changes)
        self.assertIn("state=running&host=n1", self.weftd.requests[0][0])

    def test_a_run_that_weftd_has_forgotten_is_begun_anew(self):
        self.node("IDLE+DRAIN", "weft-accept ACC-77 is under way")
        self.assertIn("reason=weft-accept ACC-1 is under way", self.accept())

    def test_without_an_answer_it_stays_out(self):
        self.node("IDLE+DRAIN", "weft-accept ACC-1 is under way")
        for mood in ("refuse", "noise", "list"):
            self.weftd.mood = mood
            self.assertEqual("", self.accept(expect=1))
            self.assertIn("n1 stays out: ", self.read("log").splitlines()[-1])
        self.server = "http://127.0.0.1:1"
        self.assertEqual("", self.accept(expect=1))


if __name__ == "__main__":
    main()
