// SPDX-License-Identifier: Apache-2.0
#include "api/convert/worst_things.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/convert/host_devices.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/occurrences.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

using namespace std::chrono_literals;
using WorstRequest = v1::ListWorstRequest;

constexpr std::int32_t kUsualWorstThings = 20;
constexpr Duration kUsualTime = 7 * 24h;
constexpr int kMostIncidentIds = 8;
/// What clients round off a time is no gap.
constexpr Duration kRounding = 1min;

/// A time in which an incident did harm.
struct Harm {
  TimePoint from;
  TimePoint until;
  bool is_critical = false;
};

/// What one thing did in the time that is looked at.
struct Thing {
  Entity what;
  v1::ModuleIdentity module;
  std::vector<Harm> harms;
  std::set<std::string> jobs;
  std::map<IncidentKind, Duration> kinds;
  std::vector<std::uint64_t> incidents;  ///< ascending
  std::uint32_t times = 0;
  bool is_open = false;
};

/// How long at least one of the times lasted.
Duration length_of(std::vector<Harm> harms) {
  std::ranges::sort(harms, {}, &Harm::from);
  Duration length{};
  TimePoint reached = kNever;
  for (const Harm& each : harms) {
    if (each.until <= reached) continue;
    length += each.until - std::max(each.from, reached);
    reached = each.until;
  }
  return length;
}

/// The cable or a module at one of its ends may be at fault.
bool is_of_link(IncidentKind kind) {
  return kind == IncidentKind::kLinkDown || kind == IncidentKind::kLinkFlap || kind == IncidentKind::kLinkDegraded ||
         kind == IncidentKind::kLinkErrors || kind == IncidentKind::kSilentLoss;
}

Entity host_named(std::string name) {
  Entity host{.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = name};
  host.host = std::move(name);
  return host;
}

/// The things of one sort, by incidents.
class Ranking {
 public:
  Ranking(const Snapshot& snapshot, WorstRequest::Of of, TimePoint from, TimePoint to)
      : snapshot_(snapshot), of_(of), from_(from), to_(to), devices_(snapshot) {}

  void add(const Incident& incident) {
    const std::vector<Harm> harms = harms_of(incident);
    if (harms.empty()) return;
    std::set<Thing*> charged;
    charge(incident.finding, [&charged](Thing& thing) { charged.insert(&thing); });
    if (charged.empty()) ++elsewhere_;
    for (Thing* const thing : charged) {
      thing->harms.insert(thing->harms.end(), harms.begin(), harms.end());
      thing->jobs.insert(incident.finding.jobs.begin(), incident.finding.jobs.end());
      thing->kinds[incident.finding.kind] += length_of(harms);
      thing->incidents.push_back(incident.id);
      thing->times += times_;
      thing->is_open = thing->is_open || is_open_;
    }
  }

  std::uint32_t elsewhere() const { return elsewhere_; }
  const std::map<std::string, Thing>& things() const { return things_; }

 private:
  using Take = std::function<void(Thing&)>;

  /// When it was more than INFO, within the time. Sets times_ and is_open_.
  std::vector<Harm> harms_of(const Incident& incident) {
    std::vector<Harm> harms;
    times_ = 0;
    is_open_ = false;
    if (incident.finding.maintenance != 0) return harms;
    const std::vector<Occurrence> all = occurrences_of(incident);
    for (const Occurrence& each : all) {
      // Of the last one the worst counts, not the present.
      const Severity worst = &each == &all.back()
                                 ? std::max({each.severity, incident.worst_severity, incident.finding.severity})
                                 : each.severity;
      const TimePoint until = each.until == kNever ? to_ : std::min(each.until, to_);
      const TimePoint from = std::max(each.from, from_);
      if (worst == Severity::kInfo || from >= until) continue;
      harms.push_back({from, until, worst == Severity::kCritical});
      if (each.from >= from_) ++times_;
      if (each.until == kNever || each.until > to_) is_open_ = true;
    }
    return harms;
  }

  const Topology* topology_of(const std::string& fabric) const {
    const auto found = std::ranges::find_if(snapshot_.fabrics, [&](const FabricView& view) {
      return view.name == fabric && view.sweep && view.sweep->topology;
    });
    return found == snapshot_.fabrics.end() ? nullptr : found->sweep->topology.get();
  }

  Thing& thing(const std::string& key, const Entity& what) {
    const auto [found, is_new] = things_.try_emplace(key);
    if (is_new) found->second.what = what;
    return found->second;
  }

  void charge(const Finding& finding, const Take& take) {
    switch (of_) {
      case WorstRequest::CABLES:
        if (is_of_link(finding.kind)) charge_cable(finding.cause, take);
        return;
      case WorstRequest::MODULES:
        if (is_of_link(finding.kind) || finding.kind == IncidentKind::kModuleDegraded)
          charge_modules(finding.cause, take);
        return;
      default:
        return charge_nodes(finding.cause, finding.kind, take);
    }
  }

