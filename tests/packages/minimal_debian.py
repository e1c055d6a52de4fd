# SPDX-License-Identifier: Apache-2.0
"""A folder with a minimal Debian 12, made by mmdebstrap, in which packages are installed and programs run. Nothing in it is started
by systemd: a chroot has none."""

import os
import shutil
import subprocess
import tempfile

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
NO_SERVICES = "#!/bin/sh\nexit 101\n"  # policy-rc.d: packages start nothing


class MinimalDebian:
    def __init__(self, place: str):
        self.root = os.path.join(place, "root")

    def make(self) -> "MinimalDebian":
        """Raises CalledProcessError with what mmdebstrap wrote."""
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", self.root], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.write("/usr/sbin/policy-rc.d", NO_SERVICES, 0o755)
        shutil.copy("/etc/resolv.conf", os.path.join(self.root, "etc", "resolv.conf"))
        self.run("apt-get", "update", "-q")
        return self

    def path(self, inside: str) -> str:
        return os.path.join(self.root, inside.lstrip("/"))

    def write(self, inside: str, text: str, mode: int = 0o644) -> None:
        os.makedirs(os.path.dirname(self.path(inside)), exist_ok=True)
        with open(self.path(inside), "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(self.path(inside), mode)

    def command(self, *arguments: str, user: str = "", environment: dict | None = None, folder: str = "/") -> list[str]:
        """What runs `arguments` in it, with nothing of our own environment but `environment`."""
        settings = [f"{name}={value}" for name, value in {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", **(environment or {})}.items()]
        identity = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        # /proc is there for as long as the program runs, and mounted for nobody else.
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', self.root,
                *identity, "env", "-i", "-C", folder, *settings, *arguments]

    def run(self, *arguments: str, **how) -> str:
        """Its output. Raises AssertionError with it when the exit code is not 0."""
        done = subprocess.run(self.command(*arguments, **how), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=600, check=False)
        if done.returncode:
            raise AssertionError(f"{' '.join(arguments)} gave {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def use_repository(self, folder: str) -> None:
        """apt finds the packages of `folder`, which is copied."""
        shutil.copytree(folder, self.path("/srv/weft"), dirs_exist_ok=True)
        self.write("/etc/apt/sources.list.d/weft.list", "deb [trusted=yes] file:/srv/weft ./\n")
        self.run("apt-get", "update", "-q")

    def files(self) -> set[str]:
        """Every path in it, but those that apt, dpkg and logs change."""
        passed_over = ("/var/cache", "/var/lib/apt", "/var/lib/dpkg", "/var/log", "/proc", "/sys", "/dev", "/run", "/tmp", "/srv")
        found = set()
        for folder, folders, names in os.walk(self.root):
            inside = folder[len(self.root):] or "/"
            folders[:] = [name for name in folders if not os.path.join(inside, name).startswith(passed_over)]
            found.update(os.path.join(inside, name) for name in folders + names)
        return found


def with_version(package: str, version: str, place: str) -> str:
    """A copy of a .deb that calls itself `version`; its path. What is upgraded from, while there is no other release."""
    with tempfile.TemporaryDirectory(dir=place) as unpacked:
        subprocess.run(["dpkg-deb", "-R", package, unpacked], check=True)
        control = os.path.join(unpacked, "DEBIAN", "control")
        with open(control, encoding="utf-8") as stream:
            lines = stream.readlines()
        with open(control, "w", encoding="utf-8") as stream:
            stream.writelines(f"Version: {version}\n" if line.startswith("Version:") else line for line in lines)
        made = os.path.join(place, f"{os.path.basename(package).split('_')[0]}_{version}.deb")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", unpacked, made], check=True, stdout=subprocess.DEVNULL)
    return made
