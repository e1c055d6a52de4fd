# SPDX-License-Identifier: Apache-2.0
"""Which part of the tree may know which other part: rooms, the wings of daemon, and the table of sub-rooms in rooms.txt.

A sub-room is a folder with sources: "fabric", "analyzer/links", "daemon/adapters/store".
"""

from pathlib import Path

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
    """Links against the table. `graph` maps a target to (its folder, the targets it links)."""
    complaints, linked = [], {}
    for target, (folder, links) in sorted(graph.items()):
        if folder.split("/")[0] not in MAY_KNOW:
            continue
        linked.setdefault(folder, set()).update(reachable(graph, target))
        if folder not in table.rows:
            complaints.append(f"{folder}/CMakeLists.txt: {target} is built in a folder that has no row in {TABLE}")
            continue
        for link in links:
            other = graph[link][0] if link in graph else folder
            if other not in {folder} | table.rows[folder]:
                complaints.append(f"{folder}/CMakeLists.txt: {target} must not link {link}: "
                                  f"{other} is not in the row of {folder} in {TABLE}")
    for folder, targets in sorted(linked.items()):
        # A folder's include root shows the folders below it as well, so that the compiler does not notice.
        for known in sorted(table.rows.get(folder, set()) - {graph[target][0] for target in targets}):
            complaints.append(f"{folder}/CMakeLists.txt: {folder} includes {known}, but none of its targets links that")
    return complaints


def reachable(graph, target):
    """All targets of the graph that `target` links, directly or through others."""
    found, waiting = set(), [target]
    while waiting:
        for link in graph[waiting.pop()][1]:
            if link in graph and link not in found:
                found.add(link)
                waiting.append(link)
    return found
