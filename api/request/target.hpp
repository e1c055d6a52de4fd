// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request's target, taken apart.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/result.hpp"

namespace weft::api {

/// Path and query of a request.
struct HttpTarget {
  std::vector<std::string> path;  ///< decoded segments: "/api/v1" gives api and v1, "/" none
  std::map<std::string, std::string> query;
  // Every value of the two parameters that may be given more than once.
  std::vector<std::string> nodes;    ///< node
  std::vector<std::string> collect;  ///< collect[]

  /// The parameter's value; empty when it was not given.
  std::string parameter(const std::string& name) const;
  /// As a number, 0 when not given; kInvalidArgument when it is none or negative.
  Result<std::int32_t> number(const std::string& name) const;
};

/// Takes apart what stands in the request line. kInvalidArgument for one that is no path, or has a bad percent sign, a
/// NUL or a parameter given twice, but for `node` and `collect[]`: who takes one only must look at all of them.
Result<HttpTarget> parse_target(std::string_view target);

}  // namespace weft::api
