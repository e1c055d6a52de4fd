# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the suites for tests/run; results.py adds up what every test said. See tests/README.md."""

import argparse
import fcntl
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace

from building import ROOT, Builder, Part, end_group, say, wait_and_count
from results import Tally, print_times, read_results, sanitizer_reports, summarise


@dataclass(frozen=True)
class Suite:
    name: str
    help: str
    parts: tuple[Part, ...]
    needs: tuple[str, ...] = ()
    on_request: bool = False  # not among those that run when none is named
    environment: tuple[tuple[str, str], ...] = ()
    ahead: tuple[Part, ...] = ()  # built when all parts are, for what its tests would build themselves


LONG_SEQUENCES = 1_000_000
LONG_ROUNDS = 200

SUITES = (
    Suite("architecture", "includes, links, comments, file lengths, formatting", (Part("asan-ubsan", "architecture"),)),
    Suite("infiniband", "weftd on ibsim with real OpenSM, compared with infiniband-diags", (Part("asan-ubsan", "infiniband"),),
          ("ibsim", "opensm", "ibnetdiscover")),
    Suite("scenarios", "simulated fabrics with known faults: what the analyzer makes of them", (Part("bench", "scenarios"), Part("asan-ubsan", "scenarios_real"))),
    Suite("collector", "weft-collector and weft-uplink on made sysfs trees, killed and cut off", (Part("asan-ubsan", "collector"),)),
    Suite("remedies", "plans: random sequences that check what plans guarantee, and a model of their life for spin",
          (Part("bench", "remedies"),)),
    Suite("partners", "what acts on schedulers: a real Slurm, and receivers that hang, refuse and answer wrongly", (Part("asan-ubsan", "partners"),)),
    Suite("pair", "weftd whose store is in a real PostgreSQL with a synchronous standby, killed and failed over", (Part("asan-ubsan", "pair"),),
          ("ibsim", "opensm")),
    Suite("kubernetes", "on request: the same as in partners, and the overlays of deploy/kubernetes, on a real kube-apiserver", (Part("asan-ubsan", "kubernetes"),),
          ("etcd", "go", "rsync", "dpkg-source"), True, (("WEFT_KUBERNETES", "real"),)),
    Suite("security", "who gets into weftd and who does not: certificates, tokens, roles, hostile requests", (Part("asan-ubsan", "security"),), ("openssl",)),
    Suite("prometheus", "scraped by real Prometheus and VictoriaMetrics", (Part("asan-ubsan", "prometheus"),), ("promtool", "ibsim", "opensm")),
    Suite("web", "the page of weftd in Chromium, while cables are pulled", (Part("asan-ubsan", "web"),), ("ibsim", "opensm", "chromium", "node", "npm")),
    Suite("guide", "weftctl at a terminal and in three shells; manual pages, references, links and commands of the documents",
          (Part("asan-ubsan", "guide"),), ("ibsim", "opensm")),
    Suite("grafana", "dashboards: every query under faults, checked against Grafana's types, drawn by its components",
          (Part("asan-ubsan", "grafana"),), ("prometheus", "ibsim", "opensm")),
    Suite("kernel", "weft-collector and weftd under Debian's kernel in qemu, compared with rdma, ethtool and dcb", (Part("asan-ubsan", "kernel"),)),
    Suite("unit", "values and pure functions, room by room, under AddressSanitizer and UndefinedBehaviorSanitizer",
          (Part("asan-ubsan", "unit"),)),
    Suite("threads", "the unit tests of what has threads, under ThreadSanitizer", (Part("tsan", "threads"),)),
    Suite("fuzz", "every decoder and parser, briefly, under libFuzzer", (Part("fuzz", "fuzz"),), ("clang++",)),
    Suite("packages", "the Debian packages: built, checked, installed into a minimal Debian, upgraded and purged; the images of them, run by runc",
          (Part("asan-ubsan", "packages"),), ("dpkg-buildpackage", "mmdebstrap", "lintian", "umoci", "skopeo", "runc"),
          ahead=(Part("asan-ubsan", "packages", ("package_repository",)),)),
)


def environment() -> dict:
    path = os.environ.get("PATH", "")
    return dict(os.environ, PATH=path + ":/usr/sbin:/sbin", CTEST_OUTPUT_ON_FAILURE="1")


