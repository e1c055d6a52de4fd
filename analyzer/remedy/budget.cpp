// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/budget.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/guards.hpp"
#include "fabric/host_names.hpp"
#include "fabric/minute_text.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
constexpr Duration kDay = 24h;  // of the circuit breaker; the budgets' hour is in it

constexpr const char* kOfOneSwitch = "maximum of links of one switch isolated or avoided reached: ";
constexpr const char* kOfOneRail = "maximum of links of one rail isolated or avoided reached: ";
constexpr const char* kOfOneJob = "maximum of targets of one job isolated, avoided or drained reached: ";

using Plans = std::span<const std::shared_ptr<const Plan>>;

LinkKey key_of(const Entity& link) {
  return make_link_key(link.port, link.peer);
}

// It is out of service, or may be at any moment. A return that failed goes out again; until it was read as returned,
// the plan before holds it.
bool is_out(const Plan& plan, Plans plans) {
  if (plan.in_force || plan.unresolved) return true;
  if (takes_out(plan.action)) return holds_fabric(plan);
  return plan.state == PlanState::kRollingBack && std::ranges::none_of(plans, [&plan](const auto& other) {
           return other->id == plan.undoes && (other->in_force || other->unresolved);
         });
}

bool has_sent_nothing(const Plan& plan) {
  return plan.state == PlanState::kExecuting && plan.intent == PlanIntent::kNone && !plan.in_force && !plan.unresolved;
}

// Automation's own that has sent nothing: directly before it does, all is counted again. Whom it would refuse meanwhile
// may be worse.
bool has_only_begun(const Plan& plan) {
  return has_sent_nothing(plan) && plan.approved_by == kOurselves;
}

// Those that are out; of several for one target, as of an isolation and its return that failed, the first.
template <typename LeftOut>
std::vector<const Plan*> one_for_each_target(Plans plans, LeftOut is_left_out) {
  std::vector<const Plan*> out;
  std::unordered_set<LinkKey> links;
  for (const auto& plan : plans) {
    if (!is_out(*plan, plans) || is_left_out(*plan)) continue;
    const bool is_new = plan->target.kind == EntityKind::kLink ? links.insert(key_of(plan->target)).second
                                                               : std::ranges::none_of(out, [&plan](const Plan* other) {
                                                                   return same_target(other->target, plan->target);
                                                                 });
    if (is_new) out.push_back(plan.get());
  }
  return out;
}

// By the ends alone: the subnet may be watched by another of our ports now, and have the name of that.
std::vector<const Entity*> others_links(const std::vector<const Plan*>& held,
                                        std::span<const std::span<const Entity>> taken_out,
                                        std::span<const LinkKey> enabled) {
  std::unordered_set<LinkKey> counted;
  for (const Plan* plan : held)
    if (plan->target.kind == EntityKind::kLink) counted.insert(key_of(plan->target));
  counted.insert(enabled.begin(), enabled.end());
  std::vector<const Entity*> links;
  const bool may_repeat = taken_out.size() > 1;
  for (const std::span<const Entity> of_fabric : taken_out)
    for (const Entity& link : of_fabric)
      if (may_repeat ? counted.insert(key_of(link)).second : !counted.contains(key_of(link))) links.push_back(&link);
  return links;
}

bool is_failed_return(const Plan& plan) {
  return !takes_out(plan.action) && plan.started != kNever &&
         (plan.state == PlanState::kRolledBack || plan.state == PlanState::kFailed);
}

// Rail of the leaf that a link leads up from; kNoIndex for any other.
std::uint32_t rail_of(const Entity& target, const Topology& topology, const FabricTree& tree) {
  const PortIndex port = target.kind == EntityKind::kLink ? topology.find_port(target.port) : kNoIndex;
  const UplinkIndex uplink = port == kNoIndex ? kNoIndex : tree.uplink_of(port);
  const std::uint32_t leaf = uplink == kNoIndex ? kNoIndex : tree.leaf_of(tree.uplinks()[uplink].child);
  return leaf == kNoIndex ? kNoIndex : tree.rail_of(leaf);
}

bool shares_job(const Plan& a, const Plan& b) {
  return std::ranges::find_first_of(a.jobs, b.jobs) != a.jobs.end();
}

// Those that no plan of ours holds.
std::uint32_t drained_by_others(const DrainedHosts& drained, const Plan& plan, Plans plans) {
  std::vector<std::string_view> ours{plan.target.host};
  for (const auto& other : plans)
    if (is_out(*other, plans) && !has_only_begun(*other) && other->target.kind == EntityKind::kHost)
      ours.push_back(other->target.host);
  return static_cast<std::uint32_t>(drained.besides(ours));
}

