// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the servers that a fail-over may lead to could be used.

#include <string>
#include <vector>

namespace weft::store {

/// A sentence for each server of `url` (see postgres_address.hpp) that could not be used if it took writes, with the
/// reason, or that is of another database than the others. A hot standby may be asked: nothing is written. Empty where
/// `url` names one server, or is no address. They are asked at the same time, and given three seconds.
std::vector<std::string> unusable_servers(const std::string& url);

}  // namespace weft::store
