// SPDX-License-Identifier: Apache-2.0
// What the subnet administrator tells of other weftd, and a person who resets the breaker.

#include <gmock/gmock.h>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class OtherWeftdsTest : public RemedyControllerTest {
 protected:
  OtherWeftdsTest() {
    start();
    look();
  }
  void tell(const ActingWeftds& acting, const std::string& of = "ib0") {
    controller->take_acting(of, acting, *fabric.topology());
    settle();
  }
  bool reset() {
    controller->reset_breaker("", "ann", note_status());
    settle();
    return statuses.back().has_value();
  }
  RemedyStatus status() { return look().remedy; }

  const ActingWeftds other{true, "", true, {{"ffff0b7a5d3f2468", PortGuid{0x401}}}};
};

TEST_F(OtherWeftdsTest, InterferenceTripsTheBreakerAndSaysWhatWasSeen) {
  tell({true, "", true, {}, "somebody deletes our record"});
  EXPECT_THAT(status().breaker_reason, HasSubstr("another weftd may act on fabric ib0: somebody deletes our record"));
  EXPECT_FALSE(reset());
  tell({true, "", true, {}});
  EXPECT_TRUE(reset());
}

TEST_F(OtherWeftdsTest, WhatIsToldWithEachSweepStaysTrue) {
  for (int i = 0; i < 400; ++i) {
    clock.time += 1s;
    tell(other);
  }
  EXPECT_FALSE(reset());
}

TEST_F(OtherWeftdsTest, AnAdministratorThatIsSilentHoldsNoReset) {
  tell(other);
  const ActingWeftds silent{false, "the subnet administrator does not answer", false, other.others};
  for (int i = 0; i < 400; ++i) {
    clock.time += 1s;
    tell(silent);
  }
  EXPECT_TRUE(reset());
  tell(other);
  EXPECT_TRUE(status().breaker_tripped);
}

TEST_F(OtherWeftdsTest, ASilentManagerIsToldWithTheTimeUntilItAnswers) {
  const ActingWeftds silent{false, "the subnet administrator does not answer", false, {}, {}, ManagerSign::kSilent};
  const ActingWeftds heard{true, "", true, {}, {}, ManagerSign::kHeard};
  EXPECT_TRUE(status().silent_managers.empty());
  tell(silent);
  const TimePoint since = clock.time;
  clock.time += 40s;
  tell(silent);
  EXPECT_EQ(status().silent_managers, (std::vector<SilentManager>{{"ib0", since}}));
  tell(heard);
  EXPECT_TRUE(status().silent_managers.empty());
  tell(silent);
  const TimePoint again = clock.time;
  EXPECT_EQ(status().silent_managers, (std::vector<SilentManager>{{"ib0", again}})) << "another silence";
  controller->forget_acting("ib0");
  EXPECT_TRUE(status().silent_managers.empty());
}

TEST_F(OtherWeftdsTest, AFabricThatIsWatchedNoMoreHoldsNoReset) {
  tell(other);
  tell(other, "ib1");
  controller->forget_acting("ib0");
  EXPECT_FALSE(reset());
  controller->forget_acting("ib1");
  EXPECT_TRUE(reset());
}

}  // namespace
}  // namespace weft::daemon
