// SPDX-License-Identifier: Apache-2.0
#include "analyzer/loss/host_losses.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

constexpr std::size_t kMostRivalsNamed = 3;
/// A link stays blamed for errors, and congested, so long after it last was: sweeps are apart, and windows reach back.
constexpr Duration kHeeded = std::chrono::minutes(2);

/// Rare losses are looked for in windows so much longer, down to shares so much smaller …
constexpr int kRareWindow = 6;
constexpr double kRareShare = 10;
/// … of which what is bad is so far from what is good: a host with more traffic shows smaller differences.
constexpr double kRareContrast = 3;
/// They end after fewer windows, and packet counters are remembered of fewer sweeps.
constexpr unsigned kRareQuietWindows = 2;
constexpr std::size_t kRareSweeps = 28;

/// What the packet counters of cables and switches say is weighed so often, by what hosts sent again since the oldest
/// of so many times before: as long as those counters are remembered.
constexpr Duration kWeighed = std::chrono::seconds(20);
constexpr std::size_t kWeighings = 17;
/// Hosts must have sent again such a share of what vanished: each NAK of a sequence may stand for several packets.
constexpr double kSentAgainShare = 0.5;
constexpr double kSureOfBalance = 0.95;
/// A supposed rare loss of which the counters of its place show no more than this share is elsewhere.
constexpr double kRefutedShare = 0.3;

/// So many of so many hosts say how long a window must be: one slow collector must not make it long for all others.
/// Hosts that are read fewer times in a window are left out.
constexpr std::size_t kHostsInTime = 9, kOfHosts = 10;
constexpr int kFewestReadings = 2;

LossThresholds for_rare_losses(LossThresholds thresholds) {
  thresholds.window *= kRareWindow;
  thresholds.good_ratio /= kRareShare;
  thresholds.bad_ratio = thresholds.good_ratio * kRareContrast;
  thresholds.quiet_windows = kRareQuietWindows;
  return thresholds;
}

/// What a driver tells of transfers.
enum TransferKind : std::uint8_t { kTellsSent = 1, kTellsReceived = 2, kTellsSentAgain = 4, kTellsOutOfSequence = 8 };

struct TransferCounter {
  std::string_view name;
  TransferKind kind;
  std::uint64_t TransferTotals::*total;
};
constexpr TransferCounter kTransferCounters[] = {
    {"transmit_packets", kTellsSent, &TransferTotals::sent},
    {"receive_packets", kTellsReceived, &TransferTotals::received},
    {"sequence_nak", kTellsSentAgain, &TransferTotals::sent_again},
    {"implied_nak", kTellsSentAgain, &TransferTotals::sent_again},
    {"ack_timeout", kTellsSentAgain, &TransferTotals::sent_again},
    {"out_of_sequence", kTellsOutOfSequence, &TransferTotals::out_of_sequence}};

bool have_common(const std::vector<PortIndex>& ports, const std::map<PortIndex, TimePoint>& others) {
  return std::ranges::any_of(ports, [&](PortIndex port) { return others.contains(port); });
}

Entity entity_at(const std::string& fabric, const Topology& topology, PortIndex port) {
  return {.kind = EntityKind::kPort,
          .fabric = fabric,
          .port = topology.key_of(port),
          .peer = {},
          .label = port_label(topology, port)};
}

/// The links of `last` that were seen within kHeeded; forgets the others.
std::vector<LinkKey> heeded(std::map<LinkKey, TimePoint>& last, TimePoint now) {
  std::erase_if(last, [now](const auto& link) { return now - link.second > kHeeded; });
  std::vector<LinkKey> links;
  for (const auto& [link, seen] : last) links.push_back(link);
  return links;
}

