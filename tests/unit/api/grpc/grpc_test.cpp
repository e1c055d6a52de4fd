// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "api/grpc/server.hpp"
#include "tests/unit/api/acceptance_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/incident.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"

namespace weft::api {
namespace {

/// Knows incident 1, refuses 2, never answers 3 before it is told to.
class FakeCommands final : public AcceptanceCommands {
 public:
  void acknowledge(std::uint64_t incident, std::string who, Callback callback) override {
    if (incident == 1) {
      Incident changed = make_incident(1, IncidentState::kAcknowledged, 2);
      changed.acknowledged_by = who;
      callback(changed);
    } else if (incident == 2) {
      callback(fail(ErrorCode::kFailedPrecondition, "INC-2 is resolved"));
    } else {
      const std::lock_guard lock(mutex);
      late = std::move(callback);
      arrived.notify_all();
    }
  }
  void silence(std::uint64_t incident, TimePoint until, std::string, Callback callback) override {
    Incident changed = make_incident(incident, IncidentState::kOpen, 2);
    changed.silenced_until = until;
    callback(changed);
  }

  void add_maintenance(MaintenanceWindow window, MaintenanceCallback callback) override {
    window.id = 3;
    window.added = window.from;
    callback(window);
  }
  void end_maintenance(std::uint64_t window, std::string who, MaintenanceCallback callback) override {
    if (window != 3) return callback(fail(ErrorCode::kNotFound, "no window"));
    MaintenanceWindow ended;
    ended.id = window;
    ended.ended = TimePoint(std::chrono::hours(1));
    ended.ended_by = std::move(who);
    callback(ended);
  }

  std::mutex mutex;
  std::condition_variable arrived;
  Callback late;
};

/// Welcomes everybody and takes everything.
class FakeSink final : public TelemetrySink {
 public:
  void hello(const Stream& stream, CollectorHello) override { stream->welcome(0); }
  void batch(const Stream& stream, HostBatch, Duration) override { stream->proceed(); }
  void gone(const Stream&) override {}
};

class Grpc : public ::testing::Test {
 protected:
  void start(GrpcOptions options = {}) {
    options.port = 0;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  }
  static void limit(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }
  template <typename Service, typename Request, typename Response>
  static grpc::Status call(const std::unique_ptr<Service>& stub,
                           grpc::Status (Service::*method)(grpc::ClientContext*, const Request&, Response*),
                           const Request& request, Response& response) {
    grpc::ClientContext context;
    limit(context);
    return (stub.get()->*method)(&context, request, &response);
  }

