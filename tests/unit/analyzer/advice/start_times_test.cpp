// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/analyzer/host_watching.hpp"

namespace weft::analyzer {
namespace {

/// One host whose port goes down, for its cable's sake or because its driver is loaded again.
struct StartTimesTest : testing::Test {
  StartTimesTest() {
    watching.values[0][0] = 40;  // carrier_down
    watching.seconds(5);
  }
  void flap(bool by_start) {
    watching.set_up(false);
    ++watching.values[0][0];
    watching.seconds(2);
    if (by_start) watching.values[0][0] = 0;  // the interface is made anew
    watching.set_up(true);
    watching.seconds(20);
  }
  Advice advice() const {
    for (const Incident& incident : watching.open())
      if (incident.finding.kind == IncidentKind::kLinkFlap) return incident.finding.advice;
    return {};
  }
  HostWatching watching;
};

TEST_F(StartTimesTest, APortThatGoesDownWithItsDriverIsTheHosts) {
  for (int i = 0; i < 3; ++i) {
    watching.values[0][0] = 40;
    watching.seconds(1);
    flap(true);
  }
  const Advice told = advice();
  ASSERT_FALSE(told.suspects.empty());
  EXPECT_EQ(told.suspects[0].part, LinkPart::kHost) << told.reasons.front();
  EXPECT_TRUE(told.first.starts_with("Find out why node-0")) << told.first;
  EXPECT_TRUE(told.is_clear);
}

TEST_F(StartTimesTest, APortThatGoesDownAloneIsNot) {
  for (int i = 0; i < 3; ++i) flap(false);
  const Advice told = advice();
  ASSERT_FALSE(told.suspects.empty());
  EXPECT_EQ(told.suspects[0].part, LinkPart::kCable);
  EXPECT_TRUE(std::ranges::any_of(told.reasons, [](const std::string& reason) {
    return reason == "neither node-0 nor its adapter was started anew when the link went down";
  })) << told.reasons.front();
}

}  // namespace
}  // namespace weft::analyzer