Entity entity_of(const std::string& fabric, const Topology& topology, const LossSuspect& suspect) {
  if (suspect.sender == kNoIndex) {
    const Node& node = topology.node(suspect.node);
    return {.kind = EntityKind::kNode, .fabric = fabric, .port = {node.guid, {}}, .peer = {}, .label = node.name};
  }
  const LinkKey key = *topology.link_of(suspect.sender);
  return {.kind = EntityKind::kLink,
          .fabric = fabric,
          .port = key.low,
          .peer = key.high,
          .label = port_label(topology, topology.find_port(key.low)) + " - " +
                   port_label(topology, topology.find_port(key.high))};
}

/// Removes losses of cables that were pulled or moved since `before`; all where its indices mean nothing any more.
void forget_moved(const Topology& before, const Topology& now, std::vector<SilentLoss>& losses) {
  std::erase_if(losses, [&](const SilentLoss& loss) {
    return before.epoch() != now.epoch() || (loss.suspect.sender != kNoIndex && before.port(loss.suspect.sender).peer !=
                                                                                    now.port(loss.suspect.sender).peer);
  });
}

}  // namespace

bool HostLosses::Transfers::complete() const {
  return (kinds & kTellsSent) && (kinds & kTellsReceived) && (kinds & (kTellsSentAgain | kTellsOutOfSequence));
}

void HostLosses::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto counter_of = [](const HostSeries& series) -> std::optional<const TransferCounter*> {
    const auto found = std::ranges::find(kTransferCounters, series.name, &TransferCounter::name);
    return found == std::end(kTransferCounters) ? std::nullopt : std::optional(found);
  };
  for (const PortWatch& port : host.ports) {
    transfers_[port.slot].kinds = 0;
    transfers_[port.slot].followed.clear();
  }
  follow_series(host, followed, counter_of, [&](const PortWatch& port, const auto& counter) {
    Transfers& transfers = transfers_[port.slot];
    transfers.kinds |= counter.what->kind;
    transfers.followed.push_back({counter.series, counter.what->total});
  });
}

void HostLosses::take(const HostWatch& host, const HostMovement& movement) {
  for (const PortWatch& port : host.ports) {
    Transfers& transfers = transfers_[port.slot];
    for (const auto& [series, total] : transfers.followed)
      if (const SeriesMovement& row = movement.series[series]; row.present) transfers.totals.*total += row.delta.moved;
  }
}

void HostLosses::watch(std::span<const FabricView> fabrics) {
  std::erase_if(subnets_, [&](const auto& entry) {
    return std::ranges::none_of(fabrics,
                                [&](const FabricView& view) { return view.watching && view.name == entry.first; });
  });
  for (const FabricView& view : fabrics) {
    if (!view.watching || !view.sweep || !view.sweep->topology) continue;
    Subnet& subnet = subnets_[view.name];
    if (!subnet.tracker) {
      subnet.tracker = std::make_unique<LossTracker>(thresholds_);
      subnet.rare = std::make_unique<LossTracker>(for_rare_losses(thresholds_), kRareSweeps);
    }
    if (subnet.sweep == view.sweep) continue;
    if (subnet.sweep) forget_moved(*subnet.sweep->topology, *view.sweep->topology, subnet.vanishing);
    subnet.sweep = view.sweep;
    subnet.tracker->take(*view.sweep);
    subnet.rare->take(*view.sweep);
    subnet.balance.take(*view.sweep);
  }
}

void HostLosses::apply_findings(std::span<const Finding> findings, TimePoint now) {
  for (const Finding& finding : findings) {
    if (finding.kind != IncidentKind::kLinkErrors || finding.cause.kind != EntityKind::kLink) continue;
    const auto subnet = subnets_.find(finding.cause.fabric);
    if (subnet != subnets_.end()) subnet->second.errors[{finding.cause.port, finding.cause.peer}] = now;
  }
}

