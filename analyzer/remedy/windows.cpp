// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/windows.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "analyzer/remedy/budget.hpp"
#include "analyzer/remedy/candidates.hpp"
#include "analyzer/remedy/guards.hpp"
#include "analyzer/remedy/neighbours.hpp"
#include "analyzer/remedy/plan_texts.hpp"
#include "fabric/graph/multipath.hpp"
#include "fabric/graph/path.hpp"

namespace weft::analyzer {
namespace {

bool touches(const Entity& cause, const Entity& link) {
  if (cause.fabric != link.fabric) return false;
  for (const PortKey end : {link.port, link.peer}) {
    if (cause.kind == EntityKind::kNode && cause.port.node == end.node) return true;
    if (cause.kind == EntityKind::kPort && cause.port.node == end.node) return true;
    if (cause.kind == EntityKind::kLink && (cause.port.node == end.node || cause.peer.node == end.node)) return true;
  }
  return false;
}

// What a neighbour may suffer from where a link is missing. That its counters cannot be read is no worse way, and no
// route makes another cable's bits wrong or its lanes fewer.
bool hurts_traffic(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kLinkDegraded:
    case IncidentKind::kLinkErrors:
    case IncidentKind::kMiscabled:
    case IncidentKind::kDuplicateGuid:
    case IncidentKind::kCounterStuck:
    case IncidentKind::kTelemetryLost:
    case IncidentKind::kCount:
      return false;
    default:
      return true;
  }
}

// The subnet as it was swept, with the link in it.
struct Seen {
  const Sweep* sweep = nullptr;
  PortIndex port = kNoIndex, peer = kNoIndex;
};

Seen look(const Plan& plan, const RemedyView& view) {
  const FabricView* fabric = view.fabric(plan.target.fabric);
  if (!fabric || !fabric->watching || !fabric->sweep) return {};
  const Topology& topology = *fabric->sweep->topology;
  // By the plan's own word: a subnet that was discovered while the link was out does not know that it is one.
  const PortIndex port = topology.find_port(plan.target.port), peer = topology.find_port(plan.target.peer);
  if (port == kNoIndex || peer == kNoIndex) return {};
  return {fabric->sweep.get(), port, peer};
}

/// Both ends are up, and neither is known to have another cable.
bool is_up(const Seen& seen) {
  const Port& port = seen.sweep->topology->port(seen.port);
  const Port& peer = seen.sweep->topology->port(seen.peer);
  const auto leads_to = [](const Port& from, PortIndex to) { return from.peer == kNoIndex || from.peer == to; };
  return port.is_up() && peer.is_up() && leads_to(port, seen.peer) && leads_to(peer, seen.port);
}

/// What the sweep says of an end that it did not read is of before.
bool is_read(const Seen& seen, PortIndex end) {
  return !seen.sweep->routes || is_port_read(end, *seen.sweep);
}

/// The sweep read neither end.
bool is_unread(const Seen& seen, const Entity& link) {
  return seen.sweep->routes && !is_link_read(link, *seen.sweep);
}

/// An end was read to be disabled.
bool is_disabled(const Seen& seen) {
  return std::ranges::any_of(std::array{seen.port, seen.peer}, [&seen](PortIndex end) {
    return is_read(seen, end) && seen.sweep->topology->port(end).physical_state == PortPhysicalState::kDisabled;
  });
}

/// Ethernet ports do not tell their physical state.
bool is_trained(const Port& port) {
  return port.physical_state == PortPhysicalState::kUnknown ? port.is_up()
                                                            : port.physical_state == PortPhysicalState::kLinkUp;
}

constexpr const char* kReadNeither = "the last sweep read neither end of the link";

/// The switch at an end that is down as a whole: it has other cables, and none of its links is up; empty: there is
/// none.
std::string dead_switch(const Seen& seen) {
  const Topology& topology = *seen.sweep->topology;
  for (const PortIndex end : {seen.port, seen.peer}) {
    const Node& node = topology.node_of(topology.port(end));
    if (node.type != NodeType::kSwitch) continue;
    const auto ports = topology.ports_of(node);
    const auto is_cabled = [](const Port& port) { return port.peer != kNoIndex; };
    const auto is_link_up = [&](const Port& port) { return is_cabled(port) && port.is_up(); };
    if (std::ranges::count_if(ports, is_cabled) < 2) continue;
    if (!node.reachable || std::ranges::none_of(ports, is_link_up)) return node.name;
  }
  return {};
}

/// "spine-0 port 1 (0x0ec0de0200000700)" of an end whose node the topology does not have, by what the label of the link
/// says beside the other end; the GUID where that is not clear.
std::string end_text(const Entity& link, PortKey gone, const Topology& topology) {
  constexpr std::string_view kBetween = " - ";
  const std::string guid = to_string(gone.node);
  const NodeIndex other = topology.find_node(gone == link.port ? link.peer.node : link.port.node);
  const std::size_t at = link.label.find(kBetween);
  if (other == kNoIndex || at == std::string::npos) return guid;
  const std::string first = link.label.substr(0, at), second = link.label.substr(at + kBetween.size());
  const std::string& name = topology.node(other).name;
  if (first.starts_with(name) == second.starts_with(name)) return guid;
  return (first.starts_with(name) ? second : first) + " (" + guid + ')';
}

/// The end of the link that no sweep has found, as a switch that was without power when weftd started; empty: there is
/// none, or there was no sweep.
std::string gone_end(const Plan& plan, const RemedyView& view) {
  const FabricView* fabric = view.fabric(plan.target.fabric);
  if (plan.target.kind != EntityKind::kLink || !fabric || !fabric->watching || !fabric->sweep) return {};
  for (const PortKey end : {plan.target.port, plan.target.peer})
    if (fabric->sweep->topology->find_node(end.node) == kNoIndex)
      return end_text(plan.target, end, *fabric->sweep->topology);
  return {};
}

/// What still leads over the link, in words; empty: nothing.
std::string still_used(const Seen& seen) {
  const Topology& topology = *seen.sweep->topology;
  if (!seen.sweep->routes)
    return seen.sweep->multipath->is_usable(seen.port) ? "the link is not reported down" : std::string();
  const LidOwners owners(topology);
  for (const PortIndex end : {seen.port, seen.peer})
    if (const auto left = destinations_over(topology, *seen.sweep->routes, owners, end); !left.empty())
      return port_label(topology, end) + " still has routes to " + std::to_string(left.size()) + " LIDs";
  return {};
}

/// What happened within the time that passed since `since`, which moves with the clock when that is set: what happened
/// bears the time of then.
struct Since {
  TimePoint since;
  Ages ages;
  bool operator()(TimePoint at) const {
    if (at > ages.now) return false;
    // Since it was set last the clock tells it exactly. An age is the least that may be: around a step, or a time that
    // nobody watched, what was before looks younger than it is.
    if (ages.steps.empty() || ages.steps.back().at + ages.steps.back().by <= since) return at > since;
    return ages.of(at) < ages.now - since;
  }
};

template <typename IsNew>
bool was_seen(const RemedyView& view, const Incident& incident, const IsNew& is_new) {
  const auto seen =
      std::ranges::lower_bound(view.last_evidence, incident.id, {}, &std::pair<std::uint64_t, TimePoint>::first);
  if (seen != view.last_evidence.end() && seen->first == incident.id && is_new(seen->second)) return true;
  if (!incident.beginnings.empty() && is_new(incident.beginnings.back())) return true;
  return std::ranges::any_of(incident.finding.evidence, is_new, &Evidence::observed);
}

Window isolated(const Plan& plan, const RemedyView& view, TimePoint since, const Ages& ages) {
  Window window;
  const Seen seen = look(plan, view);
  if (!seen.sweep || (!seen.sweep->routes && !seen.sweep->multipath) || seen.sweep->started <= since) return window;
  window.fresh = true;
  if (plan.action == RemedyAction::kIsolateLink && is_up(seen)) {
    window.why = "the link is still up";
    return window;
  }
  if (auto why = still_used(seen); !why.empty()) {
    window.why = std::move(why);
    if (view.is_manager_unheard(plan.target.fabric)) window.why += "; the subnet manager does not answer";
    return window;
  }
  const Incident* own = view.incident(plan.incident);
  // Seen again after the routes had left it: it was something else.
  const TimePoint settled = since + seen.sweep->interval * 3;
  // A costly link stays up and as slow as it was: that nothing is sent over it is all that can be had. One that was
  // down stays down.
  const bool stays = own && is_the_link(own->finding.cause, plan.target) &&
                     (plan.action == RemedyAction::kRaiseLinkCost || own->finding.kind == IncidentKind::kLinkDown);
  if (own && own->is_open() && !stays && was_seen(view, *own, Since{settled, ages})) {
    window.why = "the symptom is still there";
    return window;
  }
  for (const auto& incident : view.incidents) {
    if (!incident->is_open() || incident->finding.severity < Severity::kWarning || incident->id == plan.incident)
      continue;
    if (!hurts_traffic(incident->finding.kind) || !was_seen(view, *incident, Since{since, ages}) ||
        is_the_link(incident->finding.cause, plan.target))
      continue;
    if (!Since{since, ages}(incident->began())) continue;
    const bool same_kind = own && incident->finding.kind == own->finding.kind;
    if (!touches(incident->finding.cause, plan.target) && !same_kind) continue;
    window.worse = true;
    window.why = "since then " + incident_name(incident->id) + ": " + incident->finding.summary;
    return window;
  }
  window.good = true;
  return window;
}

Window restored(const Plan& plan, const RemedyView& view, TimePoint since, const Ages& ages,
                const RemedyLimits& limits) {
  Window window;
  if (const std::string gone = gone_end(plan, view); !gone.empty()) {
    window.excused = true;
    window.why = "no sweep has found " + gone + " since weftd was restarted, or took over";
    return window;
  }
  const Seen seen = look(plan, view);
  if (!seen.sweep || seen.sweep->started <= since) return window;
  // Somebody may have done that, whether the subnet manager answers or not: the reading tells.
  if (!is_up(seen) && is_disabled(seen)) {
    window.disabled = true;
    window.why = "an end of the link is disabled";
    return window;
  }
  const bool unread = is_unread(seen, plan.target);
  if (unread || view.is_manager_unheard(plan.target.fabric)) {
    window.excused = window.unread = true;
    window.why = unread ? kReadNeither : nobody_activates(view, plan.target.fabric);
    return window;
  }
  window.fresh = true;
  const bool late = view.now - since > limits.verification.within;
  if (!is_up(seen)) {
    // The trouble is the switch's: it says nothing of the link.
    if (const std::string dead = dead_switch(seen); !dead.empty()) {
      window.fresh = false;
      window.excused = true;
      window.why = "none of the links of " + dead + " is up";
      return window;
    }
    const bool was_up = plan.windows_good > 0 || plan.was_up;
    window.why = was_up ? "it failed again: the link went down" : "the link does not come up";
    window.unbearable = late || was_up;
    window.down = was_up;
    return window;
  }
  for (const auto& incident : view.incidents) {
    if (!incident->is_open() || !is_the_link(incident->finding.cause, plan.target)) continue;
    // That it was down while it was out is no relapse; that it goes down again is.
    const TimePoint from = incident->finding.kind == IncidentKind::kLinkDown ? since + seen.sweep->interval * 3 : since;
    if (incident->finding.severity < Severity::kWarning || !was_seen(view, *incident, Since{from, ages})) continue;
    window.unbearable = true;
    window.why = "it failed again: " + incident_name(incident->id) + ": " + incident->finding.summary;
    return window;
  }
  window.good = true;
  return window;
}

Window undrained(const Plan& plan, const RemedyView& view) {
  Window window;
  const NodeHealth* health = view.health_of(plan.target.host);
  if (!health || health->verdict == HealthVerdict::kUnknown) {
    window.why = "the host's health is unknown" +
                 (health && !health->reasons.empty() ? ": " + health->reasons.front().message : "");
    return window;
  }
  window.fresh = true;
  window.good = health->verdict != HealthVerdict::kUnhealthy;
  window.unbearable = !window.good;
  if (!window.good)
    window.why = "it failed again: " + (health->reasons.empty() ? "it is unhealthy" : health->reasons.front().message);
  return window;
}

/// `is_so` of both ends of the link, by the last sweep; false where nobody looks.
template <typename IsSo>
bool both_ends(const Entity& link, const RemedyView& view, const IsSo& is_so) {
  const FabricView* fabric = view.fabric(link.fabric);
  if (!fabric || !fabric->watching || !fabric->sweep) return false;
  const Topology& topology = *fabric->sweep->topology;
  return std::ranges::all_of(std::array{link.port, link.peer}, [&](PortKey end) {
    const PortIndex port = topology.find_port(end);
    return port != kNoIndex && std::invoke(is_so, topology.port(port));
  });
}

/// The state in which a plan that is over holds its target. A return that failed holds what it was to bring back.
PlanState held_in(const Plan& plan) {
  return takes_out(plan.action) ? PlanState::kCommitted : PlanState::kRolledBack;
}

}  // namespace

