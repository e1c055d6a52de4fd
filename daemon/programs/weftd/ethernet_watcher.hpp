// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches the Ethernet fabric whose cables are planned or found: puts what collectors read together, again and again.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <span>

#include "analyzer/ports/ethernet_fabric.hpp"
#include "daemon/config/config.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"

namespace weft::daemon {

/// All members are called on, and all callbacks come from, the one thread that runs `main`.
class EthernetWatcher {
 public:
  /// Takes each sweep.
  using SweepHandler = std::function<void(Sweep)>;
  /// Gives links that were up before.
  using KnownLinks = std::function<std::span<const KnownLink>()>;

  /// Reads the plan. Null where none is configured; fails with kInvalidArgument, a sentence with the file and its
  /// lines. `main`, `hosts` and `clock` must outlive what is made.
  static Result<std::unique_ptr<EthernetWatcher>> open(boost::asio::io_context& main, const config::Ethernet& config,
                                                       HostSessions& hosts, const Clock& clock);

  /// The first sweep at once, then one each interval; of a fabric that is found, once something is. `known` gives links
  /// of it from before weftd was started, or took over.
  void start(SweepHandler on_sweep, KnownLinks known);
  /// No further sweeps.
  void stop();

  /// Name of the fabric.
  const std::string& fabric() const { return fabric_.name(); }

 private:
  EthernetWatcher(boost::asio::io_context& main, analyzer::EthernetFabric fabric, Duration interval,
                  HostSessions& hosts, const Clock& clock);
  void sweep();

  boost::asio::steady_timer timer_;
  analyzer::EthernetFabric fabric_;
  Duration interval_;
  HostSessions& hosts_;
  const Clock& clock_;
  SweepHandler on_sweep_;
  KnownLinks known_;
  bool stopped_ = false;
};

}  // namespace weft::daemon
