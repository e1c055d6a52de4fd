// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

// One host that tells the light of two lanes and what error correction repaired; a reading a minute.
struct AgeingLink : testing::Test {
  AgeingLink() {
    auto own = std::make_shared<HostInventory>(*watching.inventory);
    for (const std::uint8_t lane : {std::uint8_t{0}, std::uint8_t{1}}) {
      HostSeries power;
      power.device = "mlx5_0";
      power.port = 1;
      power.name = "module_receive_power";
      power.lane = lane;
      power.behaviour = CounterBehaviour::kGauge;
      own->series.push_back(power);
    }
    HostSeries corrected;
    corrected.device = "mlx5_0";
    corrected.port = 1;
    corrected.name = "fec_corrected_bit_errors";
    own->series.push_back(corrected);
    first = own->series.size() - 3;
    watching.inventories[0] = own;
    watching.values[0].resize(own->series.size());
  }
  void minutes(unsigned count, const std::function<void()>& before_each = {}) {
    for (unsigned i = 0; i < count; ++i) {
      if (before_each) before_each();
      for (const std::size_t lane : {0U, 1U})
        watching.values[0][first + lane] = static_cast<std::uint64_t>(std::pow(10, decibel[lane] / 10) * 1e6);
      watching.values[0][first + 2] += static_cast<std::uint64_t>(400e9 * 60 * std::pow(10, exponent));
      watching.now += std::chrono::seconds(60);
      watching.read(0);
      watching.judge();
    }
  }
  HostWatching watching;
  std::size_t first = 0;
  double decibel[2] = {-1.5, -1.7};
  double exponent = -9;
};

TEST_F(AgeingLink, FadingLightIsToldOf) {
  minutes(30);
  EXPECT_TRUE(watching.open().empty());
  minutes(60, [&] { decibel[1] = std::max(decibel[1] - 0.1, -5.0); });
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDegraded});
  const Incident fading = watching.open().front();
  EXPECT_EQ(fading.finding.severity, Severity::kInfo);
  ASSERT_EQ(fading.finding.evidence.size(), 1U);
  EXPECT_NE(fading.finding.evidence.front().description.find("lane 1"), std::string::npos)
      << fading.finding.evidence.front().description;
  EXPECT_LT(fading.finding.evidence.front().value, -3.5) << "dBm";
  decibel[1] = -1.6;
  minutes(60);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(AgeingLink, MoreAndMoreRepairsAreToldOf) {
  minutes(30);
  minutes(60, [&] { exponent = std::min(exponent + 0.1, -4.0); });
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDegraded});
  EXPECT_EQ(watching.open().front().finding.severity, Severity::kWarning);
}

TEST_F(AgeingLink, AStepWithinTheBudgetAndAClearedCounterAreNone) {
  minutes(30);
  decibel[0] -= 0.8;
  watching.values[0][first + 2] = 0;
  minutes(60);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(AgeingLink, ADarkLaneIsNoMeasurement) {
  minutes(30);
  decibel[0] = -1000;
  minutes(40);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(AgeingLink, AnotherModuleIsLearnedAnew) {
  minutes(30);
  watching.set_up(false);
  minutes(5);
  watching.set_up(true);
  decibel[0] = decibel[1] = -5;
  minutes(60);
  EXPECT_TRUE(watching.open().empty());
}

TEST_F(AgeingLink, WhatIsKnownSurvivesANewInventory) {
  minutes(30);
  minutes(30, [&] { decibel[1] = std::max(decibel[1] - 0.15, -5.0); });
  ASSERT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDegraded});
  watching.port().firmware = "28.40";
  minutes(5);
  EXPECT_EQ(watching.kinds(), Kinds{IncidentKind::kLinkDegraded});
}

}  // namespace
}  // namespace weft::analyzer
