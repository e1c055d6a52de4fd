// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a target is connected to, what it is shown, and what its failures mean: the same whether it is read or set.

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/programs/switches/target_list.hpp"
#include "fabric/result.hpp"

namespace weft::switches {

/// A channel that connects when it is used, and what each call on it shows.
struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  /// Names in lower case and values; empty: there is no login.
  std::vector<std::pair<std::string, std::string>> login;
};

/// Reads the target's credentials. Fails as read_credentials(); kInvalidArgument for certificates without TLS.
/// `max_message`: bytes of one message of it.
Result<Connection> connect(const TargetLine& line, const std::filesystem::path& credentials_directory,
                           std::uint64_t max_message);

/// It does not let us in.
bool is_of_login(grpc::StatusCode code);
/// A text of a peer, for a page, a log and a terminal.
std::string plain(const std::string& text);
/// What went wrong with a call, for people.
std::string told_reason(const grpc::Status& status, const TargetLine& line, std::uint64_t max_message);

}  // namespace weft::switches
