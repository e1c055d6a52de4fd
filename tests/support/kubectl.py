# SPDX-License-Identifier: Apache-2.0
"""kubectl: the one that is installed, and Debian's 1.20, which knows the oldest Kustomize; and what the overlays of deploy/kubernetes build to."""

import glob
import os
import shutil
import subprocess
import tempfile

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "weft", "kubectl")
KUBERNETES = os.path.join(ROOT, "deploy", "kubernetes")


def installed() -> str | None:
    return shutil.which("kubectl")


def debians() -> str | None:
    """Of the package kubernetes-client, unpacked in a cache folder; None where it can't be had."""
    path = os.path.join(CACHE, "usr", "bin", "kubectl")
    if os.access(path, os.X_OK):
        return path
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    place = tempfile.mkdtemp(prefix="kubectl-", dir=os.path.dirname(CACHE))
    try:
        os.mkdir(os.path.join(place, "unpacked"))
        for command in (["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", "kubernetes-client"], ["sh", "-c", "dpkg-deb -x *.deb unpacked"]):
            if subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
                return None
        if not glob.glob(CACHE):
            os.rename(os.path.join(place, "unpacked"), CACHE)
    except OSError:
        return None  # no Debian, or another test was faster
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return path if os.access(path, os.X_OK) else None


def built(program: str, folder: str) -> str:
    """The manifests of a folder with a kustomization.yaml."""
    done = subprocess.run([program, "kustomize", folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False)
    if done.returncode:
        raise AssertionError(f"{program} kustomize {folder} gave {done.returncode}: {done.stderr}")
    return done.stdout


def objects(text: str) -> list[dict]:
    return [each for each in yaml.safe_load_all(text) if each]
