// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/harm.hpp"

#include <algorithm>
#include <map>

namespace weft::scenarios {

void HarmLedger::pass(const Loads& loads, double to) {
  const double seconds = to - passed_;
  passed_ = std::max(passed_, to);
  if (seconds <= 0) return;
  for (const Bottleneck& bottleneck : loads.bottlenecks)
    for (const ResourceIndex held : bottleneck.held)
      if (held < ports_)
        waited_[std::uint64_t{bottleneck.resource} << 32U | held] += seconds * static_cast<double>(loads.waiting[held]);
}

void HarmLedger::close(double at) {
  std::map<ResourceIndex, double> longest;
  for (const auto& [who, seconds] : waited_) {
    double& known = longest[static_cast<ResourceIndex>(who >> 32U)];
    known = std::max(known, at > opened_ ? seconds / (at - opened_) : 0);
  }
  windows_.push_back({.end = at, .waited = {longest.begin(), longest.end()}});
  waited_.clear();
  opened_ = at;
}

double HarmLedger::worst(const Window& window, std::span<const ResourceIndex> resources) {
  double worst = 0;
  for (const ResourceIndex resource : resources) {
    const auto found = std::ranges::lower_bound(window.waited, resource, {}, &std::pair<ResourceIndex, double>::first);
    if (found != window.waited.end() && found->first == resource) worst = std::max(worst, found->second);
  }
  return worst;
}

bool HarmLedger::congested_after(std::span<const ResourceIndex> resources, std::size_t windows) const {
  unsigned harmful = 0;
  double sum = 0;
  for (std::size_t back = 1; back <= std::min<std::size_t>(windows, kLongHarmWindows); ++back) {
    const double share = worst(windows_[windows - back], resources);
    sum += share;
    if (back <= kHarmWindows && share >= kHarm) ++harmful;
  }
  return harmful >= kHarmSweeps || sum >= kHarm * kLongHarmWindows;
}

bool HarmLedger::congested(std::span<const ResourceIndex> resources, double at) const {
  const auto end = std::ranges::upper_bound(windows_, at, {}, &Window::end);
  const auto windows = static_cast<std::size_t>(end - windows_.begin());
  // Windows end where sweeps begin, and nodes are read in the course of them: the last readings are of the next window.
  return congested_after(resources, windows) || (windows < windows_.size() && congested_after(resources, windows + 1));
}

bool HarmLedger::ever_congested(std::span<const ResourceIndex> resources, double from, double to) const {
  for (std::size_t windows = 1; windows <= windows_.size(); ++windows) {
    const double end = windows_[windows - 1].end;
    if (end > from && end <= to && congested_after(resources, windows)) return true;
  }
  return false;
}

std::vector<ResourceIndex> resources_of(const Plan& plan, const Place& place, bool receiving) {
  std::vector<ResourceIndex> resources;
  const auto add = [&](PortIndex port) {
    const PortIndex peer = plan.ports[port].peer;
    if (peer == kNoIndex) return;
    const std::uint32_t endpoint = plan.endpoint_at(port);
    if (receiving) {
      if (endpoint != kNoIndex) resources.push_back(static_cast<ResourceIndex>(plan.ports.size()) + endpoint);
      return;
    }
    resources.push_back(port);
    resources.push_back(peer);
  };
  for (NodeIndex node = 0; node < plan.nodes.size(); ++node) {
    const Node& here = plan.nodes[node];
    if (here.guid != place.a.node && here.guid != place.b.node) continue;
    for (PortIndex port = here.first_port; port < here.first_port + here.port_entries(); ++port) {
      if (place.kind == EntityKind::kNode) {
        // A switch is blamed for its links to other switches.
        if (plan.tiers[node] == Tier::kAdapter || plan.endpoint_at(port) == kNoIndex) add(port);
      } else if (plan.key_of(port) == place.a || plan.key_of(port) == place.b) {
        add(port);
      }
    }
  }
  return resources;
}

}  // namespace weft::scenarios