void HostLosses::apply_congestion(const Finding& congestion, TimePoint now) {
  const auto subnet = subnets_.find(congestion.cause.fabric);
  if (subnet == subnets_.end() || !subnet->second.sweep) return;
  std::map<LinkKey, TimePoint>& full = subnet->second.full;
  if (congestion.cause.kind == EntityKind::kLink) full[{congestion.cause.port, congestion.cause.peer}] = now;
  if (congestion.cause.kind != EntityKind::kNode) return;
  // Oversubscription: all links of the switch to others.
  const Topology& topology = *subnet->second.sweep->topology;
  const NodeIndex index = topology.find_node(congestion.cause.port.node);
  if (index == kNoIndex) return;
  const Node& node = topology.node(index);
  for (PortIndex port = node.first_port; port < node.first_port + node.port_entries(); ++port) {
    const PortIndex peer = topology.port(port).peer;
    if (peer != kNoIndex && topology.node_of(topology.port(peer)).type == NodeType::kSwitch)
      full[*topology.link_of(port)] = now;
  }
}

bool HostLosses::is_end_on(const std::string& fabric, const PortWatch& port) const {
  return port.present && transfers_[port.slot].complete() && port.place && port.place->port.fabric == fabric;
}

Duration HostLosses::reading_on(const std::string& fabric, const Hosts& hosts) const {
  std::vector<Duration> intervals;
  for (const auto& [name, host] : hosts)
    if (!host.lost && host.has_reading &&
        std::ranges::any_of(host.ports, [&](const PortWatch& port) { return is_end_on(fabric, port); }))
      intervals.push_back(host.interval);
  if (intervals.empty()) return {};
  const std::size_t last = (intervals.size() - 1) * kHostsInTime / kOfHosts;
  std::ranges::nth_element(intervals, intervals.begin() + static_cast<std::ptrdiff_t>(last));
  return intervals[last];
}

std::vector<TransferEnd> HostLosses::ends_on(const std::string& fabric, const Topology& topology, const Hosts& hosts,
                                             Duration window) const {
  std::vector<TransferEnd> ends;
  std::map<std::string_view, std::uint32_t> jobs;
  std::map<std::string_view, std::uint32_t> rails;
  for (const auto& [name, host] : hosts) {
    if (host.lost || !host.has_reading || host.interval * kFewestReadings > window) continue;
    std::vector<std::uint32_t> own;
    for (const std::string& job : host.jobs)
      own.push_back(jobs.emplace(job, static_cast<std::uint32_t>(jobs.size())).first->second);
    const auto on_subnet = [&](const PortWatch& port) { return is_end_on(fabric, port); };
    const bool has_rails = std::ranges::count_if(host.ports, on_subnet) > 1;
    for (const PortWatch& port : host.ports) {
      if (!on_subnet(port)) continue;
      const PortIndex index = topology.find_port(port.place->port.port);
      if (index == kNoIndex) continue;
      // Of hosts with several adapters the ones of the same name talk to each other, as libraries of collectives do it.
      const std::uint32_t rail =
          has_rails ? rails.emplace(port.device, static_cast<std::uint32_t>(rails.size() + 1)).first->second : 0;
      ends.push_back({.port = index, .rail = rail, .totals = transfers_[port.slot].totals, .jobs = own});
    }
  }
  return ends;
}

void HostLosses::remember_hurt(Subnet& subnet, TimePoint now) {
  for (const SilentLoss& loss : subnet.tracker->losses()) {
    for (const PortIndex port : loss.senders) subnet.senders[port] = now;
    for (const PortIndex port : loss.receivers) subnet.receivers[port] = now;
  }
  for (auto* side : {&subnet.senders, &subnet.receivers})
    std::erase_if(*side, [&](const auto& hurt) { return hurt.second < subnet.rare->since(); });
}

