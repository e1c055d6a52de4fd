// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ports/host_stalls.hpp"

#include <gtest/gtest.h>

#include "analyzer/ports/describe.hpp"
#include "tests/unit/analyzer/ports/one_port.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

struct StalledHost : testing::Test {
  StalledHost() { one.follow(stalls); }
  Finding told() const {
    Finding finding = make_finding(IncidentKind::kSlowReceiver, Severity::kWarning, entity_of(one.host, one.port()));
    stalls.add(one.port(), one.now, finding);
    return finding;
  }

  OnePort one{{{.device = {}, .name = "pcie_write_stall", .behaviour = CounterBehaviour::kGauge},
               {.device = {}, .name = "out_of_buffer"}}};
  Thresholds thresholds;
  HostStalls stalls{thresholds};
};

TEST_F(StalledHost, AShareOfASecondIsAGaugeInPercent) {
  one.read(stalls, {1, 0});
  EXPECT_FALSE(stalls.is_stalled(one.port(), one.now)) << "less than is of interest";
  one.read(stalls, {60, 0});
  one.read(stalls, {40, 0});
  EXPECT_TRUE(stalls.is_stalled(one.port(), one.now));
  const Finding finding = told();
  ASSERT_EQ(finding.evidence.size(), 1U);
  EXPECT_EQ(finding.evidence[0].signal, "pcie_write_stall");
  EXPECT_DOUBLE_EQ(finding.evidence[0].value, 0.6) << "the worst";
  EXPECT_EQ(finding.evidence[0].window, 1s);
}

TEST_F(StalledHost, DroppedPacketsAreAddedUp) {
  one.read(stalls, {0, 100});
  EXPECT_TRUE(told().evidence.empty()) << "nobody knows since when";
  one.read(stalls, {0, 107});
  one.read(stalls, {0, 110});
  const Finding finding = told();
  ASSERT_EQ(finding.evidence.size(), 1U);
  EXPECT_EQ(finding.evidence[0].value, 10);
  EXPECT_EQ(finding.evidence[0].unit, "packets");
  EXPECT_FALSE(stalls.is_stalled(one.port(), one.now)) << "that is the application";
}

TEST_F(StalledHost, WhatWasNotSeenForHalfAMinuteIsOver) {
  one.read(stalls, {90, 0});
  one.now += 31s;
  EXPECT_FALSE(stalls.is_stalled(one.port(), one.now));
  one.read(stalls, {50, 0});
  EXPECT_DOUBLE_EQ(told().evidence.at(0).value, 0.5);
}

}  // namespace
}  // namespace weft::analyzer
