// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "daemon/platform/runtime/durable_file.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/result.hpp"

namespace weft::ctl {
namespace {

/// weftd makes so many in one call.
constexpr std::size_t kMostAtOnce = 1'000;

void add_names(std::vector<std::string>& nodes, std::istream& lines) {
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos) nodes.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
}

std::vector<std::string> all_nodes(const EnrollWanted& wanted) {
  std::vector<std::string> nodes = wanted.nodes;
  if (wanted.file == "-") {
    add_names(nodes, std::cin);
  } else if (!wanted.file.empty()) {
    errno = 0;
    std::ifstream file(wanted.file);
    add_names(nodes, file);
    if (!file.is_open() || file.bad())
      throw Failure(Exit::kWrongUsage, "cannot read " + wanted.file + ": " + errno_message(errno));
  }
  if (nodes.empty()) throw Failure(Exit::kWrongUsage, "no node is named in " + wanted.file);
  return nodes;
}

/// Before tokens are made that could not be kept.
void prepare_folder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    throw Failure(Exit::kWrongUsage, folder + " is not a directory: make it first, with mode 0700");
}

void print_tokens(const Session& session, const v1::ListEnrollTokensResponse& answer) {
  if (session.json) {
    session.out << json_text(answer, false) << '\n';
    return;
  }
  if (answer.tokens().empty()) {
    session.out << "No tokens.\n";
    return;
  }
  Table table({"NODE", "STATE", "UNTIL", spare("MADE"), spare("BY")});
  for (const v1::EnrollToken& token : answer.tokens())
    table.add({token.node(), token.has_used() ? "used " + time_text(token.used()) : "unused",
               time_text(token.expires()), time_text(token.made()), token.made_by()});
  table.print(session.sheet());
}

}  // namespace

Exit make_enroll_tokens(const Session& session, const EnrollWanted& wanted) {
  const std::vector<std::string> nodes = all_nodes(wanted);
  if (!wanted.folder.empty()) prepare_folder(wanted.folder);
  v1::MakeEnrollTokensResponse all;
  for (std::size_t from = 0; from < nodes.size(); from += kMostAtOnce) {
    v1::MakeEnrollTokensRequest request;
    for (std::size_t i = from; i < std::min(from + kMostAtOnce, nodes.size()); ++i) request.add_nodes(nodes[i]);
    if (wanted.validity)
      request.mutable_validity()->set_seconds(std::chrono::ceil<std::chrono::seconds>(*wanted.validity).count());
    request.set_who(wanted.who);
    all.MergeFrom(session.client.change(session.client.enroll, &v1::EnrollService::Stub::MakeTokens, request));
  }
  for (const auto& token : all.tokens()) {
    if (wanted.folder.empty()) continue;
    const std::filesystem::path file = std::filesystem::path(wanted.folder) / (token.node() + ".token");
    if (const auto written = runtime::replace_durably(file, token.token() + '\n'); !written)
      throw Failure(Exit::kBadNews, written.error().message);
  }
  if (session.json) {
    session.out << json_text(all, false) << '\n';
    return Exit::kGood;
  }
  if (wanted.folder.empty())
    for (const auto& token : all.tokens()) session.out << token.token() << '\n';
  else
    session.out << all.tokens_size() << " tokens in " << wanted.folder << '\n';
  // Not into a file that the tokens go to.
  std::cerr << "Each counts once, for the node that it names, until " << time_text(all.tokens(0).expires())
            << ". On the node: /etc/weft/collector/enroll.token, mode 0600 (guide: security.md).\n";
  return Exit::kGood;
}

Exit show_enroll_tokens(const Session& session) {
  print_tokens(session, session.client.call(session.client.enroll, &v1::EnrollService::Stub::ListTokens,
                                            v1::ListEnrollTokensRequest()));
  return Exit::kGood;
}

Exit revoke_enroll_tokens(const Session& session, const EnrollWanted& wanted) {
  v1::RevokeEnrollTokensRequest request;
  for (const std::string& node : all_nodes(wanted)) request.add_nodes(node);
  request.set_who(wanted.who);
  print_tokens(session, session.client.change(session.client.enroll, &v1::EnrollService::Stub::RevokeTokens, request));
  return Exit::kGood;
}

}  // namespace weft::ctl
