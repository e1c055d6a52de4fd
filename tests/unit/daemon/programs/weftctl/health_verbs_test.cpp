// SPDX-License-Identifier: Apache-2.0
// weftctl's verbs about health: their exit status is what a script starts a job by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/programs/weftctl/verbs_fixture.hpp"

namespace weft::ctl {
namespace {

using api::make_health;
using api::make_snapshot;

class HealthVerbs : public Verbs {
 protected:
  void publish(HealthVerdict verdict, RecommendedAction action) {
    NodeHealth of = make_health("host-1", 0x11, verdict);
    of.action = action;
    publication.publish(make_snapshot(++revision, {fabric.build()}, {}, {of, healthy}));
  }
  api::SmallFabric fabric;
  NodeHealth healthy = make_health("host-2", 0x12, HealthVerdict::kHealthy);
  std::uint64_t revision = 0;
};

TEST_F(HealthVerbs, OnlyAHostThatMayTakeJobsIsGoodNews) {
  const auto exit_of = [this](HealthVerdict verdict, RecommendedAction action) {
    publish(verdict, action);
    std::ostringstream out;
    const Exit one =
        show_health(Session{*client, out, false, true, false, api::kNow}, std::vector<std::string>{"host-1"});
    const Exit both =
        show_health(Session{*client, out, false, true, false, api::kNow}, std::vector<std::string>{"host-1", "host-2"});
    EXPECT_EQ(one, both);
    return one;
  };
  EXPECT_EQ(exit_of(HealthVerdict::kHealthy, RecommendedAction::kNone), Exit::kGood);
  EXPECT_EQ(exit_of(HealthVerdict::kHealthy, RecommendedAction::kWatch), Exit::kGood);
  EXPECT_EQ(exit_of(HealthVerdict::kHealthy, RecommendedAction::kAvoidNewJobs), Exit::kBadNews)
      << "maintenance, or drained by Weft";
  EXPECT_EQ(exit_of(HealthVerdict::kHealthy, RecommendedAction::kDrain), Exit::kBadNews);
  EXPECT_EQ(exit_of(HealthVerdict::kDegraded, RecommendedAction::kWatch), Exit::kBadNews);
  EXPECT_EQ(exit_of(HealthVerdict::kUnknown, RecommendedAction::kNone), Exit::kBadNews);
}

TEST_F(HealthVerbs, SoIsOnlyAJobWhoseHostsMayTakeIt) {
  publish(HealthVerdict::kHealthy, RecommendedAction::kNone);
  const std::vector<std::string> nodes{"host-1"};
  EXPECT_THAT(say(Exit::kGood, show_job_health, std::string("slurm:7"), nodes),
              ::testing::HasSubstr("HEALTHY, NONE. 1 node, "));
  EXPECT_THAT(say(Exit::kGood, show_job_health, std::string("slurm:7"), std::vector<std::string>{"host-1", "host-2"}),
              ::testing::HasSubstr("HEALTHY, NONE. 2 nodes, "));
  publish(HealthVerdict::kHealthy, RecommendedAction::kAvoidNewJobs);
  EXPECT_THAT(say(Exit::kBadNews, show_job_health, std::string("slurm:7"), nodes),
              ::testing::HasSubstr("HEALTHY, AVOID_NEW_JOBS"));
}

}  // namespace
}  // namespace weft::ctl
