// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hosts of jobs whose ports send, stand still and count one by one, and what the analyzer says of them.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"

namespace weft::analyzer {

struct JobHosts {
  struct Port {
    std::string device;
    bool up = true;
    std::map<std::string, std::uint64_t> counters{{"ack_timeout", 0},   {"out_of_buffer", 0},
                                                  {"receive_bytes", 0}, {"retries_exhausted", 0},
                                                  {"retransmit", 0},    {"transmit_bytes", 0}};
  };
  struct Host {
    std::string name;
    std::vector<std::string> jobs;
    std::vector<Port> ports;
    bool moves = true;      ///< each second, 2 GB at each port
    bool silent = false;    ///< its collector
    bool has_bytes = true;  ///< its bytes are read
    std::string pcie = "32x16";
    std::string addresses{}, ranks{};  ///< facts of the host; empty: not told
    std::shared_ptr<const HostInventory> inventory{};
    std::shared_ptr<const FactTable> facts{};
  };

  explicit JobHosts(unsigned count = 6, unsigned adapters = 2) {
    for (unsigned i = 0; i < count; ++i) {
      Host& host = hosts.emplace_back();
      host.name = "gpu-" + std::to_string(i);
      host.jobs = {"slurm:7"};
      for (unsigned adapter = 0; adapter < adapters; ++adapter)
        host.ports.push_back({.device = "mlx5_" + std::to_string(adapter)});
    }
    begin();
  }
  /// weftd is started, again too: what was open is known to it.
  void begin() {
    thresholds.telemetry_start_grace = std::chrono::seconds(10);
    analyzer.emplace(thresholds, now);
    for (const IncidentPtr& incident : *book.all()) analyzer->remember(*incident);
    for (const Host& host : hosts) analyzer->expect(host.name, now, host.jobs);
  }
  void move(bool moves) {
    for (Host& host : hosts) host.moves = moves;
  }
  /// `each`: called before each second.
  template <typename Each>
  void seconds(unsigned count, const Each& each) {
    for (unsigned i = 0; i < count; ++i) {
      each(i);
      now += std::chrono::seconds(1);
      for (Host& host : hosts) read(host);
      Analysis analysis = analyzer->judge(now);
      book.update(kHostsFabric, std::move(analysis.findings), analysis.coverage, now);
    }
  }
  void seconds(unsigned count) {
    seconds(count, [](unsigned) {});
  }
  /// Its retries go on, as NCCL's do: a timeout each fourth second.
  auto retrying(unsigned host, unsigned port) {
    return [this, host, port](unsigned i) {
      if (i % 4 == 0) ++hosts[host].ports[port].counters["ack_timeout"];
    };
  }
  std::vector<std::string> open_kinds() const {
    std::vector<std::string> kinds;
    for (const Incident& incident : open_incidents(book)) kinds.emplace_back(to_string(incident.finding.kind));
    return kinds;
  }
  /// Of all that was ever told.
  std::size_t told() const { return book.all()->size(); }

  Thresholds thresholds;
  TimePoint now{std::chrono::seconds(1'800'000'000)};
  std::vector<Host> hosts;
  IncidentManager book{IncidentPolicy{}, {}, 1};
  std::optional<HostAnalyzer> analyzer;

 private:
  void read(Host& host) {
    for (Port& port : host.ports)
      if (host.moves && port.up)
        for (const char* bytes : {"transmit_bytes", "receive_bytes"}) port.counters[bytes] += 1'000'000'000;
    if (host.silent) return;
    auto inventory = std::make_shared<HostInventory>();
    FactTable table;
    HostBatch batch;
    batch.reading.emplace();
    HostReading& reading = *batch.reading;
    for (const Port& port : host.ports) {
      HostPort& there = inventory->ports.emplace_back();
      there.device = port.device;
      there.number = 1;
      there.pci_address = "0000:1" + port.device.substr(port.device.size() - 1) + ":00.0";
      there.link_layer = LinkLayer::kInfiniBand;
      there.state = port.up ? PortState::kActive : PortState::kDown;
      there.rate_bits_per_second = port.up ? 400'000'000'000 : 0;
      table.ports.push_back(
          {port.device,
           1,
           {{ConfigFact::kBoard, FactSource::kSysfs, "MT_0000000838"},
            {ConfigFact::kPcieLinks, FactSource::kSysfs, there.pci_address + ' ' + host.pcie + "/32x16/32x16"}}});
      for (const auto& [name, value] : port.counters) {
        HostSeries series;
        series.device = port.device;
        series.port = 1;
        series.name = name;
        inventory->series.push_back(series);
        reading.values.push_back(value);
        reading.present.push_back(host.has_bytes || !name.ends_with("_bytes") ? 1 : 0);
      }
    }
    PortFacts own{{}, 0, {}};
    if (!host.addresses.empty())
      own.facts.push_back({ConfigFact::kHostAddresses, FactSource::kNetlink, host.addresses});
    if (!host.ranks.empty()) own.facts.push_back({ConfigFact::kNcclRanks, FactSource::kNccl, host.ranks});
    table.ports.push_back(std::move(own));
    table = tidy(std::move(table));
    if (!host.facts || *host.facts != table) host.facts = std::make_shared<const FactTable>(std::move(table));
    if (!host.inventory || host.inventory->ports != inventory->ports) host.inventory = std::move(inventory);
    reading.taken = now;
    reading.inventory = host.inventory;
    reading.facts = host.facts;
    reading.facts_at = now;
    reading.jobs = host.jobs;
    analyzer->hear(host.name, std::chrono::seconds(1), now);
    analyzer->take(host.name, batch);
  }
};

}  // namespace weft::analyzer
