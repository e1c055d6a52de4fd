// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells one receiver of incidents, and goes on until it has taken each: POST of JSON, signed as all webhooks are
// (daemon/adapters/actuate/webhook_message.hpp), with the header Idempotency-Key.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "daemon/adapters/webhooks/delivery_log.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"

namespace weft::events {

/// One receiver of incidents, and how it is told.
struct EventSenderOptions {
  std::string url;                    ///< http:// or https://
  std::filesystem::path key_file;     ///< shared key of the signature, at least 16 bytes; read anew for each request
  std::filesystem::path memory_file;  ///< what was told, over restarts
  /// Keeps DeliveryLog::text() instead of `memory_file`, which is only read then; see restore(). May wait.
  std::function<Result<void>(const std::string&)> save = {};
  std::filesystem::path certificate_authorities;  ///< PEM; empty: the system's
  std::string page;                               ///< where people reach weftd's page; may be empty
  std::string installation = {};                  ///< the store's id: tells receivers one weftd from another
  EventFilter filter;
  Duration timeout = std::chrono::seconds(5);  ///< of one request
  Duration first_pause = std::chrono::milliseconds(500);
  Duration longest_pause = std::chrono::seconds(60);
  std::function<void(const std::string&)> complain = {};  ///< once for each trouble, and when it is over
};

/// Readable from any thread.
struct EventFigures {
  std::atomic<std::uint64_t> delivered{0};  ///< answered with 2xx
  std::atomic<std::uint64_t> failed{0};     ///< attempts without such an answer
  std::atomic<std::uint64_t> given_up{0};   ///< messages that the receiver says it can never take
  std::atomic<std::uint64_t> waiting{0};    ///< incidents that the receiver was not told of yet
};

/// All members but figures() and stop() are called on one thread, which may wait for the receiver as long as it likes.
class EventSender {
 public:
  /// kInvalidArgument, kNotFound, kFailedPrecondition: an address, a key or a file is wrong; kCorrupt: the memory is
  /// not ours to read. The receiver is not asked yet. `clock` must outlive it.
  static Result<std::unique_ptr<EventSender>> make(EventSenderOptions options, const Clock& clock);

  /// What EventSenderOptions::save was given by the process before. Call it before the first look(). kCorrupt when it
  /// is not ours to read.
  Result<void> restore(const std::string& text);

  /// Sends what is due of these. Any 2xx is an acknowledgement. 400, 413 and 422 say that the receiver can never take
  /// this message: it is given up. After anything else, and silence, it is sent again, with pauses that double: nothing
  /// is overtaken, but what changes meanwhile is told only as it is then. `apart`: the end of keys of a weftd that
  /// cannot know whether another one tells, too, and gives the same ids: a receiver must take both.
  void look(const IncidentList& incidents, const std::string& apart = {});
  /// look() ends after the request that is under way. From any thread.
  void stop() { stopping_ = true; }

  /// Figures since the start of the process. From any thread.
  const EventFigures& figures() const { return figures_; }
  /// Host and port of the receiver, for labels and logs: paths and queries may hold secrets.
  const std::string& receiver() const { return receiver_; }

 private:
  enum class Outcome : std::uint8_t { kTaken, kNever, kAgain };

  EventSender(EventSenderOptions options, DeliveryLog book, std::string authorities, bool is_new, const Clock& clock);
  Outcome post(const Incident& incident, const std::string& apart, std::string& why);
  void remember();
  Result<void> save() const;
  void pause(const std::string& why);

  const EventSenderOptions options_;
  const std::string receiver_;
  const std::string authorities_;
  const Clock& clock_;
  DeliveryLog book_;
  bool is_new_;
  Duration pause_{};
  std::chrono::steady_clock::time_point next_{};
  bool in_trouble_ = false;
  bool unsaved_ = false;  ///< the last time that it was to be kept it was not
  EventFigures figures_;
  std::atomic<bool> stopping_{false};
};

}  // namespace weft::events
