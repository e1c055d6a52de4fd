// SPDX-License-Identifier: Apache-2.0
// The audit trail, and whether its hashes match.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

using Stub = v1::RemedyService::Stub;

/// So wide a terminal has room for a column of users, beside all others of the audit trail.
constexpr std::size_t kRoomForUsers = 120;
constexpr const char* kDamagedTrail = "; what to do: weftctl runbook remedies, \"The audit trail is damaged\"";

const std::string& or_dash(const std::string& text) {
  static const std::string kDash = "-";
  return text.empty() ? kDash : text;
}

/// The newest lines of one shard's audit trail, or of weftd's own.
struct Trail {
  std::string shard{};              ///< empty: weftd is no part of a site
  v1::ListAuditResponse read{};     ///< what is shown, ascending, and the token of what is older
  std::uint64_t checked = 0;        ///< lines whose hashes match
  std::optional<Failure> damage{};  ///< why older lines could not be read
  bool is_search = false;           ///< not all lines are shown that were read
};

Trail read_trail(const Session& session, const AuditWish& wanted, const std::string& shard) {
  // Pages come newest first, each ascending. weftd checks the hashes of what it gives: older lines than those that are
  // shown are read for that alone.
  Trail trail{.shard = shard, .is_search = wanted.is_search()};
  std::vector<v1::ListAuditResponse> pages;
  std::uint64_t left = wanted.limit == 0 ? UINT64_MAX : wanted.limit;
  std::uint64_t longest = 1000;
  std::string older;
  v1::ListAuditRequest request;
  request.set_shard(shard);
  request.set_who(wanted.who);
  request.set_what(wanted.what);
  if (wanted.from) set_seconds(*request.mutable_from(), *wanted.from);
  if (wanted.to) set_seconds(*request.mutable_to(), *wanted.to);
  do {
    request.set_page_size(static_cast<std::int32_t>(left > 0 ? std::min(left, longest) : longest));
    v1::ListAuditResponse page;
    try {
      page = session.client.call(session.client.remedies, &Stub::ListAudit, request);
      trail.damage.reset();
    } catch (const Failure& failure) {
      if (failure.exit != Exit::kBadNews) throw;
      // A page with a bad record is not given at all: smaller ones lead up to that record.
      trail.damage = failure;
      if (request.page_size() == 1) break;
      longest = static_cast<std::uint64_t>(request.page_size()) / 2;
      continue;
    }
    const auto size = static_cast<std::uint64_t>(page.records_size());
    trail.checked += size;
    request.set_page_token(page.next_page_token());
    if (!page.missing_shards().empty()) *trail.read.mutable_missing_shards() = page.missing_shards();
    if (left == 0) continue;
    left -= std::min(left, size);
    older = page.next_page_token();
    pages.push_back(std::move(page));
    if (left == 0 && trail.is_search) break;
  } while (trail.damage || !request.page_token().empty());
  for (auto page = pages.rbegin(); page != pages.rend(); ++page)
    trail.read.mutable_records()->MergeFrom(page->records());
  trail.read.set_next_page_token(older);
  return trail;
}

/// On a narrow terminal who did it stands before the detail, below the row: nothing of a line is left out or cut.
void print_records(const Session& session, const v1::ListAuditResponse& trail) {
  const bool is_narrow = session.columns > 0 && session.columns < kRoomForUsers;
  std::vector<Column> columns{number("LINE"), whole("TIME")};
  if (!is_narrow) columns.emplace_back("USER");
  for (const char* head : {"ACTION", "PLAN", "INCIDENT"}) columns.push_back(whole(head));
  columns.push_back(story(is_narrow ? "USER: DETAIL" : "DETAIL"));
  Table table(std::move(columns));
  for (const v1::AuditRecord& record : trail.records()) {
    std::vector<std::string> cells{std::to_string(record.sequence()), record.has_at() ? time_text(record.at()) : "-"};
    if (!is_narrow) cells.push_back(or_dash(record.who()));
    for (const std::string* text : {&record.what(), &record.plan_id(), &record.incident_id()})
      cells.push_back(or_dash(*text));
    cells.push_back(is_narrow ? or_dash(record.who()) + ": " + or_dash(record.detail()) : or_dash(record.detail()));
    table.add(std::move(cells));
  }
  table.print(session.sheet());
}

void print_trail(const Session& session, const Trail& trail) {
  const bool is_missing = !trail.read.missing_shards().empty();
  // How many lines were searched, and so checked, weftd does not tell.
  const char* searched =
      trail.is_search && !trail.damage && !is_missing ? "The hashes of all lines that were searched match.\n" : "";
  if (trail.read.records().empty()) {
    if (!trail.damage)
      session.out << (is_missing        ? "It does not answer.\n"
                      : trail.is_search ? "No such line.\n"
                                        : "The audit trail is empty.\n")
                  << searched;
    return;
  }
  print_records(session, trail.read);
  if (trail.is_search) {
    session.out << searched;
  } else if (trail.damage || is_missing) {
    const std::uint64_t last = trail.read.records().rbegin()->sequence();
    session.out << "The hashes of the lines " << last - trail.checked + 1 << " to " << last << " match."
                << (is_missing ? " It does not answer any more: older ones were not checked.\n" : "\n");
  } else {
    session.out << "The hashes of all " << trail.checked << " lines match.\n";
  }
}

}  // namespace

Exit show_audit(const Session& session, const AuditWish& wanted) {
  const auto status =
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
  std::vector<Trail> trails;
  if (status.shards().empty()) trails.push_back(read_trail(session, wanted, ""));
  for (const v1::Status::Shard& shard : status.shards()) trails.push_back(read_trail(session, wanted, shard.name()));

  if (session.json) {
    v1::ListAuditResponse all;
    for (const Trail& trail : trails) all.MergeFrom(trail.read);
    // A token goes on in one trail.
    if (trails.size() > 1) all.clear_next_page_token();
    session.out << json_text(all, false) << '\n';
  }
  std::string damages;
  bool is_whole = true;
  for (const Trail& trail : trails) {
    if (!session.json && !trail.shard.empty())
      session.out << (&trail == &trails.front() ? "" : "\n") << "Shard " << printable(trail.shard) << '\n';
    if (!session.json) print_trail(session, trail);
    if (trail.damage) damages += (damages.empty() ? "" : "; ") + std::string(trail.damage->what());
    is_whole = is_whole && trail.read.missing_shards().empty();
  }
  session.out << std::flush;
  if (!damages.empty()) throw Failure(Exit::kBadNews, damages + (session.json ? "" : kDamagedTrail));
  return is_whole ? Exit::kGood : Exit::kBadNews;
}

}  // namespace weft::ctl
