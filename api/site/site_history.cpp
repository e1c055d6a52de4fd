// SPDX-License-Identifier: Apache-2.0
// The past of ports, from the shard that watches them.

#include "api/site/rpc.hpp"
#include "api/site/site_state.hpp"
#include "weft/v1/history.grpc.pb.h"

namespace weft::api {

void SiteQueries::get_port_history(const v1::GetPortHistoryRequest& request, const Error& unknown,
                                   Done<v1::GetPortHistoryResponse> done) const {
  const auto snapshot = state_->publication.load();
  if (!snapshot->site || unknown.code != ErrorCode::kNotFound) return done(tl::unexpected(unknown));
  state_->ask_all<v1::HistoryService, v1::GetPortHistoryRequest, v1::GetPortHistoryResponse>(
      *snapshot, tl::unexpected(unknown), request, rpc(&Calls<v1::HistoryService>::GetPortHistory),
      [unknown, done](auto answers) {
        std::vector<std::string> missing;
        for (auto& each : answers) {
          if (each.is_missing) missing.push_back(each.shard);
          // It knows the port: what it says counts, also where that is a refusal.
          if (!each.is_missing && (each.answer || each.answer.error().code != ErrorCode::kNotFound))
            return done(std::move(each.answer));
        }
        done(tl::unexpected(unknown_in_site(unknown, missing)));
      },
      false);
}

}  // namespace weft::api
