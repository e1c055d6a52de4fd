// SPDX-License-Identifier: Apache-2.0
#include "collectors/rdma/kernel_files.hpp"

#include <gtest/gtest.h>

#include "tests/unit/collectors/sysfs_tree.hpp"

namespace weft::rdma {
namespace {

TEST(KernelFiles, AreReadUnderTheirOwnNames) {
  const tests::SysfsTree tree;
  const tests::fs::path port = tree.add_mlx5();
  tree.write(port / "state", "1: DOWN\n");
  tree.write(port / "counters_ext/port_rcv_data_64", "12\n");
  const std::vector<DeviceFiles> devices = read_kernel_files(tree.root());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].name, "mlx5_0");
  EXPECT_EQ(devices[0].board_id, "MT_0000000838");
  EXPECT_EQ(devices[0].firmware, "28.39.1002");
  EXPECT_EQ(devices[0].device_type, "MT4129");
  ASSERT_EQ(devices[0].ports.size(), 1U);
  const PortFiles& files = devices[0].ports[0];
  EXPECT_EQ(files.number, 1);
  EXPECT_EQ(files.state, 1U);
  EXPECT_EQ(files.physical_state, 5U);
  EXPECT_EQ(files.rate_bits_per_second, 400'000'000'000U) << "as the kernel has it, of a port that is down too";
  EXPECT_EQ(files.counters.at("port_xmit_data"), 1000U) << "words, as they stand there";
  EXPECT_EQ(files.counters.at("link_downed"), 255U);
  EXPECT_FALSE(files.counters.contains("symbol_error")) << "N/A is no number";
  EXPECT_FALSE(files.counters.contains("port_rcv_errors"));
  EXPECT_EQ(files.counters_ext.at("port_rcv_data_64"), 12U);
  EXPECT_EQ(files.hw_counters.at("rx_read_requests"), 77U);
}

TEST(KernelFiles, WhatIsNotThereIsAbsent) {
  const tests::SysfsTree tree;
  EXPECT_TRUE(read_kernel_files(tree.root()).empty());
  EXPECT_TRUE(read_kernel_files(tree.root() + "/nowhere").empty());
  const tests::fs::path device = tree.add_device("", "rxe0");
  for (const char* number : {"1", "10", "2", "999", "x"})
    tests::fs::create_directories(tree.at(device / "ports" / number));
  const std::vector<DeviceFiles> devices = read_kernel_files(tree.root());
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].firmware, "");
  ASSERT_EQ(devices[0].ports.size(), 3U);
  EXPECT_EQ(devices[0].ports[1].number, 2) << "by number, not by text";
  EXPECT_FALSE(devices[0].ports[0].state);
  EXPECT_FALSE(devices[0].ports[0].rate_bits_per_second);
  EXPECT_TRUE(devices[0].ports[0].counters.empty());
}

}  // namespace
}  // namespace weft::rdma
