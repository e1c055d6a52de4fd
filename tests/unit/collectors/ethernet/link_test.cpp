// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "collectors/ethernet/link_message.hpp"
#include "collectors/ethernet/link_tracker.hpp"
#include "tests/unit/collectors/netlink_message.hpp"

namespace weft::ethernet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::MessageBytes;

ifinfomsg link_header(int index, unsigned flags, unsigned char family = AF_UNSPEC) {
  ifinfomsg header{};
  header.ifi_family = family;
  header.ifi_index = index;
  header.ifi_flags = flags;
  return header;
}

TEST(LinkMessage, ReadsWhatTheKernelSays) {
  rtnl_link_stats64 statistics{};
  statistics.rx_bytes = 1;
  statistics.tx_bytes = 2;
  statistics.rx_crc_errors = 3;
  MessageBytes bytes;
  bytes.header(link_header(7, IFF_UP))
      .text(IFLA_IFNAME, "eth2")
      .number<std::uint8_t>(IFLA_CARRIER, 1)
      .number<std::uint32_t>(IFLA_CARRIER_UP_COUNT, 5)
      .number<std::uint32_t>(IFLA_CARRIER_DOWN_COUNT, 4)
      .attribute(IFLA_STATS64, &statistics, sizeof(statistics));
  const auto message = parse_link_message(bytes);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->index, 7U);
  EXPECT_EQ(message->name, "eth2");
  EXPECT_TRUE(message->is_up());
  EXPECT_EQ(message->carrier_up_count, 5U);
  EXPECT_EQ(message->carrier_down_count, 4U);
  EXPECT_EQ(message->statistics->transmit_bytes, 2U);
  EXPECT_EQ(message->statistics->receive_crc_errors, 3U);
}

TEST(LinkMessage, TakesShortAndForeignMessagesForNone) {
  EXPECT_FALSE(parse_link_message({}));
  EXPECT_FALSE(parse_link_message(MessageBytes().header(link_header(0, IFF_UP))));
  EXPECT_FALSE(parse_link_message(MessageBytes().header(link_header(3, IFF_UP, AF_BRIDGE))));
  MessageBytes odd;
  odd.header(link_header(3, IFF_UP))
      .number<std::uint64_t>(IFLA_CARRIER_DOWN_COUNT, 1)
      .number<std::uint8_t>(IFLA_STATS64, 1);
  const auto message = parse_link_message(odd);
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->carrier_down_count);
  EXPECT_FALSE(message->statistics);
}

LinkMessage link(bool up, std::uint32_t ups, std::uint32_t downs, bool administratively_up = true) {
  LinkMessage message;
  message.index = 7;
  message.administratively_up = administratively_up;
  message.carrier = up;
  message.carrier_up_count = ups;
  message.carrier_down_count = downs;
  return message;
}

std::vector<LinkChange> changes_of(std::initializer_list<LinkMessage> messages) {
  LinkTracker tracker;
  std::vector<LinkChange> changes;
  for (const LinkMessage& message : messages) tracker.take(message, changes);
  return changes;
}

TEST(LinkTracker, TellsOfChangesOnly) {
  EXPECT_THAT(changes_of({link(true, 1, 0), link(true, 1, 0)}), IsEmpty());
  EXPECT_THAT(changes_of({link(true, 1, 0), link(false, 1, 1), link(true, 2, 1)}),
              ElementsAre(LinkChange{7, false, false, 1, 1}, LinkChange{7, true, false, 2, 1}));
}

TEST(LinkTracker, SeesAFlapThatNoMessageTold) {
  EXPECT_THAT(changes_of({link(true, 1, 0), link(true, 2, 1)}),
              ElementsAre(LinkChange{7, false, false, 1, 1}, LinkChange{7, true, false, 2, 1}));
  EXPECT_THAT(changes_of({link(false, 1, 1), link(false, 2, 2)}),
              ElementsAre(LinkChange{7, true, false, 2, 1}, LinkChange{7, false, false, 2, 2}));
}

TEST(LinkTracker, TellsWhenSomebodySetTheInterfaceDown) {
  EXPECT_THAT(changes_of({link(true, 1, 0), link(false, 1, 1, false), link(true, 2, 1)}),
              ElementsAre(LinkChange{7, false, true, 1, 1}, LinkChange{7, true, true, 2, 1}));
  // Nothing happened to the link of an interface without a carrier.
  EXPECT_THAT(changes_of({link(false, 0, 0), link(false, 0, 0, false)}), IsEmpty());
}

TEST(LinkTracker, TellsOfARemovalThatLooksLikeSomebodysWill) {
  LinkTracker tracker;
  std::vector<LinkChange> changes;
  tracker.take(link(true, 1, 0), changes);
  tracker.take(link(false, 1, 0, false), changes);
  tracker.settle();
  tracker.remove(7, changes);
  EXPECT_THAT(changes, ElementsAre(LinkChange{7, false, true, 1, 0}, LinkChange{7, false, false, 1, 0, true}));
  // One that was set down before is missed by nobody, nor is one that had no carrier.
  tracker.take(link(true, 1, 0), changes);
  tracker.take(link(false, 1, 0, false), changes);
  tracker.settle();
  tracker.settle();
  changes.clear();
  tracker.remove(7, changes);
  tracker.take(link(false, 1, 1), changes);
  tracker.take(link(false, 1, 1, false), changes);
  tracker.remove(7, changes);
  EXPECT_THAT(changes, IsEmpty());
}

TEST(LinkTracker, TakesAnIndexThatIsUsedAgainForAnotherLink) {
  LinkTracker tracker;
  std::vector<LinkChange> changes;
  tracker.take(link(true, 9, 8), changes);
  tracker.forget(7);
  tracker.take(link(false, 0, 0), changes);
  EXPECT_THAT(changes, IsEmpty());
}

}  // namespace
}  // namespace weft::ethernet
