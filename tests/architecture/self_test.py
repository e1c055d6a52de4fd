#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants what each rule forbids in a temporary tree and demands that it is found: a check that cannot fail checks nothing."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import includes
import rooms
import rules

LICENSED = "// SPDX-License-Identifier: Apache-2.0\n"
GOOD = {
    "LICENSE": "Apache License\n",
    "VERSION": "1.2.3\n",
    "fabric/README.md": "# fabric\n",
    "fabric/ids.hpp": "#pragma once\n\n#include <cstdint>\n",
    "collectors/README.md": "# collectors\n",
    "collectors/infiniband/sweep.hpp": '#pragma once\n\n#include <infiniband/umad.h>\n\n#include "fabric/ids.hpp"\n',
    "analyzer/README.md": "# analyzer\n",
    "analyzer/detect/rules.hpp": '#pragma once\n\n#include "fabric/ids.hpp"\n',
    "api/README.md": "# api\n",
    "api/http/server.hpp": '#pragma once\n\n#include "fabric/ids.hpp"\n#include "weft/v1/fabric.pb.h"\n',
    "daemon/README.md": "# daemon\n",
    "daemon/programs/weftd/main.cpp": '#include "analyzer/detect/rules.hpp"\n#include "api/http/server.hpp"\n'
                             '#include "collectors/infiniband/sweep.hpp"\n#include "fabric/ids.hpp"\n',
    "daemon/adapters/store/store.hpp": '#pragma once\n\n#include "fabric/ids.hpp"\n',
    "tests/README.md": "# tests\n",
    rooms.TABLE: """# a comment
fabric:
collectors/infiniband: fabric
analyzer/detect: fabric  # another

api/proto:
api/http: fabric api/proto
daemon/adapters/store: fabric
daemon/programs/weftd:
    fabric collectors/infiniband
    analyzer/detect api/http
""",
    "api/proto/weft/v1/fabric.proto": LICENSED + "message Fabric {}\n",
}

GRAPH = """weft_fabric|fabric|tl::expected
weft_collectors_infiniband|collectors/infiniband|weft_fabric;$<LINK_ONLY:PkgConfig::IBUMAD>
weft_analyzer|analyzer/detect|weft_fabric
weft_api_proto|api/proto|protobuf::libprotobuf
weft_api_http|api/http|weft_fabric;$<LINK_ONLY:weft_api_proto>
weft_daemon_adapters_store|daemon/adapters/store|weft_fabric;SQLite::SQLite3
weftd|daemon/programs/weftd|weft_collectors_infiniband;weft_analyzer;weft_api_http
"""


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weft-architecture-")
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name, text in GOOD.items():
            self.plant(name, LICENSED + text if name.endswith((".hpp", ".cpp")) else text)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def assert_only(self, complaints, *parts):
        self.assertEqual(len(complaints), 1, complaints)
        for part in parts:
            self.assertIn(part, complaints[0])


class Files(Planted):
    def test_good_tree_has_no_complaints(self):
        for check in (includes.check_includes, rules.check_files, rules.check_tests, rules.check_readmes,
                      rules.check_version, rules.check_license):
            self.assertEqual(check(self.root), [])

    def test_long_file(self):
        self.plant("daemon/programs/weftd/long.cpp", "\n" * (rules.FILE_LINES + 1))
        self.assert_only(rules.check_files(self.root), "daemon/programs/weftd/long.cpp", "501 lines")

    def test_unfinished_work(self):
        for name in ("daemon/programs/weftd/a.cpp", "deploy/run.sh", "tests/tool.py", "CMakeLists.txt"):
            with self.subTest(name=name):
                self.plant(name, "fine\n// TO" "DO: the rest\n")
                self.assert_only(rules.check_files(self.root), f"{name}:2")
                (self.root / name).unlink()

    def test_script_without_suffix(self):
        self.plant("deploy/start", "#!/bin/sh\n# FIX" "ME\n")
        self.assert_only(rules.check_files(self.root), "deploy/start:2")

    def test_header_without_guard(self):
        self.plant("fabric/bare.hpp", "int x;\n")
        self.assert_only(rules.check_files(self.root), "fabric/bare.hpp:1", "#pragma once")

    def test_using_namespace_in_header(self):
        self.plant("fabric/open.hpp", "#pragma once\nusing namespace std;\n")
        self.assert_only(rules.check_files(self.root), "fabric/open.hpp:2")

    def test_build_folders_are_not_ours(self):
        self.plant("build/dev/x.cpp", "// TO" "DO\n")
        self.assertEqual(rules.check_files(self.root), [])

    def test_a_test_that_nobody_runs(self):
        self.plant("tests/x/CMakeLists.txt", f"# {License.LINE}\nforeach(file shape others)\nweft_unit_test(SOURCES a_test.cpp)\n")
        for name in ("tests/x/test_shape.py", "tests/x/a_test.cpp", "tests/x/testing.py"):
            self.plant(name, "\n")
        self.assertEqual(rules.check_tests(self.root), [])
        for name in ("tests/x/test_other.py", "tests/x/test_shapes.py", "tests/x/b_test.cpp", "tests/y/test_shape.py"):
            with self.subTest(name=name):
                self.plant(name, "\n")
                self.assert_only(rules.check_tests(self.root), f"{name}:1", "CMakeLists.txt does not name it")
                (self.root / name).unlink()

    def test_missing_and_long_readme(self):
        (self.root / "api/README.md").unlink()
        self.assert_only(rules.check_readmes(self.root), "api/README.md: missing")
        self.plant("api/README.md", "line\n" * (rules.README_LINES + 1))
        self.assert_only(rules.check_readmes(self.root), "longer than a page")


