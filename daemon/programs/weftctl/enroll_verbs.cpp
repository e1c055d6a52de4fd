// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <system_error>

#include "daemon/platform/runtime/durable_file.hpp"
#include "daemon/platform/runtime/unique_fd.hpp"
#include "daemon/programs/weftctl/names.hpp"
#include "daemon/programs/weftctl/table.hpp"
#include "daemon/programs/weftctl/value_format.hpp"
#include "daemon/programs/weftctl/verbs.hpp"
#include "fabric/result.hpp"

namespace weft::ctl {
namespace {

/// What weftd may take for one of many tokens on a busy machine (2 ms of a processor under a sanitizer).
constexpr std::chrono::milliseconds kForEachToken{20};

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

/// A file for the token of each node. Room for all of them is taken before a token is made, because a new token ends
/// the one before: what cannot be kept must not be made. What is not written in the end is removed.
class TokenFiles {
 public:
  TokenFiles(const std::string& folder, const std::vector<std::string>& nodes) : folder_(folder) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder_, error))
      throw Failure(Exit::kWrongUsage, folder + " is not a directory: make it first, with mode 0700");
    // weftd looks at names, too, but after this.
    for (const std::string& node : nodes)
      if (node.find('/') != std::string::npos || node.size() > kLongestName)
        throw Failure(Exit::kWrongUsage, printable(node.substr(0, kLongestName)) + " is not the name of a node");
    for (const std::string& node : nodes) take_room(node);
  }
  ~TokenFiles() { remove_room(); }
  TokenFiles(const TokenFiles&) = delete;
  TokenFiles& operator=(const TokenFiles&) = delete;

  void write(const v1::MakeEnrollTokensResponse::Token& token) {
    if (const auto written = runtime::replace_durably(file_of(token.node()), token.token() + '\n'); !written)
      throw Failure(Exit::kBadNews, written.error().message + "; it and those after it are to be made again");
    left_.erase(token.node());
  }

 private:
  std::filesystem::path file_of(const std::string& node) const { return folder_ / (node + ".token"); }

  void take_room(const std::string& node) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file_of(node), ignored)) {
      remove_room();
      throw Failure(Exit::kBadNews, "no token was made: " + file_of(node).string() + " is a directory");
    }
    // The file beside it from which replace_durably() takes its content.
    const std::string fresh = file_of(node).string() + ".new";
    std::filesystem::remove(fresh, ignored);
    const std::string room(kRoom, ' ');
    const runtime::UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd) left_.insert(node);
    if (fd && ::write(fd.get(), room.data(), room.size()) == static_cast<ssize_t>(room.size())) return;
    const std::string why = errno_message(errno);
    remove_room();
    throw Failure(Exit::kBadNews, "no token was made: cannot write " + file_of(node).string() + ": " + why);
  }
  void remove_room() {
    std::error_code ignored;
    for (const std::string& node : left_) std::filesystem::remove(file_of(node).string() + ".new", ignored);
  }

  static constexpr std::size_t kRoom = 8192;  ///< bytes; a token is shorter, with an authority's certificate in it
  static constexpr std::size_t kLongestName = 64;
  const std::filesystem::path folder_;
  std::set<std::string> left_;  ///< nodes whose files are not written yet
};

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
  std::optional<TokenFiles> files;
  if (!wanted.folder.empty()) files.emplace(wanted.folder, nodes);
  v1::MakeEnrollTokensRequest request;
  for (const std::string& node : nodes) request.add_nodes(node);
  if (wanted.validity)
    request.mutable_validity()->set_seconds(std::chrono::ceil<std::chrono::seconds>(*wanted.validity).count());
  request.set_who(wanted.who);
  // In one call: all of them, or none. A new token ends the one before, so an answer that comes too late is a loss.
  session.client.patience +=
      std::chrono::ceil<std::chrono::seconds>(kForEachToken * static_cast<std::int64_t>(nodes.size()));
  const auto all = session.client.change(session.client.enroll, &v1::EnrollService::Stub::MakeTokens, request);
  if (files)
    for (const auto& token : all.tokens()) files->write(token);
  if (session.json) {
    session.out << json_text(all, false) << '\n';
    return Exit::kGood;
  }
  if (wanted.folder.empty())
    for (const auto& token : all.tokens()) session.out << token.token() << '\n';
  else
    session.out << all.tokens_size() << (all.tokens_size() == 1 ? " token in " : " tokens in ") << wanted.folder
                << '\n';
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
