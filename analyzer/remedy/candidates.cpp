// SPDX-License-Identifier: Apache-2.0
#include "analyzer/remedy/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "analyzer/remedy/switch_ends.hpp"
#include "fabric/graph/job_health.hpp"
#include "fabric/link_rate.hpp"
#include "fabric/number_text.hpp"

namespace weft::analyzer {
namespace {

// The retransmission time-out that collectives commonly run with (4.096 us · 2^20; InfiniBand Architecture, vol. 1,
// 9.7.6.1.3): a lost packet stops its flow for so long.
constexpr double kRetransmissionTimeout = 4.3;
// Packets on a link that works at half its rate, each of 4 KiB.
constexpr double kUsualUtilization = 0.5;
// Errors per bit at which one packet of 4 KiB in thirty is lost, so that some packet of a connection is soon lost more
// often than it is repeated (retry_cnt has three bits: ibv_modify_qp(3)). That ends a job as a flap does.
constexpr double kBreakingRate = 1e-6;

/// Of an adapter's node; empty where nobody named it.
std::string host_in(const Topology& topology, NodeIndex node, const HostIdentities& hosts) {
  if (topology.is_ethernet() || topology.node(node).aggregation_node)
    return std::string(host_name(topology.node(node)));
  return hosts.host_of(topology.node(node).guid);
}

/// The adapter at either end of the link, or kNoIndex.
NodeIndex adapter_at(const Topology& topology, const Entity& link) {
  for (const PortKey key : {link.port, link.peer}) {
    const NodeIndex node = topology.find_node(key.node);
    if (node != kNoIndex && topology.node(node).type == NodeType::kChannelAdapter) return node;
  }
  return kNoIndex;
}

// What mends a link, or a host's port, that fails, flaps, degrades or loses.
bool is_trouble_of_a_link(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kLinkFlap:
    case IncidentKind::kLinkDegraded:
    case IncidentKind::kLinkErrors:
    case IncidentKind::kSilentLoss:
      return true;
    default:
      return false;
  }
}

bool is_trouble_of_a_host(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kLinkDown:
    case IncidentKind::kNodeDown:
    case IncidentKind::kRdmaErrors:
    case IncidentKind::kSlowReceiver:
    case IncidentKind::kPfcStorm:
    case IncidentKind::kStraggler:
      return true;
    default:
      return is_trouble_of_a_link(kind);
  }
}

std::optional<Remedy> drain(std::string host) {
  if (host.empty()) return std::nullopt;
  return Remedy{RemedyAction::kDrainNode, host_entity(std::move(host))};
}

const Evidence* evidence_in(const Incident& incident, std::string_view unit) {
  const auto found = std::ranges::find(incident.finding.evidence, unit, &Evidence::unit);
  return found == incident.finding.evidence.end() ? nullptr : &*found;
}

// A link that went down once, without a flap penalty over its limit, is as good as any other.
bool is_single_flap(const Incident& incident) {
  return incident.finding.kind == IncidentKind::kLinkFlap && evidence_in(incident, "events") &&
         !evidence_in(incident, "points");
}

}  // namespace

const std::string& RemedySettings::actuator(RemedyAction action, const Entity& target, const RemedyView& view) const {
  if (!view.is_ethernet_link(target)) return actuator(action);
  const bool is_isolation = action == RemedyAction::kIsolateLink || action == RemedyAction::kRestoreLink;
  if (is_isolation && !switch_actuator.empty() && switch_end(target, view)) return switch_actuator;
  return ethernet_actuators[static_cast<std::size_t>(action)];
}

const FabricView* RemedyView::fabric(std::string_view name) const {
  const auto found = std::ranges::find(fabrics, name, &FabricView::name);
  return found == fabrics.end() ? nullptr : &*found;
}

bool RemedyView::is_manager_unheard(std::string_view name) const {
  const FabricView* of = fabric(name);
  if (!managers || (of && of->sweep && of->sweep->topology->is_ethernet())) return false;
  const auto sign = managers->find(name);
  return sign == managers->end() || sign->second == ManagerSign::kUnheard || sign->second == ManagerSign::kSilent;
}

const Incident* RemedyView::incident(std::uint64_t id) const {
  const auto found = std::ranges::find_if(incidents, [id](const auto& incident) { return incident->id == id; });
  return found == incidents.end() ? nullptr : found->get();
}

std::vector<const HostView*> RemedyView::hosts_of(std::string_view host) const {
  if (!hosts_by_name.is_of(hosts))
    hosts_by_name = HostIndex(hosts, [](const auto& entry) -> const std::string& { return entry->host; });
  std::vector<const HostView*> found;
  for (const std::size_t at : hosts_by_name.find(host)) found.push_back(hosts[at].get());
  return found;
}

std::vector<const NodeHealth*> RemedyView::all_health_of(std::string_view host) const {
  if (!health_by_name.is_of(health)) health_by_name = HostIndex(health, &NodeHealth::node);
  std::vector<const NodeHealth*> found;
  for (const std::size_t at : health_by_name.find(host)) found.push_back(&health[at]);
  return found;
}

