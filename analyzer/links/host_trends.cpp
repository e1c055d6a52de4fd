// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/host_trends.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/links/fec_ratio.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Modules are read once a minute or less often, and a trend needs no more.
constexpr Duration kSpacing = 55s;
/// Spread below which steadiness is not believed: a module tells its light in steps, and temperature moves it.
constexpr double kLeastDecibels = 0.2;

double decibel_milliwatts(std::uint64_t nanowatts) {
  return 10 * std::log10(static_cast<double>(nanowatts) / 1e6);
}

}  // namespace

void HostTrends::follow(const HostWatch& host, std::vector<std::uint32_t>& followed) {
  if (!host.inventory) return;
  std::vector<Trends> before;
  for (const PortWatch& port : host.ports) before.push_back(std::exchange(trends_[port.slot], {}));
  for (std::uint32_t i = 0; i < host.inventory->series.size(); ++i) {
    const HostSeries& series = host.inventory->series[i];
    if (series.is_raw || (series.name != "module_receive_power" && series.name != "fec_corrected_bit_errors")) continue;
    const PortWatch* const port = find_port(host, series.device, series.port);
    if (!port || port->is_virtual) continue;
    const Figure figure = series.name == "module_receive_power" ? Figure::kReceivePower : Figure::kCorrectedBits;
    const Trends& known = before[static_cast<std::size_t>(port - host.ports.data())];
    const auto same = std::ranges::find_if(
        known, [&](const Trend& trend) { return trend.figure == figure && trend.lane == series.lane; });
    Trend& trend = trends_[port->slot].emplace_back(same == known.end() ? Trend{} : *same);
    trend.series = i;
    trend.figure = figure;
    trend.lane = series.lane;
    followed.push_back(i);
  }
}

void HostTrends::take(Trend& trend, std::uint64_t value, const PortWatch& port, TimePoint at) const {
  // Another rate is another modulation; and whoever had it out for minutes may have put in another cable.
  const bool was_out = trend.taken != kNever && port.changed > trend.taken && at - trend.taken > kTimeForRepair;
  if (trend.rate != port.rate || was_out) trend.drift = {};
  if (trend.figure == Figure::kReceivePower) {
    if (value > 0)
      trend.drift.add(-decibel_milliwatts(value), kLeastDecibels, thresholds_.drift);  // 0: no light, and no link
  } else if (trend.taken != kNever && trend.rate == port.rate) {
    const double bits = static_cast<double>(port.rate) * seconds(at - trend.taken);
    if (!trend.was_reset && bits > 0) add_fec_ratio(trend.drift, trend.repaired, bits, thresholds_);
  }
  trend.taken = at;
  trend.repaired = 0;
  trend.was_reset = false;
  trend.rate = port.rate;
}

void HostTrends::take(const HostWatch& host, const HostMovement& movement, bool is_late) {
  const TimePoint taken = movement.taken;
  for (const PortWatch& port : host.ports)
    for (Trend& trend : trends_[port.slot]) {
      const SeriesMovement& row = movement.series[trend.series];
      if (!row.present) continue;
      trend.repaired += row.delta.moved;
      trend.was_reset = trend.was_reset || row.delta.was_reset || !row.known;
      if (is_late || !port.up) continue;
      if (trend.taken != kNever && taken >= trend.taken && taken - trend.taken < kSpacing) continue;
      take(trend, row.value, port, taken);
    }
}

bool HostTrends::is_worse(const Trend& trend) const {
  if (trend.figure == Figure::kCorrectedBits) return is_fec_worse(trend.drift, thresholds_);
  return trend.drift.drifting() && trend.drift.last() - trend.drift.usual() >= thresholds_.receive_power_drop;
}

Evidence HostTrends::power_evidence(const Trend& trend, const PortWatch& port, const Entity& where,
                                    TimePoint now) const {
  const double power = -trend.drift.last();
  const double usual = -trend.drift.usual();
  const std::string lane = trend.lane == kNoLane ? std::string() : " on lane " + std::to_string(trend.lane);
  return {.signal = "module_receive_power",
          .description = port.label + " receives " + short_number(power) + " dBm" + lane + "; " + short_number(usual) +
                         " dBm is the baseline",
          .value = power,
          .threshold = usual - thresholds_.receive_power_drop,
          .unit = "dBm",
          .observed = now,
          .where = where};
}

void HostTrends::report(const HostWatch& host, TimePoint now, std::vector<Finding>& findings) const {
  for (const PortWatch& port : host.ports) {
    if (is_swept(port) || !port.present || !port.up) continue;
    for (const Trend& trend : trends_[port.slot])
      if (is_worse(trend)) report(host, port, trend, now, findings);
  }
}

void HostTrends::report(const HostWatch& host, const PortWatch& port, const Trend& trend, TimePoint now,
                        std::vector<Finding>& findings) const {
  const Entity cause = cable_of(host, port);
  auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
    return finding.kind == IncidentKind::kLinkDegraded && finding.cause.same_as(cause);
  });
  if (found == findings.end()) {
    Finding finding = make_finding(IncidentKind::kLinkDegraded, Severity::kInfo, cause);
    finding.confidence = 0.8;
    finding.jobs = host.jobs;
    finding.summary = "Link at " + port.label + " is degrading, without packet loss so far";
    found = findings.insert(findings.end(), std::move(finding));
  }
  if (trend.figure == Figure::kReceivePower) {
    found->evidence.push_back(power_evidence(trend, port, cause, now));
  } else {
    found->severity = std::max(found->severity, fec_severity(trend.drift, thresholds_));
    found->evidence.push_back(fec_evidence(trend.drift, thresholds_, port.label, "bits", cause, now));
  }
}

}  // namespace weft::analyzer
