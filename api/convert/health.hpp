// SPDX-License-Identifier: Apache-2.0
#pragma once
// What schedulers ask: many nodes at once, and all that a job uses. Pure: no I/O.

#include <cstddef>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/health.pb.h"

namespace weft::api {

/// Of one question; more is kInvalidArgument.
inline constexpr int kMostHealthNames = 16'384;
inline constexpr std::size_t kMostHealthNameBytes = 1024 * 1024;
/// Reasons beyond this are left out, verdicts never are: an answer stays below the 4 MB that gRPC's clients take.
inline constexpr std::size_t kHealthReasonBytes = 1536 * 1024;

/// Of all names in their order; see HealthService.BatchGet. Before the first picture every node is UNKNOWN.
Result<v1::BatchGetHealthResponse> batch_get_health(const Snapshot& snapshot, const v1::BatchGetHealthRequest& request);

/// kNotFound when no collector reports the job and no node is named; kInvalidArgument without a job.
Result<v1::JobHealth> get_job_health(const Snapshot& snapshot, const v1::GetJobHealthRequest& request);

}  // namespace weft::api
