// SPDX-License-Identifier: Apache-2.0
#include "api/convert/acceptance.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "api/convert/commands.hpp"
#include "api/convert/pages.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/find_ports.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/host_names.hpp"

namespace weft::api {
namespace {

static_assert(v1::Acceptance::PASS == static_cast<int>(AcceptanceVerdict::kPass) + 1);
static_assert(v1::Acceptance::INCOMPLETE == static_cast<int>(AcceptanceVerdict::kIncomplete) + 1);
static_assert(v1::AcceptanceCheck::PRESENCE == static_cast<int>(AcceptanceKind::kPresence) + 1);
static_assert(v1::AcceptanceCheck::BALANCE == static_cast<int>(AcceptanceKind::kCount));
static_assert(v1::AcceptanceTarget::LINK == static_cast<int>(AcceptanceTargetKind::kLink) + 1);

/// RFC 1035, 2.3.4.
constexpr std::size_t kLongestHostName = 253;
/// Of a port: a node's name and what stands behind it.
constexpr std::size_t kLongestPortName = kLongestNodeName + 64;
/// No link has a better rate that anybody could wait for, and none that works has a worse one.
constexpr double kLeastLimit = 1e-18, kMostLimit = 1e-3;

v1::Acceptance::Verdict message_of(AcceptanceVerdict verdict) {
  return static_cast<v1::Acceptance::Verdict>(static_cast<int>(verdict) + 1);
}

void fill(const AcceptanceTarget& from, v1::AcceptanceTarget& to) {
  to.set_kind(static_cast<v1::AcceptanceTarget::Kind>(static_cast<int>(from.kind) + 1));
  to.set_name(valid_utf8(from.name));
  if (from.kind == AcceptanceTargetKind::kHost) return;
  to.set_node_guid(to_string(from.port.node));
  to.set_port(from.port.port.value);
}

void fill(const AcceptancePort& from, v1::AcceptancePort& to) {
  to.set_verdict(message_of(from.verdict));
  to.set_port(valid_utf8(from.port));
  to.set_host(valid_utf8(from.host));
  to.set_told(valid_utf8(from.told));
  if (from.judged_at != kNever) set_timestamp(*to.mutable_judged_at(), from.judged_at);
}

v1::AcceptanceCheck::Kind message_of(AcceptanceKind kind) {
  return static_cast<v1::AcceptanceCheck::Kind>(static_cast<int>(kind) + 1);
}

void fill(const AcceptanceCheck& from, v1::AcceptanceCheck& to) {
  to.set_kind(message_of(from.kind));
  to.set_verdict(message_of(from.verdict));
  to.set_required(is_required(from.kind));
  to.set_name(words_of(from.kind));
  to.set_limit(from.limit);
  to.set_source(from.source);
  to.set_told(valid_utf8(from.told));
  to.set_passed(from.passed);
  to.set_failed(from.failed);
  to.set_unfinished(from.unfinished);
  to.set_unmeasured(from.unmeasured);
  if (from.judged_at != kNever) set_timestamp(*to.mutable_judged_at(), from.judged_at);
  for (const AcceptancePort& port : from.ports) fill(port, *to.add_ports());
}

void fill(const AcceptanceReport& from, v1::AcceptanceReport& to) {
  to.set_verdict(message_of(from.verdict));
  set_timestamp(*to.mutable_made(), from.made);
  if (from.watched_since != kNever) set_timestamp(*to.mutable_watched_since(), from.watched_since);
  to.set_ports(from.ports);
  for (const AcceptanceCheck& check : from.checks) fill(check, *to.add_checks());
  for (const AcceptanceHost& host : from.hosts) {
    v1::AcceptanceHost& message = *to.add_hosts();
    message.set_name(valid_utf8(host.name));
    message.set_verdict(message_of(host.verdict));
  }
}

/// All but the report and the targets.
void to_summary(const AcceptanceRun& from, v1::Acceptance& to) {
  if (from.id != 0) to.set_id(acceptance_name(from.id));
  to.set_fabric(valid_utf8(from.fabric));
  to.set_what(valid_utf8(targets_text(from)));
  to.set_ber_limit(from.ber_limit);
  set_timestamp(*to.mutable_started(), from.started);
  set_timestamp(*to.mutable_until(), from.until);
  set_duration(*to.mutable_length(), from.length);
  if (from.watched_since != kNever) set_timestamp(*to.mutable_watched_since(), from.watched_since);
  if (!from.runs()) set_timestamp(*to.mutable_ended(), from.ended);
  to.set_who(valid_utf8(from.who));
  to.set_ended_by(valid_utf8(from.ended_by));
  if (!from.report) return;
  to.set_verdict(message_of(from.report->verdict));
  for (const AcceptanceCheck& check : from.report->checks)
    if (check.verdict == AcceptanceVerdict::kFail) to.add_failed(message_of(check.kind));
}

bool has_host(const AcceptanceRun& run, const std::string& host) {
  return std::ranges::any_of(run.targets, [&host](const AcceptanceTarget& target) {
    return target.kind == AcceptanceTargetKind::kHost && same_host(target.name, host);
  });
}

Result<void> check_name(const char* what, const std::string& name, std::size_t longest) {
  if (name.find_first_not_of(' ') == std::string::npos)
    return fail(ErrorCode::kInvalidArgument, std::string("the name of ") + what + " is empty");
  if (name.size() > longest)
    return fail(ErrorCode::kInvalidArgument, std::string("the name of ") + what + " has " +
                                                 std::to_string(name.size()) + " bytes: none is longer than " +
                                                 std::to_string(longest));
  return plain_text(std::string("the name of ") + what, name);
}

bool is_in(const FabricView& fabric, const std::string& wanted) {
  return wanted.empty() || fabric.name == wanted;
}

Result<AcceptanceTarget> find_switch(const Snapshot& snapshot, const std::string& name, const std::string& fabric) {
  if (auto good = check_name("a switch", name, kLongestNodeName); !good) return tl::unexpected(good.error());
  std::vector<FoundNode> found = find_nodes(snapshot, name, kMostNodes);
  std::erase_if(found, [&fabric](const FoundNode& node) {
    return !is_in(*node.fabric, fabric) || node.fabric->sweep->topology->node(node.node).type != NodeType::kSwitch;
  });
  if (found.empty())
    return tl::unexpected(unknown_name(snapshot, name, "no switch that is watched is named " + valid_utf8(name)));
  const Node& first = found.front().fabric->sweep->topology->node(found.front().node);
  for (const FoundNode& other : found)  // one may be seen in two subnets
    if (other.fabric->sweep->topology->node(other.node).guid != first.guid)
      return fail(ErrorCode::kInvalidArgument, several_nodes_text(name, found));
  return AcceptanceTarget{AcceptanceTargetKind::kSwitch, first.name, {first.guid, {}}};
}

Result<AcceptanceTarget> find_link(const Snapshot& snapshot, const std::string& name, const std::string& fabric) {
  if (auto good = check_name("a link", name, kLongestPortName); !good) return tl::unexpected(good.error());
  std::vector<FoundPort> found = find_ports(snapshot, name);
  std::erase_if(found, [&fabric](const FoundPort& port) { return !is_in(*port.fabric, fabric); });
  if (found.empty())
    return tl::unexpected(unknown_name(snapshot, name,
                                       "no port that is watched is named " + valid_utf8(name) +
                                           ": name a port at one end of the link, such as \"leaf-1 port 12\""));
  const Topology& topology = *found.front().fabric->sweep->topology;
  const PortKey key = topology.key_of(found.front().port);
  for (const FoundPort& other : found)
    if (other.fabric->sweep->topology->key_of(other.port) != key)
      return fail(ErrorCode::kInvalidArgument, valid_utf8(name) + " matches several ports: use the node's GUID");
  return AcceptanceTarget{AcceptanceTargetKind::kLink, port_label(topology, found.front().port), key};
}

}  // namespace

void to_proto(const AcceptanceRun& from, v1::Acceptance& to) {
  to_summary(from, to);
  for (const AcceptanceTarget& target : from.targets) fill(target, *to.add_targets());
  if (from.report) fill(*from.report, *to.mutable_report());
}

Result<v1::ListAcceptancesResponse> list_acceptances(const Snapshot& snapshot,
                                                     const v1::ListAcceptancesRequest& request) {
  if (request.page_size() < 0) return fail(ErrorCode::kInvalidArgument, "the page size must not be negative");
  // The token is the id of the last run of the page before.
  std::uint64_t after = 0;
  if (!request.page_token().empty()) {
    const auto id = parse_acceptance_name(request.page_token());
    if (!id) return fail(ErrorCode::kInvalidArgument, "invalid page token");
    after = *id;
  }
  v1::ListAcceptancesResponse response;
  if (!snapshot.acceptances) return response;
  PageBudget budget(request.page_size());
  std::uint64_t last = after;
  for (const AcceptancePtr& run : *snapshot.acceptances) {
    if (run->id <= after || (request.running() && !run->runs())) continue;
    if (!request.host().empty() && !has_host(*run, request.host())) continue;
    if (budget.full()) {
      response.set_next_page_token(acceptance_name(last));
      break;
    }
    v1::Acceptance message;
    to_summary(*run, message);
    budget.spend(message.ByteSizeLong());
    *response.add_acceptances() = std::move(message);
    last = run->id;
  }
  return response;
}

Result<v1::Acceptance> get_acceptance(const Snapshot& snapshot, std::string_view id) {
  const auto number = parse_acceptance_name(id);
  if (!number) return fail(ErrorCode::kInvalidArgument, "an acceptance's id must be like ACC-3, not " + valid_utf8(id));
  if (snapshot.acceptances)
    if (const auto found = std::ranges::find(*snapshot.acceptances, *number, &AcceptanceRun::id);
        found != snapshot.acceptances->end()) {
      v1::Acceptance message;
      to_proto(**found, message);
      return message;
    }
  return fail(ErrorCode::kNotFound, "no acceptance " + acceptance_name(*number));
}

Result<AcceptanceRun> wanted_acceptance(const Snapshot& snapshot, const v1::StartAcceptanceRequest& request) {
  const std::size_t count = static_cast<std::size_t>(request.hosts_size()) +
                            static_cast<std::size_t>(request.switches_size()) +
                            static_cast<std::size_t>(request.links_size());
  if (count > kMostAcceptanceTargets)
    return fail(ErrorCode::kInvalidArgument, "an acceptance has at most " + std::to_string(kMostAcceptanceTargets) +
                                                 " targets, not " + std::to_string(count) +
                                                 ": without any it is about the whole fabric");
  if (const double limit = request.ber_limit();
      limit != 0 && !(std::isfinite(limit) && limit >= kLeastLimit && limit <= kMostLimit))
    return fail(ErrorCode::kInvalidArgument, "the limit of bit errors must be between 1e-18 and 1e-3 errors/bit");
  const auto is_it = [&request](const FabricView& view) { return view.name == request.fabric(); };
  if (!request.fabric().empty() && std::ranges::none_of(snapshot.fabrics, is_it))
    return fail(ErrorCode::kNotFound, "no fabric named " + valid_utf8(request.fabric()));
  AcceptanceRun run;
  run.fabric = request.fabric();
  run.ber_limit = request.ber_limit();
  if (request.has_length()) run.length = from_duration(request.length());
  std::set<std::string> hosts;
  for (const std::string& host : request.hosts()) {
    if (auto good = check_name("a host", host, kLongestHostName); !good) return tl::unexpected(good.error());
    if (hosts.insert(host).second) run.targets.push_back({AcceptanceTargetKind::kHost, host, {}});
  }
  const auto add = [&run](Result<AcceptanceTarget> target) -> Result<void> {
    if (!target) return tl::unexpected(target.error());
    if (std::ranges::find(run.targets, *target) == run.targets.end()) run.targets.push_back(std::move(*target));
    return {};
  };
  for (const std::string& name : request.switches())
    if (auto added = add(find_switch(snapshot, name, request.fabric())); !added) return tl::unexpected(added.error());
  for (const std::string& name : request.links())
    if (auto added = add(find_link(snapshot, name, request.fabric())); !added) return tl::unexpected(added.error());
  return run;
}

}  // namespace weft::api
