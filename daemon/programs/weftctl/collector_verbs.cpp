// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

/// What fails comes first. What only lacks a right or a program that most hosts do not give, is told where `is_whole`;
/// else one word says that there is such.
std::string sources_text(const v1::Collector& collector, bool is_whole) {
  std::string failing, limited;
  for (const v1::Source& source : collector.sources()) {
    if (source.ok() && source.message().empty()) continue;
    std::string& text = source.ok() ? limited : failing;
    text += (text.empty() ? "" : "; ") + source.name() + (source.ok() ? ": " : " FAILS: ") + source.message();
  }
  if (!limited.empty() && !is_whole) limited = "limited";
  if (failing.empty() || limited.empty()) return failing.empty() && limited.empty() ? "-" : failing + limited;
  return failing + "; " + limited;
}

/// As many as fit beside the other columns, and at least one: a host may run any number, of names of any length.
std::string jobs_text(const v1::Collector& collector) {
  constexpr std::size_t kRoom = 60;
  std::string text;
  for (int i = 0; i < collector.jobs_size(); ++i) {
    const std::string& job = collector.jobs(i);
    if (i > 0 && text.size() + 1 + job.size() > kRoom)
      return text + " and " + std::to_string(collector.jobs_size() - i) + " more";
    text += (i == 0 ? "" : " ") + job;
  }
  return text.empty() ? "-" : text;
}

/// "eth1 hears leaf01 (mac 02:00:00:00:00:01), port mac 02:00:00:00:00:07 (swp1)".
void print_neighbours(std::ostream& out, const v1::Collector& collector) {
  if (collector.neighbours().empty()) return;
  out << "\nneighbours of " << printable(collector.host()) << ", as they say themselves:\n";
  for (const v1::InterfaceNeighbours& interface : collector.neighbours()) {
    for (const v1::LldpNeighbour& one : interface.neighbours()) {
      out << "  " << printable(interface.interface()) << " hears "
          << (one.system_name().empty() ? "a system without a name" : printable(one.system_name())) << " ("
          << printable(one.chassis_type()) << ' ' << printable(one.chassis()) << "), port "
          << printable(one.port_type()) << ' ' << printable(one.port());
      if (!one.port_description().empty()) out << " (" << printable(one.port_description()) << ')';
      out << '\n';
    }
    if (interface.left_out() > 0)
      out << "  " << printable(interface.interface()) << " hears " << interface.left_out() << " more\n";
  }
}

/// How its ports and adapters are set up, one fact a row.
void print_configuration(const Session& session, const v1::Collector& collector) {
  if (collector.configuration().empty()) return;
  session.out << "\nconfiguration of " << printable(collector.host()) << ", read "
              << age_text(collector.has_configuration_read(), collector.configuration_read(), session.now) << ":\n";
  Table table({key("DEVICE"), key("FACT"), "VALUE", spare("UNIT"), spare("SOURCE")});
  for (const v1::PortConfiguration& port : collector.configuration())
    for (const v1::ConfigurationFact& fact : port.facts())
      table.add({port.device().empty() ? "(host)"
                 : port.port() == 0    ? port.device()
                                       : port.device() + " port " + std::to_string(port.port()),
                 fact.name(), fact.value(), fact.unit().empty() ? "-" : fact.unit(), fact.source()});
  table.print(session.sheet());
}

}  // namespace

Exit show_collectors(const Session& session, const std::vector<std::string>& hosts) {
  v1::ListCollectorsRequest request;
  for (const std::string& host : hosts) request.add_hosts(host);
  request.set_with_readings(!hosts.empty());
  const auto answer =
      session.client.all_pages(session.client.telemetry, &v1::TelemetryService::Stub::ListCollectors, request);
  for (const std::string& host : hosts)
    if (std::ranges::find(answer.collectors(), host, &v1::Collector::host) == answer.collectors().end())
      throw Failure(Exit::kBadNews, "no collector reports for " + host + where_asked(answer));
  const bool good = std::ranges::all_of(
      answer.collectors(), [](const v1::Collector& one) { return one.state() == v1::Collector::CONNECTED; });
  const Exit exit = good ? Exit::kGood : Exit::kBadNews;
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return exit;
  }
  if (answer.collectors().empty()) {
    session.out << "No collectors" << where_asked(answer) << ".\n";
    return exit;
  }
  std::vector<Column> columns({"HOST", judged("STATE"), age("LAST SEEN"), spare(rate("BEHIND")), spare("ADDRESS"),
                               spare("VERSION"), spare(rate("BATCHES")), number("LATE"), number("LOST"),
                               spare(rate("CLOCK")), spare("JOBS"), story("SOURCES")});
  const bool shards = has_shards(answer.collectors());
  if (shards) columns.insert(columns.end() - 1, "SHARD");
  Table table(std::move(columns));
  for (const v1::Collector& one : answer.collectors()) {
    std::vector<std::string> cells(
        {one.host(), v1::Collector::State_Name(one.state()), age_text(one.has_heard(), one.heard(), session.now),
         one.has_behind_seconds() ? seconds_text(one.behind_seconds()) : "-",
         one.address().empty() ? "-" : one.address(), one.version().empty() ? "-" : one.version(),
         std::to_string(one.batches()), std::to_string(one.late_batches()), std::to_string(one.lost_batches()),
         one.has_behind_seconds() ? seconds_text(one.clock_offset_seconds()) : "-", jobs_text(one),
         sources_text(one, !hosts.empty())});
    if (shards) cells.insert(cells.end() - 1, one.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  for (const v1::Collector& one : answer.collectors()) print_neighbours(session.out, one);
  for (const v1::Collector& one : answer.collectors()) print_configuration(session, one);
  return exit;
}

}  // namespace weft::ctl
