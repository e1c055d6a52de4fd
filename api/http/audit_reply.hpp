// SPDX-License-Identifier: Apache-2.0
#pragma once
// GET /api/v1/audit: a page of the audit trail, which is read from the store and verified on the way.

#include <string>
#include <vector>

#include "api/http/router.hpp"
#include "api/request/target.hpp"

namespace weft::api {

/// The path is that of the audit trail.
bool is_audit(const std::vector<std::string>& path);

/// The parameters are those of audit_request(); the answer is ListAuditResponse as JSON, or the error. `commands` reads
/// the own trail; null: there is none. `site`: its other shards are asked for theirs; null: there is no site. `done` is
/// called once, from any thread.
void answer_audit(RemedyCommands* commands, const SiteQueries* site, const HttpTarget& target,
                  const Router::Done& done);

}  // namespace weft::api
