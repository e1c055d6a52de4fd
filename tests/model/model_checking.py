# SPDX-License-Identifier: Apache-2.0
"""A model in Promela, checked by spin over every interleaving."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

SPIN = shutil.which("spin")
COMPILER = shutil.which("gcc") or shutil.which("cc")
LIMIT = 400  # s; each alone takes below 90
FOLDER = os.path.dirname(os.path.abspath(__file__))

needs_spin = unittest.skipIf(SPIN is None or COMPILER is None, "spin or a C compiler is not installed")


def model(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def check(text: str, search: tuple[str, ...], *, macros: tuple[str, ...] = (), build: tuple[str, ...] = ()) -> dict:
    """What spin says of that model with those macros: "errors", "states", "unreached" (lines and statements) and all of it, "told".
    `search`: words for the checker that spin makes. `build`: macros that it is compiled with."""
    with tempfile.TemporaryDirectory(prefix="weft-model-") as folder:
        with open(os.path.join(folder, "model.pml"), "w", encoding="utf-8") as file:
            file.write(text)

        def run(*words):
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
            return done.stdout

        run(SPIN, *(f"-D{name}" for name in macros), "-a", "model.pml")
        run(COMPILER, "-O1", "-w", *(f"-D{name}" for name in build), "-o", "pan", "pan.c")
        told = run("./pan", *search, "-m1000000", "-w24")
    return {"errors": int(re.search(r"errors: (\d+)", told).group(1)),
            "states": int(re.search(r"(\d+) states, stored", told).group(1)),
            "unreached": re.findall(r"^\tmodel\.pml:(\d+), state \d+, \"(.*)\"$", told, re.M),
            "told": told}
