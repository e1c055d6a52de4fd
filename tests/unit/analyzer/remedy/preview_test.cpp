// SPDX-License-Identifier: Apache-2.0
// What a person's wish would become, before it is one; and links whose cost a person raises and lowers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/remedy/candidates.hpp"
#include "tests/unit/analyzer/remedy/managed_fabric.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

RemedySettings by_people() {
  RemedySettings settings = proposing();
  settings.limits.capacity.leaf_share_idle = 0.8;  // of eight ways seven are needed
  return settings;
}

struct Wishes : ::testing::Test, Book {
  Wishes() : Book(by_people()) {}

  Result<Plan> preview(RemedyAction action, const std::string& leaf, const std::string& spine, bool only_cost = false) {
    return book->preview(action, link(leaf, spine), "looks bad", "ann", look(), only_cost);
  }
  /// A plan of the process before, which is in force.
  void holds(RemedyAction action, const std::string& leaf, const std::string& spine, std::optional<PortKey> end = {}) {
    RemedyMemory memory;
    Plan& out = memory.plans.emplace_back();
    out.id = 1;
    out.state = PlanState::kCommitted;
    out.action = action;
    out.target = link(leaf, spine);
    out.actuator = "fake";
    out.in_force = true;
    out.finished = fabric.now();
    out.end = end;
    memory.ids = 2;
    book.emplace(settings, std::move(memory), fabric.now());
  }
  static const Candidate& candidate(const Plan& plan, RemedyAction action) {
    return *std::ranges::find(plan.candidates, action, &Candidate::action);
  }
};

TEST_F(Wishes, APreviewTellsEveryGuardAndKeepsNothing) {
  const auto seen = preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->id, 0U);
  ASSERT_TRUE(seen->end) << "which end will be set";
  EXPECT_TRUE(seen->target.port == *seen->end || seen->target.peer == *seen->end);
  EXPECT_EQ(seen->guards.size(), static_cast<std::size_t>(Guard::kCount));
  EXPECT_FALSE(seen->refused());
  EXPECT_THAT(candidate(*seen, RemedyAction::kIsolateLink).explanation, HasSubstr("keeps 7 of 8 uplink paths"));
  EXPECT_EQ(candidate(*seen, RemedyAction::kNothing).total_ratio(), 0) << "no incident asks for it";
  EXPECT_EQ(seen->candidates.front().action, RemedyAction::kNothing) << "the least loss first";
  EXPECT_TRUE(book->all()->empty());
  EXPECT_TRUE(book->drain_changes(fabric.now()).empty()) << "also no line in the audit trail";
  const auto begun = book->request(RemedyAction::kIsolateLink, link("leaf-0", "spine-0"), "bad", "ann", look());
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->id, 1U);
}

