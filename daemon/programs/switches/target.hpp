// SPDX-License-Identifier: Apache-2.0
#pragma once
// One switch that is read: its channel, its streams, what it has told, and how that goes.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/gnmi/leaf_table.hpp"
#include "collectors/gnmi/switch_state.hpp"
#include "daemon/platform/runtime/schedule.hpp"
#include "daemon/programs/switches/options.hpp"
#include "daemon/programs/switches/subscription.hpp"
#include "daemon/programs/switches/target_list.hpp"
#include "fabric/host.hpp"
#include "fabric/switch_target.hpp"

namespace weft::switches {

/// The time, as all of a target's members are given it.
struct Now {
  TimePoint wall;     ///< as people set it
  Duration steady{};  ///< never set
};

/// Connects, asks for the models, subscribes to each group of paths in a stream of its own, and begins anew, later and
/// later, when that fails. A group that is refused is asked for in another way, or left out, and the others go on. One
/// thread.
class Target {
 public:
  /// `random` is 0 to 1: targets do not begin all at once. `options` and `queue` outlive it.
  Target(TargetLine line, const Options& options, grpc::CompletionQueue& queue, Now now, double random);

  /// What is due: begins, begins anew, reads on, gives up on a target that hangs.
  void tick(const Now& now, double random);
  /// A reading, when it is time for one: shortly after values came, at once after a state changed. nullopt: not now.
  std::optional<HostReading> take_reading(const Now& now);

  /// Ends all calls; is_gone() when they have ended.
  void leave();
  /// Nothing of it is in the queue.
  bool is_gone() const { return is_leaving_ && calls_.empty(); }

  /// Its line of the list.
  const TargetLine& line() const { return line_; }
  /// How it goes.
  const SwitchTarget& shown() const { return shown_; }

 private:
  struct Stream {
    const gnmi::Group* group = nullptr;
    gnmi::Pace pace = gnmi::Pace::kSample;
    SubscribeCall* call = nullptr;  ///< null: none is under way
    Duration began{};
    Duration first_message{};  ///< 0: none yet
    bool is_synced = false;
    bool begins_anew = false;  ///< cancelled by us, to be asked for in another way
    std::string refused{};     ///< why it is not told; empty: it is
  };

  void begin(const Now& now);
  void subscribe(const Now& now);
  void open(Stream& stream, const Now& now);
  bool take(Stream& stream, const ::gnmi::SubscribeResponse& message);
  void look_at_calls(const Now& now, double random);
  void stream_ended(Stream& stream, const grpc::Status& status, const Now& now, double random);
  void fail(SwitchTargetState state, std::string why, const Now& now, double random);
  void set_state(SwitchTargetState state, std::string why, const Now& now);
  bool is_complete(const Now& now) const;
  void watch_silence(const Now& now, double random);
  void show_login(Call& call) const;
  std::string refused_groups(bool only_needed) const;
  std::string told_reason(const grpc::Status& status) const;

  TargetLine line_;
  const Options& options_;
  grpc::CompletionQueue& queue_;
  std::vector<std::pair<std::string, std::string>> login_;  ///< metadata of each call
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<::gnmi::gNMI::Stub> stub_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::unique_ptr<Call>> ending_;  ///< cancelled, of a connection before
  CapabilitiesCall* asking_ = nullptr;
  ::gnmi::Encoding encoding_{};
  std::vector<Stream> streams_;
  std::unique_ptr<gnmi::SwitchState> state_;
  gnmi::SwitchFigures figures_before_;  ///< of connections before
  SwitchTarget shown_;
  runtime::Backoff backoff_;
  Duration due_{};    ///< when to connect again; while there is no channel
  Duration began_{};  ///< this connection
  Duration last_message_{}, dirty_since_{}, last_cut_{};
  TimePoint last_message_wall_ = kNever;
  bool is_dirty_ = false;
  std::uint64_t cut_state_changes_ = 0;
  Now now_{};             ///< of the last tick()
  double allowance_ = 0;  ///< values that may be taken now
  Duration allowance_at_{};
  bool is_leaving_ = false;
};

}  // namespace weft::switches
