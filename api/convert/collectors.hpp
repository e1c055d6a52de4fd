// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collectors as messages, and the question who they are.

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {

/// Fills in the message of one collector.
void to_proto(const HostView& from, v1::Collector& to);
/// Adds a message for each port that has a value in the reading.
void add_readings(const HostReading& reading, v1::Collector& to);
/// Fills in the message of one fact, with where it was read.
void to_proto(const FactValue& from, v1::ConfigurationFact& to);
/// What a shard says of a collector, as an answer to ListCollectorsRequest.lost.
HeardThere heard_there(const v1::Collector& collector);

/// Sorted by host. kInvalidArgument for a negative page size; a host without a collector is not in the answer.
Result<v1::ListCollectorsResponse> list_collectors(const Snapshot& snapshot, const v1::ListCollectorsRequest& request);

}  // namespace weft::api