// When fewer than `limit` of the actions lie within the hour again. `ages`: of those within it, at least `limit`.
std::string next_is_free(std::vector<Duration> ages, std::size_t limit, TimePoint now) {
  if (limit == 0) return {};
  std::ranges::sort(ages);
  return "; the next one is free at " + time_ahead_text(now, 1h - ages[limit - 1]);
}

/// The switches that both links have an end at.
std::set<NodeIndex> shared_switches(const Entity& a, const Entity& b, const Topology& topology) {
  std::set<NodeIndex> switches;
  for (const PortKey end : {a.port, a.peer})
    for (const PortKey other : {b.port, b.peer}) {
      const NodeIndex node = end.node == other.node ? topology.find_node(end.node) : kNoIndex;
      if (node != kNoIndex && topology.node(node).type == NodeType::kSwitch) switches.insert(node);
    }
  return switches;
}

/// What is out, and how much of it others took out.
struct Count {
  std::uint32_t all = 0, by_others = 0;
  void add(std::uint32_t others) {
    ++all;
    by_others += others;
  }
};

/// ", with 3 hosts that others drained and 1 link that others took out"; empty for none.
std::string with_others(const Count& count, std::uint32_t hosts = 0) {
  std::string text;
  if (hosts > 0) text = ", with " + std::to_string(hosts) + " hosts that others drained";
  if (count.by_others > 0)
    text += (hosts > 0 ? " and " : ", with ") + std::to_string(count.by_others) +
            (count.by_others == 1 ? " link" : " links") + " that others took out";
  return text;
}

/// " at leaf-0 and spine-1"; empty for none.
std::string at_switches(const std::map<NodeIndex, Count>& switches, const Topology* topology) {
  std::set<std::string> names;
  for (const auto& [node, count] : switches) names.insert(topology->node(node).name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? " at " : " and ") + name;
  return text;
}

}  // namespace

bool is_over_own_limit(std::string_view said) {
  return said.starts_with(kOfOneSwitch) || said.starts_with(kOfOneRail) || said.starts_with(kOfOneJob);
}

std::string time_ahead_text(TimePoint now, Duration wait) {
  return minute_text(std::chrono::ceil<std::chrono::minutes>(now + wait));
}

bool shares_switch(const Entity& a, const Entity& b, const Topology& topology) {
  return !shared_switches(a, b, topology).empty();
}

std::uint32_t actions_within(Plans plans, const Ages& ages, Duration span) {
  return static_cast<std::uint32_t>(std::ranges::count_if(plans, [&](const auto& plan) {
    return takes_out(plan->action) && plan->started != kNever && ages.of(plan->started) < span;
  }));
}

std::vector<const Entity*> taken_out_by_others(Plans plans, std::span<const std::span<const Entity>> taken_out,
                                               std::span<const LinkKey> enabled) {
  return others_links(one_for_each_target(plans, [](const Plan&) { return false; }), taken_out, enabled);
}

std::uint32_t out_of_service(Plans plans) {
  return static_cast<std::uint32_t>(one_for_each_target(plans, has_sent_nothing).size());
}

