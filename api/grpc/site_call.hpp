// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads that a whole site answers, and commands that another shard is to be given.

#include <grpcpp/server_context.h>

#include <functional>
#include <string>
#include <utility>

#include "api/convert/queries.hpp"
#include "api/grpc/command_call.hpp"
#include "api/publication/derived.hpp"
#include "api/site/shard_peers.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {

/// Whether the call is answered for the whole site: weftd belongs to one, and it is not another shard that asks.
inline bool is_for_site(const SiteQueries* site, const grpc::CallbackServerContext& context) {
  return site != nullptr && !context.client_metadata().contains(kAskedByShard);
}

/// The shard that asks; empty: none does.
inline std::string asking_shard(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find(kAskedByShard);
  return found == context.client_metadata().end() ? std::string()
                                                  : std::string(found->second.data(), found->second.size());
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

/// What the own shard says. Standing by, it hears no collectors: another shard is to ask the leader.
template <typename Ask>
auto of_own_shard(const grpc::CallbackServerContext& context, const Snapshot& snapshot, const Ask& ask)
    -> decltype(ask(snapshot)) {
  if (snapshot.leadership.stands_by() && context.client_metadata().contains(kAskedByShard))
    return fail(ErrorCode::kUnavailable, leadership_text(snapshot.leadership));
  return ask(snapshot);
}

/// What the own shard says of a name or of its cables. Before the first sweep that there is none is no answer for
/// another shard, which does not hold this one for away; standing by, the leader is to be asked.
template <typename Ask>
auto of_swept_shard(const grpc::CallbackServerContext& context, const Snapshot& snapshot, const Ask& ask)
    -> decltype(ask(snapshot)) {
  auto answer = ask(snapshot);
  if (!context.client_metadata().contains(kAskedByShard) || !is_before_it_knows(snapshot, answer)) return answer;
  if (snapshot.leadership.stands_by()) return fail(ErrorCode::kUnavailable, leadership_text(snapshot.leadership));
  return fail(ErrorCode::kResourceExhausted, kNotSwept);
}

/// Takes the result of a command about `what`, a name. Where nothing of that name is known here, and another shard of
/// the site knows it, `done` gets the refusal that names that shard.
template <typename Value>
std::function<void(Result<Value>)> or_owner(const SiteQueries* site, const std::string& what,
                                            std::function<void(Result<Value>)> done) {
  if (site == nullptr) return done;
  return [site, what, done](Result<Value> result) {
    if (result || result.error().code != ErrorCode::kNotFound) return done(std::move(result));
    site->refer(what, result.error(), [done](Error refused) { done(tl::unexpected<Error>(std::move(refused))); });
  };
}

}  // namespace weft::api
