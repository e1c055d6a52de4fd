// SPDX-License-Identifier: Apache-2.0
#include "analyzer/links/degraded.hpp"

#include <algorithm>
#include <utility>

#include "analyzer/links/link_findings.hpp"
#include "analyzer/ports/customs.hpp"

namespace weft::analyzer {
namespace {

std::string rate_name(int lane_count, SpeedMask speed) {
  return std::to_string(lane_count) + "X " + speed_name(speed);
}

}  // namespace

void DegradedLinks::update(const Topology& topology, const LinkTable& table) {
  degraded_.clear();
  const std::vector<int> custom = customary_lanes(topology);
  for (PortIndex i = 0; i < topology.ports().size(); ++i) {
    const Port& a = topology.port(i);
    if (a.peer == kNoIndex || a.peer < i || !a.is_up()) continue;
    const Port& b = topology.port(a.peer);
    if (!b.is_up()) continue;
    const auto width =
        static_cast<WidthMask>(a.width_supported & a.width_enabled & b.width_supported & b.width_enabled);
    const auto speed =
        static_cast<SpeedMask>(a.speed_supported & a.speed_enabled & b.speed_supported & b.speed_enabled);
    Degraded found{.link = table.link_at(i)};
    // The ends are read at different moments: the better reading is the one that must be bad.
    found.lanes = std::max(lanes(a.width_active), lanes(b.width_active));
    found.best_lanes = widest_lanes(width);
    found.speed = std::max(a.speed_active, b.speed_active);
    found.best_speed = fastest(speed);
    const bool narrow = found.lanes > 0 && found.lanes < found.best_lanes;
    const bool slow = found.speed != 0 && found.best_speed != 0 && found.speed < found.best_speed;
    if (!narrow && !slow) {
      int expected = 13;
      for (const Port* end : {&a, &b})
        if (custom[end->node] > 0) expected = std::min(expected, custom[end->node]);
      const int supported = widest_lanes(static_cast<WidthMask>(a.width_supported & b.width_supported));
      if (expected == 13 || found.lanes == 0 || found.lanes >= expected || supported < expected) continue;
      found.best_lanes = expected;
      found.by_configuration = true;
    }
    if (found.best_lanes == 0) found.best_lanes = found.lanes;
    if (found.best_speed == 0) found.best_speed = found.speed;
    if (found.link != kNoIndex) degraded_.push_back(found);
  }
}

bool DegradedLinks::is_by_configuration(LinkId link) const {
  return std::ranges::any_of(degraded_,
                             [link](const Degraded& one) { return one.link == link && one.by_configuration; });
}

void DegradedLinks::report(const Topology& topology, const LinkTable& table, const Describe& describe, TimePoint now,
                           std::vector<Finding>& findings) const {
  for (const Degraded& degraded : degraded_) {
    const LinkState& link = table.links()[degraded.link];
    if (link.low_view != EndView::kUp || link.high_view != EndView::kUp) continue;
    const bool narrow = degraded.lanes < degraded.best_lanes;
    const bool slow = degraded.speed < degraded.best_speed;
    std::string what = "runs at ";
    if (narrow) what += std::to_string(degraded.lanes) + "X of " + std::to_string(degraded.best_lanes) + "X";
    if (slow) what += (narrow ? " and " : "") + speed_name(degraded.speed) + " of " + speed_name(degraded.best_speed);
    if (degraded.by_configuration) what += ": limited by its enabled widths, its neighbours run wider";
    Finding finding = link_degraded(reported_link(describe, degraded.link), Severity::kWarning,
                                    degraded.by_configuration ? 0.7 : 0.97, what);
    for (const PortIndex index : {link.low, link.high}) {
      const Port& port = topology.port(index);
      const Entity where = describe.port(topology.key_of(index));
      finding.evidence.push_back(
          {.signal = narrow ? "width_active" : "speed_active",
           .description = where.label + " ran at " + rate_name(lanes(port.width_active), port.speed_active) +
                          ", supported " +
                          rate_name(widest_lanes(port.width_supported), fastest(port.speed_supported)) + ", enabled " +
                          rate_name(widest_lanes(port.width_enabled), fastest(port.speed_enabled)),
           .value = narrow ? lanes(port.width_active) : lane_bits_per_second(port.speed_active) / 1e9,
           .threshold = narrow ? degraded.best_lanes : lane_bits_per_second(degraded.best_speed) / 1e9,
           .unit = narrow ? "lanes" : "Gb/s",
           .observed = now,
           .where = where});
    }
    findings.push_back(std::move(finding));
  }
}

}  // namespace weft::analyzer
