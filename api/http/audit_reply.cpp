// SPDX-License-Identifier: Apache-2.0
#include "api/http/audit_reply.hpp"

#include "api/convert/audit_search.hpp"
#include "api/http/api_replies.hpp"
#include "api/http/json.hpp"
#include "api/http/list_requests.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {

bool is_audit(const std::vector<std::string>& path) {
  return path.size() == 3 && path[0] == "api" && path[2] == "audit";
}

void answer_audit(RemedyCommands* commands, const SiteQueries* site, const HttpTarget& target,
                  const Router::Done& done) {
  if (commands == nullptr) return done(error_reply({ErrorCode::kUnavailable, "this weftd keeps no audit trail"}));
  const auto request = audit_request(target);
  if (!request) return done(error_reply(request.error()));
  const auto reply = [done](const Result<v1::ListAuditResponse>& page) {
    done(page ? json_reply(to_json(*page)) : error_reply(page.error()));
  };
  if (site == nullptr || !site->has_others()) return search_audit(*commands, *request, reply);
  site->list_audit(
      *request, [commands](const auto& asked, const auto& take) { search_audit(*commands, asked, take); }, reply);
}

}  // namespace weft::api
