// SPDX-License-Identifier: Apache-2.0
#pragma once
// GET /api/v1/acceptances/{id}: one run, as JSON or as a document to be kept as a file.

#include <memory>
#include <string>
#include <vector>

#include "api/http/router.hpp"
#include "api/publication/evidence_source.hpp"
#include "api/request/target.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The path is that of one run.
bool is_acceptance(const std::vector<std::string>& path);

/// `format`: json (the default) or html. A run of another shard of a `site` that one is asked for; null: there is no
/// site. `source`: who made the document; null: nobody says. `done` is called once, from any thread.
void answer_acceptance(const EvidenceSource* source, const SiteQueries* site, const Snapshot& snapshot,
                       const HttpTarget& target, const Router::Done& done);

}  // namespace weft::api
