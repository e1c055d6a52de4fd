// SPDX-License-Identifier: Apache-2.0
#include "api/http/acceptance_reply.hpp"

#include <utility>

#include "api/convert/acceptance.hpp"
#include "api/evidence/acceptance_document.hpp"
#include "api/http/api_replies.hpp"
#include "api/http/json.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {
namespace {

HttpReply document_of(const v1::Acceptance& run, const EvidenceSource* source) {
  static const EvidenceSource kNobody{};
  return document_reply(acceptance_document(run, source != nullptr ? *source : kNobody),
                        acceptance_file_name(run) + ".html");
}

}  // namespace

bool is_acceptance(const std::vector<std::string>& path) {
  return path.size() == 4 && path[0] == "api" && path[2] == "acceptances";
}

void answer_acceptance(const EvidenceSource* source, const SiteQueries* site, const Snapshot& snapshot,
                       const HttpTarget& target, const Router::Done& done) {
  const std::string format = target.parameter("format");
  if (!format.empty() && format != "json" && format != "html")
    return done(error_reply({ErrorCode::kInvalidArgument, "format must be html or json"}));
  const auto answer = [source, done, is_html = format == "html"](Result<v1::Acceptance> run) {
    if (!run) return done(error_reply(run.error()));
    done(is_html ? document_of(*run, source) : json_reply(to_json(*run)));
  };
  if (site == nullptr) return answer(get_acceptance(snapshot, target.path[3]));
  v1::GetAcceptanceRequest request;
  request.set_id(target.path[3]);
  site->get_acceptance(request, answer);
}

}  // namespace weft::api
