// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is told of incidents by webhook: one sender for each receiver, each on a lane of its own, so that none waits for
// another and nothing of weftd for any.

#include <memory>
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
  /// Failures as of EventSender::make(). `publication` and `clock` must outlive it. `installation`: the store's id.
  static Result<std::unique_ptr<EventDispatcher>> make(const config::WeftdConfig& config,
                                                       const api::Publication& publication, const Clock& clock,
                                                       const std::string& installation = {});
  ~EventDispatcher() { stop(); }

  /// Each sender looks at the latest picture, unless it is still busy with an earlier one.
  void tick();
  /// Waits for the requests that are under way. What was not told is told after the next start.
  void stop();

  /// One receiver with the lane that its sender runs on.
  struct Receiver {
    std::unique_ptr<events::EventSender> sender;
    std::unique_ptr<runtime::Lane> lane;
  };
  /// All receivers, in the order of the configuration.
  const std::vector<Receiver>& receivers() const { return receivers_; }

 private:
  explicit EventDispatcher(const api::Publication& publication) : publication_(publication) {}

  const api::Publication& publication_;
  std::vector<Receiver> receivers_;
};

}  // namespace weft::daemon