class License(Planted):
    LINE = "SPDX-License-Identifier: Apache-2.0"

    def test_missing_text(self):
        (self.root / "LICENSE").unlink()
        self.assert_only(rules.check_license(self.root), "LICENSE: missing")
        self.plant("LICENSE", "\n")
        self.assert_only(rules.check_license(self.root), "LICENSE: missing, or not the Apache License")

    def test_every_kind_of_source(self):
        for name, head, mark in (("daemon/programs/weftd/a.cpp", "", "// {}"), ("fabric/a.hpp", "", "// {}"),
                                 ("tests/tool.py", "#!/usr/bin/python3\n", "# {}"), ("deploy/run.sh", "#!/bin/sh\n", "# {}"),
                                 ("deploy/start", "#!/bin/sh\n", "# {}"), ("CMakeLists.txt", "", "# {}"),
                                 ("cmake/Room.cmake", "", "# {}"), ("api/proto/a.proto", "", "// {}"),
                                 ("dashboards/a.ts", "", "// {}"), ("dashboards/a.tsx", "", "// {}"),
                                 ("dashboards/a.js", "", "// {}"), ("dashboards/a.mjs", "", "// {}"),
                                 ("dashboards/a.css", "", "/* {} */"), ("tests/a.pml", "", "/* {} */"),
                                 ("deploy/a.bash", "", "# {}"), ("dashboards/a.html", "<!DOCTYPE html>\n", "<!-- {} -->"),
                                 ("dashboards/a.yml", "", "# {}"), ("deploy/a.yaml", "", "# {}"), ("clients/a.toml", "", "# {}"),
                                 ("deploy/a.service", "", "# {}"), ("cmake/a.hpp.in", "", "// {}"), ("tests/Makefile", "", "# {}"),
                                 ("tests/Dockerfile", "", "# {}")):
            with self.subTest(name=name):
                self.plant(name, head + mark.format(self.LINE) + "\nx\n")
                self.assertEqual(rules.check_license(self.root), [])
                self.plant(name, head + "x\n")
                self.assert_only(rules.check_license(self.root), name, self.LINE)
                self.plant(name, head + "\n" * rules.LICENSE_LINES + mark.format(self.LINE) + "\n")
                self.assert_only(rules.check_license(self.root), name)
                self.plant(name, head + mark.format("SPDX-License-Identifier: MIT") + "\n")
                self.assert_only(rules.check_license(self.root), name)
                (self.root / name).unlink()

    def test_what_is_no_source(self):
        for name in ("deploy/guide/a.md", "dashboards/a.json", "tests/fuzz/seeds/tokens/a.py", "build/dev/a.cpp",
                     "tests/scenarios/a.scenario", "deploy/config/a.toml"):
            self.plant(name, "x\n")
        self.assertEqual(rules.check_license(self.root), [])

    def test_kernel_module(self):
        self.plant("tests/kernel/module/a.c", "// SPDX-License-Identifier: GPL-2.0\n")
        self.plant("tests/kernel/module/Kbuild", "# SPDX-License-Identifier: GPL-2.0\n")
        self.plant("tests/kernel/module/a.h", "/* SPDX-License-Identifier: GPL-2.0 */\n")
        self.assertEqual(rules.check_license(self.root), [])
        self.plant("tests/kernel/module/a.c", f"// {self.LINE}\n")
        self.assert_only(rules.check_license(self.root), "tests/kernel/module/a.c", "GPL-2.0")