bool is_the_link(const Entity& cause, const Entity& link) {
  if (cause.same_as(link)) return true;
  return cause.kind == EntityKind::kPort && cause.fabric == link.fabric &&
         (cause.port == link.port || cause.port == link.peer);
}

bool ends_with_the_link(IncidentKind kind) {
  return kind == IncidentKind::kLinkDown || kind == IncidentKind::kLinkFlap || kind == IncidentKind::kLinkDegraded ||
         kind == IncidentKind::kLinkErrors || kind == IncidentKind::kSilentLoss;
}

bool is_newer(const RemedyView& view, const Incident& incident, TimePoint since) {
  // What lies ahead was seen before the clock was set back.
  return was_seen(view, incident, [&](TimePoint at) { return at > since && at <= view.now; });
}

bool is_looked_after(const Plan& plan, const RemedyView& view) {
  if (!plan.in_force || plan.state != held_in(plan)) return false;
  if (plan.target.kind != EntityKind::kHost) return true;
  const auto hosts = view.hosts_of(plan.target.host);
  return hosts.empty() || hosts.front()->state != CollectorState::kConnected || !hosts.front()->reading ||
         hosts.front()->reading->jobs.empty();
}

std::vector<std::uint64_t> incidents_of(const Plan& plan, std::span<const std::shared_ptr<const Incident>> incidents) {
  std::vector<std::uint64_t> ids;
  if (plan.incident != 0) ids.push_back(plan.incident);
  const bool isolates = plan.action == RemedyAction::kIsolateLink;
  const bool is_whole = isolates || !takes_out(plan.action);
  if (!is_whole || plan.target.kind != EntityKind::kLink || plan.started == kNever) return ids;
  for (const auto& incident : incidents)
    if (incident->id != plan.incident && incident->is_open() && isolates == (incident->began() < plan.started) &&
        (!isolates || ends_with_the_link(incident->finding.kind)) && is_the_link(incident->finding.cause, plan.target))
      ids.push_back(incident->id);
  return ids;
}

