// SPDX-License-Identifier: Apache-2.0
#pragma once
// One collector's stream: one message read at a time, one written at a time, nothing queued but the latest of each
// kind of answer.

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <optional>

#include "api/access/token_bucket.hpp"
#include "api/grpc/host_clock.hpp"
#include "api/grpc/stream_registry.hpp"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {

/// It owns itself until gRPC is done with it.
class TelemetryStream final : public grpc::ServerBidiReactor<v1::CollectorMessage, v1::AnalyzerMessage>,
                              public CollectorStream,
                              public std::enable_shared_from_this<TelemetryStream> {
 public:
  /// Makes a stream for the call. It is ended at once when there are too many.
  static TelemetryStream* start(StreamRegistry& hall, grpc::CallbackServerContext* context);

  void welcome(std::uint64_t sequence) override;
  void acknowledge(std::uint64_t sequence) override;
  void proceed() override;
  void end(Error why) override;

  /// Starts what is due. On the hall's thread.
  void turn();

 private:
  using Steady = StreamRegistry::Steady;

  TelemetryStream(StreamRegistry& hall, grpc::CallbackServerContext* context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  std::optional<Error> take_message();
  std::optional<Error> take_hello(const v1::Hello& hello);
  std::optional<Error> take_batch(const v1::Batch& batch);
  std::optional<Error> take_neighbours(const v1::Batch& message);
  std::optional<Error> take_facts(const v1::Batch& message);
  std::optional<Error> take_clock_reply(const v1::ClockReply& reply, TimePoint received);
  std::optional<Error> take_unknown();
  void throttle();

  void finish(grpc::Status status);
  void look_at_the_time();
  void pump();
  bool next_answer();

  StreamRegistry& hall_;
  grpc::CallbackServerContext* context_;
  access::Principal principal_;

  // Of the reading side alone: there is one message at a time.
  v1::CollectorMessage incoming_;
  BatchDecoder decoder_;
  std::shared_ptr<const NeighbourTable> neighbours_;  ///< as it last told
  TimePoint neighbours_at_ = kNever;                  ///< by its own clock
  std::size_t neighbour_bytes_ = 0;
  std::shared_ptr<const FactTable> facts_;  ///< as it last told
  TimePoint facts_at_ = kNever;             ///< by its own clock
  std::size_t fact_bytes_ = 0;
  TokenBucket bucket_;
  std::uint64_t sequence_ = 0;  ///< of the last batch of this stream
  std::size_t values_ = 0;      ///< series of its last reading

  std::mutex mutex_;
  HostClock clock_;
  v1::AnalyzerMessage outgoing_;  ///< while writing_, gRPC's
  bool hello_seen_ = false;
  bool welcomed_ = false;
  std::optional<std::uint64_t> welcome_;          ///< to be sent
  std::optional<std::uint64_t> acknowledgement_;  ///< to be sent
  std::uint64_t acknowledged_ = 0;                ///< the highest that was asked for
  std::uint64_t probe_ = 0;                       ///< id of the last one sent
  TimePoint probe_sent_ = kNever;                 ///< while it is not answered
  Steady::time_point hello_due_;
  Steady::time_point probe_due_ = Steady::time_point::max();
  Steady::time_point read_due_{};  ///< not before then: its rate
  Steady::time_point cancel_due_ = Steady::time_point::max();
  bool want_read_ = true;
  bool reading_ = false;
  bool writing_ = false;
  bool ending_ = false;  ///< finish as soon as nothing is being written
  bool cancelled_ = false;
  bool finished_ = false;  ///< Finish() was called or is about to be
  bool pumping_ = false;   ///< somebody starts operations; nobody else may
  bool again_ = false;     ///< and shall look once more
  grpc::Status status_;
  std::shared_ptr<TelemetryStream> self_;
};

}  // namespace weft::api
