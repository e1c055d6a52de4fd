#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The pre-commit hook in a temporary git repository: refuses what is staged and bad, lets pass what is good."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from self_test import GOOD, LICENSED

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMMENTED = LICENSED + "#pragma once\n\n/// Commented.\nint f();\n"


class Hook(unittest.TestCase):
    def setUp(self):
        if shutil.which("git") is None:
            self.skipTest("git is not installed")
        folder = tempfile.TemporaryDirectory(prefix="weft hook ")  # with a blank, as a home may have one
        self.addCleanup(folder.cleanup)
        self.root, self.scratch = Path(folder.name) / "tree", Path(folder.name) / "scratch"
        self.scratch.mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environment |= {"TMPDIR": str(self.scratch), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        for name, text in GOOD.items():
            self.plant(name, LICENSED + text if name.endswith((".hpp", ".cpp")) else text)
        self.plant("fabric/commented.hpp", COMMENTED)
        self.plant(".clang-format", "BasedOnStyle: Google\n")
        for name in ("check", "tree.py", "rooms.py", "includes.py", "declarations.py"):
            self.copy(HERE / name, f"tests/architecture/{name}")
        text = (HERE / "rules.py").read_text(encoding="utf-8")
        self.plant("tests/architecture/rules.py", re.sub(r"^UNCOMMENTED = \d+$", "UNCOMMENTED = 0", text, flags=re.MULTILINE))
        self.plant("tests/README.md", "# tests\n")
        for name in ("pre-commit", "pre-merge-commit"):
            self.copy(ROOT / ".githooks" / name, f".githooks/{name}")
        self.git("init", "--quiet")
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@example.org")
        self.git("config", "core.hooksPath", ".githooks")
        self.git("add", "--all")
        self.assert_passes(self.commit())

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def copy(self, source, name):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, self.root / name)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environment, check=True)

    def commit(self, *arguments):
        return subprocess.run(["git", "commit", "--quiet", "-m", "Change", *arguments], cwd=self.root, text=True, check=False,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def assert_passes(self, done):
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def assert_refused(self, done, *parts):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for part in (*parts, "Mend what is listed above"):
            self.assertIn(part, done.stdout)
        self.assertEqual(list(self.scratch.iterdir()), [])

    def needs(self, tool):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")

    def test_good_file(self):
        self.plant("fabric/ids.cpp", LICENSED + '#include "fabric/ids.hpp"\n')
        self.git("add", "--all")
        self.assert_passes(self.commit())

    def test_bad_include_in_a_name_with_a_blank(self):
        self.plant("fabric/two words.cpp", LICENSED + '#include "daemon/adapters/store/store.hpp"\n')
        self.git("add", "--all")
        self.assert_refused(self.commit(), "fabric/two words.cpp:2", "must not know daemon")

    def test_bad_format_says_how_to_mend_it(self):
        self.needs("clang-format")
        self.plant("fabric/two words.cpp", LICENSED + "int   x ;\n")
        self.plant("fabric/other.cpp", LICENSED + "int x;\n")
        self.git("add", "--all")
        refused = self.commit()
        self.assert_refused(refused, "fabric/two words.cpp:2", "clang-format -i fabric/other.cpp 'fabric/two words.cpp'")
        self.git("config", "alias.mend", "!clang-format -i 'fabric/two words.cpp'")
        self.git("mend")
        self.assert_refused(self.commit(), "fabric/two words.cpp:2")  # mended, and not added
        self.git("add", "--all")
        self.assert_passes(self.commit())

    def test_bad_script(self):
        self.needs("shellcheck")
        self.plant("deploy/do it", "#!/bin/sh\nrm -r $1/*\n")
        self.plant("deploy/README.md", "# deploy\n")
        self.git("add", "--all")
        self.assert_refused(self.commit(), "deploy/do it", "SC")

    def test_only_what_is_staged_counts(self):
        self.plant("fabric/ids.cpp", LICENSED + "int x;\n")
        self.git("add", "--all")
        self.plant("fabric/ids.cpp", LICENSED + '#include "daemon/adapters/store/store.hpp"\n')
        self.plant("fabric/unknown.cpp", LICENSED + '#include "daemon/adapters/store/store.hpp"\n')
        self.assert_passes(self.commit())

    def test_commit_of_named_files(self):
        self.plant("fabric/ids.hpp", LICENSED + '#pragma once\n\n#include "daemon/adapters/store/store.hpp"\n')
        self.plant("fabric/commented.hpp", COMMENTED + "// more\n")
        self.assert_passes(self.commit("--", "fabric/commented.hpp"))
        self.assert_refused(self.commit("--all"), "fabric/ids.hpp:4")

    def test_a_header_that_goes(self):
        self.git("rm", "--quiet", "analyzer/detect/rules.hpp")
        self.assert_refused(self.commit(), "daemon/programs/weftd/main.cpp:2", "does not exist")

    def test_a_file_that_moves(self):
        self.git("mv", "daemon/adapters/store/store.hpp", "daemon/adapters/store/a store.hpp")
        self.assert_passes(self.commit())

    def test_declaration_without_comment(self):
        self.plant("fabric/commented.hpp", COMMENTED + "\nint g();\n")
        self.git("add", "--all")
        self.assert_refused(self.commit(), "fabric/commented.hpp: 1: g")

    def test_merge_without_a_conflict(self):
        self.git("checkout", "--quiet", "-b", "side")
        self.plant("fabric/ids.cpp", LICENSED + '#include "fabric/commented.hpp"\n')
        self.git("add", "--all")
        self.assert_passes(self.commit())
        self.git("checkout", "--quiet", "-")
        self.plant("fabric/more.hpp", COMMENTED)
        self.git("add", "--all")
        self.assert_passes(self.commit())
        self.assert_passes(self.merge())
        self.git("reset", "--quiet", "--hard", "HEAD^")
        self.git("rm", "--quiet", "fabric/commented.hpp")
        self.assert_passes(self.commit())
        self.assert_refused(self.merge(), "fabric/ids.cpp:2", "does not exist")

    def merge(self):
        return subprocess.run(["git", "merge", "--no-edit", "side"], cwd=self.root, text=True, check=False, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_nothing_staged(self):
        self.assert_passes(self.commit("--allow-empty"))
        self.assert_passes(self.commit("--allow-empty", "--amend"))

    def test_without_the_tools(self):
        tools = self.root.parent / "tools"
        tools.mkdir()
        for name in ("git", "bash", "python3", "mktemp", "rm"):
            (tools / name).symlink_to(sys.executable if name == "python3" else shutil.which(name))
        self.environment["PATH"] = str(tools)
        self.plant("fabric/ids.cpp", LICENSED + "int   x ;\n")
        self.plant("deploy/run", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\nrm -r $1/*\n")
        self.plant("deploy/README.md", "# deploy\n")
        self.git("add", "--all")
        done = self.commit()
        self.assert_passes(done)
        self.assertIn("clang-format is not installed", done.stdout)
        self.assertIn("shellcheck is not installed", done.stdout)


if __name__ == "__main__":
    unittest.main()
