// SPDX-License-Identifier: Apache-2.0
#pragma once
// One Watch call: at most one message under way, the next made only when the reader took it.

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <utility>

#include "api/grpc/watch_dispatcher.hpp"
#include "api/publication/derived.hpp"

namespace weft::api {

/// `Feed` is IncidentFeed, PlanFeed, HealthFeed or FabricFeed, or a SiteFeed of one. It owns itself until gRPC is done
/// with it. Another shard gets nothing from a weftd that stands by: it is to ask the leader.
template <typename Feed>
class WatchStream final : public grpc::ServerWriteReactor<typename Feed::Message>, public Watcher {
 public:
  /// Makes the stream. It ends with RESOURCE_EXHAUSTED when there are too many watchers.
  static grpc::ServerWriteReactor<typename Feed::Message>* start(WatchDispatcher& hall, Feed feed,
                                                                 Audience audience = Audience::kClient) {
    std::shared_ptr<WatchStream> stream(new WatchStream(hall, std::move(feed), audience));
    stream->self_ = stream;
    if (!hall.admit(stream, audience))
      stream->finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many Watch streams: retry later"});
    return stream.get();
  }

  void advance(const Snapshot& snapshot) override {
    if (audience_ == Audience::kShard && snapshot.leadership.stands_by())
      return finish({grpc::StatusCode::UNAVAILABLE, leadership_text(snapshot.leadership)});
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || finished_ || !feed_.next(snapshot, message_)) return;
      writing_ = true;
    }
    // While writing_ is set nobody else starts or finishes anything.
    this->StartWrite(&message_);
  }

  void end() override { finish({grpc::StatusCode::UNAVAILABLE, "the server is stopping"}); }

 private:
  WatchStream(WatchDispatcher& hall, Feed feed, Audience audience)
      : hall_(hall), audience_(audience), feed_(std::move(feed)) {}

  void OnWriteDone(bool ok) override {
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      last = !ok || ending_;
      if (last && !ending_) status_ = {grpc::StatusCode::CANCELLED, "the client disconnected"};
      finished_ = last;
    }
    if (last) {
      this->Finish(status_);
    } else {
      hall_.nudge();
    }
  }

  // The reader left or its deadline passed.
  void OnCancel() override { finish({grpc::StatusCode::CANCELLED, "cancelled"}); }

  void OnDone() override {
    hall_.leave(this);
    self_.reset();  // nothing may follow
  }

  void finish(grpc::Status status) {
    {
      const std::lock_guard lock(mutex_);
      if (finished_ || ending_) return;
      ending_ = true;
      status_ = std::move(status);
      if (writing_) return;  // OnWriteDone finishes
      finished_ = true;
    }
    this->Finish(status_);
  }

  WatchDispatcher& hall_;
  const Audience audience_;
  std::mutex mutex_;
  Feed feed_;
  typename Feed::Message message_;
  bool writing_ = false;
  bool ending_ = false;    ///< finish as soon as nothing is being written
  bool finished_ = false;  ///< Finish() was called or is about to be
  grpc::Status status_;
  std::shared_ptr<WatchStream> self_;
};

}  // namespace weft::api