// A drain that got no answer may land after the host was read as clear.
TEST_F(Wishes, AReturnOfWhatMayStillLandSaysWhatAndUntilWhen) {
  RemedyMemory memory;
  Plan& out = memory.plans.emplace_back();
  out.id = 1;
  out.state = PlanState::kFailed;
  out.action = RemedyAction::kDrainNode;
  out.target = host_entity("n1");
  out.actuator = "fake";
  out.requested_by = out.approved_by = "ann";
  out.started = out.finished = fabric.now();
  out.unresolved = true;
  memory.ids = 2;
  book.emplace(settings, std::move(memory), fabric.now());
  book->review(look());
  constexpr const char* kMayLand = "what weftd sent for PLAN-1 may still take effect until ";
  const Entity host = host_entity("n1");
  const auto seen = book->preview(RemedyAction::kUndrainNode, host, "well", "ann", look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_THAT(seen->outcome, HasSubstr(std::string("bring it back if it is out; ") + kMayLand));
  const auto asked = book->request(RemedyAction::kUndrainNode, host, "well", "ann", look());
  ASSERT_TRUE(asked) << asked.error().message;
  for (int i = 0; i < 20 && !is_over(plan(2).state); ++i) {
    book->review(look());
    for (const RemedyOrder& order : orders())
      book->answer_reading(order.number, TargetReading{TargetState::kClear, "no drain"}, fabric.now());
    fabric.advance(1s);
  }
  EXPECT_EQ(plan(2).state, PlanState::kExpired);
  EXPECT_THAT(plan(2).outcome,
              HasSubstr(std::string("not needed: already in the wanted state: no drain; ") + kMayLand));
}

TEST_F(Wishes, APreviewTellsWhichGuardWouldRefuse) {
  holds(RemedyAction::kIsolateLink, "leaf-0", "spine-0");
  fabric.unlink(fabric.port_towards("leaf-0", "spine-0"));
  const auto seen = preview(RemedyAction::kIsolateLink, "leaf-0", "spine-1");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_TRUE(seen->refused());
  EXPECT_EQ(verdict(*seen, Guard::kLeafCapacity).result, GuardResult::kRefused);
  EXPECT_FALSE(candidate(*seen, RemedyAction::kIsolateLink).allowed);
  EXPECT_TRUE(book->drain_changes(fabric.now()).audit.empty()) << "a look is no attempt";
}

TEST_F(Wishes, AnIncidentThereTellsWhatDoingNothingCosts) {
  errors("leaf-0", "spine-0", 1e-6);
  const auto seen = preview(RemedyAction::kRaiseLinkCost, "leaf-0", "spine-0");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_GT(candidate(*seen, RemedyAction::kNothing).harm_ratio, 0);
  EXPECT_TRUE(candidate(*seen, RemedyAction::kRaiseLinkCost).allowed);
  EXPECT_TRUE(candidate(*seen, RemedyAction::kIsolateLink).allowed) << "it could be isolated as well";
}

TEST_F(Wishes, TheTroubleOfAHostIsThatOfItsLinks) {
  collector("host-0-0", {"host-0-0 mlx5_0"});
  errors("leaf-0", "host-0-0 mlx5_0", 1e-6);
  const auto seen = book->preview(RemedyAction::kDrainNode, host_entity("host-0-0"), "looks bad", "ann", look());
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_GT(candidate(*seen, RemedyAction::kNothing).harm_ratio, 0)
      << candidate(*seen, RemedyAction::kNothing).explanation;
}

TEST_F(Wishes, AreAboutTheWorstIncidentOfTheirTarget) {
  const Entity target = link("leaf-0", "spine-0");
  errors("leaf-0", "spine-1");
  EXPECT_EQ(preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0")->incident, 0U) << "that is another link";
  const auto open = [&](IncidentKind kind, Severity severity, bool at_port) {
    auto incident = std::make_shared<Incident>(*incidents.back());
    incident->id = incidents.size() + 1;
    incident->finding.kind = kind;
    incident->finding.severity = severity;
    incident->finding.cause = target;
    if (at_port) incident->finding.cause.kind = EntityKind::kPort;
    incidents.push_back(std::move(incident));
  };
  open(IncidentKind::kMiscabled, Severity::kCritical, false);
  EXPECT_EQ(preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0")->incident, 0U) << "that does not end with it";
  open(IncidentKind::kLinkDown, Severity::kInfo, true);
  EXPECT_EQ(preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0")->incident, 3U);
  open(IncidentKind::kLinkErrors, Severity::kWarning, false);
  EXPECT_EQ(preview(RemedyAction::kRaiseLinkCost, "leaf-0", "spine-0")->incident, 4U);
  const auto asked = book->request(RemedyAction::kIsolateLink, target, "bad", "ann", look());
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->incident, 4U);
  EXPECT_EQ(asked->incident_began, incidents[3]->began());
}

TEST_F(Wishes, OfAHostAreAboutTheIncidentOfItsAdapter) {
  collector("host-0-0", {"host-0-0 mlx5_0"});
  errors("leaf-0", "host-0-0 mlx5_0");
  const auto asked = book->request(RemedyAction::kDrainNode, host_entity("host-0-0"), "bad", "ann", look());
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->incident, 1U);
}

TEST_F(Wishes, APreviewFailsAsTheWishWould) {
  const auto back = preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::kFailedPrecondition);
  ASSERT_TRUE(book->request(RemedyAction::kIsolateLink, link("leaf-0", "spine-0"), "bad", "ann", look()));
  const auto again = preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kAlreadyExists);
}

TEST_F(Wishes, ALinkThatSomebodyDisabledIsNotIsolated) {
  const PortIndex end = fabric.port_towards("spine-0", "leaf-0");
  fabric.unlink(end);
  fabric.port(end).physical_state = PortPhysicalState::kDisabled;
  const auto seen = preview(RemedyAction::kIsolateLink, "leaf-0", "spine-0");
  ASSERT_FALSE(seen) << "as the wish";
  EXPECT_EQ(seen.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(seen.error().message, HasSubstr("is disabled already, and not by Weft: there is nothing to isolate"));
  const auto asked = book->request(RemedyAction::kIsolateLink, link("leaf-0", "spine-0"), "bad", "ann", look());
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, seen.error().message);
}

