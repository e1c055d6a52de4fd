// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text in HTML.

#include <string>
#include <string_view>

namespace weft::api {

/// `text` as HTML shows it, in elements and in attributes between double quotes: <, >, & and " are escaped, and what is
/// no UTF-8, control characters, and those that turn the direction of text, become U+FFFD.
std::string html_text(std::string_view text);

}  // namespace weft::api
