// SPDX-License-Identifier: Apache-2.0
#include "api/access/identity.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>

#include "api/access/letters.hpp"

namespace weft::api::access {
namespace {

constexpr std::size_t kMostTokens = 100'000;
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestToken = 4096;

bool is_good_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7F && c != '"' && c != '='; });
}

/// Fit for a line of a log.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string_view take_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<Sha256> parse_hash(std::string_view text) {
  Sha256 hash{};
  if (text.size() != 2 * hash.size()) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const begin = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, hash[i], 16);
    if (error != std::errc{} || end != begin + 2) return std::nullopt;
  }
  return hash;
}

/// "2027-01-31T12:00:00Z" (RFC 3339, of which only UTC and whole seconds).
std::optional<TimePoint> parse_time(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i)
    if (kShape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kShape[i]) return std::nullopt;
  const auto number = [text](std::size_t begin, std::size_t length) {
    int value = 0;
    for (const char c : text.substr(begin, length)) value = 10 * value + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  // A TimePoint counts nanoseconds in 64 bits, which ends in 2262.
  if (!date.ok() || number(0, 4) < 1970 || number(0, 4) > 2200) return std::nullopt;
  if (number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) return std::nullopt;
  return TimePoint(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(number(11, 2)) +
                   std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)));
}

Result<Token> parse_line(std::string_view line) {
  const auto wrong = [](std::string why) { return fail(ErrorCode::kInvalidArgument, std::move(why)); };
  Token token;
  const std::string_view name = take_word(line);
  if (!is_good_name(name)) return wrong("a name must have 1 to 255 printable characters, without blanks, '=' and '\"'");
  token.name = name;
  const auto role = parse_role(take_word(line));
  if (!role) return tl::unexpected(role.error());
  token.role = *role;
  const auto hash = parse_hash(take_word(line));
  if (!hash) return wrong("the third field must be the token's SHA-256: 64 hexadecimal digits");
  token.hash = *hash;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const std::string_view key = word.substr(0, word.find('='));
    const std::string_view value = key.size() < word.size() ? word.substr(key.size() + 1) : std::string_view();
    if (key == "node" && token.node.empty() && is_good_name(value)) {
      token.node = value;
    } else if (key == "expires" && !token.expires) {
      token.expires = parse_time(value);
      if (!token.expires) return wrong("expires must be like 2027-01-31T12:00:00Z");
    } else {
      return wrong("\"" + std::string(word) + "\" must be node=NAME or expires=TIME");
    }
  }
  if (token.role == Role::kCollector && token.node.empty())
    return wrong("a collector's token needs its node: node=NAME");
  if (token.role != Role::kCollector && !token.node.empty())
    return wrong("only a collector's token may have node=NAME");
  return token;
}

std::string_view first_label(std::string_view name) {
  return name.substr(0, name.find('.'));
}

/// The node of a certificate that was enrolled; empty: it was not.
std::string_view enrolled_node(std::span<const std::string> names) {
  for (const std::string& name : names)
    if (name.starts_with(kNodeUri)) return std::string_view(name).substr(kNodeUri.size());
  return {};
}

Result<std::optional<Principal>> by_token(const Rules& rules, std::string_view authorization, TimePoint now) {
  constexpr std::string_view kScheme = "bearer ";
  const auto refuse = [](std::string why) { return fail(ErrorCode::kUnauthenticated, std::move(why)); };
  if (authorization.size() < kScheme.size() || !same_letters(authorization.substr(0, kScheme.size()), kScheme))
    return refuse("authorization must be \"Bearer\" and a token");
  const std::string_view presented = authorization.substr(kScheme.size());
  if (presented.empty() || presented.size() > kLongestToken) return refuse("unknown token");
  const Sha256 hash = sha256(presented);
  const Token* found = nullptr;
  for (const Token& token : rules.tokens)
    if (same_hash(token.hash, hash)) found = &token;
  if (found == nullptr) return refuse("unknown token");
  if (found->expires && now >= *found->expires) return refuse("the token of " + found->name + " has expired");
  Principal principal;
  principal.name = found->name;
  principal.role = found->role;
  if (!found->node.empty()) principal.nodes = {found->node};
  return std::optional(std::move(principal));
}

}  // namespace

