# SPDX-License-Identifier: Apache-2.0
"""What the hooks for Slurm share: their configuration, one question to weftd within a deadline, and nodes of Slurm as scontrol shows them.

Standard library only, Python 3.6 and later: it runs on every compute node, whatever lives there.
"""

import configparser
import http.client
import ipaddress
import json
import os
import queue
import ssl
import subprocess
import sys
import syslog
import threading
import time
import urllib.parse

CONFIGURATION = "/etc/weft/weft-slurm.conf"
# How a node is marked that we took out of service. Nothing without it is ever brought back.
MARK = "weft-health"
MOST_ANSWER = 16 << 20
# weftd takes 16 KiB of request line and headers.
MOST_QUERY = 12000
ACTIONS = ("NONE", "WATCH", "AVOID_NEW_JOBS", "DRAIN")


class NoAnswer(Exception):
    """weftd did not answer in time, or its answer is not usable."""


class Unknown(NoAnswer):
    """weftd answers that there is no such thing."""


class Trouble(Exception):
    """A command of Slurm failed."""


class Configuration:
    """What the file says; a key that is missing has its default. A wrong value is logged and its default used: a mistake
    there must not stop a cluster."""

    def __init__(self, path=None):
        self.path = path or os.environ.get("WEFT_SLURM_CONFIG", CONFIGURATION)
        parser = configparser.ConfigParser(interpolation=None, inline_comment_prefixes=("#",))
        self.complaints = []
        try:
            with open(self.path, encoding="utf-8") as stream:
                parser.read_file(stream)
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError, configparser.Error) as error:
            self.complaints.append("%s cannot be read: %s" % (self.path, error))
        self._parser = parser
        self.servers = self._text("weft", "server", "http://127.0.0.1:9640").replace(",", " ").split()
        self.deadline = self._number("weft", "deadline_seconds", 3)
        self.token_file = self._text("weft", "token_file", "")
        self.ca_file = self._text("weft", "ca_file", "")
        self.certificate = self._text("weft", "certificate", "")
        self.key = self._text("weft", "key", "")
        self.refuse_at = self._choice("policy", "refuse_at", ACTIONS[2:] + ("never",))
        self.no_answer = self._choice("policy", "no_answer", ("allow", "refuse"))
        self.unknown = self._choice("policy", "unknown", ("allow", "refuse"))
        self.links = self._choice("policy", "links", ("log", "refuse"))
        self.accept_seconds = self._number("accept", "seconds", 7200, 30 * 86400)
        self.accept_limit = self._number("accept", "ber_limit", 0, 1e-3)
        self.scontrol = self._text("slurm", "scontrol", "scontrol")
        self.slurm_conf = self._text("slurm", "slurm_conf", "")
        self.scontrol_seconds = self._number("slurm", "scontrol_seconds", 10)
        self.state_dir = self._text("slurm", "state_dir", "/var/lib/weft-slurm")
        self.recheck = self._number("slurm", "recheck_seconds", 300)
        self.log_file = self._text("slurm", "log_file", "")
        if self.token_file:
            for server in filter(is_overheard, self.servers):
                self.complaints.append("%s: weft.token_file is not sent to %s, in clear text: write https:// in weft.server" % (self.path, server))

    def _text(self, section, key, default):
        return self._parser.get(section, key, fallback=default).strip()

    def _number(self, section, key, default, most=3600):
        text = self._text(section, key, str(default))
        try:
            value = float(text)
            if 0 <= value <= most:
                return value
        except ValueError:
            pass
        self.complaints.append("%s: %s.%s is not a number from 0 to %g: %s" % (self.path, section, key, most, text))
        return default

    def _choice(self, section, key, choices):
        """The first one is the default."""
        text = self._text(section, key, choices[0])
        if text in choices:
            return text
        self.complaints.append("%s: %s.%s is one of %s, not %s" % (self.path, section, key, ", ".join(choices), text))
        return choices[0]


class Log:
    """Syslog, or a file where one is named."""

    def __init__(self, name, configuration):
        self._name = name
        self._file = configuration.log_file
        if not self._file:
            syslog.openlog(name, syslog.LOG_PID, syslog.LOG_DAEMON)
        for complaint in configuration.complaints:
            self.warning(complaint)

    def warning(self, text):
        self._write(syslog.LOG_WARNING, text)

    def notice(self, text):
        self._write(syslog.LOG_NOTICE, text)

    def _write(self, level, text):
        text = " ".join(str(text).split())
        if not self._file:
            syslog.syslog(level, text)
            return
        try:
            with open(self._file, "a", encoding="utf-8") as stream:
                stream.write("%s %s[%d]: %s\n" % (time.strftime("%Y-%m-%dT%H:%M:%S%z"), self._name, os.getpid(), text))
        except OSError as error:
            print("%s: %s (%s)" % (self._name, text, error), file=sys.stderr)


