// SPDX-License-Identifier: Apache-2.0
#pragma once
// How configurations differ, as messages.

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/drift.pb.h"

namespace weft::api {

/// What differs, of one fact where one is named. kInvalidArgument for a name that no fact has.
Result<v1::GetDriftResponse> get_drift(const Snapshot& snapshot, const v1::GetDriftRequest& request);
/// Adds what differs now of the cause of a CONFIG_DRIFT; nothing where it does not differ any more.
void add_differences_of(const Snapshot& snapshot, const Entity& cause,
                        google::protobuf::RepeatedPtrField<v1::DriftDifference>& to);

}  // namespace weft::api
