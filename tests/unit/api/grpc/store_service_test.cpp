// SPDX-License-Identifier: Apache-2.0
// A backup as a stream, from a desk whose answers the test gives.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <sstream>
#include <vector>

#include "api/grpc/server.hpp"
#include "api/publication/backup_desk.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"
#include "weft/v1/store.grpc.pb.h"

namespace weft::api {
namespace {

using ::testing::HasSubstr;

OpenBackup open_backup(const std::string& content, std::uint64_t size) {
  return {.file = std::make_unique<std::istringstream>(content), .size = size, .audit_records = 7, .audit_hash = "ab"};
}

/// Keeps who asks until the test answers.
class PatientDesk final : public BackupDesk {
 public:
  void make(Callback callback) override {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(callback));
    came_.notify_all();
  }
  /// The next who asks, after at most 30 s.
  Callback next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, std::chrono::seconds(30), [this] { return !waiting_.empty(); })) {
      ADD_FAILURE() << "nobody asks";
      return [](const Result<OpenBackup>&) {};
    }
    Callback callback = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return callback;
  }
  /// Waits until somebody asks. False: `call` is over before.
  template <typename Answer>
  bool is_asked(const std::future<Answer>& call) {
    std::unique_lock lock(mutex_);
    while (!came_.wait_for(lock, std::chrono::milliseconds(5), [this] { return !waiting_.empty(); }))
      if (call.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return !waiting_.empty();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Callback> waiting_;
};

class StoreServiceTest : public ::testing::Test {
 protected:
  StoreServiceTest() { start(&desk); }
  void start(BackupDesk* backups) {
    GrpcOptions options;
    options.port = 0;
    options.backups = backups;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return;
    }
    server = std::move(*started);
    stub = v1::StoreService::NewStub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials()));
  }
  struct Received {
    grpc::Status status;
    std::string data;
    v1::BackupChunk last;
    std::size_t chunks = 0;
  };
  std::future<Received> ask(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    return std::async(std::launch::async, [this, &context] {
      Received received;
      const auto stream = stub->Backup(&context, {});
      for (; stream->Read(&received.last); ++received.chunks) received.data += received.last.data();
      received.status = stream->Finish();
      return received;
    });
  }

  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  RecordingSink sink;
  StillClock clock;
  PatientDesk desk;
  std::unique_ptr<GrpcServer> server;
  std::unique_ptr<v1::StoreService::Stub> stub;
};

TEST_F(StoreServiceTest, TheFileComesInPiecesThatSayHowLongItIs) {
  std::string content(700'000, 'x');
  content[0] = 'a';
  content.back() = 'z';
  grpc::ClientContext context;
  auto received = ask(context);
  desk.next()(open_backup(content, content.size()));
  const Received got = received.get();
  EXPECT_TRUE(got.status.ok()) << got.status.error_message();
  EXPECT_TRUE(got.data == content);
  EXPECT_EQ(got.chunks, 3U);
  EXPECT_EQ(got.last.size(), content.size());
  EXPECT_EQ(got.last.audit_records(), 7U);
  EXPECT_EQ(got.last.audit_hash(), "ab");
}

TEST_F(StoreServiceTest, AFileThatEndsEarlyIsNoBackup) {
  grpc::ClientContext context;
  auto received = ask(context);
  desk.next()(open_backup("half", 8));
  const Received got = received.get();
  EXPECT_EQ(got.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(got.status.error_message(), HasSubstr("cannot be read back"));
}

TEST_F(StoreServiceTest, WhyThereIsNoneIsTold) {
  grpc::ClientContext context;
  auto received = ask(context);
  desk.next()(fail(ErrorCode::kFailedPrecondition, "back it up with pg_dump"));
  const Received got = received.get();
  EXPECT_EQ(got.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(got.status.error_message(), "back it up with pg_dump");
}

TEST_F(StoreServiceTest, TwoAtOnceAndOneWhoLeftMakesRoom) {
  grpc::ClientContext first, second, third;
  auto one = ask(first);
  const BackupDesk::Callback for_one = desk.next();
  auto two = ask(second);
  const BackupDesk::Callback for_two = desk.next();
  const Received refused = ask(third).get();
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("other backups are under way"));
  first.TryCancel();
  EXPECT_EQ(one.get().status.error_code(), grpc::StatusCode::CANCELLED);
  for_one(open_backup("nobody wants it any more", 24));
  for_two(open_backup("whole", 5));
  EXPECT_EQ(two.get().data, "whole");
  // That a call is over its client knows first: until weftd does, the next one is refused.
  std::deque<grpc::ClientContext> tries;
  std::future<Received> four;
  do four = ask(tries.emplace_back());
  while (!desk.is_asked(four));
  desk.next()(open_backup("again", 5));
  EXPECT_EQ(four.get().data, "again");
}

TEST_F(StoreServiceTest, WithoutADeskThereAreNone) {
  start(nullptr);
  grpc::ClientContext context;
  const Received got = ask(context).get();
  EXPECT_EQ(got.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(got.status.error_message(), HasSubstr("makes no backups"));
}

}  // namespace
}  // namespace weft::api
