// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who is to be asked in place of the weftd that refused.

#include <string>
#include <vector>

namespace weft::api {

/// Error::owners in the details of a status (grpc::Status::error_details()), at most 16; none where these are no
/// weft.v1.ErrorStatus with an Owner. The words of an error name nobody: somebody may have written them.
std::vector<std::string> owners_in(const std::string& details);

}  // namespace weft::api
