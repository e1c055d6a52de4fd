// SPDX-License-Identifier: Apache-2.0
#pragma once
// MetricsService of OpenTelemetry: switches and agents push their metrics.

#include "api/grpc/callers.hpp"
#include "api/grpc/metrics_sink.hpp"
#include "otlp/metrics_service.grpc.pb.h"

namespace weft::api {

/// opentelemetry.proto.collector.metrics.v1.MetricsService.
class MetricsService final : public pushed::MetricsService::CallbackService {
 public:
  /// `sink`: null where nobody may push: calls get FAILED_PRECONDITION. All must outlive the object.
  MetricsService(MetricsSink* sink, const Callers& callers, access::Gate& gate)
      : sink_(sink), callers_(callers), gate_(gate) {}

  /// Hands the request on; answered when the daemon has taken it.
  grpc::ServerUnaryReactor* Export(grpc::CallbackServerContext* context,
                                   const pushed::ExportMetricsServiceRequest* request,
                                   pushed::ExportMetricsServiceResponse* response) override;

 private:
  MetricsSink* sink_;
  const Callers& callers_;
  access::Gate& gate_;
};

}  // namespace weft::api
