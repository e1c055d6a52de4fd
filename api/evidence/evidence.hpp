// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evidence packs: all that is known about an incident, node or port, as one document to hand on.

#include <functional>
#include <memory>

#include "api/publication/evidence_source.hpp"
#include "api/publication/history_desk.hpp"
#include "fabric/result.hpp"
#include "fabric/snapshot.hpp"
#include "weft/v1/evidence.pb.h"

namespace weft::api {

/// Takes the pack. It is called once, at once or on the thread of the history.
using TakeEvidence = std::function<void(Result<v1::EvidencePack>)>;

/// Makes a pack of what the own shard knows: of one snapshot, and of one question to `desk`. Null: there is no history,
/// and the pack says so. kInvalidArgument for a request that names both or neither of an incident and a thing, or a
/// time that is none; kNotFound; kFailedPrecondition for a name in several fabrics; kResourceExhausted for a pack of
/// more than 3 MB.
void make_evidence(const EvidenceSource& source, HistoryDesk* desk, std::shared_ptr<const Snapshot> snapshot,
                   const v1::GetEvidenceRequest& request, TimePoint now, TakeEvidence take);

}  // namespace weft::api
