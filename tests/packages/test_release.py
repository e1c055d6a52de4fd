# SPDX-License-Identifier: Apache-2.0
"""deploy/release: refuses a tag that is not fit, publishes what is the same twice, and nothing else. By default on a made repository whose packages are made in no
time; tests/run --long makes the real ones of the commit that is checked out."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))

import package_repository  # noqa: E402
from program_testing import main  # noqa: E402

ROOT = package_repository.ROOT
CHANGELOG = """\
# Changelog

## [Unreleased]

- Not yet.

## [0.2.0] - 2026-12-01

### Added

- A door.

## [0.1.0] - 2026-11-01

- A wall.
"""
PACKAGE = """\
#!/bin/bash
while [[ $# -gt 0 ]]; do case $1 in --output) output=$2; shift ;; esac; shift; done
mkdir -p "$output"
cat "${0%/deploy/package}/VERSION" >"$output/weftd.deb"
date >"$output/weft.buildinfo"
CONTENTS
"""


class Repository:
    """With this tree's deploy/release, and a deploy/package that writes a file in no time."""

    def __init__(self, place: str):
        self.place = os.path.join(place, "repository")
        os.makedirs(os.path.join(self.place, "deploy"))
        shutil.copy(os.path.join(ROOT, "deploy", "release"), os.path.join(self.place, "deploy"))
        self.git("init", "--quiet", "--initial-branch=main")
        os.mkdir(os.path.join(self.place, "debian"))
        self.write(VERSION="0.2.0\n", changelog="weft (0.2.0) bookworm; urgency=medium\n", CHANGELOG=CHANGELOG)
        self.package('cp "${0%/deploy/package}/CHANGELOG.md" "$output/"')

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", "-C", self.place, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", *arguments], check=True,
                       stdin=subprocess.DEVNULL)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            path = {"changelog": "debian/changelog", "CHANGELOG": "CHANGELOG.md", "package": "deploy/package"}.get(name, name)
            with open(os.path.join(self.place, path), "w", encoding="utf-8") as stream:
                stream.write(text)
            if name == "package":
                os.chmod(os.path.join(self.place, path), 0o755)
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", "x")

    def package(self, contents: str) -> None:
        self.write(package=PACKAGE.replace("CONTENTS", contents))

    def tag(self, name: str) -> None:
        self.git("tag", "--force", name)

    def release(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([os.path.join(self.place, "deploy", "release"), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="weft-release-test-")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.repository = Repository(self.place)
        self.output = os.path.join(self.place, "output")

    def made(self) -> list[str]:
        return sorted(os.listdir(self.output)) if os.path.isdir(self.output) else []

    def read(self, name: str) -> str:
        with open(os.path.join(self.output, name), encoding="utf-8") as stream:
            return stream.read()

    def release(self, tag: str = "v0.2.0") -> subprocess.CompletedProcess:
        return self.repository.release(tag, "--no-images", "--output", self.output, "--work", self.place)


class Release(ReleaseTest):
    def refused(self, words: str, tag: str = "v0.2.0") -> None:
        self.repository.tag(tag)
        done = self.repository.release(tag, "--dry-run")
        self.assertEqual((1, True), (done.returncode, words in done.stdout), done.stdout)

    def test_what_is_the_same_twice_is_published_with_its_section_and_sums(self):
        self.repository.tag("v0.2.0")
        done = self.release()
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(["CHANGELOG.md", "RELEASE-NOTES.md", "SHA256SUMS", "weftd.deb"], self.made())
        self.assertEqual("### Added\n\n- A door.\n", self.read("RELEASE-NOTES.md"))
        checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=self.output, stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual((0, 3), (checked.returncode, checked.stdout.count(": OK")))
        self.assertEqual(0, self.release().returncode, "the same once more is nothing new")
        with open(os.path.join(self.output, "weftd.deb"), "w", encoding="ascii") as stream:
            stream.write("another")
        self.assertIn("weftd.deb is there already, and is another one", self.release().stdout)

    def test_a_branch_of_the_tags_name_is_not_published(self):
        self.repository.tag("v0.2.0")
        self.repository.git("checkout", "--quiet", "-b", "v0.2.0")
        self.repository.package('echo of the branch >"$output/weftd.deb"')
        done = self.release()
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(["CHANGELOG.md", "RELEASE-NOTES.md", "SHA256SUMS", "weftd.deb"], self.made())
        self.assertNotIn("of the branch", self.read("weftd.deb"))

    def test_each_version_has_its_folder(self):
        self.repository.tag("v0.2.0")
        first = self.repository.release("v0.2.0", "--no-images", "--work", self.place)
        self.repository.write(VERSION="0.3.0\n", changelog="weft (0.3.0) bookworm; urgency=medium\n",
                              CHANGELOG="## [0.3.0] - 2026-12-24\n\n- A window.\n")
        self.repository.tag("v0.3.0")
        second = self.repository.release("v0.3.0", "--no-images", "--work", self.place)
        self.assertEqual((0, 0), (first.returncode, second.returncode), first.stdout + second.stdout)
        self.assertEqual(["0.2.0", "0.3.0"], sorted(os.listdir(os.path.join(self.repository.place, "build", "release-files"))))
        built = os.path.join(self.place, "another")
        os.mkdir(built)
        with open(os.path.join(built, "RELEASE-NOTES.md"), "w", encoding="ascii") as stream:
            stream.write("of another version")
        refused = self.repository.release("v0.3.0", "--no-images", "--output", built, "--work", self.place)
        self.assertEqual(1, refused.returncode)
        self.assertIn("RELEASE-NOTES.md is there already, and is another one", refused.stdout)
        self.assertNotIn("making it", refused.stdout, "before the building, not after it")

    def test_where_nothing_can_be_written(self):
        self.repository.tag("v0.2.0")
        with open(self.output, "w", encoding="ascii"):
            pass
        for arguments in (("--output", self.output), ("--output", os.path.join(self.place, "fit"), "--work", os.path.join(self.place, "none"))):
            done = self.repository.release("v0.2.0", "--no-images", *arguments)
            self.assertEqual((1, 1), (done.returncode, done.stdout.count("release: [Errno")), done.stdout)
            self.assertNotIn("Traceback", done.stdout)

    def test_a_full_disk_leaves_no_half_of_a_file(self):
        self.repository.package('head -c 3000000 /dev/zero >"$output/weftd.deb"')
        self.repository.tag("v0.2.0")
        os.mkdir(self.output)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.output], stderr=subprocess.DEVNULL, check=False)
        if mounted.returncode:
            self.skipTest("a file system of its own needs root")
        try:
            done = self.release()
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertIn("No space left on device", done.stdout)
            self.assertEqual([], self.made())
        finally:
            subprocess.run(["umount", self.output], check=True)

    def test_what_differs_is_not_published(self):
        for contents, wrong in (("date +%N >\"$output/clock\"", "clock"), ("date +%Z >\"$output/zone\"", "zone"), ("echo \"$output\" >\"$output/place\"", "place"),
                                ("touch \"$output/once-$$\"", "once-")):
            with self.subTest(wrong):
                self.repository.package(contents)
                self.repository.tag("v0.2.0")
                done = self.release()
                self.assertEqual(1, done.returncode, done.stdout)
                self.assertIn(f"not the same both times: {wrong}", done.stdout)
                self.assertEqual([], self.made())

    def test_a_build_that_fails_is_told(self):
        self.repository.package("echo no compiler >&2; exit 3")
        self.repository.tag("v0.2.0")
        done = self.release()
        self.assertEqual(1, done.returncode)
        self.assertIn("deploy/package gave 3:\nno compiler", done.stdout)
        self.assertEqual([], self.made())

    def test_a_tag_that_is_not_fit(self):
        self.assertIn("there is no tag v0.2.0", self.repository.release("v0.2.0", "--dry-run").stdout)
        self.refused("it must be v0.2.0", "v0.3.0")
        self.repository.write(changelog="weft (0.1.0) bookworm; urgency=medium\n")
        self.refused("debian/changelog begins with 0.1.0, not 0.2.0")
        self.repository.write(VERSION="0.3.0\n", changelog="weft (0.3.0) bookworm; urgency=medium\n")
        self.refused("no section \"## [0.3.0] - ", "v0.3.0")
        self.repository.write(CHANGELOG="## [0.3.0] - soon\n- Yes.\n")
        self.refused("soon is no date", "v0.3.0")
        self.repository.write(CHANGELOG="## [0.3.0] - 2026-12-24\n\n## [0.2.0] - 2026-12-01\n- A door.\n")
        self.refused("says nothing of 0.3.0", "v0.3.0")


if os.environ.get("WEFT_LONG"):
    @unittest.skipIf([name for name in package_repository.NEEDS if not shutil.which(name)], f"one of {', '.join(package_repository.NEEDS)} is not installed")
    class RealRelease(ReleaseTest):
        def test_the_real_packages_are_the_same_twice(self):
            clone = os.path.join(self.place, "clone")
            subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True, stdin=subprocess.DEVNULL)
            self.repository.place = clone
            with open(os.path.join(clone, "VERSION"), encoding="ascii") as stream:
                version = stream.read().strip()
            with open(os.path.join(clone, "CHANGELOG.md"), encoding="utf-8") as stream:
                text = stream.read()
            if f"## [{version}] - " not in text:
                self.repository.write(CHANGELOG=text.replace("## [Unreleased]", f"## [Unreleased]\n\n## [{version}] - 2026-12-24", 1))
            self.repository.tag(f"v{version}")
            done = self.release(f"v{version}")
            self.assertEqual(0, done.returncode, done.stdout)
            self.assertIn(f"weftd_{version}_amd64.deb", self.made())


if __name__ == "__main__":
    main()
