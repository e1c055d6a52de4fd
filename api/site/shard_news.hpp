// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all other shards of a site tell in one kind of stream: one stream from each, for all watchers of this weftd.

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/site/news_kinds.hpp"
#include "api/site/news_log.hpp"
#include "api/site/shard_stream.hpp"
#include "fabric/site.hpp"

namespace weft::api {

/// Streams are opened by look_after(), and end with it. A shard whose stream ends is missing until another has told all
/// there is; what is no news is not told again. All members may be called from any thread.
template <typename Kind>
class ShardNews : public std::enable_shared_from_this<ShardNews<Kind>> {
  struct Reading;

 public:
  /// What the streams consist of.
  using Event = typename Kind::Event;
  /// Whether a watcher is to be told. `is_first`: it has not been told yet what there was in that shard.
  using Wants = std::function<bool(const Event& event, bool is_first)>;

  /// The shards that do not answer one watcher.
  struct Missing {
    std::vector<std::string> shards;  ///< sorted
    bool is_pending = false;          ///< it is not known yet of others
  };

  /// One watcher's place in what the shards tell.
  class Reader {
   public:
    /// `nudge` is called when next() may have something again.
    Reader(std::shared_ptr<ShardNews> news, Wants wants, std::function<void()> nudge);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    /// The next event; false when the watcher knows all of them.
    bool next(Event& event);
    /// As far as events were read. `with_pending`: shards of which that is not known yet are among them.
    Missing missing(bool with_pending) const;

   private:
    const std::shared_ptr<ShardNews> news_;
    const Wants wants_;
    typename std::list<Reading>::iterator self_;
  };

  /// `peers` must outlive it.
  explicit ShardNews(ShardPeers& peers) : peers_(peers) {}
  /// Ends its streams.
  ~ShardNews();
  ShardNews(const ShardNews&) = delete;
  ShardNews& operator=(const ShardNews&) = delete;

  /// Follows each other shard of the site that has no stream, and drops those that the site lists no more. Call it
  /// every few seconds.
  void look_after(const SitePtr& site);

 private:
  using Place = typename NewsLog<Event>::Place;
  using Stream = ShardStream<typename Kind::Service, typename Kind::Request, Event>;
  struct Mirror {
    SiteShard shard{};
    NewsLog<Event> log{};
    std::shared_ptr<Stream> stream{};
    std::uint64_t number = 0;  ///< of the stream
    bool is_followed = false;  ///< there is a stream, or one is being opened
    bool is_heard = false;     ///< something came on it
    bool is_complete = false;  ///< it has told all there is
    bool is_left = false;      ///< the site lists the shard no more
    bool is_missing = false;   ///< since it was complete last, or ever
    Place complete_at = 0;     ///< of the log when it became complete
    std::size_t attempts = 0;  ///< since it was complete, or looked after
    std::chrono::steady_clock::time_point begun{};
  };
  struct Reading {
    struct Seen {
      Place place = 0;
      bool is_first = true;
    };
    std::map<std::string, Seen> seen{};  ///< by shard
    std::string turn{};                  ///< the shard that was read last
    std::function<void()> nudge{};
    bool waits = true;  ///< it found nothing
  };

  void follow(const std::string& name);
  bool take(const std::string& name, std::uint64_t number, Event& event);
  void ended(const std::string& name, std::uint64_t number, const Result<void>& how);
  void lose(Mirror& mirror);
  void leave(Mirror& mirror);
  bool read(Reading& reading, Mirror& mirror, const Wants& wants, Event& event);
  void prune(const std::string& name, Mirror& mirror);
  void nudge();
  static bool is_there(const Mirror& mirror, const Reading& reading);

  ShardPeers& peers_;
  std::mutex mutex_;
  SitePtr site_;
  std::map<std::string, Mirror> mirrors_;  ///< by shard
  std::list<Reading> readings_;
};

extern template class ShardNews<IncidentNews>;
extern template class ShardNews<PlanNews>;
extern template class ShardNews<HealthNews>;
extern template class ShardNews<FabricNews>;

}  // namespace weft::api
