// SPDX-License-Identifier: Apache-2.0
#pragma once
// A part of the tree as JSON (gNMI specification, 2.3.1; RFC 7951), leaf by leaf.

#include <cstddef>
#include <functional>
#include <string_view>

#include "collectors/gnmi/value.hpp"

namespace weft::gnmi {

/// What one JSON value may hold.
struct JsonLimits {
  static constexpr std::size_t kDepth = 16;
  static constexpr std::size_t kLeaves = 100'000;
};

/// Calls `visit` for each leaf in `text`, which is told at `path`; `path` is as before afterwards, and has views of
/// `text` meanwhile. Names lose their module. An entry of a list has those of its leaves as keys that it tells before
/// anything that is nested, and at most PathLimits::kKeys of them: which of them are the list's keys, the model knows.
/// A leaf-list of one is a leaf; null and longer ones are left out. Texts with escapes in them are not told, but where
/// these stand for printable ASCII.
///
/// False when it is no JSON or passes a limit; what came before that was visited.
bool for_each_leaf(std::string_view text, Path& path, const std::function<void(const Path&, const Value&)>& visit);

}  // namespace weft::gnmi
