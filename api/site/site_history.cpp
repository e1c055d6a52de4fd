// SPDX-License-Identifier: Apache-2.0
// The past of ports, from the shard that watches them.

#include "api/site/rpc.hpp"
#include "api/site/site_state.hpp"
#include "weft/v1/history.grpc.pb.h"

namespace weft::api {

void SiteQueries::get_port_history(const v1::GetPortHistoryRequest& request, const Error& unknown,
                                   Done<v1::GetPortHistoryResponse> done) const {
  state_->ask_who_knows<v1::HistoryService>(request, unknown, rpc(&Calls<v1::HistoryService>::GetPortHistory),
                                            std::move(done));
}

void SiteQueries::get_stall_map(const v1::GetStallMapRequest& request, const Error& unknown,
                                Done<v1::GetStallMapResponse> done) const {
  state_->ask_who_knows<v1::HistoryService>(request, unknown, rpc(&Calls<v1::HistoryService>::GetStallMap),
                                            std::move(done));
}

}  // namespace weft::api
