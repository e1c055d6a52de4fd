// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/host_trends.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace weft::analyzer {
namespace {

using namespace std::chrono_literals;
using Figure = LinkTrend::Figure;

/// Modules are read once a minute or less often, and a trend needs no more.
constexpr Duration kSpacing = 55s;

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
    const Figure figure = series.name == "module_receive_power" ? Figure::kReceivePower : Figure::kRepaired;
    const Trends& known = before[static_cast<std::size_t>(port - host.ports.data())];
    const auto same = std::ranges::find_if(
        known, [&](const Trend& trend) { return trend.trend.figure() == figure && trend.lane == series.lane; });
    trends_[port->slot].push_back({i, series.lane, same == known.end() ? LinkTrend(figure) : same->trend});
    followed.push_back(i);
  }
}

void HostTrends::take(const HostWatch& host, const HostMovement& movement, bool is_late) {
  const TimePoint taken = movement.taken;
  for (const PortWatch& port : host.ports)
    for (Trend& followed : trends_[port.slot]) {
      const SeriesMovement& row = movement.series[followed.series];
      if (!row.present) continue;
      LinkTrend& trend = followed.trend;
      if (trend.figure() == Figure::kRepaired)
        trend.add_repaired(row.known && !row.delta.was_reset ? std::optional(row.delta.moved) : std::nullopt);
      if (is_late || !port.up) continue;
      if (trend.taken() != kNever && port.changed > trend.taken()) trend.note_down();
      trend.take(taken, static_cast<double>(port.rate), kSpacing, row.value, thresholds_);
    }
}

void HostTrends::report(const HostWatch& host, TimePoint now, std::vector<Finding>& findings) const {
  for (const PortWatch& port : host.ports) {
    if (is_swept(port) || !port.present || !port.up) continue;
    for (const auto& [series, lane, trend] : trends_[port.slot]) {
      if (!trend.is_worse(thresholds_)) continue;
      const Entity cause = told_by(host, cable_of(host, port));
      trend.report(reported_link(host, port, cause),
                   {.label = port.label,
                    .unit = "bits",
                    .lane = lane == kNoLane ? std::string() : " on lane " + std::to_string(lane),
                    .where = cause},
                   thresholds_, now, findings);
    }
  }
}

}  // namespace weft::analyzer
