# SPDX-License-Identifier: Apache-2.0
"""Builds module/ against the guest's kernel, outside of the source tree."""

import hashlib
import os
import re
import shutil
import subprocess

from packages import ROOT, Packages, Unavailable

SOURCE = os.path.join(ROOT, "tests", "kernel", "module")


def build(packages: Packages, folder: str) -> str:
    """The path of scripted_nic.ko; made in three seconds, or found when its sources are the same. Raises packages.Unavailable where the
    tools are missing, RuntimeError where it does not compile."""
    for tool in ("make", "gcc-12", "strip"):
        if not shutil.which(tool):
            raise Unavailable(f"not installed: {tool}, which builds the test's kernel module")
    headers = packages.one(f"usr/src/linux-headers-{packages.release()}")
    sources = sorted(name for name in os.listdir(SOURCE) if not name.endswith(".md"))
    digest = hashlib.sha256(packages.place.encode())
    for name in sources:
        with open(os.path.join(SOURCE, name), "rb") as stream:
            digest.update(stream.read())
    place = os.path.join(folder, "module")
    made = os.path.join(place, f"scripted_nic-{digest.hexdigest()[:12]}.ko")
    if os.path.exists(made):
        return made
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name in sources:
        shutil.copy(os.path.join(SOURCE, name), place)
    _move_headers(os.path.join(headers, "Makefile"), packages.place)
    for command in (["make", "-s", "-C", headers, f"M={place}", "modules"], ["strip", "--strip-debug", f"{place}/scripted_nic.ko"]):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the test's kernel module can't be built:\n{done.stdout[-3000:]}")
    os.rename(os.path.join(place, "scripted_nic.ko"), made)
    return made


def _move_headers(makefile: str, place: str) -> None:
    """Debian's headers name the common ones by where the package would be installed."""
    with open(makefile, encoding="utf-8") as stream:
        text = stream.read()
    with open(makefile, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"^include .*?/usr/src/|^include /usr/src/", f"include {place}/usr/src/", text, flags=re.MULTILINE))
