// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of texts as exec takes them.

#include <string>
#include <vector>

namespace weft::runtime {

/// Pointers to the texts and a null pointer behind them. Valid as long as `texts` is neither changed nor moved.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace weft::runtime
