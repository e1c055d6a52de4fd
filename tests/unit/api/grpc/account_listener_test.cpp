// SPDX-License-Identifier: Apache-2.0
// Who may do what over the Unix socket, and what the record says of him.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "api/grpc/account_listener.hpp"
#include "api/grpc/server.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"
#include "weft/v1/remedy.grpc.pb.h"

namespace weft::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/weft-accounts-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp";
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

class UnixSocket : public ::testing::Test {
 protected:
  /// `guarded`: there is a [security] with tokens.
  void start(const access::AccountRights& rights, bool guarded = false) {
    access::Rules rules;
    rules.anybody_reads = !guarded;
    if (guarded)
      rules.tokens = {{"vic", access::Role::kViewer, "", access::sha256("vic"), std::nullopt},
                      {"ops", access::Role::kOperator, "", access::sha256("ops"), std::nullopt}};
    gate.change(std::move(rules));
    GrpcOptions options;
    options.port = 0;
    options.gate = &gate;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    const auto opened = server->listen_for_accounts(path, rights);
    ASSERT_TRUE(opened) << opened.error().message;
  }

  static std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }
  std::shared_ptr<grpc::Channel> over_socket() { return channel_to("unix:" + path.string()); }
  std::shared_ptr<grpc::Channel> over_tcp() { return channel_to("127.0.0.1:" + std::to_string(server->port())); }

  grpc::Status approve(const std::shared_ptr<grpc::Channel>& channel, const std::string& who = "",
                       const std::string& token = "") {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    v1::ApprovePlanRequest request;
    request.set_id("PLAN-1");
    request.set_who(who);
    v1::Plan plan;
    return v1::RemedyService::NewStub(channel)->ApprovePlan(&context, request, &plan);
  }
  static grpc::Status read(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    v1::RemedyStatus status;
    return v1::RemedyService::NewStub(channel)->GetStatus(&context, {}, &status);
  }
  static grpc::Status reset_breaker(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    v1::ResetBreakerRequest request;
    request.set_reason("looked");
    v1::RemedyStatus status;
    return v1::RemedyService::NewStub(channel)->ResetBreaker(&context, request, &status);
  }

  Folder folder;
  std::filesystem::path path = folder / "weftd.sock";
  const std::string me = access::account_name(::geteuid());
  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  RecordingSink sink;
  StillClock clock;
  access::Gate gate{clock, {}};
  std::unique_ptr<GrpcServer> server;
};

