#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tests/runner.py on a CMake project of a few shell scripts in the place of a build: what it counts, finds and refuses."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RUNNER = ROOT / "tests" / "runner.py"
OWN = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "WEFT_UBSAN_REPORTS", "GTEST_OUTPUT", "GTEST_FILTER", "WEFT_TEST_RESULTS", "WEFT_BUILD")
SKIP_77 = "set_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n"
FAULTY = r"""
#include <climits>
#include <cstdlib>
int main(int count, char**) {
  if (count > 1) { volatile int most = INT_MAX; most = most + count; }
  char* place = static_cast<char*>(std::malloc(4));
  static_cast<volatile char*>(place)[count + 3] = 1;
}
"""


def is_alive(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(what, seconds=30):
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s")
        time.sleep(0.05)


class OnFakeBuild(unittest.TestCase):
    def setUp(self):
        for tool in ("cmake", "ninja", "ctest"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        folder = tempfile.TemporaryDirectory(prefix="weft runner:")  # with what is special in ASAN_OPTIONS
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)
        self.root = self.place / "builds"
        self.environment = {name: value for name, value in os.environ.items() if name not in OWN}

    def project(self, label, tests, more="", targets=None):
        """A build with a test for each shell text; None: of a program that is not there."""
        text = "cmake_minimum_required(VERSION 3.25)\nproject(fake NONE)\nenable_testing()\n"
        for target in (f"tests_{label}",) if targets is None else targets:
            text += f"add_custom_target({target})\n"
        for name, script in tests.items():
            path = self.place / f"{name}.sh"
            if script is not None:
                path.write_text(script, encoding="utf-8")
            text += f"add_test(NAME {name} COMMAND {'sh ' if script is not None else ''}[==[{path}]==])\n"
            text += f"set_tests_properties({name} PROPERTIES LABELS {label})\n"
        (self.place / "CMakeLists.txt").write_text(text + more, encoding="utf-8")
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.place, "-B", self.root / "asan-ubsan"], check=True,
                       stdout=subprocess.DEVNULL)

    def run_suite(self, *arguments):
        return subprocess.run([sys.executable, "-B", RUNNER, *arguments, "--build-root", self.root], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)

    def assert_ended(self, done, code, line=None, *words):
        self.assertEqual(done.returncode, code, done.stdout)
        if line:
            self.assertEqual(done.stdout.splitlines()[-1], line, done.stdout)
        for word in words:
            self.assertIn(word, done.stdout)

    def written(self, name, cases):
        """A shell text that writes `cases` down as the test `name`."""
        return f"printf '<testsuites>{cases}</testsuites>' > \"$WEFT_TEST_RESULTS/{name}.xml\"\n"

    # -- what counts as what

    def test_a_wanted_skip_is_a_skip(self):
        self.project("collector", {"good": "true", "skips": "echo skipped: no adapter; exit 77", "off": "true"},
                     SKIP_77 % "skips" + "set_tests_properties(off PROPERTIES DISABLED TRUE)\n")
        self.assert_ended(self.run_suite("collector"), 0, "1 passed, 0 failed, 2 skipped", "skips: no adapter")

    def test_what_ctest_could_not_start_failed(self):
        self.project("collector", {"good": "true", "gone": None, "base": "exit 1", "above": "true"},
                     "set_tests_properties(base PROPERTIES FIXTURES_SETUP base)\n"
                     "set_tests_properties(above PROPERTIES FIXTURES_REQUIRED base)\n")
        self.assert_ended(self.run_suite("collector"), 1, "1 passed, 3 failed, 0 skipped", "gone: was not run: Unable to find executable",
                          "above: was not run: Fixture dependency failed")

    def test_one_that_is_out_of_time_says_how_long_it_took(self):
        self.project("collector", {"slow": "sleep 60"}, "set_tests_properties(slow PROPERTIES TIMEOUT 1)\n")
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "collector: slow: failed after 1 s, and wrote no case down")

    def test_a_skip_with_a_failed_case_is_a_failure(self):
        text = self.written("skips", '<testcase name="a"><failure/></testcase><testcase name="b"/>') + "exit 77"
        self.project("collector", {"skips": text}, SKIP_77 % "skips")
        self.assert_ended(self.run_suite("collector"), 1, "1 passed, 1 failed, 1 skipped")

    def test_results_that_cannot_be_read_are_a_failure(self):
        self.project("unit", {"unit_a": 'printf "<testsuites" > "$WEFT_TEST_RESULTS/unit_a.xml"'})
        self.assert_ended(self.run_suite("unit"), 1, "0 passed, 1 failed, 0 skipped", "cannot be read")

    def test_results_that_are_gone_are_a_failure(self):
        self.project("collector", {"good": 'rm -r "$WEFT_TEST_RESULTS/sanitizers"'})
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "its results cannot be had")

    def test_tests_that_end_ctest_are_a_failure(self):
        self.project("collector", {"good": "kill -KILL $PPID"})
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "ctest ended with -9 and no results")

    def test_a_program_that_ran_no_case_is_a_failure(self):
        self.project("unit", {"unit_a": self.written("unit_a", "")})
        self.assert_ended(self.run_suite("unit"), 1, "0 passed, 1 failed, 0 skipped", "ran no test case")

    def test_a_disabled_case_is_skipped(self):
        self.project("unit", {"unit_a": self.written("unit_a", '<testcase name="a" status="notrun" result="suppressed"/>')})
        self.assert_ended(self.run_suite("unit"), 0, "0 passed, 0 failed, 1 skipped")

    def test_no_test_at_all_is_a_failure(self):
        self.project("collector", {})
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "no test has the label collector")

    def test_no_target_to_build_is_a_failure(self):
        self.project("collector", {"good": "true"}, targets=())
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "unknown target", "tests_collector failed")

    # -- filters

    def test_a_filter_fits_entries_and_files(self):
        self.project("collector", {"collector_flaps": "true", "collector_cut": "exit 1"})
        for glob in ("flaps", "fl?ps", "collector_f*", "*laps"):
            self.assert_ended(self.run_suite("collector", "--filter", glob), 0, "1 passed, 0 failed, 0 skipped")

    def test_a_filter_that_fits_nothing_is_refused(self):
        self.project("collector", {"collector_flaps": "true"})
        for glob in ("laps", "flaps.", "nonsense*"):
            self.assert_ended(self.run_suite("collector", "--filter", glob), 2, None, f"is called {glob}")
        self.assert_ended(self.run_suite("unit", "--filter", "NoSuchSuite"), 2, None, "is called NoSuchSuite")
        self.assert_ended(self.run_suite("unit", "--filter", "[A-Z]*"), 2, None, "and no [")

    def test_a_filter_finds_typed_tests(self):
        cases = self.written("unit_daemon_config", '<testcase name="a"/>')
        self.project("unit", {"unit_daemon_config": 'printf %s "$GTEST_FILTER"\n' + f'[ "$GTEST_FILTER" = "$WANTED" ]\n{cases}'},
                     targets=("unit_daemon_config",))
        self.environment["WANTED"] = "SchemaOf.*:SchemaOf/*.*:*/SchemaOf.*/*"
        self.assert_ended(self.run_suite("unit", "--filter", "SchemaOf"), 0, "1 passed, 0 failed, 0 skipped")

    def test_a_program_without_a_case_counts_as_nothing_under_a_filter(self):
        self.project("unit", {"unit_daemon_config": self.written("unit_daemon_config", "")}, targets=("unit_daemon_config",))
        self.assert_ended(self.run_suite("unit", "--filter", "SchemaOf"), 2)

    # -- sanitizers

    def test_reports_of_both_sanitizers_are_found_though_nobody_sees_the_output(self):
        compiler = shutil.which("g++")
        if compiler is None:
            self.skipTest("g++ is not installed")
        (self.place / "faulty.cpp").write_text(FAULTY, encoding="utf-8")
        faulty = self.place / "faulty"
        built = subprocess.run([compiler, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1", "-w", "-o", faulty,
                                self.place / "faulty.cpp", ROOT / "cmake" / "sanitizer_options.cpp"], check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(built.returncode, 0, built.stdout)
        quiet = f"'{faulty}' %s >/dev/null 2>&1; true"
        self.project("collector", {"daemon_address": quiet % "", "daemon_undefined": quiet % "more"})
        self.assert_ended(self.run_suite("collector"), 1, "2 passed, 2 failed, 0 skipped", "ERROR: AddressSanitizer: heap-buffer-overflow",
                          "faulty.cpp:5:", "runtime error: Signed integer overflow")

    def test_other_users_may_write_reports_and_own_options_stay(self):
        self.environment["ASAN_OPTIONS"] = "color=never"
        self.project("collector", {"looks": '[ "$(stat -c %a "$WEFT_TEST_RESULTS/sanitizers")" = 1777 ] || exit 1\n'
                                            'case $ASAN_OPTIONS in color=never:*:log_path=*) ;; *) exit 1 ;; esac'})
        self.assert_ended(self.run_suite("collector"), 0, "1 passed, 0 failed, 0 skipped")

    # -- its end

    def test_signals_end_the_tests_too(self):
        self.project("collector", {"sleeps": f"echo $$ >'{self.place}/new'; mv '{self.place}/new' '{self.place}/pid'; sleep 60; true"})
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name), subprocess.Popen(
                    [sys.executable, "-B", RUNNER, "collector", "--build-root", self.root], env=self.environment, text=True,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as runner:
                wait_until((self.place / "pid").exists)
                pid = int((self.place / "pid").read_text())
                try:
                    runner.send_signal(number)
                    said, _ = runner.communicate(timeout=40)
                    self.assertEqual(said.splitlines()[-1], "0 passed, 1 failed, 0 skipped")
                    self.assertFalse(is_alive(pid))
                finally:
                    if is_alive(pid):
                        os.kill(pid, signal.SIGKILL)
                    (self.place / "pid").unlink()

    def test_a_second_run_in_the_same_folder_is_refused(self):
        self.project("collector", {"good": "true"})
        with open(self.root / ".tests-run", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped", "another tests/run uses this folder")
        self.assert_ended(self.run_suite("collector"), 0, "1 passed, 0 failed, 0 skipped")

    def test_a_folder_that_cannot_be_had_is_a_failure(self):
        self.root.write_text("a file")
        self.assert_ended(self.run_suite("collector"), 1, "0 passed, 1 failed, 0 skipped")

    def test_a_wrong_name_is_refused_before_anything_is_installed(self):
        tree = self.place / "tree"
        (tree / "tests").mkdir(parents=True)
        (tree / "deploy").mkdir()
        for path in (ROOT / "tests" / "run", *(ROOT / "tests").glob("*.py")):
            shutil.copy(path, tree / "tests")
        installs = tree / "deploy" / "install-packages"
        installs.write_text(f"#!/bin/sh\ntouch '{self.place}/installed'\n", encoding="utf-8")
        installs.chmod(0o755)
        done = subprocess.run([tree / "tests" / "run", "nonsense"], env=self.environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)
        self.assert_ended(done, 2, None, "no suite nonsense")
        self.assertFalse((self.place / "installed").exists())


COLOURED = """
import sys
import unittest
sys.path.insert(0, sys.argv.pop())
import program_testing
class Test(unittest.TestCase):
    def test(self):
        self.fail("a \\x1b[31mred\\x1b[0m word")
program_testing.main()
"""


class OfProgramTesting(unittest.TestCase):
    def test_results_of_a_message_with_control_characters_can_be_read(self):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "test_coloured.py"
            file.write_text(COLOURED)
            done = subprocess.run([sys.executable, file, ROOT / "tests" / "support"], env=dict(os.environ, WEFT_TEST_RESULTS=place, WEFT_TEST_NAME="coloured"),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(1, done.returncode, done.stdout)
            failure = ElementTree.parse(Path(place) / "coloured.xml").find("testcase/failure")
        self.assertEqual("a ?[31mred?[0m word", failure.get("message"))


class InGuest(unittest.TestCase):
    def test_a_report_in_a_log_is_a_failure(self):
        sys.path.insert(0, str(ROOT / "tests" / "kernel"))
        import guest_programs
        from machine import Done

        class Guest:
            def __init__(self, said):
                self.said = said

            def run(self, _):
                return Done(0 if self.said else 1, self.said, "")

        guest_programs.check_logs(Guest(""))
        with self.assertRaisesRegex(AssertionError, "AddressSanitizer"):
            guest_programs.check_logs(Guest("/tmp/weftd.log:==9==ERROR: AddressSanitizer: heap-use-after-free\n"))


if __name__ == "__main__":
    unittest.main()