void HostLosses::weigh_balance(const std::string& fabric, Subnet& subnet, const Hosts& hosts, TimePoint now) const {
  if (subnet.weighed != kNever && now >= subnet.weighed && now - subnet.weighed < kWeighed) return;
  subnet.weighed = now;
  double sent_again = 0;
  for (const auto& [name, host] : hosts)
    for (const PortWatch& port : host.ports)
      if (is_end_on(fabric, port)) sent_again += static_cast<double>(transfers_[port.slot].totals.sent_again);
  if (subnet.sent_again.size() == kWeighings) subnet.sent_again.erase(subnet.sent_again.begin());
  subnet.sent_again.push_back(sent_again);
  subnet.vanishing.clear();
  double lost = 0;
  const std::vector<LinkKey> blamed = heeded(subnet.errors, now);
  for (const VanishingPoint& point : subnet.balance.losses()) {
    lost += point.vanished.lost;
    if (point.suspect.sender != kNoIndex)
      if (const auto link = subnet.sweep->topology->link_of(point.suspect.sender);
          !link || std::ranges::find(blamed, *link) != blamed.end())
        continue;
    SilentLoss& loss = subnet.vanishing.emplace_back();
    loss.suspect = point.suspect;
    loss.vanishes = true;
    loss.confidence = kSureOfBalance;
    loss.lost = point.vanished.lost;
    loss.passed = point.vanished.passed;
    loss.observed = point.observed;
    loss.ended = now;
  }
  if (kSentAgainShare * lost > sent_again - subnet.sent_again.front()) subnet.vanishing.clear();
}

std::vector<SilentLoss> HostLosses::losses_on(const Subnet& subnet) const {
  std::vector<SilentLoss> all = subnet.tracker->losses();
  for (const SilentLoss& loss : subnet.vanishing)
    if (std::ranges::find(all, loss.suspect, &SilentLoss::suspect) == all.end()) all.push_back(loss);
  for (const SilentLoss& loss : subnet.rare->losses()) {
    if (std::ranges::find(all, loss.suspect, &SilentLoss::suspect) != all.end()) continue;
    const auto vanished = subnet.balance.of(loss.suspect);
    if (vanished && std::max(vanished->lost, vanished->noise) < kRefutedShare * loss.lost) continue;
    // Where short windows show it too, they say where it is, or nobody can.
    const bool shows = loss.lost >= thresholds_.bad_ratio * loss.sent;
    const bool known = have_common(loss.senders, subnet.senders) || have_common(loss.receivers, subnet.receivers);
    if (!shows && !known) all.push_back(loss);
  }
  return all;
}

void HostLosses::judge(const Hosts& hosts, TimePoint now, std::vector<Finding>& findings) {
  for (auto& [fabric, subnet] : subnets_) {
    // Mostly no window is over, and nobody needs to know how often hosts are read.
    const bool may_be_due = subnet.tracker->is_due(now, {}) || subnet.rare->is_due(now, {});
    const Duration reading = may_be_due ? reading_on(fabric, hosts) : Duration::zero();
    for (LossTracker* const tracker : {subnet.tracker.get(), subnet.rare.get()}) {
      if (!tracker->is_due(now, reading)) continue;
      tracker->set_condemned(heeded(subnet.errors, now), heeded(subnet.full, now));
      tracker->end_window(ends_on(fabric, *subnet.sweep->topology, hosts, tracker->window(reading)), now);
    }
    remember_hurt(subnet, now);
    weigh_balance(fabric, subnet, hosts, now);
    for (const SilentLoss& loss : losses_on(subnet)) findings.push_back(tell(fabric, subnet, loss));
  }
}

