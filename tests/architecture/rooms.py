# SPDX-License-Identifier: Apache-2.0
"""Which part of the tree may know which other part: rooms, the wings of daemon, and the table of sub-rooms in rooms.txt.

A sub-room is a folder with sources: "fabric", "analyzer/links", "daemon/adapters/store".
"""

import re
from pathlib import Path
from typing import NamedTuple

# Which rooms each room may know besides itself. An arrow only ever points down.
MAY_KNOW = {
    "fabric": set(),
    "collectors": {"fabric"},
    "analyzer": {"fabric"},
    "api": {"fabric"},
    "daemon": {"fabric", "collectors", "analyzer", "api"},
}
# The same for the wings of daemon. Every sub-room of daemon belongs to one of them.
WING_MAY_KNOW = {
    "daemon/platform": {"fabric"},
    "daemon/config": {"fabric", "analyzer", "api", "daemon/platform"},
    "daemon/adapters": {"fabric", "collectors", "daemon/platform"},
    "daemon/programs": {"fabric", "collectors", "analyzer", "api", "daemon/platform", "daemon/config", "daemon/adapters"},
}
PARTS = [room for room in MAY_KNOW if room != "daemon"] + list(WING_MAY_KNOW)
TABLE = "tests/architecture/rooms.txt"

# The libraries of others that each room may link, besides what those that it links show it.
MAY_LINK = {
    "fabric": {"tl::expected"},
    "collectors": {"PkgConfig::IBUMAD", "PkgConfig::IBMAD", "PkgConfig::MNL", "PkgConfig::CGRAPH"},
    "analyzer": {"Boost::headers"},
    "api": {"Boost::headers", "OpenSSL::Crypto", "OpenSSL::SSL", "ZLIB::ZLIB", "gRPC::grpc++", "gRPC::grpc++_reflection", "prometheus-cpp::core", "protobuf::libprotobuf"},
    "daemon": {"Boost::headers", "CLI11::CLI11", "CURL::libcurl", "OpenSSL::Crypto", "PkgConfig::SYSTEMD", "SQLite::SQLite3", "PkgConfig::LIBPQ",
               "ZLIB::ZLIB", "nlohmann_json::nlohmann_json", "prometheus-cpp::core", "spdlog::spdlog",
               "tomlplusplus::tomlplusplus", "yaml-cpp"},
}
# What every room may link, as it is how all is compiled; one link to a target outside of the rooms; sources that others build too.
OPTIONS = {"weft_options", "weft_options_generated", "Threads::Threads"}
OUTSIDE = {("daemon/programs/weftd", "weft_page")}
SHARED_SOURCES = {"cmake/sanitizer_options.cpp"}


class Target(NamedTuple):
    folder: str
    links: tuple     # names of targets and libraries
    sources: tuple = ()  # relative to the top, without those of the build tree


def part_of(sub_room):
    """The room of a sub-room, or its wing when the room is daemon: "analyzer", "daemon/adapters"."""
    names = sub_room.split("/")
    return "/".join(names[:2]) if names[0] == "daemon" else names[0]


def may_point(origin, target):
    """Do the rules for rooms and wings allow an arrow between these two sub-rooms, whatever the table says?"""
    return part_of(target) in {part_of(origin)} | WING_MAY_KNOW.get(part_of(origin), MAY_KNOW.get(part_of(origin), set()))


def sub_room_of_include(name):
    """The sub-room that "room/sub/part.hpp" belongs to."""
    return "api/proto" if name.endswith(".pb.h") else "/".join(Path(name).parts[:-1])


class Table:
    """The rows of rooms.txt: which sub-rooms each sub-room may know, and the line of the file that says so."""

    def __init__(self, text):
        self.rows = {}        # sub-room -> set of sub-rooms
        self.lines = {}       # (sub-room, known sub-room) or sub-room -> line number
        self.complaints = []  # about the table alone
        row = None
        for number, line in enumerate(text.splitlines(), start=1):
            content = line.split("#")[0].rstrip()
            if not content:
                continue
            if not content[0].isspace():
                row, colon, content = content.partition(":")
                if not colon or row in self.rows:
                    self.complain(number, f"{row} has a row already" if colon else f"'{row}' is no row: it lacks a colon")
                    row = None
                    continue
                self.start(row, number)
            elif row is None:
                self.complain(number, "this line goes on with a row that there is not")
                continue
            for known in content.split():
                self.add(row, known, number)

    def complain(self, number, what):
        self.complaints.append(f"{TABLE}:{number}: {what}")

    def start(self, row, number):
        self.rows[row] = set()
        self.lines[row] = number
        if part_of(row) not in PARTS:
            self.complain(number, f"{row} is in none of the rooms and wings: {', '.join(PARTS)}")

    def add(self, row, known, number):
        if known in self.rows[row]:
            self.complain(number, f"{known} stands twice in the row of {row}")
        elif not may_point(row, known):
            self.complain(number, f"{part_of(row)} must not know {part_of(known)} ({row} -> {known})")
        elif known == row or known not in self.rows:
            self.complain(number, f"{known} must have a row above that of {row}: an arrow points upwards in this file only")
        self.rows[row].add(known)
        self.lines[row, known] = number


