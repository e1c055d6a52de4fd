// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/host_outages.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

/// Intervals without a word after which a collector whose host has lost its link is silent; and one more where it has
/// spoken since: a single report may be lost.
constexpr int kSilentIntervals = 2;
constexpr int kSilentAgainIntervals = 3;
/// Other shards are asked every two seconds about those that were not heard for two, and have one for an answer.
constexpr Duration kAskOthers = std::chrono::seconds(6);

bool says_down(const HostWatch& host, const Entity& link) {
  return std::ranges::any_of(host.ports, [&](const PortWatch& port) {
    return port.place && port.place->link.same_as(link) && port.known && !port.up;
  });
}

bool has_another_link(const HostWatch& host, const Entity& link) {
  return std::ranges::any_of(host.ports, [&](const PortWatch& port) {
    return port.place && port.place->is_up && !port.place->link.same_as(link);
  });
}

Finding node_down(const Finding& link, const HostWatch& host, NodeGuid adapter, bool is_returning) {
  Finding finding = make_finding(
      IncidentKind::kNodeDown, Severity::kCritical,
      {.kind = EntityKind::kNode, .fabric = link.cause.fabric, .port = {adapter, {}}, .peer = {}, .label = host.name});
  finding.affected = {link.cause};
  finding.evidence = link.evidence;
  if (!is_returning)
    finding.evidence.push_back(
        fact("collector_silence", "its collector was heard for the last time", host.heard, collector_of(host.name)));
  finding.confidence = 0.9;
  finding.summary = "Host " + host.name +
                    (is_returning ? " is coming back: its collector reports, but its only link is not up yet"
                                  : " is down or cut off: its only link is not up, and its collector is silent");
  return finding;
}

}  // namespace

/// True while nobody knows which of the two it is. When it is the host, the finding becomes that.
bool HostOutages::is_held(Finding& finding, const HostWatch& host, NodeGuid adapter, TimePoint now) {
  const Duration patience = host.interval * kSilentIntervals;
  Link& link = links_[finding.cause.identity()];
  if (link.since == kNever) {
    link.since = now;
    link.can_tell = host.interval > Duration::zero() && patience <= longest_ && !host.lost;
  }
  link.last = now;
  // A host that another shard hears is not down, whatever its link is.
  if (host.elsewhere && host.elsewhere->is_heard(now)) {
    link.is_host = false;
    link.back_since = kNever;
    return false;
  }
  if (!link.can_tell) return false;
  const bool has_spoken = host.heard > link.since || says_down(host, finding.cause);
  if (!has_spoken && !link.is_host && now - link.since < patience) return true;
  if (has_another_link(host, finding.cause)) return false;
  // By the judgements of hosts as well, one a second: the clock may have leapt, or nobody have listened.
  const Duration silent_after =
      std::max<Duration>(host.interval * kSilentAgainIntervals, has_others_ ? kAskOthers : Duration::zero());
  const bool is_silent = now - std::max(host.heard, link.since) > silent_after && host.unheard > 1;
  if (!has_spoken || is_silent) {
    link.is_host = true;
    link.back_since = kNever;
  } else if (link.is_host) {
    if (link.back_since == kNever) link.back_since = now;
    link.is_host = now - link.back_since < quiet_;
  }
  if (link.is_host) finding = node_down(finding, host, adapter, link.back_since != kNever);
  return false;
}

void HostOutages::remember(const Incident& incident) {
  const Finding& finding = incident.finding;
  // With two links it was not told here.
  if (!incident.is_open() || finding.kind != IncidentKind::kNodeDown || finding.affected.size() != 1) return;
  links_[finding.affected[0].identity()] = {.since = incident.opened, .can_tell = true, .is_host = true};
}

void HostOutages::apply(std::vector<Finding>& findings, const std::function<const HostWatch*(NodeGuid)>& host_at,
                        TimePoint now) {
  // A clock that was set back must not make them last.
  for (auto& [identity, link] : links_) {
    for (TimePoint* const at : {&link.since, &link.last, &link.back_since}) *at = std::min(*at, now);
    if (link.last == kNever) link.last = now;  // remembered
  }
  for (auto& [host, at] : told_) at = std::min(at, now);
  std::erase_if(links_, [&](const auto& entry) { return now - entry.second.last > quiet_; });
  std::erase_if(told_, [&](const auto& entry) { return now - entry.second > quiet_; });
  std::erase_if(findings, [&](Finding& finding) {
    if (finding.kind != IncidentKind::kLinkDown || finding.cause.kind != EntityKind::kLink) return false;
    // The adapter at the cable. On Ethernet the other end may have a collector, too.
    for (const Entity& adapter : finding.affected) {
      const NodeGuid node = adapter.port.node;
      const bool at_cable = node == finding.cause.port.node || node == finding.cause.peer.node;
      const HostWatch* const host = adapter.kind == EntityKind::kNode && at_cable ? host_at(node) : nullptr;
      if (host) return is_held(finding, *host, node, now);
    }
    return false;
  });
  for (const Finding& finding : findings)
    if (finding.kind == IncidentKind::kNodeDown)
      if (const HostWatch* const host = host_at(finding.cause.port.node)) told_[host->name] = now;
}

bool HostOutages::is_told(const std::string& host, TimePoint now) const {
  const auto told = told_.find(host);
  return told != told_.end() && now - told->second <= quiet_;
}

}  // namespace weft::analyzer
