// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/analyzers.hpp"

#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace weft::scenarios {

Analyzers::Analyzers(const Simulator& simulator)
    : interval_(simulator.collector_interval()), watcher_(kFabricName, {}), book_({}, {}, 1) {
  watcher_.expect({simulator.expected(), nullptr});
  view_.name = kFabricName;
}

std::vector<Incident> Analyzers::take(const Tick& tick) {
  if (!hosts_) hosts_.emplace(analyzer::Thresholds{}, tick.now);
  for (const Delivery& delivery : tick.heard) {
    hosts_->hear(delivery.host, interval_, tick.now);
    hosts_->take(delivery.host, delivery.batch);
  }
  analyzer::Analysis analysis = tick.sweep
                                    ? watcher_.analyze(*tick.sweep, tick.now, hosts_->marks(kFabricName, tick.now))
                                    : watcher_.silent(tick.now, {});
  hosts_->complete(kFabricName, analysis.findings, tick.now);
  hosts_->advise(kFabricName, std::move(analysis.cases), analysis.findings, tick.now);
  if (tick.sweep) {
    view_.watching = true;
    view_.rates = analysis.rates;
    view_.sweep = std::make_shared<const Sweep>(*tick.sweep);
  }
  std::vector<Incident> changed;
  const auto note = [&](std::string_view fabric, analyzer::Analysis said) {
    std::vector<Incident> incidents = book_.update(fabric, std::move(said.findings), said.coverage, tick.now);
    changed.insert(changed.end(), std::make_move_iterator(incidents.begin()), std::make_move_iterator(incidents.end()));
  };
  note(kFabricName, std::move(analysis));
  hosts_->join({&view_, 1});
  note(analyzer::kHostsFabric, hosts_->judge(tick.now));
  return changed;
}

}  // namespace weft::scenarios
