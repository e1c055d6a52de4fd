// SPDX-License-Identifier: Apache-2.0
#pragma once
// Both ends of collectors' streams: a collector that does as it likes and a sink that does as it is told.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/publication/telemetry_sink.hpp"
#include "api/telemetry/batch_codec.hpp"
#include "tests/unit/api/small_fabric.hpp"
#include "weft/v1/telemetry.grpc.pb.h"

namespace weft::api {

/// Writes down what it is told. Welcomes everybody with `welcome`, asks for the next batch at once.
class RecordingSink final : public TelemetrySink {
 public:
  struct Taken {
    HostBatch batch;
    Duration clock_offset;
  };

  void hello(const Stream& stream, CollectorHello hello) override {
    const std::lock_guard lock(mutex_);
    hellos.push_back(std::move(hello));
    streams.push_back(stream);
    if (welcome) stream->welcome(*welcome);
    changed_.notify_all();
  }
  void batch(const Stream& stream, HostBatch batch, Duration clock_offset) override {
    const std::lock_guard lock(mutex_);
    taken.push_back({std::move(batch), clock_offset});
    stream->proceed();
    changed_.notify_all();
  }
  void gone(const Stream&) override {
    const std::lock_guard lock(mutex_);
    ++gones;
    changed_.notify_all();
  }

  /// Waits until `what` holds; false when it does not come to pass.
  bool wait(const std::function<bool()>& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), what);
  }

  std::optional<std::uint64_t> welcome = 0;  ///< none: nobody is answered
  std::vector<CollectorHello> hellos;
  std::vector<Stream> streams;  ///< in the order of their hellos
  std::vector<Taken> taken;
  unsigned gones = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// A reading of so many series, and perhaps an event.
inline HostBatch make_batch(std::size_t series, TimePoint taken = kNow) {
  auto inventory = std::make_shared<HostInventory>();
  std::vector<HostSeries> list(series);
  for (std::size_t i = 0; i < series; ++i) {
    list[i].device = "mlx5_0";
    list[i].name = "series_" + std::to_string(i);
    list[i].is_raw = true;
  }
  inventory->series = std::move(list);
  HostBatch batch;
  batch.reading.emplace();
  batch.reading->taken = taken;
  batch.reading->inventory = std::move(inventory);
  batch.reading->values.assign(series, 7);
  batch.reading->present.assign(series, 1);
  return batch;
}

/// The other end of a stream.
class Collector {
 public:
  explicit Collector(const std::shared_ptr<grpc::Channel>& channel) : stub_(v1::TelemetryService::NewStub(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    stream_ = stub_->Stream(&context_);
  }
  ~Collector() {
    if (!stream_) return;
    context_.TryCancel();
    stream_->Finish();
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  bool hello(const std::string& host, std::uint64_t oldest = 0) {
    v1::CollectorMessage message;
    v1::Hello& hello = *message.mutable_hello();
    hello.set_protocol(1);
    hello.set_host(host);
    hello.set_spool(42);
    hello.set_version("0.1.0");
    hello.set_interval_milliseconds(1500);
    hello.set_oldest_sequence(oldest);
    return stream_->Write(message);
  }
  bool batch(std::uint64_t sequence, const HostBatch& batch, bool late = false) {
    const auto body = encoder_.encode(batch);
    EXPECT_TRUE(body);
    v1::CollectorMessage message;
    message.mutable_batch()->set_sequence(sequence);
    message.mutable_batch()->set_late(late);
    message.mutable_batch()->set_body(body->data(), body->size());
    return stream_->Write(message);
  }
  bool clock_reply(std::uint64_t id, TimePoint host_time) {
    v1::CollectorMessage message;
    message.mutable_clock_reply()->set_id(id);
    message.mutable_clock_reply()->set_host_time(host_time.time_since_epoch().count());
    return stream_->Write(message);
  }
  bool send(const v1::CollectorMessage& message) { return stream_->Write(message); }
  /// The next message; without a content when there is none any more.
  v1::AnalyzerMessage next() {
    v1::AnalyzerMessage message;
    if (!stream_->Read(&message)) message.Clear();
    return message;
  }
  /// The number of the next acknowledgement, or 0 at the end; probes are left unanswered.
  std::uint64_t next_acknowledgement() {
    for (;;) {
      const v1::AnalyzerMessage message = next();
      if (message.has_acknowledgement()) return message.acknowledgement().sequence();
      if (message.message_case() == v1::AnalyzerMessage::MESSAGE_NOT_SET) return 0;
    }
  }
  /// Reads to the end.
  grpc::Status end() {
    while (next().message_case() != v1::AnalyzerMessage::MESSAGE_NOT_SET) continue;
    const grpc::Status status = stream_->Finish();
    stream_.reset();
    return status;
  }
  /// Says that there is no more to come, and reads to the end.
  grpc::Status leave() {
    stream_->WritesDone();
    return end();
  }

 private:
  std::unique_ptr<v1::TelemetryService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::CollectorMessage, v1::AnalyzerMessage>> stream_;
  BatchEncoder encoder_;
};

}  // namespace weft::api
