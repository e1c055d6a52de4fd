// SPDX-License-Identifier: Apache-2.0
#include "daemon/programs/weftctl/acceptance_report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"

namespace weft::ctl {
namespace {

using Run = v1::Acceptance;

/// Ports of a check that are named for each verdict but FAIL; more are counted.
constexpr std::size_t kMostNamedPorts = 8;
constexpr std::size_t kVerdictWidth = 12;

std::string in_column(std::string text, std::size_t wide) {
  text.resize(std::max(text.size(), wide), ' ');
  return text;
}

std::string when_text(const google::protobuf::Timestamp& when) {
  return when.seconds() == 0 ? "at a time that is not known" : "from " + time_text(when);
}

void print_ports(std::ostream& out, const v1::AcceptanceCheck& check, std::size_t columns) {
  std::map<Run::Verdict, std::size_t> named;
  for (const v1::AcceptancePort& port : check.ports()) {
    if (++named[port.verdict()] > kMostNamedPorts && port.verdict() != Run::FAIL) continue;
    std::string text = printable(port.port()) + ": " + printable(port.told());
    if (port.verdict() == Run::NOT_YET) text += "; can be judged " + when_text(port.judged_at());
    print_hanging(out, "  " + in_column(verdict_text(port.verdict()), kVerdictWidth) + "  ", text, columns);
  }
  const auto more = [&](Run::Verdict verdict, std::uint32_t all) {
    const std::size_t told = verdict == Run::FAIL ? named[verdict] : std::min(named[verdict], kMostNamedPorts);
    if (all > told)
      out << "  " << in_column(verdict_text(verdict), kVerdictWidth) << "  and " << all - told << " more\n";
  };
  more(Run::FAIL, check.failed());
  more(Run::NOT_YET, check.unfinished());
  more(Run::NOT_MEASURED, check.unmeasured());
}

void print_check(std::ostream& out, const v1::AcceptanceCheck& check, std::size_t columns) {
  out << '\n'
      << check.name() << ": " << verdict_text(check.verdict()) << (check.required() ? "" : " (not required)") << '\n';
  print_hanging(out, "  limit         ", check.limit(), columns);
  print_hanging(out, "  source        ", check.source(), columns);
  print_hanging(out, "  result        ", printable(check.told()), columns);
  if (check.verdict() == Run::NOT_YET) print_hanging(out, "  can be judged ", when_text(check.judged_at()), columns);
  print_ports(out, check, columns);
}

void print_hosts(std::ostream& out, const v1::AcceptanceReport& report, std::size_t columns) {
  std::map<Run::Verdict, std::vector<std::string>> hosts;
  for (const v1::AcceptanceHost& host : report.hosts()) hosts[host.verdict()].push_back(printable(host.name()));
  if (!hosts.empty()) out << "\nhosts\n";
  for (const auto& [verdict, names] : hosts) {
    std::string text = std::to_string(names.size()) + ": ";
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
    print_hanging(out, "  " + in_column(verdict_text(verdict), kVerdictWidth) + "  ", text, columns);
  }
}

}  // namespace

std::string verdict_text(Run::Verdict verdict) {
  return verdict == Run::VERDICT_UNSPECIFIED ? "-" : Run::Verdict_Name(verdict);
}

Exit exit_of(const Run& run) {
  if (run.verdict() == Run::PASS) return Exit::kGood;
  return run.verdict() == Run::FAIL ? Exit::kBadNews : Exit::kUnfinished;
}

std::string state_text(const Run& run) {
  if (run.id().empty()) return "judged at " + time_text(run.ended());
  if (!run.has_ended()) return "under way, ends " + time_text(run.until());
  if (run.ended_by().empty()) return "over since " + time_text(run.ended());
  return "ended by " + printable(run.ended_by()) + " at " + time_text(run.ended());
}

std::string progress_text(const Run& run) {
  if (!run.has_report()) return "not judged yet";
  std::size_t passed = 0;
  std::string failed, waits;
  for (const v1::AcceptanceCheck& check : run.report().checks()) {
    if (check.verdict() == Run::PASS) ++passed;
    if (check.verdict() == Run::FAIL) failed += (failed.empty() ? "" : ", ") + check.name();
    if (check.verdict() == Run::NOT_YET) waits += (waits.empty() ? "" : ", ") + check.name();
  }
  return std::to_string(passed) + " of " + std::to_string(run.report().checks_size()) + " checks pass" +
         (failed.empty() ? "" : "; failed: " + failed) + (waits.empty() ? "" : "; not yet: " + waits);
}

void print_acceptance(std::ostream& out, const Run& run, std::size_t columns) {
  print_hanging(out, (run.id().empty() ? std::string() : run.id() + "  ") + verdict_text(run.verdict()) + "  ",
                printable(run.what()), columns);
  out << state_text(run) << '\n';
  if (!run.id().empty())
    out << "started " << time_text(run.started()) << " by " << printable(run.who()) << ", for "
        << counted(static_cast<std::uint64_t>(run.length().seconds()), "second", "seconds") << '\n';
  if (run.has_watched_since() && run.has_started() && run.watched_since().seconds() > run.started().seconds() + 1 &&
      !run.id().empty())
    out << "weftd was restarted: its readings began anew at " << time_text(run.watched_since()) << '\n';
  if (!run.has_report()) {
    out << "not judged yet\n";
    return;
  }
  const v1::AcceptanceReport& report = run.report();
  out << counted(report.ports(), "port", "ports");
  if (report.has_watched_since()) out << ", the first watched since " << time_text(report.watched_since());
  out << "\n\n";
  Table table(
      {key("CHECK"), judged("VERDICT"), number("PASSED"), number("FAILED"), number("NOT YET"), number("NOT MEASURED")});
  for (const v1::AcceptanceCheck& check : report.checks())
    table.add({check.name(), verdict_text(check.verdict()), std::to_string(check.passed()),
               std::to_string(check.failed()), std::to_string(check.unfinished()), std::to_string(check.unmeasured())});
  table.print(Sheet{.out = out, .columns = columns});
  for (const Run::Verdict verdict : {Run::FAIL, Run::NOT_YET, Run::NOT_MEASURED})
    for (const v1::AcceptanceCheck& check : report.checks())
      if (check.verdict() == verdict) print_check(out, check, columns);
  print_hosts(out, report, columns);
}

}  // namespace weft::ctl
