# SPDX-License-Identifier: Apache-2.0
"""A minimal Debian with packages in it, booted in qemu under Debian's kernel and a real systemd; driven as the guests of tests/kernel are."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = os.path.join(ROOT, "tests", "kernel")
sys.path.insert(0, KERNEL)

import initramfs  # noqa: E402
import machine  # noqa: E402
from minimal_debian import MinimalDebian  # noqa: E402
from packages import Packages  # noqa: E402

MODULES = ("crc32c_generic", "virtio_pci", "virtio_blk", "virtio_console", "ext4", "crc32_generic", "ib_core", "ib_uverbs", "rdma_rxe", "ib_umad", "veth")
INIT = """\
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs devtmpfs /dev
while read -r module; do insmod "/modules/$module.ko" || echo "init: $module can't be loaded"; done </modules/order
mkdir /root
until mount -t ext4 /dev/vda /root 2>/dev/null; do sleep 0.1; done
mount --move /dev /root/dev
exec switch_root /root /lib/systemd/systemd
"""
AGENT = """\
[Unit]
Description=Takes commands of the test
[Service]
ExecStart=/usr/local/bin/agent
Environment=HOME=/root
[Install]
WantedBy=multi-user.target
"""
# A guest without network has nothing to wait for.
MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service", "fstrim.timer", "getty@tty1.service",
          "systemd-timesyncd.service", "console-getty.service", "systemd-networkd.service")


def make_image(debian: MinimalDebian, build: str, name: str) -> machine.Image:
    """Of that Debian, which has systemd-sysv and udev; as the host `name`. Raises packages.Unavailable."""
    with open(os.path.join(KERNEL, "guest", "agent"), encoding="utf-8") as stream:
        debian.write("/usr/local/bin/agent", stream.read(), 0o755)
    debian.write("/etc/systemd/system/agent.service", AGENT)
    debian.write("/etc/hostname", name + "\n")
    debian.write("/etc/hosts", f"127.0.0.1 localhost {name}\n")
    debian.write("/etc/machine-id", "uninitialized\n")
    debian.run("systemctl", "enable", "agent.service")
    debian.run("systemctl", "mask", *MASKED)
    folder = os.path.join(os.path.abspath(build), "kernel")
    os.makedirs(folder, exist_ok=True)
    packages = Packages(folder)
    packages.prepare()
    archive = initramfs.Archive()
    for each in ("bin", "dev", "modules"):
        archive.folder(each)
    archive.console()
    archive.copy("/bin/busybox", packages.one("bin/busybox"))
    archive.file("/init", INIT.encode())
    modules = packages.modules()
    order = initramfs.load_order(MODULES, modules)
    for each in order:
        archive.copy(f"/modules/{each}.ko", modules[each])
    archive.file("/modules/order", "".join(f"{each}\n" for each in order).encode(), 0o644)
    place = os.path.dirname(debian.root)
    initrd, disk = os.path.join(place, "initrd"), os.path.join(place, "disk")
    with open(initrd, "wb") as stream:
        stream.write(archive.bytes())
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal,^metadata_csum", "-d", debian.root, disk, "2G"], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)
    return machine.Image(packages.kernel(), initrd, disk)
