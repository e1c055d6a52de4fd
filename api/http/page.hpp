// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page at "/": one file, no script, made on the server and loaded anew every few seconds.

#include <string>

#include "fabric/snapshot.hpp"

namespace weft::api {

/// The HTML of the plain status page.
std::string status_page(const Snapshot& snapshot, TimePoint now);

}  // namespace weft::api
