// SPDX-License-Identifier: Apache-2.0
#pragma once
// A collector's stream to weftd: the client of TelemetryService. No gRPC to be seen, no waiting, no logic: what to send
// and when to try again is the owner's matter.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/client/security.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// Who speaks; the fields of Hello in telemetry.proto.
struct TelemetryHello {
  std::string host;
  std::uint64_t spool = 0;
  std::string version;
  Duration interval{};
  std::uint64_t oldest_sequence = 0;
};

/// Something that the stream received, or its end.
struct TelemetryEvent {
  enum class Kind : std::uint8_t { kWelcome, kAcknowledgement, kEnded };
  Kind kind = Kind::kEnded;
  std::uint64_t sequence = 0;  ///< of Welcome and Acknowledgement
  Error error;                 ///< of the end: kInvalidArgument for "do not send it again"
};

/// How long a connection may be without an answer.
struct TelemetryPatience {
  std::chrono::milliseconds connect{10'000};      ///< to look up the name and to connect, until HTTP/2 is agreed
  std::chrono::milliseconds ping_after{20'000};   ///< that nothing was received
  std::chrono::milliseconds ping_answer{10'000};  ///< then for the answer to a ping; without one the stream ends
};

/// Goes with a batch: what Batch has in telemetry.proto.
struct SentTables {
  const std::vector<std::byte>* neighbours = nullptr;  ///< packed; null: as before
  TimePoint neighbours_at = kNever;                    ///< kNever: as before
  const std::vector<std::byte>* facts = nullptr;       ///< packed; null: as before
  TimePoint facts_at = kNever;                         ///< kNever: as before
};

/// One stream at a time. Questions for our clock are answered at once, before any batch that waits. All methods may be
/// called from one thread; gRPC's own threads do the work.
class TelemetryClient {
 public:
  /// `notify` is called, on a thread of gRPC, when next() has something new or room was made; it must not call back.
  /// Files of `security` are read anew for each stream.
  explicit TelemetryClient(std::function<void()> notify, ClientSecurity security = {},
                           const TelemetryPatience& patience = {});
  /// Ends the stream, and waits until gRPC has done with it.
  ~TelemetryClient();
  TelemetryClient(const TelemetryClient&) = delete;
  TelemetryClient& operator=(const TelemetryClient&) = delete;

  /// Begins a new stream to `analyzer` (HOST:PORT), over a connection of its own, and says hello. What the stream
  /// before still had to tell is forgotten.
  void open(const std::string& analyzer, const TelemetryHello& hello);
  /// Queues a batch for the stream. Nothing happens when it has ended: next() tells.
  void send(std::uint64_t sequence, bool late, const std::vector<std::byte>& body, const SentTables& tables = {});
  /// Batches that gRPC has not taken yet.
  std::size_t queued() const;
  /// Asks the stream to end; kEnded follows.
  void cancel();
  /// What came since, in order; nullopt when there is nothing.
  std::optional<TelemetryEvent> next();
  /// Questions for our clock answered, all streams together.
  std::uint64_t probes() const;

 private:
  class Stream;
  struct Inbox;

  ClientSecurity security_;
  TelemetryPatience patience_;
  std::shared_ptr<Inbox> inbox_;
  /// By epoch of the stream. gRPC joins its threads where the last channel is released: never on one of them, so they
  /// are released here, after their streams.
  std::vector<std::pair<std::uint64_t, std::shared_ptr<void>>> channels_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace weft::api
