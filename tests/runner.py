# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the suites for tests/run, and adds up what every test said. See tests/README.md."""

import argparse
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace

from building import ROOT, Builder, Part, say, wait_and_count


@dataclass(frozen=True)
class Suite:
    name: str
    help: str
    parts: tuple[Part, ...]
    needs: tuple[str, ...] = ()
    on_request: bool = False  # not among those that run when none is named
    environment: tuple[tuple[str, str], ...] = ()


LONG_SEQUENCES = 1_000_000

SUITES = (
    Suite("architecture", "includes, links, comments, file lengths, formatting", (Part("asan-ubsan", "architecture"),)),
    Suite("infiniband", "weftd on ibsim with real OpenSM, compared with infiniband-diags", (Part("asan-ubsan", "infiniband"),),
          ("ibsim", "opensm", "ibnetdiscover")),
    Suite("scenarios", "simulated fabrics with known faults: what the analyzer makes of them", (Part("bench", "scenarios"), Part("asan-ubsan", "scenarios_real"))),
    Suite("collector", "weft-collector and weft-uplink on made sysfs trees, killed and cut off", (Part("asan-ubsan", "collector"),)),
    Suite("remedies", "plans: random sequences that check what plans guarantee, and a model of their life for spin",
          (Part("bench", "remedies"),)),
    Suite("partners", "what acts on schedulers: a real Slurm, and receivers that hang, refuse and answer wrongly", (Part("asan-ubsan", "partners"),)),
    Suite("kubernetes", "on request: the same as in partners, against a real kube-apiserver", (Part("asan-ubsan", "kubernetes"),),
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
)


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0
    processors: float = 0  # their seconds, without what was built

    def add(self, other: "Tally") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.processors += other.processors


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
    # One more than there are processors: most tests wait, for sweeps and for partners.
    command = ["ctest", "--test-dir", folder, "-L", f"^{part.label}$", "-j", str((os.cpu_count() or 2) + 1), "--output-junit", junit,
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
    if part.label != "unit" and part.preset == "asan-ubsan":  # of programs whose own output nobody may look at
        ran["ASAN_OPTIONS"] = f"{PROGRAMS_UNDER_ASAN}:log_path={reports}/address"
        ran["UBSAN_OPTIONS"] = f"print_stacktrace=1:log_path={reports}/undefined"
    code, processors = wait_and_count(subprocess.Popen(command, cwd=ROOT, env=ran, stdin=subprocess.DEVNULL))
    if not os.path.exists(junit):
        return Tally(failed=[f"{suite.name}: ctest ended with {code} and no results"])
    tally = read_results(suite.name, junit, results)
    tally.processors = processors
    tally.failed += [f"{suite.name}: {text}" for text in sanitizer_reports(reports)]
    if not tally.passed and not tally.failed and not tally.skipped:
        tally.skipped.append(f"{suite.name}: no test has the label {part.label} in the {part.preset} build")
    return tally


# As cmake/sanitizer_options.cpp has it, for what is set in the environment takes its place.
PROGRAMS_UNDER_ASAN = "verify_asan_link_order=0:detect_leaks=0:quarantine_size_mb=64"


def sanitizer_reports(folder: str) -> list[str]:
    """One line for each process that a sanitizer ended."""
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = [line.strip() for line in stream if "ERROR" in line or "runtime error" in line]
        found.append(f"{(lines or ['a report'])[0]} (all of it: {path})")
    return found


def read_results(suite: str, junit: str, results: str) -> Tally:
    """One count for each test case where the program wrote its cases down, one for the whole program where it did not."""
    tally = Tally()
    for entry in ElementTree.parse(junit).getroot().iter("testcase"):
        program = entry.get("name", "?")
        status = entry.get("status", "")
        cases = cases_of(suite, os.path.join(results, f"{program}.xml"), program)
        if status == "run" or (status == "fail" and cases.failed):
            tally.add(cases if cases.passed or cases.failed or cases.skipped else Tally(passed=1))
        elif status == "fail":
            reason = entry.find("failure")
            tally.add(cases)
            tally.failed.append(f"{suite}: {program}: {reason.get('message') if reason is not None else 'failed'}")
        else:
            tally.skipped.append(f"{suite}: {program}: {skip_reason(entry)}")
    return tally


def cases_of(suite: str, path: str, program: str) -> Tally:
    tally = Tally()
    if not os.path.exists(path):
        return tally
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return tally  # the program died while writing; ctest counts it as failed
    for case in root.iter("testcase"):
        name = f"{suite}: {program}: {case.get('classname', '')}.{case.get('name', '')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif skipped is not None or case.get("result") == "skipped":
            words = (skipped.get("message") if skipped is not None else "") or "no reason given"
            tally.skipped.append(f"{name}: {' '.join(words.split()[0:60])}")
        else:
            tally.passed += 1
    return tally


def skip_reason(entry) -> str:
    output = entry.findtext("system-out") or ""
    for line in output.splitlines():
        if "skipped:" in line:
            return line.split("skipped:", 1)[1].strip()
    skipped = entry.find("skipped")
    return (skipped.get("message") if skipped is not None else "") or "not run"


def missing_for(suite: Suite) -> list[str]:
    """Programs that the suite cannot do without and that are not here."""
    path = environment()["PATH"]
    return [program for program in suite.needs if not shutil.which(program, path=path)]


def run_suite(builder: Builder, suite: Suite, only: str) -> Tally:
    began = time.monotonic()
    say(f"\n== {suite.name}: {suite.help}")
    if missing := missing_for(suite):
        tally = Tally(skipped=[f"{suite.name}: not installed: {', '.join(missing)}"])
    else:
        tally = Tally()
        for part in suite.parts:
            tally.add(run_part(builder, suite, part, only))
    tally.seconds = time.monotonic() - began
    return tally


UNIT_TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


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


def filtered(suite: Suite, glob: str) -> tuple[Suite, str]:
    """The suite with nothing to build but what `glob` wants, and the names of its ctest entries as a regular expression. In suites of
    unit tests it is Google Test's filter, in the others it is compared with the names of entries and files."""
    if suite.name not in ("unit", "threads"):
        return suite, fnmatch.translate(glob) + "|_" + fnmatch.translate(glob)
    programs = unit_programs(glob)
    os.environ["GTEST_FILTER"] = glob if "." in glob or glob.endswith("*") else f"{glob}.*"
    parts = tuple(Part(part.preset, part.label, tuple(programs)) for part in suite.parts) if programs else ()
    return replace(suite, parts=parts), f"^({'|'.join(programs)})$"


def print_times(builder: Builder, tallies: dict[str, Tally], began: float) -> None:
    rows = [(name, *spent) for name, spent in builder.spent.items()]
    rows += [(f"run {name}", tally.seconds, tally.processors) for name, tally in tallies.items()]
    say("\n== times (a suite's seconds are from its turn on, waiting for its build included)")
    say(f"| {'what':<22} | {'seconds':>7} | {'CPU-minutes':>11} |")
    say(f"| {'-' * 22} | {'-' * 6}: | {'-' * 10}: |")
    rows.append(("all", time.monotonic() - began, sum(row[2] for row in rows)))
    for name, seconds, processors in rows:
        say(f"| {name:<22} | {seconds:>7.0f} | {processors / 60:>11.2f} |")


def summarise(tallies: dict[str, Tally]) -> int:
    total = Tally()
    say("\n== summary")
    say(f"{'suite':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, tally in tallies.items():
        say(f"{name:<14}{tally.passed:>8}{len(tally.failed):>8}{len(tally.skipped):>9}{tally.seconds:>9.0f}")
        total.add(tally)
    for text in total.failed:
        say(f"FAILED  {text}")
    for text in total.skipped:
        say(f"skipped {text}")
    say(f"{total.passed} passed, {len(total.failed)} failed, {len(total.skipped)} skipped")
    return 1 if total.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/run")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--no-packages", action="store_true")
    parser.add_argument("--kubernetes", action="store_true")
    parser.add_argument("--sequences", type=int, metavar="N")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--filter", metavar="GLOB", default="")
    parser.add_argument("--build-root", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    known = {suite.name: suite for suite in SUITES}
    if options.list:
        for suite in SUITES:
            say(f"{suite.name:<14}{suite.help}")
        return 0
    unknown = [name for name in options.suites if name not in known]
    if unknown:
        print(f"tests/run: no suite {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    def interrupted(*_):
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)
    if options.filter and len(options.suites) != 1:
        print("tests/run: --filter goes with one suite: tests/run unit --filter 'Flap*'", file=sys.stderr)
        return 2
    if options.sequences or options.long:
        os.environ["WEFT_SEQUENCES"] = str(options.sequences or LONG_SEQUENCES)
    names = dict.fromkeys(options.suites + (["kubernetes"] if options.kubernetes else []))
    chosen = [known[name] for name in names] or [suite for suite in SUITES if not suite.on_request]
    only = ""
    if options.filter:
        chosen[0], only = filtered(chosen[0], options.filter)
        if not chosen[0].parts:
            print(f"tests/run: no test of the suite {chosen[0].name} is called {options.filter}", file=sys.stderr)
            return 2
    tallies: dict[str, Tally] = {}
    began = time.monotonic()
    parts = [part for suite in chosen if not missing_for(suite) for part in suite.parts]
    try:
        with Builder(os.path.abspath(options.build_root), parts) as builder:
            for suite in chosen:
                tallies[suite.name] = run_suite(builder, suite, only)
    except KeyboardInterrupt:
        for suite in chosen:
            tallies.setdefault(suite.name, Tally(failed=[f"{suite.name}: interrupted"]))
    if options.times:
        print_times(builder, tallies, began)
    return summarise(tallies)


if __name__ == "__main__":
    sys.exit(main())
