// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the daemon puts its latest picture and where every reader takes it from.

#include <functional>
#include <memory>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// Ends the subscription when it goes. Its destructor waits for a call of the callback that is under way, so that what
/// the callback uses may be destroyed after it.
class Subscription {
 public:
  Subscription() = default;
  Subscription(Subscription&& other) noexcept = default;
  Subscription& operator=(Subscription&& other) noexcept;
  ~Subscription() { reset(); }
  /// Ends the subscription now, as the destructor does.
  void reset();

 private:
  friend class Publication;
  struct Entry;
  std::shared_ptr<Entry> entry_;
};

/// Holds the latest snapshot. All members may be called from any thread.
class Publication {
 public:
  /// Called after each publication, on the thread that published: it must be quick, must not block and must neither
  /// subscribe nor end a subscription. It is told nothing: load() has the latest.
  using Callback = std::function<void()>;

  Publication();
  ~Publication();
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  /// Replaces the picture and calls every subscriber. Readers keep the one they have for as long as they hold it.
  void publish(std::shared_ptr<const Snapshot> snapshot);
  /// The latest; never null (before the first publication it is an empty snapshot of revision 0).
  std::shared_ptr<const Snapshot> load() const;
  /// Calls `callback` after each publication for as long as the result lives.
  [[nodiscard]] Subscription subscribe(Callback callback) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::api
