// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/sweeper/options.hpp"

#include <gtest/gtest.h>

#include "daemon/platform/runtime/child_options.hpp"

namespace weft::sweeper {
namespace {

TEST(SweeperOptions, AreUnpackedAsPackedWithoutTheFabric) {
  Options options;
  options.adapter = "mlx5_1";
  options.port = 2;
  options.node_name_map = "/etc/names";
  options.sweep.fabric = "compute";
  options.sweep.engine = {100, 4, std::chrono::milliseconds(300), 1, 0x1234'5678'9abc'def0};
  options.sweep.interval = std::chrono::seconds(2);
  options.sweep.detail_interval = std::chrono::seconds(30);
  options.sweep.service_level = std::uint8_t{3};
  options.sweep.clear_saturated_counters = true;
  options.sweep.first_epoch = 77;
  const auto bytes = runtime::pack_options(options);
  const auto unpacked = runtime::unpack_options<Options>(bytes);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_EQ(runtime::pack_options(*unpacked), bytes);
  EXPECT_EQ(unpacked->sweep.engine.timeout, std::chrono::milliseconds(300));
  EXPECT_EQ(unpacked->sweep.engine.management_key, 0x1234'5678'9abc'def0U);
  EXPECT_EQ(unpacked->sweep.service_level, 3);
  EXPECT_FALSE(unpacked->sweep.pkey_index);
  EXPECT_EQ(unpacked->sweep.first_epoch, 77U);
  EXPECT_EQ(unpacked->sweep.fabric, "fabric") << "a flag sets it";
}

TEST(SweeperOptions, ValuesOutOfBoundsAreNamed) {
  EXPECT_TRUE(Options().check());
  Options options;
  options.sweep.engine.window = 5000;
  ASSERT_FALSE(options.check());
  EXPECT_EQ(options.check().error().message, "window is 5000; it must be 1 to 4096");
  options = {};
  options.sweep.interval = std::chrono::milliseconds(9);
  ASSERT_FALSE(options.check());
  EXPECT_EQ(options.check().error().message, "interval in milliseconds is 9; it must be 10 to 3600000");
}

}  // namespace
}  // namespace weft::sweeper
