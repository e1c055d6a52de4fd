// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links by how bad they are: by errors, by flaps, or by how much senders wait.

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// Links of one answer at most.
inline constexpr std::int32_t kMostWorstLinks = 1000;

/// The worst links, the worst first; of equals the one first that ListLinks has first. A link counts by its worse end.
/// Links whose value is zero, or not known because an end was not read lately, are left out. kInvalidArgument without a
/// measure, and for a negative limit; kNotFound for an unknown fabric.
Result<v1::ListWorstLinksResponse> list_worst_links(const Snapshot& snapshot, const v1::ListWorstLinksRequest& request,
                                                    TimePoint now);
/// The limit that a request means.
std::size_t limit_of(const v1::ListWorstLinksRequest& request);

}  // namespace weft::api
