// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/adapter_source.hpp"

#include <gtest/gtest.h>

#include "collectors/host/host_reader.hpp"
#include "tests/unit/collectors/reading.hpp"
#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft {
namespace {

using namespace std::chrono_literals;
using tests::SysfsTree;

constexpr TimePoint kAdapterStart{std::chrono::seconds(1'000'000)};
const std::string kAdapterFunction = "devices/pci0000:16/0000:16:01.0/0000:17:00.0";
const std::string kAdapterBridge = "devices/pci0000:16/0000:16:01.0";

/// As kernels print them: a line for each kind of error, and the total.
std::string aer_text(const char* total, int count) {
  return "RxErr " + std::to_string(count) + "\nBadTLP 0\nBadDLLP 0\n" + total + ' ' + std::to_string(count) + '\n';
}

struct AdapterTree : SysfsTree {
  AdapterTree() {
    const std::string device = kAdapterFunction + "/infiniband/mlx5_0";
    write_all(device, {{"node_guid", "0a7f:bc12:45ef:d23b"}, {"board_id", "MT_0000000838"}});
    write_all(device + "/ports/1", {{"state", "4: ACTIVE"}, {"link_layer", "InfiniBand"}});
    tests::fs::create_directory_symlink(at(kAdapterFunction), at(device + "/device"));
    tests::fs::create_directory_symlink(at(device), at("class/infiniband/mlx5_0"));
    write(kAdapterFunction + "/aer_dev_correctable", aer_text("TOTAL_ERR_COR", 3));
    write(kAdapterFunction + "/aer_dev_nonfatal", aer_text("TOTAL_ERR_NONFATAL", 0));
    write(kAdapterBridge + "/aer_dev_correctable", aer_text("TOTAL_ERR_COR", 40));
    write_all(kAdapterFunction + "/hwmon/hwmon3", {{"temp1_input", "61500"}, {"temp1_crit", "105000"}});
    write_all(kAdapterFunction + "/hwmon/hwmon3", {{"temp2_input", "45000"}});
    options.sysfs_root = root();
    reader.emplace(options);
  }
  static std::optional<std::uint64_t> value(const HostReading& reading, std::string_view name) {
    return tests::value_of(reading, {"mlx5_0", 0, name});
  }
  std::string fact(const HostReading& reading, ConfigFact which) const {
    const PortFacts* const port = find_facts(*reading.facts, "mlx5_0", 1);
    const FactValue* const found = port ? find_fact(*port, which) : nullptr;
    return found ? found->value : "absent";
  }

  HostReaderOptions options;
  std::optional<HostReader> reader;
};

TEST(AdapterSource, AddsUpTheErrorsOfBothEnds) {
  AdapterTree tree;
  tree.reader->read(kAdapterStart);
  HostReading reading = tree.reader->read(kAdapterStart + 1s);
  EXPECT_EQ(tree.value(reading, "pcie_correctable_errors"), 43U);
  EXPECT_EQ(tree.value(reading, "pcie_nonfatal_errors"), 0U) << "the adapter alone counts them";
  EXPECT_EQ(tree.value(reading, "pcie_fatal_errors"), std::nullopt) << "nobody does";
  EXPECT_EQ(tree.value(reading, "adapter_temperature"), 61'500U) << "the chip's";
  EXPECT_EQ(tree.fact(reading, ConfigFact::kAdapterTemperatureLimits), "- - - 105");
  tree.write(kAdapterBridge + "/aer_dev_correctable", aer_text("TOTAL_ERR_COR", 50));
  tree.write(kAdapterFunction + "/hwmon/hwmon3/temp1_input", "-500\n");
  reading = tree.reader->read(kAdapterStart + 5s);
  EXPECT_EQ(tree.value(reading, "pcie_correctable_errors"), 43U) << "firmware is not asked each second";
  reading = tree.reader->read(kAdapterStart + 12s);
  EXPECT_EQ(tree.value(reading, "pcie_correctable_errors"), 53U);
  EXPECT_EQ(static_cast<std::int64_t>(*tree.value(reading, "adapter_temperature")), -500);
}

TEST(AdapterSource, WhatCannotBeReadIsAbsent) {
  AdapterTree tree;
  tree.reader->read(kAdapterStart);
  tree.write(kAdapterFunction + "/aer_dev_correctable", "RxErr 3\n");
  tree.write(kAdapterFunction + "/hwmon/hwmon3/temp1_input", "255000\n");
  const HostReading reading = tree.reader->read(kAdapterStart + 12s);
  EXPECT_EQ(tree.value(reading, "pcie_correctable_errors"), std::nullopt) << "one of two parts is missing";
  EXPECT_EQ(tree.value(reading, "adapter_temperature"), std::nullopt);
}

TEST(AdapterSource, TheKernelsLogIsAFactOfTheFunction) {
  AdapterTree tree;
  tree.options.kernel_log_path = tree.at("kmsg").string();
  tree.reader.emplace(tree.options);
  EXPECT_EQ(tree.fact(tree.reader->read(kAdapterStart), ConfigFact::kKernelFault), "absent") << "there is no log";
  tree.write("kmsg", "6,1,1,-;Linux version\n");
  HostReading reading = tree.reader->read(kAdapterStart + 2h);
  EXPECT_EQ(tree.fact(reading, ConfigFact::kKernelFault), "none");
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch());
  std::ofstream(tree.at("kmsg"), std::ios::app)
      << "3,2," << now.count() << ",-;mlx5_core 0000:17:00.0: device's health compromised\n";
  reading = tree.reader->read(kAdapterStart + 2h + 1s);
  EXPECT_TRUE(tree.fact(reading, ConfigFact::kKernelFault).starts_with("health_compromised 1970-01-12 "))
      << tree.fact(reading, ConfigFact::kKernelFault);
}

}  // namespace
}  // namespace weft
