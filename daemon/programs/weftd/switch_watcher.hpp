// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps one weft-switches running, whatever happens to it, and hands on what it reads: to weftd a switch that is read
// by gNMI is a host whose collector is here.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/channel.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/switches/frame.hpp"
#include "daemon/programs/switches/options.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"
#include "daemon/programs/weftd/local_stream.hpp"
#include "fabric/switch_target.hpp"

namespace weft::daemon {

/// The path of weft-switches.
std::filesystem::path switches_program(const config::Gnmi& config);

/// The options of weft-switches.
switches::Options switch_options(const config::Gnmi& config);

/// What is wrong with the files that `config` names, the credentials of each target included; empty: nothing.
std::vector<Error> check_gnmi_files(const config::Gnmi& config);

/// All members are called on, and all callbacks come from, the one thread that runs `main`.
class SwitchWatcher {
 public:
  /// All targets, as of now.
  using TargetsHandler = std::function<void(std::shared_ptr<const std::vector<SwitchTarget>>)>;

  /// `directory`: scratch folder of the child. `taken` is called after readings were handed to `hosts`. All of them
  /// must outlive the object.
  SwitchWatcher(boost::asio::io_context& main, const config::Gnmi& config, std::filesystem::path directory,
                HostSessions& hosts, std::function<void()> taken, TargetsHandler on_targets);
  ~SwitchWatcher();

  /// Starts the first weft-switches, if any target is configured. Throws nothing: what fails is tried again.
  void start();
  /// Reads no more, and waits for the child, for some seconds at most.
  void stop();

  /// How often the child had to be started again.
  std::uint64_t restarts() const { return restarts_; }
  /// All targets, as they were told last.
  const std::vector<SwitchTarget>& targets() const { return *targets_; }

 private:
  struct Ended {
    std::string why;
  };
  using Message = std::variant<switches::SwitchReading, switches::TargetStates, switches::Trouble, Ended>;
  using Inbox = runtime::Channel<Message>;

  void spawn();
  void drain();
  void drain_later(std::uint64_t generation);
  void take(switches::SwitchReading told);
  void take(std::vector<SwitchTarget> targets);
  void ended(const std::string& why);
  void hang_up();
  void watch_silence();
  void let_go(const std::string& target);

  boost::asio::io_context& main_;
  const config::Gnmi& config_;
  std::filesystem::path directory_;
  HostSessions& hosts_;
  std::function<void()> taken_;
  TargetsHandler on_targets_;
  std::optional<runtime::ChildProcess> child_;
  runtime::UniqueFd socket_;
  std::thread reader_;
  std::shared_ptr<Inbox> inbox_;
  boost::asio::steady_timer retry_, silence_;
  runtime::Backoff backoff_;
  std::string trouble_;
  std::map<std::string, std::shared_ptr<LocalStream>> streams_;
  std::shared_ptr<const std::vector<SwitchTarget>> targets_;
  std::uint64_t restarts_ = 0;
  std::uint64_t generation_ = 0;
  bool stopped_ = false;
  // What was posted to main may come to its turn when this object is gone: it asks here first.
  std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);
};

}  // namespace weft::daemon