bool is_link_up(const Entity& link, const RemedyView& view) {
  return both_ends(link, view, &Port::is_up);
}

bool is_link_trained(const Entity& link, const RemedyView& view) {
  return both_ends(link, view, is_trained);
}

LinkSight sight_of(const Entity& link, const RemedyView& view, TimePoint since) {
  Plan asked;
  asked.target = link;
  const Seen seen = look(asked, view);
  if (!seen.sweep || seen.sweep->started <= since || is_unread(seen, link)) return LinkSight::kUnknown;
  if (is_up(seen)) return LinkSight::kUp;
  if (is_disabled(seen)) return LinkSight::kDisabled;
  if (is_link_trained(link, view)) return LinkSight::kTrained;
  // One end that was read, and is not linked, tells it of both.
  const bool is_down = std::ranges::any_of(std::array{seen.port, seen.peer}, [&seen](PortIndex end) {
    return is_read(seen, end) && !is_trained(seen.sweep->topology->port(end));
  });
  return is_down ? LinkSight::kDown : LinkSight::kUnknown;
}

bool is_link_troubled(const Entity& link, const RemedyView& view, TimePoint since, const Ages& ages) {
  return std::ranges::any_of(view.incidents, [&](const auto& incident) {
    return incident->is_open() && incident->finding.severity >= Severity::kWarning &&
           incident->finding.kind != IncidentKind::kLinkDown && is_the_link(incident->finding.cause, link) &&
           was_seen(view, *incident, Since{since, ages});
  });
}

