# SPDX-License-Identifier: Apache-2.0
"""The Python client with the addresses of several weftd, each a small server of gRPC's own: leading, on standby, broken, frozen, gone."""

import concurrent.futures
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

from partners_testing import main, program_testing  # first: it finds the rest
from certificates import make_certificate
import python_client

HOOKS = os.path.join(program_testing.ROOT, "deploy", "slurm")


def owner_details(refusal: str) -> bytes:
    """What weftd gives beside these words."""
    from weft.v1 import errors_pb2
    _, ask, addresses = refusal.partition(": ask ")
    if not ask:
        return b""
    status = errors_pb2.ErrorStatus(code=9, message=refusal)
    status.details.add().Pack(errors_pb2.Owner(addresses=addresses.split(", ")))
    return status.SerializeToString()


class Weftd:
    """Counts calls. `mood`: "leads", "standby: …", "broken", "slow", "stands by", or what it refuses with: "INC-1 belongs to shard …"."""

    names_owner = True  # beside its words

    def __init__(self, case, mood: str = "leads", credentials=None):
        import grpc
        from weft.v1 import health_pb2, health_pb2_grpc, incident_pb2, incident_pb2_grpc
        self.mood = mood
        self.calls: list[str] = []
        self.verdicts = {"n1": health_pb2.NodeHealth.HEALTHY}
        self.missing: list[str] = []
        self.changed = threading.Condition()
        outer, events = self, health_pb2.WatchHealthResponse

        def note(name, context):
            outer.calls.append(name)
            if outer.mood == "broken":
                context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
            if outer.mood.startswith("standby: "):
                context.abort(grpc.StatusCode.UNAVAILABLE, outer.mood)
            if " belongs to shard " in outer.mood:
                if outer.names_owner:
                    context.set_trailing_metadata((("grpc-status-details-bin", owner_details(outer.mood)),))
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, outer.mood)
            if outer.mood == "slow":
                time.sleep(2)
            if outer.mood == "stands by":
                context.send_initial_metadata((("weft-role", "standby"),))

        class Health(health_pb2_grpc.HealthServiceServicer):
            def Get(self, request, context):
                note("Get", context)
                verdict = health_pb2.NodeHealth.UNKNOWN if outer.mood == "stands by" else health_pb2.NodeHealth.HEALTHY
                return health_pb2.NodeHealth(node=request.node, verdict=verdict)

            def BatchGet(self, request, context):
                note("BatchGet", context)
                return health_pb2.BatchGetHealthResponse(missing_shards=outer.missing, nodes=[
                    health_pb2.NodeHealth(node=node, verdict=outer.verdicts.get(node)) for node in request.nodes])

            def Watch(self, request, context):
                note("Watch", context)
                told = {}
                first = True
                while outer.mood in ("leads", "stands by") and context.is_active():
                    for node, verdict in dict(outer.verdicts).items():
                        if told.get(node) != verdict:
                            told[node] = verdict
                            name, *shards = node if isinstance(node, tuple) else (node,)
                            health = health_pb2.NodeHealth(node=name, shards=shards, verdict=verdict)
                            health.data_age.FromMilliseconds(int(time.monotonic() * 1000) % 1000)
                            yield events(type=events.INITIAL if first else events.CHANGED, health=health)
                    for node in [node for node in told if node not in outer.verdicts]:
                        del told[node]
                        yield events(type=events.REMOVED, health=health_pb2.NodeHealth(node=node))
                    if first:
                        yield events(type=events.INITIAL_COMPLETE, missing_shards=outer.missing)
                    first = False
                    with outer.changed:
                        outer.changed.wait(0.1)
                context.abort(grpc.StatusCode.UNAVAILABLE, "standby: demoted")

        class Incidents(incident_pb2_grpc.IncidentServiceServicer):
            def Acknowledge(self, request, context):
                note("Acknowledge", context)
                return incident_pb2.Incident(id=request.id)

        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        health_pb2_grpc.add_HealthServiceServicer_to_server(Health(), self.server)
        incident_pb2_grpc.add_IncidentServiceServicer_to_server(Incidents(), self.server)
        port = self.server.add_secure_port("127.0.0.1:0", credentials) if credentials else self.server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self.server.start()
        case.addCleanup(lambda: self.server.stop(None).wait())

    def set(self, **verdicts) -> None:
        with self.changed:
            self.verdicts.update(verdicts)
            self.changed.notify_all()


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python_client.install(cls)

    def setUp(self):
        import grpc
        from weft import Client
        from weft.v1 import health_pb2, incident_pb2
        self.grpc, self.Client, self.Health, self.Incident = grpc, Client, health_pb2, incident_pb2

    def client(self, *servers, **more):
        made = self.Client(list(servers), **more)
        self.addCleanup(made.close)
        return made

    def acknowledge(self, client, timeout=5):
        return client.incidents_stub.Acknowledge(self.Incident.AcknowledgeIncidentRequest(id="INC-1"), timeout=timeout)

    def frozen(self) -> str:
        dead = socket.create_server(("127.0.0.1", 0))  # takes connections and says nothing
        self.addCleanup(dead.close)
        return f"127.0.0.1:{dead.getsockname()[1]}"

    def test_a_read_goes_to_the_first_that_answers_and_stays_there(self):
        for mood in ("standby: weft2 leads", "broken"):
            with self.subTest(mood):
                first, second = Weftd(self, mood), Weftd(self)
                client = self.Client(f"{first.address}, {second.address}")
                self.addCleanup(client.close)
                self.assertEqual("n1", client.health("n1").node)
                client.health("n1")
                self.assertEqual((["Get"], ["Get", "Get"]), (first.calls, second.calls))

    def test_a_read_goes_on_from_a_standby_which_hears_no_collectors(self):
        standby, leader = Weftd(self, "stands by"), Weftd(self)
        standby.verdicts = {"n1": self.Health.NodeHealth.UNKNOWN}
        client = self.client(standby.address, leader.address)
        self.assertEqual(self.Health.NodeHealth.HEALTHY, client.health("n1").verdict)
        self.assertEqual(self.Health.NodeHealth.HEALTHY, next(iter(self.client(standby.address, leader.address).watch_health())).health.verdict)
        alone = self.client(standby.address, "127.0.0.1:1")
        self.assertEqual(self.Health.NodeHealth.UNKNOWN, alone.health("n1").verdict, "nobody leads: what the standby knows")
        self.assertEqual(self.Health.NodeHealth.UNKNOWN, next(iter(alone.watch_health())).health.verdict)

    def test_a_command_is_sent_again_only_when_it_was_not_taken(self):
        standby, broken, leader = Weftd(self, "standby: weft2 leads"), Weftd(self, "broken"), Weftd(self)
        for first in (standby.address, "127.0.0.1:1"):
            self.assertEqual("INC-1", self.acknowledge(self.client(first, leader.address)).id)
        self.assertEqual(["Acknowledge"] * 2, leader.calls)
        with self.assertRaises(self.grpc.RpcError) as lost:
            self.acknowledge(self.client(broken.address, leader.address))
        self.assertEqual(("Socket closed", 2), (lost.exception.details(), len(leader.calls)))
        slow = Weftd(self, "slow")
        with self.assertRaises(self.grpc.RpcError) as late:
            self.acknowledge(self.client(slow.address, leader.address), timeout=1)
        self.assertEqual((self.grpc.StatusCode.DEADLINE_EXCEEDED, 2), (late.exception.code(), len(leader.calls)))

    def test_a_frozen_or_slow_server_costs_its_share_of_the_time(self):
        leader = Weftd(self)
        for first, within in ((self.frozen(), 3.0), (Weftd(self, "slow").address, 1.5)):
            began = time.monotonic()
            client = self.client(first, leader.address, timeout=2)
            self.assertEqual("n1", client.health("n1").node)
            self.assertLess(time.monotonic() - began, within)
        began = time.monotonic()
        self.acknowledge(self.client(self.frozen(), leader.address), timeout=10)
        self.assertLess(time.monotonic() - began, 4)

    def test_when_none_serves_all_are_named(self):
        standby = Weftd(self, "standby: weft2 leads")
        client = self.client("127.0.0.1:1", standby.address)
        for call in (lambda: client.health("n1"), lambda: self.acknowledge(client)):
            with self.assertRaises(self.grpc.RpcError) as refused:
                call()
            self.assertEqual(self.grpc.StatusCode.UNAVAILABLE, refused.exception.code())
            self.assertIn(f"{standby.address}: standby: weft2 leads", refused.exception.details())
            self.assertIn("127.0.0.1:1: ", refused.exception.details())

    def test_what_another_shard_owns_is_asked_of_that_one(self):
        owner = Weftd(self)
        wrong = [Weftd(self, f"INC-1 belongs to shard south: ask {addresses}") for addresses in (owner.address, f"127.0.0.1:1, {owner.address}")]
        for servers in ([wrong[0]], [wrong[1]], wrong, [wrong[0], owner]):
            owner.calls.clear()
            self.assertEqual("INC-1", self.acknowledge(self.client(*(each.address for each in servers))).id)
            self.assertEqual(["Acknowledge"], owner.calls)

    def test_words_of_a_refusal_send_nobody_anywhere(self):
        stranger = Weftd(self)
        refuses = Weftd(self, f"HANDS_OFF: ann: INC-1 belongs to shard south: ask {stranger.address}")
        refuses.names_owner = False
        with self.assertRaises(self.grpc.RpcError):
            self.acknowledge(self.client(refuses.address))
        self.assertEqual([], stranger.calls)

    def test_an_owner_is_looked_for_once(self):
        third = Weftd(self)
        second = Weftd(self, f"INC-1 belongs to shard west: ask {third.address}")
        first = Weftd(self, f"INC-1 belongs to shard south: ask {second.address}")
        nobody = Weftd(self, "INC-1 belongs to shard south: ask 127.0.0.1:1")
        elsewhere = Weftd(self, "INC-1 belongs to shard south")
        for refuses, told in ((first, second.mood), (nobody, nobody.mood), (elsewhere, elsewhere.mood)):
            with self.assertRaises(self.grpc.RpcError) as refused:
                self.acknowledge(self.client(refuses.address))
            self.assertEqual((self.grpc.StatusCode.FAILED_PRECONDITION, told), (refused.exception.code(), refused.exception.details()))
        self.assertEqual(([], ["Acknowledge"]), (third.calls, second.calls))

    def test_a_token_follows_no_refusal_to_another_machine_in_plain_text(self):
        owner = Weftd(self)
        refuses = Weftd(self, f"INC-1 belongs to shard south: ask ipv4:{owner.address}")  # not seen to be a loopback address
        with self.assertRaises(self.grpc.RpcError) as refused:
            self.acknowledge(self.client(refuses.address, token="secret"))
        self.assertEqual((refuses.mood, []), (refused.exception.details(), owner.calls))
        self.assertEqual("INC-1", self.acknowledge(self.client(refuses.address)).id)

    def test_health_of_many_names_the_shards_that_did_not_answer(self):
        weftd = Weftd(self)
        self.assertEqual([[], []], [list(health.missing_shards) for health in self.client(weftd.address).health_of(["n1", "n2"])])
        weftd.missing = ["south"]
        self.assertEqual([["south"], ["south"]], [list(health.missing_shards) for health in self.client(weftd.address).health_of(["n1", "n2"])])

    def test_a_watch_of_a_site_keeps_what_a_missing_shard_told(self):
        events, node = self.Health.WatchHealthResponse, self.Health.NodeHealth
        first, second = Weftd(self), Weftd(self)
        for weftd in (first, second):
            weftd.verdicts = {("n1", "north"): node.HEALTHY, ("n1", "south"): node.UNHEALTHY, ("n2", "south"): node.HEALTHY}
        watch = self.client(first.address, second.address).watch_health(timeout=30)
        began = [next(watch) for _ in range(4)]
        self.assertEqual([("n1", ["north"]), ("n1", ["south"]), ("n2", ["south"])],
                         [(event.health.node, list(event.health.shards)) for event in began[:3]])
        second.verdicts = {("n1", "north"): node.HEALTHY}
        second.missing = ["south"]
        first.mood = "standby: weft2 leads"
        said = next(watch)
        self.assertEqual((events.MISSING_SHARDS, ["south"]), (said.type, list(said.missing_shards)))
        second.set(**{"n3": node.HEALTHY})
        change = next(watch)
        self.assertEqual((events.CHANGED, "n3"), (change.type, change.health.node), "and what south told is not taken back")

    def test_a_refusal_is_an_answer(self):
        first, second = Weftd(self), Weftd(self)
        client = self.client(first.address, second.address)
        with self.assertRaises(self.grpc.RpcError) as refused:
            client.incidents()
        self.assertEqual(self.grpc.StatusCode.UNIMPLEMENTED, refused.exception.code())
        self.assertEqual([], second.calls)

    def test_a_watch_goes_on_with_the_next_and_repeats_nothing(self):
        events, node = self.Health.WatchHealthResponse, self.Health.NodeHealth
        first, second = Weftd(self), Weftd(self)
        for weftd in (first, second):
            weftd.set(n2=node.HEALTHY, n3=node.HEALTHY)
        watch = self.client(first.address, second.address).watch_health(timeout=30)
        began = [next(watch) for _ in range(4)]
        self.assertEqual([events.INITIAL] * 3 + [events.INITIAL_COMPLETE], [event.type for event in began])
        second.set(n2=node.UNHEALTHY)
        del second.verdicts["n3"]
        first.mood = "standby: weft2 leads"
        said = [next(watch) for _ in range(2)]
        self.assertEqual([(events.CHANGED, "n2"), (events.REMOVED, "n3")], [(event.type, event.health.node) for event in said])
        second.set(n1=node.DEGRADED)
        change = next(watch)
        self.assertEqual((events.CHANGED, "n1"), (change.type, change.health.node))

    def test_a_watch_ends_at_its_time(self):
        first, second = Weftd(self), Weftd(self)
        watch = self.client(first.address, second.address).watch_health(timeout=1)
        began = time.monotonic()
        with self.assertRaises(self.grpc.RpcError) as over:
            list(watch)
        self.assertEqual(self.grpc.StatusCode.DEADLINE_EXCEEDED, over.exception.code())
        self.assertLess(time.monotonic() - began, 5)

    def test_each_server_shows_a_certificate_for_its_own_name(self):
        place, other = tempfile.mkdtemp(prefix="weft-tls-"), tempfile.mkdtemp(prefix="weft-tls-")
        self.addCleanup(shutil.rmtree, place)
        self.addCleanup(shutil.rmtree, other)

        def credentials(authority):
            with open(authority[1], "rb") as key, open(authority[0], "rb") as certificate:
                return self.grpc.ssl_server_credentials([(key.read(), certificate.read())])

        ours = make_certificate(place)
        stranger, known = Weftd(self, credentials=credentials(make_certificate(other))), Weftd(self, credentials=credentials(ours))
        client = self.client(stranger.address, known.address, ca=ours[0], token="s3cret")
        self.assertEqual("n1", client.health("n1").node)
        self.assertEqual(([], ["Get"]), (stranger.calls, known.calls))

    def test_a_token_goes_to_no_other_machine_in_plain_text(self):
        with self.assertRaises(ValueError):
            self.Client(["127.0.0.1:9641", "weft.example.org:9641"], token="secret")

    def test_our_programs_in_python_agree_on_what_this_host_is(self):
        sys.path.insert(0, HOOKS)
        self.addCleanup(sys.path.remove, HOOKS)
        dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        self.addCleanup(setattr, sys, "dont_write_bytecode", dont_write)
        import weft_slurm
        from weft.client import _is_loopback
        for host in ("localhost", "LocalHost", "127.0.0.1", "127.8.9.1", "[::1]"):
            self.assertTrue(weft_slurm.is_this_host(urllib.parse.urlsplit(f"http://{host}:9640").hostname), host)
            self.assertTrue(_is_loopback(f"{host}:9641"), host)
        for host in ("10.0.0.127", "192.0.2.2", "127.1", "2130706433", "127.0.0.1.example.org", "localhost.example.org", "weft.localhost", "mgmt1",
                     "[::11]", "[2001:db8::1]"):
            self.assertFalse(weft_slurm.is_this_host(urllib.parse.urlsplit(f"http://{host}:9640").hostname), host)
            self.assertFalse(_is_loopback(f"{host}:9641"), host)


if __name__ == "__main__":
    main()
