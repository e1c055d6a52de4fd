// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bounded queue between threads. What happens when it is full is said where it is made, and its depth is a metric.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace weft::runtime {

/// What push() does when the channel is full.
enum class WhenFull : std::uint8_t {
  kBlock,       ///< push waits for room: the producer may be slowed
  kDropOldest,  ///< the oldest item makes room; with capacity 1 this is "the latest wins"
  kRefuse,      ///< push returns false: the producer decides
};

/// Where push() puts an item.
enum class Turn : std::uint8_t {
  kLast,
  kFirst,  ///< before all that is kLast, behind what is kFirst already; not for kDropOldest
};

/// Figures for the metrics. The counts grow from the start of the process.
struct ChannelFigures {
  std::size_t depth = 0;
  std::size_t capacity = 0;
  std::uint64_t pushed = 0;   ///< taken in, those dropped later included
  std::uint64_t dropped = 0;  ///< made room for newer ones
  std::uint64_t refused = 0;  ///< not taken in because it was full
};

/// Any number of producers and consumers. `notify`, where given, is called by the producer's thread, outside the lock,
/// when an item arrives in an empty channel; whoever it wakes takes items with try_pop() until there are none. It is
/// meant to post to an executor, and must not throw.
template <typename T>
class Channel {
 public:
  /// `name` is for metrics and logs. A capacity of 0 counts as 1.
  Channel(std::string name, std::size_t capacity, WhenFull when_full, std::function<void()> notify = {})
      : name_(std::move(name)),
        capacity_(capacity == 0 ? 1 : capacity),
        when_full_(when_full),
        notify_(std::move(notify)) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// False when the channel is closed, or full with kRefuse: the item is lost then.
  bool push(T item, Turn turn = Turn::kLast) {
    std::optional<T> displaced;  // destroyed outside the lock: it may be a whole sweep
    bool was_empty = false;
    {
      std::unique_lock lock(mutex_);
      if (items_.size() >= capacity_ && when_full_ == WhenFull::kBlock)
        room_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
      if (closed_) return false;
      if (items_.size() >= capacity_) {
        if (when_full_ == WhenFull::kRefuse) {
          ++refused_;
          return false;
        }
        displaced.emplace(std::move(items_.front()));
        items_.pop_front();
        ++dropped_;
      }
      was_empty = items_.empty() && !displaced;
      if (turn == Turn::kFirst)
        items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(first_++), std::move(item));
      else
        items_.push_back(std::move(item));
      ++pushed_;
    }
    filled_.notify_one();
    if (was_empty && notify_) notify_();
    return true;
  }

  /// Waits for an item. nullopt when the channel is closed and nothing is left in it.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return take();
  }

  /// nullopt when there is none now.
  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take();
  }

  /// Nothing more goes in; what is inside can still be taken out; whoever waits is woken. May be called again.
  void close() {
    {
      std::unique_lock lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
    room_.notify_all();
  }

  /// The figures as of now. Any thread.
  ChannelFigures figures() const {
    std::unique_lock lock(mutex_);
    return {items_.size(), capacity_, pushed_, dropped_, refused_};
  }
  /// The name that was given to the constructor.
  const std::string& name() const { return name_; }

 private:
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    first_ -= first_ > 0;
    room_.notify_one();
    return item;
  }

  const std::string name_;
  const std::size_t capacity_;
  const WhenFull when_full_;
  const std::function<void()> notify_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<T> items_;
  std::size_t first_ = 0;  ///< of items_, those that are kFirst
  bool closed_ = false;
  std::uint64_t pushed_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace weft::runtime
