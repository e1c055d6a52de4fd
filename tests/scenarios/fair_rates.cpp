// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/fair_rates.hpp"

#include <algorithm>
#include <limits>

namespace weft::scenarios {
namespace {

/// Differences of rates below this share are the arithmetic's.
constexpr double kSlack = 1e-9;

class Filling {
 public:
  Filling(std::span<const Flow> flows, std::span<const double> capacities, bool back_pressure)
      : flows_(flows),
        capacities_(capacities),
        back_pressure_(back_pressure),
        users_(capacities.size()),
        open_(capacities.size(), 0) {
    rates_.flows.assign(flows.size(), 0);
    rates_.loads.assign(capacities.size(), 0);
    rates_.waits.assign(capacities.size(), 0);
    moving_.assign(flows.size(), 1);
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow)
      for (const ResourceIndex resource : flows[flow].path) {
        if (users_[resource].empty()) used_.push_back(resource);
        users_[resource].push_back(flow);
        ++open_[resource];
      }
    by_demand_.resize(flows.size());
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) by_demand_[flow] = flow;
    std::ranges::sort(by_demand_, {}, [&](std::uint32_t flow) { return flows_[flow].demand; });
  }

  Rates run() {
    std::size_t next_demand = 0;
    while (true) {
      while (next_demand < by_demand_.size() && !moving_[by_demand_[next_demand]]) ++next_demand;
      if (next_demand == by_demand_.size()) break;
      const double demand = flows_[by_demand_[next_demand]].demand;
      double level = std::numeric_limits<double>::infinity();
      ResourceIndex tightest = 0;
      for (const ResourceIndex resource : used_) {
        if (open_[resource] == 0) continue;
        const double share = std::max(0.0, capacities_[resource] - rates_.loads[resource]) / open_[resource];
        if (share >= level) continue;
        level = share;
        tightest = resource;
      }
      if (demand <= level * (1 + kSlack)) {
        settle(by_demand_[next_demand], demand);
      } else {
        block(tightest, level);
      }
    }
    return std::move(rates_);
  }

 private:
  void settle(std::uint32_t flow, double rate) {
    moving_[flow] = 0;
    rates_.flows[flow] = rate;
    for (const ResourceIndex resource : flows_[flow].path) {
      rates_.loads[resource] += rate;
      --open_[resource];
    }
  }

  /// Everything that still grows and passes `full` stops at `level`, and so does what stands behind it.
  void block(ResourceIndex full, double level) {
    std::vector<ResourceIndex> queue{full};
    std::vector<std::uint32_t> stopped;
    for (std::size_t head = 0; head < (back_pressure_ ? queue.size() : 1); ++head) {
      const ResourceIndex at = queue[head];
      for (const std::uint32_t flow : users_[at]) {
        if (!moving_[flow]) continue;
        settle(flow, level);
        stopped.push_back(flow);
        for (const ResourceIndex resource : flows_[flow].path) {
          if (resource == at) break;
          if (!rates_.waits[resource]) {
            rates_.waits[resource] = 1;
            queue.push_back(resource);
          }
          if (!back_pressure_) break;
        }
      }
    }
    if (queue.size() == 1) return;
    const std::vector<ResourceIndex> held(queue.begin() + 1, queue.end());
    rates_.bottlenecks.push_back({full, held});
    for (const ResourceIndex other : full_as_well(full, stopped)) rates_.bottlenecks.push_back({other, held});
  }

  /// Of several that these flows fill at once, in a row or side by side, none is more to blame than the others.
  std::vector<ResourceIndex> full_as_well(ResourceIndex full, std::span<const std::uint32_t> stopped) const {
    std::vector<ResourceIndex> found;
    for (const std::uint32_t flow : stopped)
      for (const ResourceIndex at : flows_[flow].path)
        if (at != full && rates_.loads[at] >= capacities_[at] * (1 - kSlack)) found.push_back(at);
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  std::span<const Flow> flows_;
  std::span<const double> capacities_;
  bool back_pressure_;
  std::vector<std::vector<std::uint32_t>> users_;  ///< by resource
  std::vector<std::uint32_t> open_;                ///< by resource: its flows that still grow
  std::vector<ResourceIndex> used_;
  std::vector<std::uint32_t> by_demand_;
  std::vector<std::uint8_t> moving_;
  Rates rates_;
};

}  // namespace

Rates fair_rates(std::span<const Flow> flows, std::span<const double> capacities, bool back_pressure) {
  return Filling(flows, capacities, back_pressure).run();
}

}  // namespace weft::scenarios
