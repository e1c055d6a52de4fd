// SPDX-License-Identifier: Apache-2.0
#include "api/convert/errors.hpp"

#include "weft/v1/errors.pb.h"

namespace weft::api {
namespace {

struct Mapping {
  grpc_status_code grpc;
  const char* name;
  unsigned http;
};

Mapping mapping(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {GRPC_STATUS_INVALID_ARGUMENT, "INVALID_ARGUMENT", 400};
    case ErrorCode::kNotFound:
      return {GRPC_STATUS_NOT_FOUND, "NOT_FOUND", 404};
    case ErrorCode::kAlreadyExists:
      return {GRPC_STATUS_ALREADY_EXISTS, "ALREADY_EXISTS", 409};
    case ErrorCode::kFailedPrecondition:
      return {GRPC_STATUS_FAILED_PRECONDITION, "FAILED_PRECONDITION", 409};
    case ErrorCode::kUnavailable:
      return {GRPC_STATUS_UNAVAILABLE, "UNAVAILABLE", 503};
    case ErrorCode::kTimeout:
      return {GRPC_STATUS_DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", 504};
    case ErrorCode::kProtocol:
      return {GRPC_STATUS_INTERNAL, "INTERNAL", 502};
    case ErrorCode::kCorrupt:
      return {GRPC_STATUS_DATA_LOSS, "DATA_LOSS", 500};
    case ErrorCode::kResourceExhausted:
      return {GRPC_STATUS_RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", 503};
    case ErrorCode::kUnauthenticated:
      return {GRPC_STATUS_UNAUTHENTICATED, "UNAUTHENTICATED", 401};
    case ErrorCode::kPermissionDenied:
      return {GRPC_STATUS_PERMISSION_DENIED, "PERMISSION_DENIED", 403};
    case ErrorCode::kInternal:
      break;
  }
  return {GRPC_STATUS_INTERNAL, "INTERNAL", 500};
}

}  // namespace

grpc_status_code grpc_code(ErrorCode code) {
  return mapping(code).grpc;
}
const char* code_name(ErrorCode code) {
  return mapping(code).name;
}
unsigned http_status(ErrorCode code) {
  return mapping(code).http;
}

std::string error_details(const Error& error) {
  if (error.owners.empty()) return {};
  v1::Owner owner;
  for (const std::string& address : error.owners) owner.add_addresses(address);
  v1::ErrorStatus status;
  status.set_code(grpc_code(error.code));
  status.set_message(error.message);
  status.add_details()->PackFrom(owner);
  return status.SerializeAsString();
}

}  // namespace weft::api
