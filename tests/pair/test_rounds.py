# SPDX-License-Identifier: Apache-2.0
"""Two weftd on one subnet (ibsim, OpenSM), one PostgreSQL with a synchronous standby, a real Slurm, and collectors. In each round somebody is
killed, stopped, cut off or given another clock at a random moment: the leader, the standby, the primary of the database or its standby;
while cables are pulled, hosts are drained, proposals are approved and incidents are acknowledged. round_faults.py has the faults.

What it leaves out: the two weftd share a kernel and a boot clock; a clock step is seen by that program alone (clock_shim.cpp).

    WEFT_ROUNDS=200 WEFT_SEED=7 python3 tests/pair/test_rounds.py
    WEFT_FAULTS=servers_parted,database_standby_killed python3 tests/pair/test_rounds.py  # these alone
"""

import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for room in ("infiniband", "partners", "collector"):
    sys.path.insert(0, os.path.join(ROOT, "tests", room))

import sysfs_tree  # noqa: E402
import weft_testing  # noqa: E402
import weftd_partners  # noqa: E402
from certificates import make_certificate  # noqa: E402
from collector_testing import Collector  # noqa: E402
from postgres_pair import PostgresPair, missing as missing_postgres  # noqa: E402
from round_faults import BETWEEN, CUT_OFF, OF_DATABASE, SILENT, Analyst, Faults, wire  # noqa: E402
from separate_network import SeparateNetwork, can_separate, enter_own_network  # noqa: E402
from shifted_clock import SERVER_SHIM, ShiftedClock  # noqa: E402
from slurm_cluster import SlurmCluster, missing as missing_slurm  # noqa: E402
from weft_testing import PATIENCE, Weftd, ends_of, wait_until, weftctl  # noqa: E402
from webhook_receiver import EventReceiver  # noqa: E402

FAULTS = os.environ["WEFT_FAULTS"].split(",") if "WEFT_FAULTS" in os.environ else (
    (*SILENT, *CUT_OFF) * 3 + ("given_another_clock",) * 2 + OF_DATABASE)
