// SPDX-License-Identifier: Apache-2.0
// Acceptances of all shards.

#include <utility>

#include "api/convert/acceptance.hpp"
#include "api/publication/utf8.hpp"
#include "api/site/rpc.hpp"
#include "api/site/site_queries.hpp"
#include "api/site/site_state.hpp"
#include "weft/v1/acceptance.grpc.pb.h"

namespace weft::api {

void SiteQueries::list_acceptances(const v1::ListAcceptancesRequest& request,
                                   Done<v1::ListAcceptancesResponse> done) const {
  state_->list<v1::AcceptanceService, v1::ListAcceptancesResponse>(
      request, [](const Snapshot& snapshot, const auto& asked) { return api::list_acceptances(snapshot, asked); },
      rpc(&Calls<v1::AcceptanceService>::List),
      [](v1::ListAcceptancesResponse& page) { return page.mutable_acceptances(); }, done);
}

void SiteQueries::get_acceptance(const v1::GetAcceptanceRequest& request, Done<v1::Acceptance> done) const {
  state_->get<v1::AcceptanceService, v1::Acceptance>(
      parse_acceptance_name(request.id()), valid_utf8(request.id()), request,
      [](const Snapshot& snapshot, const v1::GetAcceptanceRequest& asked) {
        return api::get_acceptance(snapshot, asked.id());
      },
      rpc(&Calls<v1::AcceptanceService>::Get), done);
}

}  // namespace weft::api
