// SPDX-License-Identifier: Apache-2.0
#include "api/convert/drift.hpp"

#include <gtest/gtest.h>

#include "fabric/drift_report.hpp"

namespace weft::api {
namespace {

Snapshot snapshot_with_drift() {
  DriftDifference firmware;
  firmware.fact = ConfigFact::kFirmware;
  firmware.group = "board MT_0000000223\xff";
  firmware.members = 512;
  firmware.hosts = 64;
  firmware.values = {{"28.41.1000", 510}, {"28.39.1002", 2}};
  firmware.differing = 2;
  firmware.young = 1;
  DriftHolder holder;
  holder.where.kind = EntityKind::kHostPort;
  holder.where.host = "gpu-7";
  holder.where.device = "mlx5_0";
  holder.value = "28.39.1002";
  holder.since = TimePoint(std::chrono::seconds(1'700'000'000));
  firmware.holders = {holder};
  DriftDifference mtu;
  mtu.fact = ConfigFact::kMtu;
  mtu.state = ConfigDriftState::kNoMajority;
  mtu.values = {{"1500", 5}, {"9000", 5}};
  auto report = std::make_shared<DriftReport>();
  report->hosts = 64;
  report->differences = {firmware, mtu};
  Snapshot snapshot;
  snapshot.drift = report;
  return snapshot;
}

v1::GetDriftRequest asks_for(const std::string& fact) {
  v1::GetDriftRequest request;
  request.set_fact(fact);
  return request;
}

TEST(Drift, SaysWhatDiffersAndWho) {
  const auto answer = get_drift(snapshot_with_drift(), {});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->differences_size(), 2);
  const v1::DriftDifference& firmware = answer->differences(0);
  EXPECT_EQ(firmware.fact(), "firmware");
  EXPECT_EQ(firmware.state(), v1::DriftDifference::DIFFERS);
  EXPECT_EQ(firmware.members(), 512U);
  EXPECT_EQ(firmware.values(1).count(), 2U);
  EXPECT_EQ(firmware.young(), 1U);
  EXPECT_EQ(firmware.holders(0).host(), "gpu-7");
  EXPECT_EQ(firmware.holders(0).since().seconds(), 1'700'000'000);
  EXPECT_EQ(answer->differences(1).state(), v1::DriftDifference::NO_MAJORITY);
  EXPECT_EQ(answer->differences(1).unit(), "bytes");
  EXPECT_EQ(answer->summaries(0).hosts(), 64U);
}

TEST(Drift, OfOneFact) {
  EXPECT_EQ(get_drift(snapshot_with_drift(), asks_for("mtu"))->differences_size(), 1);
  EXPECT_EQ(get_drift(snapshot_with_drift(), asks_for("pause"))->differences_size(), 0);
  EXPECT_EQ(get_drift(snapshot_with_drift(), asks_for("weather")).error().code, ErrorCode::kInvalidArgument);
}

/// Not judged yet is something else than nothing differs.
TEST(Drift, BeforeTheFirstJudgementThereIsNoSummary) {
  const auto answer = get_drift(Snapshot{}, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->summaries_size(), 0);
}

TEST(Drift, EveryFactHasANameOfItsOwn) {
  for (std::size_t i = 0; i < kConfigFacts; ++i) {
    const auto fact = static_cast<ConfigFact>(i);
    EXPECT_EQ(parse_config_fact(row_of(fact).name), fact);
    EXPECT_STRNE(row_of(fact).words, "");
    EXPECT_STRNE(row_of(fact).read_from, "");
  }
}

}  // namespace
}  // namespace weft::api
