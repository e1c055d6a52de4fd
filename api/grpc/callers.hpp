// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who makes a call, once it was let in.

#include <grpcpp/server_context.h>

#include <string>

#include "api/access/gate.hpp"

namespace weft::api {

/// Of one server. May be used from any thread.
class Callers {
 public:
  /// `gate` must outlive it.
  explicit Callers(const access::Gate& gate) : gate_(gate) {}

  /// Who makes the call; anybody() when callers need not identify themselves.
  access::Principal principal(const grpc::CallbackServerContext& context) const;
  /// The name for the record: the principal's; where nobody is known, the one that the request claims, at most 256
  /// bytes of it, or the caller's address.
  std::string who(const std::string& claims, const grpc::CallbackServerContext& context) const;

 private:
  const access::Gate& gate_;
};

}  // namespace weft::api