bool is_undone_by_others(const Plan& plan, std::span<const std::shared_ptr<const Plan>> plans) {
  const bool is_early = plan.state == PlanState::kRolledBack && plan.outcome.starts_with(undone_text(plan));
  if ((plan.state != held_in(plan) && !is_early) || plan.in_force || plan.unresolved || plan.started == kNever)
    return false;
  return std::ranges::none_of(plans, [&plan](const auto& other) {
    const bool counts = other->in_force || other->unresolved || (other->id > plan.id && other->started != kNever);
    return other->id != plan.id && counts && same_target(other->target, plan.target);
  });
}

std::string undone_text(const Plan& plan) {
  if (plan.target.kind == EntityKind::kHost) return "somebody else undrained the host";
  if (outward_action(plan) == RemedyAction::kRaiseLinkCost) return "somebody else set the cost of the link back";
  return "somebody else enabled the link again";
}

std::string caretaker_text(std::uint64_t plan) {
  return std::string(kOurselves) + " (" + plan_name(plan) + ')';
}

std::string let_go_text(const Incident& incident, std::span<const std::shared_ptr<const Plan>> plans) {
  const std::string begin = std::string(kOurselves) + " (";
  const std::string& who = incident.acknowledged_by;
  if (incident.state != IncidentState::kAcknowledged || !who.starts_with(begin) || !who.ends_with(')')) return {};
  const std::string name = who.substr(begin.size(), who.size() - begin.size() - 1);
  const auto id = parse_plan_name(name);
  if (!id) return {};
  const std::string no_more = name + " looks after it no more";
  const auto of = std::ranges::find(plans, *id, &Plan::id);
  if (of == plans.end()) return no_more;
  std::string why;
  for (const auto& plan : plans) {
    if (!same_target(plan->target, (*of)->target)) continue;
    if (plan->in_force || is_under_way(plan->state)) return {};
    if (is_undone_by_others(*plan, plans))
      why = undone_text(*plan);
    else if (!takes_out(plan->action) && plan->state == PlanState::kCommitted)
      why = plan_name(plan->id) + " brought its target back";
    else if (!takes_out(plan->action) && plan->state == PlanState::kFailed)
      why = plan_name(plan->id) + " FAILED: " + plan->outcome;
  }
  return why.empty() ? no_more : no_more + ": " + why;
}

