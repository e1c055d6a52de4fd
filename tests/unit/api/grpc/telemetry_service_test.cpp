// SPDX-License-Identifier: Apache-2.0
// Collectors' streams as gRPC carries them.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "api/grpc/server.hpp"
#include "tests/unit/api/no_commands.hpp"
#include "tests/unit/api/small_plans.hpp"
#include "tests/unit/api/telemetry_peers.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;

class Telemetry : public ::testing::Test {
 protected:
  void start(const TelemetryLimits& limits = {}) {
    GrpcOptions options;
    options.port = 0;
    options.telemetry = limits;
    auto started = GrpcServer::start(options, publication, commands, remedies, sink, clock);
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
    channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server->port()), grpc::InsecureChannelCredentials());
  }
  /// Waits for figures that the server's own threads bring about.
  bool wait_figures(const std::function<bool(const TelemetryFigures&)>& what) const {
    for (int attempt = 0; attempt < 6000; ++attempt) {
      if (what(server->telemetry())) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  Publication publication;
  NoCommands commands;
  FakeRemedies remedies;
  StillClock clock;
  RecordingSink sink;
  std::unique_ptr<GrpcServer> server;
  std::shared_ptr<grpc::Channel> channel;
};

void expect_refused(const grpc::Status& status, grpc::StatusCode code, const std::string& words) {
  EXPECT_EQ(status.error_code(), code) << status.error_message();
  EXPECT_NE(status.error_message().find(words), std::string::npos) << status.error_message();
}

TEST_F(Telemetry, AHelloIsWelcomedWithWhatIsSafe) {
  sink.welcome = 41;
  start();
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1", 12));
  const v1::AnalyzerMessage answer = collector.next();
  ASSERT_TRUE(answer.has_welcome());
  EXPECT_EQ(answer.welcome().sequence(), 41U);
  ASSERT_EQ(sink.hellos.size(), 1U);
  const CollectorHello& hello = sink.hellos.front();
  EXPECT_EQ(hello.host, "gpu-1");
  EXPECT_EQ(hello.spool, 42U);
  EXPECT_EQ(hello.version, "0.1.0");
  EXPECT_EQ(hello.address.substr(0, 10), "127.0.0.1:");
  EXPECT_EQ(hello.interval, Duration(1500ms));
  EXPECT_EQ(hello.oldest_sequence, 12U);
  EXPECT_TRUE(collector.leave().ok());
  EXPECT_TRUE(sink.wait([&] { return sink.gones == 1; }));
}

TEST_F(Telemetry, BatchesArriveInOrderAndAreAcknowledgedWhenTheyAreSafe) {
  start();
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  HostBatch second = make_batch(3);
  second.reading->values[1] = 99;
  LinkEvent event;
  event.at = kNow - 3s;
  event.device = "mlx5_0";
  event.port = 1;
  second.events.push_back(event);
  ASSERT_TRUE(collector.batch(5, make_batch(3), true));
  ASSERT_TRUE(collector.batch(8, second));
  ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 2; }));
  EXPECT_EQ(sink.taken[0].batch.sequence, 5U);
  EXPECT_TRUE(sink.taken[0].batch.is_late);
  EXPECT_EQ(sink.taken[1].batch.sequence, 8U);
  EXPECT_FALSE(sink.taken[1].batch.is_late);
  EXPECT_EQ(sink.taken[1].batch.reading->values, (std::vector<std::uint64_t>{7, 99, 7}));
  ASSERT_EQ(sink.taken[1].batch.events.size(), 1U);
  EXPECT_EQ(sink.taken[1].batch.events[0], event);
  EXPECT_EQ(server->telemetry().values, 3U);
  sink.streams[0]->acknowledge(8);
  sink.streams[0]->acknowledge(5);  // nothing new
  EXPECT_EQ(collector.next_acknowledgement(), 8U);
  sink.streams[0]->acknowledge(9);
  EXPECT_EQ(collector.next_acknowledgement(), 9U);
}

