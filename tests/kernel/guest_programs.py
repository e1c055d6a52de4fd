# SPDX-License-Identifier: Apache-2.0
"""Our programs in a guest: started without any privilege, their logs kept, asked over loopback."""

from machine import Dead, Machine, Refused

WITHOUT_RIGHTS = "setpriv --reuid 900 --regid 900 --clear-groups --inh-caps=-all"
WITH_NET_ADMIN = "setpriv --reuid 900 --regid 900 --clear-groups --inh-caps=+net_admin --ambient-caps=+net_admin"
WITH_SYSLOG = "setpriv --reuid 900 --regid 900 --clear-groups --inh-caps=+net_admin,+syslog --ambient-caps=+net_admin,+syslog"


def check_logs(guest: Machine) -> None:
    """Raises AssertionError when a sanitizer wrote into the log of a program: nothing else looks at logs in the guest, and the
    environment that would send the report elsewhere does not get there."""
    found = guest.run("shopt -s nullglob; grep -H -E -m 3 'Sanitizer|runtime error' /tmp/*.log /dev/null")
    if found.code != 1:
        raise AssertionError(f"a sanitizer ended a program in the guest:\n{found.out or found.err}")


class Program:
    """One program under /opt/weft with a configuration of its own."""

    def __init__(self, guest: Machine, name: str, configuration: str):
        self.guest = guest
        self.name = name
        self._configuration = configuration

    def start(self, rights: str = WITHOUT_RIGHTS) -> None:
        state = f"/var/lib/{self.name}"
        self.guest.get(f"""mkdir -p /etc/weft {state} && chown weft:weft {state}
cat >/etc/weft/{self.name}.toml <<'END'
state_dir = "{state}"
{self._configuration}
END
setsid {rights} /opt/weft/{self.name} --config /etc/weft/{self.name}.toml >>/tmp/{self.name}.log 2>&1 &
echo $! >/tmp/{self.name}.pid""")

    def signal(self, name: str) -> None:
        """Sends it and waits for the end."""
        self.guest.get(f"pid=$(</tmp/{self.name}.pid); kill -{name} $pid; while kill -0 $pid 2>/dev/null; do sleep 0.05; done")

    def stop(self) -> None:
        self.signal("TERM")

    def kill(self) -> None:
        """As a power cut would end it."""
        self.signal("KILL")

    def is_running(self) -> bool:
        return self.guest.run(f"kill -0 $(</tmp/{self.name}.pid)").code == 0

    def log(self) -> str:
        try:
            return f"{self.name} says:\n{self.guest.run(f'tail -n 30 /tmp/{self.name}.log').out}"
        except Dead as error:
            return str(error)


class Collector(Program):
    def __init__(self, guest: Machine, configuration: str = ""):
        super().__init__(guest, "weft-collector", configuration)

    def page(self) -> str:
        """/metrics; empty while it does not answer."""
        return self.guest.run("wget -q -O - http://127.0.0.1:9642/metrics").out


class Weftd(Program):
    def __init__(self, guest: Machine, configuration: str = ""):
        super().__init__(guest, "weftd", f"[infiniband]\nenabled = false\n{configuration}")

    def json(self, path: str):
        """Raises machine.Refused while it does not answer."""
        return self.guest.json(f"wget -q -O - 'http://127.0.0.1:9640{path}'")

    def is_ready(self) -> bool:
        return self.guest.run("wget -q -O - http://127.0.0.1:9640/readyz").code == 0

    def facts(self, host: str) -> dict[str, dict[str, str]]:
        """Device to how it is set up, as the collector of that host told it; "" is the host itself. Empty while it told nothing."""
        try:
            told = self.json(f"/api/v1/collectors?host={host}&readings=1")["collectors"][0]
        except (Refused, IndexError, KeyError):
            return {}
        return {port.get("device", ""): {fact["name"]: fact["value"] for fact in port.get("facts", [])} for port in told.get("configuration", [])}

    def incidents(self, kind: str) -> list[dict]:
        return [incident for incident in self.json("/api/v1/incidents").get("incidents", []) if incident["kind"] == kind]
