# SPDX-License-Identifier: Apache-2.0
"""An OCI image run by runc, with nothing of the machine but its network and what a test names. The root is read-only, no capability is
there, nothing gains a right."""

import json
import os
import subprocess
import uuid

NEEDS = ("runc", "umoci", "skopeo")


class Container:
    """`image`: an archive of deploy/image, which is unpacked below `place`."""

    def __init__(self, image: str, place: str):
        self.name = f"weft-test-{uuid.uuid4().hex[:12]}"
        self.bundle = os.path.join(place, self.name)
        self.state = os.path.join(place, "runc")
        layout = os.path.join(place, self.name + "-layout")
        self._call("skopeo", "copy", "--quiet", f"oci-archive:{image}", f"oci:{layout}:image")
        self._call("umoci", "unpack", "--image", f"{layout}:image", self.bundle)
        self.path = os.path.join(self.bundle, "config.json")
        with open(self.path, encoding="utf-8") as stream:
            self.configuration = json.load(stream)
        process = self.configuration["process"]
        process.update(terminal=False, noNewPrivileges=True)
        process["capabilities"] = {name: [] for name in ("bounding", "effective", "inheritable", "permitted", "ambient")}
        self.configuration["root"]["readonly"] = True
        self.configuration["hostname"] = "weft-test"
        linux = self.configuration["linux"]
        linux["namespaces"] = [each for each in linux["namespaces"] if each["type"] != "network"]  # the subnet and the tests are there

    @staticmethod
    def _call(*arguments: str) -> str:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
        if done.returncode:
            raise AssertionError(f"{' '.join(arguments)} gave {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def account(self) -> int:
        """The number of its user."""
        return self.configuration["process"]["user"]["uid"]

    def mount(self, source: str, inside: str, writable: bool = False) -> None:
        self.configuration["mounts"].append({"destination": inside, "type": "bind", "source": source, "options": ["bind", "rw" if writable else "ro"]})

    def scratch(self, inside: str) -> None:
        """An empty folder of the user's own that is gone with the container, as an emptyDir of Kubernetes."""
        user = self.configuration["process"]["user"]
        self.configuration["mounts"].append({"destination": inside, "type": "tmpfs", "source": "tmpfs",
                                             "options": ["nosuid", "nodev", "size=64m", "mode=0750", f"uid={user['uid']}", f"gid={user['gid']}"]})

    def command(self, *arguments: str, environment: dict[str, str] | None = None) -> list[str]:
        """What runs the image's program with `arguments`, in the foreground."""
        process = self.configuration["process"]
        process["args"] = [process["args"][0], *arguments]
        process["env"] += [f"{name}={value}" for name, value in (environment or {}).items()]
        with open(self.path, "w", encoding="utf-8") as stream:
            json.dump(self.configuration, stream)
        return ["runc", "--root", self.state, "run", "--bundle", self.bundle, self.name]

    def execute(self, *arguments: str) -> subprocess.CompletedProcess:
        """A program beside the one that runs."""
        return subprocess.run(["runc", "--root", self.state, "exec", self.name, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)

    def process(self) -> int:
        """The number of the first process, as the machine counts."""
        return json.loads(self._call("runc", "--root", self.state, "state", self.name))["pid"]

    def remove(self) -> None:
        subprocess.run(["runc", "--root", self.state, "delete", "--force", self.name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60, check=False)
