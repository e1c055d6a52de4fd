// SPDX-License-Identifier: Apache-2.0
#include "fabric/adapter_faults.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace weft {
namespace {

std::string key_in(std::string_view line) {
  const DriverLine told = parse_driver_line(line);
  return told.fault ? told.fault->key + (" " + told.address) : "nothing";
}

// As kernels print them (the lines are of published reports).
TEST(AdapterFaults, ReadsLinesOfDrivers) {
  EXPECT_EQ(key_in("mlx5_core 0000:41:00.0: poll_health:471:(pid 0): device's health compromised - reached miss count"),
            "health_compromised 0000:41:00.0");
  EXPECT_EQ(key_in("mlx5_core 0000:41:00.1: temp_warn:170:(pid 0): High temperature on sensors with bit set 0 1"),
            "adapter_hot 0000:41:00.1");
  EXPECT_EQ(key_in("mlx5_core 0000:01:00.0: mlx5_pcie_event:326:(pid 165): Detected insufficient power on the PCIe "
                   "slot (27W)."),
            "slot_power 0000:01:00.0");
  EXPECT_EQ(key_in("mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature"),
            "module_hot 0000:5c:00.0");
  EXPECT_EQ(key_in("mlx5_core 0000:61:00.1: mlx5_health_try_recover:381:(pid 1): health recovery succeeded"),
            "recovered 0000:61:00.1");
  EXPECT_EQ(key_in("mlx5_core 10000:01:00.0: firmware version: 28.39.1002"), "loaded 10000:01:00.0");
  EXPECT_EQ(key_in("bnxt_en 0000:3b:00.0 eth2: Firmware reset aborted"), "reset_aborted 0000:3b:00.0");
  EXPECT_EQ(key_in("ionic 0000:24:00.0: FW heartbeat stalled at -1342169688"), "heartbeat_stalled 0000:24:00.0");
}

TEST(AdapterFaults, OtherLinesAreNothing) {
  for (const char* const line :
       {"", " ", "mlx5_core", "mlx5_core 0000:41:00.0", "mlx5_core: device's health compromised",
        "mlx5_core 0000:41:00.0: Port module event: module 0, Cable plugged",
        "nvme 0000:41:00.0: device's health compromised", "evil mlx5_core 0000:41:00.0: device's health compromised",
        "mlx5_core 0000:41:00: device's health compromised", "mlx5_core 000000000:41:00.0: device's health compromised",
        "mlx5_core ../../etc:00.0: device's health compromised"})
    EXPECT_EQ(key_in(line), "nothing") << line;
}

TEST(AdapterFaults, EachRowIsFoundByItsKey) {
  std::set<std::string> keys;
  for (const AdapterFaultRow& row : adapter_faults()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_EQ(find_adapter_fault(row.key), &row);
    EXPECT_NE(std::strlen(row.source), 0U);
    EXPECT_EQ(fault_key(fault_text(row, "2026-01-31 14:00:07 UTC", "a line")), row.key);
  }
  EXPECT_EQ(find_adapter_fault(kNoFault), nullptr);
  EXPECT_EQ(find_adapter_fault(""), nullptr);
}

}  // namespace
}  // namespace weft
