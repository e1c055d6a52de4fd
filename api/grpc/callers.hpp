// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who makes a call, once it was let in.

#include <grpcpp/server_context.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/access/gate.hpp"
#include "api/grpc/account_table.hpp"

namespace weft::api {

/// Adds what gRPC tells as `property` of a client's verified certificate, as access::certificate_names() has it.
void add_name(std::vector<std::string>& names, std::string_view property, std::string_view name);
/// The node of the enrolled certificate that the caller shows, and shows alone; empty: it shows none.
std::string enrolled_node(const grpc::CallbackServerContext& context);

/// Of one server. May be used from any thread.
class Callers {
 public:
  /// `gate` and `accounts` must outlive it. `accounts`: null where there is no Unix socket.
  explicit Callers(const access::Gate& gate, const AccountTable* accounts = nullptr)
      : gate_(gate), accounts_(accounts) {}

  /// Who makes the call; anybody() when callers need not identify themselves. May wait for the account database.
  access::Principal principal(const grpc::CallbackServerContext& context) const;
  /// The name for the record, as who_asks(): the principal's, and beside it the one that the request claims.
  std::string who(const std::string& claims, const grpc::CallbackServerContext& context) const;

 private:
  const access::Gate& gate_;
  const AccountTable* accounts_;
};

}  // namespace weft::api
