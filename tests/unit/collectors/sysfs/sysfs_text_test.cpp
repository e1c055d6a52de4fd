// SPDX-License-Identifier: Apache-2.0
#include "collectors/sysfs/sysfs_text.hpp"

#include <gtest/gtest.h>

namespace weft::sysfs {
namespace {

TEST(SysfsText, ReadsCounters) {
  EXPECT_EQ(parse_counter("12345\n"), 12345U);
  EXPECT_EQ(parse_counter("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_counter("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_counter("N/A (no PMA)\n"), std::nullopt);
  EXPECT_EQ(parse_counter(""), std::nullopt);
  EXPECT_EQ(parse_counter("\n"), std::nullopt);
  EXPECT_EQ(parse_counter("-1"), std::nullopt);
  EXPECT_EQ(parse_counter("12 34"), std::nullopt);
}

TEST(SysfsText, ReadsStates) {
  EXPECT_EQ(parse_numbered("5: ACTIVE_DEFER\n"), 5U);
  EXPECT_EQ(parse_numbered("ACTIVE"), std::nullopt);
  EXPECT_EQ(parse_numbered(": ACTIVE"), std::nullopt);
  EXPECT_EQ(parse_numbered(""), std::nullopt);
  EXPECT_EQ(parse_port_state("4: ACTIVE\n"), PortState::kActive);
  EXPECT_EQ(parse_port_state("1: DOWN"), PortState::kDown);
  EXPECT_EQ(parse_port_state("5: ACTIVE_DEFER"), PortState::kUnknown);
  EXPECT_EQ(parse_port_state(""), PortState::kUnknown);
  EXPECT_EQ(parse_physical_state("5: LinkUp\n"), PortPhysicalState::kLinkUp);
  EXPECT_EQ(parse_physical_state("3: Disabled"), PortPhysicalState::kDisabled);
  EXPECT_EQ(parse_physical_state("9: <unknown>"), PortPhysicalState::kUnknown);
  EXPECT_EQ(parse_link_layer("Ethernet\n"), LinkLayer::kEthernet);
  EXPECT_EQ(parse_link_layer("Unknown"), LinkLayer::kUnknown);
}

TEST(SysfsText, ReadsRates) {
  EXPECT_EQ(parse_rate("100 Gb/sec (4X EDR)\n"), 100'000'000'000U);
  EXPECT_EQ(parse_rate("2.5 Gb/sec (1X SDR)"), 2'500'000'000U);
  EXPECT_EQ(parse_rate("800 Gb/sec (4X XDR)"), 800'000'000'000U);
  EXPECT_EQ(parse_rate("fast"), 0U);
  EXPECT_EQ(parse_rate("99999999999999 Gb/sec"), 0U);
  EXPECT_EQ(parse_rate("2. Gb/sec"), 0U);
}

TEST(SysfsText, ReadsIdentities) {
  EXPECT_EQ(parse_gid("fe80:0000:0000:0000:0a7f:bc12:45ef:d23b\n", false), (PortGuid{0x0a7fbc1245efd23b}));
  EXPECT_EQ(parse_gid("fec0:0000:0000:0001:0a7f:bc12:45ef:d23b", false), (PortGuid{0x0a7fbc1245efd23b}));
  EXPECT_EQ(parse_gid("0000:0000:0000:0000:0000:ffff:0a00:0001", true), PortGuid{});
  EXPECT_EQ(parse_gid("fe80::1", false), PortGuid{});
  EXPECT_EQ(parse_gid("fe80-0000-0000-0000-0a7f-bc12-45ef-d23b", false), PortGuid{});
  EXPECT_EQ(parse_node_guid("0a7f:bc12:45ef:d23b"), (NodeGuid{0x0a7fbc1245efd23b}));
  EXPECT_EQ(parse_lid("0x1a\n"), (Lid{0x1a}));
  EXPECT_EQ(parse_lid("26"), Lid{});
  EXPECT_EQ(parse_lid("0x10000"), Lid{});
}

TEST(SysfsText, KnowsPciAddresses) {
  EXPECT_TRUE(is_pci_address("0000:17:00.0"));
  EXPECT_TRUE(is_pci_address("10000:e1:1f.7"));
  EXPECT_FALSE(is_pci_address("17:00.0"));
  EXPECT_FALSE(is_pci_address("pci0000:00"));
  EXPECT_FALSE(is_pci_address("mlx5_core.sf.2"));
  EXPECT_FALSE(is_pci_address(""));
}

}  // namespace
}  // namespace weft::sysfs
