#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Links between the targets of a planted tree: each that must not be is found, and CMake tells of all of them."""

import shutil
import subprocess
import unittest
from pathlib import Path

import rooms
import rules
from self_test import GOOD, GRAPH, Planted


class Links(unittest.TestCase):
    def complaints(self, graph):
        return rules.check_links(rooms.read_link_graph(graph), rooms.Table(GOOD[rooms.TABLE]))

    def assert_only(self, complaints, *parts):
        self.assertEqual(len(complaints), 1, complaints)
        for part in parts:
            self.assertIn(part, complaints[0])

    def test_good_graph(self):
        self.assertEqual(self.complaints(GRAPH), [])

    def test_upward(self):
        self.assert_only(self.complaints(GRAPH + "weft_fabric_more|fabric|weftd\n"), "must not link weftd", "daemon/programs/weftd")
        self.assert_only(self.complaints(GRAPH + "weft_more|daemon/adapters/store|weftd\n"), "must not link weftd")

    def test_sideways(self):
        self.assert_only(self.complaints(GRAPH + "weft_api|api/http|$<LINK_ONLY:weft_collectors_infiniband>\n"),
                         "api/http/CMakeLists.txt", "must not link weft_collectors_infiniband")

    def test_link_that_no_include_needs(self):
        self.assert_only(self.complaints(GRAPH + "weft-more|daemon/programs/weftd|weft_daemon_adapters_store\n"),
                         "must not link weft_daemon_adapters_store", "daemon/adapters/store is not in the row")

    def test_include_without_a_link(self):
        self.assert_only(self.complaints(GRAPH.replace(";$<LINK_ONLY:weft_api_proto>", "")),
                         "api/http includes api/proto, but none of its targets links that")

    def test_link_through_another_is_enough(self):
        self.assertEqual(self.complaints(GRAPH.replace("|daemon/programs/weftd|", "|daemon/programs/weftd|weftd_parts;")
                                         + "weftd_parts|daemon/programs/weftd|weft_fabric\n"), [])

    def test_folder_without_a_row(self):
        self.assert_only(self.complaints(GRAPH + "weft_analyzer_links|analyzer/links|weft_fabric\n"),
                         "weft_analyzer_links is built in a folder that has no row")

    def test_link_into_tests(self):
        for link in ("fakes", "$<LINK_ONLY:fakes>", "::@(0x55d0c0ffee);fakes;::@"):
            self.assert_only(self.complaints(GRAPH + f"fakes|tests/fakes|\nweft_api|api/http|{link}\n"), "weft_api must not link fakes")

    def test_link_under_a_condition(self):
        for link in ("$<BUILD_INTERFACE:weftd>", "$<$<CONFIG:Debug>:weftd>", "$<$<AND:$<CONFIG:Debug>,$<BOOL:ON>>:$<LINK_ONLY:weftd>>",
                     "$<BUILD_INTERFACE:tl::expected;weftd>", "$<IF:$<CONFIG:Debug>,weftd,tl::expected>", "$<TARGET_OBJECTS:weftd>",
                     "$<LINK_LIBRARY:WHOLE,weftd>", "$<TARGET_NAME_IF_EXISTS:weftd>"):
            with self.subTest(link=link):
                found = self.complaints(GRAPH + f"weft_fabric_more|fabric|{link}\n")
                self.assertTrue([line for line in found if "weft_fabric_more must not link weftd" in line], found)
                found = self.complaints(GRAPH + f"weft_fabric_more|fabric||{link}\n")
                self.assertTrue([line for line in found if "weft_fabric_more must not link weftd" in line], found)

    def test_condition_is_no_link(self):
        self.assertEqual(self.complaints(GRAPH + "weft_fabric_more|fabric|$<$<CONFIG:Debug>:tl::expected>;$<$<STREQUAL:a,b>:weft_fabric>\n"),
                         [])

    def test_detour_through_a_target_outside_of_the_rooms(self):
        graph = GRAPH.replace("weft_api_http\n", "weft_api_http;weft_page\n")
        self.assertEqual(self.complaints(graph + "weft_page|dashboards/web|weft_options\nweft_options||Threads::Threads\n"), [])
        self.assert_only(self.complaints(graph + "weft_page|dashboards/web|weft_daemon_adapters_store\n"),
                         "weftd must not link weft_daemon_adapters_store (through weft_page)")
        self.assert_only(self.complaints(GRAPH + "weft_page|dashboards/web|\nweft_more|fabric|weft_page\n"), "weft_more must not link weft_page")
        self.assert_only(self.complaints(GRAPH + "weft_options||sqlite3\nweft_more|fabric|weft_options\n"),
                         "weft_more must not link sqlite3 (through weft_options)")

    def test_library_that_a_room_must_not_know(self):
        for folder in ("fabric", "analyzer/detect", "api/http"):
            for link in ("sqlite3", "-lsqlite3", "/usr/lib/libsqlite3.so", "SQLite::SQLite3", "$<BUILD_INTERFACE:sqlite3>"):
                self.assert_only(self.complaints(GRAPH + f"weft_more|{folder}|{link}\n"), "weft_more must not link", "sqlite3" if "::" not in link
                                 else "SQLite3", "MAY_LINK")

    def test_source_of_another_folder(self):
        for source in ("daemon/programs/weftd/core.cpp", "../elsewhere/a.cpp", "dashboards/a.cpp", "fabric/more/a.cpp"):
            self.assert_only(self.complaints(GRAPH + f"weft_more|fabric||fabric/a.cpp;{source}\n"), f"weft_more must not build {source}")
        self.assertEqual(self.complaints(GRAPH + "weft_more|fabric||fabric/a.cpp;cmake/sanitizer_options.cpp\n"), [])

    def test_ring(self):
        more = "weft_api_a|api/http|weft_api_b\nweft_api_b|api/http|weft_api_a\n"
        self.assert_only(self.complaints(GRAPH + more), "weft_api_a -> weft_api_b -> weft_api_a")