  void charge_cable(const Entity& cause, const Take& take) {
    if (cause.kind != EntityKind::kLink && cause.kind != EntityKind::kPort && cause.kind != EntityKind::kHostPort)
      return;
    Entity cable = cause;
    const Topology* const topology = topology_of(cause.fabric);
    if (cause.kind == EntityKind::kPort && topology != nullptr)
      if (const PortIndex index = topology->find_port(cause.port); index != kNoIndex)
        if (const auto link = topology->link_of(index)) {
          cable.kind = EntityKind::kLink;
          cable.port = link->low;
          cable.peer = link->high;
          cable.label = port_label(*topology, topology->find_port(link->low)) + " - " +
                        port_label(*topology, topology->find_port(link->high));
        }
    take(thing(cable.identity(), cable));
  }

  void charge_module(const FoundDevice& found, const Entity& where, const Take& take) {
    if (!found) return;
    v1::ModuleIdentity module;
    if (const PortFacts* const facts = facts_of(found)) {
      const auto value = [facts](ConfigFact fact) { return std::string(fact_text(facts, fact)); };
      module.set_vendor(value(ConfigFact::kModuleVendor));
      module.set_part_number(value(ConfigFact::kModulePart));
      module.set_revision(value(ConfigFact::kModuleRevision));
      module.set_serial_number(value(ConfigFact::kModuleSerial));
    }
    const bool is_read = std::ranges::any_of(found.host->reading->inventory->series, [&](const HostSeries& series) {
      return series.device == found.device->device && series.port == found.device->number &&
             series.name.starts_with("module_");
    });
    if (module.ByteSizeLong() == 0 && !is_read) return;
    // Incidents of a link name the port of the fabric, those of the module itself the host's: it is one module.
    const std::string key =
        found.host->host + '\n' + found.device->device + '\n' + std::to_string(found.device->number);
    Thing& charged = thing(key, where);
    if (where.kind == EntityKind::kPort) charged.what = where;
    charged.module = std::move(module);
    take(charged);
  }

  void charge_modules(const Entity& cause, const Take& take) {
    if (cause.kind == EntityKind::kHostPort) return charge_module(devices_.find(cause), cause, take);
    if (cause.kind != EntityKind::kLink && cause.kind != EntityKind::kPort) return;
    const Topology* const topology = topology_of(cause.fabric);
    if (topology == nullptr) return;
    const PortIndex one = topology->find_port(cause.port);
    const PortIndex other = cause.kind == EntityKind::kLink ? topology->find_port(cause.peer)
                            : one == kNoIndex               ? kNoIndex
                                                            : topology->port(one).peer;
    for (const PortIndex index : {one, other}) {
      if (index == kNoIndex) continue;
      charge_module(devices_.find(*topology, index),
                    {EntityKind::kPort, cause.fabric, topology->key_of(index), {}, port_label(*topology, index)}, take);
    }
  }

  /// The host, under the first name of it that was met.
  void charge_host(const std::string& name, const Take& take) {
    if (of_ != WorstRequest::HOSTS || name.empty()) return;
    std::vector<std::string>& names = host_names_[short_host_name(name)];
    const auto known = std::ranges::find_if(names, [&](const std::string& each) { return same_host(each, name); });
    const std::string& called = known == names.end() ? names.emplace_back(name) : *known;
    take(thing(called, host_named(called)));
  }

  void charge_switch(const Entity& what, const Take& take) {
    if (of_ == WorstRequest::SWITCHES) take(thing(what.identity(), what));
  }

  void charge_node(const Topology& topology, NodeIndex index, const std::string& fabric, const Take& take) {
    const Node& node = topology.node(index);
    if (node.type != NodeType::kSwitch) return charge_host(std::string(host_name(node)), take);
    charge_switch({EntityKind::kNode, fabric, {node.guid, {}}, {}, node.name}, take);
  }

  void charge_nodes(const Entity& cause, IncidentKind kind, const Take& take) {
    if (cause.kind == EntityKind::kHost || cause.kind == EntityKind::kHostPort || cause.kind == EntityKind::kCollector)
      return charge_host(cause.host, take);
    if (cause.kind != EntityKind::kNode && cause.kind != EntityKind::kPort && cause.kind != EntityKind::kLink) return;
    const Topology* const topology = topology_of(cause.fabric);
    const auto charge_guid = [&](NodeGuid guid) {
      const NodeIndex node = topology == nullptr ? kNoIndex : topology->find_node(guid);
      if (node != kNoIndex) charge_node(*topology, node, cause.fabric, take);
      return node != kNoIndex;
    };
    const bool is_known = charge_guid(cause.port.node);
    if (cause.kind == EntityKind::kLink) charge_guid(cause.peer.node);
    if (is_known || cause.kind != EntityKind::kNode) return;
    // No fabric has it any more.
    if (kind == IncidentKind::kSwitchDown) charge_switch(cause, take);
    if (kind == IncidentKind::kNodeDown) charge_host(cause.host.empty() ? cause.label : cause.host, take);
  }

  const Snapshot& snapshot_;
  const WorstRequest::Of of_;
  const TimePoint from_;
  const TimePoint to_;
  const HostDevices devices_;
  std::map<std::string, Thing> things_;  ///< by what makes it one thing
  std::map<std::string, std::vector<std::string>> host_names_;
  std::uint32_t elsewhere_ = 0;
  std::uint32_t times_ = 0;  ///< of the incident that is looked at; so is the next
  bool is_open_ = false;
};

