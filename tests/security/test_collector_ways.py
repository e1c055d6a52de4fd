# SPDX-License-Identifier: Apache-2.0
"""The ways by which the guide lets collectors in, each with the shipped files alone: its own words are run."""

import os
import re
import shutil
import stat
import subprocess
import unittest.mock

import security_testing
from enrollment_testing import LIST, EnrollmentTest
from security_testing import GuardedWeftd, free_address, program, read, wait_until


def blocks(heading: str) -> list[str]:
    """The fenced blocks of a section of the guide's security.md."""
    text = read(os.path.join(security_testing.ROOT, "deploy", "guide", "security.md")).decode()
    section = re.search(rf"(?ms)^#+ {re.escape(heading)}$(.*?)(?=^#+ \S|\Z)", re.sub(r"(?m)^# /etc", "@ /etc", text)).group(1)
    return [block.replace("@ /etc", "# /etc") for block in re.findall(r"(?ms)^```\n(.*?)^```$", section)]


class Guide(EnrollmentTest):
    """Each way of the guide, by its own words: the commands and the configurations as they stand there, below another root."""

    def here(self, text: str, port: str) -> str:
        text = text.replace("/etc/weft", os.path.join(self.mine, "etc")).replace("weft.example:9641", f"localhost:{port}")
        return text.replace("weft.example", "localhost").replace("weft --", "root --").replace("--group weft", "--group root")

    def shell(self, commands: str, weftd: GuardedWeftd | None = None) -> None:
        environment = dict(os.environ, PATH=os.path.dirname(program("weftctl")) + ":" + os.environ["PATH"])
        if weftd:
            environment["WEFT_SERVER"] = f"unix:{weftd.socket}"
        for command in commands.splitlines():
            command = command.replace("deploy/certs", os.path.join(security_testing.ROOT, "deploy", "certs"))
            done = subprocess.run(["sh", "-ec", command], cwd=self.mine, env=environment, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(0, done.returncode, f"{command}: {done.stderr}")

    def weftd(self, text: str, port: str) -> GuardedWeftd:
        """With the sections of security of a configuration."""
        lines = self.here(text[text.index("[security]") + len("[security]"):], port)
        weftd = GuardedWeftd(self.mine, lines, grpc_address=f"127.0.0.1:{port}")
        self.addCleanup(weftd.stop)
        return weftd

    def run_collector(self, weftd: GuardedWeftd, node: str, text: str) -> None:
        """As the unit starts it: as a user who may read nothing of /etc/weft but the copies that LoadCredential= makes."""
        unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", "weft-collector.service")).decode()
        name, folder = re.search(r"(?m)^LoadCredential=(\w+):/etc/weft/(\w+)$", unit).groups()
        credentials, state, programs = (os.path.join(self.mine, name) for name in ("run", "state", "bin"))
        for path in (credentials, state, programs):
            os.makedirs(path)
        for each in ("weft-collector", "weft-uplink"):
            shutil.copy(program(each), programs)
        for each in os.listdir(os.path.join(self.mine, "etc", folder)):
            path = os.path.join(self.mine, "etc", folder, each)
            self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode), path)
            shutil.copy(path, os.path.join(credentials, f"{name}_{each}"))
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        if user:
            for path in (state, credentials, *(os.path.join(credentials, each) for each in os.listdir(credentials))):
                shutil.chown(path, "nobody", "nogroup")
            os.chmod(self.place, 0o755)
            self.assertEqual(0o700, stat.S_IMODE(os.stat(os.path.join(self.mine, "etc", folder)).st_mode))
        config = os.path.join(self.mine, "weft-collector.toml")
        with open(config, "w", encoding="utf-8") as stream:
            stream.write(self.here(text, weftd.grpc.rsplit(":", 1)[1]))
        log_path = os.path.join(self.mine, "collector.log")
        with open(log_path, "wb") as log:
            process = subprocess.Popen(
                [os.path.join(programs, "weft-collector"), "--config", config, "--state-dir", state, "--http", free_address(), "--sysfs-root",
                 self.sysfs, "--node-name", node], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, CREDENTIALS_DIRECTORY=credentials), **user)
        self.addCleanup(lambda: (process.terminate(), process.wait(20)))
        wait_until(lambda: self.told(weftd).get(node, {}).get("state") == "CONNECTED", 40,
                   why=lambda: f"{node} does not report:\n{read(log_path).decode()[-3000:]}\n{weftd.log()[-3000:]}")

    def test_the_units_are_valid(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("not installed: systemd-analyze")
        for name in ("weftd", "weft-collector"):
            path = os.path.join(self.mine, name + ".service")
            with open(path, "w", encoding="utf-8") as stream:
                unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", name + ".service")).decode()
                stream.write(unit.replace("/usr/bin/" + name, "/bin/true"))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr.strip()))
            # A missing folder must not keep the unit from starting: systemd.exec(5), SetCredential=.
            credential = re.search(r"(?m)^LoadCredential=(\w+):", unit).group(1)
            self.assertRegex(unit, rf"(?m)^SetCredential={credential}:none$")

    def test_weftd_takes_keys_and_tokens_from_its_unit(self):
        unit = read(os.path.join(security_testing.ROOT, "deploy", "systemd", "weftd.service")).decode()
        name = re.search(r"(?m)^LoadCredential=(\w+):/etc/weft/weftd$", unit).group(1)
        for path in (self.ours.path("server.crt"), self.ours.path("server.key"), self.ours.path("ca.crt"), self.tokens_file):
            copy = os.path.join(self.mine, f"{name}_{os.path.basename(path)}")
            shutil.copy(path, copy)
            os.chmod(copy, 0o400)
        files = {key: f'"$CREDENTIALS_DIRECTORY/{name}_{file}"' for key, file in
                 (("certificate", "server.crt"), ("key", "server.key"), ("client_authorities", "ca.crt"), ("tokens_file", "tokens"))}
        with unittest.mock.patch.dict(os.environ, CREDENTIALS_DIRECTORY=self.mine):
            weftd = self.weftd_with(self.lines(**files))
        self.assertEqual("OK", self.code(self.channel(weftd), LIST, token=self.tokens["vic"]))
        self.assertEqual("OK", self.code(self.channel(weftd, "viewer"), LIST))

    def test_certificates_from_weftd(self):
        make, weftd_toml, enroll, install, collector_toml = blocks("Certificates from weftd")
        port = free_address().rsplit(":", 1)[1]
        self.shell(self.here(make, port))
        weftd = self.weftd(weftd_toml, port)
        self.shell(enroll, weftd)
        self.shell(self.here(install, port))
        self.run_collector(weftd, "dgx-01", collector_toml)

    def test_certificates_of_the_site_and_of_a_trial(self):
        """The site's are those of the trial here, brought to the node as the guide says."""
        install, collector_toml = blocks("Certificates of your site")
        trial = read(os.path.join(security_testing.ROOT, "deploy", "guide", "security.md")).decode().split("### For a trial")[1]
        make = re.search(r"`(deploy/certs/make-certificates .*?)`", trial).group(1)
        roles = re.search(r"`(certificate_roles = \[.*?\])`", trial).group(1)
        port = free_address().rsplit(":", 1)[1]
        self.shell(self.here(make, port))
        for name, copy in (("dgx-01.crt", "node.crt"), ("dgx-01.key", "node.key"), ("ca.crt", "site-ca.crt")):
            shutil.copy(os.path.join(self.mine, "etc", "certs", name), os.path.join(self.mine, copy))
        weftd_toml = blocks("Certificates from weftd")[1].split("[security.enroll]")[0]
        weftd = self.weftd(re.sub(r"(?m)^certificate_roles = .*$", roles, weftd_toml), port)
        self.shell(self.here(install, port))
        self.run_collector(weftd, "dgx-01", collector_toml)


if __name__ == "__main__":
    security_testing.main()
