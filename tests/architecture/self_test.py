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


class Includes(Planted):
    def test_good_tree_has_no_complaints(self):
        for check in (includes.check_includes, rules.check_files, rules.check_readmes, rules.check_version,
                      rules.check_license):
            self.assertEqual(check(self.root), [])

    def test_arrow_upward(self):
        self.plant("fabric/ids.cpp", '#include "daemon/adapters/store/store.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "fabric/ids.cpp:1", "must not know daemon")

    def test_arrow_upward_in_angle_brackets(self):
        self.plant("fabric/ids.cpp", '  # include <api/http/server.hpp>\n')
        self.assert_only(includes.check_includes(self.root), "must not know api")

    def test_arrow_sideways(self):
        self.plant("analyzer/detect/rules.cpp", '\n#include "collectors/infiniband/sweep.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "analyzer/detect/rules.cpp:2", "must not know collectors")

    def test_arrow_from_wing_to_wing_upward(self):
        self.plant("daemon/programs/weftd/core.hpp", "#pragma once\n")
        self.plant("daemon/adapters/store/store.cpp", '#include "daemon/programs/weftd/core.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "daemon/adapters/store must not know daemon/programs/weftd")

    def test_wing_that_must_not_know_a_room(self):
        self.plant("daemon/adapters/store/store.cpp", '#include "analyzer/detect/rules.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "daemon/adapters/store must not know analyzer")

    def test_wire_format_stays_in_api(self):
        self.plant("collectors/infiniband/sweep.cpp", '#include "weft/v1/fabric.pb.h"\n')
        self.assert_only(includes.check_includes(self.root), "must not know api/proto")

    def test_arrow_that_is_not_in_the_table(self):
        self.plant("daemon/programs/weftd/core.cpp", '#include "daemon/adapters/store/store.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "weftd/core.cpp:1", "does not know daemon/adapters/store", rooms.TABLE)
        self.plant("daemon/programs/weftd/core.cpp", '#include "weft/v1/fabric.pb.h"\n')
        self.assert_only(includes.check_includes(self.root), "does not know api/proto")

    def test_folder_without_a_row(self):
        self.plant("analyzer/links/flaps.hpp", '#pragma once\n#include "fabric/ids.hpp"\n'
                                               '#include "collectors/infiniband/sweep.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "analyzer/links: this folder has sources and no row")

    def test_include_not_by_place(self):
        self.plant("api/http/server.cpp", '#include "server.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "not by place")

    def test_include_of_nothing(self):
        self.plant("api/http/server.cpp", '#include "api/http/gone.hpp"\n')
        self.assert_only(includes.check_includes(self.root), "does not exist")

    def test_forbidden_libraries(self):
        for place, include in (("fabric/a.cpp", "<fstream>"), ("fabric/a.cpp", "<sys/socket.h>"),
                               ("analyzer/detect/a.cpp", "<thread>"), ("analyzer/detect/a.cpp", "<sqlite3.h>"),
                               ("analyzer/detect/a.cpp", "<boost/asio.hpp>"), ("fabric/a.cpp", "<time.h>"), ("fabric/a.cpp", "<ctime>"),
                               ("fabric/a.cpp", "<sstream>"), ("analyzer/detect/a.cpp", "<atomic>"), ("fabric/a.cpp", "<cstdlib>"),
                               ("analyzer/detect/a.cpp", "<stop_token>"), ("fabric/a.cpp", "<boost/math/x.hpp>"), ("api/http/a.cpp", "<sqlite3.h>"),
                               ("collectors/infiniband/a.cpp", "<grpcpp/grpcpp.h>")):
            with self.subTest(place=place, include=include):
                self.plant(place, f"#include {include}\n")
                self.assert_only(includes.check_includes(self.root), "must not include")
                (self.root / place).unlink()

    def test_clock_in_the_analyzer(self):
        self.plant("analyzer/detect/a.cpp",
                   "// system_clock::now in a comment is talk\nauto x = std::chrono::system_clock::now();\n")
        self.assert_only(includes.check_includes(self.root), "a.cpp:2", "clock")

    def test_clocks_of_every_kind(self):
        for text in ("auto x = std::time(nullptr);", "auto x = time(0);", "auto x = time(&y);", "auto x = ::time(&y);", "clock_gettime(0, &y);",
                     "auto x = std::chrono::utc_clock::now();", "using Now = std::chrono::steady_clock;", "auto x = SystemClock().now();",
                     'auto x = f("http://", steady_clock::now());', "auto x = '\"'; auto y = steady_clock::now();  // \"",
                     "/* one */ auto x = steady_clock /* two */ ::now();", "auto x = clock();"):
            with self.subTest(text=text):
                for place in ("fabric/a.cpp", "analyzer/detect/a.cpp"):
                    self.plant(place, "\n" + text + "\n")
                    self.assert_only(includes.check_includes(self.root), f"{place}:2", "clock")
                    (self.root / place).unlink()

    def test_what_is_no_clock(self):
        self.plant("fabric/clock.hpp", "#pragma once\nauto x = std::chrono::system_clock::now();\n")
        self.plant("analyzer/detect/a.cpp", "/* steady_clock\n */\nauto x = \"steady_clock::now\";\nauto y = update(now);\n"
                                            "hh_mm_ss time(floor(x));\nauto z = x.time(0);\n")
        self.assertEqual(includes.check_includes(self.root), [])

    def test_include_that_is_not_understood(self):
        for line in ("#include HEADER", "#include_next <vector>", "#import <vector>", "# /* x */ include <vector>", "/* x */ #include <vector>",
                     " */ #include <vector>", "%:include <vector>", "#inc\\\nlude <vector>", "#\\\ninclude <vector>", "import <vector>;",
                     "export import weft.fabric;", "#embed <vector>", "#include <vector> /* x */"):
            with self.subTest(line=line):
                self.plant("fabric/a.cpp", f"\n{line}\n")
                self.assertIn("fabric/a.cpp:2: this include is not understood", "\n".join(includes.check_includes(self.root)))

    def test_other_directives_and_texts(self):
        self.plant("fabric/a.cpp", "#include <vector>  // why\n#ifndef A\n#define A(x) \\\n  x\n#endif\nauto x = R\"(\n## Ports of hosts\n# HELP x\n)\";\n"
                                   "import_all(x);\n#if __has_include(<vector>)\n#endif\n")
        self.assertEqual(includes.check_includes(self.root), [])

    def test_include_of_what_is_in_no_room(self):
        self.plant("tests/fakes/fake.hpp", "#pragma once\n")
        self.plant("dashboards/web/page.hpp", "#pragma once\n")
        for name in ("tests/fakes/fake.hpp", "dashboards/web/page.hpp", "../daemon/store.hpp", "/usr/include/time.h", "x/../../daemon/store.hpp"):
            for room in ("fabric", "collectors/infiniband", "daemon/programs/weftd"):
                with self.subTest(name=name, room=room):
                    self.plant(f"{room}/a.cpp", f"#include <{name}>\n")
                    self.assert_only(includes.check_includes(self.root), f"{room}/a.cpp:1", f"must not include {name}")
                    (self.root / room / "a.cpp").unlink()

    def test_files_that_no_check_looks_into(self):
        for name in ("fabric/a.inc", "api/http/a.inl", "analyzer/detect/a.cc", "fabric/a.hh", "daemon/programs/weftd/a.cxx", "fabric/a.h",
                     "fabric/a", "fabric/more/a.CPP"):
            self.plant(name, '#include "daemon/adapters/store/store.hpp"\n')
            self.assert_only(includes.check_includes(self.root), f"{name}: a room must not have such a file")
            (self.root / name).unlink()
        for target in ("../daemon/adapters/store/store.hpp", "../daemon"):
            (self.root / "fabric/linked.hpp").symlink_to(target)
            self.assert_only(includes.check_includes(self.root), "fabric/linked.hpp: a room must not have a symbolic link")
            (self.root / "fabric/linked.hpp").unlink()

    def test_a_folder_named_build_within_a_room(self):
        for folder in ("build", ".cache"):
            self.plant(f"fabric/{folder}/a.cpp", '#include "daemon/adapters/store/store.hpp"\n')
            self.assert_only(includes.check_includes(self.root), f"fabric/{folder}: this folder has sources and no row")
            (self.root / f"fabric/{folder}/a.cpp").unlink()


class Rows(Planted):
    """The table itself: rows and arrows that nobody needs, or that nothing may allow."""

    def complaints(self, old, new):
        self.assertIn(old, GOOD[rooms.TABLE])
        self.plant(rooms.TABLE, GOOD[rooms.TABLE].replace(old, new))
        return includes.check_includes(self.root)

    def test_unused_arrow(self):
        main = "daemon/programs/weftd/main.cpp"
        self.plant(main, GOOD[main].replace('#include "api/http/server.hpp"\n', ""))
        self.assert_only(includes.check_includes(self.root), f"{rooms.TABLE}:11", "weftd includes nothing of api/http")

    def test_unused_arrow_to_generated_headers(self):
        self.plant("api/http/server.hpp", '#pragma once\n#include "fabric/ids.hpp"\n')
        self.assert_only(includes.check_includes(self.root), f"{rooms.TABLE}:7", "api/http includes nothing of api/proto")

    def test_row_of_a_folder_that_is_gone(self):
        self.assert_only(self.complaints("api/proto:\n", "api/proto:\napi/gone: fabric\n"), f"{rooms.TABLE}:7", "no folder api/gone")

    def test_arrow_that_no_table_may_allow(self):
        for row, known, what in (("fabric", "api/http", "fabric must not know api"),
                                 ("collectors/infiniband", "analyzer/links", "collectors must not know analyzer"),
                                 ("analyzer/links", "daemon/config", "analyzer must not know daemon/config"),
                                 ("daemon/platform/net", "daemon/config", "daemon/platform must not know daemon/config"),
                                 ("daemon/platform/net", "api/access", "daemon/platform must not know api"),
                                 ("daemon/config", "daemon/adapters/store", "daemon/config must not know daemon/adapters"),
                                 ("daemon/adapters/store", "daemon/config", "daemon/adapters must not know daemon/config"),
                                 ("daemon/adapters/store", "daemon/programs/weftd", "daemon/adapters must not know daemon/programs"),
                                 ("daemon/adapters/store", "analyzer/links", "daemon/adapters must not know analyzer")):
            with self.subTest(row=row, known=known):
                self.assert_only(rooms.Table(f"{known}:\n{row}: {known}\n").complaints, f"{rooms.TABLE}:2", what)

    def test_ring(self):
        self.plant("api/proto/a.cpp", '#include "api/http/server.hpp"\n')
        self.assert_only(self.complaints("api/proto:", "api/proto: api/http"), f"{rooms.TABLE}:6", "api/http must have a row above")

    def test_wing_that_is_not_there(self):
        for row in ("daemon", "daemon/helpers", "daemon/helpers/store", "tests/unit"):
            self.assert_only(rooms.Table(f"{row}:\n").complaints, f"{row} is in none of the rooms and wings: fabric, ")

    def test_malformed(self):
        self.assert_only(self.complaints("# a comment\n", "    fabric\n"), f"{rooms.TABLE}:1", "goes on")
        self.assert_only(self.complaints("# a comment\n", "fabric\n"), f"{rooms.TABLE}:1", "'fabric' is no row")
        self.assert_only(self.complaints("api/proto:\n", "api/proto:\nfabric:\n"), f"{rooms.TABLE}:7", "fabric has a row already")
        self.assert_only(self.complaints("infiniband: fabric", "infiniband: fabric fabric"), "fabric stands twice")

    def test_missing_table(self):
        (self.root / rooms.TABLE).unlink()
        self.assertIn(f"{rooms.TABLE}: missing", includes.check_includes(self.root))


class Files(Planted):
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

    def test_every_kind_of_source(self):
        for name, head, mark in (("daemon/programs/weftd/a.cpp", "", "// {}"), ("fabric/a.hpp", "", "// {}"),
                                 ("tests/tool.py", "#!/usr/bin/python3\n", "# {}"), ("deploy/run.sh", "#!/bin/sh\n", "# {}"),
                                 ("deploy/start", "#!/bin/sh\n", "# {}"), ("CMakeLists.txt", "", "# {}"),
                                 ("cmake/Room.cmake", "", "# {}"), ("api/proto/a.proto", "", "// {}"),
                                 ("dashboards/a.ts", "", "// {}"), ("dashboards/a.tsx", "", "// {}"),
                                 ("dashboards/a.js", "", "// {}"), ("dashboards/a.mjs", "", "// {}"),
                                 ("dashboards/a.css", "", "/* {} */"), ("tests/a.pml", "", "/* {} */")):
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
                           ("dashboards/web/package.json", '{{\n  "version": "{}"\n}}')):
            with self.subTest(name=name):
                self.plant(name, line.format("1.2.3") + "\n")
                self.assertEqual(rules.check_version(self.root), [])
                self.plant(name, line.format("1.2.4") + "\n")
                self.assert_only(rules.check_version(self.root), name, "says version 1.2.4", "VERSION says 1.2.3")
                (self.root / name).unlink()

    def test_versions_of_others(self):
        self.plant("CMakeLists.txt", "cmake_minimum_required(VERSION 3.25)\nproject(weft VERSION ${weft_version})\n")
        self.plant("dashboards/web/package.json", '{\n  "dependencies": {\n    "version": "9.9.9"\n  }\n}\n')
        self.plant("clients/python/setup.py", "setup(version=version())\n")
        self.assertEqual(rules.check_version(self.root), [])


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