# -- weftd


def ask(configuration, path):
    """The JSON at that path of the first server that gives any, a leader before a standby: a standby hears no collectors, and knows
    less of hosts. The next one is asked at once when one fails or is a standby, and beside it when it is silent for its share of the
    deadline. Raises NoAnswer, at the deadline at the latest: name servers and connections that hang are left
    behind in threads that end with the program."""
    answers = queue.Queue()

    def work(server):
        try:
            answers.put((server, *ask_one(configuration, server, path), None))
        except (OSError, ValueError, http.client.HTTPException, NoAnswer) as error:
            answers.put((server, None, False, error))

    until = time.monotonic() + configuration.deadline
    share = configuration.deadline / max(len(configuration.servers), 1)
    to_ask, silent, why, of_standby, unknown = list(configuration.servers), [], [], None, None
    while to_ask or silent:
        if to_ask:
            silent.append(to_ask.pop(0))
            threading.Thread(target=work, args=(silent[-1],), daemon=True).start()
        left = until - time.monotonic()
        try:
            server, answer, is_standby, error = answers.get(timeout=max(0, min(share, left) if to_ask else left))
        except queue.Empty:
            if not to_ask:
                why.append("no answer from %s within %g s" % (" ".join(silent), configuration.deadline))
                break
            continue
        if error is None and not is_standby:
            return answer
        silent.remove(server)
        if error is None:
            of_standby = of_standby or answer
        else:
            why.append("%s: %s" % (server, error or type(error).__name__))
            unknown = error if isinstance(error, Unknown) else unknown
    if of_standby:
        return of_standby
    if unknown:
        raise unknown
    raise NoAnswer("; ".join(why) or "no server is named")


