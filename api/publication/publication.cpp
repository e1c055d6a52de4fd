// SPDX-License-Identifier: Apache-2.0
#include "api/publication/publication.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace weft::api {

struct Subscription::Entry {
  std::mutex mutex;  ///< held while the callback runs and while it is taken away
  Publication::Callback callback;
};

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this != &other) {
    reset();
    entry_ = std::move(other.entry_);
  }
  return *this;
}

void Subscription::reset() {
  if (!entry_) return;
  {
    const std::lock_guard lock(entry_->mutex);
    entry_->callback = nullptr;
  }
  entry_.reset();
}

// A mutex around a pointer copy rather than std::atomic<std::shared_ptr>: libstdc++ 12 implements that one with a lock
// bit whose release on load is relaxed, which is a race by the letter and to ThreadSanitizer. The lock is held for two
// instructions and one count.
struct Publication::State {
  mutable std::mutex snapshot_mutex;
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<const Snapshot>();

  std::mutex subscribers_mutex;
  std::vector<std::weak_ptr<Subscription::Entry>> subscribers;
};

Publication::Publication() : state_(std::make_unique<State>()) {}
Publication::~Publication() = default;

void Publication::publish(std::shared_ptr<const Snapshot> snapshot) {
  if (!snapshot) return;
  {
    const std::lock_guard lock(state_->snapshot_mutex);
    state_->snapshot.swap(snapshot);
  }
  // The old picture, now in `snapshot`, is freed at the end, outside the lock.
  std::vector<std::weak_ptr<Subscription::Entry>> subscribers;
  {
    const std::lock_guard lock(state_->subscribers_mutex);
    std::erase_if(state_->subscribers, [](const auto& entry) { return entry.expired(); });
    subscribers = state_->subscribers;
  }
  for (const auto& weak : subscribers) {
    const auto entry = weak.lock();
    if (!entry) continue;
    const std::lock_guard lock(entry->mutex);
    if (entry->callback) entry->callback();
  }
}

std::shared_ptr<const Snapshot> Publication::load() const {
  const std::lock_guard lock(state_->snapshot_mutex);
  return state_->snapshot;
}

Subscription Publication::subscribe(Callback callback) const {
  auto entry = std::make_shared<Subscription::Entry>();
  entry->callback = std::move(callback);
  Subscription subscription;
  subscription.entry_ = entry;
  const std::lock_guard lock(state_->subscribers_mutex);
  std::erase_if(state_->subscribers, [](const auto& old) { return old.expired(); });
  state_->subscribers.push_back(std::move(entry));
  return subscription;
}

}  // namespace weft::api
