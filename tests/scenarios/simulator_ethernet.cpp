// SPDX-License-Identifier: Apache-2.0
// What weftd makes of an Ethernet fabric: sweeps put together from the readings of collectors.
#include <stdexcept>
#include <utility>

#include "tests/scenarios/simulator.hpp"

namespace weft::scenarios {
namespace {

/// Pauses are counted in microseconds, as mlx5 does it (rx_prio3_pause_duration).
constexpr float kMicrosecond = 1e-6F;

}  // namespace

float Simulator::tick_of(PortIndex port) const {
  return plan_.is_ethernet() ? kMicrosecond : static_cast<float>(tick_bytes_[ports_[port].node] * 8 / rate_of(port));
}

void Simulator::watch_ethernet() {
  auto fabric = analyzer::EthernetFabric::make(cables_of(plan_), kFabricName, collector_interval());
  if (!fabric) throw std::logic_error(fabric.error().message);  // lay_out() makes no such plan
  ethernet_.emplace(std::move(*fabric));
  // Only what somebody reads is watched.
  cabled_ = 0;
  for (PortIndex port = 0; port < ports_.size(); ++port)
    if (ports_[port].peer != kNoIndex && (scenario_.switch_collectors || plan_.endpoint_at(port) != kNoIndex))
      ++cabled_;
  // weftd has been there for a while: a link that is seen up for the first time is taken for one that is being built.
  next_sweep_ = 1.5 * scenario_.interval;
}

Sweep Simulator::put_together(const std::vector<Delivery>& heard) {
  for (const Delivery& delivery : heard) {
    std::shared_ptr<HostView>& view = views_[delivery.host];
    if (!view) {
      view = std::make_shared<HostView>();
      view->host = delivery.host;
      view->state = CollectorState::kConnected;
      view->interval = collector_interval();
    }
    view->heard = wall(delivery.heard);
    if (delivery.batch.reading) view->reading = std::make_shared<const HostReading>(*delivery.batch.reading);
  }
  std::vector<std::shared_ptr<const HostView>> views;
  views.reserve(views_.size());
  for (const auto& [host, view] : views_) views.push_back(view);
  return ethernet_->sweep(views, wall(now_));
}

}  // namespace weft::scenarios
