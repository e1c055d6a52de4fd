#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Includes, files and rows of the table in a planted tree: each that must not be is found."""

import unittest

import includes
import rooms
from self_test import GOOD, Planted


class Includes(Planted):
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


if __name__ == "__main__":
    unittest.main()
