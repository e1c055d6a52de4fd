// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which way does it go? Answered from a snapshot. Pure: no I/O.

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// A path for each pair of ports that the two names mean; of two hosts with several adapters those of the same name,
/// rail by rail. On Ethernet a path is all equal ways at once. kInvalidArgument when a name is missing, kNotFound when
/// it is nobody's or both are on no common subnet, kFailedPrecondition while no forwarding table was read, and between
/// two switches of an Ethernet fabric that no host hangs on.
Result<v1::GetPathResponse> get_path(const Snapshot& snapshot, const v1::GetPathRequest& request);

}  // namespace weft::api
