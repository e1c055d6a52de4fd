# SPDX-License-Identifier: Apache-2.0
"""Documents that are made from code say what the code says; manual pages are well-formed; what is installed is whole."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
sys.path.insert(0, os.path.join(ROOT, "tests", "infiniband"))

import weft_testing  # noqa: E402
from weft_testing import BUILD, program  # noqa: E402

REFERENCES = os.path.join(ROOT, "deploy", "guide", "reference")
PROGRAMS = (("weftctl", 1), ("weftd", 8), ("weft-collector", 8))


def output(*command: str) -> str:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60).stdout


def text_of(*parts: str) -> str:
    with open(os.path.join(*parts), encoding="utf-8") as stream:
        return stream.read()


class References(unittest.TestCase):
    def check(self, name: str, *command: str):
        again = " ".join(os.path.relpath(word, ROOT) if word.startswith((ROOT, BUILD)) else word for word in command)
        self.assertEqual(text_of(REFERENCES, name), output(*command), f"write it anew: {again} > deploy/guide/reference/{name}")

    def test_weftd_knows_each_flag_that_the_demonstration_may_give_it(self):
        """Some are given only on machines that no test runs on."""
        source = text_of(ROOT, "deploy", "demonstration", "demonstration.py")
        lines = [line for line in source.splitlines() if re.search(r"extra \+?= \[|command = \[", line) and "weftctl" not in line]
        flags = {flag for line in lines for flag in re.findall(r'"(--[a-z.-]+)"', line)}
        ethernet = text_of(ROOT, "deploy", "demonstration", "ethernet.py")
        flags |= {flag for line in ethernet.splitlines() if re.search(r"flags \+?= \[", line) for flag in re.findall(r'"(--[a-z.-]+)"', line)}
        self.assertIn("--ethernet-discovery", flags)
        self.assertIn("--cabling", flags)
        self.assertIn("--sweep-interval", flags)
        self.assertIn("--infiniband-window", flags)
        known = output(program("weftd"), "--help-all") + output(program("weftd"), "--help")
        self.assertEqual([], sorted(flag for flag in flags if not re.search(rf"{re.escape(flag)}\b", known)))

    def test_counters(self):
        self.check("counters.md", program("weftd"), "--counter-reference")

    def test_metrics(self):
        self.check("metrics.md", sys.executable, os.path.join(ROOT, "deploy", "guide", "metrics_reference.py"))

    def test_grpc(self):
        self.check("grpc.md", sys.executable, os.path.join(ROOT, "deploy", "guide", "proto_reference.py"))

    def test_every_rpc_is_in_it(self):
        protos = "\n".join(text_of(path) for path in glob.glob(os.path.join(ROOT, "api", "proto", "weft", "v1", "*.proto")))
        methods = re.findall(r"^  rpc (\w+)\(", protos, re.MULTILINE)
        self.assertGreater(len(methods), 20)
        written = text_of(REFERENCES, "grpc.md")
        for method in methods:
            self.assertIn(f"| `{method}` | ", written)

    def test_every_path_of_http_is_in_the_chapter(self):
        chapter = text_of(ROOT, "deploy", "guide", "http.md")
        for word in sorted(set(re.findall(r'what == "(\w+)"', text_of(ROOT, "api", "http", "router.cpp")))):
            self.assertIn(f"/api/v1/{word}", chapter)


class Manuals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="weft-test-")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        cls.pages = {}
        for name, section in PROGRAMS:
            path = os.path.join(cls.place, f"{name}.{section}")
            cls.pages[name] = output(program(name), "--manual")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(cls.pages[name])

    def path(self, name: str) -> str:
        return os.path.join(self.place, f"{name}.{dict(PROGRAMS)[name]}")

    def lint(self, tool: str, *command: str):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        for name, _ in PROGRAMS:
            done = subprocess.run([*command, self.path(name)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
                                  env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80", MANROFFSEQ=""))
            # A page that is made anew by each build has no date of its own.
            said = [line for line in (done.stderr + (done.stdout if tool == "mandoc" else "")).splitlines() if "missing date" not in line]
            self.assertEqual([], said, name)

    def test_groff(self):
        self.lint("groff", "groff", "-ww", "-man", "-Tutf8", "-z")

    def test_man(self):
        self.lint("man", "man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-Z")

    def test_mandoc(self):
        self.lint("mandoc", "mandoc", "-T", "lint", "-W", "warning")

    def test_they_name_every_verb_flag_and_section(self):
        def plain(name: str) -> str:
            return self.pages[name].replace("\\-", "-")
        for verb in re.findall(r"^  ([a-z-]+) {2,}", output(program("weftctl"), "--help").split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE):
            self.assertIn(f'.SS "{verb}"', plain("weftctl"))
        for name, document in (("weftd", "reference.md"), ("weft-collector", "collector-reference.md")):
            for flag in re.findall(r"^- Flag: `(--[\w-]+)`", text_of(ROOT, "deploy", "config", document), re.MULTILINE):
                self.assertIn(flag, plain(name))
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "VERBS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"):
            self.assertRegex(self.pages["weftctl"], rf'(?m)^\.SH "?{heading}"?$')

    def test_they_are_installed_with_the_completions(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], stdin=subprocess.DEVNULL, capture_output=True, timeout=100, check=True,
                       env=dict(os.environ, DESTDIR=self.place))
        share = os.path.join(self.place, "usr", "share")
        for document in glob.glob(os.path.join(share, "doc", "weft", "deploy", "guide", "*.md")):
            for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", text_of(document)):
                self.assertTrue(os.path.exists(os.path.join(os.path.dirname(document), target)), f"{document}: {target}")
        self.assertTrue(os.path.exists(os.path.join(share, "doc", "weft", "dashboards", "runbooks", "LINK_FLAP.md")))
        for name, section in PROGRAMS:
            self.assertEqual(self.pages[name], text_of(share, "man", f"man{section}", f"{name}.{section}"))
        for shell, place in (("bash", ("bash-completion", "completions", "weftctl")), ("zsh", ("zsh", "vendor-completions", "_weftctl")),
                             ("fish", ("fish", "vendor_completions.d", "weftctl.fish"))):
            self.assertEqual(output(program("weftctl"), "completion", shell), text_of(share, *place))
        # zsh finds its script by this folder alone.
        if shutil.which("zsh"):
            found = output("zsh", "-f", "-c", f"fpath=({share}/zsh/vendor-completions $fpath); autoload -Uz compinit; compinit -u -D; echo $_comps[weftctl]")
            self.assertEqual("_weftctl", found.strip())


class LiveMetrics(weft_testing.SubnetTest):
    def test_every_family_is_in_a_reference(self):
        written = text_of(REFERENCES, "metrics.md") + text_of(REFERENCES, "counters.md")
        heads = re.findall(r"^# HELP (weft_\w+) (.*)$", self.weftd.metrics(), re.MULTILINE)
        self.assertGreater(len(heads), 50)
        for name, sentence in heads:
            self.assertRegex(written, rf"`{name}` \|[^\n]*{re.escape(sentence)} \|", name)


if __name__ == "__main__":
    weft_testing.main()