Window judge_undoing(const Plan& plan, const RemedyView& view, TimePoint since, const RemedyLimits& limits) {
  Window window;
  const Seen seen = look(plan, view);
  if (!seen.sweep || seen.sweep->started <= since) return window;
  if (is_unread(seen, plan.target)) {
    window.why = kReadNeither;
    return window;
  }
  window.fresh = true;
  if (!is_up(seen)) {
    window.why = "the link has not come up again";
    window.disabled = is_disabled(seen);
  } else {
    window.why =
        silent_neighbours(plan.neighbours, plan.target, *view.fabric(plan.target.fabric), limits.stale_intervals);
  }
  window.good = window.why.empty();
  return window;
}

Window judge_window(const Plan& plan, const RemedyView& view, TimePoint since, const Ages& ages,
                    const RemedyLimits& limits) {
  switch (plan.action) {
    case RemedyAction::kIsolateLink:
    case RemedyAction::kRaiseLinkCost:
      return isolated(plan, view, since, ages);
    case RemedyAction::kRestoreLink:
      return restored(plan, view, since, ages, limits);
    case RemedyAction::kUndrainNode:
      return undrained(plan, view);
    default:
      // The scheduler has said so itself when it was read back.
      return {.fresh = true, .good = true};
  }
}

}  // namespace weft::analyzer
