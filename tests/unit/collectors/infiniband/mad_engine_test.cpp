// SPDX-License-Identifier: Apache-2.0
#include "collectors/infiniband/mad_engine.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/fakes/fake_mad_port.hpp"

namespace weft::infiniband {
namespace {

using fakes::FakeMadPort;

// Asks every LID of a list for NodeInfo and remembers how each ended.
class AskLids final : public MadAsker {
 public:
  explicit AskLids(std::vector<std::uint16_t> lids) : lids_(std::move(lids)) {}
  bool next(MadRequest& request) override {
    if (next_ == lids_.size()) return false;
    request = {};
    request.address = {MadClass::kSubnetLidRouted, {lids_[next_]}, 0, 0, 0, 0};
    request.attribute = attribute::kNodeInfo;
    request.node = lids_[next_];
    request.tag = static_cast<std::uint32_t>(next_++);
    return true;
  }
  void encode(const MadRequest& request, MadBytes mad) override {
    encode_subnet_get(mad, request.attribute, 0, nullptr);
  }
  void answered(const MadRequest&, MadResult result, ConstMadBytes, TimePoint) override { ++ended[result]; }

  std::map<MadResult, int> ended;

 private:
  std::vector<std::uint16_t> lids_;
  std::size_t next_ = 0;
};

class MadEngineTest : public ::testing::Test {
 protected:
  MadEngineTest() {
    port.add_adapter(0x10, "self");
    hub = port.add_switch(0x20, "switch", 8);
    port.connect(0, 1, hub, 1);
    hub_lid = port.port(hub, 0).lid;
  }
  static std::uint64_t count(const MadEngine& engine, MadResult result) {
    return engine.results()[static_cast<std::size_t>(result)];
  }
  FakeMadPort port;
  std::size_t hub;
  std::uint16_t hub_lid;
  MadEngineOptions options{64, 8, std::chrono::milliseconds(20), 2};
};

TEST_F(MadEngineTest, EveryQuestionIsAnsweredOnceAndTheNodeIsNotFlooded) {
  MadEngine engine(port, options);
  AskLids asker(std::vector<std::uint16_t>(1000, hub_lid));
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kOk], 1000);
  EXPECT_EQ(port.requests, 1000U);
  EXPECT_LE(port.most_by_lid[hub_lid], 8U);
}

TEST_F(MadEngineTest, SilenceEndsAfterBoundedTriesAndTheNodeIsGivenUp) {
  port.node(hub).silent = true;
  MadEngine engine(port, options);
  AskLids asker(std::vector<std::uint16_t>(100, hub_lid));
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kTimeout], 100);
  EXPECT_TRUE(engine.gave_up(hub_lid));
  EXPECT_LE(port.requests, 8U * 3U + 2U) << "requests must not pile up on a dead agent";
  engine.forget_abandoned();
  port.node(hub).silent = false;
  AskLids again({hub_lid});
  ASSERT_TRUE(engine.run(again));
  EXPECT_EQ(again.ended[MadResult::kOk], 1);
}

TEST_F(MadEngineTest, OwnTimersEndWhatTheKernelNeverGivesBack) {
  port.node(hub).silent = true;
  port.answers_time_outs = false;
  MadEngine engine(port, options);
  AskLids asker({hub_lid});
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kTimeout], 1);
  EXPECT_EQ(port.requests, 3U) << "one try and two retries";
}

TEST_F(MadEngineTest, AShortReplyIsNoReply) {
  port.tamper = [](const MadAddress&, FakeMadPort::Reply&) { return std::size_t{100}; };
  MadEngine engine(port, options);
  AskLids asker({hub_lid});
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kMalformed], 1);
  EXPECT_EQ(count(engine, MadResult::kMalformed), 3U) << "it was asked again";
}

TEST_F(MadEngineTest, AWrongTransactionIsCountedAndOtherwiseIgnored) {
  port.tamper = [](const MadAddress&, FakeMadPort::Reply& mad) {
    mad[15] ^= 0xFF;
    return mad.size();
  };
  MadEngine engine(port, options);
  AskLids asker({hub_lid});
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kOk], 0);
  EXPECT_EQ(asker.ended[MadResult::kTimeout], 1);
  EXPECT_EQ(count(engine, MadResult::kUnexpected), 3U);
}

TEST_F(MadEngineTest, AnAnswerOfAnotherClassOrAttributeIsMalformed) {
  for (const std::size_t byte : {std::size_t{1}, std::size_t{17}, std::size_t{0}}) {
    port.tamper = [byte](const MadAddress&, FakeMadPort::Reply& mad) {
      mad[byte] = 0x7E;
      return mad.size();
    };
    MadEngine engine(port, options);
    AskLids asker({hub_lid});
    ASSERT_TRUE(engine.run(asker));
    EXPECT_EQ(asker.ended[MadResult::kMalformed], 1) << "byte " << byte;
  }
}

TEST_F(MadEngineTest, ALostPortEndsEverythingAtOnce) {
  port.gone = true;
  MadEngine engine(port, options);
  AskLids asker(std::vector<std::uint16_t>(50, hub_lid));
  const auto done = engine.run(asker);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
}

TEST_F(MadEngineTest, OneDeadNodeDoesNotHoldUpTheOthers) {
  const std::size_t dead = port.add_switch(0x30, "dead", 4);
  port.connect(hub, 2, dead, 1);
  port.node(dead).silent = true;
  std::vector<std::uint16_t> lids;
  for (int i = 0; i < 200; ++i) {
    lids.push_back(port.port(dead, 0).lid);
    lids.push_back(hub_lid);
  }
  MadEngine engine(port, options);
  AskLids asker(lids);
  ASSERT_TRUE(engine.run(asker));
  EXPECT_EQ(asker.ended[MadResult::kOk], 200);
  EXPECT_EQ(asker.ended[MadResult::kTimeout], 200);
}

TEST_F(MadEngineTest, TheWindowShrinksWhenNodesThatAnswerBeginToLose) {
  int replies = 0;
  port.tamper = [&replies](const MadAddress&, FakeMadPort::Reply& mad) {
    return ++replies > 500 && replies % 2 == 0 ? std::size_t{0} : mad.size();
  };
  options.per_node_outstanding = 64;
  MadEngine engine(port, options);
  AskLids good(std::vector<std::uint16_t>(500, hub_lid));
  ASSERT_TRUE(engine.run(good));
  EXPECT_EQ(engine.window(), 64U) << "all went well: the whole window is in use";
  AskLids lossy(std::vector<std::uint16_t>(30, hub_lid));
  ASSERT_TRUE(engine.run(lossy));
  EXPECT_LT(engine.window(), 64U);
}

}  // namespace
}  // namespace weft::infiniband
