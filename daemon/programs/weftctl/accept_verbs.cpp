// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "daemon/programs/weftctl/acceptance_report.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/new_file.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"

namespace weft::ctl {
namespace {

using namespace std::chrono_literals;
using AcceptanceStub = v1::AcceptanceService::Stub;

constexpr auto kAskAgain = 1s;
/// So long a weftd that is away is waited for: it may be restarted, or another one take over.
constexpr auto kServerMayBeAway = 10min;
constexpr auto kJudgedAgainWithin = 30s;

v1::StartAcceptanceRequest request_for(const AcceptWish& wanted) {
  v1::StartAcceptanceRequest request;
  for (const std::string& host : wanted.hosts) request.add_hosts(host);
  for (const std::string& name : wanted.switches) request.add_switches(name);
  for (const std::string& link : wanted.links) request.add_links(link);
  request.set_fabric(wanted.fabric);
  request.set_ber_limit(wanted.ber_limit);
  request.set_who(wanted.who);
  if (wanted.length)
    request.mutable_length()->set_seconds(std::chrono::ceil<std::chrono::seconds>(*wanted.length).count());
  return request;
}

v1::Acceptance get(const Session& session, const std::string& id, bool with_html = false) {
  v1::GetAcceptanceRequest request;
  request.set_id(id);
  request.set_with_html(with_html);
  return session.client.call(session.client.acceptance, &AcceptanceStub::Get, request);
}

std::string text_of(const v1::Acceptance& run, const std::string& format) {
  if (format == "html") {
    if (run.html().empty()) throw Failure(Exit::kBadNews, "weftd sent no document");
    return run.html();
  }
  if (format == "json") return json_text(run, false) + '\n';
  std::ostringstream text;
  print_acceptance(text, run, 0);
  return text.str();
}

/// Prints the run, or writes it where the user wants it.
void tell(const Session& session, const v1::Acceptance& given, const AcceptOutput& output) {
  const bool lacks_document = output.format == "html" && given.html().empty() && !given.id().empty();
  const v1::Acceptance run = lacks_document ? get(session, given.id(), true) : given;
  if (output.format.empty()) {
    if (session.json)
      session.out << json_text(run, false) << '\n';
    else
      print_acceptance(session.out, run, session.columns);
    return;
  }
  const std::string text = text_of(run, output.format);
  if (output.file == "-") {
    session.out << text;
    return;
  }
  NewFile file(output.file, output.force ? NewFile::Existing::kIsReplaced : NewFile::Existing::kIsRefused,
               "name another file, or replace it with --force");
  file.append(text);
  file.sync();
  file.keep();
  if (!session.json)
    session.out << (run.id().empty() ? "" : run.id() + ' ') << verdict_text(run.verdict()) << ": the report is in "
                << file.path().string() << '\n';
}

/// Says what is new of a run until it is over.
v1::Acceptance follow(const Session& session, v1::Acceptance run, bool is_quiet) {
  std::string told;
  auto heard = std::chrono::steady_clock::now();
  while (true) {
    if (const std::string now = progress_text(run) + ", " + state_text(run); !is_quiet && now != told) {
      session.out << run.id() << ' ' << verdict_text(run.verdict()) << ": " << now << std::endl;
      told = now;
    }
    if (run.has_ended()) return run;
    std::this_thread::sleep_for(kAskAgain);
    try {
      run = get(session, run.id());
      heard = std::chrono::steady_clock::now();
    } catch (const Failure& failure) {
      if (failure.exit != Exit::kUnreachable || std::chrono::steady_clock::now() - heard > kServerMayBeAway) throw;
    }
  }
}

/// weftd judges only so often, and longer apart where its machine is busy.
v1::Acceptance judged_now(const Session& session, const v1::StartAcceptanceRequest& request) {
  const auto until = std::chrono::steady_clock::now() + kJudgedAgainWithin;
  while (true) {
    try {
      return session.client.call(session.client.acceptance, &AcceptanceStub::Judge, request);
    } catch (const Failure& failure) {
      if (failure.code != grpc::StatusCode::RESOURCE_EXHAUSTED || std::chrono::steady_clock::now() > until) throw;
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

}  // namespace

Exit accept(const Session& session, const AcceptWish& wanted) {
  v1::StartAcceptanceRequest request = request_for(wanted);
  if (!wanted.length) {
    request.set_with_html(wanted.output.format == "html");
    const auto run = judged_now(session, request);
    tell(session, run, wanted.output);
    return exit_of(run);
  }
  auto run = session.client.change(session.client.acceptance, &AcceptanceStub::Start, request);
  if (wanted.wait) {
    // Before all that is waited for is lost.
    if (!wanted.output.file.empty() && wanted.output.file != "-" && !wanted.output.force &&
        std::filesystem::exists(wanted.output.file))
      session.out << wanted.output.file << " is there already: without --force the report is not written\n";
    run = follow(session, std::move(run), session.json || wanted.output.file == "-");
    tell(session, run, wanted.output);
    return exit_of(run);
  }
  if (session.json) {
    session.out << json_text(run, false) << '\n';
    return Exit::kGood;
  }
  session.out << run.id() << " is " << state_text(run) << ": " << printable(run.what())
              << "\n\nto see it   weftctl accept show " << run.id() << '\n';
  return Exit::kGood;
}

Exit show_acceptance(const Session& session, const std::string& id, const AcceptOutput& output) {
  const v1::Acceptance run = get(session, id);
  tell(session, run, output);
  return exit_of(run);
}

Exit end_acceptance(const Session& session, const std::string& id, const std::string& who) {
  v1::EndAcceptanceRequest request;
  request.set_id(id);
  request.set_who(who);
  const auto run = session.client.change(session.client.acceptance, &AcceptanceStub::End, request);
  tell(session, run, {});
  return exit_of(run);
}

Exit show_acceptances(const Session& session, bool running, const std::string& host) {
  v1::ListAcceptancesRequest request;
  request.set_running(running);
  request.set_host(host);
  const auto all = session.client.all_pages(session.client.acceptance, &AcceptanceStub::List, request);
  if (session.json) {
    session.out << json_text(all, false) << '\n';
    return Exit::kGood;
  }
  if (all.acceptances().empty()) {
    session.out << "No acceptances" << where_asked(all) << ".\n";
    return Exit::kGood;
  }
  std::vector<Column> columns{"ID", judged("VERDICT"), story("TARGETS"), whole("STARTED"), spare("BY"), story("STATE")};
  const bool shards = has_shards(all.acceptances());
  if (shards) columns.insert(columns.begin() + 3, "SHARD");
  Table table(columns);
  for (const v1::Acceptance& run : all.acceptances()) {
    std::vector<std::string> cells{
        run.id(), verdict_text(run.verdict()), run.what(), time_text(run.started()), run.who(), state_text(run)};
    if (shards) cells.insert(cells.begin() + 3, run.shard());
    table.add(std::move(cells));
  }
  table.print(session.sheet());
  return Exit::kGood;
}

}  // namespace weft::ctl
