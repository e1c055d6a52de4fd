// SPDX-License-Identifier: Apache-2.0
// For how long STRAGGLER waits: for readings before it judges, and for a second sign before it clears a host.
#include <gtest/gtest.h>

#include "tests/unit/analyzer/stragglers/training_job.hpp"

namespace weft::analyzer {
namespace {

// What is older than one and a half intervals is taken to be heard of. But that a silence is over is told by the next
// reading only, so that a cohort is judged after twice that: else the slow host's silence comes when it was judged.
TEST(StragglerPatience, IsTwiceWhatAReadingTakesBecauseTheNextOneEndsASilence) {
  TrainingJob job(16);
  job.members[5].interval = 3;
  job.computing = [](unsigned member, unsigned iteration) { return member == 5 && iteration >= 5 ? 14.0 : 8.0; };
  job.run(50);
  EXPECT_TRUE(job.blamed.empty()) << "nobody is slow yet";
  job.run(100);
  const auto open = job.open();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].finding.kind, IncidentKind::kStraggler);
  EXPECT_EQ(open[0].finding.cause.host, "node-5");
}

// A transfer that had just begun when it was read looks like waiting for somebody else.
TEST(StragglerPatience, LastsUntilAHostHasWaitedTwice) {
  TrainingJob job(16);
  job.computing = [](unsigned member, unsigned iteration) {
    const bool is_other = iteration % 3 == 0;  // each time another one
    const unsigned late = is_other ? 6 + iteration / 3 % 10 : 5;
    return iteration >= 10 && member == late ? 3.0 : 1.5;
  };
  job.run(100);
  ASSERT_FALSE(job.blamed.empty()) << "it was late twice, waited once, was late twice";
  EXPECT_EQ(job.blamed[0], "node-5 mlx5_0 port 1");
}

// Who is waited for a hundred seconds, once in a few minutes, writes a checkpoint: in all iterations between it is not
// late.
TEST(StragglerPatience, EndsBetweenLongPauses) {
  TrainingJob job(16);
  job.computing = [](unsigned member, unsigned iteration) { return member == 5 && iteration % 60 == 30 ? 100.0 : 1.5; };
  job.run(1500);
  EXPECT_TRUE(job.blamed.empty());
}

}  // namespace
}  // namespace weft::analyzer
