// SPDX-License-Identifier: Apache-2.0
#include "api/convert/stall_map.hpp"

#include <algorithm>
#include <string>

#include "api/convert/fabric.hpp"
#include "api/convert/history.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"

namespace weft::api {
namespace {

constexpr std::uint32_t kUsualStallPoints = 72;
constexpr std::uint32_t kMostStallPoints = 240;
constexpr std::uint32_t kUsualStallRows = 64;
constexpr std::uint32_t kMostStallRows = 1000;

Result<const FabricView*> find_fabric(const Snapshot& snapshot, const std::string& name) {
  std::vector<const FabricView*> found;
  std::string names;
  for (const FabricView& fabric : snapshot.fabrics) {
    if (!name.empty() && fabric.name != name) continue;
    found.push_back(&fabric);
    names += (names.empty() ? "" : ", ") + valid_utf8(fabric.name);
  }
  if (found.empty())
    return fail(ErrorCode::kNotFound, name.empty() ? "no fabric is monitored" : "unknown fabric " + valid_utf8(name));
  if (found.size() > 1)
    return fail(ErrorCode::kFailedPrecondition,
                "there are several fabrics, " + names + ": choose one (--fabric, ?fabric=)");
  if (!found.front()->sweep) return fail(ErrorCode::kNotFound, valid_utf8(found.front()->name) + " was not read yet");
  return found.front();
}

}  // namespace

Result<StallMapQuestion> parse_stall_map(std::shared_ptr<const Snapshot> snapshot,
                                         const v1::GetStallMapRequest& request, TimePoint now) {
  StallMapQuestion asked;
  asked.snapshot = std::move(snapshot);
  if (request.points() > kMostStallPoints)
    return fail(ErrorCode::kInvalidArgument, "at most " + std::to_string(kMostStallPoints) + " points can be had");
  if (request.rows() > kMostStallRows)
    return fail(ErrorCode::kInvalidArgument, "at most " + std::to_string(kMostStallRows) + " rows can be had");
  asked.rows = request.rows() == 0 ? kUsualStallRows : request.rows();
  const auto time =
      history_time(request.has_from() ? &request.from() : nullptr, request.has_to() ? &request.to() : nullptr,
                   request.points() == 0 ? kUsualStallPoints : request.points(), now);
  if (!time) return tl::unexpected(time.error());
  const auto fabric = find_fabric(*asked.snapshot, request.fabric());
  if (!fabric) return tl::unexpected(fabric.error());
  asked.fabric = *fabric;
  StallQuestion& question = asked.question;
  question.fabric = asked.fabric->name;
  question.from = time->from;
  question.to = time->to;
  question.step = time->step;
  const Topology& topology = *asked.fabric->sweep->topology;
  for (NodeIndex index = 0; index < topology.nodes().size(); ++index) {
    const Node& node = topology.node(index);
    if (node.type != NodeType::kSwitch) continue;
    for (PortIndex i = 0; i < node.port_entries(); ++i)
      if (const PortIndex port = node.first_port + i; is_port(topology, port))
        question.ports.push_back({topology.key_of(port), question.rows, topology.port(port).wait_tick_seconds});
    asked.switches.push_back(index);
    ++question.rows;
  }
  return asked;
}

v1::GetStallMapResponse stall_map(const StallMapQuestion& asked, const StallAnswer& answer) {
  v1::GetStallMapResponse response;
  response.set_fabric(valid_utf8(asked.fabric->name));
  set_timestamp(*response.mutable_from(), asked.question.from);
  set_duration(*response.mutable_step(), answer.step);
  response.set_buckets(
      static_cast<std::uint32_t>((asked.question.to - asked.question.from - Duration(1)) / answer.step + 1));
  response.set_read_every(answer.read_every);
  std::vector<std::size_t> order;
  for (std::size_t row = 0; row < std::min(answer.rows.size(), asked.switches.size()); ++row)
    if (!answer.rows[row].buckets.empty()) order.push_back(row);
  response.set_switches(static_cast<std::uint32_t>(order.size()));
  const Topology& topology = *asked.fabric->sweep->topology;
  const auto name_of = [&](std::size_t row) -> const std::string& { return topology.node(asked.switches[row]).name; };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (answer.rows[a].share != answer.rows[b].share) return answer.rows[a].share > answer.rows[b].share;
    return name_of(a) < name_of(b);
  });
  if (order.size() > asked.rows) order.resize(asked.rows);
  for (const std::size_t row : order) {
    const StallRow& from = answer.rows[row];
    v1::StallRow& to = *response.add_rows();
    to.set_node(valid_utf8(name_of(row)));
    to.set_node_guid(to_string(topology.node(asked.switches[row]).guid));
    to.set_share(from.share);
    to.set_worst_port(from.worst.port.value);
    for (const StallBucket& bucket : from.buckets) {
      to.add_bucket(bucket.index);
      to.add_bucket_share(bucket.share);
    }
  }
  return response;
}

}  // namespace weft::api
