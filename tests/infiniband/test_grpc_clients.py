# SPDX-License-Identifier: Apache-2.0
"""gRPC as a client sees it that is not ours: Python's grpcio with code generated from the published protos."""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import weft_testing

try:
    import grpc
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    grpc = None
    MISSING = str(error)

PROTOS = os.path.join(weft_testing.ROOT, "api", "proto")


def generated(place: str):
    """The modules of api/proto/weft/v1, generated into `place`."""
    names = sorted(name for name in os.listdir(os.path.join(PROTOS, "weft", "v1")) if name.endswith(".proto"))
    # Messages only, by protobuf's own compiler: python3-grpc-tools of Debian 12 is older than its protobuf library.
    if not shutil.which("protoc"):
        raise unittest.SkipTest("not installed: protoc")
    command = ["protoc", f"-I{PROTOS}", f"--python_out={place}", *(f"weft/v1/{name}" for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest(f"protoc: {done.stderr.strip()}")
    sys.path.insert(0, place)
    return {name[:-6]: importlib.import_module(f"weft.v1.{name[:-6]}_pb2") for name in names}


class GrpcClients(weft_testing.SubnetTest):
    @classmethod
    def setUpClass(cls):
        if grpc is None:
            raise unittest.SkipTest(f"python3-grpcio or python3-protobuf is not installed: {MISSING}")
        place = tempfile.TemporaryDirectory(prefix="weft-protos-")
        cls.addClassCleanup(place.cleanup)
        cls.protos = generated(place.name)
        super().setUpClass()
        cls.channel = grpc.insecure_channel(cls.weftd.grpc, options=[("grpc.enable_http_proxy", 0)])
        cls.addClassCleanup(cls.channel.close)
        cls.local = grpc.insecure_channel(f"unix:{cls.weftd.socket}")
        cls.addClassCleanup(cls.local.close)

    def call(self, method: str, request, response_type, stream: bool = False, **options):
        channel = options.get("channel", self.channel)
        make = channel.unary_stream if stream else channel.unary_unary
        return make(method, request_serializer=lambda message: message.SerializeToString(), response_deserializer=response_type.FromString)(
            request, timeout=options.get("timeout", 20))

    # Messages of the two standard services, so small that they are written down here.
    @staticmethod
    def messages(name: str, package: str, fields: dict):
        file = descriptor_pb2.FileDescriptorProto(name=name, package=package, syntax="proto3")
        for message, members in fields.items():
            described = file.message_type.add(name=message)
            for number, member, kind, label, kind_name in members:
                described.field.add(number=number, name=member, type=kind, label=label, type_name=kind_name)
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        factory = message_factory.MessageFactory(pool)
        return {message: factory.GetPrototype(pool.FindMessageTypeByName(f"{package}.{message}")) for message in fields}

    def test_health_check(self):
        made = self.messages("h.proto", "grpc.health.v1", {
            "HealthCheckRequest": [(1, "service", 9, 1, None)], "HealthCheckResponse": [(1, "status", 5, 1, None)]})
        for service in ("", "weft.v1.FabricService", "weft.v1.HealthService", "weft.v1.IncidentService", "weft.v1.RemedyService"):
            with self.subTest(service):
                answer = self.call("/grpc.health.v1.Health/Check", made["HealthCheckRequest"](service=service), made["HealthCheckResponse"])
                self.assertEqual(1, answer.status, "SERVING is 1")
        with self.assertRaises(grpc.RpcError) as caught:
            self.call("/grpc.health.v1.Health/Check", made["HealthCheckRequest"](service="none.such"), made["HealthCheckResponse"])
        self.assertEqual(grpc.StatusCode.NOT_FOUND, caught.exception.code())

    def test_reflection_lists_the_services(self):
        made = self.messages("r.proto", "grpc.reflection.v1alpha", {
            "ServiceResponse": [(1, "name", 9, 1, None)],
            "ListServiceResponse": [(1, "service", 11, 3, ".grpc.reflection.v1alpha.ServiceResponse")],
            "ServerReflectionRequest": [(7, "list_services", 9, 1, None)],
            "ServerReflectionResponse": [(6, "list_services_response", 11, 1, ".grpc.reflection.v1alpha.ListServiceResponse")]})
        call = self.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                          request_serializer=lambda message: message.SerializeToString(),
                                          response_deserializer=made["ServerReflectionResponse"].FromString)
        answer = next(call(iter([made["ServerReflectionRequest"](list_services="*")]), timeout=20))
        names = {service.name for service in answer.list_services_response.service}
        self.assertLessEqual({"weft.v1.FabricService", "weft.v1.HealthService", "weft.v1.IncidentService", "weft.v1.RemedyService",
                              "grpc.health.v1.Health"}, names)

    def test_what_it_gives_is_what_json_gives(self):
        fabric = self.protos["fabric"]
        status = self.call("/weft.v1.FabricService/GetStatus", fabric.GetStatusRequest(), fabric.Status)
        self.assertTrue(status.ready)
        self.assertEqual((len(self.network.switches), len(self.network.adapters), self.network.links()),
                         (status.fabrics[0].switches, status.fabrics[0].adapters, status.fabrics[0].links))
        merged = fabric.Topology()
        for part in self.call("/weft.v1.FabricService/GetTopology", fabric.GetTopologyRequest(), fabric.Topology, stream=True):
            merged.MergeFrom(part)
        shown = self.weftd.client.json("/api/v1/topology")
        self.assertEqual({node["guid"] for node in shown["nodes"]}, {node.guid for node in merged.nodes})
        self.assertEqual(len(shown["ports"]), len(merged.ports))
        self.assertEqual(self.network.links(), len(merged.links))

    def test_pages_add_up_to_the_whole(self):
        fabric = self.protos["fabric"]
        seen, token = [], ""
        while True:
            page = self.call("/weft.v1.FabricService/ListPorts", fabric.ListPortsRequest(page_size=7, page_token=token, without_counters=True),
                             fabric.ListPortsResponse)
            self.assertLessEqual(len(page.ports), 7)
            seen += [(port.node_guid, port.port) for port in page.ports]
            token = page.next_page_token
            if not token:
                break
        self.assertEqual(len(seen), len(set(seen)))
        self.assertEqual(self.network.port_entries(), len(seen))

    def test_watch_shows_an_incident_come_and_go(self):
        incident = self.protos["incident"]
        stream = self.call("/weft.v1.IncidentService/Watch", incident.WatchIncidentsRequest(), incident.WatchIncidentsResponse, stream=True,
                           timeout=weft_testing.PATIENCE)
        reply = incident.WatchIncidentsResponse
        first = next(stream)
        self.assertEqual(reply.INITIAL_COMPLETE, first.type, "nothing is open at the start")
        self.subnet.unlink("leaf-r0-p02", 10)
        ends = self.link("leaf-r0-p02", 10)
        states = []
        for change in stream:
            shown = change.incident
            self.assertEqual(reply.CHANGED, change.type)
            self.assertEqual(incident.Incident.LINK_DOWN, shown.kind)
            self.assertEqual(ends, {(shown.cause.node_guid, shown.cause.port), (shown.cause.peer_guid, shown.cause.peer_port)})
            states.append(shown.state)
            if shown.state == incident.Incident.RESOLVED:
                break
            if len(states) == 1:
                self.subnet.relink("leaf-r0-p02", 10)
        stream.cancel()
        self.assertEqual([incident.Incident.OPEN, incident.Incident.RESOLVED], [states[0], states[-1]])

    def test_a_reader_that_does_not_read_holds_nobody_up(self):
        fabric = self.protos["fabric"]
        stalled = [self.call("/weft.v1.FabricService/Watch", fabric.WatchFabricRequest(), fabric.WatchFabricResponse, stream=True)
                   for _ in range(8)]
        self.weftd.wait_sweeps(4)
        reading = self.call("/weft.v1.FabricService/Watch", fabric.WatchFabricRequest(), fabric.WatchFabricResponse, stream=True)
        for _ in range(3):
            self.assertTrue(next(reading).fabric.watching)
        for stream in [*stalled, reading]:
            stream.cancel()

    def test_acknowledge(self):
        incident = self.protos["incident"]
        self.subnet.unlink("leaf-r1-p02", 9)
        opened = self.expect("LINK_DOWN", lambda i: self.is_link(i, self.link("leaf-r1-p02", 9)))
        acknowledge = incident.AcknowledgeIncidentRequest(id=opened["id"], who="night shift")
        with self.assertRaises(grpc.RpcError) as caught:
            self.call("/weft.v1.IncidentService/Acknowledge", acknowledge, incident.Incident)
        self.assertEqual(grpc.StatusCode.PERMISSION_DENIED, caught.exception.code(), "over TCP nobody knows who that is")
        answer = self.call("/weft.v1.IncidentService/Acknowledge", acknowledge, incident.Incident, channel=self.local)
        self.assertEqual(incident.Incident.ACKNOWLEDGED, answer.state)
        self.assertRegex(answer.acknowledged_by, r"\(uid \d+\), for night shift$")
        self.subnet.relink("leaf-r1-p02", 9)
        self.expect_resolved(opened)
        with self.assertRaises(grpc.RpcError) as caught:
            self.call("/weft.v1.IncidentService/Acknowledge", acknowledge, incident.Incident, channel=self.local)
        self.assertEqual(grpc.StatusCode.FAILED_PRECONDITION, caught.exception.code())

    def test_errors_are_grpc_errors(self):
        incident, health, fabric = (self.protos[name] for name in ("incident", "health", "fabric"))
        for method, request, response, code in (
                ("IncidentService/Get", incident.GetIncidentRequest(id="INC-999999"), incident.Incident, "NOT_FOUND"),
                ("HealthService/Get", health.GetHealthRequest(node="nobody"), health.NodeHealth, "NOT_FOUND"),
                ("FabricService/ListNodes", fabric.ListNodesRequest(page_token="nonsense"), fabric.ListNodesResponse, "INVALID_ARGUMENT"),
                ("RemedyService/Nothing", incident.GetIncidentRequest(), incident.Incident, "PERMISSION_DENIED")):  # no line in the table
            with self.subTest(method), self.assertRaises(grpc.RpcError) as caught:
                self.call(f"/weft.v1.{method}", request, response)
            self.assertEqual(code, caught.exception.code().name)

    def test_many_at_once(self):
        fabric = self.protos["fabric"]
        wrong = []

        def ask():
            for _ in range(20):
                try:
                    self.call("/weft.v1.FabricService/GetStatus", fabric.GetStatusRequest(), fabric.Status)
                except grpc.RpcError as error:
                    wrong.append(error)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)


if __name__ == "__main__":
    weft_testing.main()
