// SPDX-License-Identifier: Apache-2.0
#pragma once
// Acceptances as messages, and what a person names as their targets.

#include <cstddef>
#include <string_view>

#include "fabric/acceptance.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/acceptance.pb.h"

namespace weft::api {

/// Targets of one run; more are refused. A whole fabric needs none.
inline constexpr std::size_t kMostAcceptanceTargets = 1000;

/// Fills in the message of a run with its report.
void to_proto(const AcceptanceRun& from, v1::Acceptance& to);

/// A page of runs. kInvalidArgument for a negative page size or a token that is none.
Result<v1::ListAcceptancesResponse> list_acceptances(const Snapshot& snapshot,
                                                     const v1::ListAcceptancesRequest& request);
/// `id` as a person writes it: "ACC-3", "3".
Result<v1::Acceptance> get_acceptance(const Snapshot& snapshot, std::string_view id);

/// The run that is asked for, without an id: its switches and links are looked up in the snapshot. kNotFound for one
/// that is not there, kInvalidArgument for one of which there are several, for names that are none and for a limit that
/// no link can have. Whether its length may be is the daemon's to say.
Result<AcceptanceRun> wanted_acceptance(const Snapshot& snapshot, const v1::StartAcceptanceRequest& request);

}  // namespace weft::api
