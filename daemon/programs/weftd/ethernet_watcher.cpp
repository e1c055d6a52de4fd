// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/ethernet_watcher.hpp"

#include <chrono>
#include <utility>

#include "daemon/programs/weftd/named_files.hpp"

namespace weft::daemon {

Result<std::unique_ptr<EthernetWatcher>> EthernetWatcher::open(boost::asio::io_context& main,
                                                               const config::Ethernet& config, HostSessions& hosts,
                                                               const Clock& clock) {
  if (!config.is_watched()) return std::unique_ptr<EthernetWatcher>();
  auto fabric = read_ethernet_fabric(config);
  if (!fabric) return tl::unexpected(fabric.error());
  return std::unique_ptr<EthernetWatcher>(new EthernetWatcher(main, std::move(*fabric), config.interval, hosts, clock));
}

EthernetWatcher::EthernetWatcher(boost::asio::io_context& main, analyzer::EthernetFabric fabric, Duration interval,
                                 HostSessions& hosts, const Clock& clock)
    : timer_(main), fabric_(std::move(fabric)), interval_(interval), hosts_(hosts), clock_(clock) {}

void EthernetWatcher::start(SweepHandler on_sweep, KnownLinks known) {
  known_ = std::move(known);
  on_sweep_ = std::move(on_sweep);
  timer_.expires_after(std::chrono::seconds(0));
  sweep();
}

void EthernetWatcher::stop() {
  stopped_ = true;
  timer_.cancel();
}

void EthernetWatcher::sweep() {
  const auto began = std::chrono::steady_clock::now();
  const auto hosts = hosts_.views();
  fabric_.restore(known_());
  Sweep sweep = fabric_.sweep(hosts ? *hosts : std::span<const std::shared_ptr<const HostView>>(), clock_.now());
  sweep.statistics.duration = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
  if (!sweep.topology->nodes().empty()) on_sweep_(std::move(sweep));
  if (stopped_) return;
  // From start to start; what was missed is not made up for.
  const auto next = timer_.expiry() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(interval_);
  timer_.expires_at(std::max(next, std::chrono::steady_clock::now()));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error) this->sweep();
  });
}

}  // namespace weft::daemon
