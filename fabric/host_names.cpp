// SPDX-License-Identifier: Apache-2.0
#include "fabric/host_names.hpp"

#include <algorithm>
#include <array>

namespace weft {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "MT4123" of "MT4123 ConnectX6": a part number, as firmware writes it in front.
bool is_part_number(std::string_view word) {
  return word.size() >= 5 && word.starts_with("MT") && std::ranges::all_of(word.substr(2), is_digit);
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string folded_name(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

std::string short_host_name(std::string_view host) {
  return folded_name(host.substr(0, host.find('.')));
}

bool same_host(std::string_view a, std::string_view b) {
  if (same_name(a, b)) return !a.empty();
  const std::size_t end_of_a = a.find('.'), end_of_b = b.find('.');
  const bool both_qualified = end_of_a != std::string_view::npos && end_of_b != std::string_view::npos;
  return !both_qualified && !a.empty() && !b.empty() && same_name(a.substr(0, end_of_a), b.substr(0, end_of_b));
}

std::string_view first_other_host(std::span<const std::string> node_names, std::string_view host,
                                  std::span<const std::string> others) {
  const auto bears = [node_names](std::string_view name, bool (*same)(std::string_view, std::string_view)) {
    return std::ranges::any_of(node_names, [&](const std::string& node) { return same(node, name); });
  };
  if (host.find('.') != std::string_view::npos && bears(host, same_name)) return {};
  const auto found = std::ranges::find_if(others, [&](const std::string& other) { return bears(other, same_host); });
  return found == others.end() ? std::string_view() : *found;
}

bool is_nobodys_description(std::string_view description) {
  constexpr std::array<std::string_view, 6> kMakers{
      "Mellanox Technologies", "NVIDIA Corporation", "ConnectX-", "ConnectX ", "BlueField-", "InfiniHost"};
  constexpr std::array<std::string_view, 3> kNoHosts{"localhost", "localhost.localdomain", "(none)"};
  const std::string_view first = description.substr(0, description.find(' '));
  if (std::ranges::find(kNoHosts, first) != kNoHosts.end()) return true;
  // A host may be called MT4123; one whose device is called ConnectX6 is none.
  if (is_part_number(first) && description.find("ConnectX") != std::string_view::npos) return true;
  return std::ranges::any_of(kMakers,
                             [&](std::string_view maker) { return description.find(maker) != std::string_view::npos; });
}

}  // namespace weft