def run_part(builder: Builder, suite: Suite, part: Part, only: str) -> Tally:
    name = f"{part.preset} {part.label}"
    if trouble := builder.wait(part):
        return Tally(failed=[f"{suite.name}: {trouble}"])
    folder = builder.folder(part.preset)
    results = os.path.join(folder, f"results-{part.label}")
    shutil.rmtree(results, ignore_errors=True)
    os.makedirs(results)
    junit = os.path.join(results, "ctest-junit")
    # Two more than there are processors: most tests wait, for sweeps and for partners.
    command = ["ctest", "--test-dir", folder, "-L", f"^{part.label}$", "-j", str((os.cpu_count() or 2) + 2), "--output-junit", junit,
               "--no-tests=ignore"]
    if only:
        command += ["-R", only]
    if part.preset == "tsan" and shutil.which("setarch"):
        command = ["setarch", "-R", *command]  # ThreadSanitizer of g++ 12 fails under wide address randomisation
    say(f"-- running {name} …")
    ran = dict(environment(), **dict(suite.environment))
    ran.update(GTEST_OUTPUT=f"xml:{results}/", WEFT_TEST_RESULTS=results, WEFT_BUILD=folder)
    reports = os.path.join(results, "sanitizers")
    os.makedirs(reports)
    os.chmod(reports, 0o1777)  # some programs run as other users
    if part.label != "unit" and part.preset == "asan-ubsan":  # of programs whose own output nobody may look at
        ran["ASAN_OPTIONS"] = with_options(ran.get("ASAN_OPTIONS"), f"{PROGRAMS_UNDER_ASAN}:log_path='{reports}/address'")
        ran["UBSAN_OPTIONS"] = with_options(ran.get("UBSAN_OPTIONS"), "print_stacktrace=1")
        ran["WEFT_UBSAN_REPORTS"] = os.path.join(reports, "undefined")  # see cmake/sanitizer_options.cpp
    code, processors = run_to_end(command, ran)
    if not os.path.exists(junit):
        return Tally(failed=[f"{suite.name}: ctest ended with {code} and no results"])
    tally = read_results(suite.name, junit, results, bool(only))
    tally.processors = processors
    tally.failed += [f"{suite.name}: {text}" for text in sanitizer_reports(reports)]
    if code != 0 and not tally.failed:
        tally.failed.append(f"{suite.name}: ctest ended with {code}, and no test says why")
    if tally.is_empty() and not only:
        tally.failed.append(f"{suite.name}: no test has the label {part.label} in the {part.preset} build")
    return tally


def run_to_end(command: list[str], variables: dict) -> tuple[int, float]:
    """As wait_and_count. What is interrupted ends with all that it started."""
    process = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return wait_and_count(process)
    except KeyboardInterrupt:
        end_group(process)
        raise


def with_options(theirs: str | None, ours: str) -> str:
    """Options of a sanitizer: the last of two with one name counts."""
    return f"{theirs}:{ours}" if theirs else ours


# As cmake/sanitizer_options.cpp has it, for what is set in the environment takes its place.
PROGRAMS_UNDER_ASAN = "verify_asan_link_order=0:detect_leaks=0:quarantine_size_mb=64"


def missing_for(suite: Suite) -> list[str]:
    """Programs that the suite cannot do without and that are not here."""
    path = environment()["PATH"]
    return [program for program in suite.needs if not shutil.which(program, path=path)]


def run_suite(builder: Builder, suite: Suite, only: str) -> Tally:
    began = time.monotonic()
    say(f"\n== {suite.name}: {suite.help}")
    tally = Tally()
    if missing := missing_for(suite):
        tally.skipped.append(f"{suite.name}: not installed: {', '.join(missing)}")
    else:
        try:
            for part in suite.parts:
                tally.add(run_part(builder, suite, part, only))
        except (OSError, ElementTree.ParseError) as error:
            tally.failed.append(f"{suite.name}: its results cannot be had: {error}")
    tally.seconds = time.monotonic() - began
    return tally


UNIT_TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


def unit_programs(glob: str) -> list[str]:
    """The unit test programs with a test whose "Suite.Name" fits, or whose suite does."""
    found = set()
    base = os.path.join(ROOT, "tests", "unit")
    for folder, _, names in os.walk(base):
        for name in names:
            if name.endswith("_test.cpp"):
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    tests = UNIT_TEST.findall(stream.read())
                if any(fnmatch.fnmatchcase(text, glob) for test in tests for text in (".".join(test), test[0])):
                    found.add("unit_" + os.path.relpath(folder, base).replace(os.sep, "_"))
    return sorted(found)


def gtest_filter(glob: str) -> str:
    """As Google Test wants it: the suite of a typed test is called Suite/0, a test with a parameter Prefix/Suite.Name/0."""
    if "." not in glob and glob.endswith("*"):
        return glob
    suite, _, name = glob.partition(".")
    name = name or "*"
    return f"{suite}.{name}:{suite}/*.{name}:*/{suite}.{name}/*"


def ctest_filter(glob: str) -> str:
    """The names of ctest entries and of files, of which an entry is <folder>_<file>, as a regular expression of CMake."""
    text = "".join({"*": ".*", "?": "."}.get(letter, letter if letter.isalnum() or letter == "_" else "\\" + letter) for letter in glob)
    return f"^{text}$|_{text}$"


