// SPDX-License-Identifier: Apache-2.0
#include "analyzer/advice/part_advisor.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/advice/link_cases.hpp"
#include "analyzer/advice/whose_fault.hpp"

namespace weft::analyzer {

void PartAdvisor::learn(std::string_view fabric, std::vector<LinkCase> cases) {
  std::ranges::sort(cases, {}, &LinkCase::key);
  cases_.insert_or_assign(std::string(fabric), std::move(cases));
}

const LinkCase* PartAdvisor::find_case(const Entity& link) const {
  const auto fabric = cases_.find(link.fabric);
  if (fabric == cases_.end()) return nullptr;
  const auto found = std::ranges::lower_bound(fabric->second, LinkKey{link.port, link.peer}, {}, &LinkCase::key);
  return found != fabric->second.end() && found->link.same_as(link) ? &*found : nullptr;
}

/// What the collector of the host, or switch, at that end knows.
void PartAdvisor::add_host(const HostAt& host_at, const LinkCase& link, TimePoint now, LinkEnd& end) {
  const HostWatch* const host = host_at(end.port.port.node);
  if (!host || !host->has_reading || host->lost) return;
  const auto port = std::ranges::find_if(
      host->ports, [&](const PortWatch& one) { return one.place && one.place->port.same_as(end.port); });
  if (port == host->ports.end()) return;
  if (link.troubled != kNever) modules_.note_trouble(*host, *port, link.troubled);
  end.past = modules_.past(*host, *port, now);
  if (end.is_switch) return;
  end.tells_starts = true;
  end.starts = starts_.starts_among(*port, link.downs);
}

/// Of a port whose other end nobody knows.
LinkCase PartAdvisor::case_of(const HostWatch& host, const PortWatch& port, const Entity& cause, TimePoint now) {
  LinkCase one;
  one.link = cause;
  one.a.port = cause;
  one.a.whole = {
      .kind = EntityKind::kHost, .fabric = {}, .port = {}, .peer = {}, .label = host.name, .host = host.name};
  one.a.name = host.name;
  one.b.is_switch = true;
  one.b.name = "the switch";
  one.b.port =
      one.b.whole = {.kind = EntityKind::kPort, .fabric = {}, .port = {}, .peer = {}, .label = "the switch port"};
  one.downs = starts_.downs(port);
  if (port.up && !one.downs.empty()) modules_.note_trouble(host, port, one.troubled = one.downs.back());
  one.a.past = modules_.past(host, port, now);
  one.a.tells_starts = true;
  one.a.starts = starts_.starts_among(port, one.downs);
  for (const PortWatch& other : host.ports) {
    if (&other == &port || other.is_virtual || other.set_down || !other.was_up) continue;
    const std::vector<TimePoint>& downs = starts_.downs(other);
    const bool is_bad = !downs.empty() && now - downs.back() < kInTrouble;
    if (!is_bad && !other.up) continue;
    ++one.a.others.all;
    if (is_bad) ++one.a.others.bad;
  }
  return one;
}

void PartAdvisor::advise(const Hosts& hosts, const HostAt& host_at, std::vector<Finding>& findings, TimePoint now) {
  for (Finding& finding : findings) {
    const Entity& cause = finding.cause;
    if (!is_of_a_part(finding.kind)) continue;
    if (cause.kind == EntityKind::kHostPort) {
      const auto host = hosts.find(cause.host);
      const PortWatch* const port =
          host == hosts.end() ? nullptr : find_port(host->second, cause.device, cause.port.port.value);
      if (port) finding.advice = whose_fault(case_of(host->second, *port, cause, now));
      continue;
    }
    const LinkCase* const known = cause.kind == EntityKind::kLink ? find_case(cause) : nullptr;
    if (!known || (known->is_slow_by_configuration && finding.kind == IncidentKind::kLinkDegraded)) continue;
    LinkCase one = *known;
    // It lasts, as a flap or a burst of errors does not.
    if (finding.kind == IncidentKind::kLinkDegraded) one.troubled = now;
    if (finding.kind == IncidentKind::kLinkErrors)
      for (const Evidence& evidence : finding.evidence) one.troubled = std::max(one.troubled, evidence.observed);
    add_host(host_at, one, now, one.a);
    add_host(host_at, one, now, one.b);
    finding.advice = whose_fault(one);
  }
}

}  // namespace weft::analyzer
