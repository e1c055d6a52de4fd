# SPDX-License-Identifier: Apache-2.0
"""The rules of the house as pure functions: a tree of files or a link graph in, complaints out.

A complaint is one line: "path:line: what is wrong". No complaint means that the rule holds.
"""

import re
from pathlib import Path

import rooms
from declarations import read_declarations
from rooms import MAY_KNOW

ROOMS_WITH_README = ("fabric", "collectors", "analyzer", "api", "daemon", "dashboards", "deploy", "tests")
README_LINES = 80
FILE_LINES = 500
# Public declarations without a comment, of all rooms together. Lower it when there are fewer; never raise it.
UNCOMMENTED = 111
UNCOMMENTED_SHARE = 0.10
WORST_FILES = 10  # how many files a complaint about comments lists

# What a room must not touch, by include. The pattern is matched against the text between <> or "".
SYSTEM_CALLS = r"(sys/|netinet/|arpa/|linux/|unistd\.h|fcntl\.h|poll\.h|signal\.h|netdb\.h|pthread\.h)"
LIBRARIES_OF_OTHERS = r"(boost/(?!math/)|spdlog/|grpc|google/|sqlite3|nlohmann/|toml|CLI/|prometheus/|infiniband/)"
MUST_NOT_INCLUDE = {
    "fabric": rf"({SYSTEM_CALLS}|{LIBRARIES_OF_OTHERS}|fstream$|iostream$|filesystem$|thread$|mutex$|future$)",
    "analyzer": rf"({SYSTEM_CALLS}|{LIBRARIES_OF_OTHERS}|fstream$|iostream$|filesystem$|thread$|mutex$|shared_mutex$"
                r"|condition_variable$|future$|semaphore$)",
    "collectors": r"(grpc|google/|sqlite3|prometheus/|nlohmann/|CLI/|toml)",
    "api": r"(sqlite3|infiniband/|CLI/)",
}
# The analyzer is given `now`: thirty simulated days must pass in a second.
MUST_NOT_SAY = {"analyzer": re.compile(r"(system_clock|steady_clock|high_resolution_clock)::now|sleep_for|sleep_until")}

# Spelt in two halves, so that this file passes its own check.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK", "TB" "D")) + r")\b")

# How files may repeat the version. The pattern is matched against each line of files of that name.
VERSION_COPIES = {
    "CMakeLists.txt": re.compile(r"^project\(weft VERSION ([0-9][\w.]*)"),
    "pyproject.toml": re.compile(r"^version\s*=\s*[\"']([^\"']+)[\"']"),
    "setup.py": re.compile(r"\bversion\s*=\s*[\"']([^\"']+)[\"']"),
    "__init__.py": re.compile(r"^__version__\s*=\s*[\"']([^\"']+)[\"']"),
    "package.json": re.compile(r"^  \"version\":\s*\"([^\"]+)\""),
}

CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
CODE_SUFFIXES = CPP_SUFFIXES | {".py", ".sh", ".cmake", ".proto", ".js", ".sql"}
LICENSE = "Apache-2.0"
OTHER_LICENSES = {"tests/kernel/module": "GPL-2.0"}  # the kernel's symbols that it needs are for such modules only
LICENSED_SUFFIXES = CODE_SUFFIXES | {".ts", ".tsx", ".mjs", ".css", ".pml"}
LICENSE_LINES = 5  # the line must be among so many at the top
NOT_WRITTEN_BY_HAND = ("tests/fuzz/seeds",)
SKIPPED_FOLDERS = {"build", ".git", "__pycache__", ".cache", "node_modules"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def all_files(root):
    """Every file of the tree that a person wrote, sorted."""
    found = []
    for path in sorted(Path(root).rglob("*")):
        relative = path.relative_to(root)
        if not SKIPPED_FOLDERS.intersection(relative.parts) and path.is_file() and not path.is_symlink():
            found.append(relative)
    return found


def read(root, relative):
    return (Path(root) / relative).read_text(encoding="utf-8", errors="replace")


def is_script(root, relative):
    if relative.suffix:
        return False
    with open(Path(root) / relative, "rb") as file:
        return file.read(2) == b"#!"


def is_code(root, relative):
    return relative.suffix in CODE_SUFFIXES or relative.name == "CMakeLists.txt" or is_script(root, relative)


def check_includes(root):
    """Includes keep to the table of sub-rooms, are by place, and exist; rooms keep off what they must."""
    table = rooms.read_table(root)
    complaints, arrows, folders = [], set(), set()
    for relative in all_files(root):
        room = relative.parts[0]
        if relative.suffix not in CPP_SUFFIXES or room not in MAY_KNOW:
            continue
        folder = relative.parent.as_posix()
        folders.add(folder)
        text = read(root, relative)
        for number, line in enumerate(text.splitlines(), start=1):
            include = INCLUDE.match(line)
            if include:
                name = include.group(1) or include.group(2)
                arrows.add((folder, rooms.sub_room_of_include(name)))
                complaints += include_complaints(root, table, relative, number, name, include.group(1) is not None)
            elif room in MUST_NOT_SAY and MUST_NOT_SAY[room].search(line.split("//")[0]):
                complaints.append(f"{relative}:{number}: {room} must not read a clock nor sleep")
    return complaints + rooms.check_table(root, table, arrows, folders)


def include_complaints(root, table, relative, number, name, quoted):
    room, folder = relative.parts[0], relative.parent.as_posix()
    here = f"{relative}:{number}"
    generated = name.endswith(".pb.h")
    first = "api" if generated else Path(name).parts[0]
    forbidden = MUST_NOT_INCLUDE.get(room)
    if forbidden and not generated and first not in MAY_KNOW and re.match(forbidden, name):
        return [f"{here}: {room} must not include {name}"]
    if quoted and first not in MAY_KNOW:
        return [f"{here}: \"{name}\" is not by place (\"room/part.hpp\")"]
    if not generated and first in MAY_KNOW and not (Path(root) / name).is_file():
        # prometheus-cpp and others may have folders of such names, in angle brackets only.
        return [f"{here}: \"{name}\" does not exist"] if quoted else []
    target = rooms.sub_room_of_include(name)
    if first not in MAY_KNOW or target == folder or folder not in table.rows or target in table.rows[folder]:
        return []  # check_table says once which folders have no row
    if not rooms.may_point(folder, target):
        return [f"{here}: {folder} must not know {target} ({name}): move the code, or pass the value in; {rooms.TABLE} has the arrows"]
    return [f"{here}: {folder} does not know {target} ({name}): do without, or write it into its row in {rooms.TABLE}"]


def check_links(graph, table):
    """`graph` maps a target to (its folder, the targets it links). Links keep to the table of sub-rooms; there is no ring."""
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
        for link in graph[target][1]:
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


def read_link_graph(text):
    """Lines of `target|folder|link;link`, as CMakeLists.txt beside this file writes them."""
    graph = {}
    for line in text.splitlines():
        if line.strip():
            target, folder, links = line.split("|", 2)
            # $<LINK_ONLY:x> is how CMake writes a private link of a static library.
            names = [re.sub(r"^\$<LINK_ONLY:(.*)>$", r"\1", link) for link in links.split(";")]
            graph[target] = (folder, [name for name in names if name])
    return graph


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
    return relative.suffix in LICENSED_SUFFIXES or relative.name in ("CMakeLists.txt", "Kbuild") or is_script(root, relative)


def check_license(root, files=None):
    """The text of the license is there, and source files (None: all) name their license at the top."""
    complaints = [] if (Path(root) / "LICENSE").is_file() else ["LICENSE: missing"]
    for relative in all_files(root) if files is None else files:
        if not is_licensed(root, relative):
            continue
        wanted = next((name for folder, name in OTHER_LICENSES.items() if relative.is_relative_to(folder)), LICENSE)
        line = re.compile(rf"^(//|#|/\*|--) SPDX-License-Identifier: {re.escape(wanted)}( \*/)?$")
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
        pattern = VERSION_COPIES.get(relative.name)
        for number, line in enumerate(read(root, relative).splitlines() if pattern else [], start=1):
            copy = pattern.search(line)
            if copy and copy.group(1) != version.strip():
                complaints.append(f"{relative}:{number}: says version {copy.group(1)}, the file VERSION says "
                                  f"{version.strip()}: read it from there, or repeat it")
    return complaints


def check_comments(root, allowed=UNCOMMENTED, changed=frozenset()):
    """Public declarations have comments, but for a number that only shrinks. Complaints, those of `changed` files first, and a summary
    by room."""
    total, bare = dict.fromkeys(MAY_KNOW, 0), dict.fromkeys(MAY_KNOW, 0)
    files = []
    for relative in all_files(root):
        if relative.suffix != ".hpp" or relative.parts[0] not in MAY_KNOW:
            continue
        found = read_declarations(read(root, relative))
        without = [each for each in found if not each.commented]
        total[relative.parts[0]] += len(found)
        bare[relative.parts[0]] += len(without)
        if without:
            files.append((relative, without))
    count, everything = sum(bare.values()), sum(total.values())
    if everything == 0:
        return ["no public declarations found: is this the top of the tree?"], []
    summary = [f"{room}: {bare[room]} of {total[room]} public declarations have no comment" for room in MAY_KNOW]
    summary.append(f"all: {count} of {everything} ({100 * count / everything:.1f} %)")
    complaints = []
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
        summary.append(f"there are fewer than allowed: lower UNCOMMENTED to {count} in tests/architecture/rules.py")
    return complaints, summary
