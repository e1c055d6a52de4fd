// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/namesakes.hpp"

#include <set>

#include "api/publication/find_ports.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

struct Knowing {
  std::set<std::string> shards;  ///< those that know a node of the name
  bool is_whole = true;          ///< all shards answered
};

Knowing ask_who_knows(const Session& session, const std::string& what) {
  v1::BatchGetHealthRequest request;
  for (const std::string& name : api::node_names_in(what)) request.add_nodes(name);
  const auto answer = session.client.call(session.client.health, &v1::HealthService::Stub::BatchGet, request);
  Knowing found{.shards = {}, .is_whole = answer.missing_shards().empty()};
  for (const v1::NodeHealth& health : answer.nodes())
    found.shards.insert(health.shards().begin(), health.shards().end());
  return found;
}

/// That of the weftd in use; empty: it is no part of a site.
std::string ask_own_shard(const Session& session) {
  const auto status =
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
  for (const v1::Status::Shard& shard : status.shards())
    if (shard.own()) return shard.name();
  return {};
}

void note_others(const Session& session, const std::string& what, const std::string& shard,
                 std::set<std::string> knowing) {
  knowing.erase(shard);
  if (knowing.empty() || session.client.notes == nullptr) return;
  *session.client.notes << "weftctl: this is of shard " << printable(shard) << " alone: " << printable(what)
                        << " is a name in " << printable(joined(knowing)) << ", too\n";
}

}  // namespace

void note_namesakes(const Session& session, const std::string& what, const std::string& shard) {
  if (shard.empty() || session.client.notes == nullptr) return;
  try {
    note_others(session, what, shard, ask_who_knows(session, what).shards);
  } catch (const Failure&) {
    // What was done is not undone by that.
  }
}

Failure refused_in_site(const Session& session, const std::string& what, const Failure& failure) {
  if (failure.exit != Exit::kRefused && failure.exit != Exit::kBadNews) return failure;
  try {
    const std::string own = ask_own_shard(session);
    if (own.empty()) return failure;
    const Knowing knowing = ask_who_knows(session, what);
    if (knowing.shards.contains(own))
      note_others(session, what, own, knowing.shards);
    else if (!knowing.is_whole && failure.code == grpc::StatusCode::FAILED_PRECONDITION && what != "fabric")
      return {Exit::kUnreachable, failure.what()};
  } catch (const Failure&) {
    // The refusal says enough.
  }
  return failure;
}

}  // namespace weft::ctl
