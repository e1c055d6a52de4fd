// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where watchers wait: one thread looks at the latest snapshot and gives each watcher that is ready its next message.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "api/publication/publication.hpp"

namespace weft::api {

/// Who watches. Each has streams of its own: neither takes those of the other.
enum class Audience {
  kClient,
  kShard,  ///< another shard of the site, for its clients
};

/// So many Watch streams may other shards have: of four kinds, for 64 weftd.
inline constexpr std::size_t kMostShardWatchers = 256;

/// A Watch call that waits for news.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Starts to send the next message if the last one is out and there is news. Never blocks.
  virtual void advance(const Snapshot& snapshot) = 0;
  /// Ends the stream because the server stops.
  virtual void end() = 0;
};

/// All Watch calls of the server. May be used from any thread.
class WatchDispatcher {
 public:
  /// `each_time` is called on the hall's thread with each snapshot that it looks at.
  WatchDispatcher(const Publication& publication, std::size_t most_watchers,
                  std::function<void(const Snapshot&)> each_time);
  ~WatchDispatcher();
  WatchDispatcher(const WatchDispatcher&) = delete;
  WatchDispatcher& operator=(const WatchDispatcher&) = delete;

  /// False when there are too many, or the hall is closing. Other shards may have kMostShardWatchers.
  bool admit(std::shared_ptr<Watcher> watcher, Audience audience = Audience::kClient);
  /// Removes a watcher that has ended.
  void leave(const Watcher* watcher);
  /// There may be something to send. Any thread; cheap.
  void nudge();
  /// Ends all watchers and joins the thread.
  void stop();

 private:
  struct Admitted {
    std::shared_ptr<Watcher> watcher;
    Audience audience;
  };
  void run();

  const Publication* publication_;
  std::size_t most_;
  std::function<void(const Snapshot&)> each_time_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool nudged_ = true;  ///< look once at the start
  bool stopping_ = false;
  std::vector<Admitted> watchers_;
  std::thread thread_;
  Subscription subscription_;
};

}  // namespace weft::api
