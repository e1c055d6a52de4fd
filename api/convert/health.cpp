// SPDX-License-Identifier: Apache-2.0
#include "api/convert/health.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/convert/fabric.hpp"
#include "api/convert/incidents.hpp"
#include "api/convert/times.hpp"
#include "api/publication/derived.hpp"
#include "api/publication/utf8.hpp"
#include "fabric/graph/job_health.hpp"

namespace weft::api {
namespace {

constexpr int kMostListed = 256;  ///< links and switches of one answer
constexpr std::size_t kMostJobName = 1024;

template <typename Names>
Result<std::vector<std::string_view>> checked(const Names& names) {
  if (names.size() > kMostHealthNames)
    return fail(ErrorCode::kInvalidArgument, "at most " + std::to_string(kMostHealthNames) + " nodes per request");
  std::size_t bytes = 0;
  std::vector<std::string_view> views;
  views.reserve(static_cast<std::size_t>(names.size()));
  for (const std::string& name : names) {
    if (name.empty()) return fail(ErrorCode::kInvalidArgument, "a node name is empty");
    bytes += name.size();
    views.push_back(name);
  }
  if (bytes > kMostHealthNameBytes)
    return fail(ErrorCode::kInvalidArgument, "the node names are too long: split the request");
  return views;
}

/// Adds entries to a list while their reasons fit.
class Lines {
 public:
  void add(const NodeHealth* from, std::string_view name, v1::NodeHealth& to) {
    to.set_node(valid_utf8(name));
    if (!from) return;  // UNKNOWN, which is 0
    to.set_fabric(valid_utf8(from->fabric));
    to.set_verdict(to_proto(from->verdict));
    to.set_recommended_action(to_proto(from->action));
    if (from->data_age != Duration::max()) set_duration(*to.mutable_data_age(), from->data_age);
    std::uint32_t left_out = 0;
    for (const HealthReason& why : from->reasons) {
      if (bytes_ >= kHealthReasonBytes) {
        ++left_out;
        continue;
      }
      v1::HealthReason& reason = *to.add_reasons();
      to_proto(why, reason);
      bytes_ += reason.ByteSizeLong();
    }
    if (left_out > 0) to.set_reasons_left_out(left_out);
  }

 private:
  std::size_t bytes_ = 0;
};

v1::HealthReason reason_of(const Incident& incident) {
  v1::HealthReason reason;
  reason.set_incident_id(incident_name(incident.id));
  reason.set_kind(to_proto(incident.finding.kind));
  reason.set_severity(to_proto(incident.finding.severity));
  if (incident.opened != kNever) set_timestamp(*reason.mutable_since(), incident.opened);
  reason.set_message(valid_utf8(incident.finding.summary));
  if (incident.finding.maintenance != 0) reason.set_maintenance_id(maintenance_name(incident.finding.maintenance));
  return reason;
}

/// "the jobs of gpu-0001 and 2 other hosts are not known: …"
std::string unknown_jobs_text(const std::vector<std::string>& hosts) {
  std::string text = "the jobs of " + hosts.front();
  if (hosts.size() > 1)
    text += " and " + std::to_string(hosts.size() - 1) + (hosts.size() == 2 ? " other host" : " other hosts");
  return text + " are not known: " + (hosts.size() == 1 ? "its collector has" : "their collectors have") +
         " not reported them since weftd was started";
}

void add_links(const JobHealth& job, v1::JobHealth& message) {
  message.set_links_in_trouble(static_cast<std::uint32_t>(job.links.size()));
  for (const JobHealth::Link& link : job.links) {
    if (message.links_size() >= kMostListed) break;
    const Topology& topology = *link.fabric->sweep->topology;
    v1::JobHealth::Link& to = *message.add_links();
    to.set_fabric(valid_utf8(link.fabric->name));
    to_proto(topology, link.sender, *to.mutable_from());
    to_proto(topology, topology.port(link.sender).peer, *to.mutable_to());
    to.set_verdict(to_proto(link.verdict));
    to.set_recommended_action(to_proto(link.action));
    for (const auto& incident : link.incidents) *to.add_reasons() = reason_of(*incident);
  }
}

void add_broken_paths(const JobHealth& job, v1::JobHealth& message) {
  for (const JobHealth::BrokenPath& broken : job.broken_paths) {
    const Topology& topology = *broken.fabric->sweep->topology;
    v1::JobHealth::BrokenPath& to = *message.add_broken_paths();
    to.set_fabric(valid_utf8(broken.fabric->name));
    to_proto(topology, broken.pair.from, *to.mutable_from());
    to_proto(topology, broken.pair.target, *to.mutable_to());
    if (!broken.fabric->sweep->routes) {
      to.set_why("no path over links that are up");
      continue;
    }
    const Path path = find_path(topology, *broken.fabric->sweep->routes, broken.pair.from, broken.pair.to);
    to.set_why(valid_utf8(describe_end(topology, path, broken.pair.to)));
  }
}

}  // namespace

Result<v1::BatchGetHealthResponse> batch_get_health(const Snapshot& snapshot,
                                                    const v1::BatchGetHealthRequest& request) {
  const auto names = checked(request.nodes());
  if (!names) return tl::unexpected(names.error());
  const auto found = find_health(snapshot, *names);
  v1::BatchGetHealthResponse response;
  response.mutable_nodes()->Reserve(request.nodes_size());
  Lines lines;
  for (std::size_t i = 0; i < names->size(); ++i) lines.add(found[i], (*names)[i], *response.add_nodes());
  say_if_unswept(snapshot, response);
  return response;
}

Result<v1::JobHealth> get_job_health(const Snapshot& snapshot, const v1::GetJobHealthRequest& request) {
  if (request.job().empty()) return fail(ErrorCode::kInvalidArgument, "no job given");
  if (request.job().size() > kMostJobName) return fail(ErrorCode::kInvalidArgument, "the job's name is too long");
  auto names = checked(request.nodes());
  if (!names) return tl::unexpected(names.error());
  std::vector<std::string> hosts;
  std::vector<std::string> unknown;  // hosts that may be the job's
  if (names->empty()) {
    hosts = hosts_of_job(snapshot, request.job());
    unknown = hosts_of_unknown_jobs(snapshot);
    if (hosts.empty() && unknown.empty())
      return fail(ErrorCode::kNotFound,
                  "no collector reports a job " + valid_utf8(request.job()) + "; use weftctl health NODE...");
    names->assign(hosts.begin(), hosts.end());
  }
  const auto found = find_health(snapshot, *names);
  JobHealth job = assess_job(snapshot, found);
  if (!unknown.empty()) {
    job.verdict = worse_of(job.verdict, HealthVerdict::kUnknown);
    job.action = std::max(job.action, RecommendedAction::kWatch);
    job.not_followed.push_back(unknown_jobs_text(unknown));
  }
  v1::JobHealth message;
  message.set_job(valid_utf8(request.job()));
  message.set_verdict(to_proto(job.verdict));
  message.set_recommended_action(to_proto(job.action));
  add_links(job, message);
  add_broken_paths(job, message);
  Lines lines;
  for (std::size_t i = 0; i < names->size(); ++i) lines.add(found[i], (*names)[i], *message.add_nodes());
  for (const NodeHealth* of : job.switches)
    if (message.switches_size() < kMostListed) lines.add(of, of->node, *message.add_switches());
  message.set_broken(job.broken);
  message.set_paths(job.paths);
  message.set_links_used(job.links_used);
  for (const std::string& why : job.not_followed) message.add_not_followed(valid_utf8(why));
  say_if_unswept(snapshot, message);
  return message;
}

}  // namespace weft::api
