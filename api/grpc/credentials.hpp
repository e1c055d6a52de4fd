// SPDX-License-Identifier: Apache-2.0
#pragma once
// The door of the gRPC server: TLS with certificates that change while it serves, and one look at every call before any
// service sees it, those of gRPC itself included.

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <optional>

#include "api/access/gate.hpp"
#include "api/access/tls.hpp"

namespace weft::api {

/// `tls`: null for plain text. Both must outlive the server, and so must what is returned. `role`: what accounts of
/// this host may do that come here; none: callers show who they are.
std::shared_ptr<grpc::ServerCredentials> guarded_credentials(access::Gate& gate, const access::TlsKeys* tls,
                                                             std::optional<access::Role> role = std::nullopt);

/// While it lives, handshakes that fail are told to the gate: gRPC says so to its log alone, without an address. One at
/// a time in a process.
class HandshakeWatch {
 public:
  explicit HandshakeWatch(access::Gate& gate);
  ~HandshakeWatch();
  HandshakeWatch(const HandshakeWatch&) = delete;
  HandshakeWatch& operator=(const HandshakeWatch&) = delete;
};

}  // namespace weft::api