TEST_F(Telemetry, AProtocolErrorEndsTheStreamWithItsReason) {
  start();
  struct Case {
    const char* words;
    std::function<void(Collector&)> act;
  };
  v1::CollectorMessage garbage;
  garbage.mutable_batch()->set_sequence(2);
  garbage.mutable_batch()->set_body("no batch");
  const std::vector<Case> cases{
      {"a second Hello", [](Collector& c) { c.hello("gpu-1"), c.hello("gpu-1"); }},
      {"a batch before Hello", [](Collector& c) { c.batch(1, make_batch(1)); }},
      {"an empty message", [](Collector& c) { c.hello("gpu-1"), c.send({}); }},
      {"batch 7 came after 7",
       [](Collector& c) { c.hello("gpu-1"), c.batch(7, make_batch(1)), c.batch(7, make_batch(1)); }},
      {"batch 0 came after 0", [](Collector& c) { c.hello("gpu-1"), c.batch(0, make_batch(1)); }},
      {"batch: ", [&](Collector& c) { c.hello("gpu-1"), c.send(garbage); }},
      {"a host's name", [](Collector& c) { c.hello("gpu\x01"); }},
      {"a clock reply without a probe", [](Collector& c) { c.clock_reply(1, kNow); }},
      {"a clock reply without a time", [](Collector& c) { c.hello("gpu-1"), c.clock_reply(1, kNever); }},
  };
  for (const Case& one : cases) {
    Collector collector(channel);
    one.act(collector);
    expect_refused(collector.end(), grpc::StatusCode::INVALID_ARGUMENT, one.words);
  }
  EXPECT_TRUE(wait_figures([](const TelemetryFigures& f) { return f.streams == 0 && f.values == 0; }));
  EXPECT_EQ(server->telemetry().refused, cases.size());
  EXPECT_TRUE(sink.wait([&] { return sink.gones == sink.hellos.size(); })) << "each hello has its end";
}

TEST_F(Telemetry, AStreamWithoutHelloIsEnded) {
  TelemetryLimits limits;
  limits.hello_timeout = 20ms;
  start(limits);
  Collector silent(channel);
  expect_refused(silent.end(), grpc::StatusCode::INVALID_ARGUMENT, "no Hello in time");
  EXPECT_EQ(server->telemetry().refused, 1U);
  EXPECT_TRUE(sink.hellos.empty());
  EXPECT_EQ(sink.gones, 0U);
}

TEST_F(Telemetry, AStreamMayWaitLongForItsWelcome) {
  TelemetryLimits limits;
  limits.hello_timeout = 2s;
  sink.welcome.reset();
  start(limits);
  Collector patient(channel);
  ASSERT_TRUE(patient.hello("gpu-1"));
  ASSERT_TRUE(sink.wait([&] { return sink.hellos.size() == 1; }));
  // The one who is sent away began later: the first one's time is over too.
  Collector silent(channel);
  EXPECT_FALSE(silent.end().ok());
  sink.streams[0]->welcome(3);
  EXPECT_EQ(patient.next().welcome().sequence(), 3U);
}

TEST_F(Telemetry, TooManyCollectorsAreRefusedAndLeaversMakeRoom) {
  TelemetryLimits limits;
  limits.max_collectors = 1;
  start(limits);
  Collector first(channel);
  ASSERT_TRUE(first.hello("gpu-1"));
  ASSERT_TRUE(first.next().has_welcome());
  Collector second(channel);
  second.hello("gpu-2");
  expect_refused(second.end(), grpc::StatusCode::RESOURCE_EXHAUSTED, "too many collectors");
  EXPECT_EQ(server->telemetry().streams, 1U);
  EXPECT_EQ(server->telemetry().refused, 1U);
  ASSERT_TRUE(first.batch(1, make_batch(2)));
  EXPECT_TRUE(sink.wait([&] { return sink.taken.size() == 1; })) << "the first one is not disturbed";
  EXPECT_TRUE(first.leave().ok());
  ASSERT_TRUE(wait_figures([](const TelemetryFigures& f) { return f.streams == 0; }));
  Collector third(channel);
  ASSERT_TRUE(third.hello("gpu-3"));
  EXPECT_TRUE(third.next().has_welcome());
}

