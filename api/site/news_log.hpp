// SPDX-License-Identifier: Apache-2.0
#pragma once
// What another shard told of each thing, so that many watchers can be told it, each at its own pace. Pure.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "api/site/site_token.hpp"

namespace weft::api {

/// More than that of one shard and of one kind of stream is not kept; see also kMostEntriesOfShard.
inline constexpr std::size_t kMostNewsBytes = 64UL << 20;

/// The last event of each thing, in the order in which they came: a thing that changes moves to the end. A reader that
/// goes through it, and remembers its place, gets the latest of each thing and never misses the last.
template <typename Event>
class NewsLog {
 public:
  /// Grows along the log, from 1. A reader begins at 0.
  using Place = std::uint64_t;
  /// The last event of one thing.
  struct Entry {
    std::string key;
    Event event;
    bool is_gone = false;  ///< the event says that the thing is no more
    std::size_t bytes = 0;
    std::uint64_t stream = 0;  ///< in which it was told of last
  };

  /// A stream begins, which tells all there is.
  void begin() { ++stream_; }
  /// The thing was told of. `is_same(before, event)`: no news.
  template <typename IsSame>
  void put(const std::string& key, Event event, const IsSame& is_same) {
    if (const auto known = places_.find(key); known != places_.end()) {
      Entry& entry = entries_.at(known->second);
      entry.stream = stream_;
      if (!entry.is_gone && is_same(entry.event, event)) return;
    }
    append(key, std::move(event), false);
  }
  /// The thing is no more, as `event` says. Nothing where it is not known.
  void remove(const std::string& key, Event event) {
    const auto known = places_.find(key);
    if (known != places_.end() && !entries_.at(known->second).is_gone) append(key, std::move(event), true);
  }
  /// Takes out everything whose key begins with `front`, without a trace.
  void forget(const std::string& front) {
    for (auto at = places_.lower_bound(front); at != places_.end() && at->first.starts_with(front);) {
      erase_entry(at->second);
      at = places_.erase(at);
    }
  }
  /// The stream has told all there is: the rest is gone. `last(event)` makes of a thing's last event the one that says
  /// so.
  template <typename Last>
  void complete(const Last& last) {
    std::map<std::string, Event> gone;
    for (const auto& [place, entry] : entries_)
      if (!entry.is_gone && entry.stream != stream_) gone.emplace(entry.key, last(entry.event));
    for (auto& [key, event] : gone) append(key, std::move(event), true);
  }
  /// What is gone is kept for readers at a place before it: all of them are at `place` or behind it.
  void prune(Place place) {
    for (auto at = entries_.begin(); gone_ > 0 && at != entries_.end() && at->first <= place;) {
      const auto next = std::next(at);
      if (at->second.is_gone) {
        places_.erase(at->second.key);
        erase_entry(at->first);
      }
      at = next;
    }
  }

  /// The entry behind `place`, which becomes its; null where there is none.
  const Entry* after(Place& place) const {
    const auto found = entries_.upper_bound(place);
    if (found == entries_.end()) return nullptr;
    place = found->first;
    return &found->second;
  }
  /// Of the last event.
  Place end() const { return end_; }
  /// How many things are gone, and kept for readers.
  std::size_t gone() const { return gone_; }
  /// It has as much as may be kept.
  bool is_full() const { return entries_.size() >= kMostEntriesOfShard || bytes_ >= kMostNewsBytes; }

 private:
  void append(const std::string& key, Event event, bool is_gone) {
    const auto [at, is_new] = places_.try_emplace(key, end_ + 1);
    if (!is_new) erase_entry(at->second);
    at->second = ++end_;
    const std::size_t bytes = event.ByteSizeLong() + key.size();
    entries_.emplace_hint(entries_.end(), end_, Entry{key, std::move(event), is_gone, bytes, stream_});
    bytes_ += bytes;
    gone_ += is_gone ? 1 : 0;
  }
  void erase_entry(Place place) {
    const auto at = entries_.find(place);
    bytes_ -= at->second.bytes;
    gone_ -= at->second.is_gone ? 1 : 0;
    entries_.erase(at);
  }

  std::map<Place, Entry> entries_;
  std::map<std::string, Place> places_;  ///< by key
  Place end_ = 0;
  std::uint64_t stream_ = 0;
  std::size_t bytes_ = 0;
  std::size_t gone_ = 0;
};

}  // namespace weft::api
