// SPDX-License-Identifier: Apache-2.0
#pragma once
// UTF-8 as every format we serve demands it. Descriptions come valid from the decoder; a node map file or a peer may
// not.

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::api {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// Length of the well-formed UTF-8 sequence at the front of `text` (RFC 3629, section 4), or 0.
std::size_t utf8_sequence_length(std::string_view text);

/// `text` with each byte that belongs to no well-formed sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace weft::api