def filtered(suite: Suite, glob: str) -> tuple[Suite, str]:
    """The suite with nothing to build but what `glob` wants, and the names of its ctest entries as a regular expression. In suites of
    unit tests it is Google Test's filter, in the others it is compared with the names of entries and files."""
    if suite.name not in ("unit", "threads"):
        return suite, ctest_filter(glob)
    programs = unit_programs(glob)
    os.environ["GTEST_FILTER"] = gtest_filter(glob)
    parts = tuple(Part(part.preset, part.label, tuple(programs)) for part in suite.parts) if programs else ()
    return replace(suite, parts=parts), f"^({'|'.join(programs)})$"


class Refused(Exception):
    """The command line asks for what there is not; the text says what."""


def nothing_called(suite: Suite, glob: str) -> str:
    return f"no test of the suite {suite.name} is called {glob}"


def choose(options) -> tuple[list[Suite], str]:
    """The suites to run, and which of their ctest entries, as a regular expression; empty: all. Raises Refused."""
    known = {suite.name: suite for suite in SUITES}
    if unknown := [name for name in options.suites if name not in known]:
        raise Refused(f"no suite {', '.join(unknown)}; there are {', '.join(known)}")
    names = dict.fromkeys(options.suites + (["kubernetes"] if options.kubernetes else []))
    chosen = [known[name] for name in names] or [suite for suite in SUITES if not suite.on_request]
    if not options.filter:
        return chosen, ""
    if len(chosen) != 1:
        raise Refused("--filter goes with one suite: tests/run unit --filter 'Flap*'")
    if "[" in options.filter:
        raise Refused("--filter knows * and ?, and no [: Google Test has no such classes of letters")
    suite, only = filtered(chosen[0], options.filter)
    if not suite.parts:
        raise Refused(nothing_called(suite, options.filter))
    return [suite], only


def alone(build_root: str):
    """A lock on the folder of builds, held until it is closed. Raises OSError, and BlockingIOError where another run holds it."""
    os.makedirs(build_root, exist_ok=True)
    lock = open(os.path.join(build_root, ".tests-run"), "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise BlockingIOError(error.errno, "another tests/run uses this folder; wait for its end, or name another one with --build-root",
                              build_root) from error
    except OSError:
        lock.close()
        raise
    return lock


def run_all(options, chosen: list[Suite], only: str) -> int:
    """Builds, runs and prints. The exit code of tests/run. Raises OSError when the folder of builds is not to be had."""
    tallies: dict[str, Tally] = {}
    began = time.monotonic()
    fit = [suite for suite in chosen if not missing_for(suite)]
    parts = [part for suite in fit for part in suite.parts]
    if not only:
        parts += [part for suite in fit for part in suite.ahead]
    build_root = os.path.abspath(options.build_root)
    with alone(build_root):
        try:
            with Builder(build_root, parts) as builder:
                for suite in chosen:
                    tallies[suite.name] = run_suite(builder, suite, only)
        except KeyboardInterrupt:
            for suite in chosen:
                tallies.setdefault(suite.name, Tally(failed=[f"{suite.name}: interrupted"]))
    if options.times:
        print_times(builder.spent, tallies, time.monotonic() - began)
    code = summarise(tallies)
    if only and tallies[chosen[0].name].is_empty():
        raise Refused(nothing_called(chosen[0], options.filter))
    return code


def interrupt_on_signals() -> None:
    """The first one ends the run as Ctrl-C does; those after it do not disturb the end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupted(*_):
        for number in numbers:
            signal.signal(number, lambda *_: None)
        raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, interrupted)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/run", allow_abbrev=False)
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-packages", action="store_true")
    parser.add_argument("--kubernetes", action="store_true")
    parser.add_argument("--sequences", type=int, metavar="N")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--filter", metavar="GLOB", default="")
    parser.add_argument("--build-root", default=os.path.join(ROOT, "build"))
    parser.add_argument("--check-arguments", action="store_true", help="runs nothing: for tests/run, before it installs anything")
    options = parser.parse_args()
    if options.list:
        for suite in SUITES:
            say(f"{suite.name:<14}{suite.help}")
        return 0
    if options.sequences or options.long:
        os.environ["WEFT_SEQUENCES"] = str(options.sequences or LONG_SEQUENCES)
    if options.long:
        os.environ["WEFT_ROUNDS"] = str(LONG_ROUNDS)
        os.environ["WEFT_LONG"] = "1"
    try:
        chosen, only = choose(options)
        if options.check_arguments:
            return 0
        interrupt_on_signals()
        return run_all(options, chosen, only)
    except Refused as error:
        print(f"tests/run: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tests/run: {error.filename}: {error.strerror}", file=sys.stderr)
        say("0 passed, 1 failed, 0 skipped")
        return 1


if __name__ == "__main__":
    sys.exit(main())
