// SPDX-License-Identifier: Apache-2.0
#pragma once
// GET /api/v1/incidents/{id}/evidence, GET /api/v1/ports/{port}/evidence: an evidence pack, to be kept as a file.

#include <memory>
#include <string>
#include <vector>

#include "api/http/router.hpp"
#include "api/publication/evidence_source.hpp"
#include "api/publication/history_desk.hpp"
#include "api/request/target.hpp"
#include "fabric/snapshot.hpp"

namespace weft::api {

/// The path is one of evidence.
bool is_evidence(const std::vector<std::string>& path);

/// `jobs=1`: with names of jobs and people; `format`: html (the default) or json, EvidencePack without its document. Of
/// ports also `from` and `to`: RFC 3339, or seconds since 1970; `fabric`; the port is as in the path of history. What
/// belongs to another shard of a `site` that one is asked for; null: there is no site. `done` is called once, from any
/// thread.
void answer_evidence(const EvidenceSource* source, HistoryDesk* desk, const SiteQueries* site,
                     std::shared_ptr<const Snapshot> snapshot, const HttpTarget& target, TimePoint now,
                     const Router::Done& done);

}  // namespace weft::api
