# SPDX-License-Identifier: Apache-2.0
"""What happens in a round of test_rounds.py. Each fault is a method: it gives those who may lead meanwhile, and how it is ended.

Each weftd has a wire to each of the two servers of the database, and the servers have one between them.
"""

import signal
import time

from pair_testing import leads
from postgres_pair import Server
from shifted_clock import ShiftedClock
from weft_testing import Weftd

# Faults of a weftd. It does not answer:
SILENT = ("killed", "stopped")
# It answers, and reaches no server that confirms what it writes:
CUT_OFF = ("cut_off", "standby_reached_alone", "standby_promoted_beside")
# Faults of the database. The time until somebody leads begins when it can answer again.
OF_DATABASE = ("database_killed", "database_stopped", "database_cut_off", "database_given_another_clock", "database_failed_over",
               "database_standby_stopped", "database_standby_killed", "servers_parted")

BETWEEN = 4  # the wire between the two servers


def wire(analyst: int, server: int) -> int:
    """The number of the wire between those two, as they are numbered from 0."""
    return 2 * server + analyst


class Analyst:
    """One of the two weftd."""

    def __init__(self, name: str, number: int, weftd: Weftd, clock: ShiftedClock):
        self.name = name
        self.number = number
        self.weftd = weftd
        self.clock = clock
        self.is_stopped = False

    def is_ready(self) -> bool:
        try:
            return self.weftd.client.ready()
        except OSError:
            return False

    def leads(self) -> bool:
        """As it says; one that is stopped says nothing."""
        return not self.is_stopped and self.weftd.process is not None and leads(self.weftd)

    def signal(self, number: int) -> None:
        self.is_stopped = number == signal.SIGSTOP
        self.weftd.process.send_signal(number)


class Faults:
    """For a test with `both` weftd, the `servers` of its `postgres` and their `clocks`, a `random` and the `steps` so far."""

    def other(self, analyst: Analyst) -> list[Analyst]:
        return [each for each in self.both if each is not analyst]

    def cut(self, analyst: Analyst, server: Server) -> None:
        server.network.cut(wire(analyst.number, self.servers.index(server)))

    def mend(self, analyst: Analyst, server: Server) -> None:
        server.network.mend(wire(analyst.number, self.servers.index(server)))

    def part_servers(self) -> None:
        self.servers[0].network.cut(BETWEEN)

    def join_servers(self) -> None:
        self.servers[0].network.mend(BETWEEN)

    def wait_commits(self) -> None:
        """A commit of our own is confirmed. The standby tries to connect each five seconds."""
        self.postgres.primary.sql("SELECT pg_logical_emit_message(true, 'test_rounds', '')")

    def step(self, clock: ShiftedClock) -> None:
        step = self.random.choice((-86_400, -600, -5, 5, 600, 86_400))
        clock.set(step)
        self.steps.append(f"by {step} s")

    # -- of a weftd

    def killed(self, analyst: Analyst):
        analyst.weftd.kill()
        return self.other(analyst), lambda: analyst.weftd.start(wait=False)

    def stopped(self, analyst: Analyst):
        analyst.signal(signal.SIGSTOP)
        return self.other(analyst), lambda: analyst.signal(signal.SIGCONT)

    def cut_off(self, analyst: Analyst):
        for server in self.servers:
            self.cut(analyst, server)

        def end():
            for server in self.servers:
                self.mend(analyst, server)
        return self.other(analyst), end

    def standby_reached_alone(self, analyst: Analyst):
        """It reads there what it likes, and can write nothing."""
        primary = self.postgres.primary
        self.cut(analyst, primary)
        return self.other(analyst), lambda: self.mend(analyst, primary)

    def given_another_clock(self, analyst: Analyst):
        self.step(analyst.clock)
        return self.both, lambda: analyst.clock.set(0)

    # -- of the database

    def database_killed(self, _analyst: Analyst):
        self.postgres.primary.kill()
        self.postgres.primary.start()
        return self.both, lambda: None

    def database_stopped(self, _analyst: Analyst):
        self.postgres.primary.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 6))
        self.postgres.primary.signal(signal.SIGCONT)
        return self.both, lambda: None

    def database_cut_off(self, _analyst: Analyst):
        """Neither weftd reaches a server, and nobody is told so."""
        ends = [self.cut_off(analyst)[1] for analyst in self.both]
        time.sleep(self.random.uniform(1, 12))
        for end in ends:
            end()
        return self.both, lambda: None

    def database_standby_stopped(self, _analyst: Analyst):
        """No commit is confirmed meanwhile."""
        self.postgres.standby.signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(1, 12))
        self.postgres.standby.signal(signal.SIGCONT)
        return self.both, lambda: None

    def database_standby_killed(self, _analyst: Analyst):
        """The same, and the primary sees it go."""
        self.postgres.standby.kill()
        time.sleep(self.random.uniform(1, 12))
        self.postgres.standby.start()
        self.wait_commits()
        return self.both, lambda: None

    def servers_parted(self, _analyst: Analyst):
        """Each weftd reaches both servers. No commit is confirmed meanwhile."""
        self.part_servers()
        time.sleep(self.random.uniform(1, 12))
        self.join_servers()
        self.wait_commits()
        return self.both, lambda: None

    def database_given_another_clock(self, _analyst: Analyst):
        clock = self.clocks[self.postgres.primary]
        self.step(clock)
        return self.both, lambda: clock.set(0)

    def database_failed_over(self, _analyst: Analyst):
        self.postgres.fail_over()
        return self.both, self.postgres.add_standby

    def standby_promoted_beside(self, analyst: Analyst):
        """The primary is cut off with one weftd, and goes on. A person promotes the standby; the other weftd may reach both. Its old primary
        waits for a standby, so it confirms nothing. When the wires are whole again it is still there for a while, until the person stops it."""
        former, promoted = self.postgres.primary, self.postgres.standby
        other = self.other(analyst)[0]
        self.part_servers()
        self.cut(analyst, promoted)
        reaches_both = self.random.random() < 0.5
        if not reaches_both:
            self.cut(other, former)
        time.sleep(self.random.uniform(0, 6))
        self.postgres.promote()
        self.steps.append(f"{other.name} reaches {'both servers' if reaches_both else 'the new primary'}")

        def end():
            self.join_servers()
            self.mend(analyst, promoted)
            self.mend(other, former)
            deadline = time.monotonic() + self.random.uniform(0, 8)
            while time.monotonic() < deadline:
                self.check_one_leads()
                time.sleep(0.2)
            self.postgres.add_standby()
        return [other], end
