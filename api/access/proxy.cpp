// SPDX-License-Identifier: Apache-2.0
#include "api/access/proxy.hpp"

#include <algorithm>
#include <array>

#include "api/access/identity.hpp"
#include "api/access/letters.hpp"

namespace weft::api::access {
namespace {

constexpr std::size_t kLongestUser = 128;
constexpr std::size_t kLongestGroup = 255;
constexpr std::size_t kLongestGroups = 8192;
constexpr std::size_t kLongestHeader = 64;
constexpr std::size_t kShortestSecret = 32;
constexpr std::size_t kLongestSecret = 256;
/// Headers that weftd reads, or that every client may send.
constexpr std::array<std::string_view, 14> kOthers{"accept",
                                                   "accept-encoding",
                                                   "authorization",
                                                   "connection",
                                                   "content-length",
                                                   "content-type",
                                                   "cookie",
                                                   "host",
                                                   "if-none-match",
                                                   "origin",
                                                   "transfer-encoding",
                                                   "user-agent",
                                                   "x-forwarded-for",
                                                   kProxySecretHeader};

bool is_visible(char c) {
  return c > 0x20 && c < 0x7F;
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

/// In the audit trail a blank and a comma end a name.
bool is_good_user(std::string_view user) {
  return !user.empty() && user.size() <= kLongestUser &&
         std::ranges::all_of(user, [](char c) { return is_visible(c) && c != '"' && c != ','; });
}

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', '-');
  return text;
}

tl::unexpected<Error> refuse(std::string why) {
  return fail(ErrorCode::kUnauthenticated, std::move(why));
}

/// The value of that header; nullopt: it was not sent. Refused is one that is there twice, or by a name that another
/// program takes for the same.
Result<std::optional<std::string_view>> value_of(std::span<const HeaderField> fields, std::string_view name) {
  std::optional<std::string_view> value;
  for (const auto& [sent, text] : fields) {
    if (!same_letters(with_dashes(sent), name)) continue;
    if (!same_letters(sent, name)) return refuse(std::string(name) + " was sent with '_' for '-'");
    if (value) return refuse(std::string(name) + " was sent twice");
    value = text;
  }
  return value;
}

/// The name in the certificate of a proxy that this is; empty: it is none. A node may be called as a proxy is.
std::string_view proxy_of(const ProxyRules& rules, std::span<const std::string> certificate_names) {
  const auto is_node = [](const std::string& name) { return name.starts_with(kNodeUri); };
  if (std::ranges::any_of(certificate_names, is_node)) return {};
  for (const std::string& proxy : rules.certificates)
    for (const std::string& name : certificate_names)
      if (same_letters(proxy, name)) return proxy;
  return {};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

/// The role of one of these groups that may most, or of others.
std::optional<Role> role_in(const ProxyRules& rules, std::string_view groups) {
  std::optional<Role> most;
  while (!groups.empty()) {
    const std::string_view group = trimmed(groups.substr(0, groups.find(',')));
    groups.remove_prefix(std::min(groups.find(','), groups.size() - 1) + 1);
    for (const GroupRule& rule : rules.groups)
      if (rule.group == group && (!most || *most < rule.role)) most = rule.role;
  }
  return most ? most : rules.others;
}

}  // namespace

Result<GroupRule> parse_group_rule(std::string_view text) {
  const auto wrong = [text](const char* why) {
    return fail(ErrorCode::kInvalidArgument, '"' + std::string(text) + "\" " + why);
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return wrong("must be GROUP=ROLE");
  const auto role = parse_role(text.substr(equals + 1));
  if (!role) return tl::unexpected(role.error());
  if (*role == Role::kCollector) return wrong("must not have the role collector, which is no person's");
  const std::string_view group = text.substr(0, equals);
  if (group.empty() || group.size() > kLongestGroup || trimmed(group) != group ||
      std::ranges::any_of(group, [](char c) { return is_control(c) || c == ','; }))
    return wrong("must have a group of 1 to 255 characters, without commas and control characters");
  return GroupRule{std::string(group), *role};
}

Result<void> check_identity_header(std::string_view name) {
  const auto is_letter = [](char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > kLongestHeader ||
      !std::ranges::all_of(name, [&](char c) { return is_letter(c) || c == '-'; }))
    return fail(ErrorCode::kInvalidArgument, "must have 1 to 64 letters, digits and '-'");
  if (std::ranges::any_of(kOthers, [name](std::string_view other) { return same_letters(other, name); }))
    return fail(ErrorCode::kInvalidArgument, "cannot be " + std::string(name) + ", which means something else");
  return {};
}

Result<void> check_proxy_secret(std::string_view secret) {
  if (secret.size() >= kShortestSecret && secret.size() <= kLongestSecret && std::ranges::all_of(secret, is_visible))
    return {};
  return fail(ErrorCode::kInvalidArgument,
              "must hold 32 to 256 visible characters, without blanks: openssl rand -hex 32");
}

Result<ProxyWord> hear_proxy(const ProxyRules& rules, std::span<const HeaderField> fields,
                             std::span<const std::string> certificate_names, bool is_local) {
  const std::string_view certificate = proxy_of(rules, certificate_names);
  ProxyWord word{.is_proxy = !certificate.empty(), .user = std::nullopt};
  const auto user = value_of(fields, rules.user_header);
  if (!user) return tl::unexpected(user.error());
  const auto groups = value_of(fields, rules.groups_header);
  if (!groups) return tl::unexpected(groups.error());
  const auto secret = value_of(fields, kProxySecretHeader);
  if (!secret) return tl::unexpected(secret.error());
  if (*secret) {
    const bool is_right = rules.secret && same_hash(sha256(**secret), *rules.secret);
    if (!is_right || !is_local) return refuse("the secret of a proxy is wrong, or does not come from this machine");
    word.is_proxy = true;
  }
  if (!*user && !*groups) return word;
  if (!word.is_proxy)
    return refuse((*user ? rules.user_header : rules.groups_header) + " counts only from a proxy that is trusted");
  if (!*user) return refuse("a proxy named groups, and no user");
  if (!is_good_user(**user))
    return refuse("a proxy named a user who is not 1 to 128 visible characters, without blanks, commas and '\"'");
  const std::string_view listed = *groups ? **groups : std::string_view();
  if (listed.size() > kLongestGroups || std::ranges::any_of(listed, is_control))
    return refuse("a proxy named groups that are too long, or have control characters");
  const std::optional<Role> role = role_in(rules, listed);
  if (!role)
    return fail(ErrorCode::kPermissionDenied, "permission denied: no group of " + std::string(**user) + " has a role");
  const std::string by = certificate.empty() ? "a local proxy" : std::string(certificate);
  word.user = Principal{.name = std::string(**user) + " via " + by, .role = *role, .nodes = {}};
  return word;
}

}  // namespace weft::api::access
