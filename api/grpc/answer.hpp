// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results as the ends of calls.

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <utility>

#include "api/convert/errors.hpp"
#include "fabric/result.hpp"

namespace weft::api {

/// The gRPC status of an error, with its message and its details.
inline grpc::Status to_status(const Error& error) {
  return {static_cast<grpc::StatusCode>(grpc_code(error.code)), error.message, error_details(error)};
}

/// Ends a unary call at once.
template <typename Response>
grpc::ServerUnaryReactor* answer(grpc::CallbackServerContext* context, Result<Response> result, Response* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (result) {
    *response = std::move(*result);
    reactor->Finish(grpc::Status::OK);
  } else {
    reactor->Finish(to_status(result.error()));
  }
  return reactor;
}

}  // namespace weft::api
