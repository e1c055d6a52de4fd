// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is told of incidents by webhook: one sender for each receiver, each on a lane of its own, so that none waits for
// another and nothing of weftd for any.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/publication/publication.hpp"
#include "daemon/adapters/webhooks/event_sender.hpp"
#include "daemon/config/config.hpp"
#include "daemon/platform/runtime/lane.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::daemon {

/// Sends incidents to all configured receivers.
class EventDispatcher {
 public:
  /// Keeps what a receiver was told, by the receiver's name there; may wait.
  using Keep = std::function<Result<void>(const std::string& receiver, const std::string& text)>;

  /// Failures as of EventSender::make(). `publication` and `clock` must outlive it. `installation`: the store's id.
  /// `keep`: in place of files in the state directory.
  static Result<std::unique_ptr<EventDispatcher>> make(const config::WeftdConfig& config,
                                                       const api::Publication& publication, const Clock& clock,
                                                       const std::string& installation = {}, const Keep& keep = {});
  ~EventDispatcher() { stop(); }

  /// What `keep` was given by the leader before, by receiver. Call it before the first tick(). Fails as
  /// EventSender::restore().
  Result<void> restore(const std::map<std::string, std::string>& told);
  /// Each sender looks at the latest picture, unless it is still busy with an earlier one. `apart` as of
  /// EventSender::look().
  void tick(const std::string& apart = {});
  /// Waits for the requests that are under way. What was not told is told after the next start.
  void stop();

  /// One receiver with the lane that its sender runs on.
  struct Receiver {
    std::unique_ptr<events::EventSender> sender;
    std::unique_ptr<runtime::Lane> lane;
    std::string name;  ///< for Keep
  };
  /// All receivers, in the order of the configuration.
  const std::vector<Receiver>& receivers() const { return receivers_; }

 private:
  explicit EventDispatcher(const api::Publication& publication) : publication_(publication) {}

  const api::Publication& publication_;
  std::vector<Receiver> receivers_;
};

}  // namespace weft::daemon
