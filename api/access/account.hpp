// SPDX-License-Identifier: Apache-2.0
#pragma once
// Accounts of this host: who connected to a Unix socket of ours, and what he may do.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "api/access/access.hpp"
#include "fabric/result.hpp"

namespace weft::api::access {

/// An account as the kernel knows a process of it.
struct Account {
  uid_t user = 0;             ///< the effective one
  std::vector<gid_t> groups;  ///< the effective one and the supplementary ones
};

/// Which accounts may act. The others have no role here.
struct AccountRights {
  std::vector<uid_t> admins{0};    ///< root, and the user that weftd runs as
  std::optional<gid_t> operators;  ///< the group whose members are operators; none: there is none
};

/// Who was at the other end of a connected Unix socket when it connected (unix(7), SO_PEERCRED; SO_PEERGROUPS, Linux
/// 4.13). kUnavailable with the system's words.
Result<Account> account_behind(int socket);
/// kAdmin, kOperator, or nullopt for an account that may not act.
std::optional<Role> role_of(const Account& account, const AccountRights& rights);
/// "root (uid 0)"; "uid 1234" where the account database gives no name. May wait for that database.
std::string account_name(uid_t user);

}  // namespace weft::api::access
