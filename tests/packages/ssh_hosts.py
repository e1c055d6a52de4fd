# SPDX-License-Identifier: Apache-2.0
"""Hosts for deploy/rollout: each has a network namespace with a wire to here, a root of its own over this machine's, and a real sshd. Needs
root, and a caller that is alone in its own network namespace (separate_network.enter_own_network()).

There is no systemd in them: guest/systemctl plays it, and starts the collector as its unit says, as far as rights and credentials go."""

import os
import subprocess

from separate_network import SeparateNetwork
from child_process import start_child

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDS = ("sshd", "ssh", "ssh-keygen", "setpriv", "unshare", "nsenter", "ip", "dpkg-deb", "apt-get")
ROOT = r"""
set -e
mount -t tmpfs tmpfs "$PLACE"
mkdir "$PLACE/upper" "$PLACE/work" "$PLACE/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/upper,workdir=$PLACE/work" "$PLACE/root"
cd "$PLACE/root"
mount --rbind /dev dev
mount -t proc proc proc
mount -t sysfs sysfs sys
for folder in run tmp root; do mount -t tmpfs tmpfs $folder; done
chmod 1777 tmp
chmod 755 run
chmod 700 root
mkdir -p run/sshd run/keys
cp "$KEYS"/* run/keys/
chmod 600 run/keys/*
for name in systemctl journalctl; do rm -f "usr/bin/$name"; install -m 755 "$PLAYED/$name" "usr/bin/$name"; done
hostname "$NAME"
exec chroot . /usr/sbin/sshd -D -e -f /run/keys/sshd_config
"""
SSHD = """\
HostKey /run/keys/host
AuthorizedKeysFile /run/keys/person.pub
PidFile none
UsePAM no
PermitRootLogin prohibit-password
StrictModes no
"""


class SshHosts:
    """Hosts of these names; all share one key for hosts and one for who logs in."""

    def __init__(self, place: str, names: list[str], outside: str):
        self.names = names
        self.outside = outside  # an address here that all hosts have a way to
        self.keys = os.path.join(place, "keys")
        self.configuration = os.path.join(place, "ssh_config")
        self._place = place
        self._networks: dict[str, SeparateNetwork] = {}
        self._daemons: dict[str, subprocess.Popen] = {}

    def start(self) -> "SshHosts":
        os.mkdir(self.keys)
        for name in ("host", "person"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(self.keys, name)], check=True, stdin=subprocess.DEVNULL)
        with open(os.path.join(self.keys, "sshd_config"), "w", encoding="ascii") as stream:
            stream.write(SSHD)
        text = f"User root\nIdentityFile {self.keys}/person\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
        for number, name in enumerate(self.names, 1):
            self._networks[name] = network = SeparateNetwork(1, number).start()
            network.within("ip", "route", "add", self.outside, "via", network.near(number))
            text = f"Host {name}\n  HostName {network.far(number)}\n" + ("Host *\n" if number == 1 else "") + text
            self.boot(name)
        with open(self.configuration, "w", encoding="ascii") as stream:
            stream.write(text)
        return self

    def boot(self, name: str) -> None:
        place = os.path.join(self._place, name)
        os.mkdir(place)
        environment = dict(os.environ, PLACE=place, KEYS=self.keys, NAME=name, PLAYED=os.path.join(HERE, "guest"))
        command = ["unshare", "--mount", "--propagation", "private", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", ROOT]
        holder = self._networks[name].holder.pid
        with open(self.log(name), "wb") as log:
            self._daemons[name] = start_child(["nsenter", f"--net=/proc/{holder}/ns/net", "--", *command], env=environment, stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log)

    def log(self, name: str) -> str:
        return os.path.join(self._place, f"{name}.log")

    def run(self, name: str, script: str) -> str:
        """By ssh. Raises AssertionError when it fails."""
        done = subprocess.run(["ssh", "-F", self.configuration, name, script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise AssertionError(f"{name}: {script}: {done.stdout}{done.stderr}")
        return done.stdout

    def answers(self, name: str) -> bool:
        return subprocess.run(["ssh", "-F", self.configuration, name, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False).returncode == 0

    def way_out(self, name: str, open_: bool) -> None:
        """Whether the host reaches `outside`; ssh does in any case."""
        number = self.names.index(name) + 1
        way = ["via", SeparateNetwork.near(number)] if open_ else []
        self._networks[name].within("ip", "route", "replace", *([] if open_ else ["unreachable"]), self.outside, *way)

    def stop(self) -> None:
        for daemon in self._daemons.values():
            daemon.kill()  # with unshare goes the first process of the host, and with that all others
            daemon.wait()
        for network in self._networks.values():
            network.stop()
