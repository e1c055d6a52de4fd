// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which account is behind a connection that came over the Unix socket.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "api/access/account.hpp"

namespace weft::api {

/// Connections of accounts that may act, by names that are given once and never again. May be used from any thread.
class AccountTable {
 public:
  /// What a call learns of its caller.
  struct Entry {
    uid_t user = 0;
    access::Role role = access::Role::kViewer;
  };

  /// Draws the first part of all names at random.
  AccountTable();
  /// A new name: that of an abstract Unix socket, without its leading NUL (unix(7)).
  std::string add(Entry entry);
  /// The connection has ended. Calls that it left behind find the entry still, while fewer than 1024 ended after it.
  void end(const std::string& name);
  /// By the caller's address as gRPC tells it, "unix-abstract:NAME"; nullopt for all other addresses.
  std::optional<Entry> find(const std::string& peer) const;

 private:
  const std::string front_;
  mutable std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::map<std::string, Entry> entries_;
  std::deque<std::string> ended_;  ///< the oldest first
};

}  // namespace weft::api
