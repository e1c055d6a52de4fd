// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where history is asked for. The daemon implements it; the servers only pass on.

#include <functional>

#include "fabric/clock.hpp"
#include "fabric/port_history.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Returns at once and may be called from any thread. The callback is called exactly once, from any thread.
class HistoryDesk {
 public:
  /// Takes the answer, or why there is none: kNotFound where nothing is stored of the ports; kInvalidArgument for a
  /// question that is none or asks for too much; kResourceExhausted while too many wait; kUnavailable, kTimeout or
  /// kCorrupt for the disk.
  using Callback = std::function<void(Result<HistoryAnswer>)>;

  virtual ~HistoryDesk() = default;
  /// What the ports counted.
  virtual void read(HistoryQuestion question, Callback callback) = 0;
  /// As above, of the switches of a fabric.
  using StallCallback = std::function<void(Result<StallAnswer>)>;
  /// How long they waited to send.
  virtual void read_stall(StallQuestion question, StallCallback callback) = 0;
};

}  // namespace weft::api
