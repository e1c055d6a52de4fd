// SPDX-License-Identifier: Apache-2.0
#pragma once
// The methods of gRPC's stubs, as ShardPeers::ask() wants them.

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <utility>

namespace weft::api {

/// The calls of a service that return at once.
template <typename Service>
using Calls = typename Service::StubInterface::async_interface;

/// Starts a call of one method: `rpc(&Calls<v1::FabricService>::ListNodes)`.
template <typename Interface, typename Request, typename Response>
auto rpc(void (Interface::*method)(grpc::ClientContext*, const Request*, Response*,
                                   std::function<void(grpc::Status)>)) {
  return [method](auto& stub, grpc::ClientContext* context, const Request* asked, Response* response,
                  std::function<void(grpc::Status)> ended) {
    (stub.async()->*method)(context, asked, response, std::move(ended));
  };
}

}  // namespace weft::api