TEST_F(Telemetry, ValuesOfAllTogetherAreLimitedAndComeBackWithTheirStreams) {
  TelemetryLimits limits;
  limits.max_values = 10;
  start(limits);
  Collector first(channel);
  ASSERT_TRUE(first.hello("gpu-1"));
  ASSERT_TRUE(first.batch(1, make_batch(6)));
  ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 1; }));
  {
    Collector second(channel);
    ASSERT_TRUE(second.hello("gpu-2"));
    ASSERT_TRUE(second.batch(1, make_batch(4))) << "just as many as there may be";
    ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 2; }));
    EXPECT_EQ(server->telemetry().values, 10U);
    second.batch(2, make_batch(5));
    expect_refused(second.end(), grpc::StatusCode::RESOURCE_EXHAUSTED, "too many values");
  }
  EXPECT_TRUE(wait_figures([](const TelemetryFigures& f) { return f.values == 6; }));
  ASSERT_TRUE(first.batch(2, make_batch(3))) << "it may have fewer";
  ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 3; }));
  EXPECT_EQ(server->telemetry().values, 3U);
  Collector third(channel);
  ASSERT_TRUE(third.hello("gpu-3"));
  ASSERT_TRUE(third.batch(1, make_batch(7)));
  EXPECT_TRUE(sink.wait([&] { return sink.taken.size() == 4; }));
}

TEST_F(Telemetry, AStreamBeyondItsRateIsSlowedWithoutLoss) {
  TelemetryLimits limits;
  limits.batches_per_second = 500;
  limits.batch_burst = 3;
  start(limits);
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  for (std::uint64_t sequence = 1; sequence <= 50; ++sequence) ASSERT_TRUE(collector.batch(sequence, make_batch(1)));
  ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 50; }));
  EXPECT_EQ(sink.taken.back().batch.sequence, 50U);
  EXPECT_GT(server->telemetry().throttled, 0U);
  EXPECT_EQ(server->telemetry().refused, 0U);
}

TEST_F(Telemetry, ASlowReaderBlocksNobodyAndGetsTheLastMessage) {
  start();
  Collector sleeper(channel);
  ASSERT_TRUE(sleeper.hello("gpu-1"));
  ASSERT_TRUE(sink.wait([&] { return sink.streams.size() == 1; }));
  constexpr std::uint64_t kLast = 200'000;
  for (std::uint64_t sequence = 1; sequence <= kLast; ++sequence) sink.streams[0]->acknowledge(sequence);
  Collector other(channel);
  ASSERT_TRUE(other.hello("gpu-2"));
  EXPECT_TRUE(other.next().has_welcome());
  std::uint64_t last = 0;
  std::uint64_t messages = 0;
  while (last < kLast) {
    const std::uint64_t sequence = sleeper.next_acknowledgement();
    ASSERT_GT(sequence, last);
    last = sequence;
    ++messages;
  }
  EXPECT_EQ(last, kLast);
  EXPECT_LT(messages, kLast / 2) << "what nobody read is left out";
}

