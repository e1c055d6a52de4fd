// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a watcher of a whole site is sent next.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/grpc/site_call.hpp"
#include "api/grpc/watch_stream.hpp"
#include "api/site/site_watches.hpp"

namespace weft::api {

/// The events of `Own`, the feed of this weftd's snapshots, and those of the other shards in turn. There is one
/// beginning: it is complete when each shard has told all there was, or is named as missing. From then on each change
/// of the missing ones is told, after all that they told.
template <typename Own, typename Kind>
class SiteFeed {
 public:
  /// What the watcher gets.
  using Message = typename Own::Message;
  /// Its place in what the other shards tell.
  using Others = typename ShardNews<Kind>::Reader;

  /// Tells from the beginning.
  SiteFeed(Own own, std::unique_ptr<Others> others) : own_(std::move(own)), others_(std::move(others)) {}

  /// The next message; false when the watcher knows all of it.
  bool next(const Snapshot& snapshot, Message& message) {
    is_own_turn_ = !is_own_turn_;
    for (const bool is_own : {is_own_turn_, !is_own_turn_})
      if (is_own ? next_own(snapshot, message) : next_other(message)) return true;
    return next_missing(message);
  }

 private:
  bool next_own(const Snapshot& snapshot, Message& message) {
    if (!own_.next(snapshot, message)) return false;
    if (Kind::is_complete(message)) {
      is_own_complete_ = true;
      return false;
    }
    if (snapshot.site) Kind::mark(message, snapshot.site->own);
    return true;
  }
  bool next_other(Message& message) {
    message.Clear();
    if (!others_->next(message)) return false;
    if (!is_complete_) Kind::set_initial(message);
    return true;
  }
  bool next_missing(Message& message) {
    auto missing = others_->missing(Kind::kHasBeginning && is_complete_);
    const bool completes = Kind::kHasBeginning && !is_complete_;
    if (completes ? !is_own_complete_ || missing.is_pending : missing.shards == missing_) return false;
    message.Clear();
    completes ? Kind::set_complete(message) : Kind::set_missing(message);
    for (const std::string& shard : missing.shards) message.add_missing_shards(shard);
    is_complete_ = true;
    missing_ = std::move(missing.shards);
    return true;
  }

  Own own_;
  std::unique_ptr<Others> others_;
  bool is_own_turn_ = false;
  bool is_own_complete_ = false;
  bool is_complete_ = false;          ///< the watcher was told that it is
  std::vector<std::string> missing_;  ///< that the watcher was told of
};

/// Answers a Watch call: for the whole site where weftd belongs to one, and to another shard for the own one alone.
/// `wants`: of the other shards' events.
template <typename Kind, typename Own>
grpc::ServerWriteReactor<typename Own::Message>* watch_site(const SiteQueries* site,
                                                            const grpc::CallbackServerContext& context,
                                                            WatchDispatcher& hall, Own own,
                                                            typename ShardNews<Kind>::Wants wants) {
  if (!is_for_site(site, context)) {
    const bool for_shard = context.client_metadata().contains(kAskedByShard);
    return WatchStream<Own>::start(hall, std::move(own), for_shard ? Audience::kShard : Audience::kClient);
  }
  using Feed = SiteFeed<Own, Kind>;
  return WatchStream<Feed>::start(
      hall, Feed(std::move(own), site->watches().follow<Kind>(std::move(wants), [&hall] { hall.nudge(); })),
      Audience::kClient);
}

}  // namespace weft::api
