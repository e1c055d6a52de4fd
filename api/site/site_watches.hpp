// SPDX-License-Identifier: Apache-2.0
#pragma once
// Streams of a whole site.

#include <functional>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "api/publication/publication.hpp"
#include "api/site/shard_news.hpp"

namespace weft::api {

/// What the other shards tell, while somebody watches. All members may be called from any thread.
class SiteWatches {
 public:
  /// What is passed by reference must outlive it.
  SiteWatches(const Publication& publication, ShardPeers& peers) : publication_(publication), peers_(peers) {}

  /// A place in what the other shards tell, from the beginning. See ShardNews::Reader.
  template <typename Kind>
  std::unique_ptr<typename ShardNews<Kind>::Reader> follow(typename ShardNews<Kind>::Wants wants,
                                                           std::function<void()> nudge) {
    using News = ShardNews<Kind>;
    std::shared_ptr<News> news;
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      auto& known = std::get<std::weak_ptr<News>>(all_);
      news = known.lock();
      is_new = news == nullptr;
      if (is_new) known = news = std::make_shared<News>(peers_);
    }
    if (is_new) news->look_after(publication_.load()->site);
    return std::make_unique<typename News::Reader>(std::move(news), std::move(wants), std::move(nudge));
  }

  /// See ShardNews::look_after().
  void look_after() {
    const auto site = publication_.load()->site;
    const auto look = [&](const auto& known) {
      if (const auto news = known.lock()) news->look_after(site);
    };
    const std::lock_guard lock(mutex_);
    std::apply([&](const auto&... known) { (look(known), ...); }, all_);
  }

 private:
  const Publication& publication_;
  ShardPeers& peers_;
  std::mutex mutex_;
  std::tuple<std::weak_ptr<ShardNews<IncidentNews>>, std::weak_ptr<ShardNews<PlanNews>>,
             std::weak_ptr<ShardNews<HealthNews>>, std::weak_ptr<ShardNews<FabricNews>>>
      all_;  ///< of each kind what watchers share
};

}  // namespace weft::api
