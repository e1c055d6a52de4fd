"""Builds and runs the suites for tests/run, and adds up what every test said. See tests/README.md."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from building import ROOT, Builder, Part, say


@dataclass(frozen=True)
class Suite:
    name: str
    help: str
    parts: tuple[Part, ...]
    needs: tuple[str, ...] = ()
    on_request: bool = False  # not among those that run when none is named
    environment: tuple[tuple[str, str], ...] = ()


SUITES = (
    Suite("architecture", "the rooms' one rule and the house's habits", (Part("dev", "architecture"),)),
    Suite("infiniband", "weftd on ibsim with real OpenSM, compared with infiniband-diags", (Part("dev", "infiniband"),),
          ("ibsim", "opensm", "ibnetdiscover")),
    Suite("scenarios", "simulated fabrics with known faults: what the analyzer makes of them", (Part("dev", "scenarios"),)),
    Suite("collector", "weft-collector and weft-uplink on made sysfs trees, killed and cut off", (Part("dev", "collector"),)),
    Suite("remedies", "plans: random sequences that try to break their promises, and a model of their life for spin",
          (Part("dev", "remedies"),)),
    Suite("partners", "what acts on schedulers: a real Slurm, and receivers that hang, refuse and lie", (Part("dev", "partners"),)),
    Suite("kubernetes", "on request: the same as in partners, against a real kube-apiserver", (Part("dev", "kubernetes"),),
          ("etcd", "go", "rsync", "dpkg-source"), True, (("WEFT_KUBERNETES", "real"),)),
    Suite("security", "who gets into weftd and who does not: certificates, tokens, roles, hostile requests", (Part("dev", "security"),), ("openssl",)),
    Suite("prometheus", "scraped by real Prometheus and VictoriaMetrics", (Part("dev", "prometheus"),), ("promtool", "ibsim", "opensm")),
    Suite("web", "the page of weftd in Chromium, while cables are pulled", (Part("dev", "web"),), ("ibsim", "opensm", "chromium", "node", "npm")),
    Suite("guide", "weftctl at a terminal and in three shells; manual pages, references, links and commands of the documents",
          (Part("dev", "guide"),), ("ibsim", "opensm")),
    Suite("grafana", "dashboards: every query under faults, checked against Grafana's types, drawn by its components",
          (Part("dev", "grafana"),), ("prometheus", "ibsim", "opensm")),
    Suite("kernel", "weft-collector and weftd under Debian's kernel in qemu, compared with rdma, ethtool and dcb", (Part("dev", "kernel"),)),
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

    def add(self, other: "Tally") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def environment() -> dict:
    path = os.environ.get("PATH", "")
    return dict(os.environ, PATH=path + ":/usr/sbin:/sbin", CTEST_OUTPUT_ON_FAILURE="1")


def run_part(builder: Builder, suite: Suite, part: Part) -> Tally:
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
    if part.preset == "tsan" and shutil.which("setarch"):
        command = ["setarch", "-R", *command]  # ThreadSanitizer of g++ 12 fails under wide address randomisation
    say(f"-- running {name} …")
    ran = dict(environment(), **dict(suite.environment))
    ran.update(GTEST_OUTPUT=f"xml:{results}/", WEFT_TEST_RESULTS=results, WEFT_BUILD=folder)
    ended = subprocess.run(command, cwd=ROOT, env=ran, stdin=subprocess.DEVNULL, check=False)
    if not os.path.exists(junit):
        return Tally(failed=[f"{suite.name}: ctest ended with {ended.returncode} and no results"])
    tally = read_results(suite.name, junit, results)
    if not tally.passed and not tally.failed and not tally.skipped:
        tally.skipped.append(f"{suite.name}: no test has the label {part.label} in the {part.preset} build")
    return tally


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


def run_suite(builder: Builder, suite: Suite) -> Tally:
    began = time.monotonic()
    say(f"\n== {suite.name}: {suite.help}")
    if missing := missing_for(suite):
        tally = Tally(skipped=[f"{suite.name}: not installed: {', '.join(missing)}"])
    else:
        tally = Tally()
        for part in suite.parts:
            tally.add(run_part(builder, suite, part))
    tally.seconds = time.monotonic() - began
    return tally


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
    if options.sequences:
        os.environ["WEFT_SEQUENCES"] = str(options.sequences)
    names = dict.fromkeys(options.suites + (["kubernetes"] if options.kubernetes else []))
    chosen = [known[name] for name in names] or [suite for suite in SUITES if not suite.on_request]
    tallies: dict[str, Tally] = {}
    parts = [part for suite in chosen if not missing_for(suite) for part in suite.parts]
    try:
        with Builder(os.path.abspath(options.build_root), parts) as builder:
            for suite in chosen:
                tallies[suite.name] = run_suite(builder, suite)
    except KeyboardInterrupt:
        for suite in chosen:
            tallies.setdefault(suite.name, Tally(failed=[f"{suite.name}: interrupted"]))
    return summarise(tallies)


if __name__ == "__main__":
    sys.exit(main())
