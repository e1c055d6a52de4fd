// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may do what: roles, the one table of rights, and the question itself. gRPC, JSON and the page all ask here.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft::api::access {

/// viewer < operator < admin: each may what those before it may. A collector may speak for its own node, nothing else.
enum class Role : std::uint8_t { kViewer, kOperator, kAdmin, kCollector };
/// "viewer", "operator", "admin", "collector".
std::string_view to_string(Role role);
/// The role of that name; kInvalidArgument, with the names there are.
Result<Role> parse_role(std::string_view name);

/// Whoever asks, once it is known who it is.
struct Principal {
  std::string name;  ///< for the record; empty: nobody said
  Role role = Role::kViewer;
  std::vector<std::string> nodes;  ///< of a collector: what its own node may be called
  /// There is no [security]: whoever reaches us may report for any node.
  bool is_anybody = false;

  bool operator==(const Principal&) const = default;
};
/// Whoever reaches a daemon without [security]: reads, and reports for any node.
Principal anybody();

/// What a call asks of its caller.
enum class Right : std::uint8_t {
  kNone,      ///< anybody, also who does not say who he is: probes
  kViewer,    ///< reads
  kOperator,  ///< acts on incidents, plans, links and hosts
  kAdmin,     ///< takes back what protects the fabric from ourselves
  kCollector  ///< tells what a node sees
};

/// One line of the table.
struct Permission {
  std::string_view method;  ///< "/weft.v1.RemedyService/ApprovePlan", or a route: "POST /api/v1/plans/{id}/approve"
  Right right = Right::kAdmin;
  std::string_view parameters{};  ///< what the query may have, with blanks between; see check_parameters()
};

/// Every gRPC method that is served. What does not stand there is served to nobody.
std::span<const Permission> grpc_permissions();
/// Every HTTP route that is served. "{id}" stands for one segment of the path, "{node...}" for one or more. GET means
/// HEAD too.
std::span<const Permission> http_permissions();

/// The line of that gRPC method (":path"); null when there is none.
const Permission* find_method(std::string_view method);
/// The line of the route that serves this; null when there is none. `path` are decoded segments.
const Permission* find_route(std::string_view method, const std::vector<std::string>& path);
/// kInvalidArgument, with the parameters there are, for one of the query that the route does not have: who writes
/// "?shrad=" must not get the answer to another question. Paths outside /api that have none may have any.
Result<void> check_parameters(const Permission& route, const std::map<std::string, std::string>& query);
/// The methods that are served at a path: "GET, HEAD"; empty when there is nothing at it.
std::string methods_of(const std::vector<std::string>& path);

/// May he? kPermissionDenied, with what it takes, when not.
Result<void> authorize(const Permission& permission, const Principal& principal);
/// May he tell what the node `host` sees? kPermissionDenied when it is another one's.
Result<void> authorize_node(const Principal& principal, std::string_view host);

}  // namespace weft::api::access
