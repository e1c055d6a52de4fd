# SPDX-License-Identifier: Apache-2.0
"""Debian packages that the guest is made of, downloaded and unpacked beside the build, installed nowhere."""

import glob
import hashlib
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What of the kernel's package is unpacked: the rest of its modules are 350 MB.
KERNEL_FILES = ("boot/vmlinuz-*", *(f"lib/modules/*/kernel/{place}" for place in (
    "crypto/crc32*_generic.ko", "drivers/block/virtio_blk.ko", "drivers/char/virtio_console.ko", "drivers/infiniband/core/*",
    "drivers/infiniband/sw/rxe/*", "drivers/net/bonding/*", "drivers/net/veth.ko", "drivers/pci/pcie/aer_inject.ko", "drivers/virtio/*", "fs/configfs/*", "fs/ext4/*",
    "fs/jbd2/*", "fs/mbcache.ko", "lib/crc16.ko", "net/ipv?/*udp_tunnel.ko", "net/sched/sch_netem.ko", "net/tls/*")))


class Unavailable(Exception):
    """What the guest needs can't be had here; the text says why, for people."""


def run(command: list[str], why: str, **options) -> str:
    """The command's output. Raises Unavailable with `why` and its last words when it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              errors="replace", **options)
    except OSError as error:
        raise Unavailable(f"{why}: {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or [f"{command[0]} gave {done.returncode}"])[-1]
        raise Unavailable(f"{why}: {last}")
    return done.stdout


class Packages:
    """Files of the section [kernel-guest] of deploy/packages.txt, unpacked under `folder`."""

    def __init__(self, folder: str):
        listed = run([os.path.join(ROOT, "deploy", "install-packages"), "--list", "kernel-guest"], "deploy/packages.txt can't be read")
        self._names = listed.split()
        key = hashlib.sha256(repr((self._names, KERNEL_FILES)).encode()).hexdigest()[:12]
        self._base = folder
        self.place = os.path.join(folder, f"packages-{key}")

    def prepare(self) -> None:
        """Downloads and unpacks once; later calls find it done. Raises Unavailable."""
        if os.path.isdir(self.place):
            return
        partial = os.path.join(self._base, "packages.partial")
        for old in glob.glob(os.path.join(self._base, "packages[-.]*")):
            shutil.rmtree(old)
        files = os.path.join(partial, "debs")
        os.makedirs(files)
        try:
            self._download(files)
        except Unavailable:
            if os.geteuid() != 0:
                raise
            run(["apt-get", "update"], "the package lists can't be fetched")  # a list that is too old names files that are gone
            self._download(files)
        for deb in sorted(os.listdir(files)):
            self._unpack(os.path.join(files, deb), partial)
        shutil.rmtree(files)
        os.rename(partial, self.place)

    def _download(self, files: str) -> None:
        # As root apt drops its rights and then can't write where it stands.
        run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", *self._with_what_they_stand_for()],
            "packages for the guest can't be downloaded", cwd=files)

    def _with_what_they_stand_for(self) -> list[str]:
        """linux-image-amd64 and its like only point at the package of the present kernel."""
        names, new = set(), set(self._names)
        while new:
            names |= new
            found = set()
            for name in new:
                if name.startswith("linux-"):
                    words = run(["apt-cache", "depends", name], f"the package {name} is not known here").split()
                    found |= {after for word, after in zip(words, words[1:]) if word.endswith("Depends:") and after.startswith("linux-")}
            new = found - names
        return sorted(names)

    @staticmethod
    def _unpack(deb: str, place: str) -> None:
        chosen = ["--wildcards", *(f"./{pattern}" for pattern in KERNEL_FILES)] if os.path.basename(deb).startswith("linux-image-") else []
        if chosen and os.path.getsize(deb) < 100_000:
            return  # the one that only points at the kernel
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as unpacked:
            tar = subprocess.run(["tar", "x", "-C", place, *chosen], stdin=unpacked.stdout, stderr=subprocess.PIPE, text=True, check=False)
        if tar.returncode or unpacked.returncode:
            raise Unavailable(f"{os.path.basename(deb)} can't be unpacked: {tar.stderr.strip()}")

    # -- what is in them

    def one(self, pattern: str) -> str:
        found = glob.glob(os.path.join(self.place, pattern))
        if len(found) != 1:
            raise Unavailable(f"the guest's packages hold {len(found)} files {pattern}")
        return found[0]

    def release(self) -> str:
        """Of the kernel: "6.1.0-56-amd64"."""
        return os.path.basename(self.one("lib/modules/*-amd64"))

    def kernel(self) -> str:
        return self.one("boot/vmlinuz-*")

    def modules(self) -> dict[str, str]:
        """Name to path."""
        found = glob.glob(os.path.join(self.place, "lib/modules/*/kernel/**/*.ko"), recursive=True)
        return {os.path.basename(path)[:-3].replace("-", "_"): path for path in found}