def is_this_host(name):
    """localhost, 127.0.0.0/8 or ::1, as the client for Python has it. No other name is looked up: whoever answers that could make it theirs."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def is_overheard(server):
    """Whether others can read what goes there. What is no address is asked nothing."""
    try:
        address = urllib.parse.urlsplit(server)
    except ValueError:
        return False
    return address.scheme == "http" and not is_this_host(address.hostname or "")


def order(configuration, path, body):
    """The JSON answer of the leader to that change. One server after the other: what the first has taken must not be given to the second. Raises
    NoAnswer."""
    why = []
    for server in configuration.servers:
        try:
            return ask_one(configuration, server, path, body)[0]
        except ConnectionRefusedError as error:
            why.append("%s: %s" % (server, error))
        except (OSError, ValueError, http.client.HTTPException, NoAnswer) as error:
            why.append("%s: %s" % (server, error or type(error).__name__))
            if "standby: " not in str(error):
                break
    raise NoAnswer("; ".join(why) or "no server is named")


def ask_one(configuration, server, path, body=None):
    """The answer, and whether a standby gave it. With a body it is a change."""
    address = urllib.parse.urlsplit(server)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise NoAnswer("not an address of the form https://host:9640")
    if configuration.token_file and is_overheard(server):
        raise NoAnswer("the token would go there in clear text, and is not sent: write https:// in server")
    patience = max(configuration.deadline, 0.001)
    if address.scheme == "https":
        context = ssl.create_default_context(cafile=configuration.ca_file or None)
        if configuration.certificate:
            context.load_cert_chain(configuration.certificate, configuration.key or None)
        connection = http.client.HTTPSConnection(address.hostname, address.port or 9640, timeout=patience, context=context)
    else:
        connection = http.client.HTTPConnection(address.hostname, address.port or 9640, timeout=patience)
    headers = {"Accept": "application/json"}
    if configuration.token_file:
        with open(configuration.token_file, encoding="utf-8") as stream:
            headers["Authorization"] = "Bearer " + stream.read().strip()
    try:
        if body is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, json.dumps(body), dict(headers, **{"Content-Type": "application/json"}))
        response = connection.getresponse()
        text = response.read(MOST_ANSWER)
    finally:
        connection.close()
    answer = json.loads(text.decode("utf-8"))
    if not isinstance(answer, dict):
        raise NoAnswer("its answer is not a JSON object")
    if response.status == 404:
        raise Unknown(answer.get("message", "there is no such thing"))
    if response.status != 200:
        raise NoAnswer("%d %s" % (response.status, answer.get("message", "")))
    return answer, response.getheader("weft-role") == "standby"


def quoted(name):
    return urllib.parse.quote(name, safe="")


def nodes_query(names):
    return "&".join("node=" + quoted(name) for name in names)


def in_parts(names):
    """The names in lists whose query fits into a request."""
    part, length = [], 0
    for name in names:
        length += len(urllib.parse.quote(name, safe="")) + len("&node=")
        if part and length > MOST_QUERY:
            yield part
            part, length = [], len(name)
        part.append(name)
    if part:
        yield part


def is_refused(configuration, health):
    """May no new job be placed there, as our policy has it?"""
    action = health.get("recommendedAction", "NONE")
    if configuration.refuse_at != "never" and action in ACTIONS and ACTIONS.index(action) >= ACTIONS.index(configuration.refuse_at):
        return True
    return health.get("verdict", "UNKNOWN") == "UNKNOWN" and configuration.unknown == "refuse"


def silent_shards(answer, *healths):
    """"shard south does not answer" of a site where that is so, else "". Whatever such a shard knows is not in the verdicts."""
    names = sorted(set(answer.get("missingShards", [])).union(*(health.get("missingShards", []) for health in healths)))
    return "" if not names else "shard %s does not answer" % names[0] if len(names) == 1 else "shards %s do not answer" % ", ".join(names)


def why(health):
    """One line: "INC-17 LINK_FLAP: leaf-1 port 4 …"."""
    lines = []
    for reason in health.get("reasons", []):
        kind = reason.get("kind", "")
        words = [reason.get("incidentId") or reason.get("maintenanceId") or reason.get("planId", ""), "" if kind.endswith("UNSPECIFIED") else kind]
        lines.append(": ".join(filter(None, [" ".join(filter(None, words)), reason.get("message", "")])))
    return "; ".join(lines) or health.get("verdict", "UNKNOWN") + " and no incident"


# -- Slurm


def scontrol(configuration, *arguments):
    environment = dict(os.environ, LC_ALL="C")
    environment.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    if configuration.slurm_conf:
        environment["SLURM_CONF"] = configuration.slurm_conf
    try:
        done = subprocess.run([configuration.scontrol] + list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=configuration.scontrol_seconds, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Trouble("scontrol %s: %s" % (arguments[0], error))
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        raise Trouble("scontrol %s: %s" % (arguments[0], " ".join(text.split())[:300]))
    return text


class SlurmNode:
    """How Slurm has it. Fields are read from the form of several lines a node, where a reason cannot pass for a state."""

    def __init__(self, configuration, name, mark=MARK, lines=None):
        """`lines`: what scontrol shows of it; none: it is asked. `mark`: what our reason begins with."""
        self._configuration = configuration
        self.name = name
        self._mark = mark
        fields = {}
        for line in lines if lines is not None else scontrol(configuration, "show", "node", name).splitlines():
            key, equals, value = line.strip().partition("=")
            if equals and key not in fields:
                fields[key] = value
        state = fields.get("State", "").split()
        if not state:
            raise Trouble("scontrol shows no state of %s" % name)
        self.states = set(state[0].rstrip("*~#!%$@^-").split("+"))
        self.reason = fields.get("Reason", "").rsplit(" [", 1)[0]

    def is_out(self):
        return bool(self.states & {"DRAIN", "DRAINED", "DRAINING", "DOWN", "FAIL", "FAILING"})

    def is_ours(self):
        return "DRAIN" in self.states and (self.reason + " ").startswith(self._mark + " ")

    def drain(self, text):
        """True when that is news."""
        reason = " ".join(("%s %s" % (self._mark, text)).split()).replace('"', "'")[:400]
        if reason == self.reason:
            return False
        scontrol(self._configuration, "update", "nodename=" + self.name, "state=drain", "reason=" + reason)
        return True

    def undrain(self):
        # Not "resume": that would also bring back a node that somebody set down or failing.
        scontrol(self._configuration, "update", "nodename=" + self.name, "state=undrain")


def all_nodes(configuration, mark):
    """Every node of the cluster, by one question."""
    nodes, lines = [], []
    for line in scontrol(configuration, "show", "node").splitlines() + ["NodeName="]:
        if line.startswith("NodeName="):
            if lines:
                nodes.append(SlurmNode(configuration, lines[0].split()[0].partition("=")[2], mark, lines))
            lines = []
        lines.append(line)
    return nodes


def host_names(configuration, expression):
    """["n1", "n2"] of "n[1-2]"; works them out by itself, without slurmctld."""
    return scontrol(configuration, "show", "hostnames", expression).split()
