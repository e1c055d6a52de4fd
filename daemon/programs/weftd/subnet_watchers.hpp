// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which InfiniBand ports are watched. In automatic mode ports come and go, and of two ports on one subnet one is
// enough.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "daemon/programs/weftd/core.hpp"
#include "daemon/programs/weftd/fabric_watcher.hpp"
#include "daemon/programs/weftd/remedy_controller.hpp"

namespace weft::daemon {

/// How one subnet is watched.
struct SubnetFigures {
  std::uint64_t restarts = 0;            ///< FabricWatcher::restarts()
  std::uint64_t skipped = 0;             ///< FabricWatcher::skipped()
  std::optional<ActingWeftds> acting{};  ///< FabricWatcher::acting(), where this weftd may act
};

/// A FabricWatcher for each port, as configured or as found. All members are called on the thread that runs `main`.
class SubnetWatchers {
 public:
  /// All must outlive it. `acts_as`: as FabricWatcher::Options.
  SubnetWatchers(boost::asio::io_context& main, const config::WeftdConfig& config, Core& core,
                 RemedyController& remedies, ActsAs acts_as);

  /// Starts to watch, if InfiniBand is enabled.
  void start();
  /// Ends all sweepers and waits for them, about three seconds at most.
  void stop();
  /// As FabricWatcher::act_as().
  void act_as(ActsAs acts_as);
  /// Those that are watched, by fabric.
  std::map<std::string, SubnetFigures> figures() const;

 private:
  std::filesystem::path scratch(const std::string& name) const;
  void look();
  void looked(const Result<std::vector<config::InfinibandPort>>& ports);
  void add(const config::InfinibandPort& port);
  void take(const std::string& name, Sweep sweep);
  /// The other fabric in whose last sweep that port of ours is cabled up; empty when there is none.
  std::string also_seen_by(const std::string& name, PortKey local_port) const;
  bool has_another_way(const config::InfinibandPort& port);
  bool is_leaving(const std::string& name) const;
  void let_go(const std::string& name);
  void see_off();

  boost::asio::io_context& main_;
  const config::WeftdConfig& config_;
  Core& core_;
  RemedyController& remedies_;
  ActsAs acts_as_;
  std::filesystem::path program_;
  std::map<std::string, std::unique_ptr<FabricWatcher>> watchers_;
  std::vector<std::unique_ptr<FabricWatcher>> leaving_;  ///< their sweepers have not ended yet
  std::map<std::string, PortKey> reserve_;               ///< by fabric: ports that another fabric has in view
  boost::asio::steady_timer look_;
  boost::asio::steady_timer see_off_;
  runtime::Lane finder_;
  std::string complaint_;
  std::atomic<bool> stopped_ = false;  ///< told to the finder's lane, too
};

}  // namespace weft::daemon
