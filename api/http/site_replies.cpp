// SPDX-License-Identifier: Apache-2.0
#include "api/http/site_replies.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "api/http/api_replies.hpp"
#include "api/http/json.hpp"
#include "api/http/list_requests.hpp"
#include "api/site/site_queries.hpp"
#include "weft/v1/fabric.pb.h"
#include "weft/v1/health.pb.h"
#include "weft/v1/telemetry.pb.h"

namespace weft::api {
namespace {

/// Of the elements of one answer; the token of the rest stands behind them.
constexpr std::size_t kMostBytes = 64UL << 20;
/// Of one answer, likewise.
constexpr unsigned kMostPages = 1000;
constexpr std::chrono::seconds kLongestWalk{20};

template <typename Message>
auto reply_with(const Router::Done& done) {
  return [done](const Result<Message>& message) {
    done(message ? json_reply(to_json(*message)) : error_reply(message.error()));
  };
}

template <typename Request, typename Response>
using ListMember = void (SiteQueries::*)(const Request&, std::function<void(Result<Response>)>) const;

/// All pages of a list as one. It keeps itself while a page is under way.
template <typename Request, typename Response>
class WholeList : public std::enable_shared_from_this<WholeList<Request, Response>> {
 public:
  WholeList(const SiteQueries& site, ListMember<Request, Response> member, Request request, std::string list,
            Router::Done done)
      : site_(site), member_(member), request_(std::move(request)), list_(std::move(list)), done_(std::move(done)) {}

  void go_on() {
    (site_.*member_)(request_,
                     [self = this->shared_from_this()](Result<Response> page) { self->take(std::move(page)); });
  }

 private:
  void take(Result<Response> page) {
    if (!page) return done_(error_reply(page.error()));
    missing_.insert(page->missing_shards().begin(), page->missing_shards().end());
    request_.set_page_token(page->next_page_token());
    const std::string elements = list_elements(*page, list_);
    if (!elements.empty()) elements_ += (elements_.empty() ? "" : ",") + elements;
    const bool is_full =
        elements_.size() >= kMostBytes || ++pages_ >= kMostPages || std::chrono::steady_clock::now() >= end_;
    if (!request_.page_token().empty() && !is_full) return go_on();
    Response rest;
    rest.set_next_page_token(request_.page_token());
    for (const std::string& shard : missing_) rest.add_missing_shards(shard);
    std::string json = to_json(rest);
    const std::string open = '"' + list_ + "\":[";
    json.insert(json.find(open) + open.size(), elements_);
    done_(json_reply(std::move(json)));
  }

