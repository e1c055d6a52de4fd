// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one watcher was told, so that the next message can be the next difference, however long it took to read the
// last.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace weft::api {

/// Remembers a digest for each thing that was sent. Its size is that of the picture, not that of the changes: a reader
/// that sleeps for an hour and a thousand changes finds the latest state of each thing, once.
///
/// Use, for each look at a list of `count` entries in snapshot `revision`: observe(); then visit entries by
/// next_index(), calling note() for each, until one is news; when there is no further index, next_gone() gives what has
/// vanished. The walk goes round, and goes on where it stopped, so that busy entries at the front starve none at the
/// back.
template <typename Key>
class Ledger {
 public:
  /// Starts a pass over snapshot `revision`; nothing when it is the one of the last call.
  void observe(std::uint64_t revision) {
    if (started_ && revision == revision_) return;
    started_ = true;
    revision_ = revision;
    visited_ = 0;
    ++pass_;
  }

  /// Position of the next entry to look at; nullopt when all `count` entries were looked at in this pass.
  std::optional<std::size_t> next_index(std::size_t count) {
    if (visited_ >= count) return std::nullopt;
    ++visited_;
    if (position_ >= count) position_ = 0;
    return position_++;
  }

  /// What an entry is to the watcher.
  enum class News { kNone, kNew, kChanged };
  /// `told` false: remember it without its having been sent.
  News note(const Key& key, std::uint64_t digest, bool told) {
    const auto [at, added] = entries_.try_emplace(key, Entry{digest, pass_, told});
    if (added) return told ? News::kNew : News::kNone;
    at->second.pass = pass_;
    if (at->second.digest == digest) return News::kNone;
    at->second.digest = digest;
    at->second.told = true;
    return News::kChanged;
  }

  /// One that was told of and is in the list no more; forgets it.
  std::optional<Key> next_gone() {
    if (gone_checked_ == pass_) return std::nullopt;
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (at->second.pass == pass_) {
        ++at;
        continue;
      }
      const Key key = at->first;
      const bool told = at->second.told;
      at = entries_.erase(at);
      if (told) return key;
    }
    gone_checked_ = pass_;
    return std::nullopt;
  }

  /// How many things are remembered.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t digest;
    std::uint64_t pass;  ///< in which it was last seen
    bool told;
  };
  std::map<Key, Entry> entries_;
  std::uint64_t revision_ = 0;
  std::uint64_t pass_ = 0;
  std::uint64_t gone_checked_ = 0;
  std::size_t visited_ = 0;
  std::size_t position_ = 0;
  bool started_ = false;
};

}  // namespace weft::api