TEST_F(Telemetry, AReaderThatNeverReadsIsCutOffWhenItIsToEnd) {
  start();
  // As little as can be is on its way to it, so that our writes soon stand still.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  Collector deaf(grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(server->port()),
                                           grpc::InsecureChannelCredentials(), arguments));
  ASSERT_TRUE(deaf.hello("gpu-1"));
  ASSERT_TRUE(sink.wait([&] { return sink.streams.size() == 1; }));
  for (std::uint64_t sequence = 1; sequence <= 20'000; ++sequence) {
    sink.streams[0]->acknowledge(sequence);
    std::this_thread::sleep_for(20us);  // or all but a few would be left out
  }
  sink.streams[0]->end({ErrorCode::kAlreadyExists, "another collector is connected for host gpu-1"});
  EXPECT_TRUE(sink.wait([&] { return sink.gones == 1; }));
  EXPECT_TRUE(wait_figures([](const TelemetryFigures& f) { return f.streams == 0; }));
  // What is said to a stream after its end does nothing.
  sink.streams[0]->acknowledge(30'000);
  sink.streams[0]->proceed();
  sink.streams[0]->welcome(5);
  sink.streams[0]->end({ErrorCode::kInternal, "twice"});
  EXPECT_EQ(deaf.end().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(Telemetry, MessagesAfterTheEndAreIgnored) {
  start();
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  ASSERT_TRUE(collector.next().has_welcome());
  sink.streams[0]->end({ErrorCode::kAlreadyExists, "another collector is connected for host gpu-1"});
  sink.streams[0]->end({ErrorCode::kInternal, "twice"});
  sink.streams[0]->acknowledge(5);
  expect_refused(collector.end(), grpc::StatusCode::ALREADY_EXISTS, "another collector is connected for host gpu-1");
  ASSERT_TRUE(sink.wait([&] { return sink.gones == 1; }));
  sink.streams[0]->acknowledge(6);
  sink.streams[0]->proceed();
  sink.streams[0]->welcome(5);
}

TEST_F(Telemetry, TheHostsClockIsMeasuredAndItsTimesAreCorrected) {
  start();
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  ASSERT_TRUE(collector.next().has_welcome());
  const v1::AnalyzerMessage probe = collector.next();
  ASSERT_TRUE(probe.has_clock_probe());
  // Before the answer its times are taken as they are, but none is in the future.
  ASSERT_TRUE(collector.batch(1, make_batch(1, kNow - 5s)));
  ASSERT_TRUE(collector.batch(2, make_batch(1, kNow + 5s)));
  // The host's clock is 90 s slow.
  ASSERT_TRUE(collector.clock_reply(probe.clock_probe().id(), kNow - 90s));
  HostBatch batch = make_batch(1, kNow - 90s - 2s);
  LinkEvent event;
  event.device = "mlx5_0";
  event.at = kNow - 90s - 1s;
  batch.events.push_back(event);
  event.at = kNow - 89s;  // that is a second from now
  batch.events.push_back(event);
  ASSERT_TRUE(collector.batch(3, batch));
  ASSERT_TRUE(sink.wait([&] { return sink.taken.size() == 3; }));
  EXPECT_EQ(sink.taken[0].clock_offset, Duration::zero());
  EXPECT_EQ(sink.taken[0].batch.reading->taken, kNow - 5s);
  EXPECT_EQ(sink.taken[1].batch.reading->taken, kNow);
  EXPECT_EQ(sink.taken[2].clock_offset, Duration(90s));
  EXPECT_EQ(sink.taken[2].batch.reading->taken, kNow - 2s);
  ASSERT_EQ(sink.taken[2].batch.events.size(), 2U);
  EXPECT_EQ(sink.taken[2].batch.events[0].at, kNow - 1s);
  EXPECT_EQ(sink.taken[2].batch.events[1].at, kNow);
}

TEST_F(Telemetry, ItIsProbedAgainAndAgainButNeverTwiceAtOnce) {
  TelemetryLimits limits;
  limits.probe_interval = 1ms;
  start(limits);
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  ASSERT_TRUE(collector.next().has_welcome());
  for (std::uint64_t id = 1; id <= 5; ++id) {
    const v1::AnalyzerMessage probe = collector.next();
    ASSERT_TRUE(probe.has_clock_probe());
    EXPECT_EQ(probe.clock_probe().id(), id);
    // While it is not answered nothing but acknowledgements comes.
    sink.streams[0]->acknowledge(id);
    const v1::AnalyzerMessage answer = collector.next();
    ASSERT_TRUE(answer.has_acknowledgement());
    EXPECT_EQ(answer.acknowledgement().sequence(), id);
    ASSERT_TRUE(collector.clock_reply(id, kNow));
  }
  ASSERT_TRUE(collector.next().has_clock_probe());
  collector.clock_reply(5, kNow);
  expect_refused(collector.end(), grpc::StatusCode::INVALID_ARGUMENT, "a clock reply without a probe");
}

TEST_F(Telemetry, StoppingEndsEveryStream) {
  start();
  Collector collector(channel);
  ASSERT_TRUE(collector.hello("gpu-1"));
  ASSERT_TRUE(collector.next().has_welcome());
  server->stop();
  expect_refused(collector.end(), grpc::StatusCode::UNAVAILABLE, "stopping");
  EXPECT_TRUE(sink.wait([&] { return sink.gones == 1; }));
}

}  // namespace
}  // namespace weft::api
