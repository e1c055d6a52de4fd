// SPDX-License-Identifier: Apache-2.0
#pragma once
// Brings what collectors tell from the server's threads to the main one.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <variant>

#include "api/publication/telemetry_sink.hpp"
#include "daemon/platform/runtime/channel.hpp"
#include "daemon/programs/weftd/host_sessions.hpp"

namespace weft::daemon {

/// At most a few messages of each stream wait here at a time, so the number of streams bounds it.
class TelemetryInbox final : public api::TelemetrySink {
 public:
  /// `taken` is called on the main thread after a number of messages were handed to `desk`.
  TelemetryInbox(boost::asio::io_context& main, HostSessions& desk, std::size_t most_streams,
                 std::function<void()> taken);

  void hello(const Stream& stream, api::CollectorHello hello) override;
  void batch(const Stream& stream, HostBatch batch, Duration clock_offset) override;
  void gone(const Stream& stream) override;

  /// Figures of the queue.
  runtime::ChannelFigures figures() const { return messages_.figures(); }
  /// Nothing comes in any more.
  void close() { messages_.close(); }

 private:
  using Steady = std::chrono::steady_clock;
  struct Batch {
    HostBatch batch;
    Duration clock_offset;
  };
  struct Gone {};
  struct Message {
    Stream stream;
    std::variant<api::CollectorHello, Batch, Gone> what;
    Steady::time_point arrived;
  };

  void push(const Stream& stream, std::variant<api::CollectorHello, Batch, Gone> what);
  void drain();

  boost::asio::io_context& main_;
  HostSessions& desk_;
  std::function<void()> taken_;
  runtime::Channel<Message> messages_;
};

}  // namespace weft::daemon
