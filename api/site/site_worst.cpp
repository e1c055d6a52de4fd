// SPDX-License-Identifier: Apache-2.0
// What did the most harm over a time, in all shards.

#include <utility>

#include "api/convert/worst_things.hpp"
#include "api/site/merge.hpp"
#include "api/site/rpc.hpp"
#include "api/site/site_state.hpp"
#include "weft/v1/fabric.grpc.pb.h"

namespace weft::api {

void SiteQueries::list_worst(const v1::ListWorstRequest& request, Done<v1::ListWorstResponse> done) const {
  const auto snapshot = state_->publication.load();
  auto local = api::list_worst(*snapshot, request, state_->clock.now());
  if (!snapshot->site || (!local && local.error().code != ErrorCode::kNotFound)) return done(std::move(local));
  // Collectors tell which modules there are; a weftd that stands by hears none.
  const auto needs = request.of() == v1::ListWorstRequest::MODULES ? State::Needs::kBoth : State::Needs::kSweep;
  state_->ask_all<v1::FabricService, v1::ListWorstRequest, v1::ListWorstResponse>(
      *snapshot, std::move(local), request, rpc(&Calls<v1::FabricService>::ListWorst),
      [done, request](auto answers) { done(merge_worst(std::move(answers), request)); }, needs);
}

}  // namespace weft::api
