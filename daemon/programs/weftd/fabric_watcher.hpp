// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps one weft-sweeper running for one port, whatever happens to it or to the adapter, and hands on what it says.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/channel.hpp"
#include "daemon/platform/runtime/child_process.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/sweeper/frame.hpp"
#include "daemon/programs/sweeper/options.hpp"

namespace weft::daemon {

/// All members are called on, and all callbacks come from, the one thread that runs `main`.
class FabricWatcher {
 public:
  /// Takes each sweep.
  using SweepHandler = std::function<void(Sweep)>;
  /// The port cannot be watched now; the sentence says why. Watching goes on by itself when it can.
  using TroubleHandler = std::function<void(const std::string&)>;

  /// Which port to watch, and how.
  struct Options {
    config::InfinibandPort port;
    config::Infiniband infiniband;
    std::filesystem::path sweeper;    ///< the program
    std::filesystem::path directory;  ///< scratch folder of the child; emptied at each start
    ActsAs acts_as{};                 ///< infiniband::SweeperOptions::acts_as
  };

  FabricWatcher(boost::asio::io_context& main, Options options, SweepHandler on_sweep, TroubleHandler on_trouble);
  ~FabricWatcher();

  /// Starts the first sweeper. Throws nothing: what fails is tried again.
  void start();
  /// Watches no more: hands nothing on, and tells the sweeper to end. Does not wait for it; is_gone() tells.
  void leave();
  /// Whether the sweeper has ended, after leave(). Kills one that does not end in time. Does not block.
  bool is_gone();
  /// leave(), and waits for the sweeper, until three seconds after it was told to end.
  void stop();

  /// Options::acts_as is this from the next sweep on.
  void act_as(const ActsAs& acts_as);

  /// Who else may act on the fabric, as of the sweep that was handed on last.
  const ActingWeftds& acting() const { return acting_; }
  /// Name of the fabric.
  const std::string& fabric() const { return options_.port.fabric; }
  /// The port that is watched.
  const config::InfinibandPort& port() const { return options_.port; }
  /// How often a sweeper had to be started again.
  std::uint64_t restarts() const { return restarts_; }
  /// Sweeps that were replaced by newer ones before they were looked at.
  std::uint64_t skipped() const;

 private:
  struct Ended {
    std::string why;
  };
  struct Swept {
    Sweep sweep;
    ActingWeftds acting;
  };
  using Message = std::variant<Swept, sweeper::Trouble, Ended>;
  using Inbox = runtime::Channel<Message>;

  Result<sweeper::Options> child_options() const;
  void spawn();
  void drain();
  void drain_later(std::uint64_t generation);
  void ended(const std::string& why);
  void try_again(Duration delay);
  void hang_up();
  void watch_silence();

  boost::asio::io_context& main_;
  Options options_;
  SweepHandler on_sweep_;
  TroubleHandler on_trouble_;
  std::optional<runtime::ChildProcess> child_;
  std::chrono::steady_clock::time_point leaving_since_;  ///< child_, when it was told to end
  pid_t left_behind_ = -1;                               ///< the last sweeper, killed in vain
  runtime::UniqueFd socket_;
  std::thread reader_;
  std::shared_ptr<Inbox> inbox_;
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer silence_;
  runtime::Backoff backoff_;
  std::string trouble_;
  ActingWeftds acting_;
  std::uint64_t restarts_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t skipped_before_ = 0;
  bool stopped_ = false;
  // What was posted to main may come to its turn when this object is gone: it asks here first.
  std::shared_ptr<const int> alive_ = std::make_shared<const int>(0);
};

}  // namespace weft::daemon
