// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "collectors/host/host_reader.hpp"
#include "tests/unit/collectors/reading.hpp"
#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft {
namespace {

using namespace std::chrono_literals;
using tests::SysfsTree;

constexpr TimePoint kFactsStart{std::chrono::seconds(1'000'000)};
const std::string kFunction = "devices/pci0000:00/0000:17:00.0";

std::string fact_of(const HostReading& reading, std::string_view device, std::uint8_t number, ConfigFact fact) {
  const PortFacts* const port = reading.facts ? find_facts(*reading.facts, device, number) : nullptr;
  const FactValue* const found = port ? find_fact(*port, fact) : nullptr;
  return found ? found->value : "absent";
}

HostReader fact_reader_of(const SysfsTree& tree) {
  HostReaderOptions options;
  options.sysfs_root = tree.root();
  return HostReader(options);
}

void write_function(const SysfsTree& tree) {
  tree.write_all(kFunction, {{"current_link_speed", "32.0 GT/s PCIe"},
                             {"current_link_width", "16"},
                             {"max_link_speed", "32.0 GT/s PCIe"},
                             {"max_link_width", "16"},
                             {"sriov_numvfs", "0"},
                             {"vendor", "0x15b3"},
                             {"device", "0x1021"},
                             {"subsystem_vendor", "0x15b3"},
                             {"subsystem_device", "0x0061"}});
  tree.write("class/net/ib0/mtu", "4092\n");
  tree.write("class/dmi/id/product_name", "DGXH100\n");
  tree.write("module/mlx5_core/version", "24.10-1.1.4\n");
}

TEST(FactReader, TellsWhatSysfsHas) {
  const SysfsTree tree;
  tree.add_mlx5();
  write_function(tree);
  HostReader reader = fact_reader_of(tree);
  const HostReading reading = reader.read(kFactsStart);
  ASSERT_NE(reading.facts, nullptr);
  EXPECT_EQ(reading.facts_at, kFactsStart);
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kFirmware), "28.39.1002");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kBoard), "MT_0000000838");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kDriver), "mlx5");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kDriverVersion), "24.10-1.1.4");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kPcieSpeed), "32.0 GT/s PCIe");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kPcieWidth), "16");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kVirtualFunctions), "0");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kMtu), "4092");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kPciIds), "0x15b3:0x1021 0x15b3:0x0061");
  EXPECT_EQ(fact_of(reading, "", 0, ConfigFact::kHostModel), "DGXH100");
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kPfc), "absent");
}

TEST(FactReader, WhatIsNotThereIsAbsentAndNotZero) {
  const SysfsTree tree;
  tree.add_mlx5();
  tree.write_all(kFunction,
                 {{"current_link_speed", "Unknown"}, {"current_link_width", "255"}, {"sriov_numvfs", "many"}});
  HostReader reader = fact_reader_of(tree);
  const HostReading reading = reader.read(kFactsStart);
  for (const ConfigFact fact : {ConfigFact::kPcieSpeed, ConfigFact::kPcieWidth, ConfigFact::kPcieSpeedMost,
                                ConfigFact::kVirtualFunctions, ConfigFact::kMtu, ConfigFact::kPciIds})
    EXPECT_EQ(fact_of(reading, "mlx5_0", 1, fact), "absent") << row_of(fact).name;
  EXPECT_EQ(fact_of(reading, "", 0, ConfigFact::kHostModel), "absent");
}

void write_link(const SysfsTree& tree, const std::string& function, const char* speed, const char* width,
                const char* most_speed, const char* most_width) {
  tree.write_all(function, {{"current_link_speed", speed},
                            {"current_link_width", width},
                            {"max_link_speed", most_speed},
                            {"max_link_width", most_width},
                            {"vendor", "0x8086"}});
}

/// "mlx5_0" at 0000:17:00.0 behind a switch (upstream port 15:00.0, downstream port 16:01.0) below the root port
/// 14:01.0.
const std::string kRootPort = "devices/pci0000:14/0000:14:01.0";
const std::string kUpstream = kRootPort + "/0000:15:00.0";
const std::string kDownstream = kUpstream + "/0000:16:01.0";
const std::string kEndpoint = kDownstream + "/0000:17:00.0";

