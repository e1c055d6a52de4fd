// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writing on a lane what one thread decided, without that thread waiting: the batch goes to the lane, the outcome comes
// back, and whoever waits for it is answered.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/platform/runtime/lane.hpp"
#include "fabric/result.hpp"

namespace weft::runtime {

/// How a write ended.
enum class WriteEnd : std::uint8_t {
  kWritten,
  kRefused,  ///< the write returned a failure
  kThrown,   ///< the write threw
  kStopped,  ///< it never began
};

/// The end of a write, and why it is not on disk.
struct WriteOutcome {
  WriteEnd end = WriteEnd::kWritten;
  Error error{};  ///< unless kWritten
  /// True: it is on disk.
  explicit operator bool() const { return end == WriteEnd::kWritten; }
};

/// Owned by one thread, on which all members and all functions but `Write` are called. What gathers before a write
/// stays with the owner: it hands over a batch when is_writing() is false, and takes it back when it is not on disk.
template <typename Batch>
class WriteBehind {
 public:
  /// Brings a function to the owner's thread; may be called from any thread.
  using Post = std::function<void(std::function<void()>)>;
  /// Writes a batch, on the lane. It may throw.
  using Write = std::function<Result<void>(const Batch&)>;
  /// Takes the batch after its write. Whoever waits is answered afterwards, or by answer() within it.
  using Done = std::function<void(Batch, const WriteOutcome&)>;
  /// Somebody who waits for a write.
  using Waiter = std::function<void(const WriteOutcome&)>;

  /// The lane must be stopped, and what it posted dropped, before this is destroyed.
  WriteBehind(Lane& lane, Post post, Write write, Done done)
      : lane_(lane), post_(std::move(post)), write_(std::move(write)), done_(std::move(done)) {}
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// A batch is on its way and its outcome has not come back.
  bool is_writing() const { return writing_ > 0; }
  /// Somebody waits for the next write.
  bool is_awaited() const { return !waiting_.empty(); }

  /// Hears the outcome of the next write that begins.
  void wait(Waiter waiter) { waiting_.push_back(std::move(waiter)); }

  /// Begins to write. Returns the batch when the lane has no room: nothing has changed then, and those who wait still
  /// do. An owner that writes while is_writing() has several batches on the lane, in order.
  [[nodiscard]] std::optional<Batch> write(Batch batch) {
    auto flight = std::make_shared<Flight>(Flight{std::move(batch), std::exchange(waiting_, {})});
    ++writing_;
    if (lane_.post(
            [this, flight] { post_([this, flight, outcome = attempt(flight->batch)] { end(*flight, outcome); }); }))
      return std::nullopt;
    --writing_;
    waiting_ = std::move(flight->waiting);
    return std::move(flight->batch);
  }

  /// Answers those who waited for the write that has just ended: within `Done`, where the order matters.
  void answer(const WriteOutcome& outcome) {
    for (const Waiter& waiter : std::exchange(ended_, {})) waiter(outcome);
  }

  /// The end: those whose write never began hear kStopped. Call it when the lane has stopped.
  void stop() {
    for (const Waiter& waiter : std::exchange(waiting_, {}))
      waiter({WriteEnd::kStopped, {ErrorCode::kUnavailable, "it was not written any more"}});
  }

 private:
  struct Flight {
    Batch batch;
    std::vector<Waiter> waiting;
  };

  WriteOutcome attempt(const Batch& batch) const {
    try {
      const Result<void> written = write_(batch);
      return written ? WriteOutcome{} : WriteOutcome{WriteEnd::kRefused, written.error()};
    } catch (const std::exception& error) {
      return {WriteEnd::kThrown, {ErrorCode::kUnavailable, error.what()}};
    }
  }

  void end(Flight& flight, const WriteOutcome& outcome) {
    --writing_;
    ended_ = std::move(flight.waiting);
    done_(std::move(flight.batch), outcome);
    answer(outcome);
  }

  Lane& lane_;
  const Post post_;
  const Write write_;
  const Done done_;
  std::size_t writing_ = 0;      ///< batches on their way
  std::vector<Waiter> waiting_;  ///< for the next write
  std::vector<Waiter> ended_;    ///< of the write that has just ended
};

}  // namespace weft::runtime
