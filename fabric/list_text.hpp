// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists as people write them in one text.

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The parts between commas, without blanks around them: "a:1, b:1" has two. An empty text has one part, which is
/// empty.
std::vector<std::string> split_list(std::string_view text);

}  // namespace weft