def read_table(root):
    """The table of the tree at `root`. A tree without one has no rows, and a complaint."""
    file = Path(root) / TABLE
    table = Table(file.read_text(encoding="utf-8") if file.is_file() else "")
    if not file.is_file():
        table.complaints.append(f"{TABLE}: missing")
    return table


def check_table(root, table, arrows, folders):
    """Rows and arrows that nobody needs are complaints too: the table shrinks with the code.

    `arrows`: the pairs of sub-rooms of which the first includes something of the second; `folders`: those with sources.
    """
    complaints = list(table.complaints)
    for row, known in sorted(table.rows.items()):
        if not (Path(root) / row).is_dir():
            complaints.append(f"{TABLE}:{table.lines[row]}: there is no folder {row}: take out its row")
            continue
        for target in sorted(known):
            if (row, target) not in arrows:
                complaints.append(f"{TABLE}:{table.lines[row, target]}: {row} includes nothing of {target}: "
                                  "take that out of its row")
    for folder in sorted(folders - set(table.rows)):
        complaints.append(f"{folder}: this folder has sources and no row in {TABLE}")
    return complaints


def check_links(graph, table):
    """Links and sources against the table. `graph` maps the name of each target of the tree to its Target."""
    complaints, linked = [], {}
    for target, (folder, _, sources) in sorted(graph.items()):
        if folder.split("/")[0] not in MAY_KNOW:
            continue
        here = f"{folder}/CMakeLists.txt: {target}"
        linked.setdefault(folder, set()).update(reachable(graph, target))
        if folder not in table.rows:
            complaints.append(f"{here} is built in a folder that has no row in {TABLE}")
            continue
        complaints += [f"{here} must not build {source}: it is not in this folder" for source in sources
                       if Path(source).parent.as_posix() != folder and source not in SHARED_SOURCES]
        for link, through in effective_links(graph, target):
            way = f" (through {through})" if through else ""
            if link in OPTIONS or (folder, link) in OUTSIDE:
                continue
            if link not in graph:
                if link not in MAY_LINK[folder.split("/")[0]]:
                    complaints.append(f"{here} must not link {link}{way}: MAY_LINK in tests/architecture/rooms.py does not name it")
            elif graph[link].folder not in {folder} | table.rows[folder]:
                other = graph[link].folder or "the top folder"
                complaints.append(f"{here} must not link {link}{way}: {other} is not in the row of {folder} in {TABLE}")
    for folder, targets in sorted(linked.items()):
        # A folder's include root shows the folders below it as well, so that the compiler does not notice.
        for known in sorted(table.rows.get(folder, set()) - {graph[target].folder for target in targets}):
            complaints.append(f"{folder}/CMakeLists.txt: {folder} includes {known}, but none of its targets links that")
    return complaints


def effective_links(graph, target):
    """What the target links, itself or through targets that are in no room: pairs of a name and the target between, or None."""
    found, waiting = {}, [(link, None) for link in graph[target].links]
    while waiting:
        link, through = waiting.pop(0)
        if link in found:
            continue
        found[link] = through
        if link in graph and graph[link].folder.split("/")[0] not in MAY_KNOW:
            waiting += [(other, link) for other in graph[link].links]
    return sorted(found.items())


def read_link_graph(text):
    """Lines of `target|folder|link;link|source;source`, as CMakeLists.txt beside this file writes them; the sources may be missing."""
    graph = {}
    for line in text.splitlines():
        if line.strip():
            target, folder, links, sources = (*line.split("|"), "")[:4]
            # A target of which another takes the objects is linked by it.
            files = [source for source in sources.split(";") if source]
            objects = [name for source in files if re.search("[<>]", source) for name in names_of(source)]
            graph[target] = Target(folder, tuple(dict.fromkeys(names_of(links) + objects)),
                                   tuple(source for source in files if not re.search("[<>]", source)))
    return graph


def names_of(links):
    """The targets and libraries in a list of links, whatever the condition under which they are linked."""
    text = re.sub(r"::@(\(\w+\))?", ";", links)  # how CMake notes from which folder a link was added
    before = None
    while before != text:  # conditions go, from the inside to the outside; what a wrapper holds stays
        before = text
        text = re.sub(r"\$<(?:CONFIG|STREQUAL|BOOL|NOT|AND|OR|EQUAL|IN_LIST|TARGET_EXISTS|PLATFORM_ID|(?:COMPILE|LINK)_LANG\w*|VERSION_\w+"
                      r"|\w+_COMPILER_\w+)(?::[^<>]*)?>", "1", text)
    text = re.sub(r"\$<[A-Z_01]+:", ";", text)
    words = [word.strip(":") for word in re.split(r"[<>;,$\s]+", text)]
    return [word for word in dict.fromkeys(words) if word and word not in ("0", "1")]


def reachable(graph, target):
    """All targets of the graph that `target` links, directly or through others."""
    found, waiting = set(), [target]
    while waiting:
        for link in graph[waiting.pop()].links:
            if link in graph and link not in found:
                found.add(link)
                waiting.append(link)
    return found