std::optional<std::string> over_budget(const Plan& plan, Plans plans, const RemedyView& view, const Ages& ages,
                                       const FabricTree* tree, std::size_t links,
                                       std::span<const std::span<const Entity>> taken_out,
                                       std::span<const LinkKey> enabled, const DrainedHosts* drained,
                                       const BudgetLimits& limits) {
  // "actions per hour are used up: 6 (remedy.limits.budget.actions_per_hour)"
  const auto says = [](const char* what, std::size_t limit, const char* key, const std::string& where = {}) {
    return std::string(what) + std::to_string(limit) + where + " (remedy.limits.budget." + key + ')';
  };
  const bool takes = takes_out(plan.action);
  std::vector<Duration> hour;
  for (const auto& other : plans)
    if (other->id != plan.id && takes_out(other->action) == takes && (takes || other->requested_by == kOurselves) &&
        other->started != kNever && ages.of(other->started) < 1h)
      hour.push_back(ages.of(other->started));
  if (!takes) {
    if (hour.size() < limits.returns_per_hour) return std::nullopt;
    return says("returns per hour are used up: ", limits.returns_per_hour, "returns_per_hour") +
           next_is_free(std::move(hour), limits.returns_per_hour, view.now);
  }
  std::uint32_t on_job = 0;
  Count out, on_rail;
  std::map<NodeIndex, Count> on_switch;  // of the link's
  const FabricView* fabric = view.fabric(plan.target.fabric);
  const Topology* topology = fabric && fabric->sweep ? fabric->sweep->topology.get() : nullptr;
  const std::uint32_t rail = topology && tree ? rail_of(plan.target, *topology, *tree) : kNoIndex;
  const auto count = [&](const Entity& target, std::uint32_t others) {
    out.add(others);
    if (!topology || target.kind != EntityKind::kLink) return;
    if (plan.target.kind == EntityKind::kLink)
      for (const NodeIndex node : shared_switches(plan.target, target, *topology)) on_switch[node].add(others);
    if (rail != kNoIndex && rail_of(target, *topology, *tree) == rail) on_rail.add(others);
  };
  const std::vector<const Plan*> held = one_for_each_target(plans, has_only_begun);
  for (const Plan* other : held) {
    if (other->id == plan.id) continue;
    count(other->target, 0);
    if (shares_job(plan, *other)) ++on_job;
  }
  for (const Entity* link : others_links(held, taken_out, enabled))
    if (!plan.target.same_as(*link)) count(*link, 1);
  std::uint32_t others_hosts = 0;
  if (drained && plan.target.kind == EntityKind::kHost) others_hosts = drained_by_others(*drained, plan, plans);
  if (hour.size() >= limits.actions_per_hour)
    return says("actions per hour are used up: ", limits.actions_per_hour, "actions_per_hour") +
           next_is_free(std::move(hour), limits.actions_per_hour, view.now);
  if (out.all + others_hosts >= limits.out_minimum) {
    const auto share = static_cast<std::size_t>(limits.out_share * static_cast<double>(links));
    if (const std::size_t most = std::max<std::size_t>(limits.out_minimum, share); out.all + others_hosts >= most)
      return says("maximum of targets isolated, avoided or drained reached: ", most,
                  most == limits.out_minimum ? "out_minimum" : "out_share") +
             with_others(out, others_hosts);
  }
  std::erase_if(on_switch, [&](const auto& each) { return each.second.all < limits.out_per_switch; });
  if (!on_switch.empty() || (limits.out_per_switch == 0 && plan.target.kind == EntityKind::kLink))
    return says(kOfOneSwitch, limits.out_per_switch, "out_per_switch", at_switches(on_switch, topology)) +
           with_others(on_switch.empty() ? Count() : on_switch.begin()->second);
  if (on_rail.all >= limits.out_per_rail)
    return says(kOfOneRail, limits.out_per_rail, "out_per_rail") + with_others(on_rail);
  if (on_job >= limits.out_per_job) return says(kOfOneJob, limits.out_per_job, "out_per_job");
  return std::nullopt;
}

std::size_t failed_reinstatements(const Entity& target, Plans plans, const Ages& ages,
                                  const VerificationLimits& limits) {
  return static_cast<std::size_t>(std::ranges::count_if(plans, [&](const auto& plan) {
    return is_failed_return(*plan) && same_target(plan->target, target) &&
           ages.of(plan->started) < limits.reinstatement_window;
  }));
}

bool is_counted(const Plan& plan, const Ages& ages, const RemedyLimits& limits) {
  if (plan.started == kNever) return false;
  Duration window = kDay;
  if (is_failed_return(plan)) window = std::max(window, limits.verification.reinstatement_window);
  return ages.of(plan.started) < window || ages.of(plan.finished) < limits.budget.cool_down;
}

Duration longest_memory(const RemedyLimits& limits) {
  return std::max({limits.retention, kDay, limits.verification.reinstatement_window, limits.budget.cool_down});
}

std::optional<std::string> must_trip(std::size_t wanted, Plans plans, const RemedyView& view, const Ages& ages,
                                     const BreakerLimits& limits) {
  std::size_t nodes = view.health.size();
  for (const FabricView& fabric : view.fabrics)
    if (fabric.sweep) nodes = std::max(nodes, fabric.sweep->topology->nodes().size());
  const auto most =
      std::max<std::size_t>(limits.minimum, static_cast<std::size_t>(limits.share * static_cast<double>(nodes)));
  if (wanted > most)
    return std::to_string(wanted) + " targets needed a remedy within " +
           std::to_string(std::chrono::duration_cast<std::chrono::minutes>(limits.window).count()) +
           " min, more than " + std::to_string(most) + " (remedy.limits.breaker." +
           (most == limits.minimum ? "minimum" : "share") + "): a common cause outside any plan is likely";
  const std::uint32_t day = actions_within(plans, ages, kDay);
  if (day > limits.actions_per_day)
    return std::to_string(day) + " actions within a day, more than " + std::to_string(limits.actions_per_day) +
           " (remedy.limits.breaker.actions_per_day): too many for independent faults";
  return std::nullopt;
}

}  // namespace weft::analyzer