TEST_F(UnixSocket, TheRecordHoldsTheAccountAndTheClaimBesideIt) {
  start({.admins = {::geteuid()}, .operators = std::nullopt});
  const auto channel = over_socket();
  EXPECT_TRUE(approve(channel).ok());
  EXPECT_EQ(remedies.last().who, me);
  EXPECT_THAT(me, HasSubstr("uid " + std::to_string(::geteuid())));
  EXPECT_EQ(approve(channel, "cto\n\x1b[2J").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(reset_breaker(channel).error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(UnixSocket, WhoMayNotActReads) {
  start({.admins = {}, .operators = std::nullopt});
  for (const auto& channel : {over_socket(), over_tcp()}) {
    EXPECT_TRUE(read(channel).ok());
    const grpc::Status refused = approve(channel, "cto");
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::PERMISSION_DENIED);
    EXPECT_THAT(refused.error_message(), HasSubstr("security.operator_group"));
  }
  EXPECT_EQ(remedies.times(), 0U);
  EXPECT_EQ(gate.figures().denied, 2U);
}

TEST_F(UnixSocket, MembersOfTheGroupAreOperators) {
  start({.admins = {}, .operators = ::getegid()});
  EXPECT_TRUE(approve(over_socket()).ok());
  EXPECT_EQ(remedies.last().who, me);
  EXPECT_EQ(reset_breaker(over_socket()).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(approve(over_tcp()).error_code(), grpc::StatusCode::PERMISSION_DENIED) << "TCP shows no account";
}

TEST_F(UnixSocket, ATokenCountsAlone) {
  start({.admins = {::geteuid()}, .operators = std::nullopt}, true);
  EXPECT_TRUE(approve(over_socket(), "ann", "ops").ok());
  EXPECT_EQ(remedies.last().who, "ops, for ann");
  EXPECT_EQ(approve(over_socket(), "", "vic").error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(approve(over_socket(), "", "guessed").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(approve(over_socket()).ok());
  EXPECT_EQ(read(over_tcp()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(UnixSocket, WithTokensAnAccountThatMayNotActNeedsOne) {
  start({.admins = {}, .operators = std::nullopt}, true);
  EXPECT_EQ(read(over_socket()).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(approve(over_socket(), "", "ops").ok());
}

TEST_F(UnixSocket, ManyConnectionsAtOnceKeepTheirNames) {
  start({.admins = {::geteuid()}, .operators = std::nullopt});
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 100; ++i) channels.push_back(over_socket());
  for (const auto& channel : channels) {
    ASSERT_TRUE(approve(channel).ok());
    EXPECT_EQ(remedies.last().who, me);
  }
}

TEST_F(UnixSocket, IsOpenToAllUsersAndGoesWithTheServer) {
  start({});
  struct stat made {};
  ASSERT_EQ(::stat(path.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0666U);
  server->stop();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(UnixSocket, ThatSomebodyListensOnIsLeftAlone) {
  start({});
  AccountTable table;
  const AccountListenerOptions options{.socket = path, .rights = {}};
  const auto second = AccountListener::open(options, table, gate, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("another process listens there"));
  EXPECT_TRUE(read(over_socket()).ok());
}

TEST_F(UnixSocket, ThatWasLeftBehindIsReplaced) {
  const int old = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = address_of(path);
  ASSERT_EQ(::bind(old, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(old);
  start({});
  EXPECT_TRUE(read(over_socket()).ok());
}

TEST_F(UnixSocket, DoesNotReplaceAFile) {
  std::ofstream(path) << "mine";
  AccountTable table;
  const auto opened = AccountListener::open({.socket = path, .rights = {}}, table, gate, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  const auto too_long =
      AccountListener::open({.socket = folder / std::string(108, 'x'), .rights = {}}, table, gate, {});
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("107 bytes"));
}

TEST_F(UnixSocket, MakesItsFolder) {
  const mode_t before = ::umask(027);
  path = folder / "run" / "weftd.sock";
  start({});
  ::umask(before);
  struct stat made {};
  ASSERT_EQ(::stat(path.parent_path().c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777U, 0755U);
}

TEST_F(UnixSocket, WhoMayNotActHasFewConnections) {
  AccountTable table;
  std::atomic<unsigned> served{0};
  std::vector<int> kept(20, -1);
  const auto opened = AccountListener::open(
      {.socket = path, .rights = {.admins = {}, .operators = std::nullopt}, .max_connections_per_user = 3}, table, gate,
      [&](std::optional<access::Role>, int socket) { kept[served++] = socket; });
  ASSERT_TRUE(opened);
  const auto channel_of = [this] {
    const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto address = address_of(path);
    EXPECT_EQ(::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return made;
  };
  std::vector<int> sockets(10);
  std::ranges::generate(sockets, channel_of);
  for (std::size_t i = 3; i < sockets.size(); ++i) {
    char byte = 0;
    EXPECT_EQ(::read(sockets[i], &byte, 1), 0) << "closed at once";
  }
  EXPECT_EQ(served, 3U);
  EXPECT_EQ(gate.figures().too_fast, 7U);
  for (const int socket : sockets) ::close(socket);
  for (const int socket : kept)
    if (socket >= 0) ::close(socket);
}

TEST(AnAccountTable, ForgetsTheOldestThatEnded) {
  AccountTable table;
  const std::string live = table.add({7, access::Role::kAdmin});
  const std::string ended = table.add({8, access::Role::kOperator});
  EXPECT_NE(live, ended);
  EXPECT_THAT(live, StartsWith("weft-peer-"));
  table.end(ended);
  EXPECT_EQ(table.find("unix-abstract:" + ended)->user, 8U) << "a call that it left behind";
  for (int i = 0; i < 1024; ++i) table.end(table.add({9, access::Role::kOperator}));
  EXPECT_FALSE(table.find("unix-abstract:" + ended));
  EXPECT_EQ(table.find("unix-abstract:" + live)->user, 7U);
  for (const char* other : {"", "unix:", "ipv4:127.0.0.1:4711", "unix-abstract:", "unix-abstract:weft-peer-1"})
    EXPECT_FALSE(table.find(other)) << other;
  EXPECT_FALSE(table.find("unix:" + live));
}

}  // namespace
}  // namespace weft::api
