# SPDX-License-Identifier: Apache-2.0
"""What the sources of the rooms include and which files a room may have: a tree of files in, complaints out."""

import re
from pathlib import Path

import rooms
from declarations import TOKEN
from rooms import MAY_KNOW
from tree import all_files, is_skipped, read

# The headers in angle brackets that fabric and analyzer may include: nothing that reads a file, a clock or the system, or starts a thread.
PURE = r"""algorithm any array bit bitset cctype charconv chrono cmath compare concepts cstddef cstdint cstdio cstring deque exception format
    functional initializer_list iterator limits list map memory new numbers numeric optional queue ranges ratio regex set span stdexcept
    string string_view system_error tuple type_traits unordered_map unordered_set utility variant vector tl/expected\.hpp""".split()
MAY_INCLUDE = {"fabric": re.compile("|".join(PURE)), "analyzer": re.compile("|".join([*PURE, "boost/math/.*"]))}
# What other rooms must not touch.
MUST_NOT_INCLUDE = {
    "collectors": re.compile(r"(grpc|google/|sqlite3|prometheus/|nlohmann/|CLI/|toml)"),
    "api": re.compile(r"(sqlite3|infiniband/|CLI/)"),
}
# They are given `now`: thirty simulated days must pass in a second. One file has the clock that the others are given.
CLOCK = re.compile(r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b|\bSystemClock\b|(?:\bstd\s*|(?<![\w>])\s*)::\s*(?:time|clock)\s*\("
                   r"|\b(?:clock_gettime|gettimeofday|timespec_get|ftime)\s*\(|(?<![\w.>:])time\s*\(\s*(?:0|NULL|nullptr|&\s*\w+)\s*\)"
                   r"|(?<![\w.>:])clock\s*\(\s*\)"
                   r"|\b(?:sleep_for|sleep_until|nanosleep|usleep)\b")
WITHOUT_CLOCK = {"fabric", "analyzer"}
CLOCKS = {"fabric/clock.hpp"}

SOURCES = {".cpp", ".hpp"}
ROOM_SUFFIXES = SOURCES | {".md", ".proto"}
DIRECTIVE = re.compile(r"^(?:.*\*/)?\s*(?:#|%:|\?\?=)\s*(\w*)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)\s*(?://.*)?$')
# Any other word of a directive may stand in a line of text, such as a heading; not if it says what these say.
OTHER_DIRECTIVES = {"define", "elif", "else", "endif", "error", "if", "ifdef", "ifndef", "pragma", "undef"}
SUSPECT = re.compile(r"include|import|embed|\\$")
MODULE = re.compile(r'^\s*(?:export\s+)?import\s*(?:[<":]|[\w.:]+\s*;)')


def check_includes(root):
    """Includes keep to the table of sub-rooms, are by place, and exist; rooms keep off what they must, and have no other files."""
    table = rooms.read_table(root)
    complaints, arrows, folders = check_kinds(root), set(), set()
    for relative in all_files(root):
        room = relative.parts[0]
        if relative.suffix not in SOURCES or room not in MAY_KNOW:
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
            elif is_not_understood(line):
                complaints.append(f"{relative}:{number}: this include is not understood: write #include \"room/part.hpp\" or <header>, "
                                  "in a line of its own")
        if room in WITHOUT_CLOCK and relative.as_posix() not in CLOCKS:
            code = without_comments_and_texts(text)
            complaints += [f"{relative}:{code.count(chr(10), 0, found.start()) + 1}: {room} must not read a clock nor sleep"
                           for found in CLOCK.finditer(code)]
    return complaints + rooms.check_table(root, table, arrows, folders)


def check_kinds(root):
    """A room has no file that no check would look into."""
    complaints = []
    for room in MAY_KNOW:
        for path in sorted((Path(root) / room).rglob("*")):
            relative = path.relative_to(root)
            if path.is_symlink():
                complaints.append(f"{relative}: a room must not have a symbolic link")
            elif path.is_file() and not is_skipped(relative) and path.suffix not in ROOM_SUFFIXES and path.name != "CMakeLists.txt":
                complaints.append(f"{relative}: a room must not have such a file: only {', '.join(sorted(ROOM_SUFFIXES))} and CMakeLists.txt")
    return complaints


def is_not_understood(line):
    """Does the line, which is no plain include, include something all the same, or might it?"""
    directive = DIRECTIVE.match(line)
    if not directive:
        return MODULE.match(line) is not None
    word = directive.group(1)
    return word not in OTHER_DIRECTIVES and SUSPECT.search(line[directive.start(1):].lstrip() or "\\") is not None


def without_comments_and_texts(text):
    """The code alone, on the same lines."""
    def blank(match):
        return match.group(0) if match.lastgroup in ("number", "name", "sign") else "\n" * match.group(0).count("\n") or " "
    return TOKEN.sub(blank, text)


def include_complaints(root, table, relative, number, name, quoted):
    """About one include: `name` is what stands between the quotes or (not `quoted`) the angle brackets."""
    room, folder = relative.parts[0], relative.parent.as_posix()
    here = f"{relative}:{number}"
    generated = name.endswith(".pb.h")
    first = "api" if generated else Path(name).parts[0]
    if first not in MAY_KNOW and not quoted:
        if ".." in Path(name).parts or first == "/" or (len(Path(name).parts) > 1 and (Path(root) / first).is_dir()):
            return [f"{here}: {room} must not include {name}: it is in none of the rooms"]
        allowed, forbidden = MAY_INCLUDE.get(room), MUST_NOT_INCLUDE.get(room)
        if (allowed and not allowed.fullmatch(name)) or (forbidden and forbidden.match(name)):
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
