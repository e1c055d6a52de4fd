// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "daemon/programs/weftctl/runbooks.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/incident.hpp"

namespace weft::ctl {
namespace {

bool is_same_name(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, small, small);
}

const Runbook* find_runbook(std::string_view name) {
  const auto found = std::ranges::find_if(runbooks(), [&](const Runbook& one) { return is_same_name(one.name, name); });
  return found == runbooks().end() ? nullptr : &*found;
}

/// The name of the kind of that incident.
std::string kind_of_incident(const Session& session, std::uint64_t id) {
  v1::GetIncidentRequest request;
  request.set_id(incident_name(id));
  const auto incident = session.client.call(session.client.incidents, &v1::IncidentService::Stub::Get, request);
  return v1::Incident::Kind_Name(incident.kind());
}

/// Its commands with that incident, ready to be copied.
std::string text_for(const Runbook& runbook, const std::string& incident) {
  constexpr std::string_view kBlank = "INC-…";
  std::string text(runbook.text);
  for (auto at = text.find(kBlank); at != std::string::npos; at = text.find(kBlank, at + incident.size()))
    text.replace(at, kBlank.size(), incident);
  return text;
}

/// As it stands; on a terminal that takes colours what is strong in it is bold.
void print_text(const Session& session, std::string_view text) {
  bool is_bold = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (session.colour && text.substr(at).starts_with("**")) {
      is_bold = !is_bold;
      session.out << (is_bold ? "\x1b[1m" : "\x1b[0m");
      ++at;
      continue;
    }
    session.out << text[at];
  }
  if (is_bold) session.out << "\x1b[0m";
}

}  // namespace

Exit show_runbook(const Session& session, const std::string& what) {
  if (what.empty()) {
    std::vector<std::string> names;
    for (const Runbook& one : runbooks()) names.emplace_back(one.name);
    if (session.json) {
      session.out << list_text(names, true);
      return Exit::kGood;
    }
    Table table({"NAME", story("TITLE")});
    for (const Runbook& one : runbooks()) table.add({std::string(one.name), std::string(one.title())});
    table.print(session.sheet());
    return Exit::kGood;
  }
  const auto incident = parse_incident_name(what);
  const std::string kind = incident ? kind_of_incident(session, *incident) : "";
  const Runbook* found = find_runbook(kind.empty() ? what : kind);
  if (found == nullptr)
    throw Failure(Exit::kBadNews, kind.empty() ? "no runbook is named " + what + ": weftctl runbook lists them"
                                               : "this weftctl has no runbook of " + kind +
                                                     ": it is older than weftd, which serves it");
  print_text(session, incident ? text_for(*found, incident_name(*incident)) : std::string(found->text));
  return Exit::kGood;
}

}  // namespace weft::ctl
