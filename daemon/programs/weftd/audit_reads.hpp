// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions about the audit trail, on the lane of the store.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "api/publication/commands.hpp"
#include "daemon/adapters/store/store.hpp"
#include "daemon/platform/runtime/lane.hpp"

namespace weft::daemon {

/// Has at most one read on the lane: what is to be written waits behind that one, however many people ask, and those
/// who ask take turns. On the main thread, but for the callbacks.
class AuditReads {
 public:
  /// Brings a function to the main thread; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// As of api::RemedyCommands.
  using Callback = api::RemedyCommands::AuditCallback;

  /// As many wait as HTTP has connections by default.
  static constexpr std::size_t kMostWaiting = 256;

  /// The lane must be stopped, and what it posted dropped or run, before this is destroyed.
  AuditReads(store::Store& store, runtime::Lane& lane, Post post)
      : store_(store), lane_(lane), post_(std::move(post)) {}

  /// The newest `limit` records before `before` (0: of all). The callback is called from any thread: kResourceExhausted
  /// while too many wait, kUnavailable while the lane has no room.
  void read(std::uint64_t before, std::size_t limit, Callback callback) {
    if (waiting_.size() >= kMostWaiting)
      return callback(
          fail(ErrorCode::kResourceExhausted, "too many questions about the audit trail wait: ask again in a moment"));
    waiting_.push_back({before, limit, std::move(callback)});
    if (!is_reading_) begin();
  }

  /// Those who wait hear `why`.
  void stop(const Error& why) {
    for (const Question& question : std::exchange(waiting_, {})) question.callback(tl::unexpected(why));
  }

 private:
  struct Question {
    std::uint64_t before;
    std::size_t limit;
    Callback callback;
  };

  /// The next one, if there is one.
  void begin() {
    is_reading_ = false;
    while (!waiting_.empty() && !is_reading_) {
      const Question next = std::move(waiting_.front());
      waiting_.pop_front();
      is_reading_ = lane_.post([this, next] {
        const auto records = look(next);
        post_([this] { begin(); });
        next.callback(records);
      });
      if (!is_reading_) next.callback(fail(ErrorCode::kUnavailable, "the store is busy"));
    }
  }

  Result<std::vector<AuditRecord>> look(const Question& question) const {
    try {
      return store_.audit(question.before, question.limit);
    } catch (const std::exception& error) {
      return fail(ErrorCode::kUnavailable, error.what());
    }
  }

  store::Store& store_;
  runtime::Lane& lane_;
  const Post post_;
  std::deque<Question> waiting_;
  bool is_reading_ = false;
};

}  // namespace weft::daemon
