// SPDX-License-Identifier: Apache-2.0
#include "analyzer/hosts/host_trends.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/hosts/host_state.hpp"
#include "analyzer/links/fec_ratio.hpp"
#include "analyzer/ports/describe.hpp"

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;

/// Modules are read once a minute or less often, and a trend needs no more.
constexpr Duration kSpacing = 55s;
/// Spread below which steadiness is not believed: a module tells its light in steps, and temperature moves it.
constexpr double kLeastDecibels = 0.2;

std::optional<HostTrend::Kind> kind_of(const HostSeries& series) {
  if (series.is_raw) return std::nullopt;
  if (series.name == "module_receive_power") return HostTrend::Kind::kReceivePower;
  if (series.name == "fec_corrected_bit_errors") return HostTrend::Kind::kCorrectedBits;
  return std::nullopt;
}

double decibel_milliwatts(std::uint64_t nanowatts) {
  return 10 * std::log10(static_cast<double>(nanowatts) / 1e6);
}

void take(HostTrend& trend, std::uint64_t value, const PortWatch& port, TimePoint at, const Thresholds& thresholds) {
  // Another rate is another modulation; and whoever had it out for minutes may have put in another cable.
  const bool was_out = trend.taken != kNever && port.changed > trend.taken && at - trend.taken > kTimeForRepair;
  if (trend.rate != port.rate || was_out) trend.drift = {};
  if (trend.kind == HostTrend::Kind::kReceivePower) {
    if (value > 0)
      trend.drift.add(-decibel_milliwatts(value), kLeastDecibels, thresholds.drift);  // 0: no light, and no link
  } else if (trend.taken != kNever && trend.rate == port.rate) {
    const double bits = static_cast<double>(port.rate) * seconds(at - trend.taken);
    if (!trend.was_reset && bits > 0) add_fec_ratio(trend.drift, trend.repaired, bits, thresholds);
  }
  trend.taken = at;
  trend.repaired = 0;
  trend.was_reset = false;
  trend.rate = port.rate;
}

bool is_worse(const HostTrend& trend, const Thresholds& thresholds) {
  if (trend.kind == HostTrend::Kind::kCorrectedBits) return is_fec_worse(trend.drift, thresholds);
  return trend.drift.drifting() && trend.drift.last() - trend.drift.usual() >= thresholds.receive_power_drop;
}

Evidence power_evidence(const HostTrend& trend, const HostSeries& series, const PortWatch& port, const Entity& where,
                        const Thresholds& thresholds, TimePoint now) {
  const double power = -trend.drift.last();
  const double usual = -trend.drift.usual();
  const std::string lane = series.lane == kNoLane ? std::string() : " on lane " + std::to_string(series.lane);
  return {.signal = "module_receive_power",
          .description = port.label + " receives " + short_number(power) + " dBm" + lane + "; " + short_number(usual) +
                         " dBm is the baseline",
          .value = power,
          .threshold = usual - thresholds.receive_power_drop,
          .unit = "dBm",
          .observed = now,
          .where = where};
}

}  // namespace

void follow_trends(HostWatch& host, const HostInventory& inventory) {
  const std::vector<HostTrend> before = std::exchange(host.trends, {});
  for (std::uint32_t i = 0; i < inventory.series.size(); ++i) {
    const HostSeries& series = inventory.series[i];
    const auto kind = kind_of(series);
    if (!kind) continue;
    const PortWatch* const port = find_port(host, series.device, series.port);
    if (!port || port->is_virtual) continue;
    HostTrend next;
    const auto same = std::ranges::find_if(before, [&](const HostTrend& old) {
      return host.inventory && old.series < host.inventory->series.size() &&
             host.inventory->series[old.series] == series;
    });
    if (same != before.end()) next = *same;
    next.series = i;
    next.port = static_cast<std::uint32_t>(port - host.ports.data());
    next.kind = *kind;
    host.trends.push_back(next);
  }
}

void take_trends(HostWatch& host, const HostMovement& movement, bool is_late, const Thresholds& thresholds) {
  const TimePoint taken = movement.taken;
  for (HostTrend& trend : host.trends) {
    const PortWatch& port = host.ports[trend.port];
    const SeriesMovement& row = movement.series[trend.series];
    if (!row.present) continue;
    trend.repaired += row.delta.moved;
    trend.was_reset = trend.was_reset || row.delta.was_reset;
    if (is_late || !port.up) continue;
    if (trend.taken != kNever && taken >= trend.taken && taken - trend.taken < kSpacing) continue;
    take(trend, row.value, port, taken, thresholds);
  }
}

void report_trends(const HostWatch& host, const Thresholds& thresholds, TimePoint now, std::vector<Finding>& findings) {
  for (const HostTrend& trend : host.trends) {
    const PortWatch& port = host.ports[trend.port];
    if (is_swept(port) || !port.present || !port.up || !is_worse(trend, thresholds)) continue;
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
    if (trend.kind == HostTrend::Kind::kReceivePower) {
      const HostSeries& series = host.inventory->series[trend.series];
      found->evidence.push_back(power_evidence(trend, series, port, cause, thresholds, now));
    } else {
      found->severity = std::max(found->severity, fec_severity(trend.drift, thresholds));
      found->evidence.push_back(fec_evidence(trend.drift, thresholds, port.label, "bits", cause, now));
    }
  }
}

}  // namespace weft::analyzer
