// SPDX-License-Identifier: Apache-2.0
#pragma once
// What somebody may have meant who wrote a word that there is not.

#include <span>
#include <string>
#include <string_view>

namespace weft::usage {

/// Letters to add, take out, change or swap with their neighbour until `one` is `other` (optimal string alignment).
std::size_t distance(std::string_view one, std::string_view other);

/// The word nearest to `word`, the first of several; empty when none is near: at most a third of its letters, and at
/// least one, may be wrong. A beginning of at least two letters that only one word has counts as near.
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace weft::usage
