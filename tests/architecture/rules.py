# SPDX-License-Identifier: Apache-2.0
"""The rules of the house as pure functions: a tree of files or a link graph in, complaints out.

A complaint is one line: "path:line: what is wrong". No complaint means that the rule holds.
"""

import json
import re
from pathlib import Path

import rooms
from declarations import NotUnderstood, read_declarations
from rooms import MAY_KNOW
from tree import all_files, is_script, read

ROOMS_WITH_README = ("fabric", "collectors", "analyzer", "api", "daemon", "dashboards", "deploy", "tests")
README_LINES = 80
FILE_LINES = 500
# Public declarations without a comment, of all rooms together. The check wants the exact number, so that it only shrinks.
UNCOMMENTED = 107
UNCOMMENTED_SHARE = 0.10
WORST_FILES = 10  # how many files a complaint about comments lists

# Spelt in two halves, so that this file passes its own check.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK", "TB" "D")) + r")\b")

# How files may repeat the version. The pattern is searched in the text of files of that name.
VERSION_COPIES = {
    "CMakeLists.txt": re.compile(r"^\s*project\s*\(\s*weft\b[^)]*?\bVERSION\s+\"?([0-9][\w.]*)", re.MULTILINE | re.IGNORECASE),
    "pyproject.toml": re.compile(r"^version\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE),
    "setup.py": re.compile(r"\bversion\s*=\s*[\"']([^\"']+)[\"']"),
    "__init__.py": re.compile(r"^__version__\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE),
    "changelog": re.compile(r"\Aweft \(([^)]+)\)"),  # debian/changelog: of the newest entry
}
# The same for files of npm: of the package itself, not of those that it uses.
NPM_FILES = {"package.json", "package-lock.json"}

CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
CODE_SUFFIXES = CPP_SUFFIXES | {".py", ".sh", ".cmake", ".proto", ".js", ".sql"}
LICENSE = "Apache-2.0"
OTHER_LICENSES = {"tests/kernel/module": "GPL-2.0"}  # the kernel's symbols that it needs are for such modules only
LICENSED_SUFFIXES = CODE_SUFFIXES | {".ts", ".tsx", ".mjs", ".css", ".pml", ".bash", ".html", ".yml", ".yaml", ".toml", ".service", ".in"}
LICENSED_NAMES = {"CMakeLists.txt", "Kbuild", "Makefile", "Dockerfile"}
LICENSE_LINES = 5  # the line must be among so many at the top
# A list of names in CMakeLists.txt may leave out "test_" and the ending of a file in Python.
TEST_FILE = re.compile(r"test_(\w+)\.py|(\w+_test\.cpp)")
NOT_WRITTEN_BY_HAND = ("tests/fuzz/seeds", "deploy/config")


def is_code(root, relative):
    return relative.suffix in CODE_SUFFIXES or relative.name == "CMakeLists.txt" or is_script(root, relative)


def check_links(graph, table):
    """Links keep to the table of sub-rooms; there is no ring. `graph`: as rooms.read_link_graph() returns it."""
    complaints = rooms.check_links(graph, table)
    ring = find_ring(graph)
    if ring:
        complaints.append("the links form a ring: " + " -> ".join(ring))
    return complaints


def find_ring(graph):
    done, path = set(), []

    def visit(target):
        if target in path:
            return path[path.index(target):] + [target]
        if target in done or target not in graph:
            return None
        path.append(target)
        for link in graph[target].links:
            ring = visit(link)
            if ring:
                return ring
        path.pop()
        done.add(target)
        return None

    for target in sorted(graph):
        ring = visit(target)
        if ring:
            return ring
    return None


def check_files(root, files=None):
    """Files (None: all) are short, headers are guarded, nothing says that it is unfinished."""
    complaints = []
    for relative in all_files(root) if files is None else files:
        if not is_code(root, relative):
            continue
        text = read(root, relative)
        lines = text.splitlines()
        if len(lines) > FILE_LINES:
            complaints.append(f"{relative}:{len(lines)}: {len(lines)} lines, at most {FILE_LINES} are allowed")
        if relative.suffix == ".hpp" and "#pragma once" not in text:
            complaints.append(f"{relative}:1: a header without #pragma once")
        for number, line in enumerate(lines, start=1):
            word = UNFINISHED.search(line)
            if word:
                complaints.append(f"{relative}:{number}: '{word.group(0)}' has no place in finished work")
            if relative.suffix == ".hpp" and re.match(r"\s*using namespace ", line):
                complaints.append(f"{relative}:{number}: a header must not say 'using namespace'")
    return complaints


def check_tests(root):
    """Every file of tests is named in the CMakeLists.txt beside it: what is not, nobody runs."""
    complaints = []
    for relative in all_files(root):
        file = TEST_FILE.fullmatch(relative.name)
        if relative.parts[0] != "tests" or not file:
            continue
        beside = relative.parent / "CMakeLists.txt"
        named = read(root, beside) if (Path(root) / beside).is_file() else ""
        if not re.search(rf"(?<![\w-])(test_)?{re.escape(file[1] or file[2])}(?!\w)", named):
            complaints.append(f"{relative}:1: {beside} does not name it, so that nobody runs it")
    return complaints


def check_readmes(root):
    """Every room that has code has a README of at most a page."""
    complaints = []
    used = {relative.parts[0] for relative in all_files(root) if len(relative.parts) > 1 and is_code(root, relative)}
    for room in ROOMS_WITH_README:
        readme = Path(root) / room / "README.md"
        if room in used and not readme.is_file():
            complaints.append(f"{room}/README.md: missing")
        elif readme.is_file() and len(readme.read_text(encoding="utf-8").splitlines()) > README_LINES:
            complaints.append(f"{room}/README.md: longer than a page ({README_LINES} lines)")
    return complaints


def is_licensed(root, relative):
    """Is it a source file, which must name its license? Not data, documents, seeds and what is generated."""
    if any(relative.is_relative_to(folder) for folder in NOT_WRITTEN_BY_HAND):
        return False
    return relative.suffix in LICENSED_SUFFIXES or relative.name in LICENSED_NAMES or is_script(root, relative)


def check_license(root, files=None):
    """The text of the license is there, and source files (None: all) name their license at the top."""
    file = Path(root) / "LICENSE"
    complaints = [] if file.is_file() and "Apache License" in read(root, file.name) else ["LICENSE: missing, or not the Apache License"]
    for relative in all_files(root) if files is None else files:
        if not is_licensed(root, relative):
            continue
        wanted = next((name for folder, name in OTHER_LICENSES.items() if relative.is_relative_to(folder)), LICENSE)
        line = re.compile(rf"^(//|#|/\*|--|<!--) SPDX-License-Identifier: {re.escape(wanted)}( \*/| -->)?$")
        if not any(line.match(each) for each in read(root, relative).splitlines()[:LICENSE_LINES]):
            complaints.append(f"{relative}:1: the comment 'SPDX-License-Identifier: {wanted}' is missing "
                              f"in the first {LICENSE_LINES} lines")
    return complaints


def check_version(root):
    """The file VERSION says the version, as 1.2.3; whatever repeats it says the same."""
    file = Path(root) / "VERSION"
    version = file.read_text(encoding="utf-8") if file.is_file() else ""
    if not re.fullmatch(r"\d+\.\d+\.\d+\n", version):
        return ["VERSION: must be one line such as 1.2.3"]
    complaints = []
    for relative in all_files(root):
        try:
            copies = version_copies(relative.name, read(root, relative)) if relative.name in VERSION_COPIES.keys() | NPM_FILES else []
        except ValueError as error:
            complaints.append(f"{relative}: is not JSON: {error}")
            continue
        complaints += [f"{relative}:{line}: says version {copy}, the file VERSION says {version.strip()}: read it from there, or repeat it"
                       for line, copy in copies if copy != version.strip()]
    return complaints


def version_copies(name, text):
    """Where a file of this name says the version: pairs of a line and what it says there."""
    if name not in NPM_FILES:
        return [(text.count("\n", 0, found.start(1)) + 1, found.group(1)) for found in VERSION_COPIES[name].finditer(text)]
    package = json.loads(text)
    packages = package.get("packages", {}) if isinstance(package, dict) else {}
    places = [place for place in (package, packages.get("")) if isinstance(place, dict) and "version" in place]
    return [(1, place["version"]) for place in places]  # the reader of JSON tells no lines


def check_comments(root, allowed=UNCOMMENTED, changed=frozenset()):
    """Public declarations have comments, but for a number that only shrinks. Complaints, those of `changed` files first, and a summary
    by room."""
    total, bare = dict.fromkeys(MAY_KNOW, 0), dict.fromkeys(MAY_KNOW, 0)
    files, complaints = [], []
    for relative in all_files(root):
        if relative.suffix != ".hpp" or relative.parts[0] not in MAY_KNOW:
            continue
        try:
            found = read_declarations(read(root, relative))
        except NotUnderstood as error:
            complaints.append(f"{relative}:{error}, as tests/architecture/declarations.py reads it: write it simpler, or teach it")
            continue
        without = [each for each in found if not each.commented]
        total[relative.parts[0]] += len(found)
        bare[relative.parts[0]] += len(without)
        if without:
            files.append((relative, without))
    count, everything = sum(bare.values()), sum(total.values())
    if everything == 0 and not complaints:
        return ["no public declarations found: is this the top of the tree?"], []
    summary = [f"{room}: {bare[room]} of {total[room]} public declarations have no comment" for room in MAY_KNOW]
    summary.append(f"all: {count} of {everything} ({100 * count / max(everything, 1):.1f} %)")
    if complaints:
        return complaints, summary
    if count > allowed:
        complaints.append(f"{count} public declarations without a comment, at most {allowed} are allowed: "
                          "add a line of comment above each new one")
    if count > UNCOMMENTED_SHARE * everything:
        complaints.append(f"{100 * count / everything:.1f} % of the public declarations have no comment, "
                          f"at most {100 * UNCOMMENTED_SHARE:.0f} % may lack one")
    if complaints:
        files.sort(key=lambda file: (file[0] not in changed, -len(file[1]), file[0]))
        complaints += [f"{relative}: {len(without)}: " + ", ".join(f"{each.name} ({each.line})" for each in without)
                       for relative, without in files[:WORST_FILES]]
    elif count < allowed:
        complaints.append(f"{count} public declarations without a comment, fewer than allowed: write UNCOMMENTED = {count} into "
                          "tests/architecture/rules.py")
    return complaints, summary
