// SPDX-License-Identifier: Apache-2.0
#include "daemon/platform/cli/spelling.hpp"

#include <algorithm>
#include <vector>

namespace weft::usage {

std::size_t distance(std::string_view one, std::string_view other) {
  // Rows of the usual table: two before, one before, this one.
  std::vector<std::size_t> earlier, before(other.size() + 1), row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) before[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t change = one[i - 1] == other[j - 1] ? 0 : 1;
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + change});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
    earlier = before;
    before = row;
  }
  return before.back();
}

std::string nearest(std::string_view word, std::span<const std::string> words) {
  constexpr std::size_t kLongest = 64;  // nobody misspells more; the work grows with the square
  if (word.size() > kLongest) return {};
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const std::size_t wrong = distance(word, candidate);
    if (wrong < least) {
      least = wrong;
      best = &candidate;
    }
  }
  if (best != nullptr) return *best;
  const auto begins = [word](const std::string& candidate) { return candidate.starts_with(word); };
  if (word.size() < 2 || std::ranges::count_if(words, begins) != 1) return {};
  return *std::ranges::find_if(words, begins);
}

}  // namespace weft::usage
