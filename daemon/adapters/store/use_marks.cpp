// SPDX-License-Identifier: Apache-2.0
#include "daemon/adapters/store/use_marks.hpp"

#include <algorithm>
#include <cstddef>
#include <random>

namespace weft::store {
namespace {

/// A store that was used oftener since it was copied takes the copy for another one: people decide.
constexpr std::size_t kMostUses = 500;

}  // namespace

std::string read_uses(Database& database) {
  Statement row(database, "SELECT mark FROM last_use");
  std::string uses;
  row.query();
  while (row.next()) uses = row.text(0);
  return uses;
}

std::string add_use(std::string_view uses) {
  std::string all = std::to_string(std::random_device{}()) + '.' + std::to_string(std::random_device{}());
  if (!uses.empty()) all.append(" ").append(uses);
  std::size_t end = 0;
  for (std::size_t i = 0; i < kMostUses && end != std::string::npos; ++i) end = all.find(' ', end + 1);
  return all.substr(0, end);
}

bool has_newest(std::string_view uses, std::string_view others) {
  const std::string_view newest = others.substr(0, others.find(' '));
  while (!uses.empty()) {
    const std::string_view mark = uses.substr(0, uses.find(' '));
    if (mark == newest) return true;
    uses.remove_prefix(std::min(uses.size(), mark.size() + 1));
  }
  return false;
}

bool is_full(std::string_view uses) {
  return std::ranges::count(uses, ' ') + 1 >= static_cast<std::ptrdiff_t>(kMostUses);
}

}  // namespace weft::store
