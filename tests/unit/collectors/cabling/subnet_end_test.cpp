// SPDX-License-Identifier: Apache-2.0
#include "collectors/cabling/subnet_end.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::cabling {
namespace {

std::string end(const std::string& node, const std::string& port) {
  const auto read = subnet_end({node, port});
  return read ? read->node + " : " + read->port : "none";
}

TEST(SubnetEnd, APortOfASwitchIsANumber) {
  EXPECT_EQ(end("leaf-1", "26"), "leaf-1 : 26");
  EXPECT_EQ(end("leaf-1", "Port 26"), "leaf-1 : 26");
  EXPECT_EQ(end("leaf-1", "port026"), "leaf-1 : 26");
  EXPECT_EQ(end("leaf-1", "P1"), "leaf-1 : 1");
  EXPECT_EQ(end("leaf-1", "(SW_L2_MA119) Port 254"), "leaf-1 : 254");
}

TEST(SubnetEnd, AnAdapterIsANodeOfItsHost) {
  EXPECT_EQ(end("gpu-01", "mlx5_0"), "gpu-01 mlx5_0 : 1");
  EXPECT_EQ(end("gpu-01", "HCA-1/1"), "gpu-01 HCA-1 : 1");
  EXPECT_EQ(end("gpu-01", "mlx5_0/2"), "gpu-01 mlx5_0 : 2");
  EXPECT_EQ(end("gpu-01", "mlx5_0 Port 2"), "gpu-01 mlx5_0 : 2");
  EXPECT_EQ(end("gpu-01", "gpu-01 ibp11s0f0"), "gpu-01 ibp11s0f0 : 1");
  EXPECT_EQ(end("gpu-01 mlx5_0", "Port 1"), "gpu-01 mlx5_0 : 1");
}

TEST(SubnetEnd, APortOfADirectorIsOneOfItsModules) {
  EXPECT_EQ(end("core", "Blade 16_Port 2/20"), "core/L16/U2 : 20");
  EXPECT_EQ(end("core", "Blade 03_Port 1/7"), "core/L3/U1 : 7");
  EXPECT_EQ(end("core", "Blade 3_Port 1"), "none");
}

TEST(SubnetEnd, OtherTextsAreNone) {
  for (const char* port : {"", "0", "255", "1/1/2", "Port", "Port x", "26 27", "mlx5_0/0", "mlx5_0/", "_1", "()"})
    EXPECT_EQ(end("leaf-1", port), std::string(port) == "Port" ? "leaf-1 Port : 1" : "none") << port;
}

}  // namespace
}  // namespace weft::cabling
