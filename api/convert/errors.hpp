// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table from our errors to gRPC's and HTTP's.

#include <grpc/status.h>

#include <string>

#include "fabric/result.hpp"

namespace weft::api {

/// The gRPC status that stands for `code`.
grpc_status_code grpc_code(ErrorCode code);
/// The code's name as gRPC prints it, "NOT_FOUND": the `code` of an error in JSON.
const char* code_name(ErrorCode code);
/// 400, 404, 409, …
unsigned http_status(ErrorCode code);

/// What the error has beside its message, for grpc-status-details-bin: a weft.v1.ErrorStatus; empty: nothing.
std::string error_details(const Error& error);

}  // namespace weft::api
