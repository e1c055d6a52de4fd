// SPDX-License-Identifier: Apache-2.0
#pragma once
// A host with one port, whose readings are shown to one rule.

#include <memory>
#include <utility>
#include <vector>

#include "analyzer/ports/host_watch.hpp"

namespace weft::analyzer {

/// "node-0" with "mlx5_0", read once a second.
struct OnePort {
  explicit OnePort(std::vector<HostSeries> series) {
    host.name = "node-0";
    host.jobs = {"slurm:7"};
    HostInventory told;
    HostPort& own = told.ports.emplace_back();
    own.device = "mlx5_0";
    own.number = 1;
    own.state = PortState::kActive;
    for (HostSeries& one : series) {
      one.device = own.device;
      one.port = 1;
    }
    told.series = std::move(series);
    take_inventory(host, std::make_shared<const HostInventory>(std::move(told)), slots);
  }
  /// Asks the rule what it follows, before the first reading.
  void follow(auto& rule) {
    std::vector<std::uint32_t> followed;
    rule.follow(host, followed);
    host.memory.follow(*host.inventory, std::move(followed));
  }
  /// A second later.
  void read(auto& rule, std::vector<std::uint64_t> values) {
    HostReading reading;
    reading.taken = now += std::chrono::seconds(1);
    reading.inventory = host.inventory;
    reading.present.assign(values.size(), 1);
    reading.values = std::move(values);
    host.memory.take(reading, movement);
    rule.take(host, movement);
  }
  const PortWatch& port() const { return host.ports.front(); }

  HostWatch host;
  PortSlots slots;
  HostMovement movement;
  TimePoint now{std::chrono::seconds(1'700'000'000)};
};

}  // namespace weft::analyzer
