# SPDX-License-Identifier: Apache-2.0
"""deploy/rpm/weft.spec as Debian's rpmbuild reads it; with --long also built, of the source package that deploy/package makes.

What it leaves out: a distribution of RPM. Nothing was ever installed from these packages there."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from program_testing import main  # noqa: E402
from package_repository import NEEDS, repository  # noqa: E402

SPEC = os.path.join(ROOT, "deploy", "rpm", "weft.spec")
ALL = {"weftd", "weft-collector", "weftctl", "weft-common", "weft-dashboards", "weft-doc"}
# What is built and installed of these, as debhelper's lists have it.
SAME = ("weftd", "weft-collector", "weftctl")


def version() -> str:
    with open(os.path.join(ROOT, "VERSION"), encoding="ascii") as stream:
        return stream.read().strip()


def rpm(*command: str, within: float = 60) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=within, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} gave {done.returncode}:\n{done.stdout[-3000:]}")
    return done.stdout


@unittest.skipIf(not shutil.which("rpmbuild"), "rpm is not installed")
class Spec(unittest.TestCase):
    def test_it_has_the_packages_and_the_version(self):
        told = rpm("rpmspec", "-q", "--queryformat", "%{NAME} %{VERSION}\\n", "--define", f"weft_version {version()}", SPEC).split("\n")
        self.assertEqual({f"{name} {version()}" for name in ALL} | {""}, set(told) - {f"weft {version()}"})
        with self.assertRaisesRegex(AssertionError, "the version is not known"):
            rpm("rpmspec", "-P", SPEC)

    def test_what_it_copies_is_there(self):
        text = rpm("rpmspec", "-P", "--define", f"weft_version {version()}", SPEC)
        copied = [word for line in text.splitlines() if line.startswith(("install -D", "cp -r")) for word in line.split() if word.startswith(("deploy/", "dashboards/"))]
        self.assertGreater(len(copied), 8)
        self.assertEqual([], [path for path in copied if not glob.glob(os.path.join(ROOT, path))])

    def test_programs_are_in_the_packages_that_debian_has_them_in(self):
        text = rpm("rpmspec", "-P", "--define", f"weft_version {version()}", SPEC)
        for name in SAME:
            listed = text.split(f"%files -n {name}\n" if f"%files -n {name}\n" in text else f"%files {name.removeprefix('weft-')}\n")[1].split("\n%files")[0]
            with open(os.path.join(ROOT, "debian", f"{name}.install"), encoding="ascii") as stream:
                for path in (line.split()[0] for line in stream):
                    if path.startswith(("usr/bin/", "usr/share/man/")):
                        self.assertIn("/" + path, listed, name)


@unittest.skipUnless(os.environ.get("WEFT_LONG"), "minutes of building: tests/run --long")
@unittest.skipIf([name for name in (*NEEDS, "rpmbuild") if not shutil.which(name)], f"one of {', '.join((*NEEDS, 'rpmbuild'))} is not installed")
class Built(unittest.TestCase):
    def test_debians_rpmbuild_builds_it(self):
        source = os.path.join(os.path.dirname(repository()), "built")
        if not glob.glob(os.path.join(source, "weft_*.tar.xz")):
            self.skipTest(f"there is no source package in {source}")
        place = tempfile.mkdtemp(prefix="weft-rpm-")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        rpm("rpmbuild", "-bb", "--nodeps", "--define", f"weft_version {version()}", "--define", f"_sourcedir {source}", "--define", f"_topdir {place}", SPEC, within=3600)
        made = {rpm("rpm", "-qp", "--queryformat", "%{NAME}", path): path for path in glob.glob(os.path.join(place, "RPMS", "*", "*.rpm"))}
        self.assertEqual(ALL, set(made))
        files = {name: set(rpm("rpm", "-qlp", path).split()) for name, path in made.items()}
        self.assertIn("/etc/weft/weftd.toml", files["weftd"])
        self.assertIn("/usr/lib/systemd/system/weft.target", files["weft-common"])
        self.assertIn("/usr/share/doc/weft/deploy/guide/README.md", files["weft-doc"])
        self.assertEqual("/etc/weft/weftd.toml\n", rpm("rpm", "-qp", "--configfiles", made["weftd"]))


if __name__ == "__main__":
    main()
