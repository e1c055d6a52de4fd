// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which InfiniBand ports are watched. In automatic mode ports come and go, and of two ports on one subnet one is
// enough: the one whose name plans or incidents know, else the first. The other one is its standby.

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
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

/// `sweep` sees that port up: both ends of its cable can be reached and are Active, and the port was read within
/// `within` of the sweep's end. What it said before, or a node out of reach, says nothing of now.
bool sees_up(const Sweep& sweep, PortKey port, Duration within);

/// A FabricWatcher for each port, as configured or as found. All members are called on the thread that runs `main`.
class SubnetWatchers {
 public:
  /// All must outlive it. `acts_as`: as FabricWatcher::Options. `look_every`: in automatic mode, from one look for
  /// ports to the next.
  SubnetWatchers(boost::asio::io_context& main, const config::WeftdConfig& config, Core& core,
                 RemedyController& remedies, ActsAs acts_as, Duration look_every = std::chrono::seconds(60));

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
  /// How much depends on a fabric's name; the least first.
  enum class Claim : std::uint8_t { kNone, kIncidents, kPlans };

  void take(const std::string& name, Sweep sweep);
  /// A port that is on the subnet of another one, which is watched.
  struct Standby {
    PortKey local_port;
    PortKey seen{};       ///< the other one's own port, where this one saw that and was not seen by it
    unsigned looks = 60;  ///< for so many more looks that is believed: cables move
  };

  /// The other fabric that is watched on the subnet of our port `local_port`: its last sweep sees that port up, or that
  /// port `sees` the other fabric's own port up. Empty when there is none.
  std::string twin_of(const std::string& name, PortKey local_port, const std::function<bool(PortKey)>& sees) const;
  Claim claim_on(const std::string& name) const;
  void make_standby(const std::string& name, Standby standby, const std::string& watched, const char* why);
  bool has_another_way(const config::InfinibandPort& port);
  bool is_leaving(const std::string& name) const;
  void let_go(const std::string& name);
  void see_off();

  boost::asio::io_context& main_;
  const config::WeftdConfig& config_;
  Core& core_;
  RemedyController& remedies_;
  ActsAs acts_as_;
  Duration look_every_;
  std::filesystem::path program_;
  std::map<std::string, std::unique_ptr<FabricWatcher>> watchers_;
  std::vector<std::unique_ptr<FabricWatcher>> leaving_;  ///< their sweepers have not ended yet
  std::map<std::string, Standby> reserve_;               ///< by fabric
  boost::asio::steady_timer look_;
  boost::asio::steady_timer see_off_;
  runtime::Lane finder_;
  std::string complaint_;
  std::atomic<bool> stopped_ = false;  ///< told to the finder's lane, too
};

}  // namespace weft::daemon
