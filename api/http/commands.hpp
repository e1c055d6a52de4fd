// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users ask of the daemon over HTTP: the same commands as over gRPC, in JSON.

#include <string>
#include <vector>

#include "api/access/access.hpp"
#include "api/http/router.hpp"
#include "fabric/clock.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// Another site's page, in the browser of somebody who may, must not act here: a command has the content type
/// application/json, which a form cannot send (kInvalidArgument), and comes from our own page or no page at all
/// (kPermissionDenied). A page of a site whose name was made to point to us has no token, and may only read.
Result<void> check_own_site(const HttpRequest& request);

/// POST /api/v1/plans/{id}/approve, …/reject, …/abort, /api/v1/incidents/{id}/acknowledge, …/silence,
/// /api/v1/remedy/hands-off, /api/v1/maintenance, …/{id}/end, /api/v1/acceptances,
/// …/judge, …/{id}/end. The body is the gRPC request as JSON, its `id` left out
/// or that of the path; the answer is the gRPC response. Who it was is the principal.
void carry_out(const HttpRequest& request, const std::vector<std::string>& path, const access::Principal& principal,
               const HttpCommandTargets& desks, const Snapshot& snapshot, TimePoint now, Router::Done done);

}  // namespace weft::api
