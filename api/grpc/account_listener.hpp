// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Unix socket for accounts of this host. gRPC 1.51 does not report the account behind a Unix socket: so we accept,
// ask the kernel, and pass the bytes on over a pair of sockets, whose other end gRPC serves as a connection of its own.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "api/access/account.hpp"
#include "api/access/gate.hpp"
#include "api/grpc/account_table.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// The limits hold for accounts that may not act, so that these cannot lock out accounts that may.
struct AccountListenerOptions {
  std::filesystem::path socket;
  access::AccountRights rights;
  unsigned max_connections = 1024;
  unsigned max_connections_per_user = 64;
};

/// Accepts and passes on, on a thread of its own.
class AccountListener {
 public:
  /// Serves a connected, non-blocking socket, which it owns from then on, of an account with that role.
  using Serve = std::function<void(std::optional<access::Role> role, int socket)>;

  /// Makes the socket, open to all users, and its folder if only that is missing. A socket that nobody listens on is
  /// replaced. kUnavailable when somebody does, or it cannot be made; kInvalidArgument for a path that is too long or
  /// of a thing that is no socket. `table` and `gate`, which is told of connections that are too many, must outlive it.
  static Result<std::unique_ptr<AccountListener>> open(const AccountListenerOptions& options, AccountTable& table,
                                                       access::Gate& gate, Serve serve);
  /// Takes the socket away, closes all connections and joins.
  ~AccountListener();
  AccountListener(const AccountListener&) = delete;
  AccountListener& operator=(const AccountListener&) = delete;

 private:
  struct State;
  explicit AccountListener(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::api
