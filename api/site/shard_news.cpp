// SPDX-License-Identifier: Apache-2.0
#include "api/site/shard_news.hpp"

#include <algorithm>

namespace weft::api {
namespace {

/// So many things that are gone may be kept before it is looked whether all watchers know.
constexpr std::size_t kGoneKept = 1000;

}  // namespace

template <typename Kind>
ShardNews<Kind>::~ShardNews() {
  for (auto& [name, mirror] : mirrors_)
    if (mirror.stream) mirror.stream->cancel();
}

template <typename Kind>
void ShardNews<Kind>::look_after(const SitePtr& site) {
  std::vector<std::string> to_follow;
  {
    const std::lock_guard lock(mutex_);
    site_ = site;
    const std::vector<SiteShard> others = site ? site->others() : std::vector<SiteShard>{};
    for (auto& [name, mirror] : mirrors_)
      if (std::ranges::find(others, name, &SiteShard::name) == others.end()) leave(mirror);
    for (const SiteShard& shard : others) {
      Mirror& mirror = mirrors_[shard.name];
      mirror.shard = shard;
      mirror.is_left = false;
      mirror.attempts = 0;
      if (!mirror.is_followed) to_follow.push_back(shard.name);
      if (mirror.is_followed && !mirror.is_heard && std::chrono::steady_clock::now() - mirror.begun > kShardPatience)
        mirror.is_missing = true;  // it may still answer
      prune(shard.name, mirror);
    }
    nudge();
  }
  for (const std::string& name : to_follow) follow(name);
}

template <typename Kind>
void ShardNews<Kind>::follow(const std::string& name) {
  SitePtr site;
  SiteShard shard;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    Mirror& mirror = mirrors_.at(name);
    if (mirror.is_followed || mirror.is_left) return;
    mirror.is_followed = true;
    mirror.is_heard = false;
    mirror.begun = std::chrono::steady_clock::now();
    mirror.log.begin();
    ++mirror.attempts;
    number = ++mirror.number;
    site = site_;
    shard = mirror.shard;
  }
  // The stream does not keep us: we end it.
  const auto self = this->weak_from_this();
  auto opened = Stream::open(
      peers_, site, shard, Kind::request(), Kind::begin, {},
      [self, name, number](Event& event) {
        const auto news = self.lock();
        return news && news->take(name, number, event);
      },
      [self, name, number](const Result<void>& how) {
        if (const auto news = self.lock()) news->ended(name, number, how);
      });
  const std::lock_guard lock(mutex_);
  Mirror& mirror = mirrors_.at(name);
  const bool is_ours = mirror.is_followed && mirror.number == number;
  if (opened && is_ours) {
    mirror.stream = *opened;
  } else if (opened) {
    (*opened)->cancel();
  } else if (is_ours) {
    mirror.is_followed = false;
    lose(mirror);
  }
}

template <typename Kind>
bool ShardNews<Kind>::take(const std::string& name, std::uint64_t number, Event& event) {
  const std::lock_guard lock(mutex_);
  Mirror& mirror = mirrors_.at(name);
  if (!mirror.is_followed || mirror.number != number) return false;
  mirror.is_heard = true;
  Kind::mark(event, name);
  const bool is_complete = Kind::take(mirror.log, event);
  if (mirror.log.is_full()) {
    lose(mirror);
    if (mirror.stream) mirror.stream->cancel();
    return false;
  }
  if (is_complete && !mirror.is_complete) {
    if constexpr (Kind::kHasBeginning) mirror.log.complete(Kind::last);
    mirror.is_complete = true;
    mirror.is_missing = false;
    mirror.complete_at = mirror.log.end();
    mirror.attempts = 0;
  }
  nudge();
  return true;
}

template <typename Kind>
void ShardNews<Kind>::ended(const std::string& name, std::uint64_t number, const Result<void>& how) {
  bool is_another_left = false;
  {
    const std::lock_guard lock(mutex_);
    Mirror& mirror = mirrors_.at(name);
    if (!mirror.is_followed || mirror.number != number) return;
    mirror.is_followed = false;
    mirror.stream.reset();
    const bool is_lost = !how && how.error().code == ErrorCode::kUnavailable;
    is_another_left = is_lost && mirror.attempts < mirror.shard.addresses.size();
    // While an address is left of one that was never reached, it is not said yet that the shard does not answer.
    if (!is_another_left || mirror.is_complete) lose(mirror);
  }
  if (is_another_left) follow(name);
}

