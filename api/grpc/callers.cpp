// SPDX-License-Identifier: Apache-2.0
#include "api/grpc/callers.hpp"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <vector>

#include "api/convert/commands.hpp"

namespace weft::api {

void add_name(std::vector<std::string>& names, std::string_view property, std::string_view name) {
  const bool is_uri = property == GRPC_PEER_URI_PROPERTY_NAME;
  if (name.starts_with(access::kNodeUri) == is_uri) names.emplace_back(name);
}

std::string enrolled_node(const grpc::CallbackServerContext& context) {
  const auto auth = context.auth_context();
  if (!auth || !auth->IsPeerAuthenticated() || context.client_metadata().contains("authorization")) return {};
  for (const grpc::string_ref& name : auth->FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME))
    if (std::string_view(name.data(), name.size()).starts_with(access::kNodeUri))
      return std::string(name.data(), name.size()).substr(access::kNodeUri.size());
  return {};
}

access::Principal Callers::principal(const grpc::CallbackServerContext& context) const {
  std::vector<std::string> names;
  if (const auto auth = context.auth_context())
    for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME, GRPC_PEER_URI_PROPERTY_NAME})
      for (const grpc::string_ref& name : auth->FindPropertyValues(property))
        add_name(names, property, {name.data(), name.size()});
  const auto token = context.client_metadata().find("authorization");
  const std::string authorization = token == context.client_metadata().end()
                                        ? std::string()
                                        : std::string(token->second.data(), token->second.size());
  const auto account = accounts_ != nullptr ? accounts_->find(context.peer()) : std::nullopt;
  access::Principal known;
  if (account) {
    known.name = access::account_name(account->user);
    known.role = account->role;
  }
  return gate_.who({authorization, names, {}, account ? &known : nullptr});
}

std::string Callers::who(const std::string& claims, const grpc::CallbackServerContext& context) const {
  std::string known = principal(context).name;
  // What was let in has a name, unless the connection ended so long ago that it is forgotten. A claim never stands
  // alone.
  if (known.empty() && !gate_.is_open()) known = "an account of this host";
  return who_asks(known, claims, context.peer());
}

}  // namespace weft::api
