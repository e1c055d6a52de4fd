// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a watch has shown, so that another weftd can go on where the one before broke off.

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::ctl {

/// Which shards of a site do not answer, for people who watch.
class MissingShards {
 public:
  /// Notes those of an event that names all of them. Returns a line for each of which that is new, and for each that
  /// answers again.
  std::string take(const google::protobuf::RepeatedPtrField<std::string>& now);
  /// By name.
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
};

/// Of a feed with INITIAL events, INITIAL_COMPLETE and changes: which events say something new. Each further stream
/// begins with everything that is kept, also with what is over.
class WatchLedger {
 public:
  /// One event, of an incident or a plan.
  struct Item {
    const std::string& id;
    std::uint64_t revision = 0;
    bool is_over = false;        ///< resolved, committed, …
    bool is_wanted = true;       ///< also where it is there when the watch begins
    std::string_view text = {};  ///< where not every change is a new revision: all that is shown of it
  };

  /// A stream begins.
  void begin();
  /// Whether it is new or newer than what is known; from then on it is known.
  bool is_news(const Item& item);
  /// It is no longer kept.
  void forget(const std::string& id) { known_.erase(id); }
  /// All of what was there at the beginning of the stream is noted, but for that of `missing` shards. Returns what was
  /// known to be over and is no longer kept; it is forgotten. Nothing where a shard is missing: it may keep it.
  std::vector<std::string> complete(const std::vector<std::string>& missing = {});
  /// Whether a stream has been complete.
  bool is_complete() const { return is_complete_; }

  /// Gives `show` the event of a stream if it says something new, and before the end of a stream's beginning one of the
  /// type `gone` for each that is no longer kept. The beginning of a further stream is shown as changes. `id_of` is
  /// where an event has its id; `item` is of no meaning for INITIAL_COMPLETE.
  template <typename Event, typename IdOf, typename Show>
  void take(Event& event, const Item& item, decltype(Event().type()) gone, IdOf id_of, Show show) {
    const bool goes_on = is_complete_;
    if (event.type() == Event::INITIAL_COMPLETE || event.type() == Event::MISSING_SHARDS) {
      const std::vector<std::string> missing(event.missing_shards().begin(), event.missing_shards().end());
      if (event.type() == Event::INITIAL_COMPLETE) {
        Event last;
        last.set_type(gone);
        for (const std::string& id : complete(missing)) {
          id_of(last) = id;
          show(last);
        }
        if (goes_on) event.set_type(Event::MISSING_SHARDS);
      }
      if (std::exchange(missing_, missing) != missing || !goes_on) show(event);
    } else if (event.type() == gone) {
      forget(item.id);
      show(event);
    } else if (is_news(item) && (goes_on || item.is_wanted || event.type() != Event::INITIAL)) {
      if (goes_on && event.type() == Event::INITIAL) event.set_type(Event::CHANGED);
      show(event);
    }
  }

 private:
  struct Known {
    std::uint64_t revision = 0;
    std::size_t digest = 0;
    bool is_over = false;
    bool is_there = false;  ///< on this stream
  };
  std::map<std::string, Known> known_;
  std::vector<std::string> missing_;  ///< shards, as last told
  bool is_complete_ = false;
};

}  // namespace weft::ctl
