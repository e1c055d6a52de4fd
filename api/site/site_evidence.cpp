// SPDX-License-Identifier: Apache-2.0
// Evidence packs, from the shard that owns the incident, or watches the node or port.

#include <utility>

#include "api/publication/utf8.hpp"
#include "api/site/merge.hpp"
#include "api/site/rpc.hpp"
#include "api/site/site_state.hpp"
#include "fabric/incident.hpp"
#include "weft/v1/evidence.grpc.pb.h"

namespace weft::api {
namespace {

/// The node is in no fabric of the shard: another one may have it.
bool is_pack_of_gone(const v1::EvidencePack& pack) {
  return !pack.has_incident() && pack.nodes().empty();
}

}  // namespace

void SiteQueries::get_evidence(const v1::GetEvidenceRequest& request, const MakeEvidence& own,
                               Done<v1::EvidencePack> done) const {
  const auto call = rpc(&Calls<v1::EvidenceService>::GetEvidence);
  if (!request.incident_id().empty())
    return state_->get<v1::EvidenceService, v1::EvidencePack>(
        parse_incident_name(request.incident_id()), valid_utf8(request.incident_id()), request,
        [&own](const Snapshot&, const v1::GetEvidenceRequest& asked, const Done<v1::EvidencePack>& take) {
          own(asked, take);
        },
        call, done);
  own(request, [state = state_, request, call, done = std::move(done)](Result<v1::EvidencePack> pack) {
    if (pack ? !is_pack_of_gone(*pack) : pack.error().code != ErrorCode::kNotFound) return done(std::move(pack));
    const Error unknown =
        pack ? Error{ErrorCode::kNotFound, "no shard of the site has " + valid_utf8(request.what())} : pack.error();
    state->ask_who_knows<v1::EvidenceService, v1::GetEvidenceRequest>(
        request, unknown, call, Done<v1::EvidencePack>([pack = std::move(pack), done](Result<v1::EvidencePack> told) {
          done(!told && pack ? pack : std::move(told));
        }),
        &is_pack_of_gone);
  });
}

}  // namespace weft::api
