// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names in texts, as people type them. Letters of ASCII are compared without regard to case.

#include <string_view>

namespace weft::api {

/// `part` stands in the text; an empty one always does.
bool contains(std::string_view text, std::string_view part);
/// `part`, which is not empty, stands in the text, and neither within a longer word nor within a longer number:
/// "leaf-1" is in "leaf-1 port 3", not in "leaf-12".
bool contains_name(std::string_view text, std::string_view part);

/// `wanted` is the job, "slurm:1234", or its number with any scheduler, "1234".
bool is_job(std::string_view job, std::string_view wanted);

}  // namespace weft::api
