# SPDX-License-Identifier: Apache-2.0
"""Every link of every document leads somewhere, and every command that one names is one that there is."""

import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
sys.path.insert(0, os.path.join(ROOT, "tests", "infiniband"))
sys.path.insert(0, os.path.join(ROOT, "tests", "architecture"))

import rules  # noqa: E402
import weft_testing  # noqa: E402
from weft_testing import program, wait_until, weftctl  # noqa: E402

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
# Names that documents use, and what they are on the test's subnet.
NAMES = (("leaf-1 port 12", "leaf-r0-p01 port 12"), ("leaf-3:17", "leaf-r0-p01:9"), ("leaf-1", "leaf-r0-p01"), ("leaf-3", "leaf-r0-p02"), ("leaf-7", "leaf-r1-p02"),
         ("dgx-04", "gpu-0004"), ("dgx-17", "gpu-0016"), ("INC-…", "INC-1"),
         ("2026-01-31", (datetime.date.today() + datetime.timedelta(days=2)).isoformat()))


def documents() -> list[str]:
    return [str(path) for path in rules.all_files(ROOT) if path.suffix == ".md"]


def text_of(path: str) -> str:
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def anchors(text: str) -> set[str]:
    """Of all headings, as GitHub makes them: repeated ones are numbered."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def links(text: str) -> list[str]:
    return [one or other for one, other in LINK.findall(re.sub(r"`[^`\n]*`", "", FENCE.sub("", text)))]


def commands(text: str, name: str) -> set[str]:
    """What stands in code, on lines of its own or within one, and begins with that program; without its comment."""
    found = set()
    for fence in FENCE.findall(text):
        for line in fence.splitlines()[1:-1]:
            for part in re.split(r" {2,}|&&|\|\|", line.split(" #")[0]):
                found.add(part.strip().removeprefix("$ "))
    for code in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
        found.add(code.strip())
    return {command for command in found if command.startswith(name + " ")}


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        wrong = []
        for document in documents():
            for target in links(text_of(document)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                place = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
                if not os.path.exists(os.path.join(ROOT, place)):
                    wrong.append(f"{document}: {target}: there is no {place}")
                elif anchor and place.endswith(".md") and anchor not in anchors(text_of(place)):
                    wrong.append(f"{document}: {target}: {place} has no such heading")
        self.assertEqual([], wrong)

    def test_the_checker_sees_what_is_wrong(self):
        self.assertEqual(["a.md", "b.md#x", "pic.png"], links("[a](a.md) `[no](c.md)` [b](b.md#x)\n```\n[no](d.md)\n```\n![p](pic.png)"))
        self.assertEqual({"one-two", "one-two-1", "listenhttp"}, anchors("# One two\n## One two\n```\n# no\n```\n### `listen.http`\n"))

    def test_every_chapter_is_in_the_index(self):
        index = links(text_of("deploy/guide/README.md"))
        for document in documents():
            folder, name = os.path.split(document)
            if folder == "deploy/guide" and name != "README.md":
                self.assertIn(name, index)
            if folder == "deploy/guide/reference":
                self.assertIn(f"reference/{name}", index)

    def test_every_kind_of_incident_is_in_the_guide(self):
        kinds = re.search(r"enum Kind \{\s+KIND_UNSPECIFIED = 0;\s+LINK_DOWN.*?\}", text_of("api/proto/weft/v1/incident.proto"), re.DOTALL)[0]
        chapter = text_of("deploy/guide/incidents.md")
        for kind in re.findall(r"^\s+([A-Z_]+) = [1-9]", kinds, re.MULTILINE):
            self.assertIn(f"[{kind}](../../dashboards/runbooks/{kind}.md)", chapter)

    def test_every_promise_of_remedies_names_a_test_that_there_is(self):
        # By its path: the guide is installed, tests are not.
        named = re.findall(r"`(tests/[\w./-]+)`", text_of("deploy/guide/remedies.md"))
        self.assertGreater(len(named), 20)
        self.assertEqual([], [path for path in named if not os.path.exists(os.path.join(ROOT, path))])

    def test_every_promise_of_remedies_is_one_row_with_its_test(self):
        rows = text_of("deploy/guide/remedies.md").split("| promise | its test |")[1].split("\n\n")[0].splitlines()[2:]
        self.assertGreater(len(rows), 50)
        for row in rows:
            with self.subTest(row[:80]):
                cells = row.strip("|").split(" | ")
                self.assertEqual((row[:2], row[-2:], len(cells)), ("| ", " |", 2))
                tests = re.findall(r"\]\(\.\./\.\./(tests/[\w./-]+)\)", cells[1])
                self.assertTrue(tests, "no test")
                for test in tests:
                    self.assertTrue(os.path.exists(os.path.join(ROOT, test)), test)

    def test_every_key_in_the_guide_is_one(self):
        keys = set(re.findall(r"^### `([\w.]+)`", text_of("deploy/config/reference.md") + text_of("deploy/config/collector-reference.md"), re.MULTILINE))
        sections = {key.split(".")[0] for key in keys if "." in key}
        for document in documents():
            if not document.startswith(("deploy/guide/", "dashboards/runbooks/", "README.md", "deploy/README.md")) or "/reference/" in document:
                continue
            for word in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", text_of(document)):
                if word.split(".")[0] in sections and not word.endswith((".db", ".toml", ".service")):
                    self.assertTrue(word in keys or any(key.startswith(word + ".") for key in keys), f"{document}: {word}")


class Commands(weft_testing.SubnetTest):
    """All of them are said to a real weftd: what it answers may be bad news or a refusal, never wrong usage."""
    infiniband = '[store]\nhistory_interval = "1s"\n'

    def in_new_folder(self, words: list[str]) -> list[str]:
        """The same; what writes evidence or a report, which replaces no file, into a folder of its own. An acceptance of hours is not waited for."""
        if words[0] == "accept" and "--help" not in words:
            folder = tempfile.mkdtemp(prefix="weft-guide-")
            self.addCleanup(shutil.rmtree, folder)
            return [os.path.join(folder, word) if word == "report.html" else word for word in words if word != "--wait"]
        if words[0] != "evidence" or "--help" in words:
            return words
        folder = tempfile.mkdtemp(prefix="weft-guide-")
        self.addCleanup(shutil.rmtree, folder)
        at = words.index("-o") if "-o" in words else len(words)
        return [*words[:at], "-o", folder, *words[at + 2:]]

    def test_weftctl(self):
        tried = 0
        for document in documents():
            for command in sorted(commands(text_of(document), "weftctl")):
                for name, here in NAMES:
                    command = command.replace(name, here)
                words = command.split("|")[0].split(">")[0]
                if re.search(r"\.\.\.|…|[A-Z]{2,}\b(?!-\d)|--watch|weftctl (watch|VERB)|\bplans --watch", re.sub(r"INC-\d+|PLAN-\d+|MW-\d+|ACC-\d+", "", words)):
                    continue  # names what it stands for, or goes on for ever
                with self.subTest(document=document, command=command):
                    try:
                        parts = shlex.split(words)[1:]
                    except ValueError as error:
                        self.fail(str(error))
                    if len([part for part in parts if not part.startswith("-")]) < 2 and command.count(" ") < 2:
                        parts.append("--help")  # only names the verb
                    done = weftctl(self.weftd, *self.in_new_folder(parts))
                    self.assertNotIn(done.returncode, (2, 3), done.stderr)
                    tried += 1
        self.assertGreater(tried, 40)

    def test_help_of_every_verb_has_examples_that_are_right(self):
        listed = subprocess.run([program("weftctl"), "--help"], capture_output=True, text=True, check=True, timeout=20).stdout
        for verb in re.findall(r"^  ([a-z-]+) {2,}", listed.split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE):
            text = subprocess.run([program("weftctl"), verb, "--help"], capture_output=True, text=True, check=True, timeout=20).stdout
            with self.subTest(verb):
                self.assertIn("Examples:\n  weftctl ", text)
                for line in text.split("Examples:")[1].splitlines():
                    command = re.split(r" {2,}", line.strip())[0].split(">")[0]
                    for name, here in NAMES:
                        command = command.replace(name, here)
                    words = shlex.split(command)[1:]
                    if words and "--watch" not in words and "watch" not in words:
                        self.assertNotIn(weftctl(self.weftd, *self.in_new_folder(words)).returncode, (2, 3), command)

    def test_help_of_a_part_of_a_verb_has_its_own_examples(self):
        def help_of(*verb):
            return subprocess.run([program("weftctl"), *verb, "--help"], capture_output=True, text=True, check=True, timeout=20).stdout
        said = help_of("maintenance", "add")
        self.assertIn("Examples:\n  weftctl maintenance add leaf-1 --for 2h", said)
        self.assertNotIn("weftctl status", said)
        self.assertNotIn("weftctl maintenance end", said)
        self.assertNotIn("Examples", help_of("maintenance", "list"), "it has none")

    def test_installing_by_packages_says_how_collectors_find_weftd(self):
        chapter = text_of("deploy/guide/install.md").split("## From packages")[1].split("\n## ")[0]
        for key in ("analyzer.address", "listen.grpc", "weftctl collectors"):
            self.assertIn(key, chapter)

    def test_paths_of_http(self):
        wait_until(lambda: weftctl(self.weftd, "history", "leaf-r0-p01:1").returncode == 0, within=30, why="there is no history")
        for path in sorted(set(re.findall(r"`GET (/[^`{]*)`", text_of("deploy/guide/http.md")))):
            with self.subTest(path):
                self.weftd.client.text(path + ("?from=gpu-0001&to=gpu-0016" if path.endswith("/path") else ""))

    def test_help_of_weftctl_fits_two_screens(self):
        said = subprocess.run([program("weftctl"), "--help"], capture_output=True, text=True, check=True, timeout=20).stdout.splitlines()
        self.assertLessEqual(len(said), 2 * 24)
        self.assertLessEqual(max(map(len, said)), 80)
        whole = subprocess.run([program("weftctl"), "--help-all"], capture_output=True, text=True, check=True, timeout=20).stdout
        for words in ("Exit status: 0 good", "WEFT_TOKEN_FILE", "Examples:"):
            self.assertIn(words, whole)
        of_verb = [subprocess.run([program("weftctl"), *words], capture_output=True, text=True, check=True, timeout=20).stdout
                   for words in (("help", "path"), ("path", "--help"))]
        self.assertEqual(*of_verb)

    def test_help_of_the_daemons_fits_two_screens(self):
        for name in ("weftd", "weft-collector"):
            short, whole = (subprocess.run([program(name), flag], capture_output=True, text=True, check=True, timeout=20).stdout
                            for flag in ("--help", "--help-all"))
            self.assertLessEqual(len(short.splitlines()), 2 * 24, name)
            self.assertLessEqual(max(map(len, short.splitlines())), 80, name)
            self.assertIn("--help-all", short)
            keys = re.findall(r"^#?([a-z_0-9]+) = ", subprocess.run([program(name), "--config-example"], capture_output=True, text=True,
                                                                check=True, timeout=20).stdout, re.MULTILINE)
            self.assertGreater(len(keys), 20, name)
            for key in keys:
                self.assertRegex(whole, rf"--([a-z0-9-]+-)?{key.replace('_', '-')}\b", name)

    def test_flags_of_the_daemons(self):
        for name in ("weftd", "weft-collector"):
            listed = subprocess.run([program(name), "--help-all"], capture_output=True, text=True, check=True, timeout=20).stdout
            for document in documents():
                for command in commands(text_of(document), name):
                    for flag in re.findall(r"(--[a-z-]+)", command):
                        self.assertRegex(listed, rf"{flag}\b", f"{document}: {command}")


if __name__ == "__main__":
    weft_testing.main()
