// SPDX-License-Identifier: Apache-2.0
// kill -9 at any moment loses no incident and no plan whose save returned.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/unit/daemon/adapters/store/store_test_helpers.hpp"

namespace weft::store {
namespace {

struct Saved {
  std::uint64_t id = 0;
  std::uint64_t revision = 0;
};

/// How long a child may live before it is killed, at random: some die while they open the store, others while they
/// save. On a busy machine opening alone may take longer than the first choice, so the span grows while children save
/// nothing.
class Lifetime {
 public:
  void sleep() { ::usleep(static_cast<useconds_t>(1000 + random_() % longest_)); }
  void saved(bool something) {
    if (!something) longest_ = std::min(longest_ * 5 / 4, 5'000'000U);
  }

 private:
  std::mt19937 random_{std::random_device{}()};
  unsigned longest_ =
      engine() == Engine::kPostgres ? 300'000 : 60'000;  // microseconds; a child of PostgreSQL connects first
};

/// Saves for ever, and says through `report` what was saved only after it was.
[[noreturn]] void save_for_ever(const std::filesystem::path& path, const StoreOptions& options, int report,
                                std::uint64_t first_id) {
  auto store = SqlStore::open(path, options);
  if (!store) ::_exit(3);
  std::int64_t tick = 0;
  for (std::uint64_t id = first_id;; ++id)
    for (std::uint64_t revision = 1; revision <= 3; ++revision) {
      Incident incident = make_incident(id);
      incident.revision = revision;
      incident.finding.affected.assign(20, incident.finding.cause);
      incident.finding.evidence.resize(revision);
      if (!(*store)->save_incidents({{incident}}, {{{at_second(tick), id, "updated", "", std::to_string(revision)}}}))
        ::_exit(4);
      const Saved saved{id, revision};
      if (::write(report, &saved, sizeof saved) != sizeof saved) ::_exit(5);
      ++tick;
      const auto sweep = share(make_sweep(at_second(tick), static_cast<std::uint64_t>(tick), 250));
      static_cast<void>((*store)->append_history(sweep));
    }
}

using Durability = OnEachEngine;
INSTANTIATE_ON_EACH_ENGINE(Durability);

TEST_P(Durability, KillLosesNoIncidentWhoseSaveReturned) {
  const TempDir dir;
  Lifetime lifetime;
  const StoreOptions options = options_for(dir.path(), {.history_interval = std::chrono::milliseconds(1)});
  std::map<std::uint64_t, std::uint64_t> promised;  // id → newest revision that was reported
  std::uint64_t next_id = 1;
  for (int round = 0; round < 25 || (promised.size() <= 5 && round < 100); ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipes[0]);
      save_for_ever(dir.path(), options, pipes[1], next_id);
    }
    ::close(pipes[1]);
    lifetime.sleep();
    ::kill(child, SIGKILL);
    std::size_t saves = 0;
    for (Saved saved; ::read(pipes[0], &saved, sizeof saved) == sizeof saved; ++saves)
      promised[saved.id] = saved.revision;
    lifetime.saved(saves > 0);
    ::close(pipes[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed with " << WEXITSTATUS(status);

    auto store = must_open(dir.path());
    ASSERT_NE(store, nullptr);
    const auto restored = store->restore(kNever);
    ASSERT_TRUE(restored) << restored.error().message;
    std::map<std::uint64_t, const Incident*> found;
    for (const Incident& incident : restored->incidents) found[incident.id] = &incident;
    for (const auto& [id, revision] : promised) {
      ASSERT_TRUE(found.contains(id)) << "incident " << id << " is lost";
      ASSERT_GE(found[id]->revision, revision);
      ASSERT_EQ(found[id]->finding.evidence.size(), found[id]->revision);
      ASSERT_EQ(found[id]->finding.affected.size(), 20U);
      ASSERT_GE(store->events(id)->size(), revision);
    }
    ASSERT_GE(restored->incident_ids.next(), promised.empty() ? 1 : promised.rbegin()->first + 1);
    next_id = restored->incident_ids.next();
  }
  EXPECT_GT(promised.size(), 5U) << "the children hardly got to save";
}

/// Changes one plan for ever, each time with a record in the trail.
[[noreturn]] void plan_for_ever(const std::filesystem::path& path, const StoreOptions& options, int report) {
  auto store = SqlStore::open(path, options);
  if (!store) ::_exit(3);
  const auto restored = (*store)->restore_remedies(kNever);
  if (!restored) ::_exit(4);
  Plan plan;
  if (!restored->plans.empty()) plan = restored->plans.front();
  for (plan.id = 1;;) {
    ++plan.revision;
    plan.state = static_cast<PlanState>(plan.revision % static_cast<std::uint64_t>(PlanState::kCount));
    plan.in_force = true;
    plan.steps.resize(plan.revision % kMostPlanSteps);
    const AuditRecord record{0, kNever, "weftd", to_string(plan.state), 1, 0, std::to_string(plan.revision), ""};
    if (!(*store)->save_plans({{plan}}, nullptr, {{record}})) ::_exit(4);
    const Saved saved{plan.id, plan.revision};
    if (::write(report, &saved, sizeof saved) != sizeof saved) ::_exit(5);
  }
}

TEST_P(Durability, KillPartsNoPlanFromItsRecord) {
  const TempDir dir;
  Lifetime lifetime;
  const StoreOptions options = options_for(dir.path());
  std::uint64_t promised = 0;
  for (int round = 0; round < 15 || (promised <= 5 && round < 100); ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(pipes[0]);
      plan_for_ever(dir.path(), options, pipes[1]);
    }
    ::close(pipes[1]);
    lifetime.sleep();
    ::kill(child, SIGKILL);
    std::size_t saves = 0;
    for (Saved saved; ::read(pipes[0], &saved, sizeof saved) == sizeof saved; ++saves) promised = saved.revision;
    lifetime.saved(saves > 0);
    ::close(pipes[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child failed with " << WEXITSTATUS(status);

    auto store = must_open(dir.path());
    ASSERT_NE(store, nullptr);
    const auto restored = store->restore_remedies(kNever);
    ASSERT_TRUE(restored) << restored.error().message;
    const std::uint64_t revision = restored->plans.empty() ? 0 : restored->plans.front().revision;
    ASSERT_GE(revision, promised);
    const auto proof = store->verify_audit();
    ASSERT_TRUE(proof) << proof.error().message;
    ASSERT_EQ(proof->records, revision) << "each change has its record, and each record its change";
    if (revision > 0) {
      ASSERT_EQ(restored->plans.front().steps.size(), revision % kMostPlanSteps);
    }
  }
  EXPECT_GT(promised, 5U) << "the children hardly got to save";
}

}  // namespace
}  // namespace weft::store