Finding HostLosses::tell(const std::string& fabric, const Subnet& subnet, const SilentLoss& loss) const {
  const Topology& topology = *subnet.sweep->topology;
  const double share = loss.passed > 0 ? loss.lost / loss.passed : 0;
  Finding finding =
      make_finding(IncidentKind::kSilentLoss,
                   share < thresholds_.good_ratio && loss.passed > 0 ? Severity::kInfo : Severity::kWarning,
                   entity_of(fabric, topology, loss.suspect));
  finding.confidence = loss.confidence;
  finding.summary = "Silent packet loss " + std::string(finding.cause.kind == EntityKind::kLink ? "on " : "in ") +
                    finding.cause.label + (loss.around ? " or on one of its cables" : "") +
                    ": retransmits without drop counters";
  for (const auto* side : {&loss.senders, &loss.receivers})
    for (const PortIndex port : *side) {
      const Node& adapter = topology.node_of(topology.port(port));
      Entity entity{
          .kind = EntityKind::kNode, .fabric = fabric, .port = {adapter.guid, {}}, .peer = {}, .label = adapter.name};
      const auto same = [&](const Entity& other) { return other.same_as(entity); };
      if (finding.affected.size() < kMostAffected && !finding.cause.same_as(entity) &&
          std::ranges::none_of(finding.affected, same))
        finding.affected.push_back(std::move(entity));
    }
  const auto note = [&](std::string signal, std::string text, double value, double threshold, std::string unit) {
    finding.evidence.push_back({.signal = std::move(signal),
                                .description = std::move(text),
                                .value = value,
                                .threshold = threshold,
                                .unit = std::move(unit),
                                .observed = loss.ended,
                                .where = finding.cause,
                                .window = loss.observed});
  };
  const std::string span = short_duration(loss.observed);
  if (loss.vanishes) {
    note("packet_balance",
         "about " + short_number(loss.lost) + " of " + short_number(loss.passed) + " packets that went in within " +
             span + " did not come out, by its packet counters at moments when little passed; hosts retransmitted " +
             "packets too",
         share, 0, "packets/packet");
  } else {
    note("lost_share",
         std::to_string(loss.senders.size()) + " host ports retransmitted, and " +
             std::to_string(loss.receivers.size()) + " received out of sequence, about " + short_number(loss.lost) +
             " packets in " + span + "; the paths between them crossed it (destinations were inferred from jobs)",
         share, loss.limit, "packets/packet");
  }
  if (loss.suspect.sender != kNoIndex)
    note("direction", "of the packets from " + port_label(topology, loss.suspect.sender), 1, 0, "");
  if (loss.spread)
    note("spread_paths",
         "flows take all equal-cost paths (adaptive routing): uplinks carry the same, and the paths of the forwarding "
         "tables explain the losses less well",
         1, 0, "");
  if (loss.support > 0)
    note("packet_balance",
         "its packet counters confirmed it: packets in minus packets out grew by the same amount (log odds)",
         loss.support, 0, "");
  std::size_t named = 0;
  for (const auto& [rival, likelihood] : loss.rivals) {
    if (named++ >= kMostRivalsNamed) break;
    note("could_also_be", entity_of(fabric, topology, rival).label + " could also be the cause", likelihood,
         loss.confidence, "probability");
  }
  return finding;
}

bool HostLosses::absorb(const Finding& trouble, std::vector<Finding>& findings) const {
  if (trouble.kind != IncidentKind::kRdmaErrors || trouble.cause.kind != EntityKind::kPort) return false;
  for (const auto& [fabric, subnet] : subnets_) {
    if (fabric != trouble.cause.fabric) continue;
    const Topology& topology = *subnet.sweep->topology;
    const PortIndex port = topology.find_port(trouble.cause.port);
    for (const SilentLoss& loss : losses_on(subnet)) {
      if (std::ranges::find(loss.senders, port) == loss.senders.end() &&
          std::ranges::find(loss.receivers, port) == loss.receivers.end())
        continue;
      const Entity cause = entity_of(fabric, topology, loss.suspect);
      const auto whole = std::ranges::find_if(findings, [&](const Finding& finding) {
        return finding.kind == IncidentKind::kSilentLoss && finding.cause.same_as(cause);
      });
      if (whole == findings.end()) return false;
      // The port itself is named: that is how the incident book knows what became part of what.
      whole->affected.push_back(entity_at(fabric, topology, port));
      whole->evidence.insert(whole->evidence.end(), trouble.evidence.begin(), trouble.evidence.end());
      return true;
    }
  }
  return false;
}

bool HostLosses::has_judged(std::string_view fabric) const {
  const auto found = subnets_.find(fabric);
  return found != subnets_.end() && found->second.tracker->has_judged() && found->second.rare->has_judged();
}

}  // namespace weft::analyzer
