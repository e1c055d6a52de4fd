// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cabled Ethernet fabric with collectors, all rules over it and a book that remembers: what weftd does, in simulated
// time.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/fabric_analyzer.hpp"
#include "analyzer/host_analyzer.hpp"
#include "analyzer/incidents/incident_manager.hpp"
#include "tests/fakes/open_incidents.hpp"
#include "tests/unit/analyzer/ports/ethernet_hosts.hpp"

namespace weft::analyzer {

struct EthernetWatch {
  explicit EthernetWatch(const CablePlan& cabling = small_plan())
      : plan(cabling),
        told(cabling),
        rules("ethernet", Thresholds{}),
        host_rules(Thresholds{}, told.now),
        book(IncidentPolicy{}, {}, 1) {}

  /// One second in which a host's interface sends and receives these shares of its rate, was told to pause for a share
  /// of the time, and told its switch to.
  void load(const std::string& host, double sent, double received, double paused = 0, double pauses = 0) {
    ToldHost& teller = told.host(host);
    const std::string interface = teller.port().netdev;
    const auto bytes = [&](double share) { return static_cast<std::uint64_t>(share * ToldHost::kRate / 8); };
    teller.value("transmit_bytes", interface) += bytes(sent);
    teller.value("receive_bytes", interface) += bytes(received);
    teller.value("transmit_packets", interface) += bytes(sent) / 4096;
    teller.value("receive_packets", interface) += bytes(received) / 4096;
    teller.value("pfc_pause", interface, Direction::kReceive, 3) += static_cast<std::uint64_t>(paused * 1e6);
    teller.value("pfc_pause", interface, Direction::kTransmit, 3) += static_cast<std::uint64_t>(pauses * 1e6);
  }

  /// A second passes. Returns how many findings the sweep and the hosts gave.
  std::size_t step() {
    const Sweep& sweep = told.step();
    for (auto& [name, host] : told.hosts) {
      if (host.view().heard != told.now) continue;
      HostBatch batch;
      batch.reading = *host.view().reading;
      host_rules.hear(name, host.view().interval, told.now);
      host_rules.take(name, batch);
    }
    Analysis analysis = rules.analyze(sweep, told.now, host_rules.marks("ethernet", told.now));
    host_rules.complete("ethernet", analysis.findings, told.now);
    std::size_t findings = analysis.findings.size();
    FabricView view;
    view.name = "ethernet";
    view.watching = true;
    view.sweep = std::make_shared<const Sweep>(sweep);
    view.rates = analysis.rates;
    book.update("ethernet", std::move(analysis.findings), analysis.coverage, told.now);
    host_rules.join(std::vector{view});
    Analysis judged = host_rules.judge(told.now);
    findings += judged.findings.size();
    book.update(kHostsFabric, std::move(judged.findings), judged.coverage, told.now);
    return findings;
  }
  void seconds(unsigned count) {
    for (unsigned i = 0; i < count; ++i) step();
  }

  std::vector<Incident> open() const { return open_incidents(book); }
  Incident only() const { return only_incident(book); }
  std::string describe() const { return describe_incidents(book); }

  CablePlan plan;
  ToldFabric told;
  FabricAnalyzer rules;
  HostAnalyzer host_rules;
  IncidentManager book;
};

}  // namespace weft::analyzer
