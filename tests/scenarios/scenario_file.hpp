// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scenarios that somebody wrote down. The format is described in README.md; examples/ has some.

#include <string>
#include <string_view>

#include "fabric/result.hpp"
#include "tests/scenarios/generate.hpp"

namespace weft::scenarios {

/// Reads the text of a scenario file. kInvalidArgument with "line 7: why" for the first line that makes no sense.
/// `name` is what reports call it unless the file has a name of its own.
Result<Case> parse_scenario(std::string_view text, std::string_view name);

/// Reads the file at `path`. kNotFound when it can not be read; else as parse_scenario(), with the path before it.
Result<Case> read_scenario(const std::string& path);

}  // namespace weft::scenarios