ROUNDS = int(os.environ.get("WEFT_ROUNDS", "20"))  # tests/run --long: 200
SEED = int(os.environ.get("WEFT_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
PROMISED = 10.0  # seconds until somebody leads again
KEY = "a key of the test, long enough"
STORE = """
[store]
url = "{url}"
[events]
urls = ["{events}"]
key_file = "{key}"
timeout = "1s"
"""
TWICE_OPEN = """
SELECT count(*) FROM (SELECT 1 FROM entity JOIN incident ON incident.id = entity.incident
WHERE entity.role = 'cause' AND incident.state <> 'RESOLVED' AND incident.kind = '{kind}'
GROUP BY entity.fabric, entity.kind, node, port, peer_node, peer_port HAVING count(*) > 1) AS twice"""
TWICE_OPENED = "SELECT count(*) FROM (SELECT 1 FROM event WHERE what = 'opened' GROUP BY incident HAVING count(*) > 1) AS twice"


@unittest.skipIf(missing_postgres(), f"not installed: {', '.join(missing_postgres())}")
@unittest.skipIf(missing_slurm(), f"not installed: {', '.join(missing_slurm())}")
@unittest.skipUnless(can_separate(), "network namespaces need root")
class Rounds(Faults, weftd_partners.WithScheduler):
    @classmethod
    def make_network(cls):
        network = weft_testing.fat_tree.build(20, rails=1, radix=8)
        for name, host in zip(weftd_partners.NAMED, network.hosts()):
            host.name = f"{name} mlx5_0"
        return network

    @classmethod
    def setUpClass(cls):
        weft_testing.require_simulator()
        cls.place = tempfile.mkdtemp(prefix="weft-rounds-")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.start_partners()
        cls.subnet = weft_testing.simulated_subnet.SimulatedSubnet(cls.make_network())
        cls.addClassCleanup(cls.subnet.stop)
        cls.subnet.start()
        cls.both = [cls.make_analyst(name, number) for number, name in enumerate(("first", "second"))]
        for analyst in cls.both:
            cls.addClassCleanup(analyst.weftd.stop)
            analyst.weftd.start()
        cls.weftd = cls.both[0].weftd  # whom the base class asks
        cls.addresses = ",".join(analyst.weftd.grpc for analyst in cls.both)
        cls.collectors = {host: cls.make_collector(host, number) for number, host in enumerate(weftd_partners.NAMED[:2])}

    @classmethod
    def start_partners(cls):
        # A connection of weftd from another address than loopback is made over TLS alone.
        cls.postgres = PostgresPair("listen_addresses = '*'\n", "host all all 127.0.0.1/32 trust\nhostssl all all 10.99.0.0/16 trust\n"
                                    f"host replication all {SeparateNetwork.far(BETWEEN)}/24 trust\n")
        cls.addClassCleanup(cls.postgres.stop)
        cls.servers = (cls.postgres.primary, cls.postgres.standby)
        for number, server in enumerate(cls.servers):
            server.network = SeparateNetwork(2, first=2 * number)
            cls.addClassCleanup(server.network.stop)
            server.network.start()
        cls.servers[0].network.join(cls.servers[1].network, BETWEEN)
        cls.servers[0].address, cls.servers[1].address = SeparateNetwork.far(BETWEEN), SeparateNetwork.near(BETWEEN)
        cls.clocks = {}
        for server in cls.servers:
            cls.clocks[server] = ShiftedClock(f"{server.data}.clock", SERVER_SHIM)
            server.environment = cls.clocks[server].preload_in(dict(os.environ))
        names = ",".join(f"IP:{SeparateNetwork.far(number)}" for number in range(BETWEEN))
        cls.authority = make_certificate(cls.place, "database", names)
        cls.postgres.take_certificate(cls.authority)
        cls.postgres.start()
        cls.slurm = SlurmCluster(len(weftd_partners.NAMED))
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()
        cls.receiver = EventReceiver(KEY)
        cls.addClassCleanup(cls.receiver.stop)
        cls.key = os.path.join(cls.place, "key")
        with open(cls.key, "w", encoding="utf-8") as stream:
            stream.write(KEY + "\n")
        os.chmod(cls.key, 0o600)

    @classmethod
    def make_analyst(cls, name: str, number: int) -> Analyst:
        ports = ",".join(f"{SeparateNetwork.far(wire(number, each))}:{server.port}" for each, server in enumerate(cls.servers))
        url = f"postgresql://weft@{ports}/postgres?sslrootcert={cls.authority[0]}"
        clock = ShiftedClock(os.path.join(cls.place, f"clock-{name}"))
        environment = clock.preload_in(cls.subnet.environment(cls.subnet.network.hosts()[-1 - number].identity))
        settings = cls.remedies(weftd_partners.SLURM.format(slurm_conf=cls.slurm.configuration)).replace('drain_node = "auto"', 'drain_node = "propose"', 1)
        weftd = Weftd(environment, infiniband=settings + STORE.format(url=url, events=cls.receiver.url, key=cls.key))
        return Analyst(name, number, weftd, clock)

    @classmethod
    def make_collector(cls, host: str, number: int) -> Collector:
        root = os.path.join(cls.place, f"sysfs-{host}")
        sysfs_tree.add_adapter(root, 0, cls.subnet.network.hosts()[number].guid)
        collector = Collector(root, cls.addresses, interval="500ms", node_name=host)
        cls.addClassCleanup(collector.remove)
        return collector.start()

    @classmethod
    def tearDownClass(cls):
        pass  # by clean-ups, the newest first

    # -- who leads

    def held(self) -> tuple[Analyst | None, int]:
        """Who has the lease by the ledger, and how far its beat is."""
        number, holder = self.postgres.primary.sql("SELECT n, holder FROM weft_beat, weft_store").split("|")
        leader = next((each for each in self.both if each.weftd.process and holder.endswith(f", process {each.weftd.process.pid}")), None)
        return leader, int(number)

    def wait_leader(self, among=None) -> Analyst:
        """One of those has the lease and has renewed it from now on."""
        first = self.held()

        def found():
            self.check_one_leads()
            leader, number = self.held()
            return leader if leader and leader in (among or self.both) and number > first[1] else None
        return wait_until(found, within=PATIENCE, why=lambda: f"nobody leads:\n{self.logs()}")

    def check_one_leads(self) -> None:
        """As they say themselves. The first is asked once more after the second: who led both times led between, too."""
        first, second = (analyst for analyst in self.both)
        if first.leads() and second.leads() and first.leads():
            self.fail(f"both lead\n{self.logs()}")

    def check_promises_nothing(self, analyst: Analyst) -> None:
        """It reaches no server that confirms what it writes."""
        self.assertFalse(analyst.leads(), f"{analyst.name} leads\n{self.logs()}")
        done = weftctl(analyst.weftd, "drain", weftd_partners.NAMED[2], "--reason", "nobody may hear this", "--yes")
        self.assertNotEqual(0, done.returncode, f"{analyst.name} promised: {done.stdout}\n{self.logs()}")

    def logs(self) -> str:
        return f"seed {SEED}, {self.steps[-12:]}\n" + "\n".join(f"-- {analyst.name}\n{analyst.weftd.log()}" for analyst in self.both)

    # -- what goes on meanwhile

    def change_the_world(self) -> None:
        """A cable is pulled or plugged in; sometimes a person drains a host or gives it back, approves what is proposed, acknowledges."""
        name = self.random.choice(self.random.choice((self.cables, self.cables, self.of_nodes)))
        if name in self.pulled:
            self.subnet.relink(name, 1)
            self.pulled.remove(name)
        else:
            self.subnet.unlink(name, 1)
            self.pulled.add(name)
        self.steps.append(f"{name} {'pulled' if name in self.pulled else 'plugged in'}")
        if self.random.random() < 0.5:
            self.drain(self.random.choice(weftd_partners.NAMED[2:]))
        if self.random.random() < 0.5:
            self.approve()
        if self.random.random() < 0.5:
            self.acknowledge()

    def order(self, *words: str) -> str:
        """What weftctl says when a weftd promises it; empty: none did."""
        for analyst in self.random.sample(self.both, 2):
            if analyst.weftd.process is None or analyst.name in self.away:
                continue
            done = weftctl(analyst.weftd, *words)
            if done.returncode == 0:
                return done.stdout
        return ""

    def shown(self, *words: str) -> dict:
        """As a weftd shows it that is there."""
        for analyst in self.random.sample(self.both, 2):
            if analyst.weftd.process is None or analyst.name in self.away:
                continue
            done = weftctl(analyst.weftd, *words, "--json")
            if done.returncode in (0, 1) and done.stdout:
                return json.loads(done.stdout)
        return {}

    def drain(self, host: str) -> None:
        verb = "undrain" if "DRAIN" in self.slurm.state(host) else "drain"
        if said := self.order(verb, host, "--reason", "a drill", "--yes"):
            plan = next(word.strip(".:,") for word in said.split() if word.startswith("PLAN-"))
            self.promised_plans.add(int(plan.removeprefix("PLAN-")))
            self.steps.append(f"{verb} {host} is {plan}")

    def approve(self) -> None:
        """A drain that weftd proposes for a host whose cable is pulled."""
        proposed = [plan["id"] for plan in self.shown("plans").get("plans", []) if plan["state"] == "PROPOSED"]
        if proposed and self.order("approve", plan := self.random.choice(proposed), "--yes"):
            self.approved.add(int(plan.removeprefix("PLAN-")))
            self.steps.append(f"{plan} is approved")

    def acknowledge(self) -> None:
        opened = [each["id"] for each in self.shown("incidents").get("incidents", []) if each["state"] == "OPEN"]
        if opened and self.order("acknowledge", incident := self.random.choice(opened), "--who", "ann"):
            self.acknowledged.add(int(incident.removeprefix("INC-")))
            self.steps.append(f"{incident} is acknowledged")

    # -- what must be so

    def check(self) -> None:
        primary = self.postgres.primary
        links = {name: self.link(name, 1) for name in self.cables}

        def as_it_is():
            for analyst in self.both:
                shown = [incident for incident in analyst.weftd.incidents() if incident["cause"]["kind"] in ("LINK", "PORT")]
                for name, ends in links.items():
                    kinds = [incident["kind"] for incident in shown if ends_of(incident["cause"]) <= ends]
                    # A link that was pulled often is flapping, and down only when it stays so.
                    as_expected = "LINK_DOWN" in kinds or "LINK_FLAP" in kinds if name in self.pulled else "LINK_DOWN" not in kinds
                    if not as_expected or kinds.count("LINK_DOWN") > 1:
                        return False
            return True

        wait_until(as_it_is, within=PATIENCE, why=lambda: f"pulled are {self.pulled}; open are "
                   f"{[[(i['id'], i['kind'], i['cause'].get('label')) for i in a.weftd.incidents()] for a in self.both]}\n{self.logs()}")
        for kind in ("LINK_DOWN", "NODE_DOWN"):
            self.assertEqual("0", primary.sql(TWICE_OPEN.format(kind=kind)), f"one trouble has two incidents\n{self.logs()}")
        self.assertEqual("0", primary.sql(TWICE_OPENED), f"an incident was opened twice\n{self.logs()}")
        known = dict(line.split("|") for line in primary.sql("SELECT id, opened FROM incident ORDER BY id").split())
        for number, opened in self.known.items():
            self.assertEqual(opened, known.get(number), f"INC-{number} was lost, or another has its number\n{self.logs()}")
        self.known = known
        stored = {int(line) for line in primary.sql("SELECT id FROM plan").split()}
        self.assertEqual(set(), self.promised_plans - stored, f"plans that were promised are lost\n{self.logs()}")
        # A plan whose approval holds no more, because a guard came to ask for more, waits for another one: the trail keeps the first.
        by_somebody = {int(line) for line in primary.sql("SELECT id FROM plan WHERE approved_by <> '' UNION SELECT plan FROM audit "
                                                         "WHERE what = 'APPROVED' AND who <> 'weftd'").split()}
        self.assertEqual(set(), self.approved - by_somebody, f"approvals that were promised are lost\n{self.logs()}")
        heard = {int(line) for line in primary.sql("SELECT DISTINCT incident FROM event WHERE what = 'acknowledged'").split()}
        self.assertEqual(set(), self.acknowledged - heard, f"acknowledgements that were promised are lost\n{self.logs()}")
        self.check_acts()
        self.check_batches()
        # A request whose answer was lost is sent again with the same key; that an incident opened is told under one key. A leader that is cut
        # off from the database tells under keys of its own, which end with its epoch: nobody could know then what the other one tells.
        opened = [(event["incident"], event["idempotency_key"].partition(".epoch")[2]) for event in self.receiver.taken if event["event"] == "opened"]
        self.assertEqual(len(set(opened)), len(opened), f"told twice: {[each for each in set(opened) if opened.count(each) > 1]}\n{self.logs()}")

    def check_acts(self) -> None:
        """Slurm writes down each order that it got. weftd's mark says which plan it was of."""
        acts: dict[str, int] = {}
        epochs: list[int] = []
        with open(os.path.join(self.slurm.place, "slurmctld.log"), encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if "reason set to: weft PLAN-" in line:
                    plan = line.split("reason set to: weft ")[1].split(".")[0]
                    acts[plan] = acts.get(plan, 0) + 1
                    epochs.append(int(re.search(r" epoch (\d+): ", line)[1]))
        self.acts = acts
        self.assertEqual(sorted(epochs), epochs, f"a former leader acted after a later one\n{self.logs()}")
        self.assertEqual({}, {plan: count for plan, count in acts.items() if count > 1}, f"acts that came twice\n{self.logs()}")
        stored = set(self.postgres.primary.sql("SELECT 'PLAN-' || id FROM plan").split())
        self.assertEqual(set(), set(acts) - stored, f"acts that nobody wrote down\n{self.logs()}")

    def check_batches(self) -> None:
        """Each was counted, and none twice: what a collector was told to be safe is known to whoever leads."""
        def all_counted():
            rows = dict(line.split("|", 1) for line in self.postgres.primary.sql(
                "SELECT host, sequence || '|' || batches || '|' || lost FROM collector").split())
            if set(rows) != set(self.collectors):
                return False
            for host, row in rows.items():
                sequence, batches, lost = map(int, row.split("|"))
                self.assertEqual(0, lost, f"batches of {host} are lost\n{self.logs()}")
                self.assertEqual(sequence, batches, f"batches of {host} were counted twice, or not at all\n{self.logs()}")
            return all(collector.metric("weft_agent_spool_batches") <= 6 for collector in self.collectors.values())

        wait_until(all_counted, within=PATIENCE, why=lambda: "batches wait:\n" + "\n".join(c.log() for c in self.collectors.values()) + self.logs())

    def test_rounds(self):
        self.random = random.Random(SEED)
        self.cables = [host.name for host in self.network.hosts()[2:-2]]  # but those of the collectors, and of the two weftd
        self.of_nodes = self.cables[:2]  # hosts that Slurm drains: for these a drain is proposed
        self.pulled: set[str] = set()
        self.promised_plans: set[int] = set()
        self.approved: set[int] = set()
        self.acknowledged: set[int] = set()
        self.known: dict[str, str] = {}
        self.steps: list[str] = []
        self.away: set[str] = set()
        times: dict[str, list[float]] = {}
        self.wait_leader()
        for number in range(ROUNDS):
            what = getattr(self, self.random.choice(FAULTS))
            leader = self.wait_leader()
            whom = self.random.choice((leader, leader, *self.both))
            self.change_the_world()
            time.sleep(self.random.uniform(0, 2))
            self.steps.append(f"round {number}: {what.__name__} {whom.name}{' (leads)' if whom is leader else ''}")
            if what.__name__ in (*SILENT, *CUT_OFF):
                self.away = {whom.name}
            who_may_lead, end = what(whom)
            before = time.monotonic()
            self.assertIn(self.wait_leader(who_may_lead), who_may_lead)
            took = time.monotonic() - before
            if what.__name__ in CUT_OFF:
                self.check_promises_nothing(whom)
            if (whom is leader and self.away) or what.__name__ in OF_DATABASE:
                times.setdefault(what.__name__, []).append(took)
            self.change_the_world()
            time.sleep(self.random.uniform(0, 3))
            end()
            self.away = set()
            wait_until(lambda: all(analyst.is_ready() for analyst in self.both), within=PATIENCE, why=lambda: f"not ready\n{self.logs()}")
            self.check()
            print(f"{what.__name__} {whom.name}: {took:.1f} s", file=sys.stderr, flush=True)
        self.check_trail()
        for name, each in sorted(times.items()):
            print(f"{name}: {len(each)} rounds, seconds until somebody led: {', '.join(f'{took:.1f}' for took in sorted(each))}", file=sys.stderr)
        print(f"{len(self.known)} incidents, {len(self.receiver.taken)} events told ({len(self.receiver.keys)} requests), {len(self.acts)} drains by Slurm's log, "
              f"{len(self.promised_plans)} plans promised, {len(self.approved)} approved, {len(self.acknowledged)} incidents acknowledged, {self.postgres.primary.sql('SELECT sum(batches) FROM collector')} batches",
              file=sys.stderr)
        late = [f"{name} {took:.1f} s" for name, each in times.items() for took in each if took > PROMISED]
        print(f"{len(late)} of {sum(map(len, times.values()))} took longer than {PROMISED:.0f} s (seed {SEED})", file=sys.stderr)
        # The time of a fault of the database itself begins when that is over.
        self.assertEqual([], late, f"nobody led in time (seed {SEED})")

    def check_trail(self) -> None:
        trail = weftctl(self.wait_leader().weftd, "audit")
        self.assertEqual(0, trail.returncode, trail.stdout + trail.stderr)

    def tearDown(self):
        self.assertEqual([], self.subnet.ended(), "that is no fault of weftd's")


if __name__ == "__main__":
    enter_own_network()
    weft_testing.main()
