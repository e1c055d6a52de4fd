// SPDX-License-Identifier: Apache-2.0
#include "api/convert/acceptance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/small_fabric.hpp"

namespace weft::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Acceptances : ::testing::Test {
  Acceptances() : fabric(2), snapshot(make_snapshot(1, {fabric.build()})) {}
  Error refusal(const v1::StartAcceptanceRequest& request) const {
    const auto run = wanted_acceptance(*snapshot, request);
    EXPECT_FALSE(run);
    return run ? Error{ErrorCode::kInternal, ""} : run.error();
  }
  void add_runs(int count) {
    AcceptanceList runs;
    for (int i = 1; i <= count; ++i) {
      AcceptanceRun run;
      run.id = static_cast<std::uint64_t>(i);
      run.targets = {{AcceptanceTargetKind::kHost, "gpu-" + std::to_string(i), {}}};
      run.started = kNow;
      run.until = kNow + std::chrono::hours(2);
      run.length = std::chrono::hours(2);
      if (i % 2 == 0) {
        run.ended = run.until;
        AcceptanceReport report;
        report.verdict = AcceptanceVerdict::kFail;
        report.made = run.ended;
        AcceptanceCheck& check = report.checks.emplace_back();
        check.kind = AcceptanceKind::kFec;
        check.verdict = AcceptanceVerdict::kFail;
        report.checks.back().ports.push_back({AcceptanceVerdict::kFail, "leaf-1 port 1", "", "9 lost"});
        report.hosts = {{"gpu-2", AcceptanceVerdict::kFail}};
        run.report = std::make_shared<const AcceptanceReport>(report);
      }
      runs.push_back(std::make_shared<const AcceptanceRun>(std::move(run)));
    }
    snapshot->acceptances = std::make_shared<const AcceptanceList>(std::move(runs));
  }
  SmallFabric fabric;
  std::shared_ptr<Snapshot> snapshot;
};

TEST_F(Acceptances, HostsSwitchesAndLinksAreLookedUpOnceEach) {
  v1::StartAcceptanceRequest request;
  request.add_hosts("host-1");
  request.add_hosts("host-1");
  request.add_hosts("host-new");  // a rack that is not cabled yet
  request.add_switches("leaf-1");
  request.add_switches(to_string(NodeGuid{kLeaf}));
  request.add_links("leaf-1 port 1");
  request.add_links("leaf-1:1");
  request.set_ber_limit(1e-14);
  request.mutable_length()->set_seconds(7200);
  const auto run = wanted_acceptance(*snapshot, request);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(
      run->targets,
      ElementsAre(AcceptanceTarget{AcceptanceTargetKind::kHost, "host-1", {}},
                  AcceptanceTarget{AcceptanceTargetKind::kHost, "host-new", {}},
                  AcceptanceTarget{AcceptanceTargetKind::kSwitch, "leaf-1", {NodeGuid{kLeaf}, {}}},
                  AcceptanceTarget{AcceptanceTargetKind::kLink, "leaf-1 port 1", {NodeGuid{kLeaf}, PortNum{1}}}));
  EXPECT_EQ(run->length, std::chrono::hours(2));
  EXPECT_EQ(run->ber_limit, 1e-14);
  EXPECT_TRUE(wanted_acceptance(*snapshot, {})->targets.empty()) << "everything";
}

TEST_F(Acceptances, WhatIsNotThereAndWhatIsNoNameIsRefused) {
  v1::StartAcceptanceRequest request;
  request.add_switches("leaf-9");
  EXPECT_EQ(refusal(request).code, ErrorCode::kNotFound);
  EXPECT_THAT(refusal(request).message, HasSubstr("leaf-9"));
  request.set_switches(0, "host-1 mlx5_0");
  EXPECT_EQ(refusal(request).code, ErrorCode::kNotFound) << "an adapter is no switch";
  request.clear_switches();
  request.add_links("leaf-1 port 99");
  EXPECT_EQ(refusal(request).code, ErrorCode::kNotFound);
  request.clear_links();
  request.set_fabric("elsewhere");
  EXPECT_EQ(refusal(request).code, ErrorCode::kNotFound);
  request.clear_fabric();
  for (const char* name : {"", "  ", "a\nb"}) {
    request.clear_hosts();
    request.add_hosts(name);
    EXPECT_EQ(refusal(request).code, ErrorCode::kInvalidArgument) << name;
  }
  request.set_hosts(0, std::string(254, 'x'));
  EXPECT_EQ(refusal(request).code, ErrorCode::kInvalidArgument);
  request.clear_hosts();
  for (const double limit : {-1e-12, 1.0, 1e-30}) {
    request.set_ber_limit(limit);
    EXPECT_EQ(refusal(request).code, ErrorCode::kInvalidArgument) << limit;
  }
  request.clear_ber_limit();
  for (std::size_t i = 0; i <= kMostAcceptanceTargets; ++i) request.add_hosts("h" + std::to_string(i));
  EXPECT_EQ(refusal(request).code, ErrorCode::kInvalidArgument);
}

TEST_F(Acceptances, AListHasNoReportsAndComesInPages) {
  add_runs(5);
  v1::ListAcceptancesRequest request;
  request.set_page_size(2);
  std::vector<std::string> ids;
  do {
    const auto page = list_acceptances(*snapshot, request);
    ASSERT_TRUE(page);
    for (const v1::Acceptance& run : page->acceptances()) {
      ids.push_back(run.id());
      EXPECT_FALSE(run.has_report());
      EXPECT_EQ(run.verdict() == v1::Acceptance::FAIL, run.has_ended());
      if (run.has_ended()) {
        EXPECT_THAT(run.failed(), ElementsAre(v1::AcceptanceCheck::FEC));
      }
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(ids, ElementsAre("ACC-1", "ACC-2", "ACC-3", "ACC-4", "ACC-5"));
  request = {};
  request.set_running(true);
  EXPECT_EQ(list_acceptances(*snapshot, request)->acceptances_size(), 3);
  request.set_host("GPU-3.example.org");
  ASSERT_EQ(list_acceptances(*snapshot, request)->acceptances_size(), 1);
  request.set_page_token("MW-3");
  EXPECT_EQ(list_acceptances(*snapshot, request).error().code, ErrorCode::kInvalidArgument);
  request.set_page_size(-1);
  EXPECT_EQ(list_acceptances(*snapshot, request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(Acceptances, OneHasItsReport) {
  add_runs(2);
  const auto run = get_acceptance(*snapshot, "acc-2");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->what(), "host gpu-2");
  ASSERT_EQ(run->report().checks_size(), 1);
  EXPECT_EQ(run->report().checks(0).name(), "error correction");
  EXPECT_FALSE(run->report().checks(0).required());
  EXPECT_EQ(run->report().checks(0).ports(0).told(), "9 lost");
  EXPECT_EQ(run->report().hosts(0).verdict(), v1::Acceptance::FAIL);
  EXPECT_EQ(get_acceptance(*snapshot, "ACC-9").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(get_acceptance(*snapshot, "nine").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft::api
