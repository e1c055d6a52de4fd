# SPDX-License-Identifier: Apache-2.0
"""The files of the tree that persons wrote."""

from pathlib import Path

SKIPPED_AT_THE_TOP = {"build", ".git", ".cache"}
SKIPPED_ANYWHERE = {"__pycache__", "node_modules"}


def is_skipped(relative):
    return relative.parts[0] in SKIPPED_AT_THE_TOP or not SKIPPED_ANYWHERE.isdisjoint(relative.parts)


def all_files(root):
    """Every file of the tree that a person wrote, sorted."""
    found = []
    for path in sorted(Path(root).rglob("*")):
        relative = path.relative_to(root)
        if not is_skipped(relative) and path.is_file() and not path.is_symlink():
            found.append(relative)
    return found


def read(root, relative):
    return (Path(root) / relative).read_text(encoding="utf-8", errors="replace")


def is_script(root, relative):
    if relative.suffix:
        return False
    with open(Path(root) / relative, "rb") as file:
        return file.read(2) == b"#!"