class Version(Planted):
    def test_missing_and_malformed(self):
        self.plant("VERSION", "1.2\n")
        self.assert_only(rules.check_version(self.root), "VERSION: must be one line")
        (self.root / "VERSION").unlink()
        self.assert_only(rules.check_version(self.root), "VERSION: must be one line")

    def test_copies(self):
        for name, line in (("CMakeLists.txt", "project(weft VERSION {} LANGUAGES CXX)"),
                           ("clients/python/pyproject.toml", 'version = "{}"'),
                           ("clients/python/setup.py", 'setup(name="x", version="{}")'),
                           ("clients/python/weft/__init__.py", '__version__ = "{}"'),
                           ("CMakeLists.txt", "project(\n  weft\n  LANGUAGES CXX\n  VERSION {}\n)"), ("CMakeLists.txt", "PROJECT ( weft VERSION \"{}\")"),
                           ("debian/changelog", "weft ({}) bookworm; urgency=medium"),
                           ("dashboards/web/package.json", '{{\n  "version": "{}"\n}}'),
                           ("dashboards/web/package.json", '{{"name": "x",\n\t"version" :\n"{}"}}'),
                           ("dashboards/web/package-lock.json", '{{"version": "{}"}}'),
                           ("dashboards/web/package-lock.json", '{{"packages": {{"": {{"version": "{}"}}}}}}')):
            with self.subTest(name=name):
                self.plant(name, line.format("1.2.3") + "\n")
                self.assertEqual(rules.check_version(self.root), [])
                self.plant(name, line.format("1.2.4") + "\n")
                self.assert_only(rules.check_version(self.root), name, "says version 1.2.4", "VERSION says 1.2.3")
                (self.root / name).unlink()

    def test_versions_of_others(self):
        self.plant("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(weft VERSION ${weft_version})\n")
        self.plant("dashboards/web/package.json", '{\n  "dependencies": {\n    "version": "9.9.9"\n  }\n}\n')
        self.plant("dashboards/web/package-lock.json", '{"lockfileVersion": 3, "packages": {"": {}, "node_modules/x": {"version": "9.9.9"}}}\n')
        self.plant("clients/python/setup.py", "setup(version=version())\n")
        self.assertEqual(rules.check_version(self.root), [])
        self.plant("dashboards/web/package.json", "{")
        self.assert_only(rules.check_version(self.root), "dashboards/web/package.json: is not JSON")


class Program(Planted):
    def run_check(self, *arguments):
        program = [sys.executable, str(Path(__file__).parent / "check"), str(self.root), *arguments]
        return subprocess.run(program, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_exit_status_and_output(self):
        graph = self.root / "graph.txt"
        graph.write_text(GRAPH, encoding="utf-8")
        self.assertEqual(self.run_check("rules", str(graph)).returncode, 0)
        self.plant("fabric/ids.cpp", '#include "daemon/adapters/store/store.hpp"\n')
        failed = self.run_check("rules", str(graph))
        self.assertEqual(failed.returncode, 1)
        self.assertIn("fabric/ids.cpp:1", failed.stdout)

    def test_empty_graph_is_no_proof(self):
        graph = self.root / "graph.txt"
        graph.write_text("", encoding="utf-8")
        self.assertEqual(self.run_check("rules", str(graph)).returncode, 1)

    def test_format(self):
        self.plant(".clang-format", "BasedOnStyle: Google\n")
        done = self.run_check("format")
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.plant("fabric/ugly.cpp", "int   x ;\n")
        self.assertEqual(self.run_check("format").returncode, 1)

    def test_shell(self):
        self.plant("deploy/start", "#!/bin/sh\necho \"$1\"\n")
        done = self.run_check("shell")
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.plant("deploy/start", "#!/bin/sh\nrm -r $1/*\n")
        self.assertEqual(self.run_check("shell").returncode, 1)


if __name__ == "__main__":
    unittest.main()
