// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pages of the audit trail: all of its records, or those that a request names.

#include <functional>

#include "api/publication/commands.hpp"
#include "fabric/result.hpp"
#include "weft/v1/remedy.pb.h"

namespace weft::api {

/// Records that are read for one page of a search at most.
inline constexpr std::size_t kMostAuditSearched = 100'000;

/// Reads the page and calls `done` once, from any thread. `commands` must live until then. Fails as
/// RemedyCommands::audit(); kInvalidArgument for a bad page size, token or span of time; kResourceExhausted when none
/// of kMostAuditSearched records matches, with the token to go on with.
void search_audit(RemedyCommands& commands, const v1::ListAuditRequest& request,
                  std::function<void(Result<v1::ListAuditResponse>)> done);

}  // namespace weft::api
