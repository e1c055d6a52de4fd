// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/plan_report.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

/// So many stops are looked at: several persons may have stopped automation, one after the other.
constexpr int kMostStops = 8;

/// The reason of the brake has it between semicolons: it is of this stop, and not of one that was released.
bool has_part(const std::string& reason, const std::string& said) {
  return ("; " + reason + "; ").find("; " + said + "; ") != std::string::npos;
}

}  // namespace

std::string brake_since(const Session& session, const v1::RemedyStatus& status) {
  const std::string& reason = status.hands_off_by_person();
  if (reason.empty()) return {};
  v1::ListAuditRequest request;
  request.set_what("automation stopped");
  request.set_page_size(1);
  std::string names;  // with the time of each, the newest last
  try {
    for (int stops = 0; stops < kMostStops; ++stops) {
      const v1::ListAuditResponse page =
          session.client.call(session.client.remedies, &v1::RemedyService::Stub::ListAudit, request);
      if (page.records().empty()) return {};
      const v1::AuditRecord& stop = page.records(0);
      // Of a site it may be another shard's.
      if (!stop.shard().empty()) return {};
      const std::string said = stop.who() + (stop.detail().empty() ? "" : ": " + stop.detail());
      // Each with its time, where there are several.
      if (has_part(reason, said))
        names = time_text(stop.at()) + " (" + printable(said) + ')' + (names.empty() ? "" : ", " + names);
      // The first of them begins the reason.
      if (reason == said) return time_text(stop.at());
      if (reason.starts_with(said + "; ")) return names;
      if (page.next_page_token().empty()) return {};
      request.set_page_token(page.next_page_token());
    }
  } catch (const Failure&) {
    // Who may not read the audit trail is not told: what stops automation is said all the same.
  }
  return {};
}

void print_reach_of_brake(const Session& session) {
  const auto status =
      session.client.call(session.client.fabric, &v1::FabricService::Stub::GetStatus, v1::GetStatusRequest());
  std::string own, others;
  for (const v1::Status::Shard& shard : status.shards()) {
    if (shard.own())
      own = printable(shard.name());
    else
      others += (others.empty() ? "" : ", ") + printable(shard.name()) +
                (shard.addresses().empty() ? "" : " (" + printable(shard.addresses(0)) + ")");
  }
  if (!others.empty())
    session.out << "That is of shard " << own << " alone. Each other shard has a brake of its own: " << others << '\n';
}

}  // namespace weft::ctl
