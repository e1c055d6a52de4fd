// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checks that stand before every action, in one order, each with its reason in words.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/clock_steps.hpp"
#include "analyzer/remedy/cross_sections.hpp"
#include "analyzer/remedy/host_identity.hpp"
#include "analyzer/remedy/live_tree.hpp"
#include "analyzer/remedy/settings.hpp"
#include "fabric/graph/route_check.hpp"
#include "fabric/plan_acts.hpp"

namespace weft::analyzer {

/// A plan that is shared with snapshots. Immutable.
using PlanPtr = std::shared_ptr<const Plan>;

/// What is counted in a fabric's last sweep, for all plans at once.
struct SweepCounts {
  std::size_t links = 0;  ///< cables
  /// Since when the nodes are missing that it did not reach, on the clock of RemedyView::steady, ascending.
  std::vector<Duration> missing_since;
  /// The links between switches that somebody disabled an end of, also those that a discovery after it knows no cable
  /// of, where an open incident or the planned cabling has them; and those with a port that a partner tells to be
  /// avoided (AvoidedPorts). Each once, those that plans hold among them.
  std::vector<Entity> taken_out;
};

/// Others were preferred to a plan's link.
struct Outdone {
  Guard guard = Guard::kLeafCapacity;  ///< that refuses it for that
  std::string why;
};

/// What guards look at besides the plan itself.
struct GuardInput {
  const RemedySettings& settings;
  const RemedyView& view;
  std::span<const PlanPtr> plans;  ///< all that are remembered; the one that is judged may be among them
  const RemedyStatus& status;
  Ages ages;                    ///< as of view.now
  const HostIdentities& hosts;  ///< of the view
  /// The plan's fabric as it is now; null when it is not known or the target is a host.
  LiveTree* tree = nullptr;
  /// As TreeCache::with_avoided() of that fabric.
  LiveTree* tree_with_avoided = nullptr;
  /// As TreeCache::with_held() of that fabric.
  LiveTree* tree_with_held = nullptr;
  /// How tables lead through that fabric's tiers now; null while that is not known.
  const RouteReview* routes = nullptr;
  /// What is counted in the last sweep of that fabric.
  const SweepCounts& counts;
  /// SweepCounts::taken_out of each fabric.
  std::vector<std::span<const Entity>> taken_out;
  std::vector<LinkKey> enabled{};  ///< links that plans have enabled since the last sweep of them began
  std::size_t links = 0;           ///< SweepCounts::links of all fabrics
  /// What kind of network that fabric is, and its cables; null while that is not known.
  const CabledShape* shape = nullptr;
  /// As the scheduler of the plan's actuator tells; null: it has none, or does not tell.
  const DrainedHosts* drained = nullptr;
  /// Of what is to be taken out: why it is not known what others took out.
  std::optional<std::string> untold{};
  /// Of the plan's link, when others were preferred to it.
  std::optional<Outdone> outdone{};
  /// Time that passed since the last sweep of the plan's fabric was first seen; zero where that is not known.
  Duration known_for{};
  /// Of a return that automation proposed: why it is not due, or not known to be.
  std::optional<std::string> not_due{};
};

/// One verdict for each guard, in the order of Guard. A guard that an action does not need says so. A person's own wish
/// (Plan::requested_by is not "weftd") needs no second signal, benefit or cool-down; taking something back needs no
/// budget and no sensor. Everything else holds for people as well, and what needs a person (GuardResult::kNeedsPerson)
/// holds for automation alone.
std::vector<GuardVerdict> check_guards(const Plan& plan, const GuardInput& input);

/// How Plan::waits_for begins of a plan that waits for another one to be over.
inline constexpr const char* kOneActorFirst = "ONE_ACTOR: ";

/// The plan may not be carried out as it is approved now: a guard refuses it, or wants a person where automation
/// approves. The first such verdict but `ignored`; null: none.
const GuardVerdict* first_refusal(const std::vector<GuardVerdict>& guards, bool by_automation,
                                  Guard ignored = Guard::kCount);
/// It asks the world for a change now: nothing else may do so on the same fabric.
bool holds_fabric(const Plan& plan);

}  // namespace weft::analyzer