Result<std::vector<Token>> parse_tokens(std::string_view text) {
  std::vector<Token> tokens;
  std::set<std::string> names;
  std::set<Sha256> hashes;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto wrong = [number](const std::string& why) {
      return fail(ErrorCode::kInvalidArgument, "line " + std::to_string(number) + ": " + why);
    };
    auto token = parse_line(line);
    if (!token) return wrong(token.error().message);
    if (!names.insert(token->name).second) return wrong("the name " + token->name + " is listed twice");
    if (!hashes.insert(token->hash).second)
      return wrong("the token of " + token->name + " is also another name's token");
    tokens.push_back(std::move(*token));
    if (tokens.size() > kMostTokens) return wrong("more than 100000 tokens");
  }
  return tokens;
}

Result<void> check_node_name(std::string_view name) {
  constexpr std::size_t kLongestNode = 64;
  const auto is_alphanumeric = [](char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z'); };
  const bool is_good =
      !name.empty() && name.size() <= kLongestNode && is_alphanumeric(name.front()) &&
      std::ranges::all_of(name, [&](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '_'; });
  if (is_good) return {};
  return fail(ErrorCode::kInvalidArgument,
              "a node's name must have 1 to 64 letters, digits, '.', '-' and '_', the first a letter or digit");
}

Result<CertificateRule> parse_certificate_rule(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument, '"' + std::string(text) + "\" must be NAME=ROLE");
  const auto role = parse_role(text.substr(equals + 1));
  if (!role) return tl::unexpected(role.error());
  const std::string_view pattern = text.substr(0, equals);
  if (pattern.empty() || pattern.size() > kLongestName || std::ranges::count(pattern, '*') > 1)
    return fail(ErrorCode::kInvalidArgument, '"' + std::string(text) + "\" must have a name, with at most one '*'");
  return CertificateRule{std::string(pattern), *role};
}

bool matches(const CertificateRule& rule, std::string_view name) {
  const std::string_view pattern = rule.pattern;
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return same_letters(pattern, name);
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size()) return false;
  const std::string_view middle = name.substr(before.size(), name.size() - before.size() - after.size());
  return same_letters(name.substr(0, before.size()), before) &&
         same_letters(name.substr(name.size() - after.size()), after) && middle.find('.') == std::string_view::npos;
}

Result<std::optional<Principal>> identify(const Rules& rules, const Shown& shown, TimePoint now) {
  ProxyWord word;
  if (rules.proxies.is_set()) {
    auto heard = hear_proxy(rules.proxies, shown.fields, shown.certificate_names, shown.is_local);
    if (!heard) return tl::unexpected(heard.error());
    word = std::move(*heard);
  }
  if (!shown.authorization.empty()) return by_token(rules, shown.authorization, now);
  if (word.is_proxy) return std::move(word.user);
  if (shown.account != nullptr) return std::optional(*shown.account);
  const std::string_view node = enrolled_node(shown.certificate_names);
  if (rules.enrolls && check_node_name(node)) {
    Principal principal;
    principal.name = node;
    principal.role = Role::kCollector;
    principal.nodes = {std::string(node)};
    return std::optional(std::move(principal));
  }
  for (const CertificateRule& rule : rules.certificates) {
    // A node may be called as an operator is.
    if (!node.empty() && rule.role != Role::kCollector) continue;
    Principal principal;
    principal.role = rule.role;
    for (const std::string& name : shown.certificate_names) {
      if (!is_plain(name) || name.starts_with(kNodeUri) || !matches(rule, name)) continue;
      if (principal.name.empty()) principal.name = name;
      if (rule.role != Role::kCollector) break;
      principal.nodes.push_back(name);
      if (first_label(name) != name) principal.nodes.emplace_back(first_label(name));
    }
    if (!principal.name.empty()) return std::optional(std::move(principal));
  }
  return std::optional<Principal>();
}

}  // namespace weft::api::access