const NodeHealth* RemedyView::health_of(std::string_view host) const {
  const NodeHealth* worst = nullptr;
  for (const NodeHealth* entry : all_health_of(host))
    if (!worst || worse_of(worst->verdict, entry->verdict) != worst->verdict) worst = entry;
  return worst;
}

bool RemedyView::is_ethernet_link(const Entity& target) const {
  if (target.kind != EntityKind::kLink) return false;
  const FabricView* of = fabric(target.fabric);
  return of && of->sweep && of->sweep->topology && of->sweep->topology->is_ethernet();
}

bool RemedyView::is_link_down(const Entity& target) const {
  const FabricView* of = target.kind == EntityKind::kLink ? fabric(target.fabric) : nullptr;
  if (!of || !of->sweep || !of->sweep->topology || of->sweep->topology->is_ethernet()) return false;
  bool is_read = false;
  for (const PortKey end : {target.port, target.peer}) {
    const PortIndex port = of->sweep->topology->find_port(end);
    const PortPhysicalState state =
        port == kNoIndex ? PortPhysicalState::kUnknown : of->sweep->topology->port(port).physical_state;
    if (state == PortPhysicalState::kLinkUp) return false;
    is_read |= state != PortPhysicalState::kUnknown;
  }
  return is_read;
}

Entity host_entity(std::string host) {
  Entity entity{.kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = host};
  entity.host = std::move(host);
  return entity;
}

Entity link_entity(std::string fabric, const Topology& topology, PortIndex port) {
  const LinkKey key = *topology.link_of(port);
  return {.kind = EntityKind::kLink,
          .fabric = std::move(fabric),
          .port = key.low,
          .peer = key.high,
          .label = port_label(topology, topology.find_port(key.low)) + " - " +
                   port_label(topology, topology.find_port(key.high))};
}

std::optional<Remedy> remedy_for(const Incident& incident, const RemedyView& view, const HostIdentities& hosts) {
  const Entity& cause = incident.finding.cause;
  if (is_single_flap(incident)) return std::nullopt;
  if (!is_trouble_of_a_host(incident.finding.kind)) return std::nullopt;
  if (cause.kind == EntityKind::kHostPort || cause.kind == EntityKind::kHost) return drain(cause.host);
  const FabricView* fabric = view.fabric(cause.fabric);
  if (!fabric || !fabric->sweep) return std::nullopt;
  const Topology& topology = *fabric->sweep->topology;
  if (cause.kind == EntityKind::kNode) {
    const NodeIndex node = topology.find_node(cause.port.node);
    if (node == kNoIndex || topology.node(node).type != NodeType::kChannelAdapter) return std::nullopt;
    return drain(host_in(topology, node, hosts));
  }
  Entity link = cause;
  if (cause.kind == EntityKind::kPort) {
    const PortIndex port = topology.find_port(cause.port);
    if (port == kNoIndex || !topology.link_of(port)) return std::nullopt;
    link = link_entity(cause.fabric, topology, port);
  }
  if (link.kind != EntityKind::kLink) return std::nullopt;
  if (const NodeIndex adapter = adapter_at(topology, link); adapter != kNoIndex)
    return drain(host_in(topology, adapter, hosts));
  if (!is_trouble_of_a_link(incident.finding.kind)) return std::nullopt;
  link.host.clear();  // who told of it
  return Remedy{RemedyAction::kIsolateLink, std::move(link)};
}

Harm harm_of(const Incident& incident, const RemedyView& view, const RemedyLimits& limits) {
  const double communication = limits.communication_share;
  switch (incident.finding.kind) {
    case IncidentKind::kLinkFlap: {
      // At least as often as it took to call it flapping; the beginnings of the last day where there were more.
      const double restart = seconds(limits.restart_cost);
      const auto since = incident.updated - std::chrono::hours(1);
      const auto recent = std::ranges::count_if(incident.beginnings, [&](TimePoint at) { return at > since; });
      const double each_hour = std::max<double>(1, static_cast<double>(recent));
      const double ratio = std::min(1.0, each_hour * restart / 3600);
      return {ratio, "a flap restarts a job: " + share_text(ratio) + " of its time at " +
                         std::to_string(static_cast<int>(each_hour)) +
                         (each_hour < 2 ? " flap an hour" : " flaps an hour")};
    }
    case IncidentKind::kLinkDegraded: {
      const Evidence* rate = evidence_in(incident, "Gb/s");
      const double share =
          rate && rate->threshold > 0 && rate->value > 0 ? std::clamp(rate->value / rate->threshold, 0.01, 1.0) : 0.5;
      const double ratio = std::min(1.0, communication * (1 / share - 1));
      return {ratio, "a collective is as slow as its slowest link, at " + share_text(share) +
                         " of its rate: " + share_text(ratio) + " of a job's time"};
    }
    case IncidentKind::kLinkErrors: {
      const Evidence* errors = evidence_in(incident, "errors/bit");
      double rate = 100e9;
      if (const FabricView* fabric = view.fabric(incident.finding.cause.fabric); fabric && fabric->sweep) {
        const PortIndex port = fabric->sweep->topology->find_port(incident.finding.cause.port);
        if (port != kNoIndex) {
          const Port& end = fabric->sweep->topology->port(port);
          if (const double active = end.bits_per_second(); active > 0) rate = active;
        }
      }
      const double each_second = (errors ? errors->value : 1e-12) * rate * kUsualUtilization;
      const double ratio = communication * std::min(1.0, each_second * kRetransmissionTimeout);
      return {ratio,
              "each lost packet stalls its flow until it is retransmitted: " + share_text(ratio) + " of a job's time",
              ratio + (errors ? errors->value : 0) / kBreakingRate};
    }
    case IncidentKind::kSilentLoss:
      return {communication,
              "unexplained packet loss stalls flows: up to " + share_text(communication) + " of a job's time"};
    default:
      return {communication, "up to " + share_text(communication) + " of the time of a job on it"};
  }
}

