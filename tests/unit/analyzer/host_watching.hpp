// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hosts with collectors that tell of themselves, and what becomes of it.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"

namespace weft::analyzer {

/// Hosts "node-0", "node-1", … with one Ethernet port each, a book, and a clock of their own.
struct HostWatching {
  explicit HostWatching(unsigned hosts = 1) : analyzer(Thresholds{}, now), book(IncidentPolicy{}, {}, 1) {
    inventory = std::make_shared<HostInventory>();
    HostPort port;
    port.device = "mlx5_0";
    port.number = 1;
    port.netdev = "eth0";
    port.link_layer = LinkLayer::kEthernet;
    port.state = PortState::kActive;
    port.rate_bits_per_second = 400'000'000'000;
    inventory->ports.push_back(port);
    for (const char* name : {"carrier_down", "link_down_events", "retries_exhausted", "request_completion_error"}) {
      HostSeries series;
      series.device = port.device;
      series.port = 1;
      series.name = name;
      inventory->series.push_back(series);
    }
    for (unsigned i = 0; i < hosts; ++i) {
      names.push_back("node-" + std::to_string(i));
      values.emplace_back(inventory->series.size(), 0);
      inventories.push_back(inventory);
      silent.push_back(0);
    }
  }

  HostPort& port(unsigned host = 0) {
    auto own = std::make_shared<HostInventory>(*inventories[host]);
    inventories[host] = own;
    return own->ports.front();
  }
  void set_up(bool up, unsigned host = 0) { port(host).state = up ? PortState::kActive : PortState::kDown; }

  void read(unsigned host, bool late = false) {
    HostBatch batch;
    batch.is_late = late;
    batch.reading.emplace();
    batch.reading->taken = now;
    batch.reading->inventory = inventories[host];
    batch.reading->values = values[host];
    batch.reading->present.assign(values[host].size(), 1);
    batch.reading->jobs = {jobs.empty() ? "slurm:" + std::to_string(host) : jobs[host]};
    std::erase(batch.reading->jobs, "");
    analyzer.hear(names[host], std::chrono::seconds(1), now);
    analyzer.take(names[host], batch);
  }
  /// So many seconds; every host that is not silent reads once in each.
  void seconds(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      now += std::chrono::seconds(1);
      for (unsigned host = 0; host < names.size(); ++host)
        if (!silent[host]) read(host);
      judge();
    }
  }
  void judge() {
    auto analysis = analyzer.judge(now);
    book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, now);
  }
  void event(bool up, unsigned host = 0, bool administrative = false, bool late = false) {
    HostBatch batch;
    batch.is_late = late;
    LinkEvent& told = batch.events.emplace_back();
    told.at = now;
    told.device = "mlx5_0";
    told.port = 1;
    told.up = up;
    told.administrative = administrative;
    if (!up) told.carrier_down_count = static_cast<std::uint32_t>(++values[host][0]);
    analyzer.hear(names[host], std::chrono::seconds(1), now);
    analyzer.take(names[host], batch);
    if (analyzer.has_news()) book.update(kHostsFabric, analyzer.news(now), Coverage::blind(), now);
  }
  std::vector<Incident> open() const { return open_incidents(book); }
  std::vector<IncidentKind> kinds() const {
    std::vector<IncidentKind> found;
    for (const Incident& incident : open()) found.push_back(incident.finding.kind);
    return found;
  }

  TimePoint now{std::chrono::seconds(1'700'000'000)};
  HostAnalyzer analyzer;
  IncidentManager book;
  std::shared_ptr<HostInventory> inventory;
  std::vector<std::shared_ptr<HostInventory>> inventories;
  std::vector<std::string> names;
  std::vector<std::vector<std::uint64_t>> values;
  std::vector<int> silent;
  std::vector<std::string> jobs;  ///< by host, "" where none runs; empty: each has one of its own
};

using Kinds = std::vector<IncidentKind>;

}  // namespace weft::analyzer
