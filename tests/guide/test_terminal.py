# SPDX-License-Identifier: Apache-2.0
"""weftctl as a person at a terminal has it: colour, narrow windows, --watch, completion in three shells."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
sys.path.insert(0, os.path.join(ROOT, "tests", "infiniband"))

import weft_testing  # noqa: E402
from terminal import Terminal  # noqa: E402
from weft_testing import BUILD, program, weftctl, weftctl_json  # noqa: E402

ESCAPE = "\x1b["
VERBS = (("status",), ("nodes",), ("nodes", "--names"), ("ports", "leaf-r0-p01"), ("ports", "leaf-r0-p01", "--counters"), ("links",),
         ("links", "--down"), ("topology",), ("path", "gpu-0001", "gpu-0002"), ("incidents",), ("incidents", "--all"), ("incidents", "--ids"),
         ("health",), ("health", "gpu-0001"), ("collectors",), ("maintenance",), ("maintenance", "list"), ("plans",), ("plans", "--ids"),
         ("audit",), ("hands-off",), ("breaker",))


def columns_of(line: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class OnATerminal(weft_testing.SubnetTest):
    def environment(self, **more: str) -> dict:
        path = self.home + ":" + os.path.join(BUILD, "bin") + ":" + os.environ.get("PATH", "")
        return {"PATH": path, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": self.home, "WEFT_SERVER": self.weftd.grpc, **more}

    def setUp(self):
        super().setUp()
        self.home = tempfile.mkdtemp(prefix="weft-test-")
        self.addCleanup(shutil.rmtree, self.home, True)

    def terminal(self, *command: str, columns: int = 120, lines: int = 40, **more: str) -> Terminal:
        made = Terminal(list(command), self.environment(**more), columns, lines)
        self.addCleanup(made.close)
        return made

    def on_terminal(self, *arguments: str, columns: int = 120, **more: str) -> str:
        terminal = self.terminal("weftctl", *arguments, columns=columns, **more)
        terminal.end()
        return terminal.said

    def test_colour_is_for_terminals(self):
        self.assertIn(ESCAPE, self.on_terminal("links"))
        self.assertNotIn(ESCAPE, self.on_terminal("links", NO_COLOR="1"))
        self.assertNotIn(ESCAPE, self.on_terminal("links", TERM="dumb"))
        self.assertNotIn(ESCAPE, self.on_terminal("--color=never", "links"))
        self.assertNotIn(ESCAPE, weftctl(self.weftd, "links").stdout)
        self.assertIn(ESCAPE, weftctl(self.weftd, "--color", "always", "links").stdout)
        self.assertNotIn(ESCAPE, self.on_terminal("--json", "links"))

    def test_tables_fit_a_narrow_terminal(self):
        self.subnet.unlink("gpu-0006 mlx5_0", 1)
        self.addCleanup(self.subnet.relink, "gpu-0006 mlx5_0", 1)
        opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("gpu-0006 mlx5_0", 1)))
        for arguments in (("incidents",), ("links",), ("health",)):
            for line in self.on_terminal("--color=never", *arguments, columns=80).splitlines():
                self.assertLessEqual(columns_of(line.rstrip("\r")), 80, f"{arguments}: {line!r}")
        wrong = self.on_terminal("plan", "PLAN-99", columns=40).splitlines()
        self.assertIn("weftctl: no plan PLAN-99: weftctl plans", [line.rstrip("\r") for line in wrong], "an error as well")
        self.assertEqual([], [line for line in wrong if columns_of(line.rstrip("\r")) > 40])
        whole = weftctl(self.weftd, "incidents").stdout.splitlines()
        self.assertEqual(1, sum(opened["id"] in line for line in whole))
        self.assertIn(opened["summary"], "\n".join(whole), "into a file nothing is cut")

    def test_every_verb_has_json(self):
        for arguments in VERBS:
            with self.subTest(arguments):
                done = weftctl(self.weftd, "--json", *arguments)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                json.loads(done.stdout)

    def test_watching(self):
        terminal = self.terminal("weftctl", "links", "--down", "--watch", "0.3", lines=12)
        terminal.expect(r"\x1b\[\?1049h.*Every 300 ms: weftctl links --down.*No links are down\.")
        self.assertNotIn(">", terminal.said)
        self.subnet.unlink("leaf-r1-p01", 9)
        self.addCleanup(self.subnet.relink, "leaf-r1-p01", 9)
        terminal.expect(r">\x1b\[0m [^\n]*leaf-r1-p01 port 9")
        seen = len(terminal.said)
        self.weftd.stop(remove=False)
        terminal.expect(r"UNREACHABLE since .*leaf-r1-p01 port 9", after=seen)
        self.weftd.start()
        page = re.compile(r"\x1b\[HEvery 300 ms: weftctl links --down((?!NO ANSWER|\x1b\[H).)*\x1b\[J", re.DOTALL)
        terminal.expect(page.pattern, after=len(terminal.said))
        terminal.type("\x03")
        self.assertEqual(0, terminal.end())
        after = terminal.said.rsplit("\x1b[?1049l", 1)
        self.assertEqual(2, len(after), "the screen is given back")
        self.assertIn("Every 300 ms: weftctl links --down", after[1], "and the last page stays")

    def test_watching_a_full_screen(self):
        terminal = self.terminal("weftctl", "ports", "--watch", "0.3", lines=10)
        terminal.expect(r"and \d+ more lines")
        page = terminal.said.split("\x1b[H")[1]
        self.assertLessEqual(page.count("\n"), 10)
        terminal.signal(signal.SIGTERM)
        self.assertEqual(143, terminal.end())
        self.assertIn("\x1b[?1049l", terminal.said)

    def test_watching_for_programs(self):
        watching = subprocess.Popen([program("weftctl"), "--json", "status", "--watch=0.2"], env=self.environment(), stdout=subprocess.PIPE,
                                    stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(watching.stdout.close)
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)
        for _ in range(3):
            self.assertTrue(json.loads(watching.stdout.readline())["ready"])
        watching.send_signal(signal.SIGINT)
        self.assertEqual(0, watching.wait(20))

    def test_only_what_shows_can_be_watched(self):
        for arguments in (("drain", "gpu-0001", "--reason", "x", "--watch"), ("maintenance", "add", "gpu-0001", "--reason", "x", "--watch")):
            done = weftctl(self.weftd, *arguments)
            self.assertEqual((2, True), (done.returncode, "--watch" in done.stderr), done.stderr)
        self.assertEqual(2, weftctl(self.weftd, "status", "--watch=0").returncode)

    def test_who_acts_sees_first_and_is_asked_once(self):
        command = ("weftctl", "--server", f"unix:{self.weftd.socket}", "isolate", "leaf-r0-p01:9", "--reason", "a test")
        asked = self.terminal(*command)
        asked.expect(r"preview: nothing is done yet.*keeps \d+ of \d+ uplink paths.*LEAF_CAPACITY +passed.*do it\? \[y/N\] ")
        asked.type("n\n")
        self.assertEqual(4, asked.end())
        self.assertIn("nothing was done", asked.said)
        looked = self.terminal(*command[:-2], "--dry-run")
        self.assertEqual(0, looked.end())
        self.assertNotIn("do it?", looked.said)
        self.assertEqual([], weftctl_json(self.weftd, "plans", "--all").get("plans", []))
        trail = weftctl_json(self.weftd, "audit").get("records", [])
        self.assertEqual([], trail, "who only looked did nothing")

    def test_a_misspelt_word_gets_a_suggestion(self):
        for arguments, meant in ((("incidnets",), "incidents"), (("satus",), "status"), (("ports", "--conters"), "--counters")):
            done = weftctl(self.weftd, *arguments)
            self.assertEqual((2, True), (done.returncode, f'did you mean "{meant}"' in done.stderr), done.stderr)
        done = weftctl(self.weftd, "incident")
        self.assertEqual((2, "", "weftctl: ID is required; weftctl incident --help has details\n"), (done.returncode, done.stdout, done.stderr))

    # -- completion

    def shell(self, name: str) -> Terminal:
        if shutil.which(name) is None:
            self.skipTest(f"{name} is not installed")
        script = os.path.join(self.home, "completion")
        with open(script, "w", encoding="utf-8") as stream:
            subprocess.run([program("weftctl"), "completion", name], stdout=stream, check=True, timeout=20)
        starts = {
            "bash": (["bash", "--norc", "--noprofile", "-i"], f"bind 'set bell-style none'; PS1='ready> '; . {script}\n"),
            "zsh": (["zsh", "-f", "-i"], f"PS1='ready> '; unsetopt beep; autoload -Uz compinit; compinit -u -D; . {script}\n"),
            "fish": (["fish", "--no-config", "-i"], f"function fish_prompt; echo 'ready> '; end; . {script}\n"),
        }
        command, first = starts[name]
        shell = self.terminal(*command)
        if name == "fish":
            shell.expect(r"\w+@|> ?")  # it throws away what is typed before it asks
        shell.type(first)
        shell.expect("ready> .*ready> " if name == "fish" else r"ready> ", after=len(first))
        return shell

    def check_shell(self, name: str):
        # What the shell made of the line is what the program is given.
        shim = os.path.join(self.home, "weftctl")
        with open(shim, "w", encoding="utf-8") as stream:
            stream.write(f'#!/bin/sh\n[ "$1" = __complete ] && exec {program("weftctl")} "$@"\necho "GOT[$*]"\n')
        os.chmod(shim, 0o755)
        shell = self.shell(name)
        for typed, given in (("weftctl stat\t", "status"), ("weftctl ports leaf-r0-p0\t1", "ports leaf-r0-p01"), ("weftctl ports --count\t", "ports --counters"),
                             ("weftctl --color ne\t", "--color never"), ("weftctl nodes --ty\tsw\t", "nodes --type switch"), ("weftctl isolate leaf-r0-p01\t7", "isolate leaf-r0-p01:7"),
                             ("weftctl drain gpu-0016\t--rea\tx", "drain gpu-0016 --reason x")):
            seen = len(shell.said)
            shell.type(typed)
            time.sleep(0.2)
            shell.type("\r")
            shell.expect(rf"GOT\[{given} ?\]", after=seen, within=20)
        seen = len(shell.said)
        shell.type("weftctl health gpu-000\t\t")
        shell.expect("gpu-0001.*gpu-0002", after=seen, within=20)

    def test_completion_in_bash(self):
        self.check_shell("bash")

    def test_completion_in_zsh(self):
        self.check_shell("zsh")

    def test_completion_in_fish(self):
        self.check_shell("fish")

    def test_completion_does_not_wait_for_a_server_that_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            began = time.monotonic()
            done = subprocess.run([program("weftctl"), "__complete", "bash", f"weftctl --server 127.0.0.1:{deaf.getsockname()[1]} ports le"],
                                  capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual((0, "words\n", ""), (done.returncode, done.stdout, done.stderr))
            self.assertLess(time.monotonic() - began, 5)

    def test_every_argument_of_every_verb_is_completed_or_free(self):
        def offered(*words):
            done = subprocess.run([program("weftctl"), "__complete", "fish", *words], env=self.environment(), capture_output=True, text=True,
                                  timeout=20, check=True)
            return [line.split("\t")[0] for line in done.stdout.splitlines()[1:]]
        verbs = offered("")
        self.assertIn("incidents", verbs)
        for verb in verbs:
            self.assertIn("--help", offered(verb, "--"), verb)
        for verb in ("nodes", "topology", "ports", "health", "drain"):
            self.assertIn("gpu-0001", offered(verb, ""), verb)
        # Weft took nothing out of service, and proposes nothing.
        for verb in ("undrain", "restore", "lower-cost", "approve", "reject", "abort"):
            self.assertEqual([], offered(verb, ""), verb)
        self.assertIn("leaf-r0-p01:", offered("isolate", ""))
        self.assertNotIn("gpu-0001:", offered("isolate", ""), "an access link is never isolated")
        self.assertIn("leaf-r0-p01:9", offered("raise-cost", "leaf-r0-p01:"))
        self.assertEqual(["bash", "zsh", "fish"], offered("completion", ""))
        self.assertEqual(["list", "add", "end"], offered("maintenance", ""))
        self.assertIn("fabric", offered("maintenance", "add", ""))


if __name__ == "__main__":
    weft_testing.main()