Harm cost_of_isolation(LiveTree& tree, UplinkIndex uplink, const Topology& topology, const RemedyLimits& limits) {
  if (uplink == kNoIndex) return {1, "no alternative path is known"};
  if (!tree.is_up(uplink)) return {0, "it carries no traffic now"};
  const auto below = tree.leaves_below(uplink);
  std::vector<std::uint64_t> before;
  before.reserve(below.size());
  const auto leaves = tree.tree().leaves();
  for (const std::uint32_t leaf : below) before.push_back(tree.ways(leaves[leaf]));
  tree.take_out(uplink);
  Harm worst{0, "no leaf loses a path"};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const NodeIndex node = leaves[below[i]];
    const std::uint64_t after = tree.ways(node);
    if (after == before[i]) continue;
    const double ratio = after == 0
                             ? 1
                             : std::min(1.0, limits.communication_share *
                                                 (static_cast<double>(before[i]) / static_cast<double>(after) - 1));
    if (ratio < worst.ratio || ratio == 0) continue;
    worst = {ratio, topology.node(node).name + " keeps " + std::to_string(after) + " of " + std::to_string(before[i]) +
                        " uplink paths: " + share_text(ratio) + " of a job's time"};
  }
  tree.put_back(uplink);
  return worst;
}

Harm cost_of_isolation(std::span<const CrossSection> sections, const RemedyLimits& limits) {
  Harm worst{0, "no traffic loses a cable"};
  for (const CrossSection& section : sections) {
    const std::uint32_t after = section.kept - std::min(section.kept, 1U);
    if (after == 0 && section.has_detour) continue;
    double ratio = 1;
    if (after > 0)
      ratio = std::min(
          1.0, limits.communication_share * (static_cast<double>(section.kept) / static_cast<double>(after) - 1));
    if (ratio <= worst.ratio) continue;
    worst = {ratio, section.name + " keep " + std::to_string(after) + " of " + std::to_string(section.kept) + ": " +
                        share_text(ratio) + " of a job's time"};
  }
  return worst;
}

std::vector<Candidate> candidates_for(const Incident& incident, const Remedy& remedy, const RemedyView& view,
                                      LiveTree* tree, const CabledShape* shape, const RemedyLimits& limits) {
  std::vector<Candidate> candidates;
  const Harm harm = harm_of(incident, view, limits);
  candidates.push_back({RemedyAction::kNothing, incident.finding.cause, 0, harm.ratio, true, harm.explanation});
  if (remedy.action == RemedyAction::kIsolateLink || remedy.action == RemedyAction::kRaiseLinkCost) {
    Harm cost{1, "the cabling there is unknown"};
    const FabricView* fabric = view.fabric(remedy.target.fabric);
    if (tree && fabric && fabric->sweep) {
      const Topology& topology = *fabric->sweep->topology;
      const PortIndex port = topology.find_port(remedy.target.port);
      const auto sections = port == kNoIndex || !shape ? std::vector<CrossSection>{} : cross_sections(*shape, port);
      if (sections.empty())
        cost = cost_of_isolation(*tree, port == kNoIndex ? kNoIndex : tree->tree().uplink_of(port), topology, limits);
      else if (topology.port(port).is_up())
        cost = cost_of_isolation(sections, limits);
      else
        cost = {0, "it carries no traffic now"};
    }
    // The same ways are lost, but the link need not train again and stays the last resort.
    if (remedy.action == RemedyAction::kRaiseLinkCost)
      candidates.push_back({remedy.action, remedy.target, cost.ratio, 0, false, cost.explanation + "; it stays up"});
    candidates.push_back({RemedyAction::kIsolateLink, remedy.target, cost.ratio, 0, false, cost.explanation});
  } else {
    // What runs there goes on and suffers as before; what would have been placed there does not.
    candidates.push_back({remedy.action, remedy.target, 0, harm.ratio / 2, false,
                          "no new jobs there; running jobs may finish and are affected until then"});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::total_ratio);
  return candidates;
}

}  // namespace weft::analyzer