/// With the lock: the shard does not answer.
template <typename Kind>
void ShardNews<Kind>::lose(Mirror& mirror) {
  mirror.is_complete = false;
  mirror.is_missing = true;
  nudge();
}

/// With the lock: what the shard owned is no part of the site.
template <typename Kind>
void ShardNews<Kind>::leave(Mirror& mirror) {
  if (mirror.is_left) return;
  mirror.is_left = true;
  mirror.is_followed = mirror.is_complete = mirror.is_missing = false;
  if (mirror.stream) mirror.stream->cancel();
  mirror.stream.reset();
  mirror.log.begin();
  if constexpr (Kind::kHasBeginning) mirror.log.complete(Kind::last);
}

/// With the lock.
template <typename Kind>
void ShardNews<Kind>::nudge() {
  for (Reading& reading : readings_)
    if (std::exchange(reading.waits, false)) reading.nudge();
}

/// With the lock.
template <typename Kind>
void ShardNews<Kind>::prune(const std::string& name, Mirror& mirror) {
  if (mirror.log.gone() < kGoneKept) return;
  Place place = mirror.log.end();
  for (Reading& reading : readings_) {
    const auto& seen = reading.seen[name];
    if (!seen.is_first) place = std::min(place, seen.place);
  }
  mirror.log.prune(place);
}

/// With the lock.
template <typename Kind>
bool ShardNews<Kind>::read(Reading& reading, Mirror& mirror, const Wants& wants, Event& event) {
  auto& seen = reading.seen[mirror.shard.name];
  bool is_found = false;
  while (true) {
    Place place = seen.place;
    const auto* entry = mirror.log.after(place);
    if (entry == nullptr) break;
    const bool is_told = wants(entry->event, seen.is_first) && !(seen.is_first && entry->is_gone);
    if (is_told && is_found && !Kind::add(event, entry->event)) break;
    if (is_told && !is_found) event = entry->event;
    is_found = is_found || is_told;
    seen.place = place;
  }
  if (mirror.is_complete && seen.place >= mirror.complete_at) seen.is_first = false;
  return is_found;
}

template <typename Kind>
bool ShardNews<Kind>::is_there(const Mirror& mirror, const Reading& reading) {
  const auto seen = reading.seen.find(mirror.shard.name);
  return mirror.is_complete && (seen == reading.seen.end() ? 0 : seen->second.place) >= mirror.complete_at;
}

template <typename Kind>
ShardNews<Kind>::Reader::Reader(std::shared_ptr<ShardNews> news, Wants wants, std::function<void()> nudge)
    : news_(std::move(news)), wants_(std::move(wants)) {
  const std::lock_guard lock(news_->mutex_);
  self_ = news_->readings_.insert(news_->readings_.end(), Reading());
  self_->nudge = std::move(nudge);
}

template <typename Kind>
ShardNews<Kind>::Reader::~Reader() {
  const std::lock_guard lock(news_->mutex_);
  news_->readings_.erase(self_);
}

template <typename Kind>
bool ShardNews<Kind>::Reader::next(Event& event) {
  const std::lock_guard lock(news_->mutex_);
  auto& mirrors = news_->mirrors_;
  auto at = mirrors.upper_bound(self_->turn);
  for (std::size_t visited = 0; visited < mirrors.size(); ++visited, ++at) {
    if (at == mirrors.end()) at = mirrors.begin();
    self_->turn = at->first;
    if (news_->read(*self_, at->second, wants_, event)) return true;
  }
  self_->waits = true;
  return false;
}

template <typename Kind>
auto ShardNews<Kind>::Reader::missing(bool with_pending) const -> Missing {
  const std::lock_guard lock(news_->mutex_);
  Missing missing;
  for (const auto& [name, mirror] : news_->mirrors_) {
    if (mirror.is_left || is_there(mirror, *self_)) continue;
    const bool is_pending = !mirror.is_missing;
    missing.is_pending = missing.is_pending || is_pending;
    if (!is_pending || with_pending) missing.shards.push_back(name);
  }
  return missing;
}

template class ShardNews<IncidentNews>;
template class ShardNews<PlanNews>;
template class ShardNews<HealthNews>;
template class ShardNews<FabricNews>;

}  // namespace weft::api
