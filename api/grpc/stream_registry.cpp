// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/stream_registry.hpp"

#include <pthread.h>

#include <utility>

#include "api/grpc/telemetry_stream.hpp"

namespace weft::api {

StreamRegistry::StreamRegistry(TelemetrySink& the_sink, const Clock& the_clock, const TelemetryLimits& the_limits,
                               access::Gate& the_gate)
    : sink(the_sink), clock(the_clock), limits(the_limits), gate(the_gate) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "weft-telemetry");
    run();
  });
}

StreamRegistry::~StreamRegistry() {
  stop();
}

bool StreamRegistry::admit(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || streams_.size() >= limits.max_collectors) return false;
  streams_.emplace(stream.get(), stream);
  return true;
}

void StreamRegistry::leave(const TelemetryStream* stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

void StreamRegistry::wake(Stream stream) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = ready_.empty();
    ready_.push_back(std::move(stream));
  }
  if (first) woken_.notify_one();
}

void StreamRegistry::wake_at(Steady::time_point when, const Stream& stream) {
  bool earliest = false;
  {
    const std::lock_guard lock(mutex_);
    earliest = timers_.empty() || when < timers_.top().when;
    timers_.push({when, stream});
  }
  if (earliest) woken_.notify_one();
}

bool StreamRegistry::change_values(std::size_t before, std::size_t now) {
  if (before == now) return true;
  const std::uint64_t together = values_.fetch_add(now - before) + (now - before);
  if (now < before || together <= limits.max_values) return true;
  values_.fetch_sub(now - before);
  return false;
}

TelemetryFigures StreamRegistry::figures() const {
  const std::lock_guard lock(mutex_);
  return {streams_.size(), refused_, throttled_, values_};
}

void StreamRegistry::run() {
  std::vector<Stream> due;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    due.swap(ready_);
    for (const auto now = Steady::now(); !timers_.empty() && timers_.top().when <= now; timers_.pop())
      if (Stream stream = timers_.top().stream.lock()) due.push_back(std::move(stream));
    if (due.empty()) {
      if (timers_.empty()) {
        woken_.wait(lock);
      } else {
        // A copy: it is looked at again after the wait, when the timers may have moved.
        const Steady::time_point next = timers_.top().when;
        woken_.wait_until(lock, next);
      }
      continue;
    }
    lock.unlock();
    for (const Stream& stream : due) stream->turn();
    due.clear();  // a stream's end must not find the lock taken
    lock.lock();
  }
}

void StreamRegistry::stop() {
  std::vector<Stream> streams;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [address, weak] : streams_)
      if (Stream stream = weak.lock()) streams.push_back(std::move(stream));
  }
  woken_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (const Stream& stream : streams) {
    stream->end({ErrorCode::kUnavailable, "weftd is stopping"});
    stream->turn();
  }
  const std::lock_guard lock(mutex_);
  ready_.clear();
}

}  // namespace weft::api
