// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hosts whose adapters and modules can be changed one by one, and what the analyzer says of them.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"

namespace weft::analyzer {

struct PartHosts {
  struct Port {
    std::string device;
    std::string address;  ///< PCI
    std::map<ConfigFact, std::string> facts{{ConfigFact::kBoard, "MT_0000000838"}};
    std::uint64_t rate = 400'000'000'000;
    bool up = true;
    bool is_virtual = false;
    bool is_away = false;  ///< its device is not there
    std::map<std::string, std::uint64_t> counters{{"retries_exhausted", 0}};
    /// What its module and its adapter measure, by name and lane; absent: it was not read.
    std::map<std::pair<std::string, std::uint8_t>, std::optional<std::int64_t>> gauges{};
  };
  struct Host {
    std::string name;
    std::vector<Port> ports;
    bool silent = false;
    std::shared_ptr<const FactTable> table{};
    std::shared_ptr<const HostInventory> inventory{};
    TimePoint facts_at = kNever;
  };

  explicit PartHosts(unsigned count = 3, unsigned adapters = 2) {
    for (unsigned i = 0; i < count; ++i) {
      Host& host = hosts.emplace_back();
      host.name = "gpu-" + std::to_string(i);
      for (unsigned adapter = 0; adapter < adapters; ++adapter) {
        Port& port = host.ports.emplace_back();
        port.device = "mlx5_" + std::to_string(adapter);
        port.address = "0000:1" + std::to_string(adapter) + ":00.0";
        set_link(port, "32x16");
      }
    }
    begin();
    changed();
  }
  static void set_link(Port& port, const std::string& now, const std::string& ends = "32x16/32x16") {
    port.facts[ConfigFact::kPcieLinks] = port.address + ' ' + now + '/' + ends;
  }
  /// weftd is started, again too: what was open is known to it.
  void begin() {
    thresholds.telemetry_start_grace = std::chrono::seconds(10);
    analyzer.emplace(thresholds, now);
    for (const IncidentPtr& incident : *book.all()) analyzer->remember(*incident);
    for (const Host& host : hosts) analyzer->expect(host.name, now);
  }
  /// Facts were changed: they are read again.
  void changed() {
    for (Host& host : hosts) {
      FactTable table;
      auto inventory = std::make_shared<HostInventory>();
      for (const Port& port : host.ports) {
        if (port.is_away) continue;
        PortFacts facts{port.device, 1, {}};
        for (const auto& [fact, value] : port.facts) facts.facts.push_back({fact, FactSource::kSysfs, value});
        table.ports.push_back(std::move(facts));
        HostPort& there = inventory->ports.emplace_back();
        there.device = port.device;
        there.number = 1;
        there.pci_address = port.address;
        there.link_layer = LinkLayer::kInfiniBand;
        there.state = port.up ? PortState::kActive : PortState::kDown;
        there.rate_bits_per_second = port.up ? port.rate : 0;
        there.is_virtual_function = port.is_virtual;
        for (const auto& [name, value] : port.counters) {
          HostSeries series;
          series.device = port.device;
          series.port = 1;
          series.name = name;
          inventory->series.push_back(series);
        }
        for (const auto& [which, value] : port.gauges) {
          HostSeries gauge;
          gauge.device = port.device;
          gauge.port = 1;
          gauge.name = which.first;
          gauge.lane = which.second;
          gauge.behaviour = CounterBehaviour::kGauge;
          inventory->series.push_back(gauge);
        }
      }
      table = tidy(std::move(table));
      if (!host.table || *host.table != table) {
        host.table = std::make_shared<const FactTable>(std::move(table));
        host.facts_at = now;
      }
      if (!host.inventory || host.inventory->ports != inventory->ports || host.inventory->series != inventory->series)
        host.inventory = std::move(inventory);
    }
  }
  void seconds(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      now += std::chrono::seconds(1);
      for (Host& host : hosts) {
        if (host.silent) continue;
        HostBatch batch;
        batch.reading.emplace();
        batch.reading->taken = now;
        batch.reading->inventory = host.inventory;
        batch.reading->facts = host.table;
        batch.reading->facts_at = host.facts_at;
        const auto put = [&](std::uint64_t value, bool is_present) {
          batch.reading->values.push_back(value);
          batch.reading->present.push_back(is_present ? 1 : 0);
        };
        for (const Port& port : host.ports) {
          if (port.is_away) continue;
          for (const auto& [name, value] : port.counters) put(value, true);
          for (const auto& [which, value] : port.gauges)
            put(static_cast<std::uint64_t>(value.value_or(0)), value.has_value());
        }
        analyzer->hear(host.name, std::chrono::seconds(1), now);
        analyzer->take(host.name, batch);
      }
      auto analysis = analyzer->judge(now);
      book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, now);
    }
  }
  std::vector<Incident> open(IncidentKind kind = IncidentKind::kHostDegraded) const {
    std::vector<Incident> found;
    for (const Incident& incident : open_incidents(book))
      if (incident.finding.kind == kind) found.push_back(incident);
    return found;
  }

  Thresholds thresholds;
  TimePoint now{std::chrono::seconds(1'800'000'000)};
  std::vector<Host> hosts;
  IncidentManager book{IncidentPolicy{}, {}, 1};
  std::optional<HostAnalyzer> analyzer;
};

}  // namespace weft::analyzer
