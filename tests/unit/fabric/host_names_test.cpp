// SPDX-License-Identifier: Apache-2.0
#include "fabric/host_names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(HostNames, ShortAndQualifiedAreTheSameHostUnlessTheirDomainsDiffer) {
  EXPECT_TRUE(same_host("dgx-07", "dgx-07"));
  EXPECT_TRUE(same_host("DGX-07", "dgx-07.example.org"));
  EXPECT_TRUE(same_host("dgx-07.example.org", "dgx-07"));
  EXPECT_FALSE(same_host("dgx-07.example.org", "dgx-07.example.com"));
  EXPECT_FALSE(same_host("dgx-07", "dgx-070"));
  EXPECT_FALSE(same_host("", ""));
  EXPECT_FALSE(same_host("", ".example.org"));
}

TEST(HostNames, ANodeOfAShortNameMayBeAnotherHosts) {
  const auto other = [](std::string name, std::string hostname, std::string_view host,
                        std::vector<std::string> others) {
    const std::array names{std::move(name), std::move(hostname)};
    return std::string(first_other_host(names, host, others));
  };
  EXPECT_EQ(other("n1", "n1", "n1.beta", {"n1.alpha"}), "n1.alpha");
  EXPECT_EQ(other("N1.Beta", "n1", "n1.beta", {"n1.alpha"}), "") << "its full name says it";
  EXPECT_EQ(other("cn7", "n1.beta", "n1.beta", {"n1.alpha"}), "");
  EXPECT_EQ(other("n1.alpha", "n1", "n1.beta", {"n1.alpha"}), "n1.alpha")
      << "the other's node answers to the short name";
  EXPECT_EQ(other("n1", "", "n1", {"n1.alpha", "n1.beta"}), "n1.alpha");
  EXPECT_EQ(other("n1", "n1", "n1.beta", {}), "");
}

TEST(HostNames, AMakersDescriptionIsNobodysName) {
  for (const char* nobody :
       {"MT4123 ConnectX6   Mellanox Technologies", "MT25408 ConnectX Mellanox Technologies", "Mellanox Technologies",
        "NVIDIA Corporation adapter", "localhost mlx5_0", "localhost.localdomain HCA-1", "(none) mlx5_0"})
    EXPECT_TRUE(is_nobodys_description(nobody)) << nobody;
  for (const char* host : {"gpu-0017 mlx5_0", "MT4123 mlx5_0", "localhost7 mlx5_0", "mt-login HCA-1", ""})
    EXPECT_FALSE(is_nobodys_description(host)) << host;
}

}  // namespace
}  // namespace weft