class Collector(Planted):
    """CMakeLists.txt of this folder, in a tree of which CMake is to tell the link graph."""

    def test_graph(self):
        if shutil.which("cmake") is None:
            self.skipTest("cmake is not installed")
        shutil.copy(Path(__file__).parent / "CMakeLists.txt", self.root / "tests/architecture/CMakeLists.txt")
        self.plant("CMakeLists.txt", """cmake_minimum_required(VERSION 3.25)
            project(planted LANGUAGES NONE)
            enable_testing()
            add_subdirectory(fabric)
            add_subdirectory(dashboards/web)
            add_subdirectory(tests)
            add_library(weft_options INTERFACE)
            target_link_libraries(weft_fabric INTERFACE weft_late)
            target_sources(weft_fabric INTERFACE ${CMAKE_SOURCE_DIR}/daemon/a.cpp ${CMAKE_BINARY_DIR}/made.cpp)
            """)
        self.plant("fabric/CMakeLists.txt", """add_library(weft_fabric INTERFACE ids.hpp)
            target_link_libraries(weft_fabric INTERFACE weft_page $<$<CONFIG:Debug>:fakes>)
            target_sources(weft_fabric INTERFACE ids.cpp)
            add_library(weft_precompiled_rooms INTERFACE)
            """)
        self.plant("dashboards/web/CMakeLists.txt", "add_library(weft_page INTERFACE)\n")
        self.plant("tests/CMakeLists.txt", "add_subdirectory(architecture)\nadd_subdirectory(fakes)\n")
        self.plant("tests/fakes/CMakeLists.txt", "add_library(fakes INTERFACE)\n")
        done = subprocess.run(["cmake", "-S", str(self.root), "-B", str(self.root / "build/dev")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        graph = rooms.read_link_graph((self.root / "build/dev/tests/architecture/link_graph.txt").read_text(encoding="utf-8"))
        self.assertEqual({name: target.folder for name, target in graph.items()},
                         {"weft_options": "", "weft_fabric": "fabric", "weft_precompiled_rooms": "cmake", "weft_page": "dashboards/web",
                          "fakes": "tests/fakes"})
        self.assertEqual(graph["weft_fabric"].links, ("weft_page", "fakes", "weft_late"))
        self.assertEqual(graph["weft_fabric"].sources, ("fabric/ids.hpp", "fabric/ids.cpp", "daemon/a.cpp"))


if __name__ == "__main__":
    unittest.main()
