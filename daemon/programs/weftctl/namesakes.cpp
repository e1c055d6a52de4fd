// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/namesakes.hpp"

#include <set>

#include "api/publication/find_ports.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {

void note_namesakes(const Session& session, const std::string& what, const std::string& shard) {
  if (shard.empty() || session.client.notes == nullptr) return;
  v1::BatchGetHealthRequest request;
  for (const std::string& name : api::node_names_in(what)) request.add_nodes(name);
  std::set<std::string> others;
  try {
    const auto answer = session.client.call(session.client.health, &v1::HealthService::Stub::BatchGet, request);
    for (const v1::NodeHealth& health : answer.nodes()) others.insert(health.shards().begin(), health.shards().end());
  } catch (const Failure&) {
    return;
  }
  others.erase(shard);
  if (others.empty()) return;
  *session.client.notes << "weftctl: this is of shard " << printable(shard) << " alone: " << printable(what)
                        << " is a name in " << printable(joined(others)) << ", too\n";
}

}  // namespace weft::ctl