// Whoever disabled the other end keeps the link down: Weft never sets that one.
TEST_F(Wishes, AReturnForetellsThatTheLinkDoesNotComeUp) {
  const PortIndex ours = fabric.port_towards("leaf-0", "spine-0"), other = fabric.port_towards("spine-0", "leaf-0");
  holds(RemedyAction::kIsolateLink, "leaf-0", "spine-0", fabric.topology()->key_of(ours));
  const std::string ours_label = port_label(*fabric.topology(), ours),
                    other_label = port_label(*fabric.topology(), other);
  fabric.unlink(ours);
  fabric.port(ours).physical_state = PortPhysicalState::kDisabled;
  EXPECT_EQ(preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0")->outcome, "") << "only our end is disabled";
  fabric.port(other).physical_state = PortPhysicalState::kDisabled;
  EXPECT_EQ(preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0")->outcome,
            "enable " + ours_label + ", but the link will not come up: somebody else disabled " + other_label +
                ", and restore does not touch that end");
  fabric.port(ours).physical_state = PortPhysicalState::kPolling;
  EXPECT_EQ(preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0")->outcome,
            ours_label +
                " is enabled already: nothing is sent, and the link will not come up: somebody else disabled " +
                other_label + ", and restore does not touch that end");
}

TEST_F(Wishes, AnAlternativeIsJudgedByItsOwnActuator) {
  settings.actuators[static_cast<std::size_t>(RemedyAction::kRaiseLinkCost)].clear();
  book.emplace(settings, RemedyMemory{}, fabric.now());
  const auto seen = preview(RemedyAction::kRaiseLinkCost, "leaf-0", "spine-0");
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_FALSE(candidate(*seen, RemedyAction::kRaiseLinkCost).allowed) << "nobody could carry it out";
  EXPECT_TRUE(candidate(*seen, RemedyAction::kIsolateLink).allowed);
}

TEST_F(Wishes, OnlyACostThatWasRaisedIsLowered) {
  holds(RemedyAction::kIsolateLink, "leaf-0", "spine-0");
  const auto refused =
      book->request(RemedyAction::kRestoreLink, link("leaf-0", "spine-0"), "new cable", "ann", look(), true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("PLAN-1 did not raise the cost"));
  EXPECT_FALSE(preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0", true));
  EXPECT_TRUE(preview(RemedyAction::kRestoreLink, "leaf-0", "spine-0"));

  holds(RemedyAction::kRaiseLinkCost, "leaf-0", "spine-0");
  const auto lowered =
      book->request(RemedyAction::kRestoreLink, link("leaf-0", "spine-0"), "new cable", "ann", look(), true);
  ASSERT_TRUE(lowered) << lowered.error().message;
  EXPECT_EQ(lowered->undoes, 1U);
}

TEST(Preview, OfAHostThatSomebodyElseDrainedSaysSoAtOnce) {
  Book b;
  const Entity host = host_entity("gpu-0005");
  const auto said = [&] {
    const auto seen = b.book->preview(RemedyAction::kDrainNode, host, "why", "ann", b.look());
    return seen ? std::string("it may be drained") : seen.error().message;
  };
  const auto now = [&b] { return b.look().steady.value(); };
  b.book->set_drained_hosts("fake", {{{"gpu-0004"}}, now()});
  EXPECT_EQ(said(), "it may be drained");
  b.book->set_drained_hosts("fake", {{{"gpu-0004"}, {"n5", "GPU-0005.cluster"}}, now()});
  EXPECT_EQ(said(), "gpu-0005 is drained already, and not by Weft (as fake tells): there is nothing to drain");
  const auto asked = b.book->request(RemedyAction::kDrainNode, host, "why", "ann", b.look());
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(b.book->all()->size(), 0U);
  b.fabric.advance(10min);
  EXPECT_EQ(said(), "it may be drained") << "that was long ago: it is read first, and the guard says so";

  // Weft gave it back a moment ago, and the list is of before.
  RemedyMemory memory;
  Plan& back = memory.plans.emplace_back();
  back.id = 1;
  back.action = RemedyAction::kUndrainNode;
  back.state = PlanState::kCommitted;
  back.target = host;
  back.finished = b.fabric.now() - 30s;
  b.book.emplace(b.settings, memory, b.fabric.now());
  b.book->set_drained_hosts("fake", {{{"gpu-0005"}}, now()});
  EXPECT_EQ(said(), "it may be drained");
  b.fabric.advance(2min);
  b.book->set_drained_hosts("fake", {{{"gpu-0005"}}, now()});
  EXPECT_NE(said(), "it may be drained");
}

}  // namespace
}  // namespace weft::analyzer