void fill_thing(const Thing& from, v1::WorstThing& to) {
  api::to_proto(from.what, *to.mutable_what());
  if (from.module.ByteSizeLong() > 0) *to.mutable_module() = from.module;
  const Duration trouble = length_of(from.harms);
  std::vector<Harm> critical;
  std::ranges::copy_if(from.harms, std::back_inserter(critical), &Harm::is_critical);
  set_duration(*to.mutable_trouble(), trouble);
  set_duration(*to.mutable_critical(), length_of(std::move(critical)));
  to.set_jobs(static_cast<std::uint32_t>(from.jobs.size()));
  to.set_harm_hours(std::chrono::duration<double, std::ratio<3600>>(trouble).count() +
                    static_cast<double>(from.jobs.size()));
  to.set_times(from.times);
  std::vector<std::pair<IncidentKind, Duration>> kinds(from.kinds.begin(), from.kinds.end());
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &std::pair<IncidentKind, Duration>::second);
  for (const auto& [kind, time] : kinds) to.add_kinds(api::to_proto(kind));
  to.set_incidents(static_cast<std::uint32_t>(from.incidents.size()));
  for (auto id = from.incidents.rbegin(); id != from.incidents.rend() && to.incident_ids_size() < kMostIncidentIds;
       ++id)
    to.add_incident_ids(incident_name(*id));
  to.set_is_open(from.is_open);
}

Result<void> check_worst(const Snapshot& snapshot, const WorstRequest& request) {
  if (request.limit() < 0) return fail(ErrorCode::kInvalidArgument, "the limit must not be negative");
  if (!WorstRequest::Of_IsValid(request.of()) || request.of() == WorstRequest::OF_UNSPECIFIED)
    return fail(ErrorCode::kInvalidArgument, "the worst of what: cables, modules, hosts or switches");
  if (!WorstRequest::Order_IsValid(request.by()))
    return fail(ErrorCode::kInvalidArgument, "they are ranked by harm, jobs, critical or times");
  const std::string& name = request.fabric();
  if (!name.empty() && std::ranges::find(snapshot.fabrics, name, &FabricView::name) == snapshot.fabrics.end())
    return fail(ErrorCode::kNotFound, "no fabric named " + valid_utf8(name));
  return check_span(request);
}

}  // namespace

std::size_t limit_of(const WorstRequest& request) {
  return static_cast<std::size_t>(request.limit() == 0 ? kUsualWorstThings
                                                       : std::min(request.limit(), kMostWorstThings));
}

bool is_worse(WorstRequest::Order by, const v1::WorstThing& a, const v1::WorstThing& b) {
  const auto rank = [by](const v1::WorstThing& each) {
    const double harm = each.harm_hours();
    const double first = by == WorstRequest::JOBS       ? each.jobs()
                         : by == WorstRequest::CRITICAL ? seconds(from_duration(each.critical()))
                         : by == WorstRequest::TIMES    ? each.times()
                                                        : harm;
    return std::pair(first, harm);
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return std::tie(a.what().identity(), a.shard()) < std::tie(b.what().identity(), b.shard());
}

Result<v1::ListWorstResponse> list_worst(const Snapshot& snapshot, const WorstRequest& request, TimePoint now) {
  if (const auto good = check_worst(snapshot, request); !good) return tl::unexpected(good.error());
  const TimePoint to = request.has_to() ? std::min(from_timestamp(request.to()), now) : now;
  const TimePoint from = request.has_from() ? from_timestamp(request.from()) : to - kUsualTime;
  if (from >= to) return fail(ErrorCode::kInvalidArgument, "the time lies ahead, or ends before it begins");
  Ranking ranking(snapshot, request.of(), from, to);
  if (snapshot.incidents)
    for (const auto& incident : *snapshot.incidents)
      if (request.fabric().empty() || incident->finding.cause.fabric == request.fabric()) ranking.add(*incident);
  v1::ListWorstResponse response;
  for (const auto& [key, thing] : ranking.things()) {
    if (thing.harms.empty()) continue;
    v1::WorstThing& to_add = *response.add_things();
    fill_thing(thing, to_add);
    to_add.set_shard(valid_utf8(own_shard(snapshot)));
  }
  std::ranges::sort(*response.mutable_things(),
                    [by = request.by()](const auto& a, const auto& b) { return is_worse(by, a, b); });
  if (const int limit = static_cast<int>(limit_of(request)); response.things_size() > limit)
    response.mutable_things()->DeleteSubrange(limit, response.things_size() - limit);
  set_timestamp(*response.mutable_from(), from);
  set_timestamp(*response.mutable_to(), to);
  const Duration kept = snapshot.incident_retention;
  if (kept > Duration::zero() && from + kRounding < now - kept)
    set_timestamp(*response.mutable_complete_from(), now - kept);
  response.set_elsewhere(ranking.elsewhere());
  say_if_unswept(snapshot, response);
  return response;
}

}  // namespace weft::api
