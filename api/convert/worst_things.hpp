// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cables, modules, hosts and switches by the harm that their incidents did over a time. The links that are worst at
// present, by counters, are in worst_links.hpp.

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/worst.pb.h"

namespace weft::api {

/// Entries of one answer at most.
inline constexpr std::int32_t kMostWorstThings = 1000;

/// The things with the most harm first; of equals the one whose identity is first. An incident is charged to its cause:
/// to the node that is it, or that has the port or link. Of cables and modules only incidents of links count
/// (LINK_DOWN, LINK_FLAP, LINK_DEGRADED, LINK_ERRORS, SILENT_LOSS), for both ends. A module is the one that is at the
/// port now: nothing is known of those before. kInvalidArgument without `of`, for an order that is none, a negative
/// limit and a time that is none; kNotFound for an unknown fabric.
Result<v1::ListWorstResponse> list_worst(const Snapshot& snapshot, const v1::ListWorstRequest& request, TimePoint now);
/// The limit that a request means.
std::size_t limit_of(const v1::ListWorstRequest& request);
/// `a` comes before `b` in an answer to a request with that order: a strict weak order.
bool is_worse(v1::ListWorstRequest::Order by, const v1::WorstThing& a, const v1::WorstThing& b);

}  // namespace weft::api
