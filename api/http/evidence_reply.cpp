// SPDX-License-Identifier: Apache-2.0
#include "api/http/evidence_reply.hpp"

#include <cstdint>
#include <utility>

#include "api/evidence/evidence.hpp"
#include "api/http/api_replies.hpp"
#include "api/http/history_reply.hpp"
#include "api/http/json.hpp"
#include "api/http/list_requests.hpp"
#include "api/site/site_queries.hpp"

namespace weft::api {
namespace {

enum class Format : std::uint8_t { kHtml, kJson };

Result<Format> format_of(const HttpTarget& target) {
  const std::string format = target.parameter("format");
  if (format.empty() || format == "html") return Format::kHtml;
  if (format == "json") return Format::kJson;
  return fail(ErrorCode::kInvalidArgument, "format must be html or json");
}

Result<v1::GetEvidenceRequest> evidence_request(const HttpTarget& target) {
  v1::GetEvidenceRequest request;
  request.set_with_jobs(target.parameter("jobs") == "1");
  if (target.path[2] == "incidents") {
    request.set_incident_id(target.path[3]);
    return request;
  }
  request.set_what(joined(target.path, 3, target.path.size() - 1));
  request.set_fabric(target.parameter("fabric"));
  if (const std::string from = target.parameter("from"); !from.empty())
    if (auto parsed = parse_time("from", from, *request.mutable_from()); !parsed) return tl::unexpected(parsed.error());
  if (const std::string to = target.parameter("to"); !to.empty())
    if (auto parsed = parse_time("to", to, *request.mutable_to()); !parsed) return tl::unexpected(parsed.error());
  return request;
}

HttpReply reply_with_pack(v1::EvidencePack pack, Format format) {
  const std::string name = pack.file_name();
  if (format == Format::kHtml) return document_reply(std::move(*pack.mutable_html()), name + ".html");
  pack.clear_html();
  HttpReply reply = json_reply(to_json(pack));
  reply.headers.emplace_back("Content-Disposition", "attachment; filename=\"" + name + ".json\"");
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

}  // namespace

bool is_evidence(const std::vector<std::string>& path) {
  if (path.size() < 5 || path[0] != "api" || path.back() != "evidence") return false;
  return path[2] == "ports" || (path[2] == "incidents" && path.size() == 5);
}

void answer_evidence(const EvidenceSource* source, HistoryDesk* desk, const SiteQueries* site,
                     std::shared_ptr<const Snapshot> snapshot, const HttpTarget& target, TimePoint now,
                     const Router::Done& done) {
  static const EvidenceSource kNobody{};
  const auto format = format_of(target);
  if (!format) return done(error_reply(format.error()));
  auto request = evidence_request(target);
  if (!request) return done(error_reply(request.error()));
  const auto make = [source = source != nullptr ? source : &kNobody, desk, snapshot, now](
                        const v1::GetEvidenceRequest& asked, const TakeEvidence& take) {
    make_evidence(*source, desk, snapshot, asked, now, take);
  };
  const auto answer = [done, format = *format](Result<v1::EvidencePack> pack) {
    done(pack ? reply_with_pack(std::move(*pack), format) : error_reply(pack.error()));
  };
  const auto ask = [site, make](const v1::GetEvidenceRequest& asked, const TakeEvidence& take) {
    if (site != nullptr) return site->get_evidence(asked, make, take);
    make(asked, take);
  };
  const std::string port = request->what().empty() ? "" : port_in(target.path);
  if (port.empty()) return ask(*request, answer);
  // NODE/PORT may be the name of a node with a slash in it, too: that is tried first.
  ask(*request, [ask, answer, asked = *request, port](Result<v1::EvidencePack> pack) mutable {
    if (pack || pack.error().code != ErrorCode::kNotFound) return answer(std::move(pack));
    asked.set_what(port);
    ask(asked, answer);
  });
}

}  // namespace weft::api
