// SPDX-License-Identifier: Apache-2.0
#include "api/http/history_reply.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "api/convert/history.hpp"
#include "api/convert/stall_map.hpp"
#include "api/http/api_replies.hpp"
#include "api/http/json.hpp"
#include "api/http/list_requests.hpp"
#include "api/site/site_history.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The time, and how many points: what the questions have in common.
template <typename Request>
Result<void> read_time(const HttpTarget& target, Request& request) {
  request.set_fabric(target.parameter("fabric"));
  const auto points = target.number("points");
  if (!points) return tl::unexpected(points.error());
  request.set_points(static_cast<std::uint32_t>(*points));
  if (const std::string from = target.parameter("from"); !from.empty())
    if (auto parsed = parse_time("from", from, *request.mutable_from()); !parsed) return parsed;
  if (const std::string to = target.parameter("to"); !to.empty())
    if (auto parsed = parse_time("to", to, *request.mutable_to()); !parsed) return parsed;
  return {};
}

Result<v1::GetPortHistoryRequest> history_request(const HttpTarget& target) {
  v1::GetPortHistoryRequest request;
  request.set_with_still(target.parameter("still") == "1");
  if (const auto read = read_time(target, request); !read) return tl::unexpected(read.error());
  std::string_view names = {};
  const std::string counters = target.parameter("counters");
  for (names = counters; !names.empty();) {
    const std::size_t comma = std::min(names.find(','), names.size());
    request.add_counters(std::string(names.substr(0, comma)));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return request;
}

Result<v1::GetStallMapRequest> stall_request(const HttpTarget& target) {
  v1::GetStallMapRequest request;
  if (const auto read = read_time(target, request); !read) return tl::unexpected(read.error());
  const auto rows = target.number("rows");
  if (!rows) return tl::unexpected(rows.error());
  request.set_rows(static_cast<std::uint32_t>(*rows));
  return request;
}

/// A node with a slash in its name looks like NODE/PORT, too: that is tried first. `request` is then what was found, or
/// was tried last.
Result<PortHistoryQuestion> parse(const std::shared_ptr<const Snapshot>& snapshot, v1::GetPortHistoryRequest& request,
                                  const std::string& port, TimePoint now) {
  auto asked = parse_port_history(snapshot, request, now);
  if (asked || asked.error().code != ErrorCode::kNotFound || port.empty()) return asked;
  request.set_what(port);
  return parse_port_history(snapshot, request, now);
}

HttpReply reply_of(const auto& response) {
  return response ? json_reply(to_json(*response)) : error_reply(response.error());
}

bool is_stall(const std::vector<std::string>& path) {
  return path.size() == 4 && path[0] == "api" && path[2] == "switches" && path[3] == "stall";
}

void answer_stall(HistoryDesk& desk, const SiteQueries* site, std::shared_ptr<const Snapshot> snapshot,
                  const HttpTarget& target, TimePoint now, const Router::Done& done) {
  const auto request = stall_request(target);
  if (!request) return done(error_reply(request.error()));
  auto asked = parse_stall_map(std::move(snapshot), *request, now);
  if (!asked && site != nullptr)
    return site->get_stall_map(*request, asked.error(), [done](const auto& response) { done(reply_of(response)); });
  if (!asked) return done(error_reply(asked.error()));
  const auto kept = std::make_shared<const StallMapQuestion>(std::move(*asked));
  desk.read_stall(kept->question, [kept, done](const Result<StallAnswer>& read) {
    done(read ? json_reply(to_json(stall_map(*kept, *read))) : error_reply(read.error()));
  });
}

}  // namespace

bool is_history(const std::vector<std::string>& path) {
  return (path.size() >= 5 && path[0] == "api" && path[2] == "ports" && path.back() == "history") || is_stall(path);
}

std::string port_in(const std::vector<std::string>& path) {
  const std::size_t port = path.size() - 2;
  return path.size() > 5 && is_number(path[port]) ? joined(path, 3, port) + ':' + path[port] : "";
}

void answer_history(HistoryDesk* desk, const SiteQueries* site, std::shared_ptr<const Snapshot> snapshot,
                    const HttpTarget& target, TimePoint now, const Router::Done& done) {
  if (desk == nullptr) return done(error_reply({ErrorCode::kUnavailable, "this weftd keeps no history"}));
  if (is_stall(target.path)) return answer_stall(*desk, site, std::move(snapshot), target, now, done);
  auto request = history_request(target);
  if (!request) return done(error_reply(request.error()));
  request->set_what(joined(target.path, 3, target.path.size() - 1));
  auto asked = parse(snapshot, *request, port_in(target.path), now);
  if (!asked && site != nullptr)
    return site->get_port_history(*request, asked.error(), [done](const auto& response) { done(reply_of(response)); });
  if (!asked) return done(error_reply(asked.error()));
  answer_port_history(*desk, site, std::move(*asked), *request,
                      [done](const auto& response) { done(reply_of(response)); });
}

}  // namespace weft::api
