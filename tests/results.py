# SPDX-License-Identifier: Apache-2.0
"""What the tests of tests/runner.py said: read from what ctest, the programs and the sanitizers left behind, added up, printed."""

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from building import say


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

    def is_empty(self) -> bool:
        return not (self.passed or self.failed or self.skipped)


def sanitizer_reports(folder: str) -> list[str]:
    """One line for each process that a sanitizer ended."""
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = [line.strip() for line in stream if "ERROR" in line or "runtime error" in line]
        found.append(f"{(lines or ['a report'])[0]} (all of it: {path})")
    return found


def read_results(suite: str, junit: str, results: str, filtered: bool) -> Tally:
    """One count for each test case where the program wrote its cases down, one for the whole program where it did not. `filtered`:
    a program may have no case to run. Raises OSError and ElementTree.ParseError."""
    tally = Tally()
    for entry in ElementTree.parse(junit).getroot().iter("testcase"):
        program = entry.get("name", "?")
        tally.add(outcome_of(entry, suite, program, cases_of(suite, os.path.join(results, f"{program}.xml"), program), filtered))
    return tally


def outcome_of(entry, suite: str, program: str, cases: Tally | None, filtered: bool) -> Tally:
    """What one program adds. `cases`: those that it wrote down, None where it wrote none."""
    status = entry.get("status", "")
    if status == "run":
        if cases is None:
            return Tally(passed=1)
        if cases.is_empty() and not filtered:
            return Tally(failed=[f"{suite}: {program}: ended well, and ran no test case"])
        return cases
    tally = cases or Tally()
    if status == "fail":
        if not tally.failed:
            # ctest 3.25 does not say that it was out of time, nor by which signal it ended.
            after = f"after {float(entry.get('time') or 0):.0f} s"
            tally.failed.append(f"{suite}: {program}: failed {after}, " + ("and wrote no case down" if cases is None else "though no case did"))
    elif may_skip(entry):
        tally.skipped.append(f"{suite}: {program}: {skip_reason(entry)}")
    else:
        tally.failed.append(f"{suite}: {program}: was not run: {skip_message(entry) or status}")
    return tally


def cases_of(suite: str, path: str, program: str) -> Tally | None:
    """None where the program wrote no cases down. What cannot be read is a failure."""
    if not os.path.exists(path):
        return None
    tally = Tally()
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        return Tally(failed=[f"{suite}: {program}: its results cannot be read: {error}; see {path}"])
    for case in root.iter("testcase"):
        name = f"{suite}: {program}: {case.get('classname', '')}.{case.get('name', '')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            tally.failed.append(name)
        elif case.get("result") == "suppressed":
            tally.skipped.append(f"{name}: disabled")
        elif skipped is not None or case.get("result") == "skipped":
            words = (skipped.get("message") if skipped is not None else "") or "no reason given"
            tally.skipped.append(f"{name}: {' '.join(words.split()[0:60])}")
        else:
            tally.passed += 1
    return tally


def skip_message(entry) -> str:
    """Why ctest did not run it, or did not count it."""
    skipped = entry.find("skipped")
    return (skipped.get("message") if skipped is not None else "") or ""


def may_skip(entry) -> bool:
    """Whether somebody wanted it not to run. A missing program or a failed fixture is nobody's wish."""
    return entry.get("status") == "disabled" or (
        entry.get("status") == "notrun" and skip_message(entry).startswith(("SKIP_RETURN_CODE", "Disabled")))


def skip_reason(entry) -> str:
    output = entry.findtext("system-out") or ""
    for line in output.splitlines():
        if "skipped:" in line:
            return line.split("skipped:", 1)[1].strip()
    return skip_message(entry) or "disabled"


def print_times(spent: dict[str, list[float]], tallies: dict[str, Tally], seconds: float) -> None:
    """`spent`: what the builds took, as Builder.spent has it. `seconds`: all of it, by the clock."""
    rows = [(name, *took) for name, took in spent.items()]
    rows += [(f"run {name}", tally.seconds, tally.processors) for name, tally in tallies.items()]
    say("\n== times (a suite's seconds are from its turn on, waiting for its build included)")
    say(f"| {'what':<22} | {'seconds':>7} | {'CPU-minutes':>11} |")
    say(f"| {'-' * 22} | {'-' * 6}: | {'-' * 10}: |")
    rows.append(("all", seconds, sum(row[2] for row in rows)))
    for name, took, processors in rows:
        say(f"| {name:<22} | {took:>7.0f} | {processors / 60:>11.2f} |")


def summarise(tallies: dict[str, Tally]) -> int:
    """Prints the summary, whose last line is the promised one. The exit code of tests/run."""
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
