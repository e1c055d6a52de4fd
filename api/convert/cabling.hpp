// SPDX-License-Identifier: Apache-2.0
#pragma once
// How is it cabled, and how should it be? Answered from a snapshot. Pure: no I/O.

#include <string_view>

#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/fabric.pb.h"

namespace weft::api {

/// The differences of the fabric of that name, or of all where it is empty; of each list the first 1,000. A fabric of
/// which nothing is expected is left out. kNotFound for an unknown fabric.
Result<v1::GetCablingDifferencesResponse> cabling_differences(const Snapshot& snapshot, std::string_view fabric);

}  // namespace weft::api
