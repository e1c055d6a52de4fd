// SPDX-License-Identifier: Apache-2.0
#include "analyzer/rdma/rdma_errors.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analyzer/ports/one_port.hpp"

namespace weft::analyzer {
namespace {

struct FailingPort : testing::Test {
  FailingPort() {
    one.follow(errors);
    one.read(errors, {5, 5});
  }
  std::vector<Finding> told() {
    std::vector<Finding> findings;
    errors.report(one.host, one.port(), one.now, findings);
    return findings;
  }

  OnePort one{{{.device = {}, .name = "retries_exhausted"}, {.device = {}, .name = "response_completion_error"}}};
  Thresholds thresholds;
  RdmaErrors errors{thresholds};
};

TEST_F(FailingPort, WhatWasCountedBeforeWeListenedIsNoTrouble) {
  EXPECT_TRUE(told().empty());
}

TEST_F(FailingPort, AQueuePairInErrorIsTroubleAtOnce) {
  one.read(errors, {6, 5});
  const auto findings = told();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].summary, "RDMA errors on node-0 mlx5_0 port 1: retries_exhausted");
  EXPECT_EQ(findings[0].jobs, std::vector<std::string>{"slurm:7"});
  one.now += thresholds.rdma_error_quiet;
  EXPECT_EQ(told().size(), 1U);
  one.now += std::chrono::seconds(1);
  EXPECT_TRUE(told().empty()) << "quiet for long";
}

TEST_F(FailingPort, AFailedRequestIsTroubleWhenAnotherFollows) {
  one.read(errors, {5, 6});
  EXPECT_TRUE(told().empty());
  one.read(errors, {5, 7});
  const auto findings = told();
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(findings[0].evidence.size(), 1U);
  EXPECT_EQ(findings[0].evidence[0].value, 2);
}

struct EndingJob : testing::Test {
  EndingJob() {
    one.follow(errors);
    one.read(errors, {5, 5, 5});
  }
  std::size_t told() {
    std::vector<Finding> findings;
    errors.report(one.host, one.port(), one.now, findings);
    return findings.size();
  }

  OnePort one{{{.device = {}, .name = "response_completion_error"},
               {.device = {}, .name = "response_flush"},
               {.device = {}, .name = "request_completion_error"}}};
  Thresholds thresholds;
  RdmaErrors errors{thresholds};
};

TEST_F(EndingJob, FlushesItsReceives) {
  one.read(errors, {4005, 4005, 5});
  one.read(errors, {8005, 8005, 5});
  EXPECT_EQ(told(), 0U);
  // The driver read the one a moment before the other.
  one.read(errors, {9005, 9105, 5});
  one.read(errors, {9105, 9105, 5});
  EXPECT_EQ(told(), 0U);
}

TEST_F(EndingJob, MayFailAllTheSame) {
  one.read(errors, {4005, 3995, 5});
  EXPECT_EQ(told(), 1U) << "ten more than were flushed";
}

TEST_F(EndingJob, FlushesExplainNoRequests) {
  one.read(errors, {5, 1005, 505});
  EXPECT_EQ(told(), 1U);
}

}  // namespace
}  // namespace weft::analyzer
