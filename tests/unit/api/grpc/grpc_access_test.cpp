// SPDX-License-Identifier: Apache-2.0
// Who gets in over gRPC.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <future>

#include "api/grpc/server.hpp"
#include "api/site/shard_peers.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"
#include "weft/v1/fabric.grpc.pb.h"
#include "weft/v1/health.grpc.pb.h"
#include "weft/v1/maintenance.grpc.pb.h"
#include "weft/v1/remedy.grpc.pb.h"
#include "weft/v1/store.grpc.pb.h"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::api {
namespace {

using ::testing::HasSubstr;

class GrpcAccess : public ::testing::Test {
 protected:
  GrpcAccess() {
    const auto token = [](const char* name, access::Role role, const char* node = "") {
      return access::Token{name, role, node, access::sha256(name), std::nullopt};
    };
    gate.change({.tokens = {token("vic", access::Role::kViewer), token("ops", access::Role::kOperator),
                            token("root", access::Role::kAdmin), token("n4", access::Role::kCollector, "dgx-04")},
                 .certificates = {},
                 .requests_per_second = 0});
    GrpcOptions options;
    options.port = 0;
    options.gate = &gate;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return;
    }
    server = std::move(*started);
    channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  }

  /// Any method, with an empty request, of which the first answer counts.
  grpc::StatusCode call(const std::string& method, const std::string& token) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    grpc::GenericStub stub(channel);
    const grpc::ByteBuffer request{nullptr, 0};
    grpc::ByteBuffer response;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, method, {}, &request, &response,
                   [&done](grpc::Status status) { done.set_value(std::move(status)); });
    last = done.get_future().get();
    return last.error_code();
  }

  static std::vector<std::string> all_methods() {
    std::vector<std::string> methods;
    for (const auto* file :
         {v1::Node::descriptor()->file(), v1::NodeHealth::descriptor()->file(), v1::Incident::descriptor()->file(),
          v1::MaintenanceWindow::descriptor()->file(), v1::Plan::descriptor()->file(),
          v1::BackupChunk::descriptor()->file(), v1::Hello::descriptor()->file()})
      for (int s = 0; s < file->service_count(); ++s)
        for (int m = 0; m < file->service(s)->method_count(); ++m)
          methods.push_back('/' + file->service(s)->full_name() + '/' + file->service(s)->method(m)->name());
    methods.emplace_back("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
    return methods;
  }

  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  RecordingSink sink;
  StillClock clock;
  std::vector<access::Refusal> told;
  std::mutex mutex;
  access::Gate gate{clock, [this](const access::Refusal& refusal) {
                      const std::lock_guard lock(mutex);
                      told.push_back(refusal);
                    }};
  std::unique_ptr<GrpcServer> server;
  std::shared_ptr<grpc::Channel> channel;
  grpc::Status last;
};

TEST_F(GrpcAccess, NoMethodIsServedToWhomItIsNotFor) {
  const std::vector<std::string> methods = all_methods();
  ASSERT_GE(methods.size(), 35U);
  for (const std::string& method : methods) {
    EXPECT_EQ(call(method, ""), grpc::StatusCode::UNAUTHENTICATED) << method;
    EXPECT_EQ(call(method, "guessed"), grpc::StatusCode::UNAUTHENTICATED) << method;
    const access::Permission* permission = access::find_method(method);
    ASSERT_NE(permission, nullptr) << method;
    const bool streams = permission->right == access::Right::kCollector;
    EXPECT_EQ(call(method, streams ? "root" : "n4"), grpc::StatusCode::PERMISSION_DENIED) << method;
    if (permission->right == access::Right::kOperator || permission->right == access::Right::kAdmin) {
      EXPECT_EQ(call(method, "vic"), grpc::StatusCode::PERMISSION_DENIED) << method;
    }
    if (permission->right == access::Right::kAdmin) {
      EXPECT_EQ(call(method, "ops"), grpc::StatusCode::PERMISSION_DENIED) << method;
    }
  }
  // The whole store is not for whoever may only work with incidents.
  EXPECT_EQ(access::find_method("/weft.v1.StoreService/Backup")->right, access::Right::kAdmin);
  EXPECT_EQ(call("/weft.v1.RemedyService/Burn", "root"), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(call("/grpc.health.v1.Health/Check", ""), grpc::StatusCode::OK) << last.error_message();
  EXPECT_EQ(call("/weft.v1.FabricService/ListNodes", "vic"), grpc::StatusCode::OK) << last.error_message();
  EXPECT_EQ(remedies.times(), 0U) << "nothing went through";
  server->stop();
  EXPECT_EQ(gate.figures().unauthenticated, 2 * methods.size());
  EXPECT_EQ(told.size(), gate.figures().unauthenticated + gate.figures().denied);
}

TEST_F(GrpcAccess, ARefusedShardIsNamed) {
  for (const char* shard : {"south", "so uth", "South"}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer old");
    context.AddMetadata(kAskedByShard, shard);
    v1::Status response;
    const auto status = v1::FabricService::NewStub(channel)->GetStatus(&context, {}, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << shard;
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].peer, "shard south (as it says)");
  EXPECT_EQ(told[1].peer, "") << "it is made up";
  EXPECT_EQ(told[2].peer, "");
}

TEST_F(GrpcAccess, TwoTokensAreRefused) {
  for (const char* second : {"ops", "guessed"}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer ops");
    context.AddMetadata("authorization", std::string("Bearer ") + second);
    v1::RemedyStatus response;
    const auto status = v1::RemedyService::NewStub(channel)->GetStatus(&context, {}, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << second;
  }
}

TEST_F(GrpcAccess, TheRecordNamesThePrincipal) {
  v1::ApprovePlanRequest request;
  request.set_id("PLAN-1");
  request.set_who("somebody else");
  v1::Plan plan;
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer ops");
  const auto status = v1::RemedyService::NewStub(channel)->ApprovePlan(&context, request, &plan);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(remedies.last().who, "ops, for somebody else");
}

TEST_F(GrpcAccess, ACollectorSpeaksForItsOwnNode) {
  for (const auto& [host, code] :
       {std::pair{"dgx-05", grpc::StatusCode::PERMISSION_DENIED}, {"dgx-04", grpc::StatusCode::CANCELLED}}) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    context.AddMetadata("authorization", "Bearer n4");
    const auto stub = v1::TelemetryService::NewStub(channel);
    auto stream = stub->Stream(&context);
    v1::CollectorMessage message;
    message.mutable_hello()->set_protocol(1);
    message.mutable_hello()->set_host(host);
    message.mutable_hello()->set_spool(1);
    message.mutable_hello()->set_version("1");
    message.mutable_hello()->set_interval_milliseconds(1000);
    stream->Write(message);
    v1::AnalyzerMessage answer;
    if (code == grpc::StatusCode::CANCELLED) {
      EXPECT_TRUE(sink.wait([&] { return !sink.hellos.empty(); }));
      context.TryCancel();
    }
    while (stream->Read(&answer)) {
    }
    EXPECT_EQ(stream->Finish().error_code(), code) << host;
  }
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].why.message, HasSubstr("dgx-05"));
  EXPECT_EQ(told[0].who, "n4");
  EXPECT_THAT(told[0].peer, HasSubstr("127.0.0.1"));
}

}  // namespace
}  // namespace weft::api
