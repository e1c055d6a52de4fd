// SPDX-License-Identifier: Apache-2.0
// rtnetlink against the machine's own kernel.
#include <gtest/gtest.h>
#include <net/if.h>
#include <poll.h>

#include "collectors/ethernet/link_source.hpp"
#include "tests/unit/collectors/private_network.hpp"

namespace weft::ethernet {
namespace {

class LinkSourceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { usable_ = tests::enter_private_network(); }
  void SetUp() override {
    if (!usable_) GTEST_SKIP() << "no network namespace with veth can be made here";
    tests::ip("link set v1 up");
    watched_.name = "v0";
    watched_.index = if_nametoindex("v0");
    watched_.device = "v0";
    source_.watch({&watched_, 1});
    source_.enter(book_);
    values_.assign(book_.series().size(), 0);
    read_.assign(book_.series().size(), 0);
    ask();
    changes_.clear();
  }

  void ask() {
    values_.assign(values_.size(), 0);
    ValueSink sink(values_, read_);
    source_.read(sink, changes_);
  }
  /// Waits until the kernel told of at least `count` changes.
  void hear(std::size_t count) {
    pollfd waiting{source_.event_fd(), POLLIN, 0};
    while (changes_.size() < count && ::poll(&waiting, 1, 10'000) == 1) scan_again_ |= source_.take_events(changes_);
  }
  std::uint64_t value(const char* name) const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (book_.series()[i].name == name) return values_[i];
    ADD_FAILURE() << name;
    return 0;
  }

  static inline bool usable_ = false;
  LinkSource source_{"/nowhere"};
  Interface watched_;
  SeriesRegistry book_;
  std::vector<std::uint64_t> values_;
  std::vector<std::uint8_t> read_;
  std::vector<LinkChange> changes_;
  bool scan_again_ = false;
};

TEST_F(LinkSourceTest, ReadsCountsAndStates) {
  EXPECT_TRUE(source_.status().ok) << source_.status().message;
  EXPECT_TRUE(source_.states()[0].is_up());
  EXPECT_GE(value("carrier_up"), 1U);
  for (std::size_t i = 0; i < read_.size(); ++i) EXPECT_GE(read_[i], 1) << book_.series()[i].name;
}

TEST_F(LinkSourceTest, HearsOfACarrierThatGoesAndComes) {
  const std::uint64_t downs = value("carrier_down");
  ASSERT_TRUE(tests::ip("link set v1 down"));
  hear(1);
  ASSERT_EQ(changes_.size(), 1U);
  EXPECT_FALSE(changes_[0].up);
  EXPECT_FALSE(changes_[0].administrative);
  EXPECT_EQ(changes_[0].carrier_down_count, downs + 1);
  ASSERT_TRUE(tests::ip("link set v1 up"));
  hear(2);
  ASSERT_EQ(changes_.size(), 2U);
  EXPECT_TRUE(changes_[1].up);
  ask();
  EXPECT_EQ(value("carrier_down"), downs + 1);
  EXPECT_EQ(changes_.size(), 2U) << "the reading must not tell what the events told";
}

TEST_F(LinkSourceTest, FindsAFlapByItsCountsWhenTheEventsWereMissed) {
  ASSERT_TRUE(tests::ip("link set v1 down"));
  ASSERT_TRUE(tests::ip("link set v1 up"));
  ask();
  // However many messages there were, the carrier went and came back.
  ASSERT_GE(changes_.size(), 1U);
  hear(2);
  EXPECT_FALSE(changes_.front().up);
  EXPECT_TRUE(changes_.back().up);
}

TEST_F(LinkSourceTest, KnowsWhoSetTheInterfaceDown) {
  ASSERT_TRUE(tests::ip("link set v0 down"));
  hear(1);
  ASSERT_GE(changes_.size(), 1U);
  EXPECT_TRUE(changes_[0].administrative);
  EXPECT_FALSE(source_.states()[0].administratively_up);
  ASSERT_TRUE(tests::ip("link set v0 up"));
  hear(2);
}

TEST_F(LinkSourceTest, WantsAScanWhenAnInterfaceIsRenamedOrGone) {
  source_.take_events(changes_);
  ASSERT_TRUE(tests::ip("link set v0 down"));
  ASSERT_TRUE(tests::ip("link set v0 name v2"));
  bool scan_again = false;
  pollfd waiting{source_.event_fd(), POLLIN, 0};
  while (!scan_again && ::poll(&waiting, 1, 10'000) == 1) scan_again = source_.take_events(changes_);
  EXPECT_TRUE(scan_again);
  ASSERT_TRUE(tests::ip("link set v2 name v0"));
  ASSERT_TRUE(tests::ip("link set v0 up"));
  while (::poll(&waiting, 1, 100) == 1) source_.take_events(changes_);
  ASSERT_TRUE(tests::ip("link del v0"));
  scan_again = false;
  while (!scan_again && ::poll(&waiting, 1, 10'000) == 1) scan_again = source_.take_events(changes_);
  EXPECT_TRUE(scan_again);
  ASSERT_FALSE(changes_.empty());
  EXPECT_TRUE(changes_.back().removed);
  EXPECT_FALSE(changes_.back().administrative);
  ask();
  EXPECT_FALSE(source_.states()[0].known);
  usable_ = tests::ip("link add v0 type veth peer name v1") && tests::ip("link set v0 up");
}

}  // namespace
}  // namespace weft::ethernet
