// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists as people write them in one text.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// The parts between commas, without blanks around them: "a:1, b:1" has two. An empty text has one part, which is
/// empty.
std::vector<std::string> split_list(std::string_view text);

/// "a, b and 3 more": the first `most` by name.
std::string name_list(const std::vector<std::string>& names, std::size_t most);

/// As people count: "2" before "10", "rail-2" before "rail-10". Names that differ in leading zeros alone are
/// equivalent.
bool counts_before(std::string_view a, std::string_view b);

}  // namespace weft
