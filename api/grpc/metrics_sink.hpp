// SPDX-License-Identifier: Apache-2.0
#pragma once
// How metrics that somebody pushes reach the daemon.

#include <cstdint>
#include <functional>
#include <string>

#include "api/access/access.hpp"
#include "fabric/result.hpp"
#include "otlp/metrics_service.pb.h"

namespace weft::api {

/// The messages of OTLP.
namespace pushed = opentelemetry::proto::collector::metrics::v1;

/// What became of a request.
struct PushAnswer {
  std::uint64_t rejected = 0;  ///< data points that were not taken
  std::string why{};           ///< of the first of them, for people; empty: all was taken
};

/// Takes pushed metrics. The daemon implements it.
class MetricsSink {
 public:
  /// Takes what became of a request.
  using Done = std::function<void(Result<PushAnswer>)>;

  virtual ~MetricsSink() = default;
  /// Called from any thread; returns at once. `done` is called once, from any thread, also before this returns:
  /// kPermissionDenied when `principal` may not tell of a switch in it, kUnavailable when it is to be sent again, here
  /// or to another weftd.
  virtual void take(const pushed::ExportMetricsServiceRequest& request, const access::Principal& principal,
                    Done done) = 0;
};

}  // namespace weft::api
