# SPDX-License-Identifier: Apache-2.0
"""The packages of the commit that is checked out, built by deploy/package once for all tests that need them."""

import fcntl
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEEDS = ("mmdebstrap", "dpkg-buildpackage", "dh", "lintian", "apt-ftparchive", "chroot", "setpriv")


def repository() -> str:
    """The folder of the repository, in the build folder: that of WEFT_PACKAGES, for who writes tests; else that of this commit, built when it is not
    there. deploy/package ends with an error when lintian finds one.

    Without --long the programs are compiled without optimization: it takes a third of the time, and what is tried is how they are
    installed, not what is in them."""
    if given := os.environ.get("WEFT_PACKAGES"):
        return given
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    place = os.path.join(os.environ["WEFT_BUILD"], "package-repository")
    os.makedirs(place, exist_ok=True)
    is_long = bool(os.environ.get("WEFT_LONG"))
    made = os.path.join(place, commit if is_long else f"{commit}-unoptimized")
    with open(os.path.join(place, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isfile(os.path.join(made, "repository", "weft-build")):  # written last
            for name in os.listdir(place):
                shutil.rmtree(os.path.join(place, name), ignore_errors=True)
            _build(made, () if is_long else ("noopt",))
    return os.path.join(made, "repository")


def _build(made: str, options: tuple[str, ...]) -> None:
    """`options`: as Debian Policy 4.9.1 has them for DEB_BUILD_OPTIONS."""
    variables = dict(os.environ, DEB_BUILD_OPTIONS=" ".join((os.environ.get("DEB_BUILD_OPTIONS", ""), *options)).strip())
    done = subprocess.run([os.path.join(ROOT, "deploy", "package"), "--no-packages", "--output", os.path.join(made, "built"), "--repository",
                           os.path.join(made, "repository")], env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"deploy/package gave {done.returncode}:\n{done.stdout[-3000:]}")


if __name__ == "__main__":
    print(repository())
