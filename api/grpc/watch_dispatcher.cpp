// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/watch_dispatcher.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace weft::api {

WatchDispatcher::WatchDispatcher(const Publication& publication, std::size_t most_watchers,
                                 std::function<void(const Snapshot&)> each_time)
    : publication_(&publication), most_(most_watchers), each_time_(std::move(each_time)) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "weft-watch");
    run();
  });
  subscription_ = publication.subscribe([this] { nudge(); });
}

WatchDispatcher::~WatchDispatcher() {
  stop();
}

bool WatchDispatcher::admit(std::shared_ptr<Watcher> watcher, Audience audience) {
  {
    const std::lock_guard lock(mutex_);
    const auto most = audience == Audience::kShard ? kMostShardWatchers : most_;
    const auto there = std::ranges::count(watchers_, audience, &Admitted::audience);
    if (stopping_ || static_cast<std::size_t>(there) >= most) return false;
    watchers_.push_back({std::move(watcher), audience});
  }
  nudge();
  return true;
}

void WatchDispatcher::leave(const Watcher* watcher) {
  std::shared_ptr<Watcher> last;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto at =
      std::find_if(watchers_.begin(), watchers_.end(), [&](const auto& one) { return one.watcher.get() == watcher; });
  if (at == watchers_.end()) return;
  last = std::move(at->watcher);
  watchers_.erase(at);
}

void WatchDispatcher::nudge() {
  {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
  }
  woken_.notify_one();
}

void WatchDispatcher::stop() {
  subscription_.reset();
  std::vector<Admitted> watchers;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    watchers = watchers_;
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (const auto& one : watchers) one.watcher->end();
}

void WatchDispatcher::run() {
  for (;;) {
    std::vector<Admitted> watchers;
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [this] { return nudged_ || stopping_; });
      if (stopping_) return;
      nudged_ = false;
      watchers = watchers_;
    }
    const auto snapshot = publication_->load();
    each_time_(*snapshot);
    for (const auto& one : watchers) one.watcher->advance(*snapshot);
  }
}

}  // namespace weft::api
