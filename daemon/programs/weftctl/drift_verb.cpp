// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

/// Ports that one row names; more are only counted.
constexpr int kMostNamedHolders = 8;

bool is_incident(const v1::DriftDifference& one) {
  return one.state() == v1::DriftDifference::DIFFERS || one.state() == v1::DriftDifference::ENDS_DIFFER ||
         one.state() == v1::DriftDifference::NOT_AS_EXPECTED;
}

/// "510 x 28.41.1000, 2 x 28.39.1002".
std::string values_text(const v1::DriftDifference& difference) {
  std::string text;
  for (const v1::DriftValue& one : difference.values())
    text += (text.empty() ? "" : ", ") + std::to_string(one.count()) + " x " + one.value() +
            (text.empty() && !difference.expected().empty() ? " (expected)" : "");
  if (difference.values_left_out() > 0) text += ", " + std::to_string(difference.values_left_out()) + " x other values";
  return text;
}

std::string holders_text(const v1::DriftDifference& difference) {
  std::string text;
  int named = 0;
  for (const v1::DriftHolder& one : difference.holders()) {
    if (++named > kMostNamedHolders) break;
    text += (text.empty() ? "" : "; ") + one.where().label() + " has " + one.value();
    if (one.young()) text += " (new)";
  }
  if (const auto listed = static_cast<std::uint32_t>(std::min(kMostNamedHolders, difference.holders_size()));
      difference.differing() > listed && listed > 0)
    text += "; and " + std::to_string(difference.differing() - listed) + " more";
  return text.empty() ? "-" : text;
}

void print_summary(const Session& session, const v1::DriftSummary& one) {
  session.out << (one.shard().empty() ? "" : printable(one.shard()) + ": ");
  if (!one.enabled()) {
    session.out << "configurations are not compared (drift.enabled)\n";
    return;
  }
  session.out << counted(one.hosts(), "host tells", "hosts tell") << " of their configuration; all agree in "
              << one.agreed() + one.small() << " of " << counted(one.groups(), "comparison", "comparisons");
  if (one.small() > 0) session.out << " (" << one.small() << " of them on few hosts)";
  session.out << '\n';
  if (one.unjudged_ports() > 0)
    session.out << counted(one.unjudged_ports(), "port is", "ports are")
                << " of no known make, or of too many, and not compared\n";
  if (one.untold_settings() > 0)
    session.out << counted(one.untold_settings(), "setting", "settings")
                << " of which a profile speaks could not be read there\n";
  if (one.left_out() > 0) session.out << counted(one.left_out(), "difference is", "differences are") << " not listed\n";
}

}  // namespace

Exit show_drift(const Session& session, const std::string& fact) {
  v1::GetDriftRequest request;
  request.set_fact(fact);
  const auto answer = session.client.call(session.client.fabric, &v1::FabricService::Stub::GetDrift, request);
  Exit exit = answer.missing_shards().empty() ? Exit::kGood : Exit::kUnreachable;
  for (const v1::DriftDifference& one : answer.differences())
    if (is_incident(one)) exit = Exit::kBadNews;
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return exit;
  }
  if (answer.summaries().empty()) session.out << "Nothing was compared yet" << where_asked(answer) << ".\n";
  for (const v1::DriftSummary& one : answer.summaries()) print_summary(session, one);
  if (answer.differences().empty()) return exit;
  bool shards = false;
  for (const v1::DriftDifference& one : answer.differences()) shards = shards || !one.shard().empty();
  std::vector<Column> columns({key("FACT"), judged("STATE"), key("AMONG"), number("DIFFER"), number("OF"),
                               story("VALUES"), story("WHO DIFFERS")});
  if (shards) columns.insert(columns.begin() + 3, "SHARD");
  Table table(std::move(columns));
  for (const v1::DriftDifference& one : answer.differences()) {
    std::vector<std::string> cells({one.fact(), v1::DriftDifference::State_Name(one.state()), one.group(),
                                    one.differing() > 0 ? std::to_string(one.differing()) : "-",
                                    std::to_string(one.members()), values_text(one), holders_text(one)});
    if (shards) cells.insert(cells.begin() + 3, one.shard());
    table.add(std::move(cells));
  }
  session.out << '\n';
  table.print(session.sheet());
  return exit;
}

}  // namespace weft::ctl
