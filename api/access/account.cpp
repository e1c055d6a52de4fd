// SPDX-License-Identifier: Apache-2.0
#include "api/access/account.hpp"

#include <pwd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59  // asm-generic/socket.h
#endif

namespace weft::api::access {
namespace {

constexpr socklen_t kMostGroups = 65'536;  // NGROUPS_MAX of linux/limits.h
constexpr std::size_t kMostOfPasswd = 64UL * 1024;

}  // namespace

Result<Account> account_behind(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return fail(ErrorCode::kUnavailable, "SO_PEERCRED: " + errno_message(errno));
  Account account{peer.uid, {}};
  // With too little room the kernel says how much it takes.
  length = 0;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &length) != 0 && errno != ERANGE)
    return fail(ErrorCode::kUnavailable, "SO_PEERGROUPS: " + errno_message(errno));
  account.groups.resize(std::min<std::size_t>(length / sizeof(gid_t), kMostGroups));
  length = static_cast<socklen_t>(account.groups.size() * sizeof(gid_t));
  if (length > 0 && ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, account.groups.data(), &length) != 0)
    return fail(ErrorCode::kUnavailable, "SO_PEERGROUPS: " + errno_message(errno));
  account.groups.push_back(peer.gid);
  return account;
}

std::optional<Role> role_of(const Account& account, const AccountRights& rights) {
  if (std::ranges::find(rights.admins, account.user) != rights.admins.end()) return Role::kAdmin;
  if (rights.operators && std::ranges::find(account.groups, *rights.operators) != account.groups.end())
    return Role::kOperator;
  return std::nullopt;
}

std::string account_name(uid_t user) {
  const std::string number = "uid " + std::to_string(user);
  std::string space(kMostOfPasswd, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, space.data(), space.size(), &found) != 0 || found == nullptr) return number;
  return std::string(found->pw_name) + " (" + number + ')';
}

}  // namespace weft::api::access
