// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors of devices, files and peers are values here, not surprises.

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace weft {

/// What kind of failure it was; one table in `api` maps each to a gRPC status and an HTTP status.
enum class ErrorCode {
  kInvalidArgument,     ///< the caller's input is wrong, and will stay wrong
  kNotFound,            ///< the named thing does not exist
  kAlreadyExists,       ///< somebody else has what was asked for
  kFailedPrecondition,  ///< refused in the present state (a newer database, a guard)
  kUnavailable,         ///< a device or peer does not answer now; later it may
  kTimeout,             ///< no answer within the bound
  kProtocol,            ///< a peer answered something its protocol does not allow
  kCorrupt,             ///< stored or received data fails its own checks
  kResourceExhausted,   ///< disk full, queue full, too many clients
  kUnauthenticated,     ///< the caller did not show who it is, or what it showed does not count
  kPermissionDenied,    ///< it is known who asks, and he may not
  kInternal,            ///< a fault of ours
};

/// Name of `code` in lower case with underscores, for logs: "invalid_argument".
const char* to_string(ErrorCode code);

/// A failure with one sentence a person can act on (no trailing full stop).
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  /// Addresses of the weftd that own what it is about, and are to be asked; empty: it is nobody else's. Not from words
  /// that somebody wrote.
  std::vector<std::string> owners{};
};

/// A value, or the error that explains why there is none.
template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::kNotFound, "no node named x");`
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// What the system calls `error`, a value of errno: "No such file or directory".
std::string errno_message(int error);

}  // namespace weft
