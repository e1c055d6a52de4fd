// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftd/telemetry_inbox.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace weft::daemon {
namespace {

using namespace std::chrono_literals;

/// Messages looked at before others on the main thread get their turn.
constexpr unsigned kAtOnce = 1'000;
/// Who waits longer than this shows that we are behind.
constexpr auto kLongestWait = 500ms;

}  // namespace

TelemetryInbox::TelemetryInbox(boost::asio::io_context& main, HostSessions& desk, std::size_t most_streams,
                               std::function<void()> taken)
    : main_(main),
      desk_(desk),
      taken_(std::move(taken)),
      // A hello, a batch and the end of each stream, and of the one before it.
      messages_("telemetry", 4 * most_streams, runtime::WhenFull::kBlock,
                [this] { boost::asio::post(main_, [this] { drain(); }); }) {}

void TelemetryInbox::hello(const Stream& stream, api::CollectorHello hello) {
  push(stream, std::move(hello));
}
void TelemetryInbox::batch(const Stream& stream, HostBatch batch, Duration clock_offset) {
  push(stream, Batch{std::move(batch), clock_offset});
}
void TelemetryInbox::gone(const Stream& stream) {
  push(stream, Gone{});
}

void TelemetryInbox::push(const Stream& stream, std::variant<api::CollectorHello, Batch, Gone> what) {
  messages_.push({stream, std::move(what), Steady::now()});
}

void TelemetryInbox::drain() {
  for (unsigned count = 0; count < kAtOnce; ++count) {
    auto message = messages_.try_pop();
    if (!message) {
      desk_.set_behind(false);
      taken_();
      return;
    }
    if (Steady::now() - message->arrived > kLongestWait) desk_.set_behind(true);
    if (auto* hello = std::get_if<api::CollectorHello>(&message->what))
      desk_.hello(message->stream, std::move(*hello));
    else if (auto* told = std::get_if<Batch>(&message->what))
      desk_.batch(message->stream, std::move(told->batch), told->clock_offset);
    else
      desk_.gone(message->stream);
  }
  taken_();
  boost::asio::post(main_, [this] { drain(); });
}

}  // namespace weft::daemon
