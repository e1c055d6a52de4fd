// SPDX-License-Identifier: Apache-2.0
// The past of ports, from the shard that watches them.

#include "api/site/site_history.hpp"

#include <utility>

#include "api/site/rpc.hpp"
#include "api/site/site_state.hpp"
#include "weft/v1/history.grpc.pb.h"

namespace weft::api {
namespace {

bool is_of_gone(const v1::GetPortHistoryResponse& response) {
  return response.ports_size() > 0 && response.ports(0).gone();
}

}  // namespace

void SiteQueries::get_port_history(const v1::GetPortHistoryRequest& request, const Error& unknown,
                                   Done<v1::GetPortHistoryResponse> done) const {
  state_->ask_who_knows<v1::HistoryService>(request, unknown, rpc(&Calls<v1::HistoryService>::GetPortHistory),
                                            std::move(done), &is_of_gone);
}

void answer_port_history(HistoryDesk& desk, const SiteQueries* site, PortHistoryQuestion asked,
                         const v1::GetPortHistoryRequest& request, SiteQueries::Done<v1::GetPortHistoryResponse> done) {
  using Answer = Result<v1::GetPortHistoryResponse>;
  const auto kept = std::make_shared<const PortHistoryQuestion>(std::move(asked));
  const auto ask_own = [&desk, kept](SiteQueries::Done<v1::GetPortHistoryResponse> take) {
    desk.read(kept->question, [kept, take = std::move(take)](const Result<HistoryAnswer>& read) {
      take(read ? port_history(*kept, *read) : tl::unexpected(read.error()));
    });
  };
  if (!kept->question.gone || site == nullptr) return ask_own(std::move(done));
  const Error unknown{ErrorCode::kNotFound, "no shard of the site has " + to_string(kept->question.gone->node) +
                                                ", and nothing is stored of it"};
  site->get_port_history(request, unknown, [ask_own, done = std::move(done)](Answer answer) {
    if (answer && !is_of_gone(*answer)) return done(std::move(answer));
    ask_own([answer = std::move(answer), done](Answer own) { done(own ? std::move(own) : answer); });
  });
}

void SiteQueries::get_stall_map(const v1::GetStallMapRequest& request, const Error& unknown,
                                Done<v1::GetStallMapResponse> done) const {
  state_->ask_who_knows<v1::HistoryService>(request, unknown, rpc(&Calls<v1::HistoryService>::GetStallMap),
                                            std::move(done));
}

}  // namespace weft::api
