// SPDX-License-Identifier: Apache-2.0
// What a partner tells that others took out: when it is asked, and what becomes of plans while it does not tell.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/daemon/programs/weftd/remedy_fixture.hpp"

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

class Teller final : public actuate::Actuator {
 public:
  explicit Teller(FakeWorld& world) : world_(world) {}
  std::string name() const override { return "ufm"; }
  Result<TargetReading> observe(const RemedyOrder& order) override { return world_.observe(order); }
  Result<void> apply(const RemedyOrder& order) override { return world_.apply(order); }
  std::optional<EntityKind> tells_out_of_service() const override { return EntityKind::kLink; }
  Result<actuate::OutOfService> out_of_service() override {
    ++begun;
    const std::lock_guard lock(mutex);
    ++asked;
    if (failure) return tl::unexpected(*failure);
    return actuate::OutOfService{.hosts = {}, .ports = ports};
  }
  Result<std::string> dry_run(const RemedyOrder&) override { return std::string("nothing"); }

  std::mutex mutex;  ///< held: it hangs
  std::atomic<int> begun = 0;
  int asked = 0;
  std::vector<PortKey> ports;
  std::optional<Error> failure;

 private:
  FakeWorld& world_;
};

class RemedyLists : public RemedyControllerTest {
 protected:
  RemedyLists() { settings.modes.fill(RemedyMode::kPropose); }
  void begin(RemedyMemory restored = {}) {
    store_lane = make_lane("store", 64);
    RemedyControllerOptions options;
    options.lane_capacity = 64;
    options.settings = settings;
    options.actuators.push_back(std::make_unique<FakeActuator>(world, "fake"));
    auto made = std::make_unique<Teller>(world);
    teller = made.get();
    options.actuators.push_back(std::move(made));
    controller.emplace(std::move(options), std::move(restored), journal, *store_lane, clock,
                       [this](std::function<void()> job) {
                         const std::lock_guard lock(mutex);
                         posted.push_back(std::move(job));
                       });
  }
  std::string budget(RemedyAction action, const std::string& target) {
    look();
    settle();
    std::string text = "no answer";
    api::RemedyWish wish;
    wish.action = action;
    wish.target = target;
    wish.why = "why";
    wish.who = "ann";
    wish.dry_run = true;
    controller->request(wish, [&](const Result<Plan>& plan) {
      text = plan ? plan->guards[static_cast<std::size_t>(Guard::kBudget)].explanation : plan.error().message;
    });
    settle();
    return text;
  }
  std::string isolation() { return budget(RemedyAction::kIsolateLink, name_of_link("leaf-0", "spine-0")); }
  Teller* teller = nullptr;
};

TEST_F(RemedyLists, CountForDrainsAlsoWhereLinksAreLeftAlone) {
  for (const RemedyAction action :
       {RemedyAction::kIsolateLink, RemedyAction::kRaiseLinkCost, RemedyAction::kRestoreLink})
    settings.modes[static_cast<std::size_t>(action)] = RemedyMode::kOff;
  settings.limits.budget.out_minimum = 2;
  settings.limits.budget.out_share = 0;
  begin();
  teller->ports = {link("leaf-0", "spine-1").port, link("leaf-1", "spine-2").port};
  look();
  settle();
  pass(5s);
  EXPECT_EQ(budget(RemedyAction::kDrainNode, "host-2-0"),
            "maximum of targets isolated, avoided or drained reached: 2 (remedy.limits.budget.out_minimum), with 2 "
            "links that others took out");
}

TEST_F(RemedyLists, SayWhyTheyAreNotKnown) {
  begin();
  teller->failure = Error{ErrorCode::kProtocol, "no list"};
  pass(1s);
  EXPECT_EQ(isolation(), "ufm has not told yet which links are avoided: no list");
  teller->failure.reset();
  pass(61s);
  EXPECT_EQ(isolation(), "within all budgets");
  teller->failure = Error{ErrorCode::kTimeout, "it hangs"};
  pass(5min);
  EXPECT_TRUE(isolation().starts_with("ufm has not told for ")) << isolation();
  EXPECT_TRUE(isolation().ends_with(" min which links are avoided: it hangs")) << isolation();
  controller->stand_by();
  controller->follow(journal.restored());
  const int before = teller->asked;
  pass(5min);
  EXPECT_EQ(teller->asked, before) << "a standby asks nobody";
  teller->failure.reset();
  controller->lead(journal.restored(), *journal.restore_clock(), {});
  pass(2s);
  EXPECT_EQ(isolation(), "within all budgets");
}

TEST_F(RemedyLists, AreAskedForOnceWhileTheyHang) {
  begin();
  look();
  settle();
  pass(1s);
  const int before = teller->asked;
  teller->mutex.lock();
  clock.time += 61s;
  controller->tick();
  while (teller->begun == before) std::this_thread::yield();  // from then on the lane reads no clock
  for (int second = 0; second < 600; ++second) {
    clock.time += 1s;
    controller->tick();
    while (run_one_posted()) {
    }
  }
  teller->mutex.unlock();
  settle();
  EXPECT_LE(teller->asked, before + 1);
}

}  // namespace
}  // namespace weft::daemon
