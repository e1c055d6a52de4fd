// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads that a whole site answers.

#include <grpcpp/server_context.h>

#include <utility>

#include "api/grpc/command_call.hpp"
#include "api/site/shard_peers.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {

/// Whether the call is answered for the whole site: weftd belongs to one, and it is not another shard that asks.
inline bool is_for_site(const SiteQueries* site, const grpc::CallbackServerContext& context) {
  return site != nullptr && !context.client_metadata().contains(kAskedByShard);
}

/// A call that waits for the site. `begin(done)` asks the question.
template <typename Response, typename Begin>
grpc::ServerUnaryReactor* ask_site(Response* response, const Begin& begin) {
  using Call = CommandCall<Response, Response>;
  const typename Call::Convert copy = [](const Response& from, Response& to) { to = from; };
  auto* call = new Call(response, copy);
  begin(call->callback());
  return call;
}

}  // namespace weft::api
