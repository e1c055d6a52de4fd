// SPDX-License-Identifier: Apache-2.0
#include "api/http/api_replies.hpp"

#include <memory>
#include <optional>

#include "api/convert/acceptance.hpp"
#include "api/convert/cabling.hpp"
#include "api/convert/collectors.hpp"
#include "api/convert/drift.hpp"
#include "api/convert/fabric_map.hpp"
#include "api/convert/health.hpp"
#include "api/convert/incident_timeline.hpp"
#include "api/convert/maintenance.hpp"
#include "api/convert/path.hpp"
#include "api/convert/plans.hpp"
#include "api/convert/queries.hpp"
#include "api/convert/worst_links.hpp"
#include "api/convert/worst_things.hpp"
#include "api/http/json.hpp"
#include "api/http/list_requests.hpp"

namespace weft::api {
namespace {

using Question = ApiQuestion;

/// Entries converted at once: some milliseconds, after which other connections get their turn.
constexpr std::int32_t kEntriesAtOnce = 50;

template <typename Message>
HttpReply reply_of(const Result<Message>& message) {
  return message ? json_reply(to_json(*message)) : error_reply(message.error());
}

/// A list: one page where one is asked for, else all pages as one, made as they are sent. `query(question, request)`
/// gives a page; `list` is the name of its repeated field.
template <typename Request, typename Query>
HttpReply list_reply(Question question, Request request, const std::string& list, Query query) {
  const auto page_size = question.target.number("page_size");
  if (!page_size) return error_reply(page_size.error());
  request.set_page_size(*page_size);
  request.set_page_token(question.target.parameter("page_token"));
  if (*page_size > 0 || !request.page_token().empty()) return reply_of(query(question, request));

  request.set_page_size(kEntriesAtOnce);
  auto first = query(question, request);
  if (!first) return error_reply(first.error());
  if (first->next_page_token().empty()) return json_reply(to_json(*first));

  struct State {
    Question question;
    Request request;
    std::optional<std::remove_reference_t<decltype(*first)>> page;
    bool ended = false;
  };
  auto state = std::make_shared<State>(State{std::move(question), std::move(request), std::move(*first), false});
  HttpReply reply;
  reply.stream = [state, list, query](std::string& piece) {
    if (state->ended) return false;
    if (state->page) {
      piece = "{\"" + list + "\":[";
    } else {
      auto next = query(state->question, state->request);
      // The snapshot is the same one, so a page that follows a good one is good.
      if (!next) return false;
      state->page = std::move(*next);
      piece.clear();
    }
    state->request.set_page_token(state->page->next_page_token());
    state->ended = state->page->next_page_token().empty();
    // The page after the last entry is empty when the one before was just full.
    const std::string elements = list_elements(*state->page, list);
    if (piece.empty() && !elements.empty()) piece = ",";
    piece += elements;
    state->page.reset();
    if (state->ended) piece += "],\"nextPageToken\":\"\"}";
    return true;
  };
  return reply;
}

HttpReply topology_reply(const Question& question) {
  struct State {
    TopologyParts parts;
    v1::Topology part;
    int section = 0;  ///< list that is open: nodes, ports, links
    bool first_of_list = true;
    bool ended = false;
  };
  static constexpr const char* kLists[] = {"nodes", "ports", "links"};
  auto state = std::make_shared<State>(
      State{TopologyParts(question.snapshot, question.target.parameter("fabric"), question.now, kEntriesAtOnce), {}});
  const auto first = state->parts.next(state->part);
  if (!first) return error_reply(first.error());
  HttpReply reply;
  reply.stream = [state, begun = false](std::string& piece) mutable {
    if (state->ended) return false;
    if (!begun) {
      piece = "{\"nodes\":[";
      begun = true;
    } else {
      const auto more = state->parts.next(state->part);
      piece.clear();
      state->ended = !more || !*more;
    }
    const int section = state->ended                   ? 2
                        : state->part.links_size() > 0 ? 2
                        : state->part.ports_size() > 0 ? 1
                                                       : state->section;
    for (; state->section < section; state->first_of_list = true)
      piece += std::string("],\"") + kLists[++state->section] + "\":[";
    if (state->ended) {
      piece += "]}";
      return true;
    }
    const std::string elements = list_elements(state->part, kLists[section]);
    if (!elements.empty() && !state->first_of_list) piece += ',';
    if (!elements.empty()) state->first_of_list = false;
    piece += elements;
    return true;
  };
  return reply;
}

/// `node=a&node=b`: what schedulers' hooks ask.
HttpReply health_reply(const Question& question) {
  v1::BatchGetHealthRequest request;
  for (const std::string& node : question.target.nodes) request.add_nodes(node);
  return reply_of(batch_get_health(*question.snapshot, request));
}

HttpReply job_health_reply(const Question& question, std::string job) {
  v1::GetJobHealthRequest request;
  request.set_job(std::move(job));
  for (const std::string& node : question.target.nodes) request.add_nodes(node);
  return reply_of(get_job_health(*question.snapshot, request));
}

/// Names this weftd's own shard, or none.
bool is_own_shard(const Question& question) {
  const std::string shard = question.target.parameter("shard");
  const SitePtr& site = question.snapshot->site;
  return shard.empty() || (site && site->own == shard);
}

}  // namespace

HttpReply json_reply(std::string json) {
  HttpReply reply;
  reply.body = std::move(json);
  return reply;
}

HttpReply document_reply(std::string html, const std::string& file_name) {
  HttpReply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back("Content-Security-Policy",
                             "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox");
  reply.body = std::move(html);
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + file_name + "\"");
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

HttpReply api_reply(ApiQuestion question) {
  const std::vector<std::string>& path = question.target.path;
  const std::size_t depth = path.size();
  const std::string what = depth > 2 ? path[2] : "";
  if (depth >= 5 && what == "jobs" && path.back() == "health")
    return job_health_reply(question, joined(path, 3, depth - 1));
  if (depth == 3 && what == "health" && !question.target.nodes.empty()) return health_reply(question);
  if (question.target.nodes.size() > 1)
    return error_reply({ErrorCode::kInvalidArgument, "the parameter node is given more than once"});
  if (depth == 3) {
    if (what == "status" || what == "fabrics") return json_reply(to_json(status(*question.snapshot)));
    if (what == "topology") return topology_reply(question);
    if (what == "nodes") {
      auto request = nodes_request(question.target);
      return list_reply(std::move(question), std::move(request), "nodes",
                        [](const Question& asked, const auto& page) { return list_nodes(*asked.snapshot, page); });
    }
    if (what == "ports") {
      auto request = ports_request(question.target);
      return list_reply(std::move(question), std::move(request), "ports", [](const Question& asked, const auto& page) {
        return list_ports(*asked.snapshot, page, asked.now);
      });
    }
    if (what == "links") {
      auto request = links_request(question.target);
      return list_reply(std::move(question), std::move(request), "links",
                        [](const Question& asked, const auto& page) { return list_links(*asked.snapshot, page); });
    }
    if (what == "path") return reply_of(get_path(*question.snapshot, path_request(question.target)));
    if (what == "health") {
      return list_reply(std::move(question), v1::ListHealthRequest(), "nodes",
                        [](const Question& asked, const auto& page) { return list_health(*asked.snapshot, page); });
    }
    if (what == "collectors") {
      auto request = collectors_request(question.target);
      return list_reply(std::move(question), std::move(request), "collectors",
                        [](const Question& asked, const auto& page) { return list_collectors(*asked.snapshot, page); });
    }
    if (what == "worst") {
      const auto request = worst_request(question.target);
      if (!request) return error_reply(request.error());
      return reply_of(list_worst(*question.snapshot, *request, question.now));
    }
    if (what == "drift") return reply_of(get_drift(*question.snapshot, drift_request(question.target)));
    if (what == "incidents") {
      auto request = incidents_request(question.target);
      if (!request) return error_reply(request.error());
      return list_reply(std::move(question), std::move(*request), "incidents",
                        [](const Question& asked, const auto& page) { return list_incidents(*asked.snapshot, page); });
    }
    if (what == "plans") {
      auto request = plans_request(question.target.parameter("state"));
      if (!request) return error_reply(request.error());
      return list_reply(std::move(question), std::move(*request), "plans",
                        [](const Question& asked, const auto& page) { return list_plans(*asked.snapshot, page); });
    }
    if (what == "acceptances") {
      auto request = acceptances_request(question.target);
      if (!request) return error_reply(request.error());
      return list_reply(
          std::move(question), std::move(*request), "acceptances",
          [](const Question& asked, const auto& page) { return list_acceptances(*asked.snapshot, page); });
    }
    if (what == "remedy") return json_reply(to_json(remedy_status(*question.snapshot)));
  }
  if (depth == 4 && what == "links") {
    const auto request = worst_links_request(question.target);
    if (!request) return error_reply(request.error());
    return reply_of(list_worst_links(*question.snapshot, *request, question.now));
  }
  if (depth == 5 && what == "incidents") return reply_of(incident_timeline(*question.snapshot, path[3], question.now));
  if (depth == 4 && what == "topology")
    return reply_of(cabling_differences(*question.snapshot, question.target.parameter("fabric")));
  if (what == "map" && !is_own_shard(question)) return error_reply({ErrorCode::kNotFound, "there is no such shard"});
  if (depth == 3 && what == "map") return json_reply(fabric_map(*question.snapshot));
  if (depth == 4 && what == "map") return json_reply(fabric_map_state(*question.snapshot, question.now));
  if (depth == 4 && what == "plans") return reply_of(get_plan(*question.snapshot, path[3]));
  if (depth == 3 && what == "maintenance") {
    auto request = maintenance_request(question.target.parameter("state"));
    if (!request) return error_reply(request.error());
    return list_reply(std::move(question), std::move(*request), "windows", [](const Question& asked, const auto& page) {
      return list_maintenance(*asked.snapshot, page, asked.now);
    });
  }
  if (depth == 4 && what == "maintenance") return reply_of(get_maintenance(*question.snapshot, path[3], question.now));
  if (depth == 4 && what == "incidents") return reply_of(get_incident(*question.snapshot, path[3]));
  if (depth >= 5 && what == "nodes" && path.back() == "health")
    return reply_of(get_health(*question.snapshot, joined(path, 3, depth - 1)));
  if (depth >= 4 && what == "nodes")
    return reply_of(get_node(*question.snapshot, joined(path, 3, depth), question.now));
  return error_reply({ErrorCode::kNotFound, "no such path"});
}

}  // namespace weft::api
