// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/host_links.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/links/link_findings.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

enum HostFlapSource : unsigned { kByState, kByCarrier, kByLinkDowned, kByLinkDownEvents };

}  // namespace

// Ports of less than half the rate are for management.
WaysLeft HostLinks::ways_left(const HostWatch& host, const PortWatch& port) const {
  WaysLeft ways{.of = host.name, .is_host = true};
  for (const PortWatch& other : host.ports) {
    const bool is_way = other.was_up && !other.is_virtual && !other.set_down;
    if (!is_way || other.best_rate * 2 < port.best_rate) continue;
    ++ways.all;
    if (other.up && !is_gone(other)) ++ways.up;
  }
  return ways;
}

void HostLinks::report_down(const HostWatch& host, const PortWatch& port, std::vector<Finding>& findings) const {
  const LinkDown::Sight sight = port.present ? LinkDown::Sight::kHost : LinkDown::Sight::kDeviceGone;
  const Entity cause = port.place          ? port.place->link
                       : port.place_before ? port.place_before->link
                                           : entity_of(host, port);
  Finding finding = link_down(
      reported_link(host, port, cause),
      {.sight = sight, .where = {}, .ways = ways_left(host, port), .critical_ways = thresholds_.critical_ways_left});
  weigh_jobs(finding);
  const std::string why = port.reason.empty() ? std::string() : ": " + port.reason;
  finding.evidence.push_back(
      {.signal = "host_port_state",
       .description = port.label + (port.up ? " came up again" : " reported that it was down" + why),
       .value = port.up ? 1.0 : 0.0,
       .threshold = 0,
       .unit = "",
       .observed = port.changed == kNever ? port.missing_since : port.changed,  // it may be gone since we began
       .where = entity_of(host, port)});
  findings.push_back(std::move(finding));
}

void HostLinks::restore(const PortWatch& port, const FlapState& known) {
  Link& link = links_[port.slot];
  link.flaps = std::make_unique<FlapRecord>();
  link.flaps->restore(known, thresholds_);
}

const FlapState* HostLinks::flaps(const PortWatch& port) const {
  const Link& link = links_[port.slot];
  return link.flaps ? &link.flaps->state : nullptr;
}

void HostLinks::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  const auto counts = [](const HostSeries& series) -> std::optional<Counts> {
    if (series.name == "carrier_down") return Counts::kCarrier;
    if (series.name == "link_downed") return Counts::kLinkDowned;
    if (series.name == "link_down_events") return Counts::kLinkDownEvents;
    return std::nullopt;
  };
  for (const PortWatch& port : host.ports) links_[port.slot].followed.clear();
  follow_series(host, followed, counts,
                [&](const PortWatch& port, const auto& count) { links_[port.slot].followed.push_back(count); });
}

void HostLinks::went_down(const PortWatch& port, Link& link, unsigned source, std::uint64_t times, TimePoint at) {
  const bool meant = port.set_down || link.set_down_lately || port.exempt;
  if (times == 0 || meant || port.is_virtual) return;
  if (!link.flaps) {
    link.flaps = std::make_unique<FlapRecord>();
    link.flaps->state.updated = at;
  }
  link.flaps->note(source, times);
}

void HostLinks::take_carrier(const PortWatch& port, Link& link, std::uint64_t downs, TimePoint at) {
  if (link.carrier_downs && downs > *link.carrier_downs)
    went_down(port, link, kByCarrier, downs - *link.carrier_downs, at);
  link.carrier_downs = downs;
}

bool HostLinks::take(const HostWatch& host, const HostMovement& movement, bool is_late) {
  bool flapped = false;
  for (const PortWatch& port : host.ports) {
    Link& link = links_[port.slot];
    if (!is_late) {
      link.set_down_lately = link.set_down_lately || port.set_down;
      if (port.fell) went_down(port, link, kByState, 1, movement.taken);
      if (port.present) {
        link.best_rate = std::max(link.best_rate, port.rate);
        link.slow_readings = port.rate > 0 && port.rate < link.best_rate ? link.slow_readings + 1 : 0;
      }
    }
    for (const auto& [series, counts] : link.followed) {
      const SeriesMovement& row = movement.series[series];
      if (!row.present) continue;
      if (counts == Counts::kCarrier)
        take_carrier(port, link, row.value, movement.taken);
      else
        went_down(port, link, counts == Counts::kLinkDowned ? kByLinkDowned : kByLinkDownEvents, row.delta.moved,
                  movement.taken);
    }
    const auto change = link.flaps ? link.flaps->settle(thresholds_, movement.taken, true) : FlapRecord::Change{};
    if (is_late && change.counted) link.flaps->set_past();
    link.news = link.news || change.sides;
    flapped = flapped || change.counted;
    link.set_down_lately = port.set_down;
  }
  return flapped;
}