  Publication publication;
  FakeCommands commands;
  FakeRemedies remedies;
  FakeSink sink;
  StillClock clock;
  std::unique_ptr<GrpcServer> server;
  std::shared_ptr<grpc::Channel> channel;
};

TEST_F(Grpc, ATakenPortIsSaidSo) {
  start();
  GrpcOptions options;
  options.port = server->port();
  const auto second = GrpcServer::start(options, publication, commands, remedies, sink, clock);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("Address already in use"), std::string::npos) << second.error().message;
  options.address = "no-such-host.invalid";
  EXPECT_EQ(GrpcServer::start(options, publication, commands, remedies, sink, clock).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(Grpc, MaintenanceIsLookedUpHereAndDecidedByTheDaemon) {
  start();
  SmallFabric fabric(2);
  publication.publish(make_snapshot(1, {fabric.build()}));
  const auto stub = v1::MaintenanceService::NewStub(channel);
  v1::AddMaintenanceRequest add;
  add.set_what("leaf-1");
  add.mutable_length()->set_seconds(60);
  add.set_reason("new firmware");
  add.set_who("ann");
  v1::MaintenanceWindow window;
  ASSERT_TRUE(call(stub, &v1::MaintenanceService::Stub::Add, add, window).ok());
  EXPECT_EQ(window.id(), "MW-3");
  EXPECT_EQ(window.state(), v1::MaintenanceWindow::ACTIVE);
  EXPECT_EQ(window.entity().label(), "leaf-1");
  EXPECT_EQ(window.added_by(), "ann");
  add.set_what("leaf-9");
  EXPECT_EQ(call(stub, &v1::MaintenanceService::Stub::Add, add, window).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::EndMaintenanceRequest end;
  end.set_id("mw-3");
  end.set_who("bob");
  ASSERT_TRUE(call(stub, &v1::MaintenanceService::Stub::End, end, window).ok());
  EXPECT_EQ(window.state(), v1::MaintenanceWindow::OVER);
  EXPECT_EQ(window.ended_by(), "bob");
  end.set_id("INC-3");
  EXPECT_EQ(call(stub, &v1::MaintenanceService::Stub::End, end, window).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Grpc, AnswersFromTheSnapshot) {
  SmallFabric fabric(2);
  fabric.set(1, CounterId::kSymbolErrors, 65535, true);
  publication.publish(make_snapshot(1, {fabric.build()}, {make_incident(1)},
                                    {make_health("host-1", 0x101, HealthVerdict::kUnhealthy)}));
  start();
  const auto stub = v1::FabricService::NewStub(channel);
  v1::Status status;
  ASSERT_TRUE(call(stub, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest(), status).ok());
  EXPECT_TRUE(status.ready());
  EXPECT_EQ(status.open_incidents().critical(), 1U);
  v1::ListPortsRequest request;
  request.set_node("leaf-1");
  v1::ListPortsResponse ports;
  ASSERT_TRUE(call(stub, &v1::FabricService::Stub::ListPorts, request, ports).ok());
  ASSERT_EQ(ports.ports_size(), 4);
  ASSERT_EQ(ports.ports(1).counters_size(), 1) << "absent is not zero";
  EXPECT_TRUE(ports.ports(1).counters(0).saturated());
  EXPECT_EQ(ports.ports(1).peer().node(), "host-1 mlx5_0");
  v1::GetNodeRequest unknown;
  unknown.set_node("nobody");
  v1::GetNodeResponse node;
  EXPECT_EQ(call(stub, &v1::FabricService::Stub::GetNode, unknown, node).error_code(), grpc::StatusCode::NOT_FOUND);
  const auto health = v1::HealthService::NewStub(channel);
  v1::GetHealthRequest of;
  of.set_node("host-1 mlx5_0");
  v1::NodeHealth verdict;
  ASSERT_TRUE(call(health, &v1::HealthService::Stub::Get, of, verdict).ok());
  EXPECT_EQ(verdict.verdict(), v1::NodeHealth::UNHEALTHY);
}

TEST_F(Grpc, PagesHoldEveryPortOnceAndStayBelowTheLimit) {
  std::vector<FabricView> views;
  for (int i = 0; i < 20; ++i) {
    SmallFabric fabric(200, "ib" + std::to_string(i));
    for (PortIndex port = 0; port < fabric.ports.size(); ++port)
      for (const CounterId id : fabric.counters.counters()) fabric.set(port, id, 1'000'000'000'000);
    views.push_back(fabric.build());
  }
  publication.publish(make_snapshot(1, views));
  start();
  const auto stub = v1::FabricService::NewStub(channel);
  v1::ListPortsRequest request;
  std::set<std::string> seen;
  int pages = 0;
  do {
    v1::ListPortsResponse page;
    ASSERT_TRUE(call(stub, &v1::FabricService::Stub::ListPorts, request, page).ok());
    ++pages;
    for (const v1::Port& port : page.ports())
      EXPECT_TRUE(seen.insert(port.fabric() + port.node_guid() + "/" + std::to_string(port.port())).second);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(seen.size(), 20U * 402);
  EXPECT_GT(pages, 3);
  request.set_page_token("0.999.0");
  v1::ListPortsResponse page;
  EXPECT_EQ(call(stub, &v1::FabricService::Stub::ListPorts, request, page).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);

  grpc::ClientContext context;
  limit(context);
  const auto stream = stub->GetTopology(&context, v1::GetTopologyRequest());
  v1::Topology all;
  v1::Topology part;
  while (stream->Read(&part)) all.MergeFrom(part);
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(all.nodes_size(), 20 * 201);
  EXPECT_EQ(all.ports_size(), 20 * 402);
  EXPECT_EQ(all.links_size(), 20 * 200);
}

TEST_F(Grpc, WatchGivesTheStateThenChanges) {
  publication.publish(make_snapshot(1, {}, {make_incident(1)}));
  start();
  const auto stub = v1::IncidentService::NewStub(channel);
  grpc::ClientContext context;
  limit(context);
  const auto stream = stub->Watch(&context, v1::WatchIncidentsRequest());
  v1::WatchIncidentsResponse event;
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchIncidentsResponse::INITIAL);
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchIncidentsResponse::INITIAL_COMPLETE);
  publication.publish(make_snapshot(2, {}, {make_incident(1, IncidentState::kResolved, 2)}));
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.type(), v1::WatchIncidentsResponse::CHANGED);
  EXPECT_EQ(event.incident().state(), v1::Incident::RESOLVED);
  server->stop();
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(Grpc, AReaderThatSleepsHoldsUpNobodyAndFindsTheEnd) {
  Incident incident = make_incident(1);
  incident.finding.summary = std::string(20'000, 'x');
  publication.publish(make_snapshot(1, {}, {incident}));
  start();
  const auto stub = v1::IncidentService::NewStub(channel);
  grpc::ClientContext context;
  limit(context);
  const auto stream = stub->Watch(&context, v1::WatchIncidentsRequest());
  v1::WatchIncidentsResponse event;
  ASSERT_TRUE(stream->Read(&event));
  // 100 MB of changes if all were sent; publishing must not wait for the reader, or this never ends.
  for (std::uint64_t revision = 2; revision <= 5000; ++revision) {
    incident.revision = revision;
    if (revision == 5000) incident.state = IncidentState::kResolved;
    publication.publish(make_snapshot(revision, {}, {incident}));
  }
  std::uint64_t last = 0;
  int messages = 0;
  while (stream->Read(&event)) {
    ++messages;
    if (event.type() != v1::WatchIncidentsResponse::CHANGED) continue;
    EXPECT_GT(event.incident().revision(), last);
    last = event.incident().revision();
    if (event.incident().state() == v1::Incident::RESOLVED) break;
  }
  EXPECT_EQ(last, 5000U);
  EXPECT_LT(messages, 4000) << "changes nobody read are left out";
  context.TryCancel();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(Grpc, ClientsTakeNoStreamsOfOtherShards) {
  publication.publish(make_snapshot(1, {}, {}));
  GrpcOptions options;
  options.max_watchers = 1;
  start(options);
  const auto stub = v1::IncidentService::NewStub(channel);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchIncidentsResponse>>> streams;
  for (const bool is_shard : {true, false, true}) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    limit(*contexts.back());
    if (is_shard) contexts.back()->AddMetadata("weft-asked-by-shard", "south");
    streams.push_back(stub->Watch(contexts.back().get(), v1::WatchIncidentsRequest()));
    v1::WatchIncidentsResponse event;
    EXPECT_TRUE(streams.back()->Read(&event)) << "stream " << streams.size();
  }
  for (const auto& context : contexts) context->TryCancel();
}

TEST_F(Grpc, TooManyWatchersAreRefusedAndLeaversMakeRoom) {
  publication.publish(make_snapshot(1, {}, {}));
  GrpcOptions options;
  options.max_watchers = 1;
  start(options);
  const auto stub = v1::IncidentService::NewStub(channel);
  v1::WatchIncidentsResponse event;
  auto first_context = std::make_unique<grpc::ClientContext>();
  limit(*first_context);
  auto first = stub->Watch(first_context.get(), v1::WatchIncidentsRequest());
  ASSERT_TRUE(first->Read(&event));
  {
    grpc::ClientContext context;
    limit(context);
    const auto second = stub->Watch(&context, v1::WatchIncidentsRequest());
    EXPECT_FALSE(second->Read(&event));
    EXPECT_EQ(second->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  first_context->TryCancel();
  first->Finish();
  // The server learns of the leaving a little later.
  bool admitted = false;
  for (int attempt = 0; attempt < 1000 && !admitted; ++attempt) {
    grpc::ClientContext context;
    limit(context);
    const auto next = stub->Watch(&context, v1::WatchIncidentsRequest());
    admitted = next->Read(&event);
    context.TryCancel();
    next->Finish();
    if (!admitted) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(admitted);
}

TEST_F(Grpc, CommandsArePassedOnAndRefusalsBack) {
  start();
  const auto stub = v1::IncidentService::NewStub(channel);
  v1::AcknowledgeIncidentRequest request;
  v1::Incident incident;
  request.set_id("INC-1");
  request.set_who("ann");
  ASSERT_TRUE(call(stub, &v1::IncidentService::Stub::Acknowledge, request, incident).ok());
  EXPECT_EQ(incident.state(), v1::Incident::ACKNOWLEDGED);
  EXPECT_EQ(incident.acknowledged_by(), "ann");
  // Each command's name is written into the record: unbounded, a few thousand calls would fill the disk.
  std::string robots;
  for (int i = 0; i < 50'000; ++i) robots += "\xF0\x9F\xA4\x96";
  request.set_who("x" + robots);
  ASSERT_TRUE(call(stub, &v1::IncidentService::Stub::Acknowledge, request, incident).ok());
  EXPECT_EQ(incident.acknowledged_by(), "x" + robots.substr(0, 252)) << "cut between two characters";
  request.set_id("2");
  EXPECT_EQ(call(stub, &v1::IncidentService::Stub::Acknowledge, request, incident).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  request.set_id("two");
  EXPECT_EQ(call(stub, &v1::IncidentService::Stub::Acknowledge, request, incident).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  v1::SilenceIncidentRequest silence;
  silence.set_id("1");
  EXPECT_EQ(call(stub, &v1::IncidentService::Stub::Silence, silence, incident).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT)
      << "no time";
  silence.mutable_until()->set_seconds(1'700'000'060);
  ASSERT_TRUE(call(stub, &v1::IncidentService::Stub::Silence, silence, incident).ok());
  EXPECT_EQ(incident.silenced_until().seconds(), 1'700'000'060);
}

TEST_F(Grpc, ACommandMayOutliveItsCall) {
  start();
  const auto stub = v1::IncidentService::NewStub(channel);
  v1::AcknowledgeIncidentRequest request;
  request.set_id("3");
  grpc::ClientContext context;
  std::thread canceller([&] {
    std::unique_lock lock(commands.mutex);
    commands.arrived.wait(lock, [&] { return static_cast<bool>(commands.late); });
    context.TryCancel();
  });
  v1::Incident incident;
  EXPECT_EQ(stub->Acknowledge(&context, request, &incident).error_code(), grpc::StatusCode::CANCELLED);
  canceller.join();
  server->stop();
  commands.late(make_incident(3));
  server.reset();
}

TEST_F(Grpc, HealthOfTheServerIsThatOfItsPicture) {
  start();
  // Debian has no stub for grpc.health.v1, but its messages are a string and a number in field 1, and so are these of
  // ours.
  const auto serving = [&](const std::string& service) {
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC);
    grpc::ClientContext context;
    limit(context);
    v1::GetNodeRequest request;
    request.set_node(service);
    v1::SweepSummary answer;
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<v1::GetNodeRequest, v1::SweepSummary, google::protobuf::MessageLite,
                                          google::protobuf::MessageLite>(channel.get(), method, &context, request,
                                                                         &answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer.number() == 1;  // SERVING
  };
  EXPECT_FALSE(serving(""));
  EXPECT_FALSE(serving("weft.v1.FabricService"));
  SmallFabric fabric;
  publication.publish(make_snapshot(1, {fabric.build()}));
  bool all = false;
  for (int attempt = 0; attempt < 1000 && !all; ++attempt) {
    all = serving("") && serving("weft.v1.FabricService") && serving("weft.v1.HealthService") &&
          serving("weft.v1.IncidentService") && serving("weft.v1.RemedyService") && serving("weft.v1.StoreService");
    if (!all) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(all);
}

}  // namespace
}  // namespace weft::api
