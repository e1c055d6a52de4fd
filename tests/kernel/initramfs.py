# SPDX-License-Identifier: Apache-2.0
"""The guest's root: an initramfs in cpio's newc format (Documentation/driver-api/early-userspace/buffer-format.rst)."""

import os
import re
import subprocess

from packages import Packages, Unavailable, run

HERE = os.path.dirname(os.path.abspath(__file__))

MODULES = ("virtio_pci", "virtio_console", "crc32_generic", "ib_core", "ib_uverbs", "rdma_rxe", "ib_umad", "ib_cm", "rdma_cm", "rdma_ucm",
           "veth", "sch_netem", "bonding")
OPTIONS = {"bonding": "max_bonds=0"}  # else it makes an interface of its own
# From the packages where they have it, else from this machine. What busybox starts it takes from itself if it can: hence setsid.
TOOLS = ("ethtool", "ucmatose", "ib_write_bw", "ip", "tc", "rdma", "dcb", "devlink", "lspci", "bash", "date", "setpriv", "setsid")
PROVIDERS = "/usr/lib/x86_64-linux-gnu/libibverbs"


class Archive:
    """A cpio archive in memory. Several, one after the other, are one root to the kernel."""

    def __init__(self):
        self._parts: list[bytes] = []
        self._folders: set[str] = set()

    def _entry(self, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)) -> None:
        encoded = name.encode() + b"\0"
        number = len(self._parts) + 1
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        header = b"070701" + "".join(f"{field:08x}" for field in fields).encode()
        self._parts += [_padded(header + encoded), _padded(data)]

    def folder(self, path: str) -> None:
        path = path.strip("/")
        if not path or path in self._folders:
            return
        self.folder(os.path.dirname(path))
        self._folders.add(path)
        self._entry(path, 0o040755, b"")

    def file(self, path: str, data: bytes, mode: int = 0o755) -> None:
        self.folder(os.path.dirname(path))
        self._entry(path.strip("/"), 0o100000 | mode, data)

    def copy(self, path: str, source: str) -> None:
        with open(source, "rb") as stream:
            self.file(path, stream.read())

    def link(self, path: str, target: str) -> None:
        self.folder(os.path.dirname(path))
        self._entry(path.strip("/"), 0o120777, target.encode())

    def console(self) -> None:
        """/dev/console is needed before anything mounts /dev."""
        self.folder("dev")
        self._entry("dev/console", 0o020600, b"", (5, 1))

    def bytes(self) -> bytes:
        end = Archive()
        end._entry("TRAILER!!!", 0, b"")
        whole = b"".join(self._parts + end._parts)
        return whole + b"\0" * (-len(whole) % 512)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def libraries(program: str, packages: Packages) -> dict[str, str]:
    """Path in the guest to path here, of every library that the program loads at its start. Raises Unavailable."""
    beside = os.path.join(packages.place, "usr/lib/x86_64-linux-gnu")
    told = subprocess.run(["ldd", program], env=dict(os.environ, LD_LIBRARY_PATH=beside, LC_ALL="C"), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False).stdout
    found = {}
    for line in told.splitlines():
        if missing := re.match(r"\s*(\S+) => not found", line):
            raise Unavailable(f"{os.path.basename(program)} needs {missing[1]}, which is not installed")
        if loader := re.match(r"\s*(/\S*ld-linux\S*) \(", line):
            found[loader[1]] = loader[1]
        elif library := re.match(r"\s*(\S+) => (/\S+) \(", line):
            found[f"/usr/lib/{library[1]}"] = library[2]
    return found


def find_tool(name: str, packages: Packages) -> str:
    for folder in (os.path.join(packages.place, "usr/bin"), os.path.join(packages.place, "usr/sbin"), os.path.join(packages.place, "sbin"),
                   "/usr/sbin", "/usr/bin", "/sbin", "/bin"):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    raise Unavailable(f"not installed: {name}")


def load_order(wanted, modules: dict[str, str]) -> list[str]:
    """The modules and what they stand on, each after what it needs. Raises Unavailable."""
    order: list[str] = []

    def add(name: str) -> None:
        if name in order:
            return
        if name not in modules:
            raise Unavailable(f"the kernel's package has no module {name}")
        with open(modules[name], "rb") as stream:
            depends = re.search(rb"\0depends=([^\0]*)\0", stream.read())
        for needed in depends[1].decode().replace("-", "_").split(",") if depends else ():
            if needed:
                add(needed)
        order.append(name)

    for name in wanted:
        add(name)
    return order


def base(packages: Packages, scripted_module: str) -> bytes:
    """Tools, modules and /init."""
    archive = Archive()
    for folder in ("bin", "dev", "etc", "proc", "sys", "tmp", "root", "run", "var/lib/weft", "usr/bin", "usr/lib", "modules"):
        archive.folder(folder)
    archive.console()
    archive.link("/lib", "usr/lib")
    loaded: dict[str, str] = {}
    for tool in TOOLS:
        source = find_tool(tool, packages)
        archive.copy(f"/bin/{tool}", source)
        loaded.update(libraries(source, packages))
    provider = os.path.join(packages.place, PROVIDERS.lstrip("/"), "librxe-rdmav34.so")
    archive.copy(f"{PROVIDERS}/librxe-rdmav34.so", provider)
    archive.file("/etc/libibverbs.d/rxe.driver", b"driver rxe\n", 0o644)
    loaded.update(libraries(provider, packages))
    add_libraries(archive, loaded)
    archive.copy("/bin/busybox", packages.one("bin/busybox"))
    archive.copy("/init", os.path.join(HERE, "guest", "init"))
    for script in ("agent", "roce_pair", "traffic", "inject"):
        archive.copy(f"/bin/{script}", os.path.join(HERE, "guest", script))
    modules = packages.modules()
    order = load_order(MODULES, modules)
    for name in order:
        archive.copy(f"/modules/{name}.ko", modules[name])
    archive.file("/modules/order", "".join(f"{name} {OPTIONS.get(name, '')}\n" for name in order).encode(), 0o644)
    archive.copy("/modules/scripted_nic.ko", scripted_module)
    archive.copy("/modules/aer_inject.ko", packages.one("lib/modules/*/kernel/drivers/pci/pcie/aer_inject.ko"))
    archive.file("/etc/passwd", b"root:x:0:0::/root:/bin/bash\nweft:x:900:900::/run:/bin/bash\n", 0o644)
    archive.file("/etc/group", b"root:x:0:\nweft:x:900:\n", 0o644)
    archive.file("/etc/hosts", b"127.0.0.1 localhost node-1\n", 0o644)
    return archive.bytes()


def programs(paths: list[str], packages: Packages, folder: str) -> bytes:
    """Programs of ours under /opt/weft, as they would be installed: without what debuggers need."""
    archive = Archive()
    loaded: dict[str, str] = {}
    for path in paths:
        name = os.path.basename(path)
        stripped = os.path.join(folder, name)
        run(["strip", "--strip-debug", "-o", stripped, path], f"{name} can't be made small")
        archive.copy(f"/opt/weft/{name}", stripped)
        os.remove(stripped)
        loaded.update(libraries(path, packages))
    add_libraries(archive, loaded)
    return archive.bytes()


def add_libraries(archive: Archive, loaded: dict[str, str]) -> None:
    for path, source in sorted(loaded.items()):
        archive.copy(path, source)