bool HostLinks::take_event(const PortWatch& port, const LinkEvent& event, bool is_late) {
  Link& link = links_[port.slot];
  link.set_down_lately = link.set_down_lately || event.administrative;
  if (event.carrier_down_count) take_carrier(port, link, *event.carrier_down_count, event.at);
  if (is_late ? !event.up : port.fell) went_down(port, link, kByState, 1, event.at);
  link.news = link.news || !is_late;
  const bool counted = link.flaps && link.flaps->settle(thresholds_, event.at, false).counted;
  if (is_late && counted) link.flaps->set_past();
  return counted;
}

bool HostLinks::has_news(const HostWatch& host) const {
  return std::ranges::any_of(host.ports, [&](const PortWatch& port) { return links_[port.slot].news; });
}

void HostLinks::report_news(const HostWatch& host, TimePoint now, std::vector<Finding>& findings) {
  for (const PortWatch& port : host.ports)
    if (std::as_const(links_)[port.slot].news) report(host, port, now, findings);
}

/// Is it down against somebody's will, or up again for so short a time that it may fall again?
bool HostLinks::is_down(const PortWatch& port, const Link& link, TimePoint now) const {
  if (!port.was_up || port.is_virtual || port.set_down) return false;
  if (is_gone(port)) return true;
  if (!port.known) return false;
  if (!port.up) return !link.flaps || !link.flaps->hides_down(port.changed, now, thresholds_);
  return link.down_reported && now - port.changed < thresholds_.host_port_hold;
}

bool HostLinks::is_slow(const PortWatch& port, const Link& link) {
  return port.up && port.present && !port.is_virtual && link.slow_readings >= kHostReadingsToBelieve;
}

void HostLinks::report_slow(const HostWatch& host, const PortWatch& port, const Link& link, TimePoint now,
                            std::vector<Finding>& findings) const {
  const double rate = static_cast<double>(port.rate) / 1e9;
  const double best = static_cast<double>(link.best_rate) / 1e9;
  Finding finding =
      link_degraded(reported_link(host, port, told_by(host, cable_of(host, port))), Severity::kWarning, 0.8,
                    "runs at " + short_number(rate) + " Gb/s, before at " + short_number(best) + " Gb/s");
  finding.evidence.push_back({.signal = "rate",
                              .description = "the port's rate was " + short_number(rate) + " Gb/s; the best seen was " +
                                             short_number(best) + " Gb/s",
                              .value = rate,
                              .threshold = best,
                              .unit = "Gb/s",
                              .observed = now,
                              .where = place_of(host, port)});
  // The other end of an Ethernet cable may have told the same.
  add_degraded(std::move(finding), findings);
}

void HostLinks::report(const HostWatch& host, const PortWatch& port, TimePoint now, std::vector<Finding>& findings) {
  Link& link = links_[port.slot];
  const bool at_once = std::exchange(link.news, false);
  if (link.flaps) {
    link.flaps->settle(thresholds_, now, false);
    if (link.flaps->is_forgotten()) link.flaps.reset();
  }
  const bool down = is_down(port, link, now);
  if (port.place) {
    if (port.place->is_blind) link.down_reported = down;
    if (port.place->is_blind ? down : at_once && down && !port.up) report_down(host, port, findings);
    if (port.place->is_ethernet && is_slow(port, link)) report_slow(host, port, link, now, findings);
    return;
  }
  link.down_reported = down;
  if (down && !(port.place_before && port.place_before->is_swept)) report_down(host, port, findings);
  if (link.flaps && (link.flaps->is_flapping() || link.flaps->is_single(now)))
    findings.push_back(
        link_flap(reported_link(host, port, entity_of(host, port)), *link.flaps, FlapWitness::kHost, thresholds_, now));
  if (is_slow(port, link)) report_slow(host, port, link, now, findings);
}

}  // namespace weft::analyzer