void add_behind_switch(const SysfsTree& tree) {
  const std::string device = kEndpoint + "/infiniband/mlx5_0";
  tree.write_all(device, {{"node_guid", "0a7f:bc12:45ef:d23b"}, {"board_id", "MT_0000000838"}});
  tree.write_all(device + "/ports/1", {{"state", "4: ACTIVE"}, {"link_layer", "InfiniBand"}});
  tests::fs::create_directory_symlink(tree.at(kEndpoint), tree.at(device + "/device"));
  tests::fs::create_directory_symlink(tree.at(device), tree.at("class/infiniband/mlx5_0"));
  write_link(tree, kEndpoint, "32.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
  write_link(tree, kDownstream, "32.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
  write_link(tree, kUpstream, "16.0 GT/s PCIe", "8", "32.0 GT/s PCIe", "16");
  write_link(tree, kRootPort, "16.0 GT/s PCIe", "8", "16.0 GT/s PCIe", "16");
}

TEST(FactReader, TellsEachPcieLinkUpToTheRoot) {
  const SysfsTree tree;
  add_behind_switch(tree);
  HostReader reader = fact_reader_of(tree);
  EXPECT_EQ(fact_of(reader.read(kFactsStart), "mlx5_0", 1, ConfigFact::kPcieLinks),
            "0000:17:00.0 32x16/32x16/32x16 0000:15:00.0 16x8/32x16/16x16");
  // Trained again, narrower: seen at the next look.
  write_link(tree, kEndpoint, "32.0 GT/s PCIe", "4", "32.0 GT/s PCIe", "16");
  EXPECT_EQ(fact_of(reader.read(kFactsStart + 11s), "mlx5_0", 1, ConfigFact::kPcieLinks),
            "0000:17:00.0 32x4/32x16/32x16 0000:15:00.0 16x8/32x16/16x16");
  write_link(tree, kUpstream, "16.0 GT/s PCIe", "16", "32.0 GT/s PCIe", "16");
  EXPECT_EQ(fact_of(reader.read(kFactsStart + 22s), "mlx5_0", 1, ConfigFact::kPcieLinks),
            "0000:17:00.0 32x4/32x16/32x16 0000:15:00.0 16x16/32x16/16x16");
}

TEST(FactReader, APcieLinkThatIsNotKnownAtBothEndsIsAbsent) {
  const SysfsTree tree;
  add_behind_switch(tree);
  write_link(tree, kDownstream, "Unknown", "255", "Unknown", "255");
  HostReader reader = fact_reader_of(tree);
  EXPECT_EQ(fact_of(reader.read(kFactsStart), "mlx5_0", 1, ConfigFact::kPcieLinks), "0000:15:00.0 16x8/32x16/16x16");
  // A root port that QEMU made says nothing of the slot that the adapter is in.
  tree.write(kRootPort + "/vendor", "0x1b36\n");
  EXPECT_EQ(fact_of(reader.read(kFactsStart + 2h), "mlx5_0", 1, ConfigFact::kPcieLinks), "absent");
}

TEST(FactReader, ReadsAgainWhenSomethingChangedAndOnceAnHour) {
  const SysfsTree tree;
  tree.add_mlx5();
  write_function(tree);
  HostReader reader = fact_reader_of(tree);
  const auto first = reader.read(kFactsStart).facts;
  HostReading reading = reader.read(kFactsStart + 11s);
  EXPECT_EQ(reading.facts, first);
  EXPECT_EQ(reading.facts_at, kFactsStart);
  tree.write("class/net/ib0/mtu", "2044\n");
  EXPECT_EQ(fact_of(reader.read(kFactsStart + 15s), "mlx5_0", 1, ConfigFact::kMtu), "4092");
  reading = reader.read(kFactsStart + 22s);
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kMtu), "2044");
  EXPECT_EQ(reading.facts_at, kFactsStart + 22s);
  // Nothing of the quick look tells of it.
  tree.write("module/mlx5_core/version", "25.01\n");
  EXPECT_EQ(fact_of(reader.read(kFactsStart + 60s), "mlx5_0", 1, ConfigFact::kDriverVersion), "24.10-1.1.4");
  reading = reader.read(kFactsStart + 1h + 23s);
  EXPECT_EQ(fact_of(reading, "mlx5_0", 1, ConfigFact::kDriverVersion), "25.01");
  const auto kept = reading.facts;
  reading = reader.read(kFactsStart + 2h + 30s);
  EXPECT_EQ(reading.facts, kept);
  EXPECT_EQ(reading.facts_at, kFactsStart + 2h + 30s);
}

}  // namespace
}  // namespace weft
