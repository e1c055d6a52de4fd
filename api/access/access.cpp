// SPDX-License-Identifier: Apache-2.0
#include "api/access/access.hpp"

#include <algorithm>
#include <array>

namespace weft::api::access {
namespace {

constexpr std::array<std::string_view, 4> kRoles{"viewer", "operator", "admin", "collector"};

std::string_view take_segment(std::string_view& pattern) {
  pattern.remove_prefix(std::min(pattern.find_first_not_of('/'), pattern.size()));
  const std::string_view segment = pattern.substr(0, pattern.find('/'));
  pattern.remove_prefix(segment.size());
  return segment;
}

/// "/api/v1/nodes/{node...}/health"; at most one "..." in a pattern.
bool matches(std::string_view pattern, std::span<const std::string> path) {
  std::vector<std::string_view> segments;
  while (true) {
    const std::string_view segment = take_segment(pattern);
    if (segment.empty()) break;
    segments.push_back(segment);
  }
  const auto many = std::ranges::find_if(segments, [](std::string_view segment) { return segment.ends_with("...}"); });
  if (many == segments.end() ? path.size() != segments.size() : path.size() < segments.size()) return false;
  const auto front = static_cast<std::size_t>(many - segments.begin());
  const auto same = [](std::string_view wanted, const std::string& is) {
    return wanted.starts_with('{') ? !is.empty() : wanted == is;
  };
  for (std::size_t i = 0; i < front; ++i)
    if (!same(segments[i], path[i])) return false;
  for (std::size_t i = 1; front + i < segments.size(); ++i)
    if (!same(segments[segments.size() - i], path[path.size() - i])) return false;
  return true;
}

std::string_view method_of(const Permission& route) {
  return route.method.substr(0, route.method.find(' '));
}
std::string_view pattern_of(const Permission& route) {
  return route.method.substr(route.method.find(' ') + 1);
}

int rank(Role role) {
  return role == Role::kViewer ? 1 : role == Role::kOperator ? 2 : role == Role::kAdmin ? 3 : 0;
}

std::string shown(const Principal& principal) {
  return principal.name + " (" + std::string(to_string(principal.role)) + ')';
}

}  // namespace

std::string_view to_string(Role role) {
  return kRoles.at(static_cast<std::size_t>(role));
}

Result<Role> parse_role(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name);
  if (found == kRoles.end())
    return fail(ErrorCode::kInvalidArgument,
                '"' + std::string(name) + "\" is not a role; use viewer, operator, admin, collector");
  return static_cast<Role>(found - kRoles.begin());
}

Principal anybody() {
  Principal principal;
  principal.role = Role::kViewer;
  principal.is_anybody = true;
  return principal;
}

const Permission* find_method(std::string_view method) {
  const auto found = std::ranges::find(grpc_permissions(), method, &Permission::method);
  return found == grpc_permissions().end() ? nullptr : &*found;
}

const Permission* find_route(std::string_view method, const std::vector<std::string>& path) {
  if (method == "HEAD") method = "GET";
  const auto found = std::ranges::find_if(http_permissions(), [&](const Permission& route) {
    return method_of(route) == method && matches(pattern_of(route), path);
  });
  return found == http_permissions().end() ? nullptr : &*found;
}

Result<void> check_parameters(const Permission& route, const std::map<std::string, std::string>& query) {
  if (route.parameters.empty() && !pattern_of(route).starts_with("/api/")) return {};
  const auto has = [&route](const std::string& name) {
    for (std::string_view rest = route.parameters; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == name) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
  };
  const auto wrong = std::ranges::find_if_not(query, [&](const auto& each) { return has(each.first); });
  if (wrong == query.end()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "there is no parameter \"" + wrong->first + "\" here; " +
                  (route.parameters.empty() ? "there is none" : "there are: " + std::string(route.parameters)));
}

std::string methods_of(const std::vector<std::string>& path) {
  std::string methods;
  for (const std::string_view method : {"GET", "POST"})
    if (find_route(method, path) != nullptr)
      methods += (methods.empty() ? "" : ", ") + std::string(method) + (method == "GET" ? ", HEAD" : "");
  return methods;
}

Result<void> authorize(const Permission& permission, const Principal& principal) {
  const auto denied = [&](std::string_view wanted) {
    if (principal.name.empty())
      return fail(
          ErrorCode::kPermissionDenied,
          "only reading is allowed: you have no right to act here. On weftd's host: use sudo weftctl, without "
          "--server or WEFT_SERVER, or have the group that security.operator_group of weftd.toml names given to your "
          "account (usermod -aG GROUP USER, then log in again). From elsewhere: use a token (weftctl --token-file). "
          "See the guide, security.md");
    return fail(ErrorCode::kPermissionDenied,
                shown(principal) + " has no permission for this; it needs " + std::string(wanted));
  };
  switch (permission.right) {
    case Right::kNone:
      break;
    case Right::kViewer:
      if (rank(principal.role) < rank(Role::kViewer)) return denied("a viewer");
      break;
    case Right::kOperator:
      if (rank(principal.role) < rank(Role::kOperator)) return denied("an operator");
      break;
    case Right::kAdmin:
      if (rank(principal.role) < rank(Role::kAdmin)) return denied("an admin");
      break;
    case Right::kCollector:
      if (principal.role != Role::kCollector && !principal.is_anybody) return denied("a collector");
      break;
  }
  return {};
}

Result<void> authorize_node(const Principal& principal, std::string_view host) {
  if (principal.is_anybody) return {};
  if (principal.role == Role::kCollector && std::ranges::find(principal.nodes, host) != principal.nodes.end())
    return {};
  return fail(ErrorCode::kPermissionDenied, shown(principal) + " may not report for the node " + std::string(host));
}

}  // namespace weft::api::access
