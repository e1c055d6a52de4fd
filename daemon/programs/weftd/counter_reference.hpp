// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counter catalogue as a document; deploy/guide/reference holds a copy that a test compares.

#include <string>

namespace weft::daemon {

/// Every counter of a subnet's ports and of what collectors read on hosts, as Markdown: name, kind, width, source,
/// metric and meaning.
std::string counter_reference();

}  // namespace weft::daemon