  const SiteQueries& site_;
  const ListMember<Request, Response> member_;
  Request request_;
  const std::string list_;
  const Router::Done done_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kLongestWalk;
  std::string elements_;
  unsigned pages_ = 0;
  std::set<std::string> missing_;
};

template <typename Request, typename Response>
void list_reply(const SiteQueries& site, ListMember<Request, Response> member, const HttpTarget& target,
                Result<Request> request, const std::string& list, const Router::Done& done) {
  const auto page_size = target.number("page_size");
  if (!page_size) return done(error_reply(page_size.error()));
  if (!request) return done(error_reply(request.error()));
  request->set_page_size(*page_size);
  request->set_page_token(target.parameter("page_token"));
  if (*page_size > 0 || !request->page_token().empty()) return (site.*member)(*request, reply_with<Response>(done));
  std::make_shared<WholeList<Request, Response>>(site, member, std::move(*request), list, done)->go_on();
}

/// The topology of all shards in one answer.
void topology_of_site(const SiteQueries& site, const std::string& fabric, const Router::Done& done) {
  struct Whole {
    /// By list, from the last one on: what is put in before is not looked at, for a node has ports, too.
    std::array<std::pair<std::string, std::string>, 3> elements{{{"links", ""}, {"ports", ""}, {"nodes", ""}}};
    std::size_t bytes = 0;
    v1::Topology rest;  ///< what is no element
  };
  const auto whole = std::make_shared<Whole>();
  const auto take = [whole](v1::Topology& part) {
    for (auto& [list, all] : whole->elements) {
      const std::string elements = list_elements(part, list);
      if (!elements.empty()) all += (all.empty() ? "" : ",") + elements;
      whole->bytes += elements.size();
    }
    whole->rest.mutable_missing_shards()->MergeFrom(part.missing_shards());
    return whole->bytes < kMostBytes;
  };
  site.read_topology(fabric, take, [whole, done](const Result<void>& ended) {
    if (!ended) return done(error_reply(ended.error()));
    std::string json = to_json(whole->rest);
    for (const auto& [list, all] : whole->elements) {
      const std::string open = '"' + list + "\":[";
      json.insert(json.find(open) + open.size(), all);
    }
    done(json_reply(std::move(json)));
  });
}

void worst_links_of_site(const SiteQueries& site, const HttpTarget& target, const Router::Done& done) {
  const auto request = worst_links_request(target);
  if (!request) return done(error_reply(request.error()));
  site.list_worst_links(*request, reply_with<v1::ListWorstLinksResponse>(done));
}

/// Lists, and other questions without a name in the path.
bool list_of_site(const SiteQueries& site, const HttpTarget& target, const Router::Done& done) {
  const std::string& what = target.path[2];
  if (what == "status" || what == "fabrics") {
    done(json_reply(to_json(site.status())));
  } else if (what == "health" && !target.nodes.empty()) {
    v1::BatchGetHealthRequest request;
    for (const std::string& node : target.nodes) request.add_nodes(node);
    site.batch_get_health(request, reply_with<v1::BatchGetHealthResponse>(done));
  } else if (what == "ports" && target.nodes.size() <= 1) {
    list_reply<v1::ListPortsRequest, v1::ListPortsResponse>(site, &SiteQueries::list_ports, target,
                                                            ports_request(target), "ports", done);
  } else if (!target.nodes.empty()) {
    return false;
  } else if (what == "nodes") {
    list_reply<v1::ListNodesRequest, v1::ListNodesResponse>(site, &SiteQueries::list_nodes, target,
                                                            nodes_request(target), "nodes", done);
  } else if (what == "links") {
    list_reply<v1::ListLinksRequest, v1::ListLinksResponse>(site, &SiteQueries::list_links, target,
                                                            links_request(target), "links", done);
  } else if (what == "topology") {
    topology_of_site(site, target.parameter("fabric"), done);
  } else if (what == "path") {
    site.get_path(path_request(target), reply_with<v1::GetPathResponse>(done));
  } else if (what == "worst") {
    const auto request = worst_request(target);
    request ? site.list_worst(*request, reply_with<v1::ListWorstResponse>(done)) : done(error_reply(request.error()));
  } else if (what == "drift") {
    site.get_drift(drift_request(target), reply_with<v1::GetDriftResponse>(done));
  } else if (what == "collectors") {
    list_reply<v1::ListCollectorsRequest, v1::ListCollectorsResponse>(site, &SiteQueries::list_collectors, target,
                                                                      collectors_request(target), "collectors", done);
  } else if (what == "health") {
    list_reply<v1::ListHealthRequest, v1::ListHealthResponse>(site, &SiteQueries::list_health, target,
                                                              v1::ListHealthRequest(), "nodes", done);
  } else if (what == "incidents") {
    list_reply<v1::ListIncidentsRequest, v1::ListIncidentsResponse>(site, &SiteQueries::list_incidents, target,
                                                                    incidents_request(target), "incidents", done);
  } else if (what == "plans") {
    list_reply<v1::ListPlansRequest, v1::ListPlansResponse>(site, &SiteQueries::list_plans, target,
                                                            plans_request(target.parameter("state")), "plans", done);
  } else if (what == "acceptances") {
    list_reply<v1::ListAcceptancesRequest, v1::ListAcceptancesResponse>(
        site, &SiteQueries::list_acceptances, target, acceptances_request(target), "acceptances", done);
  } else if (what == "maintenance") {
    list_reply<v1::ListMaintenanceRequest, v1::ListMaintenanceResponse>(
        site, &SiteQueries::list_maintenance, target, maintenance_request(target.parameter("state")), "windows", done);
  } else {
    return false;
  }
  return true;
}

/// The drawing of the fabrics of one shard. Without a name it is the own one's, and no question about the site.
bool map_of_shard(const SiteQueries& site, const HttpTarget& target, const Router::Done& done) {
  const std::string shard = target.parameter("shard");
  if (shard.empty()) return false;
  site.get_map(shard, target.path.size() == 4, [done](Result<std::string> json) {
    done(json ? json_reply(std::move(*json)) : error_reply(json.error()));
  });
  return true;
}

}  // namespace

bool site_reply(const SiteQueries& site, const HttpTarget& target, const Router::Done& done) {
  const std::vector<std::string>& path = target.path;
  const std::size_t depth = path.size();
  if (path[2] == "map") return map_of_shard(site, target, done);
  if (depth == 3) return list_of_site(site, target, done);
  const std::string& what = path[2];
  if (depth >= 5 && what == "jobs" && path.back() == "health") {
    v1::GetJobHealthRequest request;
    request.set_job(joined(path, 3, depth - 1));
    for (const std::string& node : target.nodes) request.add_nodes(node);
    site.get_job_health(request, reply_with<v1::JobHealth>(done));
    return true;
  }
  if (target.nodes.size() > 1) return false;
  if (depth == 4 && what == "incidents")
    site.get_incident(path[3], reply_with<v1::Incident>(done));
  else if (depth == 5 && what == "incidents")
    site.get_incident_timeline(path[3], reply_with<v1::IncidentTimeline>(done));
  else if (depth == 4 && what == "links")
    worst_links_of_site(site, target, done);
  else if (depth == 4 && what == "plans")
    site.get_plan(path[3], reply_with<v1::Plan>(done));
  else if (depth == 4 && what == "maintenance")
    site.get_maintenance(path[3], reply_with<v1::MaintenanceWindow>(done));
  else if (depth == 4 && what == "topology" && path[3] == "differences")
    site.get_cabling_differences(differences_request(target), reply_with<v1::GetCablingDifferencesResponse>(done));
  else if (depth >= 5 && what == "nodes" && path.back() == "health")
    site.get_health(joined(path, 3, depth - 1), reply_with<v1::NodeHealth>(done));
  else if (depth >= 4 && what == "nodes")
    site.get_node(joined(path, 3, depth), reply_with<v1::GetNodeResponse>(done));
  else
    return false;
  return true;
}

}  // namespace weft::api
