// SPDX-License-Identifier: Apache-2.0
#pragma once
// A subnet of two switches and two adapters in memory, and a sweeper on it.

#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <chrono>

#include "collectors/infiniband/sweeper.hpp"
#include "tests/fakes/fake_mad_port.hpp"

namespace weft::infiniband {

using fakes::FakeMadPort;

// self - left switch - right switch - host, with two cables between the switches.
class SmallSubnet : public ::testing::Test {
 protected:
  SmallSubnet() {
    self = port.add_adapter(0x100, "self mlx5_0");
    left = port.add_switch(0x200, "left", 8);
    right = port.add_switch(0x300, "right", 8);
    host = port.add_adapter(0x400, "host mlx5_0");
    port.connect(self, 1, left, 1);
    port.connect(left, 2, right, 2);
    port.connect(left, 3, right, 3);
    port.connect(right, 1, host, 1);
    options.engine = {64, 8, std::chrono::milliseconds(20), 1};
    options.service_level = 0;
    options.fabric = "test";
  }
  Sweep sweep(Sweeper& sweeper) {
    auto result = sweeper.sweep();
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : Sweep{};
  }
  static const Port& find(const Sweep& sweep, std::uint64_t guid, std::uint8_t number) {
    return sweep.topology->port(sweep.topology->find_port({{guid}, {number}}));
  }
  static bool joined(const Sweep& sweep, PortKey a, PortKey b) {
    const PortIndex index = sweep.topology->find_port(a);
    return index != kNoIndex && sweep.topology->port(index).peer != kNoIndex &&
           sweep.topology->port(index).peer == sweep.topology->find_port(b);
  }
  /// Of an adapter's port 1, or of the switch.
  Lid find_lid(std::size_t node) { return {port.port(node, port.node(node).type == 2 ? 0 : 1).lid}; }
  FakeMadPort port;
  SweeperOptions options;
  std::size_t self, left, right, host;
};

}  // namespace weft::infiniband
