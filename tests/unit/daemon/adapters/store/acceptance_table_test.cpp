// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/acceptance_table.hpp"

#include "daemon/adapters/store/schema.hpp"
#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

AcceptanceRun run_of(std::uint64_t id) {
  AcceptanceRun run;
  run.id = id;
  run.fabric = "compute";
  run.targets = {{AcceptanceTargetKind::kHost, "gpu-01", {}},
                 {AcceptanceTargetKind::kSwitch, "leaf's", {NodeGuid{0xFFFF'0000'0000'0001}, {}}},
                 {AcceptanceTargetKind::kLink, "leaf-1 port 4", {NodeGuid{3}, PortNum{4}}}};
  run.ber_limit = 1e-13;
  run.started = at_second(0);
  run.until = at_second(7200);
  run.length = std::chrono::hours(2);
  run.watched_since = at_second(1);
  run.who = "åsa";
  return run;
}

std::shared_ptr<const AcceptanceReport> failed_report() {
  auto report = std::make_shared<AcceptanceReport>();
  report->verdict = AcceptanceVerdict::kFail;
  report->made = at_second(7201);
  report->watched_since = at_second(2);
  report->ports = 12;
  for (std::size_t kind = 0; kind < kAcceptanceKinds; ++kind)
    report->checks.push_back({.kind = static_cast<AcceptanceKind>(kind),
                              .verdict = AcceptanceVerdict::kPass,
                              .limit = "at most 1e-14",
                              .source = "a standard",
                              .told = "12 passed",
                              .passed = 12});
  AcceptanceCheck& errors = report->checks[5];
  errors.verdict = AcceptanceVerdict::kFail;
  errors.failed = 1;
  errors.unfinished = 2;
  errors.unmeasured = 3;
  errors.judged_at = at_second(9000);
  errors.ports = {{AcceptanceVerdict::kFail, "leaf-1 port 4", "gpu-01", "3 link_downed"},
                  {AcceptanceVerdict::kNotYet, "leaf-1 port 5", "", "none in 5 min", at_second(9000)}};
  report->checks[2].ports = {{AcceptanceVerdict::kNotMeasured, "leaf-2", "", "it says nothing"}};
  report->hosts = {{"gpu-01", AcceptanceVerdict::kFail}, {"gpu-02", AcceptanceVerdict::kIncomplete}};
  return report;
}

AcceptanceList kept_runs(SqlStore& store) {
  auto all = store.restore(at_second(0));
  EXPECT_TRUE(all) << all.error().message;
  return all ? all->acceptances : AcceptanceList{};
}

void expect_same_run(const AcceptanceRun& found, const AcceptanceRun& wanted) {
  EXPECT_EQ(found.id, wanted.id);
  EXPECT_EQ(found.fabric, wanted.fabric);
  EXPECT_EQ(found.targets, wanted.targets);
  EXPECT_EQ(found.ber_limit, wanted.ber_limit);
  EXPECT_EQ(found.started, wanted.started);
  EXPECT_EQ(found.until, wanted.until);
  EXPECT_EQ(found.length, wanted.length);
  EXPECT_EQ(found.watched_since, wanted.watched_since);
  EXPECT_EQ(found.ended, wanted.ended);
  EXPECT_EQ(found.who, wanted.who);
  EXPECT_EQ(found.ended_by, wanted.ended_by);
  ASSERT_EQ(found.report != nullptr, wanted.report != nullptr);
  if (wanted.report) {
    EXPECT_EQ(*found.report, *wanted.report);
  }
}

using AcceptanceTable = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(AcceptanceTable);

TEST_P(AcceptanceTable, WhatIsSavedComesBackAfterARestart) {
  const TempDir dir;
  const AcceptanceRun under_way = run_of(1);
  AcceptanceRun over = run_of(2);
  over.ended = at_second(7201);
  over.ended_by = "bob";
  over.report = failed_report();
  {
    const auto store = must_open(dir.path());
    for (const AcceptanceRun& run : {under_way, over}) ASSERT_TRUE(store->save_acceptance(run, {}));
  }
  const auto store = must_open(dir.path());
  const AcceptanceList found = kept_runs(*store);
  ASSERT_EQ(found.size(), 2U);
  expect_same_run(*found[0], under_way);
  expect_same_run(*found[1], over);
  EXPECT_EQ(store->restore(at_second(0))->acceptance_ids.next(), 3U);
}

TEST_P(AcceptanceTable, ARunIsReplacedWholeAndOthersAreForgotten) {
  const TempDir dir;
  const auto store = must_open(dir.path());
  AcceptanceRun run = run_of(2);
  ASSERT_TRUE(store->save_acceptance(run_of(1), {}));
  ASSERT_TRUE(store->save_acceptance(run, {}));
  EXPECT_EQ(kept_runs(*store).size(), 2U);
  run.ended = at_second(7201);
  run.report = failed_report();
  const std::vector<std::uint64_t> forgotten{1, 77};
  ASSERT_TRUE(store->save_acceptance(run, forgotten));
  const AcceptanceList found = kept_runs(*store);
  ASSERT_EQ(found.size(), 1U);
  expect_same_run(*found[0], run);
  // Again, as a standby looks each second: what did not change is not read again.
  EXPECT_EQ(kept_runs(*store).front(), found.front());
  auto again = std::make_shared<AcceptanceReport>(*run.report);
  again->made = at_second(7300);
  again->hosts.clear();
  run.report = again;
  ASSERT_TRUE(store->save_acceptance(run, {}));
  expect_same_run(*kept_runs(*store).front(), run);
  const std::vector<std::uint64_t> last{2};
  ASSERT_TRUE(store->save_acceptance(run_of(3), last));
  EXPECT_EQ(store->restore(at_second(0))->acceptance_ids.next(), 4U) << "an id is never given twice";
  for (const char* table : {"SELECT count(*) FROM acceptance_port", "SELECT count(*) FROM acceptance_check",
                            "SELECT count(*) FROM acceptance_host"})
    EXPECT_EQ(by_hand(dir.path()).number(table), 0) << table;
}

TEST_P(AcceptanceTable, WhatIsDamagedIsSaid) {
  const TempDir dir;
  const auto store = must_open(dir.path());
  AcceptanceRun run = run_of(1);
  run.report = failed_report();
  ASSERT_TRUE(store->save_acceptance(run, {}));
  by_hand(dir.path()).run("UPDATE acceptance_check SET kind = 'COLOUR' WHERE position = 3");
  const auto found = store->restore(at_second(0));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(found.error().message.find("COLOUR"), std::string::npos) << found.error().message;
}

TEST(AcceptanceTableOnFiles, ADatabaseOfTheVersionBeforeGetsItsTables) {
  const TempDir dir;
  Schema before = state_schema();
  before.migrations = before.migrations.first(29);  // what stood before acceptances were kept
  { ASSERT_TRUE(open_database(dir.path() / "weft.db", before)); }
  const auto store = must_open(dir.path());
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(kept_runs(*store).empty());
  EXPECT_EQ(store->restore(at_second(0))->acceptance_ids.next(), 1U);
  ASSERT_TRUE(store->save_acceptance(run_of(1), {}));
  EXPECT_EQ(kept_runs(*store).size(), 1U);
}

}  // namespace
}  // namespace weft::store
