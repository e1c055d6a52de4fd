// SPDX-License-Identifier: Apache-2.0
#include "api/evidence/privacy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/convert/plans.hpp"
#include "api/convert/queries.hpp"
#include "tests/unit/api/small_plans.hpp"

namespace weft::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::EvidencePack pack_of(const Snapshot& snapshot) {
  v1::EvidencePack pack;
  *pack.mutable_incident() = get_incident(snapshot, "INC-1").value();
  for (const auto& plan : *snapshot.plans) to_proto(*plan, *pack.add_plans());
  return pack;
}

TEST(EvidencePrivacy, NoFieldHasTheNameOfAJobOrOfAPerson) {
  Incident incident = make_incident(1, IncidentState::kAcknowledged);
  incident.finding.jobs = {"slurm:1234", "nightly/train 7"};
  incident.finding.summary = "link of host-1 is down; it hurts job slurm:1234 and 1 more";
  incident.finding.evidence.front().description = "slower than the others of nightly/train 7, and of slurm:99";
  incident.acknowledged_by = "root (uid 0), for ann";
  Plan plan = make_plan(2, PlanState::kRejected);
  plan.requested_by = "bob";
  plan.reason = "bob says: the cable of customer X is bad";
  plan.steps = {{kNow, PlanState::kProposed, "bob", "requested: bob says: the cable of customer X is bad"},
                {kNow, PlanState::kApproved, "ann", "approved"},
                {kNow, PlanState::kRejected, "ann", "not during the run of customer X"}};
  plan.outcome = "not during the run of customer X";
  plan.guards = {{Guard::kMaintenance, GuardResult::kRefused, "MW-1 (customer X moves) covers it"}};
  const auto snapshot = with_plans(make_snapshot(1, {SmallFabric(2).build()}, {incident}), {plan});
  v1::EvidencePack pack = pack_of(*snapshot);
  hide_people(*snapshot, pack);
  const std::string all = pack.DebugString();
  for (const char* secret : {"slurm:", "1234", "nightly", "ann", "bob", "customer X"})
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_EQ(pack.incident().jobs_size(), 2) << "how many there are stays";
  EXPECT_EQ(pack.incident().jobs(0), kSomeJob);
  EXPECT_EQ(pack.incident().summary(), "link of host-1 is down; it hurts job (a job) and 1 more");
  EXPECT_EQ(pack.incident().acknowledged_by(), kSomePerson);
  EXPECT_EQ(pack.plans(0).steps(0).what(), std::string("requested: ") + kSomeText);
  EXPECT_EQ(pack.plans(0).steps(1).what(), "approved");
  EXPECT_EQ(pack.plans(0).outcome(), kSomeText);
}

TEST(EvidencePrivacy, WhatWeftdDoesStaysAndSoDoWordsThatLookLikeNames) {
  Incident incident = make_incident(1);
  incident.finding.jobs = {"17"};
  incident.acknowledged_by = "root (uid 0)";
  incident.finding.summary = "17 errors at the root of the tree, which hurt job 17";
  const auto snapshot = with_plans(make_snapshot(1, {SmallFabric(2).build()}, {incident}), {make_plan(2)});
  v1::EvidencePack pack = pack_of(*snapshot);
  hide_people(*snapshot, pack);
  EXPECT_EQ(pack.incident().summary(), "17 errors at the root of the tree, which hurt job (a job)");
  EXPECT_EQ(pack.incident().acknowledged_by(), kSomePerson);
  EXPECT_EQ(pack.plans(0).requested_by(), "weftd");
  EXPECT_EQ(pack.plans(0).steps(0).what(), "proposed for INC-1");
  EXPECT_EQ(pack.plans(0).guards(0).explanation(), "automation is not stopped");
  EXPECT_FALSE(pack.has_timeline());
}

TEST(EvidencePrivacy, WhatIsNotThereIsNotMade) {
  const auto snapshot = make_snapshot(1, {SmallFabric(2).build()});
  v1::EvidencePack pack;
  hide_people(*snapshot, pack);
  EXPECT_EQ(pack.ByteSizeLong(), 0U);
}

}  // namespace
}  // namespace weft::api
